"""Erasing for good: choosing what goes, one plan without images, then removing what rows and backups leave behind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from perdure.operations.decisions import begin
from perdure.operations.documents import all_records, find_documents_named, find_records, pages
from perdure.operations.journal import ERASE
from perdure.operations.lifecycle.backup import without_memories
from perdure.operations.lifecycle.digest import write_summary
from perdure.operations.ports import Context
from perdure.operations.writing import retry
from perdure.records.deadline import unlimited
from perdure.records.errors import InvalidInput, NotFound, PerdureError
from perdure.records.memory import Document, Shelf, Status
from perdure.records.plan import Change, Erasure, Plan, Target
from perdure.records.recall import Filters
from perdure.records.store_results import ErasureResult
from perdure.records.store_rows import Purged
from perdure.rules.document_edits import document_change
from perdure.rules.erasure import SALT, Dependents, confirmation, find_dependents, salt_document, tombstone
from perdure.rules.lifecycle.unarchive import unarchive

LIMIT: Final = 10_000  # memories that one call erases at most: all of them are one transaction
_NAMING: Final = (Shelf.MENTION, Shelf.ABOUT, Shelf.CONFLICT, Shelf.PROFILE)
"""Shelves whose documents name a memory or an entity besides the one that they are about."""
_UNREAD: Final = (
    "Names in tags, metadata, sources and addresses (ana@host, @ana), and what is stored under a role alone."
)
_ELSEWHERE: Final = "Files that `export`, `digest` or `plan` wrote, copies of the store and backups elsewhere."


@dataclass(frozen=True, slots=True)
class Selection:
    """What a caller wants erased; at least one is given, and all that are given must fit."""

    ids: Sequence[str] = ()
    filters: Filters | None = None
    subject: str | None = None
    everything: bool = False


def erase(
    ctx: Context,
    namespace: str,
    selection: Selection,
    *,
    reason: str,
    by: str | None = None,
    confirm: str | None = None,
    dry_run: bool = True,
) -> ErasureResult:
    """Erase memories for good, with what rests on them; or say what would go.

    Raises:
        NotFound: Nothing fits.
        InvalidInput: ``confirm`` is not the word of a dry run with the same result, or too many memories fit.
    """

    def attempt() -> tuple[ErasureResult, Plan | None]:
        target = _find(ctx, namespace, selection)
        if dry_run:
            return target.result(dry_run=True), None
        if confirm != target.word:
            raise InvalidInput(
                f"This would erase {len(target.erased_ids)} for good, and confirm does not say so.",
                remedy="Make a dry run, read what it lists, and pass its word as confirm.",
            )
        plan = _plan(ctx, target, reason=reason, by=by)
        ctx.store.apply(plan)
        return target.result(dry_run=False), plan

    result, plan = retry(attempt)
    if plan is None or plan.erasure is None:
        return result
    texts, unread = sorted(plan.erasure.texts), [_UNREAD] if selection.subject else []
    with unlimited():  # the rows are gone: what else holds the texts must not stay because the call's time is over
        backups = () if ctx.backups is None else tuple(ctx.backups.rewrite(plan.namespace, _without(plan.erasure.ids)))
        purged = ctx.store.purge(plan.namespace, texts)
        held = _rewrite_summary(ctx, plan.namespace)
    return _with_remarks(replace(result, backups=backups, operations=(plan.id,)), purged, texts, [*held, *unread])


def _rewrite_summary(ctx: Context, namespace: str) -> list[str]:
    """Write MEMORY.md anew; return what is to be said where that fails: what was erased is erased."""
    try:
        write_summary(ctx, namespace)
    except PerdureError as error:
        held = f"{ctx.policy.digest.file} still holds what was shown before: {error.message}"
        return [f"{held} Remove the erased words from it, also from lines that were changed by hand."]
    return []


@dataclass(frozen=True, slots=True)
class _Target:
    """What goes, and what follows from that."""

    namespace: str
    selected: tuple[str, ...]
    entities: tuple[str, ...]
    dependents: Dependents

    @property
    def erased_ids(self) -> tuple[str, ...]:
        return (*self.selected, *sorted(self.dependents.derived))

    @property
    def word(self) -> str:
        return confirmation((*self.erased_ids, *self.entities))

    def result(self, *, dry_run: bool) -> ErasureResult:
        derived, redacted, freed = (
            tuple(sorted(ids)) for ids in (self.dependents.derived, self.dependents.redacted, self.dependents.freed)
        )
        return ErasureResult(dry_run, self.word, self.selected, derived, redacted, freed, self.entities)


def _find(ctx: Context, namespace: str, selection: Selection) -> _Target:
    about, entities = ctx.extension.about(ctx, namespace, selection.subject) if selection.subject else ((), ())
    selected: set[str] | None = set(about) if selection.subject else None
    if selection.filters is not None or selection.everything:
        listed = set(_filtered_ids(ctx, namespace, selection.filters or Filters(include_archived=True)))
        selected = listed if selected is None else selected & listed
    if selection.ids:
        existing = {r.id for r in find_records(ctx, namespace, selection.ids)}
        if missing := [i for i in selection.ids if i not in existing]:
            raise NotFound(f"The namespace {namespace!r} has no memory {missing[0]!r}.", remedy="Pass its namespace.")
        selected = existing if selected is None else selected & existing
    if not selected and not entities:
        raise NotFound("There is nothing to erase: no memory fits.", remedy="Check the filters and the namespace.")
    if len(selected or ()) > LIMIT:
        raise InvalidInput(f"{len(selected or ())} memories fit.", remedy=f"Erase at most {LIMIT:,} at a time.")
    ids = tuple(sorted(selected or ()))
    return _Target(namespace, ids, tuple(entities), find_dependents(ids, lambda page: _links(ctx, namespace, page)))


def _filtered_ids(ctx: Context, namespace: str, filters: Filters) -> Iterator[str]:
    return (record.id for record in all_records(ctx, namespace, filters))


def archived_since(ctx: Context, namespace: str, until: int) -> list[str]:
    """Return the memories that have been archived since an instant or longer, the pinned left out; longest first."""
    if not any(status == Status.ARCHIVED for _, _, _, status, _ in ctx.store.tally(namespace)):
        return []
    found: list[tuple[int, str]] = []
    for page in pages(_filtered_ids(ctx, namespace, Filters(include_archived=True))):
        states = {i: state for i, (state, _) in ctx.store.states(namespace, page).items()}
        found += [
            (s.status_ms, i)
            for i, s in states.items()
            if s.status is Status.ARCHIVED and s.status_ms <= until and not s.pinned
        ]
    return [identity for _, identity in sorted(found)]


def _links(ctx: Context, namespace: str, ids: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    for page in pages(ids):
        yield from ctx.store.links_at(namespace, page)


def _plan(ctx: Context, target: _Target, *, reason: str, by: str | None) -> Plan:
    """Return the plan that erases: what was stood for comes back, then rows go, then tombstones are laid."""
    now, place = ctx.clock(), target.namespace
    images = {i: image for page in pages(target.erased_ids) for i, image in ctx.store.images(place, page).items()}
    decisions = begin(ctx, place, now)
    freed = list(find_records(ctx, place, sorted(target.dependents.freed)))
    decisions.admit(freed)
    for record in freed:
        state = decisions.states[record.id]
        if state.status is Status.CONSOLIDATED:
            decisions.change(record.id, unarchive(state, ctx.policy, now), ERASE, "what stood for it was erased")
    documents = _documents(ctx, target)
    decisions.add(_removed_links(ctx, target))
    decisions.add(document_change(d.shelf, d.id, d.name, d.data, None, "") for d in documents)
    decisions.add(Change(Target.MEMORY, identity, image, None) for identity, image in images.items())
    decisions.add(_tombstones(ctx, target, images, reason, by))
    plan = decisions.plan(ERASE, f"erased {len(images)} {'memory' if len(images) == 1 else 'memories'}: {reason}")
    names = [str(d.data.get("name") or d.data.get("as_written") or "") for d in documents if d.id in target.entities]
    texts = {t for image in images.values() for t in (image["text"], image.get("shown")) if t} | set(names) - {""}
    texts |= _quotes(ctx, target)
    return replace(plan, erasure=Erasure(frozenset((*images, *target.entities)), tuple(sorted(texts))))


def _removed_links(ctx: Context, target: _Target) -> list[Change]:
    links = sorted(set(_links(ctx, target.namespace, target.erased_ids)))
    return [Change(Target.LINK, i, {"kind": kind, "other": other}, None) for i, kind, other in links]


def _documents(ctx: Context, target: _Target) -> list[Document]:
    """Return what documents say of memories and entities that go."""
    documents, ids = ctx.store.documents, (*target.erased_ids, *target.entities)
    found = {(d.shelf, d.id, d.name): d for identity in ids for d in documents.find_about(target.namespace, identity)}
    for shelf in _NAMING:
        for d in find_documents_named(ctx, target.namespace, shelf, ids):
            found[d.shelf, d.id, d.name] = d
    return [d for key, d in sorted(found.items()) if d.shelf is not Shelf.ERASED]


def _quotes(ctx: Context, target: _Target) -> set[str]:
    """Return the words that facts quote from what goes: reasons in the journal may repeat them."""
    facts = (*target.erased_ids, *sorted(target.dependents.redacted))
    documents = (d for page in pages(facts) for d in ctx.store.documents.find(target.namespace, Shelf.FACT, page))
    sources = (s for d in documents for s in d.data.get("sources", ()) if s.get("memory") in target.erased_ids)
    return {str(source["quote"]) for source in sources if source.get("quote")}


def _tombstones(
    ctx: Context, target: _Target, images: Mapping[str, Mapping[str, Any]], reason: str, by: str | None
) -> list[Change]:
    now = ctx.clock()
    salts = ctx.store.documents.find(target.namespace, Shelf.ERASED, [SALT])
    salt = str(salts[0].data["salt"]) if salts else f"{ctx.ids(now)}{ctx.ids(now)}"[-64:]
    laid = [tombstone(i, image, salt, now, by=by, reason=reason) for i, image in images.items()]
    return laid if salts else [salt_document(salt), *laid]


def _without(ids: frozenset[str]) -> Any:
    return lambda lines: without_memories(lines, ids)


def _with_remarks(result: ErasureResult, purged: Purged, texts: Iterable[str], held: Sequence[str]) -> ErasureResult:
    short = sum(len(text.strip()) < 12 for text in texts)  # noqa: PLR2004  # as stores.erasing
    many = "1 short text was" if short == 1 else f"{short} short texts were"
    notes = [f"{many} not searched for: such words may stand anywhere."] if short else []
    return replace(
        result,
        searched=purged.searched,
        places=purged.places,
        unreachable=(*purged.unreachable, *held, *notes, _ELSEWHERE),
    )

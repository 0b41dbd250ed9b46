"""Erasing for good: choosing what goes, one plan without images, then removing what rows and backups leave behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from perdure.operations.decisions import begin
from perdure.operations.documents import all_records, find_documents_named, find_records, pages
from perdure.operations.erased_names import memories_with_names, places_of_names, searched_names
from perdure.operations.lifecycle.backup import without_memories
from perdure.operations.lifecycle.digest import write_summary
from perdure.operations.ports import Context
from perdure.operations.repair import kept_copies
from perdure.operations.text_caches import forget_texts
from perdure.operations.undo_past_erasures import ERASE
from perdure.operations.writing import refuse_damaged, retry
from perdure.records.access import EVERYWHERE
from perdure.records.deadline import unlimited
from perdure.records.errors import InvalidInput, NotFound, PerdureError, StoreDamaged
from perdure.records.instant import from_instant
from perdure.records.memory import Document, Record, Shelf, Status
from perdure.records.plan import Change, ErasedNames, Erasure, Plan, Target
from perdure.records.recall import Filters
from perdure.records.store_results import ErasureLine, ErasureResult
from perdure.records.store_rows import Purge
from perdure.rules.decisions import Decisions
from perdure.rules.distinctive_values import DistinctiveValues
from perdure.rules.document_edits import document_change
from perdure.rules.erasure import (
    SALT,
    Dependents,
    Subject,
    UnusedNames,
    confirmation,
    find_dependents,
    salt_document,
    stand_in,
    tombstones,
)
from perdure.rules.lifecycle.unarchive import unarchive

LIMIT: Final = 10_000  # memories that one call erases at most: all of them are one transaction
_NAMING: Final = (Shelf.MENTION, Shelf.ABOUT, Shelf.CONFLICT, Shelf.PROFILE)
"""Shelves whose documents name a memory or an entity besides the one that they are about."""
_UNREAD: Final = (
    "Memories that name them in tags, metadata, sources or addresses (ana@host, @ana) alone were not chosen, nor what "
    "is stored under a role alone: they are listed as possible, and where such a name stands among the places."
)
_CHANGED: Final = (
    "Names with an ending (Svens) and parts of names: memories with them are listed as possible, and stay until they "
    "are erased by id; past questions, tags and other places were not searched for such words."
)
_PLAIN_NAMES: Final = "A name that is also a word of the language is replaced and searched for with a capital only."
_LISTED: Final = 20  # memories that a dry run shows
_POSSIBLE: Final = 50  # memories that stay and may be about the subject, which are shown
_SHOWN: Final = 80  # characters of each
_VALUES: Final = 10  # values of erased facts that are named
_TEXTS: Final = ("text", "shown")  # where a name stands in the words that are shown
_KEPT_COPY: Final = (
    "{} that a repair or a restore left of the store may hold what was erased: such a copy is not rewritten."
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
            written = target.subject.written if target.subject else {}
            lines = _lines(ctx, target.namespace, target.erased_ids[:_LISTED], written)
            return replace(_before_erasing(ctx, target), lines=lines), None
        if confirm != target.word:
            raise InvalidInput(
                f"This would erase {len(target.erased_ids)} for good, and confirm is not the word of its dry run.",
                remedy="Make a dry run, read what it lists, and pass its word as confirm.",
            )
        plan = _plan(ctx, target, reason=reason, by=by)
        names = plan.erasure.names if plan.erasure is not None else ErasedNames()
        erased = _with_possible(ctx, target, names, target.result(dry_run=False))
        ctx.store.apply(plan)
        return erased, plan

    result, plan = retry(attempt)
    if plan is None or plan.erasure is None:
        return result
    forget_texts(ctx, plan.namespace)
    texts, names = sorted(plan.erasure.texts), plan.erasure.names
    with unlimited():  # the rows are gone: what else holds the texts must not stay because the call's time is over
        purged = ctx.store.purge(plan.namespace, texts, sorted({*names.words, *names.ids}))
        rewritten, failed = _rewrite_backups(ctx, plan.namespace, plan.erasure)
        named, unread = _places_of_names(ctx, plan.namespace, names)
        kept = [] if ctx.backups is None else ctx.backups.search(plan.namespace, texts)
        held = _rewrite_summary(ctx, plan.namespace)
    places = (*(place for _, place in purged.places), *kept, *named)
    notes = [*held, *failed, *unread, *_unsearched_notes(names), *([_UNREAD, _CHANGED] if selection.subject else [])]
    gone, count = tuple(names.ids[i] for i in result.entities), len(searched_names(names))
    result = replace(result, entities=gone, names=count, places=places, backups=rewritten, operations=(plan.id,))
    return _with_remarks(result, purged, notes)


def _places_of_names(ctx: Context, namespace: str, names: ErasedNames) -> tuple[tuple[str, ...], list[str]]:
    """Return where erased names still stand, and what is to be said where a damaged row ends the search."""
    try:
        return places_of_names(ctx.store, namespace, names, ctx.backups), []
    except StoreDamaged as error:
        return (), [f"Names were not searched for everywhere: {error.message} {error.remedy}"]


def _rewrite_summary(ctx: Context, namespace: str) -> list[str]:
    """Rewrite MEMORY.md; return what is to be said where that fails: what was erased is erased."""
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
    subject: Subject | None = None  # whose names go, where everything about them does

    @property
    def erased_ids(self) -> tuple[str, ...]:
        return (*self.selected, *sorted(self.dependents.derived))

    @property
    def word(self) -> str:
        return confirmation((*self.erased_ids, *self.entities))

    def names(self, unsaid: UnusedNames, salt: str, operation: str) -> ErasedNames:
        """Return the names that go, and what stands for the ids of entities; no two erasures give the same one."""
        ids = {i: stand_in(salt, f"{operation} {i}") for i in sorted({*self.entities, *unsaid.ids})}
        return ErasedNames(unsaid.words, unsaid.plain, ids, unsaid.forms, unsaid.values)

    def result(self, *, dry_run: bool) -> ErasureResult:
        derived, redacted, restored = (
            tuple(sorted(ids)) for ids in (self.dependents.derived, self.dependents.redacted, self.dependents.restored)
        )
        return ErasureResult(dry_run, self.word, self.selected, derived, redacted, restored, self.entities)


def _find(ctx: Context, namespace: str, selection: Selection) -> _Target:
    subject = ctx.extension.about(ctx, namespace, selection.subject) if selection.subject else None
    selected = _selected_ids(ctx, namespace, selection, subject)
    narrowed = selection.filters is not None or bool(selection.ids)
    if not selected and (subject is None or narrowed or not subject.entities):
        raise NotFound("There is nothing to erase: no memory matches.", remedy="Check the filters and the namespace.")
    if len(selected) > LIMIT:
        raise InvalidInput(f"{len(selected)} memories fit.", remedy=f"Erase at most {LIMIT:,} at a time.")
    ids = tuple(sorted(selected))
    dependents = find_dependents(ids, lambda page: _links(ctx, namespace, page))
    family = subject.entities if subject else ()
    every = selection.everything and not narrowed and subject is None
    entities = {*ctx.extension.orphans(ctx, namespace, {*ids, *dependents.derived}, None if every else family)}
    if narrowed and subject and not (entities.issuperset(family) and selected.issuperset(subject.memories)):
        subject = None  # others still name them
    else:
        entities |= set(family)
    return _Target(namespace, ids, tuple(sorted(entities)), dependents, subject)


def _selected_ids(ctx: Context, namespace: str, selection: Selection, subject: Subject | None) -> set[str]:
    """Return the memories that fit all that is given."""
    selected: set[str] | None = set(subject.memories) if subject else None
    if selection.filters is not None or selection.everything:
        listed = set(_filtered_ids(ctx, namespace, selection.filters or Filters(include_archived=True)))
        selected = listed if selected is None else selected & listed
    if selection.ids:
        existing = {r.id for r in find_records(ctx, namespace, selection.ids)}
        if missing := [i for i in selection.ids if i not in existing]:
            refuse_damaged(ctx, namespace, missing[0])
            raise NotFound(
                f"The namespace {namespace!r} has no memory {missing[0]!r}.", remedy="Pass the namespace that has it."
            )
        selected = existing if selected is None else selected & existing
    return selected or set()


def _before_erasing(ctx: Context, target: _Target) -> ErasureResult:
    """Return what a dry run says, also what will not be searched for."""
    result = target.result(dry_run=True)
    if target.subject is None:
        return result
    unsaid = ctx.extension.unsaid(ctx, target.namespace, target.erased_ids, target.entities, target.subject.names)
    names = target.names(unsaid, "", "")
    return replace(_with_possible(ctx, target, names, result), unreachable=tuple(_unsearched_notes(names, naming=True)))


def _with_possible(ctx: Context, target: _Target, names: ErasedNames, result: ErasureResult) -> ErasureResult:
    """Add the memories that stay and may be about the subject: whom they mean a person must see.

    They have the address or the number of an erased fact, the name in another place than the text, or a part of it.
    """
    if target.subject is None:
        return result
    going, has = {*target.erased_ids}, dict[str, str]()
    values = DistinctiveValues(names.values)
    for record in all_records(ctx, target.namespace, Filters(include_archived=True)) if values else ():
        if record.id not in going and (found := values.found_in(record.content.text)):
            has[record.id] = found
    with suppress(StoreDamaged):  # after the erasure it is said that not everything was searched
        for identity, column in memories_with_names(ctx.store, target.namespace, names):
            if identity not in going:
                has.setdefault(identity, "" if column in _TEXTS else f"name in: {column}")
    stay = [*has, *(i for i in target.subject.possible if i not in going and i not in has)]
    lines = _lines(ctx, target.namespace, stay[:_POSSIBLE])
    lines = tuple(replace(line, has=has.get(line.id, "")) for line in lines)
    return replace(result, possible=lines, possible_count=len(stay))


def _lines(
    ctx: Context, namespace: str, ids: Sequence[str], written: Mapping[str, str] = MappingProxyType({})
) -> tuple[ErasureLine, ...]:
    """Return memories as a person tells them; ``written`` has how some of them write the subject's name."""
    records = {r.id: r for r in find_records(ctx, namespace, ids)}
    return tuple(
        ErasureLine(i, from_instant(r.state.created_ms), r.content.speaker, _first_words(r), written.get(i, ""))
        for i in ids
        if (r := records.get(i)) is not None
    )


def _first_words(record: Record) -> str:
    return _cut(record.content.text)


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


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
    restored = list(find_records(ctx, place, sorted(target.dependents.restored)))
    decisions.admit(restored)
    for record in restored:
        state = decisions.states[record.id]
        if state.status is Status.CONSOLIDATED:
            decisions.change(record.id, unarchive(state, ctx.policy, now), ERASE, "what stood for it was erased")
    decisions.add(_without_erased(ctx, decisions, target.erased_ids))
    documents, called = _documents(ctx, target), target.subject.names if target.subject else ()
    unsaid = ctx.extension.unsaid(ctx, place, target.erased_ids, target.entities, called)
    decisions.add(_removed_links(ctx, target))
    decisions.add(unsaid.changes)
    decisions.add(document_change(d.shelf, d.id, d.name, d.data, None, "") for d in documents)
    decisions.add(Change(Target.MEMORY, identity, image, None) for identity, image in images.items())
    salt, laid = _salt(ctx, place)
    decisions.add(laid)
    keys: dict[str, list[str]] = {}
    for document in documents:
        if document.shelf is Shelf.KEY:
            keys.setdefault(document.id, []).append(document.name)
    for i, image in images.items():
        decisions.add(tombstones(i, image, keys.get(i, ()), salt, now, by=by, reason=reason))
    plan = decisions.plan(ERASE, f"erased {len(images)} {'memory' if len(images) == 1 else 'memories'}: {reason}")
    texts = {t for image in images.values() for t in (image["text"], image.get("shown")) if t} | _quotes(ctx, target)
    erased, names = frozenset((*images, *target.entities, *unsaid.undone)), target.names(unsaid, salt, plan.id)
    return replace(plan, erasure=Erasure(erased, tuple(sorted(texts)), names))


def _without_erased(ctx: Context, decisions: Decisions, erased: Sequence[str]) -> list[Change]:
    """Return what becomes of facts of which erased ones took the place, or were to; their links go with them."""
    changes = ctx.extension.call_off(ctx, decisions, erased, "what took its place, or was to, was erased")
    return [c for c in changes if not (c.target is Target.LINK and c.after is None and c.id in erased)]


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


def _salt(ctx: Context, namespace: str) -> tuple[str, list[Change]]:
    """Return the salt of the namespace's digests, and the change that keeps it where it has none yet."""
    if found := ctx.store.documents.find(namespace, Shelf.ERASED, [SALT]):
        return str(found[0].data["salt"]), []
    now = ctx.clock()
    salt = f"{ctx.ids(now)}{ctx.ids(now)}"[-64:]
    return salt, [salt_document(salt)]


def _unsearched_notes(names: ErasedNames, *, naming: bool = False) -> list[str]:
    """Return what is to be said of words that are not searched for, or not everywhere; before it also which."""
    others = sorted(DistinctiveValues(names.values).others)
    many = "1 value of an erased fact is" if len(others) == 1 else f"{len(others):,} values of erased facts are"
    more = f" and {len(others) - _VALUES:,} more" if len(others) > _VALUES else ""
    which = ", ".join(map(_cut, others[:_VALUES])) + more if naming else "a dry run names them before"
    values = [f"{many} not searched for alone, since such words may stand anywhere: {which}."] if others else []
    return [*values, *([_PLAIN_NAMES] if names.plain else [])]


def _rewrite_backups(ctx: Context, namespace: str, erasure: Erasure) -> tuple[tuple[str, ...], list[str]]:
    """Take what is erased out of the backups; return those that changed, and what is to be said of other copies."""
    if ctx.backups is None:
        return (), _of_kept_copies(ctx)
    changed, failed = ctx.backups.rewrite(namespace, lambda lines: without_memories(lines, erasure.ids, erasure.names))
    told = [f"{why} It may hold what was erased: delete it." for why in failed]
    return tuple(changed), [*told, *_of_kept_copies(ctx)]


def _of_kept_copies(ctx: Context) -> list[str]:
    """Return what is to be said of the store as it was before repairs and restores: a damaged file takes no change."""
    paths = kept_copies(ctx)
    if paths and ctx.grant is not None and ctx.grant.is_token and ctx.grant.pattern != EVERYWHERE:
        return [f"{_KEPT_COPY.format('A copy')} Ask whoever runs the store to delete it."]
    return [f"{_KEPT_COPY.format(path)} When you no longer need it, delete it." for path in paths]


def _with_remarks(result: ErasureResult, purged: Purge, held: Sequence[str]) -> ErasureResult:
    many = "1 short text was" if purged.short == 1 else f"{purged.short:,} short texts were"
    notes = [f"{many} not searched for: such words may stand anywhere."] if purged.short else []
    return replace(
        result,
        searched=purged.searched,
        unreachable=(*purged.unreachable, *held, *notes, _ELSEWHERE),
    )

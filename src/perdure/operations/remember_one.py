"""Remembering one memory: the facts that it says, what it replaces, and what the caller may compare it with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from perdure.operations.affirming import with_changed_links
from perdure.operations.decisions import begin, close_questions, outcome, write
from perdure.operations.new_memories import make_vectors
from perdure.operations.ports import Context
from perdure.operations.remember import handed_claims, store_drafts
from perdure.operations.superseding import later_replaced
from perdure.operations.writing import read_after, read_record, redacted_in, retry, tell_redacted
from perdure.records.errors import InvalidInput
from perdure.records.instant import Instant, day_at
from perdure.records.memory import DERIVED, SUPERSEDES, Draft, Kind, Record, Scope, Status
from perdure.records.memory_preview import MemoryPreview
from perdure.records.outcome import ClaimResult, GivenClaim, RelatedMemory, RememberResult
from perdure.records.plan import Change, Target
from perdure.rules.decisions import Decisions
from perdure.rules.language.words import content_words, shared_part, shared_words

_MOST: Final = 3  # earlier memories that are told
_LENGTH: Final = 100  # characters of each
_NEAR: Final = 0.45
"""Cosine from which two memories may be about the same thing, if they share words as well (decision 26)."""
_SHARED: Final = 0.3  # share of the words of the shorter one


def remember_one(
    ctx: Context,
    draft: Draft,
    namespace: str,
    claims: tuple[GivenClaim, ...] = (),
    replaces: Sequence[str] = (),
    confidence: float | None = None,
) -> RememberResult:
    """Store one memory with the facts that it says, in one operation; what it replaces is superseded and linked.

    A key that was used before stores and replaces nothing.

    Raises:
        InvalidInput: A claim is refused, the key was used for another text, or a replaced memory is of another
            namespace; nothing was stored.
        NotFound: There is no such memory to replace.
    """
    tell_redacted(ctx, (*draft.redacted, *redacted_in(claims)))
    vectors = make_vectors(ctx, [draft])

    def attempt() -> RememberResult:
        decisions = begin(ctx, namespace, ctx.clock())
        repeated = draft.key is not None and bool(ctx.store.ids_of_keys(namespace, [draft.key]))
        old = [] if repeated else _replaceable(ctx, namespace, replaces)
        decisions.admit(old)
        (stands,) = store_drafts(ctx, decisions, [draft], vectors, merge=True)
        handed = () if repeated else claims
        old = [record for record in old if record.id != stands]
        if handed and all(claim.planned for claim in handed):  # what is to be replaced holds until that day
            handed = _naming(handed, old)
            decisions.add(later_replaced(ctx, decisions, stands, [r.id for r in old if r.state.kind is not Kind.FACT]))
            old = []
        for record in old:
            supersede(ctx, decisions, record, stands)
        claimed = take_claims(ctx, decisions, stands, handed, old, confidence)
        note = "remember: 1 memory" if decisions.changed_ids | decisions.keyed else "remember"
        written = write(ctx, decisions, "remember", note)
        found = outcome(ctx, decisions.result(stands), written)
        stored = with_changed_links(RememberResult(found.memory, written, claimed), decisions)
        return read_after(ctx, written, lambda: _reply(ctx, decisions, stored, claims), stored)

    return retry(attempt)


def _naming(claims: tuple[GivenClaim, ...], old: Sequence[Record]) -> tuple[GivenClaim, ...]:
    """Return claims that name what the call replaces, where that is one memory and they name nothing themselves."""
    (one,) = [record.id for record in old] if len(old) == 1 else [""]
    return tuple(claim if claim.replaces else replace(claim, replaces=one) for claim in claims)


def take_claims(
    ctx: Context,
    decisions: Decisions,
    stands: str,
    claims: tuple[GivenClaim, ...],
    old: Sequence[Record],
    confidence: float | None = None,
    *,
    corrects: bool = False,
    keeps: tuple[str, ...] = (),
) -> ClaimResult:
    """Decide what becomes of the facts of a memory, and of those that rest on memories that it replaces.

    Those among ``keeps`` stay believed. Where there are neither, nothing about facts is loaded.
    """
    resting = any(record.state.kind is Kind.FACT or _has_facts(ctx, record) for record in old)
    if not claims and not resting and not keeps:
        return ClaimResult()
    handed = handed_claims(decisions, stands, claims, confidence)
    handed = replace(handed, gone=tuple(r.id for r in old), corrects=corrects, keeps=keeps)
    taken = ctx.extension.take(ctx, decisions, [handed])
    replaced = [r.id for r in old if r.state.kind is Kind.FACT and r.id not in taken.reinforced]
    decisions.add(_replaced_link(stands, identity) for identity in replaced)
    return taken


def supersede(ctx: Context, decisions: Decisions, record: Record, stands: str) -> None:
    """Decide that a memory is superseded: another one stands for it, and nobody is asked about it any longer.

    A fact is left to what knows of facts: the new words may say it again.
    """
    if record.state.kind is Kind.FACT:
        return
    because = f"updated: replaced by {stands}"
    decisions.add([_replaced_link(stands, record.id)])
    superseded = replace(decisions.states[record.id], status=Status.SUPERSEDED, status_ms=decisions.now, held=False)
    decisions.change(record.id, superseded, "replaced", f"superseded: {because}")
    decisions.add(close_questions(ctx, record, because))


def _replaced_link(stands: str, other: str) -> Change:
    link = {"kind": SUPERSEDES, "other": other, "weight": 1.0}
    return Change(Target.LINK, stands, None, link, f"updated: replaced by {stands}")


def _replaceable(ctx: Context, namespace: str, ids: Iterable[str]) -> list[Record]:
    """Return the memories in view among those that are to be replaced."""
    records = [read_record(ctx, identity) for identity in dict.fromkeys(ids)]
    if apart := next((r for r in records if r.namespace != namespace), None):
        raise InvalidInput(
            f"{apart.id} is in the namespace {apart.namespace}, not in {namespace}; nothing was stored.",
            remedy="Replace memories of the same namespace.",
        )
    return [record for record in records if record.state.status is Status.ACTIVE]


def _has_facts(ctx: Context, record: Record) -> bool:
    return any(kind == DERIVED for _, kind, _ in ctx.store.links_to(record.namespace, record.id))


def _reply(ctx: Context, decisions: Decisions, stored: RememberResult, claims: Sequence[GivenClaim]) -> RememberResult:
    """Return the outcome with what may be about the same thing: what facts say of it, then what is near."""
    place, facts = decisions.namespace, stored.facts
    touched = {*facts.created, *facts.reinforced, *facts.retired}
    same_topic, predicates = ctx.extension.near(ctx, place, claims, touched) if claims else ((), ())
    near = [other for other, cosine in decisions.neighbours.get(stored.id, ()) if cosine >= _NEAR]
    ids = [i for i in dict.fromkeys((*same_topic, *near)) if i != stored.id and i not in touched]
    found = [g for g in (ctx.store.glances(place, ids[: 3 * _MOST]) if ids else ()) if _is_shown(g, stored)]
    words = content_words(stored.memory.content) if found else frozenset()
    alike = [g for g in found if g.id in same_topic or shared_part(content_words(g.text), words) >= _SHARED]
    said = _said_by(ctx, place, alike)
    related = (g for g in alike if g.id not in said)
    return replace(
        stored,
        related=tuple(_related_memory(ctx, glance) for glance in islice(related, _MOST)),
        predicates=tuple(predicates),
    )


def _said_by(ctx: Context, namespace: str, glances: Sequence[MemoryPreview]) -> set[str]:
    """Return the facts among some memories that another of them says: who updates that one updates them, too."""
    facts = sorted(g.id for g in glances if g.kind is Kind.FACT)
    others = {g.id for g in glances}
    links = ctx.store.links_at(namespace, facts) if facts and len(glances) > 1 else ()
    return {fact for fact, kind, other in links if kind == DERIVED and other in others}


def _is_shown(glance: MemoryPreview, stored: RememberResult) -> bool:
    """Whether an earlier memory is in view of those who see the new one."""
    reachable = glance.scope is Scope.LONG_TERM or glance.session == stored.memory.session
    return glance.status is Status.ACTIVE and reachable


def related_memories(
    ctx: Context, decisions: Decisions, same_topic: Sequence[str], facts: Iterable[str]
) -> tuple[RelatedMemory, ...]:
    """Return at most three memories that all may see and that may be about the same things as new facts.

    Args:
        ctx: The store, and more.
        decisions: The operation that brings the facts in.
        same_topic: Memories that say something of the same subjects and predicates.
        facts: Ids of the facts; notes and messages near one of them that share words with it follow, the nearest first.
    """
    pairs = ((cosine, other, f) for f in facts for other, cosine in decisions.neighbours.get(f, ()) if cosine >= _NEAR)
    near: dict[str, str] = {}
    for _, other, fact in sorted(pairs, reverse=True):
        near.setdefault(other, decisions.records[fact].content.text)
    ids = list(dict.fromkeys((*same_topic, *near)))[: 3 * _MOST]
    found = ctx.store.glances(decisions.namespace, ids) if ids else []
    shown = (
        g
        for g in found
        if (g.status, g.scope) == (Status.ACTIVE, Scope.LONG_TERM)
        and (g.id in same_topic or (g.kind is not Kind.FACT and shared_words(g.text, near[g.id]) >= _SHARED))
    )
    return tuple(_related_memory(ctx, glance) for glance in islice(shown, _MOST))


def related_memory(ctx: Context, record: Record) -> RelatedMemory:
    """Return a memory as a reply tells it: its id, its day and its first words."""
    return _shorten_memory(ctx, record.id, record.state.created_ms, record.content.text)


def _related_memory(ctx: Context, glance: MemoryPreview) -> RelatedMemory:
    return _shorten_memory(ctx, glance.id, glance.created_ms, glance.text)


def _shorten_memory(ctx: Context, identity: str, created: Instant, text: str) -> RelatedMemory:
    day = day_at(created, ctx.policy.days.tz).isoformat()
    return RelatedMemory(identity, day, " ".join(text.split())[:_LENGTH])

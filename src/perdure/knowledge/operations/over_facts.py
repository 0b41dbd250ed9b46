"""What memories say that holds no longer, and what stands in its place: looked up for all of them at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from perdure.knowledge.records.facts import Fact
from perdure.operations.documents import derived_from, find_documents, find_documents_named, find_states, pages
from perdure.operations.ports import Context
from perdure.records.instant import Instant, text_of
from perdure.records.memory import SUPERSEDES, Document, Scope, Shelf, State, Status
from perdure.records.recall import OverFact


class Over(NamedTuple):
    """What of a memory's facts holds no longer."""

    facts: tuple[OverFact, ...]  # the newest first; empty where all hold
    is_whole: bool  # none of its facts holds

    @property
    def instead(self) -> str:
        """What stands in the place of what it says; its own fact, no longer believed, where nothing does."""
        return next((fact.replaced_by for fact in self.facts if fact.replaced_by), self.facts[0].id)


def over_facts(ctx: Context, namespace: str, memories: Sequence[str]) -> dict[str, Over]:
    """Return memory -> what of its facts holds no longer, of those that say facts.

    A fact that another one says again still holds. One that was over when it was stored ("until March he was ill") is
    no reason to doubt the memory that says so.
    """
    by_memory = derived_from(ctx, namespace, memories)
    ids = sorted({fact for some in by_memory.values() for fact in some})
    facts, now = _facts(find_documents(ctx, namespace, Shelf.FACT, ids)), ctx.clock()
    gone = [fact for fact in facts.values() if fact.retired is not None or fact.has_ended(now)]
    over, told_as_past = _look_up(ctx, namespace, gone, now) if gone else ({}, set())
    found: dict[str, Over] = {}
    for memory, some in by_memory.items():
        own = tuple(over[i] for i in sorted(some, reverse=True) if i in over)
        holds = facts.keys() & set(some) - over.keys() - told_as_past
        found[memory] = Over(own, bool(own) and not holds)
    return found


def _look_up(ctx: Context, namespace: str, gone: Sequence[Fact], now: Instant) -> tuple[dict[str, OverFact], set[str]]:
    """Return fact -> what is to be said of it, of those that hold no longer, and those that were told as past."""
    later = successors(ctx, namespace, [fact.id for fact in gone])
    known = _facts(find_documents_named(ctx, namespace, Shelf.FACT, sorted({fact.key for fact in gone})))
    known |= _facts(find_documents(ctx, namespace, Shelf.FACT, sorted(set(later.values()) - known.keys())))
    states = find_states(ctx, namespace, sorted({*known, *later.values()}))
    in_view = {i for i, s in states.items() if s.status is Status.ACTIVE}
    held = {i for i, fact in known.items() if fact.retired is None and not fact.has_ended(now)}
    shared = {i for i in held & in_view if states[i].scope is Scope.LONG_TERM}
    over: dict[str, OverFact] = {}
    told_as_past: set[str] = set()
    for fact in gone:
        end, state = later[fact.id], states.get(fact.id)
        beside = [f for i, f in known.items() if (i in shared and f.key == fact.key) or (i in held and i == end)]
        instead = max((f.id for f in beside if f.contradicts(fact)), default=None)
        if instead is None and end != fact.id and end in (held if end in known else in_view):
            instead = end
        if any((f.value.norm, f.denied) == (fact.value.norm, fact.denied) for f in beside):
            continue
        if instead is None and state is not None and _was_told_as_past(fact, state):
            told_as_past.add(fact.id)
        else:
            over[fact.id] = _over_fact(fact, state, instead)
    return over, told_as_past


def _was_told_as_past(fact: Fact, state: State) -> bool:
    """Whether a fact was over when it was stored, and not because it was wrong."""
    return state.status is Status.SUPERSEDED and fact.retired is not None and fact.retired <= state.recorded_ms


def _over_fact(fact: Fact, state: State | None, instead: str | None) -> OverFact:
    how = "replaced"
    if state is not None and state.status is Status.INVALIDATED:
        how = "denied"
    elif fact.retired is None or instead is None:
        how = "ended"
    since = fact.valid_to if how == "ended" else fact.retired
    content = f"{fact.predicate.replace('_', ' ')}: {fact.shown_value}"
    return OverFact(fact.id, content, how, "" if since is None else text_of(since), instead)


def _facts(documents: Iterable[Document]) -> dict[str, Fact]:
    return {d.id: Fact.from_data(d.id, d.data) for d in documents}


def successors(ctx: Context, namespace: str, memories: Iterable[str]) -> dict[str, str]:
    """Return memory -> the last of those that took its place one after the other; itself where there is none."""
    newer: dict[str, str] = {}
    given = list(dict.fromkeys(memories))
    seen, new = set(given), set(given)
    while new:
        links = [link for page in pages(sorted(new)) for link in ctx.store.links_at(namespace, page)]
        found = {other: i for i, kind, other in sorted(links) if kind == SUPERSEDES and other in new}
        newer |= found
        new = set(found.values()) - seen
        seen |= new
    return {i: _last(newer, i) for i in given}


def _last(newer: Mapping[str, str], identity: str) -> str:
    passed = {identity}
    while (following := newer.get(identity, identity)) not in passed:
        identity = following
        passed.add(identity)
    return identity

"""Which facts hold no longer, why, and what is believed in their place."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import tzinfo
from typing import NamedTuple

from perdure.knowledge.extraction.references import USER
from perdure.knowledge.records.facts import Fact
from perdure.knowledge.rules.over_words import FactWords, over_in_text, says_more
from perdure.records.instant import Instant, day_at, zone_text
from perdure.records.memory import Scope, State, Status
from perdure.records.recall import Filters, OutdatedFact, TextCaveats
from perdure.rules.escaping import LONGEST_LABEL
from perdure.rules.point_in_time import believed_until, is_denied_past, is_past


class OutdatedFacts(NamedTuple):
    """What of a memory's facts holds no longer."""

    facts: tuple[OutdatedFact, ...]  # the newest first; empty where all hold
    says: frozenset[str]  # all that it says
    is_whole: bool  # none of its facts holds, and it says no more than these
    is_told: bool = False  # something of it holds, but no more than its other facts say
    in_text: TextCaveats = TextCaveats()  # where its text says it
    begins: str = ""  # the day on which the first of its facts begins to hold, where none holds before
    until: frozenset[str] = frozenset()  # planned facts that what it says ends for

    @property
    def current_facts(self) -> frozenset[str]:
        """The facts that it says, without those that hold no longer."""
        return self.says - {fact.id for fact in self.facts}

    @property
    def later_facts(self) -> frozenset[str]:
        """What stands in the places of those that hold no longer."""
        return frozenset(fact.replaced_by for fact in self.facts if fact.replaced_by)

    @property
    def instead(self) -> str:
        """What stands in the place of what it says; its own fact, no longer believed, where nothing does."""
        return next((fact.replaced_by for fact in self.facts if fact.replaced_by), self.facts[0].id)


class FactContext(NamedTuple):
    """What is known beside facts that may hold no longer."""

    facts: Mapping[str, Fact]  # those of the same keys, and those that took their places
    states: Mapping[str, State]  # of these, and of memories that took their places
    later: Mapping[str, str]  # fact -> the last that took its place; itself where none did
    now: Instant
    zone: tzinfo | None  # in which days are told

    def instead_of(self, fact: Fact, holding: Sequence[Fact]) -> str | None:
        """Return what is believed in the place of a fact, the newest of those that hold beside it, if any.

        In the place of what never was, in a time that is over, stands what was then, and not what holds now.
        """
        last, state = self.later[fact.id], self.states.get(fact.id)
        if state is not None and is_denied_past(fact, state):
            was = last in self.facts and last in self.states and is_past(self.facts[last], self.states[last])
            return last if was else None
        if rivals := [other.id for other in holding if other.contradicts(fact)]:
            return max(rivals)
        shown = last in self.states and self.states[last].status is Status.ACTIVE
        holds = _is_held(self.facts[last], self.now) if last in self.facts else shown
        return last if holds and last != fact.id else None

    def follower(self, fact: Fact) -> Fact | None:
        """Return the fact that took a fact's place last, if one did."""
        last = self.later[fact.id]
        return self.facts.get(last) if last != fact.id else None

    def current_facts(self, fact: Fact, shared: Mapping[str, Sequence[Fact]]) -> list[Fact]:
        """Return the facts that hold about what a fact is about, and the one that took its place if it holds."""
        last = self.facts.get(self.later[fact.id])
        return [*shared.get(fact.key, ()), *([last] if last is not None and _is_held(last, self.now) else ())]

    def shared_facts(self) -> dict[str, list[Fact]]:
        """Return key -> the facts that are believed, and for all to see."""
        found: dict[str, list[Fact]] = {}
        for identity, fact in self.facts.items():
            state = self.states.get(identity)
            in_view = state is not None and state.status is Status.ACTIVE and state.scope is Scope.LONG_TERM
            if in_view and _is_held(fact, self.now):
                found.setdefault(fact.key, []).append(fact)
        return found


def what_is_over(gone: Iterable[Fact], beside: FactContext) -> tuple[dict[str, OutdatedFact], set[str]]:
    """Return fact -> what is to be said of it, of those that hold no longer, and those that were told as past.

    A fact that another one says again still holds, and is in neither, unless that one corrects its days.
    """
    over: dict[str, OutdatedFact] = {}
    told_as_past: set[str] = set()
    shared = beside.shared_facts()
    for fact in gone:
        holding, state = beside.current_facts(fact, shared), beside.states.get(fact.id)
        if state is not None and _was_told_as_past(fact, state, beside.follower(fact)):
            told_as_past.add(fact.id)
            continue
        same = {other.id for other in holding if (other.value.norm, other.denied) == (fact.value.norm, fact.denied)}
        redated = state is not None and state.status is Status.INVALIDATED and same == {beside.later[fact.id]}
        if same and not redated:
            continue
        over[fact.id] = _over_fact(fact, state, beside.instead_of(fact, holding), beside.later[fact.id], beside.zone)
    return over, told_as_past


def over_in(
    text: str,
    says: Collection[str],
    over: Mapping[str, OutdatedFact],
    told_as_past: Collection[str],
    words: Mapping[str, FactWords],
) -> OutdatedFacts:
    """Return what of a memory holds no longer; ``words`` has those of its facts, if some of them are over.

    Where it is, or may be, about several things, each says which one: others may have the same value.
    """
    own = tuple(over[i] for i in sorted(says, reverse=True) if i in over)
    if not own:
        return OutdatedFacts((), frozenset(says), is_whole=False)
    known = [i for i in says if i in words]
    more = any(i in told_as_past for i in known) or says_more(text, [words[i] for i in known])
    holds = not over.keys() >= set(known)
    own = tuple(_with_subject(fact, words, is_told_alone=not more) for fact in own)
    in_text = over_in_text(text, [(words[fact.id], fact.content) for fact in own])
    return OutdatedFacts(own, frozenset(says), not (holds or more), holds and not more, in_text)


def _with_subject(fact: OutdatedFact, words: Mapping[str, FactWords], *, is_told_alone: bool) -> OutdatedFact:
    """Return what is over with whom it is about, unless ``words`` are all about that one and nothing else is told.

    Who speaks of themselves and tells more need not be named. A name that leaves no room for the value is left out.
    """
    abouts = {own.about for own in words.values()}
    if fact.id not in words or (len(abouts) == 1 and (is_told_alone or abouts == {USER})):
        return fact
    whole = f"{words[fact.id].about}: {fact.content}"
    return replace(fact, content=whole) if len(whole) <= LONGEST_LABEL else fact


def with_plans(over: OutdatedFacts, facts: Sequence[Fact], at: Instant, zone: tzinfo | None) -> OutdatedFacts:
    """Return what of a memory holds no longer, with what of its ``facts`` begins later, and ends then."""
    believed = [fact for fact in facts if fact.retired is None and not fact.has_ended(at)]
    until = frozenset(fact.followed_by for fact in believed if fact.followed_by)
    days = [fact.valid_from for fact in believed if fact.is_upcoming(at) and fact.valid_from is not None]
    is_later = bool(days) and len(days) == len(believed)
    return over._replace(begins=day_at(min(days), zone).isoformat() if is_later else "", until=until)


def settled_between(
    over: Mapping[str, OutdatedFacts], whole: Collection[str], shown: Collection[str]
) -> dict[str, set[str]]:
    """Return memory -> those beside it that hold where it does not: of which something took the place of its words."""
    holding = set(shown) - set(whole)
    settled = dict.fromkeys(whole, holding)
    for memory, own in over.items():
        instead = {fact.replaced_by for fact in own.facts}
        if memory not in settled and own.facts:
            settled[memory] = {i for i in holding & over.keys() if not instead.isdisjoint(over[i].says)}
    return settled


def is_gone(fact: Fact, then: Filters, now: Instant) -> bool:
    """Whether a fact holds no longer: now, at the time that is asked about, or as far as was known then."""
    if then.as_of is not None:
        return fact.has_ended(then.as_of)
    known_at = now if then.known_at is None else then.known_at
    return fact.has_ended(known_at) if fact.retired is None else fact.retired <= known_at


def _is_held(fact: Fact, now: Instant) -> bool:
    return fact.holds(now)


def _was_told_as_past(fact: Fact, state: State, follower: Fact | None) -> bool:
    """Whether a fact was over when it was told, whatever is believed now: it is history, and not because it was wrong.

    One whose end nobody stated, and that ended because another began to hold later, may have been told as holding
    ("the depot is in Nancy").
    """
    was_over = fact.valid_to is not None and fact.valid_to <= state.created_ms
    if fact.retired is None:
        return was_over
    at_once = state.status is Status.SUPERSEDED and fact.retired <= state.recorded_ms
    begin = state.created_ms if fact.valid_from is None else fact.valid_from
    is_stated = follower is None or fact.valid_to != follower.valid_from
    return at_once and (follower is None or (was_over and is_stated and begin < (fact.valid_to or begin)))


def _over_fact(fact: Fact, state: State | None, instead: str | None, later: str, zone: tzinfo | None) -> OutdatedFact:
    how = "replaced"
    had_ended = state is not None and fact.valid_to is not None and fact.valid_to < state.created_ms
    if state is not None and state.status is Status.INVALIDATED:
        how = "denied"
    elif (
        fact.retired is None or instead is None or (later == fact.id and fact.has_ended(fact.retired - 1)) or had_ended
    ):
        how = "ended"
    retired = fact.retired if state is None else believed_until(fact, state)
    since = fact.valid_to if how == "ended" else retired
    content = f"{fact.shown_predicate}: {fact.shown_value}"
    return OutdatedFact(fact.id, content, how, "" if since is None else zone_text(since, zone), instead)

"""Statements that are taken in after later ones: the timeline ends as if they had come in the order of their days."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from perdure.knowledge.operations.fact_session import FactSession
from perdure.knowledge.records.facts import Claim, Fact
from perdure.knowledge.rules.claim_resolution import KnownFact
from perdure.knowledge.rules.fact_records import FactEvent, link_change
from perdure.knowledge.rules.given_claims import outranks
from perdure.operations.documents import find_states
from perdure.records.instant import Instant
from perdure.records.memory import DERIVED, Scope

if TYPE_CHECKING:
    from perdure.knowledge.operations.apply_claims import ClaimSource, ClaimWriter


def fit_between(
    writer: ClaimWriter, new_id: str, until: Instant, name: str, source: ClaimSource, because: str
) -> Instant:
    """End at a new fact's day what held before it, and return when what followed it began."""
    work, new = writer.work, writer.work.facts[new_id]
    begin = new.valid_from or 0
    beside = [f for f in work.past_facts(new.subject, new.predicate) if begin < (f.valid_to or 0)]
    before = [f for f in beside if (f.valid_from or 0) < begin and not outranks(f, new.trust)]
    later = [f.valid_from or 0 for f in beside if begin < (f.valid_from or 0) < (f.valid_to or 0)]
    later += _end_by(writer, before, name, replace(source, at=begin), because)
    return min([until, *later])


def says_earlier(
    writer: ClaimWriter, known: KnownFact, claim: Claim, subject: tuple[str, str], source: ClaimSource
) -> bool:
    """Write down since when a value holds that an earlier statement has, too.

    Return whether it held in a time of its own: another value is known to have held between the two statements.
    """
    work, fact, at = writer.work, known.fact, source.at
    is_dated = claim.valid_from is not None or claim.valid_to is not None
    if is_dated or at >= (fact.valid_from or at) or not _is_movable(work, known, source):
        return False
    others = _others_between(work, fact, at)
    covering = work.known_facts([f.id for f in others if (f.valid_from or 0) <= at], at)
    if any(outranks(f, source.trust) for f in others) or not all(
        k.last_said <= at or _is_movable(work, k, source) for k in covering
    ):
        return False
    because = f"said before, on an earlier day: {fact.value.text}"
    later = [f.valid_from or 0 for f in others if (f.valid_from or 0) > at]
    later += _end_by(writer, [k.fact for k in covering], subject[1], source, because)
    if not later:
        work.rewrite(replace(fact, valid_from=at), because)
        return False
    _tell_past(writer, replace(claim, predicate=fact.predicate, valid_to=min(later)), subject, source, because)
    return True


def _others_between(work: FactSession, fact: Fact, at: Instant) -> list[Fact]:
    """Return the other values that held in some of the time from an instant until a fact began to.

    What somebody less trusted said took no time from it.
    """
    past = [f for f in work.past_facts(fact.subject, fact.predicate) if work.states[f.id].scope is Scope.LONG_TERM]
    held, begin = [f for f in past if (f.valid_from or 0) < (f.valid_to or 0)], fact.valid_from or 0
    between = (f for f in held if at < (f.valid_to or 0) and (f.valid_from or 0) < begin)
    return [f for f in between if f.contradicts(fact) and not outranks(fact, f.trust)]


def _tell_past(writer: ClaimWriter, claim: Claim, subject: tuple[str, str], source: ClaimSource, because: str) -> None:
    """Write down that a value held from when a statement was made until another value's day."""
    work, at, end = writer.work, source.at, claim.valid_to or source.at
    past = (f for f in work.past_facts(subject[0], claim.predicate) if f.value.norm == claim.value.norm)
    if (same := next((f for f in past if f.valid_to == end and (f.valid_from or 0) < end), None)) is None:
        _end_at_once(writer, writer.make(claim, *subject, source, because), end, because)
        return
    work.rewrite(replace(same, valid_from=min(at, same.valid_from or at)), because)
    (again,) = work.known_facts([same.id], at)
    writer.reinforce(again, claim.span, source, because)


def _end_by(writer: ClaimWriter, others: Sequence[Fact], name: str, source: ClaimSource, because: str) -> list[Instant]:
    """End other values when a statement was made; return when those began to hold again that were said since."""
    again: list[Instant] = []
    for other in writer.work.known_facts([f.id for f in others], source.at):
        after = split_around(writer, other, name, source, because)
        again += [] if after is None else [after]
        if after is None:
            writer.work.rewrite(replace(other.fact, valid_to=source.at), because)
    return again


def split_around(writer: ClaimWriter, known: KnownFact, name: str, source: ClaimSource, because: str) -> Instant | None:
    """Let a value that was said before and after another one hold twice; return when it began to hold again.

    None where it was not said before, or somebody stated since when it holds.
    """
    work, fact, at = writer.work, known.fact, source.at
    said = _said_at(work, fact)
    after = min((each for each in said.values() if each > at), default=None)
    if after is None or fact.valid_from not in said.values() or at <= (fact.valid_from or at):
        return None
    if not _is_movable(work, known, source):
        return None
    before = tuple(each for each in fact.sources if said.get(each.memory, at) < at)
    was = writer.make(_claim_until(known, at), fact.subject, name, _first(fact, source), because)
    work.rewrite(replace(work.facts[was], sources=before), because)
    for each in before:
        work.link(link_change(DERIVED, was, each.memory, because))
    _end_at_once(writer, was, at, because)
    work.rewrite(replace(work.facts[fact.id], valid_from=after), because)
    return after


def _is_movable(work: FactSession, known: KnownFact, source: ClaimSource) -> bool:
    """Whether a statement may move a fact's first day: nobody stated it, and nobody more trusted said the fact."""
    fact, state = known.fact, known.state
    is_stated = fact.valid_from not in {state.created_ms, *_said_at(work, fact).values()}
    is_plain = not (fact.denied or fact.planned) and state.scope is Scope.LONG_TERM
    return is_plain and not is_stated and not outranks(fact, source.trust)


def _claim_until(known: KnownFact, end: Instant) -> Claim:
    """Return what a fact says as a claim of what is over."""
    fact, sure = known.fact, known.state.confidence
    claim = Claim(
        fact.subject, fact.predicate, fact.type, fact.value, fact.learned, sure, fact.sources[0].span, many=fact.many
    )
    return replace(claim, valid_from=fact.valid_from, valid_to=end, called=fact.called)


def _first(fact: Fact, source: ClaimSource) -> ClaimSource:
    """Return when and by whom a fact was said first."""
    return replace(source, memory=None, at=fact.valid_from or source.at, trust=fact.trust)


def _said_at(work: FactSession, fact: Fact) -> dict[str, Instant]:
    """Return memory -> when it says a fact, of those that are its sources."""
    states = find_states(work.ctx, work.namespace, [source.memory for source in fact.sources])
    return {i: state.created_ms for i, state in states.items()}


def _end_at_once(writer: ClaimWriter, identity: str, end: Instant, because: str) -> None:
    writer.retire(identity, FactEvent.ENDED, end, writer.work.states[identity].created_ms, because)
    writer.tally.retired.remove(identity)

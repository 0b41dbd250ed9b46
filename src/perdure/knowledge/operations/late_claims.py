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
from perdure.records.memory import DERIVED
from perdure.rules.source_trust import least_trust

if TYPE_CHECKING:
    from perdure.knowledge.operations.apply_claims import ClaimSource, ClaimWriter


def fit_between(
    writer: ClaimWriter, new_id: str, until: Instant, name: str, source: ClaimSource, because: str
) -> Instant:
    """End at a new fact's day what held before it, and return when what followed it began."""
    work, new = writer.work, writer.work.facts[new_id]
    begin = new.valid_from or 0
    for other in work.past_facts(new.subject, new.predicate):
        if begin < (other.valid_from or 0) < (other.valid_to or 0):
            until = min(until, other.valid_from or 0)
        elif (other.valid_from or 0) < begin < (other.valid_to or 0) and least_trust(
            (new.trust, other.trust)
        ) is other.trust:
            (again,) = work.known_facts([other.id], source.at)
            after = split_around(writer, again, name, replace(source, at=begin), because)
            if after is None:
                work.rewrite(replace(other, valid_to=begin), because)
            until = min(until, after or until)
    return until


def says_earlier(
    writer: ClaimWriter, known: KnownFact, claim: Claim, subject: tuple[str, str], source: ClaimSource
) -> bool:
    """Write down since when a value holds that an earlier statement has, too.

    Return whether it held in a time of its own: another value is known to have held between the two statements.
    """
    work, fact, at = writer.work, known.fact, source.at
    begin = fact.valid_from
    is_dated = claim.valid_from is not None or claim.valid_to is not None or fact.planned
    if is_dated or fact.denied or begin is None or at >= begin:
        return False
    past = [f for f in work.past_facts(fact.subject, fact.predicate) if (f.valid_from or 0) < (f.valid_to or 0)]
    others = [f for f in past if f.contradicts(fact) and at < (f.valid_to or 0) and (f.valid_from or 0) < begin]
    is_stated = begin not in {known.state.created_ms, *_said_at(work, fact).values()}
    if is_stated or any(outranks(each, source.trust) for each in (fact, *others)):
        return False
    because = f"said before, on an earlier day: {fact.value.text}"
    between = _end_by(writer, others, subject[1], source, because)
    if not between:
        work.rewrite(replace(fact, valid_from=at), because)
        return False
    end = min(between)
    same = [f for f in past if f.value.norm == fact.value.norm and f.valid_to == end]
    if same:
        (again,) = work.known_facts([same[0].id], at)
        work.rewrite(replace(again.fact, valid_from=min(at, again.fact.valid_from or at)), because)
        writer.reinforce(again, claim.span, source, because)
    else:
        was = writer.make(replace(claim, predicate=fact.predicate, valid_to=end), *subject, source, because)
        _end_at_once(writer, was, end, because)
    return True


def _end_by(writer: ClaimWriter, others: Sequence[Fact], name: str, source: ClaimSource, because: str) -> list[Instant]:
    """End other values when a statement was made, and return when those began that hold after it."""
    work, at = writer.work, source.at
    after = [f.valid_from or 0 for f in others if (f.valid_from or 0) > at]
    for other in work.known_facts([f.id for f in others if (f.valid_from or 0) <= at], at):
        again = split_around(writer, other, name, source, because)
        if again is None:
            work.rewrite(replace(other.fact, valid_to=at), because)
        else:
            after.append(again)
    return after


def split_around(
    writer: ClaimWriter, winner: KnownFact, name: str, source: ClaimSource, because: str
) -> Instant | None:
    """Let a value that was said before and after another one hold twice; return when it began to hold again.

    None where it was not said before, or somebody stated since when it holds.
    """
    work, fact, at = writer.work, winner.fact, source.at
    said, begin = _said_at(work, fact), fact.valid_from
    if begin is None or begin >= at or begin not in said.values() or fact.denied or fact.planned:
        return None
    if outranks(fact, source.trust):
        return None
    after = min((each for each in said.values() if each > at), default=None)
    if after is None:
        return None
    span = fact.sources[0].span
    claim = Claim(fact.subject, fact.predicate, fact.type, fact.value, fact.learned, winner.state.confidence, span)
    claim = replace(claim, many=fact.many, valid_from=begin, valid_to=at, called=fact.called)
    first = replace(source, memory=None, at=begin, trust=fact.trust)
    was = writer.make(claim, fact.subject, name, first, because)
    before = tuple(each for each in fact.sources if said.get(each.memory, at) < at)
    work.rewrite(replace(work.facts[was], sources=before), because)
    for each in before:
        work.link(link_change(DERIVED, was, each.memory, because))
    _end_at_once(writer, was, at, because)
    work.rewrite(replace(work.facts[fact.id], valid_from=after), because)
    return after


def _said_at(work: FactSession, fact: Fact) -> dict[str, Instant]:
    """Return memory -> when it says a fact, of those that are its sources."""
    states = find_states(work.ctx, work.namespace, [source.memory for source in fact.sources])
    return {i: state.created_ms for i, state in states.items()}


def _end_at_once(writer: ClaimWriter, identity: str, end: Instant, because: str) -> None:
    writer.retire(identity, FactEvent.ENDED, end, writer.work.states[identity].created_ms, because)
    writer.tally.retired.remove(identity)

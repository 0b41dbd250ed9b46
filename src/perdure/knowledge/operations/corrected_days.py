"""Taking over other days of what is known: the fact gets them as a new one, and what was believed of it stays known."""

from __future__ import annotations

from dataclasses import replace

from perdure.knowledge.operations.apply_claims import ClaimSource, ClaimWriter, same_audience
from perdure.knowledge.records.facts import Claim, Fact
from perdure.knowledge.rules.claim_resolution import Decision, KnownFact
from perdure.knowledge.rules.fact_records import FactEvent
from perdure.knowledge.rules.given_claims import outranks
from perdure.records.memory import SUPERSEDES, Status


def correct_days(
    writer: ClaimWriter, decision: Decision, claim: Claim, subject: tuple[str, str], source: ClaimSource
) -> None:
    """Write down a fact again with the days that a claim states; what it states nothing of stays.

    Args:
        writer: What carries it out.
        decision: What is known with other days comes first, then what the claim corrects besides.
        claim: What was said.
        subject: The entity, and how it is called.
        source: Where it was said.
    """
    work, (known, *outdated), because = writer.work, decision.about, decision.because
    old = known.fact
    contested = {i for pair in work.open_conflicts(old.id) for i in pair} - {old.id}
    new_id = writer.make(_with_days(claim, known), *subject, source, because)
    if known.state.pinned:
        work.change(new_id, replace(work.states[new_id], pinned=True), "pinned", f"it corrects {old.id}")
    _take_place(writer, new_id, old, FactEvent.DENIED, source, because)
    writer.keep_days(old, because)
    for rival in outdated:
        _take_place(writer, new_id, rival.fact, FactEvent.REPLACED, source, because)
    _end_predecessors(writer, old, work.facts[new_id], because)
    writer.interrupt(work.facts[new_id], source.at)
    for other_id in sorted(i for i in contested if work.states[i].status is Status.ACTIVE):
        one, other = work.known_facts([new_id, other_id], source.at)
        writer.contest(one, other, source.at, because)


def _with_days(claim: Claim, known: KnownFact) -> Claim:
    """Return a claim with those days of what is known that it does not state, and as sure as that was."""
    old = known.fact
    return replace(
        claim,
        many=old.many or claim.many,
        confidence=max(claim.confidence, known.state.confidence),
        valid_from=old.valid_from if claim.valid_from is None else claim.valid_from,
        valid_to=old.valid_to if claim.valid_to is None else claim.valid_to,
    )


def _take_place(
    writer: ClaimWriter, new_id: str, other: Fact, event: FactEvent, source: ClaimSource, because: str
) -> None:
    new = writer.work.facts[new_id]
    writer.take_place(new, other, event, new.valid_from or source.at, source.at, because)


def _end_predecessors(writer: ClaimWriter, old: Fact, new: Fact, because: str) -> None:
    """Let what a fact followed end on the day on which it is now said to have begun."""
    work, begin = writer.work, new.valid_from
    if begin is None or begin == old.valid_from:
        return
    for other in work.past_facts(old.subject, old.predicate):
        followed = other.valid_to == old.valid_from and other.id != old.id and not outranks(other, new.trust)
        if followed and _is_replaced_by(writer, other.id, old.id):
            work.rewrite(replace(other, valid_to=max(begin, other.valid_from or 0)), because)


def _is_replaced_by(writer: ClaimWriter, identity: str, later: str) -> bool:
    """Whether a fact took the place of another one, for the same to see."""
    work = writer.work
    links = work.ctx.store.links_to(work.namespace, identity)
    linked = any((other, kind) == (later, SUPERSEDES) for other, kind, _ in links)
    return linked and same_audience(work.record(identity), work.record(later))

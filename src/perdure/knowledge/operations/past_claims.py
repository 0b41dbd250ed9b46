"""Writing down what was true once and is over, and that something of the past was wrong."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from perdure.knowledge.operations.apply_claims import ClaimSource, ClaimWriter
from perdure.knowledge.operations.fact_session import FactSession
from perdure.knowledge.records.facts import Claim, Fact
from perdure.knowledge.rules.claim_resolution import Action, ConflictStrategy, Decision, KnownFact
from perdure.knowledge.rules.fact_records import FactEvent, link_change
from perdure.knowledge.rules.given_claims import begins_otherwise
from perdure.records.memory import SUPERSEDES
from perdure.rules.point_in_time import is_past


class PastBeside(NamedTuple):
    """What is known beside a claim about a time that is over."""

    known: Sequence[KnownFact]  # what is believed now about the same
    same: Sequence[Fact]  # what is said of the past with the same value
    wrong: Sequence[Fact]  # what of the past the claim is said instead of


def past_facts(work: FactSession, subject: str, predicate: str) -> list[Fact]:
    """Return what an entity is said to have been in the past, of what was over when it was told."""
    return [f for f in work.replaced(subject, predicate) if is_past(f, work.states[f.id])]


def said_instead(past: Sequence[Fact], claim: Claim, gone: Collection[str]) -> list[Fact]:
    """Return those facts of the past that a claim is said instead of.

    They have the value that it replaces, or they are said by nothing but memories that are ``gone``, of the same time.
    """
    named = [f for f in past if claim.old is not None and f.value.norm == claim.old.norm]
    unsaid = [f for f in past if f.sources and all(s.memory in gone for s in f.sources)]
    other = [f for f in unsaid if f.value.norm != claim.value.norm and _overlap(f, claim) and not claim.many]
    return list(dict.fromkeys((*named, *other)))


def with_days_of(claim: Claim, wrong: Sequence[Fact], replaced: str) -> Claim:
    """Return a claim with the days of the one fact that it names by its id, where it has none of its own."""
    if len(wrong) != 1 or claim.valid_from is not None or claim.valid_to is not None:
        return claim
    is_named = bool(replaced) and wrong[0].id.endswith(replaced)
    return replace(claim, valid_from=wrong[0].valid_from, valid_to=wrong[0].valid_to) if is_named else claim


def take_past(
    writer: ClaimWriter, claim: Claim, subject: tuple[str, str], source: ClaimSource, beside: PastBeside
) -> None:
    """Write down what was true, and no longer is: it contradicts nothing that holds now.

    Args:
        writer: What carries it out.
        claim: What was said, with the day of its end.
        subject: The entity, and how it is called.
        source: Where it was said.
        beside: What is known.
    """
    ended, because = claim.valid_to or source.at, f"it held until then: {claim.value.text}"
    believed = [k for k in beside.known if k.fact.value.norm == claim.value.norm and k.fact.denied == claim.denied]
    overlapping = [f for f in beside.same if claim.denied and _overlap(f, claim)]
    again = [f.id for f in beside.same if (f.valid_from, f.valid_to) == (claim.valid_from, claim.valid_to)]
    moved = [] if claim.denied else [k for k in believed if begins_otherwise(claim, k)]
    for k in (k for k in believed if k not in moved):
        writer.retire(k.fact.id, FactEvent.ENDED, ended, source.at, because)
    for fact in overlapping:
        writer.retire(fact.id, FactEvent.DENIED, ended, source.at, f"it was said not to have been: {claim.value.text}")
    if again and not claim.denied:
        (known,) = writer.work.known(again[:1], source.at)
        writer.reinforce(known, claim.span, source, f"said again: {claim.value.text}")
    elif moved or not (believed or overlapping):
        replace_past(writer, claim, subject, source, [*beside.wrong, *(k.fact for k in moved)], because)
        for k in moved:
            writer.keep_days(k.fact, because)


def replace_past(
    writer: ClaimWriter,
    claim: Claim,
    subject: tuple[str, str],
    source: ClaimSource,
    wrong: Sequence[Fact],
    because: str,
) -> str:
    """Write down what was true in a time that is over, and that other facts of that time were wrong; return its id."""
    new_id = writer.make(claim, *subject, source, because)
    writer.retire(new_id, FactEvent.ENDED, claim.valid_to or source.at, source.at, because)
    writer.tally.retired.remove(new_id)
    for known in writer.work.known([fact.id for fact in wrong], source.at):
        reason = f"{claim.value.text} is said to have been instead"
        decision = Decision(Action.REPLACE, (known,), ConflictStrategy.CORRECTION, claim.predicate, reason)
        writer.retire(known.fact.id, FactEvent.DENIED, source.at, source.at, reason)
        writer.work.link(link_change(SUPERSEDES, new_id, known.fact.id, reason))
        writer.record_conflict(known, new_id, decision, FactEvent.DENIED.value, source.at)
    return new_id


def _overlap(fact: Fact, claim: Claim) -> bool:
    """Whether a claim speaks of some of the time of a fact; one whose beginning is not known, of all before its end."""
    begin = claim.valid_from if claim.valid_from is not None and claim.valid_from != claim.valid_to else 0
    until = claim.valid_to or 0
    return begin < (fact.valid_to or 0) and (fact.valid_from or 0) < until

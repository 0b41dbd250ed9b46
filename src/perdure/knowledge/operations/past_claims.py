"""Writing down what was true once and is over, and that something of the past was wrong."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from perdure.knowledge.operations.apply_claims import ClaimSource, ClaimWriter
from perdure.knowledge.operations.fact_session import FactSession
from perdure.knowledge.records.facts import Claim, Fact
from perdure.knowledge.rules.claim_resolution import Action, ConflictStrategy, Decision, KnownFact
from perdure.knowledge.rules.fact_records import FactEvent
from perdure.knowledge.rules.given_claims import begins_otherwise, said_after
from perdure.records.instant import Instant
from perdure.rules.point_in_time import is_past


class PastClaimContext(NamedTuple):
    """What is known beside a claim about a time that is over."""

    known: Sequence[KnownFact]  # what is believed now about the same, and says the same of its time
    same: Sequence[Fact]  # what is said to have held once with the same value
    wrong: Sequence[Fact]  # what of the past the claim is said instead of


def past_facts(work: FactSession, subject: str, predicate: str) -> list[Fact]:
    """Return what an entity is said to have been in the past, of what was over when it was told."""
    return [f for f in work.past_facts(subject, predicate) if is_past(f, work.states[f.id])]


def said_instead(past: Sequence[Fact], claim: Claim, gone: Collection[str]) -> list[Fact]:
    """Return those facts of the past that a claim is said instead of.

    They have the value that it replaces, or they are said by nothing but memories that are ``gone``, of the same time.
    """
    named = [f for f in past if claim.old is not None and f.value.norm == claim.old.norm]
    unsaid = [f for f in past if f.sources and all(s.memory in gone for s in f.sources)]
    other = [f for f in unsaid if f.value.norm != claim.value.norm and overlaps(f, claim) and not claim.many]
    return list(dict.fromkeys((*named, *other)))


def with_days_of(claim: Claim, wrong: Sequence[Fact], replaced: str) -> Claim:
    """Return a claim with the days of the one fact that it names by its id, where it has none of its own."""
    if len(wrong) != 1 or claim.valid_from is not None or claim.valid_to is not None:
        return claim
    is_named = bool(replaced) and wrong[0].id.endswith(replaced)
    return replace(claim, valid_from=wrong[0].valid_from, valid_to=wrong[0].valid_to) if is_named else claim


def take_past(
    writer: ClaimWriter, claim: Claim, subject: tuple[str, str], source: ClaimSource, beside: PastClaimContext
) -> None:
    """Write down what was true, and no longer is: it contradicts nothing that holds now.

    Args:
        writer: What carries it out.
        claim: What was said, with the day of its end.
        subject: The entity, and how it is called.
        source: Where it was said.
        beside: What is known.
    """
    work, ended, because = writer.work, claim.valid_to or source.at, f"it held until then: {claim.value.text}"
    past = [f for f in beside.same if is_past(f, work.states[f.id])]
    overlapping = [f for f in past if claim.denied and overlaps(f, claim)]
    moved = [] if claim.denied else [k for k in beside.known if begins_otherwise(claim, k)]
    for k in (k for k in beside.known if k not in moved):
        writer.retire(k.fact.id, FactEvent.ENDED, ended, source.at, because)
    for fact in overlapping:
        writer.retire(fact.id, FactEvent.DENIED, ended, source.at, f"it was said not to have been: {claim.value.text}")
    told = (
        None
        if claim.denied or beside.known
        else _told_before(work.known_facts([f.id for f in beside.same], ended), claim)
    )
    if told is not None:
        _tell_again(writer, claim, subject, source, told, beside.wrong)
    elif moved or not (beside.known or overlapping):
        replace_past(writer, claim, subject, source, [*beside.wrong, *(k.fact for k in moved)], because)
        for k in moved:
            writer.keep_days(k.fact, because)


def is_of_other_time(claim: Claim, known: KnownFact) -> bool:
    """Whether a claim about a time that is over says nothing of what is believed: that began after it.

    Where neither states since when, "until March" ends what is believed.
    """
    begin, created = known.fact.valid_from, known.state.created_ms
    is_stated = begin not in (None, created) or claim.valid_from not in (None, claim.valid_to)
    return is_stated and claim.valid_to is not None and (created if begin is None else begin) >= claim.valid_to


def _told_before(same: Sequence[KnownFact], claim: Claim) -> KnownFact | None:
    """Return what says a claim's value of its days already, or else of some of its time; of several the last."""
    exact = [k for k in same if _days(claim, k) == (k.fact.valid_from, k.fact.valid_to)]
    of_its_time = exact or [k for k in same if overlaps(k.fact, claim)]
    return max(of_its_time, key=lambda k: (k.fact.valid_to or 0, k.fact.id), default=None)


def _days(claim: Claim, known: KnownFact) -> tuple[Instant | None, Instant | None]:
    """Return the days of a claim, with the first day of what it tells again where it states none itself."""
    begin, end = known.fact.valid_from, claim.valid_to
    is_known = begin is not None and begin not in (end, known.fact.valid_to)
    kept = begin if is_known and (begin or 0) < (end or 0) else end
    return claim.valid_from if begins_otherwise(claim, known) else kept, end


def _tell_again(
    writer: ClaimWriter,
    claim: Claim,
    subject: tuple[str, str],
    source: ClaimSource,
    known: KnownFact,
    wrong: Sequence[Fact],
) -> None:
    """Write down that what is over is said again; where that is said with other days, and later, these hold."""
    begin, end = _days(claim, known)
    is_older = said_after(source.at, [known], writer.work.now) < known.last_said
    if is_older or (begin, end) == (known.fact.valid_from, known.fact.valid_to):
        writer.reinforce(known, claim.span, source, f"said again: {claim.value.text}")
        return
    because = f"its days were corrected: {claim.value.text}"
    if is_past(known.fact, known.state):
        moved = replace(claim, valid_from=begin, valid_to=end, many=known.fact.many or claim.many)
        replace_past(writer, moved, subject, source, [*wrong, known.fact], because)
    else:  # it was believed while it held, and is so still of that time
        writer.work.rewrite(replace(known.fact, valid_from=begin, valid_to=end), because)
        writer.reinforce(known, claim.span, source, because)


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
    for known in writer.work.known_facts([fact.id for fact in wrong], source.at):
        is_other = known.fact.value.norm != claim.value.norm
        reason = f"{claim.value.text} is said to have been instead" if is_other else because
        began = source.at if claim.valid_from is None else claim.valid_from
        writer.take_place(writer.work.facts[new_id], known.fact, FactEvent.DENIED, began, source.at, reason)
        if is_other:
            decision = Decision(Action.REPLACE, (known,), ConflictStrategy.CORRECTION, claim.predicate, reason)
            writer.record_conflict(known, new_id, decision, FactEvent.DENIED.value, source.at)
    return new_id


def overlaps(fact: Fact, claim: Claim) -> bool:
    """Whether a claim speaks of some of the time of a fact; where no beginning is known, of all before the end."""
    return _begin(claim) < (fact.valid_to or 0) and _begin(fact) < (claim.valid_to or 0)


def _begin(one: Fact | Claim) -> Instant:
    return one.valid_from if one.valid_from is not None and one.valid_from != one.valid_to else 0

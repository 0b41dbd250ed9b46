"""What becomes of a claim that was handed over: it names its subject, predicate and value, so nothing is guessed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import Final

from perdure.knowledge.extraction.words import base_verb
from perdure.knowledge.records.facts import Claim, Fact, FactOrigin, Predicates, Span
from perdure.knowledge.rules.claim_resolution import (
    Action,
    ConflictStrategy,
    Decision,
    KnownFact,
    join_sides,
    resolve_conflict,
    resolve_side,
    surest,
)
from perdure.knowledge.rules.predicate_registry import Registry
from perdure.records.instant import DAY_MS, Instant
from perdure.records.maker import copy_with
from perdure.records.memory import Trust
from perdure.records.outcome import GivenClaim, HandedClaims
from perdure.records.policy_knowledge import KnowledgePolicy
from perdure.rules.language.last_day import end_beside
from perdure.rules.language.verbs import COMMON_VERBS
from perdure.rules.source_trust import least_trust

_CONFIDENCE: Final = 0.7  # of a claim: as of what is asked to be remembered in a message
_BY_OTHERS: Final = 0.3  # the most that a claim of others (a tool, a web page) has
_LATE_CLOCK: Final = 3_600_000  # milliseconds that the clocks of machines that share a store may differ by
_LONGEST_QUOTE: Final = 200  # characters of a text that stand for a quote where none was given


@dataclass(frozen=True, slots=True)
class ResolvedClaim:
    """A claim whose names were looked up."""

    given: GivenClaim  # as it was handed over
    subject: str  # the entity's id
    name: str  # the entity's name
    claim: Claim  # what it says
    called: str  # the normal form of the name that was used


def predicate_name(words: str, predicates: Predicates) -> str:
    """Return the normal form of a predicate that was handed over, which may begin with a verb: ``lives in``."""
    name = predicates.name(words)
    first, _, rest = words.casefold().partition(" ")
    if predicates.has(name) or not (verb := base_verb(first)):
        return name
    by_verb = predicates.name(f"{verb} {rest}")
    return by_verb if predicates.has(by_verb) or by_verb.partition("_")[0] == verb else name


def called_as(words: str, predicate: str, predicates: Registry) -> str:
    """Return the words by which a predicate is shown: those that were handed over.

    Empty where its name is shown: of one that the table knows under other words, or that others are said to be the
    same as.
    """
    shown = " ".join(words.replace("_", " ").split())
    name, (first, *rest) = predicate.replace("_", " "), shown.split() or [""]
    if ": " in shown or shown == name or predicate != predicate_name(words, predicates):
        return ""
    if base_verb(first) in COMMON_VERBS and " ".join([base_verb(first), *rest]) == name:  # "likes", of "like"
        return shown
    is_known = predicate in predicates.table and shown.casefold() != name
    return "" if is_known or predicate in predicates.synonyms.values() else shown


def first_confidence(trust: Trust, stated: float | None, policy: KnowledgePolicy) -> float:
    """Return how sure a claim is at first: what the caller says, else 0.7; bounded by whose word it is."""
    sure = _CONFIDENCE if stated is None else stated
    if trust is Trust.ASSISTANT:
        return min(sure, policy.statement)
    return min(sure, _BY_OTHERS) if trust is Trust.EXTERNAL else sure


def with_several(claims: Sequence[ResolvedClaim], predicates: Predicates) -> list[ResolvedClaim]:
    """Return claims; a predicate that no table names, and that one call gives several values, has several."""
    values: dict[tuple[str, str], set[str]] = {}
    for each in claims:
        if not (each.claim.denied or each.given.replaces or each.given.valid_to or each.given.valid_from):
            values.setdefault((each.subject, each.claim.predicate), set()).add(each.claim.value.norm)
    several = {key for key, norms in values.items() if len(norms) > 1 and not predicates.has(key[1])}
    return [
        replace(c, claim=replace(c.claim, many=True)) if (c.subject, c.claim.predicate) in several else c
        for c in claims
    ]


def contradictions(claims: Sequence[ResolvedClaim]) -> Iterator[str]:
    """Yield which claims of one call cannot all hold."""
    by_value: dict[tuple[str, str, str], ResolvedClaim] = {}
    by_key: dict[tuple[str, str], ResolvedClaim] = {}
    for each in claims:
        claim, number = each.claim, each.given.number
        other = by_value.setdefault((each.subject, claim.predicate, claim.value.norm), each)
        if other.claim.denied != claim.denied and _overlap(other.claim, claim):
            does, did = ("denies", "says") if claim.denied else ("says", "denies")
            yield f"Claim {number} {does} what claim {other.given.number} {did}."
        if claim.denied or claim.many:
            continue
        first = by_key.setdefault((each.subject, claim.predicate), each)
        replaced = each.given.replaces or first.given.replaces
        if first.claim.value.norm != claim.value.norm and _overlap(first.claim, claim) and not replaced:
            attribute = f"{claim.called or claim.predicate.replace('_', ' ')} of {each.name}"
            yield f"Claims {first.given.number} and {number} give {attribute} two values: say which replaces the other."


def _overlap(one: Claim, other: Claim) -> bool:
    """Whether two claims hold at one time, beyond the day on which one ends and the other begins.

    What is planned ends what holds until then, and what has an end only interrupts what has none.
    """
    if (one.planned or other.planned) and one.valid_from != other.valid_from:
        return False
    if (one.valid_to is None) != (other.valid_to is None):
        return False
    return not any(
        a.valid_to is not None and b.valid_from is not None and a.valid_to < b.valid_from + DAY_MS
        for a, b in ((one, other), (other, one))
    )


def resolve_given(
    claim: Claim,
    known: Sequence[KnownFact],
    replaced: Collection[str],
    said_at: Instant,
    policy: KnowledgePolicy,
    *,
    trust: Trust,
    corrects: bool,
) -> tuple[Claim, Decision]:
    """Return what becomes of a claim that was handed over, and the claim as it is to be written down.

    Args:
        claim: What was said.
        known: The facts that are believed about its subject and predicate, and those that it is said to replace.
        replaced: The ids of those that it is said to replace.
        said_at: When it was said.
        policy: Gap and days of the ladder.
        trust: Whose word it is: it does not correct what somebody more trusted said.
        corrects: It says what holds now, in the place of whatever contradicts it.
    """
    if any(_says(claim, k) and outranks(k.fact, trust) for k in known):
        return claim, Decision(Action.NOTHING, because="somebody more trusted said so already")
    known = [k for k in known if k.fact.id in replaced or not interrupts(claim, k.fact, said_at, trust)]
    may_begin_later = corrects or bool(replaced)
    replaced = {k.fact.id for k in known if k.fact.id in replaced and not _says(claim, k)}
    rivals = [k for k in known if k.fact.id in replaced or _contradicts(claim, k.fact)]
    outranked = any(outranks(k.fact, trust) for k in rivals)
    if rivals and not outranked and (corrects or any(k.fact.id in replaced for k in rivals)):
        sure = max(claim.confidence, policy.correction) if trust is Trust.USER else claim.confidence
        claim = copy_with(claim, learned=FactOrigin.CORRECTION, confidence=sure)
    elif outranked:
        claim = replace(claim, learned=FactOrigin.STATEMENT, old=None)
    # What is replaced by name was said before, also where the clock of the machine that says so is late.
    named = [k.last_said for k in rivals if k.fact.id in replaced and k.last_said <= said_at + _LATE_CLOCK]
    after = max([said_at, *named])
    if rivals and not any(k not in rivals and _says(claim, k) for k in known):
        decision = join_sides(_sides(claim, rivals, after, policy))
    else:
        decision = resolve_stated(claim, known, replaced, after, policy)
        is_again = decision.action is Action.REINFORCE and not replaced
        if rivals and is_again and _holds_for_good(claim, decision.about[0], said_at):
            decision = _without_end(claim, decision, join_sides(_sides(claim, rivals, after, policy)))
    if decision.action is Action.REINFORCE and replaced and _loses_end(claim, decision.about[0].fact):
        decision = _replacing(claim, decision.about)
    if decision.action is Action.REINFORCE:
        claim = claim if may_begin_later else _keeping_start(claim, decision.about[0], said_at)
        if _has_other_days(claim, decision.about[0], said_at):
            decision = replace(decision, action=Action.REDATE, because=f"its days were corrected: {claim.value.text}")
    return claim, decision


def interrupts(claim: Claim, fact: Fact, said_at: Instant, trust: Trust) -> bool:
    """Whether a claim only holds for a time, within that of a fact that it contradicts, which holds again then."""
    if claim.valid_to is None or claim.valid_to <= said_at:
        return False
    outlasts = fact.valid_to is None or fact.valid_to > claim.valid_to
    may_interrupt = fact.trust is not Trust.AUTHORITY and not outranks(fact, trust)
    return _contradicts(claim, fact) and outlasts and may_interrupt


def _loses_end(claim: Claim, fact: Fact) -> bool:
    """Whether a claim that replaces another value by name says again, without an end, what was to hold until a day."""
    return not claim.denied and claim.valid_to is None and fact.valid_to is not None and not fact.followed_by


def _holds_for_good(claim: Claim, known: KnownFact, said_at: Instant) -> bool:
    """Whether a claim says without an end what holds now for a time, beside what it interrupts: they meet again."""
    is_later = known.last_said <= said_at and not known.fact.is_upcoming(said_at)
    return is_later and _loses_end(claim, known.fact) and not begins_otherwise(claim, known)


def _without_end(claim: Claim, again: Decision, beside: Decision) -> Decision:
    """Return what becomes of a claim that says ``again`` without an end what held for a time: by what it contradicts.

    Where that is believed rather than the claim, the end stays.
    """
    if beside.action is Action.YIELD:
        return again
    lost = _replacing(claim, again.about[:1])
    return replace(beside, about=(*lost.about, *beside.about), each=(lost, *beside.sides))


def _replacing(claim: Claim, about: tuple[KnownFact, ...]) -> Decision:
    because = f"it holds without an end from now on: {claim.value.text}"
    return Decision(Action.REPLACE, about, ConflictStrategy.CORRECTION, claim.predicate, because)


def _sides(claim: Claim, rivals: Sequence[KnownFact], said_at: Instant, policy: KnowledgePolicy) -> list[Decision]:
    """Return what becomes of a claim beside each fact that it contradicts: by their days, else by the ladder."""
    by_days = ((k, _by_days(claim, k, policy)) for k in rivals)
    return [d or resolve_side(claim, k, said_at, claim.predicate, policy) for k, d in by_days]


def said_after(said_at: Instant, known: Iterable[KnownFact], now: Instant) -> Instant:
    """Return when a claim was said beside what is known: after it, where it is said now and the clock was set back.

    What was stored or confirmed at a later instant than now came before it: the order of the operations tells.
    """
    if said_at < now - _LATE_CLOCK:
        return said_at
    return max([said_at, *(k.last_said for k in known if max(k.state.recorded_ms, k.state.validated_ms or 0) > now)])


def resolve_stated(
    claim: Claim, known: Sequence[KnownFact], replaced: Collection[str], said_at: Instant, policy: KnowledgePolicy
) -> Decision:
    """Return what becomes of a claim that means one predicate and one value, said to hold or not to hold."""
    rivals = [k for k in known if k.fact.id in replaced or _contradicts(claim, k.fact)]
    same = [k for k in known if k not in rivals and _says(claim, k)]
    if same:
        corrects = claim.learned is FactOrigin.CORRECTION
        outdated = [k for k in rivals if corrects and k.last_said <= said_at]
        strategy = ConflictStrategy.CORRECTION if outdated else None
        return Decision(
            Action.REINFORCE, (surest(same), *outdated), strategy, claim.predicate, f"said again: {claim.value.text}"
        )
    if not rivals:
        return Decision(Action.CREATE, predicate=claim.predicate, because=f"new: {claim.learned}")
    return resolve_conflict(claim, rivals, said_at, claim.predicate, policy)


def _by_days(claim: Claim, rival: KnownFact, policy: KnowledgePolicy) -> Decision | None:
    """Return what the days decide since when two values hold, where both are stated; else None.

    What is much surer, as it was said, is not overruled so. Nothing is decided where something is corrected or denied.
    """
    begin, other = claim.valid_from, rival.fact
    if begin is None or claim.denied or claim.learned is FactOrigin.CORRECTION:
        return None
    action, surer = None, claim.confidence - rival.state.confidence
    if claim.planned and claim.learned is not FactOrigin.STATEMENT:  # what holds until then is not contradicted
        action = Action.REPLACE
    elif other.denied or other.valid_from in (None, rival.state.created_ms):
        return None
    elif begin < other.valid_from and surer <= policy.gap:
        action = Action.YIELD
    elif begin > other.valid_from and surer >= -policy.gap:
        action = Action.REPLACE
    if action is None or (action is Action.REPLACE and other.trust is Trust.AUTHORITY):
        return None
    because = "it began to hold " + ("later" if action is Action.REPLACE else "earlier, and is over")
    return Decision(action, (rival,), ConflictStrategy.VALIDITY, claim.predicate, because)


def outranks(fact: Fact, trust: Trust) -> bool:
    """Whether a fact was said by somebody more trusted."""
    return least_trust((trust, fact.trust)) is not fact.trust


def _says(claim: Claim, known: KnownFact) -> bool:
    fact = known.fact
    same = fact.predicate == claim.predicate and fact.value.norm == claim.value.norm
    return same and fact.denied == claim.denied


def _keeping_start(claim: Claim, known: KnownFact, said_at: Instant) -> Claim:
    """Return a claim without a first day that is later than that of what it says again.

    Who says on a later day what holds already confirms it: agents give the day of the talk. The day of a plan may move
    until somebody has said since then that it holds.
    """
    since, begin = _since(known), claim.valid_from
    if begin is None or begin <= since:
        return claim
    may_move = known.fact.planned and known.last_said <= since
    if may_move and not said_at - DAY_MS < begin <= said_at:
        return claim
    return replace(claim, valid_from=None)


def _since(known: KnownFact) -> Instant:
    return known.fact.valid_from if known.fact.valid_from is not None else known.state.created_ms


def _has_other_days(claim: Claim, known: KnownFact, said_at: Instant) -> bool:
    """Whether a claim states other days than what it says again has.

    Where nobody stated since when that holds, the day on which it was said is no other.
    """
    if claim.denied or said_at < known.last_said:
        return False
    return begins_otherwise(claim, known) or claim.valid_to not in (None, known.fact.valid_to)


def begins_otherwise(claim: Claim, known: KnownFact) -> bool:
    """Whether a claim states that what it says again began on another day."""
    since = _since(known)
    if claim.valid_from is None or claim.valid_from in (since, claim.valid_to):
        return False
    return since != known.state.created_ms or not claim.valid_from <= since < claim.valid_from + DAY_MS


def _contradicts(claim: Claim, fact: Fact) -> bool:
    if fact.predicate != claim.predicate:
        return False
    same = fact.value.norm == claim.value.norm
    if claim.denied or fact.denied:
        return same and claim.denied != fact.denied
    return not same and not (claim.many or fact.many)


def rests_on(fact: Fact, memories: Collection[str]) -> bool:
    """Whether a fact is one of some memories, or stands in one."""
    return fact.id in memories or any(source.memory in memories for source in fact.sources)


def rests_only_on(fact: Fact, memories: Collection[str]) -> bool:
    """Whether a fact is one of some memories, or stands in no others: with them nothing says it any longer."""
    sources = [source.memory for source in fact.sources]
    return fact.id in memories or (bool(sources) and all(memory in memories for memory in sources))


def first_day(claim: GivenClaim, said_at: Instant) -> Instant | None:
    """Return since when a claim holds; of what is over, and nobody knows since when, its end."""
    is_over = claim.valid_to is not None and claim.valid_to <= said_at
    return claim.valid_to if claim.valid_from is None and is_over else claim.valid_from


def stated_end(claim: GivenClaim, handed: HandedClaims, zone: tzinfo | None) -> Instant | None:
    """Return until when a claim holds: as it states, else as the words beside its value do, if it is the only one."""
    if claim.valid_to is not None or claim.denied or len(handed.claims) > 1:
        return claim.valid_to
    return end_beside(claim.value, handed.text, handed.at, zone)


def span_of(quote: str, text: str) -> Span:
    """Return where a quote stands in a text; the beginning of the text where there is none, or it is not there."""
    start = text.find(quote) if quote else -1
    end = start + len(quote) if start >= 0 else min(len(text), _LONGEST_QUOTE)
    start = max(start, 0)
    return Span(start, end, text[start:end])

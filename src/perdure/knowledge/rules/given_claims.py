"""What becomes of a claim that was handed over: it names its subject, predicate and value, so nothing is guessed."""

from __future__ import annotations

import re
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
from perdure.rules.language.replaced_values import replaced_values
from perdure.rules.language.sentences import sentences
from perdure.rules.language.verbs import COMMON_VERBS
from perdure.rules.language.words import word_set
from perdure.rules.source_trust import least_trust

_WORD: Final = re.compile(r"\w+")
_CONFIDENCE: Final = 0.7  # of a claim: as of what is asked to be remembered in a message
_BY_OTHERS: Final = 0.3  # the most that a claim of others (a tool, a web page) has
_LATE_CLOCK: Final = 3_600_000  # milliseconds that the clocks of machines that share a store may differ by
_LONGEST_QUOTE: Final = 200  # characters of a text that stand for a quote where none was given


_ADDING: Final = word_set("also additionally auch ebenfalls también además aussi également anche inoltre também")
_ADDED: Final = re.compile(
    r"""\btoo\b(?=\s{0,3}(?:[^\w\s]|\Z)) | \bas[ ]well\b
      | (?<![今何誰])(?<=[^\W\u3040-\u309f])も(?![うのしっとちらく]) | 也(?![许許罢就])""",
    re.IGNORECASE | re.VERBOSE,
)
"""What is said to hold beside something: at the end of a clause in English, after a noun in Japanese."""
_CLAUSE_END: Final = re.compile(
    r"[,;:.!?](?=\s|\Z)|\s[-\u2013]\s|\u2014|\s(?:and|but|und|aber|sondern|et|mais|y|pero|sino|e|ma|mas)\s",
    re.IGNORECASE,
)
_ONLY_ADDS: Final = re.compile(
    r"\W*(?:too|as\s+well|also|additionally|auch|ebenfalls|también|además|aussi|également|anche|inoltre|também)\W*",
    re.IGNORECASE,
)
_LEFT: Final = re.compile(
    r"""\b(?: moved | relocated | no\s+longer | not\s.{1,40}any\s?more | instead | rather\s+than | replaced | switched
      | from\s+(?:\w+\s+){1,3}to | used\s+to\s+be | former(?:ly)?
      | von\s+(?:\w+\s+){1,3}(?:nach|zu|auf) | nicht\s+mehr | keine?[nmrs]?\s.{1,40}\smehr | statt | stattdessen
      | (?:um)?gezogen | gewechselt | umgestiegen
      | au\s+lieu | plutôt\s+que | ne\s.{1,40}\splus | déménagé | (?:en|em)\s+(?:vez|lugar) | ya\s+no
      | se\s+ha\s+mudado | se\s+mudó | mudou | já\s+não | não\s.{1,40}\smais | invece | non\s.{1,40}\spiù
      | (?:de|da)\s+(?:\w+\s+){1,3}(?:à|a|para)\s | trasferit[oa]
      )\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""What says that something else is over: "from Rome to", "no longer", "statt"."""


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


def adds_one(claim: GivenClaim, text: str) -> bool:
    """Whether the clause that says a claim says that its value holds beside others: "also", "too", "auch", "も".

    What a clause says of somebody else adds nothing, and neither does a text that says what is over: the reply to what
    takes another value's place names that value.
    """
    if _LEFT.search(text) or replaced_values(text):
        return False
    return any(map(_adds, _clauses_of(claim, text)))


def says_ended(claim: GivenClaim, text: str) -> bool:
    """Whether the clause that denies a value says that it held before: "no longer", "nicht mehr", "ya no"."""
    return claim.denied and any(map(_LEFT.search, _clauses_of(claim, text)))


def _clauses_of(claim: GivenClaim, text: str) -> Iterator[str]:
    value = claim.value.casefold()
    said = [text[start:end].casefold() for start, end in sentences(text)]
    said = [sentence for sentence in said if value in sentence] or [(claim.quote or text).casefold().rstrip(" .!?")]
    return (clause for sentence in said for clause in _clauses_with(value, sentence))


def _adds(clause: str) -> bool:
    return _ADDED.search(clause) is not None or not _ADDING.isdisjoint(_WORD.findall(clause))


def _clauses_with(value: str, sentence: str) -> Iterator[str]:
    """Yield the clauses that have a value, with what only adds behind them (", too"); a sentence of one clause too."""
    bounds = [0, *(at for end in _CLAUSE_END.finditer(sentence) for at in end.span()), len(sentence)]
    start = sentence.find(value)
    if start < 0 and len(bounds) == 2:  # noqa: PLR2004  # its beginning and its end
        yield sentence
    while start >= 0:
        begin = max(at for at in bounds[::2] if at <= start)
        ends = [at for at in bounds[1::2] if at >= start + len(value)]
        rest = sentence[ends[0] : ends[1]] if len(ends) > 1 else ""
        yield sentence[begin : ends[0]] + (rest if _ONLY_ADDS.fullmatch(rest) else "")
        start = sentence.find(value, ends[0])


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
    replaced = {k.fact.id for k in known if k.fact.id in replaced and not _says(claim, k)}
    rivals = [k for k in known if k.fact.id in replaced or _contradicts(claim, k)]
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
        by_days = ((k, _by_days(claim, k, policy)) for k in rivals)
        decision = join_sides([d or resolve_side(claim, k, after, claim.predicate, policy) for k, d in by_days])
    else:
        decision = resolve_stated(claim, known, replaced, after, policy)
    if decision.action is Action.REINFORCE and replaced and _loses_end(claim, decision.about[0].fact):
        because = f"it holds without an end from now on: {claim.value.text}"
        decision = Decision(Action.REPLACE, decision.about, ConflictStrategy.CORRECTION, claim.predicate, because)
    if decision.action is Action.REINFORCE and _has_other_days(claim, decision.about[0], said_at):
        decision = replace(decision, action=Action.REDATE, because=f"its days were corrected: {claim.value.text}")
    return claim, decision


def interrupts(claim: Claim, fact: Fact, said_at: Instant, trust: Trust) -> bool:
    """Whether a claim only holds for a time, within that of a fact of another value, which holds again afterwards."""
    if claim.denied or fact.denied or claim.valid_to is None or claim.valid_to <= said_at:
        return False
    is_other = fact.predicate == claim.predicate and fact.value.norm != claim.value.norm
    outlasts = fact.valid_to is None or fact.valid_to > claim.valid_to
    return is_other and outlasts and fact.trust is not Trust.AUTHORITY and not outranks(fact, trust)


def _loses_end(claim: Claim, fact: Fact) -> bool:
    """Whether a claim that replaces another value by name says again, without an end, what was to hold until a day."""
    return not claim.denied and claim.valid_to is None and fact.valid_to is not None and not fact.followed_by


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
    rivals = [k for k in known if k.fact.id in replaced or _contradicts(claim, k)]
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


def _has_other_days(claim: Claim, known: KnownFact, said_at: Instant) -> bool:
    """Whether a claim states other days than what it says again has.

    Where nobody stated since when that holds, the day on which it was said is no other.
    """
    if claim.denied or said_at < known.last_said:
        return False
    return begins_otherwise(claim, known) or claim.valid_to not in (None, known.fact.valid_to)


def begins_otherwise(claim: Claim, known: KnownFact) -> bool:
    """Whether a claim states that what it says again began on another day."""
    since = known.fact.valid_from if known.fact.valid_from is not None else known.state.created_ms
    if claim.valid_from is None or claim.valid_from in (since, claim.valid_to):
        return False
    return since != known.state.created_ms or claim.valid_from // DAY_MS != since // DAY_MS


def _contradicts(claim: Claim, known: KnownFact) -> bool:
    fact = known.fact
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

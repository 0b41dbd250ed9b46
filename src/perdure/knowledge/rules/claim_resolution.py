"""What becomes of a claim: it confirms what is known, replaces it, stands beside it, or is asked about."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from perdure.knowledge.extraction.words import base_verb
from perdure.knowledge.languages import language
from perdure.knowledge.records.facts import UNNAMED, Claim, Fact, FactOrigin
from perdure.records.instant import DAY_MS, Instant
from perdure.records.memory import State, Trust
from perdure.records.policy_knowledge import KnowledgePolicy

_WORDS: Final = language("en").words
Akin = Callable[[str, str], bool]
_ENDING: Final = re.compile(
    r"\b(?:no longer|any ?more|any longer|stop(?:ped|s)?|quit|used to|g[ai]ven? up|end(?:ed|s)|cancel?led|dropped|"
    r"discontinued|ceased|unsubscribed)\b|\bha(?:ve|s)(?:\s+not|n['’]t)\b.{1,200}?"  # noqa: RUF001
    r"\b(?:since|(?:in|for)\s+(?:\w+\s+){0,3}?(?:days?|weeks?|months?|years?))\b",
    re.IGNORECASE | re.DOTALL,
)
"""What is said to have ended was true until then; what is only denied never was."""
_PREFERENCE: Final = "_preference"
_LIKINGS: Final = frozenset({"preference", "like", "enjoy", "love", "fan", "interest"})
_ACTS: Final = _WORDS["habits"] | _WORDS["done"]
_POSSESSIONS: Final = frozenset({"have", "own", "pet", "use", "subscribe_to"})
_OUTRIGHT: Final = frozenset({FactOrigin.EXPLICIT, FactOrigin.PREFERENCE, FactOrigin.CORRECTION})


class Action(StrEnum):
    """What becomes of a claim."""

    CREATE = "create"
    REINFORCE = "reinforce"
    REDATE = "redate"  # what is known is said again with other days, and these hold
    REPLACE = "replace"  # it is stored, and what it contradicts is superseded
    YIELD = "yield"  # it is stored as superseded: what is known already is believed
    ASK = "ask"  # it is stored beside what it contradicts, and a person is asked
    DENY = "deny"  # what is known is invalidated; nothing is stored
    END = "end"  # what is known held until now; nothing is stored
    NOTHING = "nothing"


class ConflictStrategy(StrEnum):
    """How a conflict was decided."""

    AUTHORITY = "trust_authority"
    CORRECTION = "trust_correction"
    CONFIDENCE = "trust_higher_confidence"
    RECENT = "trust_recent"
    VALIDITY = "trust_validity"  # of handed-over facts: by the days since when both hold
    ASK = "ask_user"


BY_ORDER: Final = (ConflictStrategy.CONFIDENCE, ConflictStrategy.RECENT, ConflictStrategy.VALIDITY)
"""By these one value takes another's place though nobody said so: a person may say that both hold."""


@dataclass(frozen=True, slots=True)
class KnownFact:
    """A fact that is believed."""

    fact: Fact  # what it says
    state: State  # its memory's state
    confidence: float  # effective confidence at the instant of the claim, 0 to 1

    @property
    def last_said(self) -> Instant:
        """When it was last said or confirmed."""
        return max(self.state.created_ms, self.state.validated_ms or self.state.created_ms)


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of a claim, and why."""

    action: Action  # what
    # the facts that it replaces, yields to, or contradicts, those that gave the action first, then the surest; what it
    # confirms comes before what it is said to have replaced
    about: tuple[KnownFact, ...] = ()
    # how a conflict was decided, also one that was open before; None where there is none
    strategy: ConflictStrategy | None = None
    # the predicate that it is stored under: that of the fact it corrects, where it named none itself
    predicate: str = ""
    because: str = ""  # in words and numbers
    each: tuple[Decision, ...] = ()  # what becomes of it beside each fact of several that it contradicts

    @property
    def sides(self) -> tuple[Decision, ...]:
        """What becomes of the claim beside each fact: it may take the place of some, and others are asked about."""
        return self.each or (self,)

    @property
    def settled(self) -> Iterator[KnownFact]:
        """The facts about which nobody is asked."""
        return (known for side in self.sides if side.action is not Action.ASK for known in side.about)


def resolve_claim(
    claim: Claim, known: Sequence[KnownFact], said_at: Instant, policy: KnowledgePolicy, akin: Akin
) -> Decision:
    """Return what becomes of a claim."""
    if claim.denied:
        about = [k for k in known if not k.fact.denied and _denies(claim, k, akin)]
        again = [k for k in known if k.fact.denied and _is_same(claim, k)]
        return _resolve_denial(claim, about, again, said_at)
    predicate, matching = _matching_facts(claim, known, akin)
    same_key = [k for k in matching if not k.fact.denied or k.fact.value.norm == claim.value.norm]
    same = [k for k in same_key if k.fact.value.norm == claim.value.norm and not k.fact.denied]
    if same:
        beside = [k for k in same_key if k not in same and k.last_said <= said_at]
        settles = _settling_strategy(claim, [k for k in same_key if k not in same], said_at)
        outdated = beside if settles else [k for k in beside if claim.old and k.fact.value.norm == claim.old.norm]
        because = f"said again: {claim.value.text}"
        return Decision(Action.REINFORCE, (surest(same), *outdated), settles, predicate, because)
    other = same_key
    if claim.many or (other and all(k.fact.many or k.fact.denied for k in other)):
        # A correction names what it replaces; whatever else has several values only adds one.
        other = [k for k in other if k.fact.denied or _corrects(claim, k)]
    if not other:
        return Decision(Action.CREATE, predicate=predicate, because=f"new: {claim.learned}")
    return resolve_conflict(claim, other, said_at, predicate, policy)


def _matching_facts(claim: Claim, known: Sequence[KnownFact], akin: Akin) -> tuple[str, list[KnownFact]]:
    """Return the predicate that a claim is about, and the facts of it.

    A correction may name its predicate in part or not at all ("they prefer Thursday, not Friday"): it is about the fact
    with the old value, or about the only one that is akin and has a value of the same sort.
    """
    exact = [k for k in known if k.fact.predicate == claim.predicate]
    if exact or claim.learned is not FactOrigin.CORRECTION:
        return claim.predicate, exact
    family = [k for k in known if akin(claim.predicate, k.fact.predicate)]
    if claim.predicate == UNNAMED and claim.old is not None:
        # "Thursday, not Friday" is not about where somebody lives.
        family = [k for k in family if k.fact.value.norm == claim.old.norm or _alike(k.fact.value.norm, claim.old.norm)]
    for near in (
        [k for k in family if claim.old is not None and k.fact.value.norm == claim.old.norm],
        [k for k in family if k.fact.value.kind is claim.value.kind],
        [k for k in family if _alike(k.fact.value.norm, claim.value.norm)],
    ):
        if len({k.fact.predicate for k in near}) == 1:
            predicate = near[0].fact.predicate
            return predicate, [k for k in known if k.fact.predicate == predicate]
    return claim.predicate, []


def _corrects(claim: Claim, known: KnownFact) -> bool:
    """Whether one of several values is replaced: it is named, or what is preferred instead looks like it.

    "Actually, I prefer light mode" is said of dark mode, and not of tea.
    """
    if claim.old is not None:
        return known.fact.value.norm == claim.old.norm
    instead = claim.learned is FactOrigin.CORRECTION and claim.predicate == _PREFERENCE[1:]
    return instead and _alike(known.fact.value.norm, claim.value.norm)


def _alike(one: str, other: str) -> bool:
    """Whether two values look like values of one thing: "net 30" and "net 45" have a word, two are days of the week."""
    words, others = set(one.split()), set(other.split())
    return any(word.isalpha() for word in words & others) or (
        words <= _WORDS["weekdays"] and others <= _WORDS["weekdays"]
    )


def _settling_strategy(claim: Claim, other: Sequence[KnownFact], said_at: Instant) -> ConflictStrategy | None:
    """Return how a claim that repeats one of several contested values decides between them; None if it does not."""
    if not other or claim.many:
        return None
    if claim.learned is FactOrigin.AUTHORITY:
        return ConflictStrategy.AUTHORITY
    newest = all(said_at >= k.last_said for k in other)
    return ConflictStrategy.CORRECTION if claim.learned is FactOrigin.CORRECTION and newest else None


def _denies(claim: Claim, known: KnownFact, akin: Akin) -> bool:
    """Whether a claim that something does not hold is about a fact, whatever verb the fact was learned by.

    "I no longer drink tea" ends "I prefer tea" too, "I don't like tea" denies "I love tea", "no longer delivers on
    Fridays" ends a day of delivery that was learned as a preference. "I don't eat meat" says nothing of who likes it.
    """
    predicate, fact = claim.predicate, known.fact
    value, denied = fact.value.norm, claim.value.norm
    if predicate == fact.predicate or predicate.removesuffix(_PREFERENCE) == fact.predicate.removesuffix(_PREFERENCE):
        whole = _verb(denied) == predicate  # "gave up smoking" ends "smokes cigarettes"
        return whole or value == denied or _holds(claim, known) or _verb(value) == _verb(denied)
    if claim.learned is FactOrigin.CORRECTION and value == denied and akin(predicate, fact.predicate):
        return True
    ends = _ENDING.search(claim.span.quote) is not None
    if predicate == "do" and ends and fact.predicate == _verb(denied):
        return True  # "gave up smoking" ends "smokes 10 cigarettes"
    return _of_one_family(predicate, fact.predicate, ends=ends) and (value == denied or _verb(value) == _verb(denied))


def _of_one_family(predicate: str, other: str, *, ends: bool) -> bool:
    """Whether two predicates say that somebody likes, does or has something: what ends the one ends the other."""
    liked = [name in _LIKINGS or name.startswith("favorite") for name in (predicate, other)]
    if not ends:
        return all(liked)
    acts = [is_liked or name in _ACTS for is_liked, name in zip(liked, (predicate, other), strict=True)]
    return all(acts) or (predicate in _POSSESSIONS and other in _POSSESSIONS)


def _verb(norm: str) -> str:
    """Return a single word as a verb: smoking and smoke are the same; of several words, the words."""
    return norm if " " in norm else base_verb(norm)


def _holds(claim: Claim, known: KnownFact) -> bool:
    """Whether what is denied holds the value that is known beside a thing: "no longer Friday deliveries" ends Friday.

    "I no longer drink green tea" says nothing of tea: the thing itself is the value there.
    """
    value, denied = known.fact.value.norm.split(), claim.value.norm.split()
    return set(value) <= set(denied) and denied[-1] not in value


def _is_same(claim: Claim, known: KnownFact) -> bool:
    return (known.fact.predicate, known.fact.value.norm) == (claim.predicate, claim.value.norm)


def _resolve_denial(claim: Claim, same: Sequence[KnownFact], again: Sequence[KnownFact], said_at: Instant) -> Decision:
    """Return what a denial does: it ends or refutes what is known, else it is a fact of its own: does not eat pork."""
    if not same and again:
        because = f"said again: not {claim.value.text}"
        return Decision(Action.REINFORCE, (surest(again),), predicate=claim.predicate, because=because)
    if not same:
        return Decision(Action.CREATE, predicate=claim.predicate, because=f"new: {claim.learned}")
    predicate = same[0].fact.predicate
    same = [k for k in same if k.last_said <= said_at]
    if not same:
        return Decision(Action.NOTHING, predicate=predicate, because="it was said again since")
    ends = _ENDING.search(claim.span.quote) is not None
    action = Action.END if ends else Action.DENY
    wording = "said not to hold any longer" if ends else "said to be wrong"
    strategy = None if ends else ConflictStrategy.CORRECTION
    return Decision(action, tuple(same), strategy, predicate, f"{wording}: {claim.span.quote}")


def resolve_conflict(
    claim: Claim, other: Sequence[KnownFact], said_at: Instant, predicate: str, policy: KnowledgePolicy
) -> Decision:
    """Decide between a claim and each of the facts that it contradicts on its own, by the ladder."""
    return join_sides([resolve_side(claim, rival, said_at, predicate, policy) for rival in other])


def join_sides(sides: Sequence[Decision]) -> Decision:
    """Return what becomes of a claim that contradicts several facts, from what becomes of it beside each of them.

    What yields to one of them is not believed, so it yields to all. Else it takes the place of some of them, and a
    person is asked about the others.
    """
    strength = (Action.YIELD, Action.REPLACE, Action.ASK)
    ordered = sorted(sides, key=lambda d: _sureness(d.about[0]), reverse=True)
    first, *_ = ordered = sorted(ordered, key=lambda d: strength.index(d.action))
    each = () if first.action is Action.YIELD else tuple(ordered)
    return replace(first, about=tuple(d.about[0] for d in ordered), each=each)


def resolve_side(claim: Claim, rival: KnownFact, said_at: Instant, predicate: str, policy: KnowledgePolicy) -> Decision:
    """The ladder: authority, correction, gap in confidence, recency of what was said outright, else ask."""
    sides = f"{rival.fact.shown_value} ({rival.confidence:.2f}) against {_shown_value(claim)} ({claim.confidence:.2f})"

    def decide(action: Action, strategy: ConflictStrategy, why: str) -> Decision:
        return Decision(action, (rival,), strategy, predicate, f"{sides}: {why}")

    if claim.learned is FactOrigin.AUTHORITY:
        return decide(Action.REPLACE, ConflictStrategy.AUTHORITY, "an authority says so")
    if rival.fact.trust is Trust.AUTHORITY:
        return decide(Action.YIELD, ConflictStrategy.AUTHORITY, "an authority said the other")
    newer = said_at >= rival.last_said
    if claim.learned is FactOrigin.CORRECTION and newer:
        return decide(Action.REPLACE, ConflictStrategy.CORRECTION, "it is a correction")
    gap = claim.confidence - rival.confidence
    if abs(gap) > policy.gap:
        action = Action.REPLACE if gap > 0 else Action.YIELD
        return decide(action, ConflictStrategy.CONFIDENCE, f"the gap is above {policy.gap:g}")
    days = abs(said_at - rival.last_said) / DAY_MS
    outright = _is_outright(claim) if newer else rival.fact.learned in _OUTRIGHT
    if outright and days >= policy.recent_days:
        action = Action.REPLACE if newer else Action.YIELD
        return decide(action, ConflictStrategy.RECENT, f"the newer was said outright, {days:.0f} days later")
    return decide(Action.ASK, ConflictStrategy.ASK, "neither is clearly right")


def _is_outright(claim: Claim) -> bool:
    """Whether a claim was made outright: asked to be remembered, or stated as a change of what was."""
    return claim.learned in _OUTRIGHT or claim.old is not None or claim.valid_from is not None


def _shown_value(claim: Claim) -> str:
    return f"not {claim.value.text}" if claim.denied else claim.value.text


def surest(known: Iterable[KnownFact]) -> KnownFact:
    """The surest; of equals the one said last, then the one with the greater id."""
    return max(known, key=_sureness)


def _sureness(known: KnownFact) -> tuple[float, Instant, str]:
    return known.confidence, known.last_said, known.fact.id


def find_answered_fact(text: str, before: str, known: Sequence[KnownFact]) -> KnownFact | None:
    """Return the one fact that a confirmation or a bare denial is about, or None where that is not clear.

    ``text`` and ``before`` are in normal form: lower case, single blanks.
    """
    for words in (text, before):
        mentioned = [k for k in known if k.fact.value.norm and _says(words, k)]
        if len(mentioned) == 1:
            return mentioned[0]
        if mentioned:
            predicates = [k for k in mentioned if _names_predicate(f"{text} {before}", k)]
            return predicates[0] if len(predicates) == 1 else None
    return None


def _says(words: str, known: KnownFact) -> bool:
    value = known.fact.value
    return any(
        _has_word(words, form) for form in {value.text.casefold(), value.norm.casefold()} if form and not form.isspace()
    )


def _has_word(words: str, form: str) -> bool:
    start = words.find(form)
    while start >= 0:
        end = start + len(form)
        before, after = words[start - 1 : start], words[end : end + 1]
        plural = after == "s" and not words[end + 1 : end + 2].isalnum()
        if not before.isalnum() and (not after.isalnum() or plural):
            return True
        start = words.find(form, start + 1)
    return False


def _names_predicate(words: str, known: KnownFact) -> bool:
    return any(len(part) > 3 and part in words for part in known.fact.predicate.split("_"))  # noqa: PLR2004  # not "day"

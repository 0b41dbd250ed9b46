"""Procedures: which topic follows which more often than by accident, and what becomes of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from perdure.knowledge.formulas.survival import at_least, discoveries, follows_within
from perdure.records.memory import Document
from perdure.records.policy_knowledge import KnowledgePolicy
from perdure.rules.language.words import query_words, word_set

_SHORTEST: Final = 3
_ES: Final = ("ses", "xes", "zes", "ches", "shes")
_IDLE: Final = word_set("""
    ok okay yes yeah yep hey hi hello thanks thank please good great nice sure right well really like just get got know
    think want need make let see say tell go going thing things lot bit much also still today tomorrow yesterday
    """)
"""Words that are said whatever it is about."""


@dataclass(frozen=True, slots=True)
class TopicMessage:
    """One message of a session."""

    id: str  # the memory that holds it
    session: str  # which one
    topics: frozenset[str]  # what it is about


def topics_of(text: str) -> frozenset[str]:
    """Return what a message is about; numbers, short words and those said whatever it is about are no topics."""
    words = (w for w in query_words(text) if len(w) >= _SHORTEST and w.isalpha() and w not in _IDLE)
    return frozenset(map(fold_plural, words))


def fold_plural(word: str) -> str:
    """Return a word without the ending of its plural, so that one and several are one topic."""
    if len(word) <= _SHORTEST or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > len("pies"):
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(_ES) else word[:-1]


REACH: Final = 2  # a topic follows another if it comes up in one of the next two messages
SHARE: Final = 0.5  # a procedure is learned if the second topic followed in at least half of the sessions
STILL: Final = 1 / 3
"""... and retired when in recent sessions it does so in less than a third: in between it neither comes nor goes."""
LIFT: Final = 2.0  # it must follow at least twice as often as it comes up anyway
SUREST: Final = 0.9
TENTHS: Final = 10  # confidence is a tenth for each session, and no more than 0.9
TOPICS: Final = 3  # so many topics are named on either side
_SAME: Final = 0.5
"""Pairs of topics that share so much of their evidence are one procedure: its messages have several words each."""


@dataclass(frozen=True, slots=True)
class Procedure:
    """When some topics come up, others follow."""

    trigger: tuple[str, ...]  # what comes up first, the most telling first
    then: tuple[str, ...]  # what follows
    support: int  # sessions in which it followed
    sessions: int  # sessions in which the trigger came up
    lift: float  # how many times as often it follows as it comes up anyway
    evidence: tuple[tuple[str, str], ...] = ()  # (earlier message, later message), one pair for each session
    id: str = ""  # the memory that says so; empty for one that is not stored
    retired: bool = False  # it held once, and holds no more

    @property
    def confidence(self) -> float:
        """A tenth for each session in which it held, 0.9 at most."""
        return min(SUREST, self.support / TENTHS)

    @property
    def key(self) -> str:
        """The name of its document."""
        return f"{self.trigger[0]}>{self.then[0]}"

    def to_data(self) -> dict[str, Any]:
        """Return what its document holds."""
        return {
            "trigger": list(self.trigger),
            "then": list(self.then),
            "support": self.support,
            "sessions": self.sessions,
            "confidence": self.confidence,
            "lift": self.lift,
            "retired": self.retired,
        }

    @classmethod
    def from_document(cls, document: Document) -> Procedure:
        """Return the procedure that a document of the shelf PROCEDURE describes."""
        data = document.data
        return cls(
            trigger=tuple(data["trigger"]),
            then=tuple(data["then"]),
            support=data["support"],
            sessions=data["sessions"],
            lift=data["lift"],
            id=document.id,
            retired=data["retired"],
        )

    def same(self, other: Procedure) -> bool:
        """Whether another says the same: a trigger and what follows are in common."""
        return bool(set(self.trigger) & set(other.trigger)) and bool(set(self.then) & set(other.then))


@dataclass(frozen=True, slots=True)
class _Pair:
    """How often one topic followed another, and how likely that is by accident."""

    trigger: str
    then: str
    evidence: Mapping[int, tuple[int, int]]  # session -> places of the first two messages
    sessions: int
    lift: float
    by_lift: float
    by_order: float


class Conversations:
    """The messages of some sessions, ready to be asked what follows what.

    ``history`` is in the order in which it was said; pairs of topics of fewer than ``least`` sessions are not looked
    for.
    """

    def __init__(self, history: Iterable[TopicMessage], least: int) -> None:
        sessions: dict[str, list[TopicMessage]] = {}
        for one in history:
            sessions.setdefault(one.session, []).append(one)
        self.sessions = list(sessions.values())
        spread: Counter[str] = Counter()
        for messages in self.sessions:
            spread.update(frozenset().union(*(m.topics for m in messages)))
        self.topics = {t for t, n in spread.items() if n >= least}
        self.places: dict[str, dict[int, list[int]]] = {}
        """Topic -> session -> places of the messages that it is in."""
        for s, messages in enumerate(self.sessions):
            for i, message in enumerate(messages):
                for topic in message.topics:
                    self.places.setdefault(topic, {}).setdefault(s, []).append(i)
        alike = (tuple((s, *self.places[t][s]) for s in sorted(self.places[t])) for t in self.topics)
        self.different = len(set(alike))
        """Topics, those that always come up in the same messages counted once: they are one thing to be tested."""
        self.starts = sum(max(0, len(messages) - 1) for messages in self.sessions)
        """Messages that another one follows."""

    def pairs(self, least: int) -> Iterable[tuple[str, str]]:
        """Return pairs of topics of which the second followed the first in so many sessions, and in half of its own."""
        following = [[self._following(messages, i) for i in range(len(messages))] for messages in self.sessions]
        pairs: list[tuple[str, str]] = []
        for trigger in self.topics:  # one at a time: of all pairs of a year's talk a count each would fill the memory
            found: Counter[str] = Counter()
            came = self.places[trigger]
            for s, places in came.items():
                found.update(
                    following[s][places[0]] if len(places) == 1 else {t for i in places for t in following[s][i]}
                )
            pairs += [(trigger, then) for then, n in found.items() if n >= least and n >= SHARE * len(came)]
        return sorted(pairs)

    def _following(self, messages: Sequence[TopicMessage], place: int) -> tuple[str, ...]:
        """Return the topics that come up soon after a message and are not in it."""
        later = frozenset[str]().union(*(m.topics for m in messages[place + 1 : place + 1 + REACH]))
        return tuple((later & self.topics) - messages[place].topics)

    def evidence(self, trigger: str, then: str) -> dict[int, tuple[int, int]]:
        """Return session -> places of the first two messages in which one topic followed the other."""
        found: dict[int, tuple[int, int]] = {}
        after = self.places.get(then, {})
        for s, places in self.places.get(trigger, {}).items():
            if s in after and (first := _first_pair(places, after[s])) is not None:
                found[s] = first
        return found

    def pair(self, trigger: str, then: str) -> _Pair:
        """Return how often one topic followed the other, and how likely that is by accident.

        By lift: the second topic comes up soon after as many messages as it does after those without the first.
        By order: the messages of a session come in any order.
        """
        evidence = self.evidence(trigger, then)
        came, others = self.places.get(trigger, {}), self.places.get(then, {})
        base = self._base_rate(trigger, then)
        chance = _mean(1.0 - (1.0 - base) ** len(places) for places in came.values())
        both = [s for s in came if s in others]
        order = _mean(
            1.0 - (1.0 - follows_within(len(self.sessions[s]), REACH)) ** (len(came[s]) * len(others[s])) for s in both
        )
        share = len(evidence) / max(1, len(came))
        return _Pair(
            trigger,
            then,
            evidence,
            len(came),
            share / chance if chance > 0.0 else 0.0,
            at_least(len(evidence), len(came), chance),
            at_least(len(evidence), len(both), order),
        )

    def _base_rate(self, trigger: str, then: str) -> float:
        """The share of messages without the trigger soon after which the other topic comes up."""
        followed = triggers = 0
        for s, places in self.places.get(then, {}).items():
            with_then, with_trigger = set(places), set(self.places.get(trigger, {}).get(s, ()))
            before = {j - step for j in places for step in range(1, REACH + 1) if j >= step}
            followed += len(before - with_then - with_trigger)
        for s, places in self.places.get(trigger, {}).items():
            triggers += sum(1 for i in places if i < len(self.sessions[s]) - 1)
        return (followed + 0.5) / (self.starts - triggers + 1.0)


def _first_pair(places: Sequence[int], after: Sequence[int]) -> tuple[int, int] | None:
    """The first place of one topic soon after which the other comes up that is not there already."""
    other_places = set(after)
    for i in places:
        for j in range(i + 1, i + 1 + REACH):
            if j in other_places and i not in other_places:
                return i, j
    return None


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found) if found else 0.0


def find_procedures(talk: Conversations, policy: KnowledgePolicy) -> list[Procedure]:
    """Return what follows what in some conversations, clearly more often than by accident, the surest first.

    Two things must not be accidents: that the second topic comes up at all where the first did (so common topics make
    no procedures), and that it comes up after it (so topics of one conversation make none).

    The policy says in how many sessions, and how likely it may be that any of all pairs is an accident.
    """
    least, level = policy.procedure_sessions, policy.procedure_chance
    tested = talk.different * (talk.different - 1)
    pairs = [talk.pair(a, b) for a, b in talk.pairs(least)]
    telling = [p for p in pairs if p.by_lift * tested <= level and p.lift >= LIFT]
    groups = _group_pairs(telling)
    if not groups:
        return []
    kept = discoveries([group[0].by_order for group in groups], level)
    procedures = [_procedure(talk, group) for group, keep in zip(groups, kept.tolist(), strict=True) if keep]
    return sorted(procedures, key=lambda p: (-p.support, p.key))


def _group_pairs(pairs: Sequence[_Pair]) -> list[list[_Pair]]:
    groups: list[list[_Pair]] = []
    for pair in sorted(pairs, key=lambda p: (p.by_lift, p.by_order, p.trigger, p.then)):
        mine = set(pair.evidence.items())
        for group in groups:
            theirs = set(group[0].evidence.items())
            if len(mine & theirs) >= _SAME * len(mine | theirs):
                group.append(pair)
                break
        else:
            groups.append([pair])
    return groups


def _procedure(talk: Conversations, group: Sequence[_Pair]) -> Procedure:
    head = group[0]
    messages = [(talk.sessions[s], places) for s, places in head.evidence.items()]
    return Procedure(
        trigger=tuple(dict.fromkeys(p.trigger for p in group))[:TOPICS],
        then=tuple(dict.fromkeys(p.then for p in group if p.then not in {q.trigger for q in group}))[:TOPICS],
        support=len(head.evidence),
        sessions=head.sessions,
        lift=round(head.lift, 2),
        evidence=tuple((session[i].id, session[j].id) for session, (i, j) in messages),
    )


# --- what becomes of them


@dataclass(frozen=True, slots=True)
class ProcedureChange:
    """What becomes of one procedure."""

    move: str  # ``learned``, ``changed``, ``retired`` or ``back``
    before: Procedure | None  # as it was; None for a new one
    after: Procedure  # as it is to be
    because: str  # why, in numbers


def decide_procedures(
    talk: Conversations, known: Iterable[Procedure], policy: KnowledgePolicy
) -> list[ProcedureChange]:
    """Return what becomes of procedures in the light of recent conversations; those that stay as they are have none."""
    found = find_procedures(talk, policy)
    changes = []
    for old in known:
        recent = update_procedure(talk, old)
        holds_still = still_holds(recent, policy)
        again = [new for new in found if new.same(old)]
        counts = _describe_support(recent)
        if old.retired and again and holds_still:
            changes.append(ProcedureChange("back", old, replace(recent, retired=False), f"it holds again: {counts}"))
        elif not old.retired and not holds_still:
            because = f"it stopped holding: {counts}"
            changes.append(ProcedureChange("retired", old, replace(recent, retired=True), because))
        elif not old.retired and _has_changed(old, recent, policy):
            changes.append(ProcedureChange("changed", old, recent, counts))
        if holds_still:
            found = [new for new in found if new not in again]
    for new in found:
        because = f"{_describe_support(new)}, {new.lift:g} times as often as otherwise"
        changes.append(ProcedureChange("learned", None, new, because))
    return changes


def why_none(talk: Conversations, known: int, policy: KnowledgePolicy) -> str:
    """Return why nothing becomes of any procedure."""
    if known:
        return "Nothing has changed since procedures were last learned."
    if len(talk.sessions) < policy.procedure_sessions:
        many = "1 session was" if len(talk.sessions) == 1 else f"{len(talk.sessions)} sessions were"
        return (
            f"{many} ingested in the last {policy.procedure_days:g} days; "
            f"at least {policy.procedure_sessions} are needed."
        )
    return f"No topic followed another in {policy.procedure_sessions} sessions clearly more often than by accident."


def update_procedure(talk: Conversations, known: Procedure) -> Procedure:
    """Return a procedure with what recent sessions say of it."""
    pair = talk.pair(known.trigger[0], known.then[0])
    return replace(known, support=len(pair.evidence), sessions=pair.sessions, lift=round(pair.lift, 2))


def still_holds(recent: Procedure, policy: KnowledgePolicy) -> bool:
    """Whether recent sessions leave a procedure as it is; silence says nothing against it."""
    return recent.sessions < policy.procedure_sessions or recent.support >= STILL * recent.sessions


def _has_changed(old: Procedure, recent: Procedure, policy: KnowledgePolicy) -> bool:
    counts = recent.support, recent.sessions
    return recent.sessions >= policy.procedure_sessions and counts != (old.support, old.sessions)


def _describe_support(procedure: Procedure) -> str:
    return f"it followed in {procedure.support} of {procedure.sessions} recent sessions"


# --- using them


def matching_procedures(words: Sequence[str], procedures: Iterable[Procedure]) -> list[Procedure]:
    """Return the procedures whose trigger comes up in a query, the surest first.

    At least half of the topics of the trigger must come up.
    """
    topics = {fold_plural(w) for w in words}
    found = [p for p in procedures if not p.retired and 2 * len(topics.intersection(p.trigger)) >= len(p.trigger)]
    return sorted(found, key=lambda p: (-p.confidence, -p.lift, p.key))


def widening_words(words: Sequence[str], procedures: Iterable[Procedure]) -> tuple[str, ...]:
    """Return words that a query may be widened by, because they follow what it asks about; few, the surest first."""
    topics = {fold_plural(w) for w in words}
    added = (t for p in matching_procedures(words, procedures) for t in p.then if t not in topics)
    return tuple(dict.fromkeys(added))[:TOPICS]

"""A fact as a memory: its words and links, the states that it goes through, and what was believed before."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import tzinfo
from enum import StrEnum
from typing import Final

from perdure.knowledge.languages import language
from perdure.knowledge.records.facts import Claim, Fact, FactOrigin, value_text
from perdure.knowledge.records.results import FactLine
from perdure.records.instant import DAY_MS, Instant, day_at, zone_text
from perdure.records.memory import Draft, Kind, Scope, Sort, State, Status, Trust
from perdure.records.plan import Change, Target
from perdure.records.policy import Policy
from perdure.records.recall import Filters
from perdure.rules.lifecycle.stale_facts import is_aging, validated_at
from perdure.rules.point_in_time import believed_until, has_given_way, lacks_start, status_at, told_end, true_from


class FactState(StrEnum):
    """What a fact is at an instant."""

    ACTIVE = "active"
    AGING = "aging"
    SUPERSEDED = "superseded"
    INVALIDATED = "invalidated"
    ARCHIVED = "archived"


class FactEvent(StrEnum):
    """What may happen to a fact."""

    REINFORCED = "reinforced"  # somebody said it again
    VALIDATED = "validated"  # a person or an authority said that it is still true
    AGED = "aged"
    REPLACED = "replaced"  # a newer fact stands in its place
    ENDED = "ended"  # it was said not to hold any longer
    DENIED = "denied"  # it was said to be wrong, by a person or an authority
    UNANSWERED = "unanswered"
    RESTORED = "restored"


@dataclass(frozen=True, slots=True)
class FactTransition:
    """One row of the table."""

    source: FactState
    event: FactEvent
    target: FactState
    when: str


_S, _E = FactState, FactEvent
TABLE: Final = (
    FactTransition(_S.ACTIVE, _E.REINFORCED, _S.ACTIVE, "said again: confidence + 0.15, 0.10, 0.05, 0.02"),
    FactTransition(_S.ACTIVE, _E.VALIDATED, _S.ACTIVE, "confirmed: confidence + 0.02"),
    FactTransition(
        _S.ACTIVE, _E.AGED, _S.AGING, "aging_days since validation, confirmed fewer than aging_reinforcements times"
    ),
    FactTransition(_S.AGING, _E.REINFORCED, _S.ACTIVE, "said again"),
    FactTransition(_S.AGING, _E.VALIDATED, _S.ACTIVE, "confirmed: the truth clock restarts"),
    FactTransition(_S.AGING, _E.UNANSWERED, _S.ARCHIVED, "unanswered_days more without an answer"),
    *(
        FactTransition(source, event, target, when)
        for source in (_S.ACTIVE, _S.AGING)
        for event, target, when in (
            (_E.REPLACED, _S.SUPERSEDED, "corrected, or another value won the conflict"),
            (_E.ENDED, _S.SUPERSEDED, "said not to hold any longer"),
            (_E.DENIED, _S.INVALIDATED, "denied without another value, or an authority disagrees"),
        )
    ),
    FactTransition(_S.SUPERSEDED, _E.DENIED, _S.INVALIDATED, "it was over when it was told, and that was wrong"),
    FactTransition(_S.ARCHIVED, _E.REPLACED, _S.SUPERSEDED, "another value was said to hold instead of it, by name"),
    FactTransition(_S.ARCHIVED, _E.RESTORED, _S.ACTIVE, "brought back by hand, or said again"),
)
_NEXT: Final = {(row.source, row.event): row.target for row in TABLE}
TERMINAL: Final = frozenset(FactState) - {row.source for row in TABLE}  # states that nothing leaves


def state_of(state: State, policy: Policy, now: Instant) -> FactState:
    """Return what a fact is at an instant."""
    if state.status is Status.ACTIVE:
        return FactState.AGING if is_aging(state, policy, now) else FactState.ACTIVE
    if state.status is Status.CONSOLIDATED:
        return FactState.SUPERSEDED
    return FactState(state.status.value)


def accepts_event(state: FactState, event: FactEvent) -> bool:
    """Whether an event means anything to a fact in a state."""
    return (state, event) in _NEXT


def status_after(state: FactState, event: FactEvent) -> Status:
    """Return the status that is stored after an event."""
    target = _NEXT[state, event]
    return Status.ACTIVE if target is FactState.AGING else Status(target.value)


def learned_confidence(state: State, sort: str, rates: Mapping[str, float], now: Instant, *, otherwise: float) -> float:
    """Return how sure a fact is, by how fast facts of its sort were seen to change."""
    if sort not in rates:
        return otherwise
    return state.confidence * math.exp(-rates[sort] * max(0.0, (now - validated_at(state)) / DAY_MS))


BELIEVED = (FactState.ACTIVE.value, FactState.AGING.value)
UNTIL_THEN: Final = "until then"
"""What becomes of a fact in a conflict with one that is planned: it holds until that one begins."""
UPCOMING: Final = "upcoming"
"""How a fact is shown that was planned and has not begun to hold. It is stored as active, and begins by itself."""


def fact_at(
    line: FactLine, fact: Fact, state: State, filters: Filters, zone: tzinfo | None
) -> tuple[FactLine, bool] | None:
    """Return a fact as it looks from another time and whether it holds there; None where there was no such fact.

    How sure it is stays as of today, and nobody is asked whether it is still right.

    Args:
        line: The fact as it is now.
        fact: What it says.
        state: Its memory's state.
        filters: ``as_of`` asks what was true then (a fact that was replaced later held until then, one that was denied
            or forgotten never did), ``known_at`` what was believed then: nothing that was learned later is returned.
        zone: In which its days are told.
    """
    if not filters.looks_back:
        return line, line.state in (*BELIEVED, UPCOMING)
    then = filters.known_at
    if then is not None and state.recorded_ms > then:
        return None
    state = replace(state, status=status_at(fact, state, then))
    until = believed_until(fact, state)
    hidden = state.status_ms if until is None else until
    believed = state.status is Status.ACTIVE or (then is not None and hidden > then)
    shown = replace(line, question="", state=FactState.ACTIVE.value if believed else line.state)
    end = fact.valid_to if until is None or not believed else told_end(fact, state)
    if believed and state.status is not Status.ACTIVE:  # nobody knew then that it would end otherwise
        shown = replace(shown, valid_to="" if end is None else zone_text(end, zone), believed_to="", superseded_by=())
    if filters.as_of is None:
        return shown, believed and not (then is not None and end is not None and end <= then)
    if true_from(fact, state) > filters.as_of:
        return None
    was_so = believed or not (state.status is Status.INVALIDATED or fact.forgotten)
    return shown, was_so and (end is None or filters.as_of < end) and not has_given_way(fact, filters)


def with_bounded_starts(
    facts: Mapping[str, Fact], beside: Iterable[Fact], states: Mapping[str, State]
) -> dict[str, Fact]:
    """Return facts with what others of the same tell of their time.

    Those of which nobody knows since when they held begin where another value ended. Those that faded give way to what
    is believed now.

    Args:
        facts: Facts by id.
        beside: What is known about the same things.
        states: States of both; what lacks one, or was put away or said to be wrong, bounds nothing.
    """
    ended: dict[str, list[Fact]] = {}
    for other in beside:
        if other.id in states and states[other.id].status in (Status.ACTIVE, Status.SUPERSEDED):
            ended.setdefault(other.key, []).append(other)
    found = dict(facts)
    for identity, fact in facts.items():
        if identity in states and lacks_start(fact, states[identity]):
            ends = [o.valid_to for o in ended.get(fact.key, ()) if o.valid_to is not None and o.contradicts(fact)]
            if before := [end for end in ends if end < (fact.valid_to or 0)]:
                found[identity] = replace(fact, valid_from=max(before))
        if identity in states and states[identity].status is Status.ARCHIVED:
            begin = true_from(fact, states[identity])
            instead = [
                true_from(o, states[o.id])
                for o in ended.get(fact.key, ())
                if states[o.id].status is Status.ACTIVE
                and o.contradicts(fact)
                and (o.valid_to is None or begin < o.valid_to)
            ]
            found[identity] = replace(found[identity], given_way=min(instead, default=None))
    return found


_WORDS: Final = language("en").words
_ANSWERS: Final = frozenset({"correct", "confirm", "both"})  # operations by which a person says that something is true
_PROGRAM: Final = "program"
NOTED: Final = "note"  # whose word a fact is that notes say, and no message
IMPORTANCE: Final = 0.6  # of a fact: that of a statement
ACTS: Final = (
    _WORDS["habits"]
    | _WORDS["done"]
    | _WORDS["negatives"]
    | {"like", "enjoy", "love", "prefer", "want", "need", "have", "know", "wear", "accept", "watch"}
)
"""Verbs of what somebody does, likes or has, all of which may have several values."""


def fact_text(name: str, shown_predicate: str, value: str, *, denied: bool = False) -> str:
    """Return a fact in words: ``Gai Media: delivery day preference: Friday``, ``Ana: eat: not pork``."""
    return f"{name}: {shown_predicate}: {value_text(value, denied=denied)}"


def draft_fact(
    name: str, predicate: str, claim: Claim, *, said_at: Instant, scope: Scope, session: str | None, policy: Policy
) -> Draft:
    """Return the memory that a claim becomes."""
    text = fact_text(name, claim.called or predicate.replace("_", " "), claim.value.text, denied=claim.denied)
    zone, begin, end = policy.days.tz, claim.valid_from, claim.valid_to
    begins = f"from {day_at(begin, zone)}" if claim.planned and begin is not None else ""
    ends = f"until {day_at(end, zone)}" if end is not None and end > said_at else ""
    days = " ".join(filter(None, (begins, ends)))
    return Draft(
        text=f"{text} ({days})" if days else text,
        kind=Kind.FACT,
        scope=scope,
        importance=IMPORTANCE,
        confidence=min(claim.confidence, policy.knowledge.cap),
        at=said_at,
        session=None if scope is Scope.LONG_TERM else session,
        source=claim.learned.value,
        sort=Sort(claim.type),
    )


def new_fact(identity: str, subject: str, predicate: str, claim: Claim, *, said_at: Instant, trust: Trust) -> Fact:
    """Return what a new fact's document says; its sources are added by ``learned_from``."""
    return Fact(
        identity,
        subject,
        predicate,
        claim.type,
        claim.value,
        claim.learned,
        many=claim.many,
        trust=trust,
        valid_from=said_at if claim.valid_from is None else claim.valid_from,
        valid_to=claim.valid_to,
        denied=claim.denied,
        called=claim.called,
        planned=claim.planned,
    )


def link_change(kind: str, source: str, target: str, because: str) -> Change:
    """Return the change that links two memories."""
    return Change(Target.LINK, source, None, {"kind": kind, "other": target, "weight": 1.0}, because)


def word_of(trust: str, operations: Iterable[str]) -> str:
    """Return whose word a fact is that no message says: authority, user for a person's answer, else program.

    ``operations`` are those that have changed its memory.
    """
    if trust == Trust.AUTHORITY.value:
        return trust
    return Trust.USER.value if _ANSWERS.intersection(operations) else _PROGRAM


def describe_origin(learned: FactOrigin, word: str = "") -> str:
    """Return how a fact was learned, for people; ``word`` is whose it is where no message says it."""
    if word in (_PROGRAM, NOTED):
        return "was handed over by a program" if word == _PROGRAM else "was handed over with a note"
    return {
        FactOrigin.EXPLICIT: "was asked to be remembered",
        FactOrigin.PREFERENCE: "was stated as a preference",
        FactOrigin.STATEMENT: "was said in passing",
        FactOrigin.CORRECTION: "was a correction",
        FactOrigin.MODEL: "was read by a language model",
        FactOrigin.AUTHORITY: "is what an authority says",
    }[learned]

"""The states of a fact, as a table: the source of the code, of the docs' diagram and of the reasons (seed 002, part 1).

``aging`` is computed on reading and never stored; ``superseded`` and ``invalidated`` are terminal (design 5).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from perdure.knowledge.records.facts import Fact
from perdure.records.instant import DAY_MS, Instant
from perdure.records.memory import Kind, Record, State, Status
from perdure.records.policy_knowledge import KnowledgePolicy
from perdure.records.recall import Filters


class FactState(StrEnum):
    """What a fact is at an instant."""

    ACTIVE = "active"
    AGING = "aging"
    SUPERSEDED = "superseded"
    INVALIDATED = "invalidated"
    ARCHIVED = "archived"


class Event(StrEnum):
    """What may happen to a fact."""

    REINFORCED = "reinforced"
    """Somebody said it again."""
    VALIDATED = "validated"
    """A person or an authority said that it is still true."""
    AGED = "aged"
    REPLACED = "replaced"
    """A newer fact stands in its place."""
    ENDED = "ended"
    """It was said not to hold any longer."""
    DENIED = "denied"
    """It was said to be wrong, by a person or an authority."""
    UNANSWERED = "unanswered"
    RESTORED = "restored"


@dataclass(frozen=True, slots=True)
class Transition:
    """One row of the table."""

    source: FactState
    event: Event
    target: FactState
    when: str


TABLE: Final = (
    Transition(FactState.ACTIVE, Event.REINFORCED, FactState.ACTIVE, "said again: confidence + 0.15, 0.10, 0.05, 0.02"),
    Transition(FactState.ACTIVE, Event.VALIDATED, FactState.ACTIVE, "confirmed: confidence + 0.02"),
    Transition(
        FactState.ACTIVE,
        Event.AGED,
        FactState.AGING,
        "aging_days since validation, confirmed fewer than aging_reinforcements times",
    ),
    Transition(FactState.AGING, Event.REINFORCED, FactState.ACTIVE, "said again"),
    Transition(FactState.AGING, Event.VALIDATED, FactState.ACTIVE, "confirmed: the truth clock starts anew"),
    Transition(FactState.AGING, Event.UNANSWERED, FactState.ARCHIVED, "unanswered_days more without an answer"),
    *(
        Transition(source, event, target, when)
        for source in (FactState.ACTIVE, FactState.AGING)
        for event, target, when in (
            (Event.REPLACED, FactState.SUPERSEDED, "corrected, or another value won the conflict"),
            (Event.ENDED, FactState.SUPERSEDED, "said not to hold any longer"),
            (Event.DENIED, FactState.INVALIDATED, "denied without another value, or an authority disagrees"),
        )
    ),
    Transition(FactState.ARCHIVED, Event.RESTORED, FactState.ACTIVE, "brought back by hand, or said again"),
)
_NEXT: Final = {(row.source, row.event): row.target for row in TABLE}
TERMINAL: Final = frozenset(FactState) - {row.source for row in TABLE}
"""States that nothing leaves."""


def state_of(state: State, policy: KnowledgePolicy, now: Instant) -> FactState:
    """Return what a fact is at an instant."""
    if state.status is Status.ACTIVE:
        return FactState.AGING if is_aging(state, policy, now) else FactState.ACTIVE
    if state.status is Status.CONSOLIDATED:
        return FactState.SUPERSEDED
    return FactState(state.status.value)


def allowed(state: FactState, event: Event) -> bool:
    """Whether an event means anything to a fact in a state."""
    return (state, event) in _NEXT


def status_after(state: FactState, event: Event) -> Status:
    """Return the status that is stored after an event.

    Raises:
        KeyError: The table has no such row; ask ``allowed`` first.
    """
    target = _NEXT[state, event]
    return Status.ACTIVE if target is FactState.AGING else Status(target.value)


def validated_at(state: State) -> Instant:
    """Return where a fact's truth clock starts: its last validation, else when it was said."""
    return state.created_ms if state.validated_ms is None else state.validated_ms


def is_aging(state: State, policy: KnowledgePolicy, now: Instant) -> bool:
    """Whether a fact is to be asked about (seed 002, stage 6, with design 5's numbers)."""
    return (
        state.kind is Kind.FACT
        and state.status is Status.ACTIVE
        and state.reinforcements < policy.aging_reinforcements
        and now - validated_at(state) > policy.aging_days * DAY_MS
    )


def learned_confidence(
    state: State,
    sort: str,
    rates: Mapping[str, float],
    now: Instant,
    *,
    otherwise: float,
) -> float:
    """Return how sure a fact is, by how fast facts of its sort were seen to change (design 6).

    Args:
        state: The memory's.
        sort: That of its predicate.
        rates: Sort -> loss a day, of those that are in use (facts/rates.py).
        now: The instant.
        otherwise: How sure it is by the policy's rate.
    """
    if sort not in rates:
        return otherwise
    return state.confidence * math.exp(-rates[sort] * max(0.0, (now - validated_at(state)) / DAY_MS))


def believed_until(fact: Fact, state: State) -> Instant | None:
    """Return when a fact was no longer believed; None while it is. It is never before the fact was known.

    Belief is counted from the instant at which something was learned to the instant at which it was unlearned, whatever
    days the messages are of: talk that is taken in later was known to nobody before (design 5).
    """
    return None if fact.retired is None else max(fact.retired, state.recorded_ms)


def was_there(record: Record, fact: Fact | None, filters: Filters) -> bool:
    """Whether a memory is an answer to a question about another time (design 5: two time axes).

    Args:
        record: The memory, which may be hidden by now.
        fact: What it says, if it is a fact that was learned.
        filters: ``as_of`` asks when it was true, ``known_at`` when it was believed.
    """
    state, then = record.state, filters.known_at
    if then is not None and state.recorded_ms > then:
        return False
    retired = None if fact is None else believed_until(fact, state)
    hidden = state.status_ms if retired is None else retired
    seen = state.status is Status.ACTIVE or filters.include_archived or (then is not None and hidden > then)
    if filters.as_of is None or state.kind is not Kind.FACT:
        return seen and (filters.as_of is None or state.recorded_ms <= filters.as_of)
    # What was replaced by then was still known to have been true before; what was denied never was.
    if state.status is Status.INVALIDATED and not seen:
        return False
    begin = _true_from(record, fact)
    end = None if fact is None else fact.valid_to
    if then is not None and (retired or 0) > then:
        end = None  # nobody knew then that it would end
    return begin <= filters.as_of and (end is None or filters.as_of < end)


def begins(record: Record, fact: Fact | None, filters: Filters) -> Instant:
    """Return since when a memory could be an answer to a question about another time."""
    if filters.known_at is not None or record.state.kind is not Kind.FACT:
        return record.state.recorded_ms
    return _true_from(record, fact)


def _true_from(record: Record, fact: Fact | None) -> Instant:
    return record.state.created_ms if fact is None or fact.valid_from is None else fact.valid_from

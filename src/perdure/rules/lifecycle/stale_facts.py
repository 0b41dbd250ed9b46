"""When a memory of kind fact is stale, so that a person is asked about it."""

from __future__ import annotations

from perdure.records.instant import DAY_MS, Instant, from_instant
from perdure.records.memory import Kind, State, Status
from perdure.records.policy import Policy


def validated_at(state: State) -> Instant:
    """Return when a fact was last validated; when it was said if it never was."""
    return state.created_ms if state.validated_ms is None else state.validated_ms


def unconfirmed_since(state: State) -> str:
    """Return the day on which a fact was last confirmed, or said, as an ISO date (UTC)."""
    return from_instant(validated_at(state)).date().isoformat()


def is_aging(state: State, policy: Policy, now: Instant) -> bool:
    """Whether a fact is to be asked about: unconfirmed for ``aging_days``, and not confirmed often enough before."""
    return (
        state.kind is Kind.FACT
        and state.status is Status.ACTIVE
        and state.reinforcements < policy.knowledge.aging_reinforcements
        and now - validated_at(state) > policy.knowledge.aging_days * DAY_MS
        and getattr(policy.fading, state.sort) > 0
    )


def is_unanswered(state: State, policy: Policy) -> bool:
    """Whether a fact was archived because nobody confirmed it for long: not wrong, and not put away by anybody."""
    days = policy.knowledge.aging_days + policy.knowledge.unanswered_days
    faded = state.status_ms - validated_at(state) > days * DAY_MS
    return state.kind is Kind.FACT and state.status is Status.ARCHIVED and faded

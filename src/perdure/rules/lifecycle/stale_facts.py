"""When a memory of kind fact is stale, so that a person is asked about it."""

from __future__ import annotations

from perdure.records.instant import DAY_MS, Instant
from perdure.records.memory import Kind, State, Status
from perdure.records.policy_knowledge import KnowledgePolicy


def validated_at(state: State) -> Instant:
    """Return when a fact was last validated; when it was said if it never was."""
    return state.created_ms if state.validated_ms is None else state.validated_ms


def is_aging(state: State, policy: KnowledgePolicy, now: Instant) -> bool:
    """Whether a fact is to be asked about: unconfirmed for ``aging_days``, and not confirmed often enough before."""
    return (
        state.kind is Kind.FACT
        and state.status is Status.ACTIVE
        and state.reinforcements < policy.aging_reinforcements
        and now - validated_at(state) > policy.aging_days * DAY_MS
    )

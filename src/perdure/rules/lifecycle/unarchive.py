"""Bringing a hidden memory back so that it stays, or one nearer by hand: its ages restart."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from perdure.formulas.strength import never_forgotten_from, reinforce_strength
from perdure.formulas.value import decay_mass
from perdure.records.instant import DAY_MS, Instant
from perdure.records.memory import Kind, Scope, State, Status, Tier
from perdure.records.policy import Policy
from perdure.rules.insertion import first_confidence, with_due
from perdure.rules.lifecycle.state_arrays import Columns, strength_curve, strength_parameters

VOUCHED: Final = 0.2  # how far above the archive's threshold a restored memory starts, where confidence alone hides

CHERISHED: Final = 0.01  # how far above the importance from which nothing is forgotten it starts, where strength hides


def restart_ages(state: State, now: Instant) -> State:
    """Return a state whose ages start now; what was asked for before counts as much as it did."""
    days = max(0.0, (now - state.anchor_ms) / DAY_MS)
    mass = float(decay_mass(state.access_mass, days))
    return replace(state, anchor_ms=max(now, state.anchor_ms), access_mass=mass)


def unarchive(state: State, policy: Policy, now: Instant) -> State:
    """Return an archived state as active again, in warm, every anchor at now.

    Confidence starts from the value of a new memory of its kind if it was lower: whoever restores a memory vouches for
    it, and the next sweep must not take it back. For the same reason, where strength hides, importance starts from
    where a memory is never forgotten (if there is such an importance).
    """
    birth = first_confidence(state.kind, policy)
    if policy.archive.rule == "confidence":  # a new memory may be below the threshold from the start
        birth = max(birth, min(1.0, policy.archive.confidence_below + VOUCHED))
    tier = state.tier if state.tier is Tier.VAULT else Tier.WARM
    back = replace(
        state,
        status=Status.ACTIVE,
        status_ms=now,
        tier=tier,
        tier_ms=now,
        tier_accesses=0,
        confidence=max(state.confidence, birth),
        importance=max(state.importance, _safe_importance(state, policy)),
        validated_ms=now
        if state.kind is Kind.FACT
        else state.validated_ms,  # of others it says when they were affirmed
        held=False,
    )
    return with_due([refresh(back, policy, now)], policy)[0]


def _safe_importance(state: State, policy: Policy) -> float:
    """Return the importance from which strength never hides a memory of this scope; 0 where it would not help."""
    if policy.archive.rule != "strength" or state.scope is Scope.TASK or state.kind is Kind.FACT:
        return 0.0
    safe = never_forgotten_from(strength_parameters(policy, Columns.of([state]).scope)).item()
    return min(1.0, safe + CHERISHED) if np.isfinite(safe) else 0.0


def refresh(state: State, policy: Policy, now: Instant) -> State:
    """Return a state whose ages restart, and whose strength is that of something just learned, or more.

    No access is counted, and no signal is lowered.
    """
    columns = Columns.of([state])
    curve = strength_curve(columns, policy)
    rested = np.maximum(columns.strength, curve.baseline())
    strength, level = reinforce_strength(rested, columns.level, columns.importance, 1.0, curve.parameters)
    return replace(
        restart_ages(state, now),
        strength=float(strength[0]),
        level=float(level[0]),
        strength_ms=max(now, state.strength_ms),
    )

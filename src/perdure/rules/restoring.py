"""Bringing a hidden memory back so that it stays: its ages start anew."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from perdure.formulas.value import faded_mass
from perdure.records.instant import DAY_MS, Instant
from perdure.records.memory import Kind, State, Status, Tier
from perdure.records.policy import Policy
from perdure.rules.birth import with_due

VOUCHED: Final = 0.2
"""How far above the archive's threshold a restored memory starts, where confidence alone hides."""


def aged_anew(state: State, now: Instant) -> State:
    """Return a state whose ages start now; what was asked for before counts as much as it did."""
    days = max(0.0, (now - state.anchor_ms) / DAY_MS)
    mass = float(faded_mass(state.access_mass, days))
    return replace(state, anchor_ms=max(now, state.anchor_ms), access_mass=mass)


def restored(state: State, policy: Policy, now: Instant) -> State:
    """Return an archived state as active again, in warm, every anchor at now.

    Confidence starts from the value of a new memory of its kind if it was lower: whoever restores a memory vouches for
    it, and the next sweep must not take it back.
    """
    birth = {
        Kind.NOTE: policy.confidence.note,
        Kind.EPISODE: policy.confidence.episode,
        Kind.FACT: policy.confidence.fact,
    }.get(state.kind, policy.confidence.other)
    if policy.archive.rule == "confidence":  # a new memory may be below the threshold from the start
        birth = max(birth, min(1.0, policy.archive.confidence_below + VOUCHED))
    tier = state.tier if state.tier is Tier.VAULT else Tier.WARM
    back = replace(
        aged_anew(state, now),
        status=Status.ACTIVE,
        status_ms=now,
        tier=tier,
        tier_ms=now,
        tier_accesses=0,
        confidence=max(state.confidence, birth),
        validated_ms=now if state.validated_ms is not None else None,
        held=False,
        strength_ms=max(now, state.strength_ms),
    )
    return with_due([back], policy)[0]

"""States as columns: the bridge from records to the arrays that formulas take."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from perdure.formulas.confidence import ConfidenceCurve, amplifier
from perdure.formulas.curve import NEVER, Array
from perdure.formulas.fsrs import PowerRetentionCurve
from perdure.formulas.importance import ImportanceCurve, Shape
from perdure.formulas.retention import RetentionCurve
from perdure.formulas.strength import Parameters, StrengthCurve
from perdure.formulas.value import ValueCurve, Weights
from perdure.records.instant import DAY_MS
from perdure.records.memory import Form, Kind, Scope, State, Status, Tier
from perdure.records.policy import Policy
from perdure.records.policy_lifecycle import SessionStrengthPolicy, StrengthPolicy

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

TIERS: Final = tuple(Tier)
TIER_CODE: Final = {tier: code for code, tier in enumerate(TIERS)}
HOT, WARM, COLD, VAULT = range(4)
FORMS: Final = tuple(Form)
FORM_CODE: Final = {form: code for code, form in enumerate(FORMS)}
_SCOPE_CODE: Final = {scope: code for code, scope in enumerate(Scope)}
TASK: Final = _SCOPE_CODE[Scope.TASK]
SESSION: Final = _SCOPE_CODE[Scope.SESSION]
LONG_TERM: Final = _SCOPE_CODE[Scope.LONG_TERM]


@dataclass(slots=True)
class Columns:
    """The states of n memories as arrays of shape [n]. Mutable: the lifecycle plays forward on a copy."""

    tier: Ints
    active: Bools
    pinned: Bools
    fact: Bools
    fades: Bools
    """Confidence fades with time since the last access (long-term, no fact)."""
    importance: Array
    confidence: Array
    uniqueness: Array
    reinforcements: Array
    anchor: Ints
    tier_since: Ints
    status_since: Ints
    access_count: Ints
    mass: Array
    tier_accesses: Ints
    accessed: Ints
    access2: Ints
    access3: Ints
    boosted: Array
    boost_day: Ints
    validated: Ints
    created: Ints
    recorded: Ints
    """When it was stored."""
    scope: Ints
    strength: Array
    level: Array
    strength_since: Ints
    stability: Array
    form: Ints
    form_since: Ints
    firm: Bools
    tokens: Ints

    def __len__(self) -> int:
        return int(self.tier.shape[0])

    @classmethod
    def of(cls, states: Sequence[State]) -> Columns:
        """Return the columns of some states, in their order."""

        def ints(values: Sequence[int]) -> Ints:
            return np.array(values, dtype=np.int64)

        def floats(values: Sequence[float]) -> Array:
            return np.array(values, dtype=np.float64)

        never = int(-NEVER)
        return cls(
            tier=ints([TIER_CODE[s.tier] for s in states]),
            active=np.array([s.status is Status.ACTIVE for s in states], dtype=np.bool_),
            pinned=np.array([s.pinned for s in states], dtype=np.bool_),
            fact=np.array([s.kind is Kind.FACT for s in states], dtype=np.bool_),
            fades=np.array([s.kind is not Kind.FACT and s.scope is Scope.LONG_TERM for s in states], dtype=np.bool_),
            importance=floats([s.importance for s in states]),
            confidence=floats([s.confidence for s in states]),
            uniqueness=floats([s.uniqueness for s in states]),
            reinforcements=floats([s.reinforcements for s in states]),
            anchor=ints([s.anchor_ms for s in states]),
            tier_since=ints([s.tier_ms for s in states]),
            status_since=ints([s.status_ms for s in states]),
            access_count=ints([s.access_count for s in states]),
            mass=floats([s.access_mass for s in states]),
            tier_accesses=ints([s.tier_accesses for s in states]),
            accessed=ints([never if s.accessed_ms is None else s.accessed_ms for s in states]),
            access2=ints([never if s.access2_ms is None else s.access2_ms for s in states]),
            access3=ints([never if s.access3_ms is None else s.access3_ms for s in states]),
            boosted=floats([s.boosted for s in states]),
            boost_day=ints([s.boost_day for s in states]),
            validated=ints([s.created_ms if s.validated_ms is None else s.validated_ms for s in states]),
            created=ints([s.created_ms for s in states]),
            recorded=ints([s.recorded_ms for s in states]),
            scope=ints([_SCOPE_CODE[s.scope] for s in states]),
            strength=floats([s.strength for s in states]),
            level=floats([s.level for s in states]),
            strength_since=ints([s.strength_ms for s in states]),
            stability=floats([s.stability for s in states]),
            form=ints([FORM_CODE[s.form] for s in states]),
            form_since=ints([s.form_ms for s in states]),
            firm=np.array([s.firm for s in states], dtype=np.bool_),
            tokens=ints([s.tokens for s in states]),
        )

    def take(self, rows: Ints) -> Columns:
        """Return a copy of some rows."""
        return Columns(**{name: getattr(self, name)[rows] for name in self.__slots__})

    def days_since_anchor(self, now: Ints | int) -> Array:
        """Return ages in days at an instant, never negative."""
        return days_between(self.anchor, now)


def days_between(since: Ints, now: Ints | int) -> Array:
    """Return days from some instants to others, never negative."""
    return np.maximum(np.asarray(now - since, dtype=np.float64) / DAY_MS, 0.0)


def confidence_curve(c: Columns, policy: Policy) -> tuple[ConfidenceCurve, Array]:
    """Return the confidence curve and its lag: days by which its age exceeds the age since the last access."""
    fading = -math.log(policy.confidence.daily_factor) / amplifier(c.access_count)
    rate = np.where(c.fact, policy.confidence.fact_rate, np.where(c.fades, fading, 0.0))
    lag = np.where(c.fact, (c.anchor - c.validated) / DAY_MS, 0.0)
    return ConfidenceCurve(c.confidence, rate), lag


def value_curve(c: Columns, policy: Policy) -> ValueCurve:
    """Return the value curve, its age counted from the last access."""
    confidence, lag = confidence_curve(c, policy)
    weights = Weights(policy.value.frequency, policy.value.uniqueness, policy.value.confidence, policy.value.recency)
    return ValueCurve(c.mass, c.uniqueness, confidence, lag, c.reinforcements, weights)


def importance_curve(c: Columns, policy: Policy) -> ImportanceCurve:
    """Return the importance curve, its age counted from the last access."""
    p = policy.importance
    shape = cast("Shape", p.shape)  # the policy's choices are exactly the shapes
    return ImportanceCurve(
        c.importance, c.access_count.astype(np.float64), p.half_life_days, p.access_weight, p.floor, shape
    )


def strength_parameters(policy: Policy, scope: Ints) -> Parameters:
    """Return the parameters of strength for memories of some scopes (codes in the order of Scope), shape [n]."""
    columns = (policy.strength, policy.strength_session, policy.strength_long_term)
    chosen: dict[str, Any] = {
        name: np.array([getattr(column, name) for column in columns])[scope]
        for name in SessionStrengthPolicy.__dataclass_fields__
    }
    shared = {
        name: getattr(policy.strength, name) for name in StrengthPolicy.__dataclass_fields__ if name not in chosen
    }
    return Parameters(**chosen, **shared)


def strength_curve(c: Columns, policy: Policy) -> StrengthCurve:
    """Return the strength curve, its age counted from ``strength_since``."""
    return StrengthCurve(c.strength, c.level, c.importance, strength_parameters(policy, c.scope))


def retention_curve(c: Columns, policy: Policy) -> RetentionCurve | PowerRetentionCurve:
    """Return the retention curve, its age counted from the last access."""
    if policy.retention.curve == "fsrs":
        return PowerRetentionCurve(c.stability)
    return RetentionCurve(c.reinforcements, policy.retention.strength_days, policy.retention.growth)

"""States as columns: the bridge from records to the arrays that formulas take."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from operator import attrgetter
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from perdure.formulas.confidence import ConfidenceCurve, amplifier
from perdure.formulas.curve import NEVER, Array
from perdure.formulas.fsrs import PowerRetentionCurve
from perdure.formulas.importance import ImportanceCurve, Shape
from perdure.formulas.strength import Parameters, RetentionCurve, StrengthCurve
from perdure.formulas.value import ValueCurve
from perdure.records.instant import DAY_MS
from perdure.records.maker import copier_of
from perdure.records.memory import Form, Kind, Scope, Sort, State, Status, Tier
from perdure.records.policy import Policy
from perdure.records.policy_lifecycle import SessionStrengthPolicy, StrengthPolicy

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_ENUMS: Final[Mapping[str, tuple[StrEnum, ...]]] = {
    "kind": tuple(Kind),
    "scope": tuple(Scope),
    "tier": tuple(Tier),
    "status": tuple(Status),
    "form": tuple(Form),
    "sort": tuple(Sort),
}
"""In arrays these are the positions of their members."""
CODES: Final = {name: {member: code for code, member in enumerate(members)} for name, members in _ENUMS.items()}
FORMS: Final = tuple(Form)
TIERS: Final = tuple(Tier)
TIER_CODE: Final[Mapping[Tier, int]] = {tier: code for code, tier in enumerate(Tier)}
FORM_CODE: Final[Mapping[Form, int]] = {form: code for code, form in enumerate(Form)}
TASK, SESSION, LONG_TERM = (CODES["scope"][scope] for scope in (Scope.TASK, Scope.SESSION, Scope.LONG_TERM))
ACTIVE: Final = CODES["status"][Status.ACTIVE]
_FACT: Final = CODES["kind"][Kind.FACT]

_OPTIONAL: Final = frozenset({"accessed_ms", "access2_ms", "access3_ms", "validated_ms"})
_MISSING: Final = int(-NEVER)  # in arrays, an instant that there has not been


@dataclass(slots=True)
class Columns:
    """The fields of n states that the lifecycle reads, as arrays of shape [n]. Mutable: it replays on a copy."""

    kind: Ints
    scope: Ints
    tier: Ints
    status: Ints
    pinned: Bools
    importance: Array
    confidence: Array
    uniqueness: Array
    created_ms: Ints
    recorded_ms: Ints
    anchor_ms: Ints
    access_count: Ints
    access_mass: Array
    tier_accesses: Ints
    accessed_ms: Ints
    access2_ms: Ints
    access3_ms: Ints
    reinforcements: Array
    boosted: Array
    boost_day: Ints
    validated_ms: Ints
    tier_ms: Ints
    status_ms: Ints
    strength: Array
    level: Array
    strength_ms: Ints
    stability: Array
    form: Ints
    form_ms: Ints
    firm: Bools
    tokens: Ints
    sort: Ints

    def __len__(self) -> int:
        return int(self.tier.shape[0])

    @classmethod
    def of(cls, states: Sequence[State]) -> Columns:
        """Return the columns of some states, in their order."""
        columns = zip(*map(_read_columns, states), strict=True) if states else [()] * len(_TYPES)
        return cls(*(_encode(name, column) for name, column in zip(_TYPES, columns, strict=True)))

    @classmethod
    def of_one(cls, state: State) -> Columns:
        """Return columns of one state that hold its numbers, and no arrays."""
        values = list(_read_columns(state))
        for place, codes in _CODED_PLACES:
            values[place] = codes[values[place]]
        for place in _MAY_BE_MISSING:
            if values[place] is None:
                values[place] = _MISSING
        for place in _TRUE_OR_NOT:  # rows of the tier table invert it by ~, as they do an array
            values[place] = _TRUTH[values[place]]
        return _One(*values)

    def as_arrays(self) -> Columns:
        """Return columns of one state with arrays of shape [1]."""
        return Columns(*(np.array([getattr(self, name)], dtype=_TYPES[name]) for name in _TYPES))

    def states(
        self, rows: Ints, befores: Sequence[State], names: Sequence[str], due: Sequence[int | None]
    ) -> list[State]:
        """Return the states of some rows, with what the columns say of some fields; none is held."""
        columns = [*(_decode(name, getattr(self, name)[rows].tolist()) for name in names), due, [False] * len(due)]
        copy = copier_of(State, (*names, "due_ms", "held"))
        return [copy(before, new) for before, new in zip(befores, zip(*columns, strict=True), strict=True)]

    def take(self, rows: Ints) -> Columns:
        """Return a copy of some rows."""
        return Columns(*(getattr(self, name)[rows] for name in _TYPES))

    @property
    def active(self) -> Bools:
        """Whether each is in view."""
        return np.equal(self.status, ACTIVE)

    @property
    def fact(self) -> Bools:
        """Whether each is a fact."""
        return np.equal(self.kind, _FACT)

    @property
    def fades(self) -> Bools:
        """Whether confidence fades with time since the last access: of what is long-term and no fact."""
        return np.equal(self.scope, LONG_TERM) & ~self.fact

    @property
    def sure_ms(self) -> Ints:
        """When each was last validated; if never, when it happened or was said."""
        return np.where(self.validated_ms == _MISSING, self.created_ms, self.validated_ms)

    def days_since_anchor(self, now: Ints | int) -> Array:
        """Return ages in days at an instant, never negative."""
        return days_between(self.anchor_ms, now)


class _One(Columns):
    """Columns of one state, which hold its numbers: to compare two of them numpy takes ten times as long."""

    __slots__ = ()

    @property
    def active(self) -> Any:
        return _TRUTH[bool(self.status == ACTIVE)]

    @property
    def fact(self) -> Any:
        return _TRUTH[bool(self.kind == _FACT)]

    @property
    def fades(self) -> Any:
        return _TRUTH[bool(self.scope == LONG_TERM and self.kind != _FACT)]

    @property
    def sure_ms(self) -> Any:
        return self.created_ms if self.validated_ms == _MISSING else self.validated_ms


_TRUTH: Final = np.False_, np.True_
_TYPES: Final = {
    item.name: {"Array": np.float64, "Bools": np.bool_}.get(str(item.type), np.int64) for item in fields(Columns)
}
_read_columns: Final = attrgetter(*_TYPES)


_CODED_PLACES: Final = [(place, CODES[name]) for place, name in enumerate(_TYPES) if name in CODES]
_MAY_BE_MISSING: Final = [place for place, name in enumerate(_TYPES) if name in _OPTIONAL]
_TRUE_OR_NOT: Final = [place for place, kind in enumerate(_TYPES.values()) if kind is np.bool_]


def _encode(name: str, values: Sequence[Any]) -> NDArray[Any]:
    if name in CODES:
        values = [*map(CODES[name].__getitem__, values)]
    elif name in _OPTIONAL:
        values = [_MISSING if value is None else value for value in values]
    return np.array(values, dtype=_TYPES[name])


def _decode(name: str, values: list[Any]) -> list[Any]:
    if name in _ENUMS:
        return [*map(_ENUMS[name].__getitem__, values)]
    return [None if value == _MISSING else value for value in values] if name in _OPTIONAL else values


def days_between(since: Ints, now: Ints | int) -> Array:
    """Return days from some instants to others, never negative."""
    return np.maximum(np.asarray(now - since, dtype=np.float64) / DAY_MS, 0.0)


def confidence_curve(c: Columns, policy: Policy) -> tuple[ConfidenceCurve, Array]:
    """Return the confidence curve and its lag: days by which its age exceeds the age since the last access."""
    fading = -math.log(policy.confidence.daily_factor) / amplifier(c.access_count)
    rate, lag, fact = np.where(c.fades, fading, 0.0), np.zeros(len(c)), c.fact
    if fact.any():
        of_facts = policy.confidence.fact_rate * np.array(policy.fading.factors)[c.sort]
        rate = np.where(fact, of_facts, rate)
        lag = np.where(fact, (c.anchor_ms - c.sure_ms) / DAY_MS, 0.0)
    return ConfidenceCurve(c.confidence, rate), lag


def value_weights(policy: Policy) -> tuple[float, float, float, float, float]:
    """Return the shares of frequency, uniqueness, confidence, recency and importance in value."""
    v = policy.value
    return v.frequency, v.uniqueness, v.confidence, v.recency, v.importance


def value_curve(c: Columns, policy: Policy, sure: tuple[ConfidenceCurve, Array] | None = None) -> ValueCurve:
    """Return the value curve, its age counted from the last access; ``sure`` is the confidence curve if it is known."""
    confidence, lag = sure or confidence_curve(c, policy)
    shares = value_weights(policy)
    return ValueCurve(c.access_mass, c.uniqueness, confidence, lag, c.reinforcements, c.importance, shares)


def lasting_value_curve(c: Columns, policy: Policy) -> ValueCurve:
    """Return the value curve with accesses that do not fade until the last one, as the policy counts for the vault."""
    plain, full = value_curve(c, policy), policy.tiers.vault_full_accesses
    return replace(plain, mass=c.access_count.astype(np.float64) * (plain.full_mass / full)) if full else plain


def importance_curve(c: Columns, policy: Policy) -> ImportanceCurve:
    """Return the importance curve, its age counted from the last access."""
    p = policy.importance
    shape = cast("Shape", p.shape)  # the policy's choices are exactly the shapes
    return ImportanceCurve(
        c.importance, c.access_count.astype(np.float64), p.half_life_days, p.access_weight, p.floor, shape
    )


def strength_parameters(policy: Policy, scope: Ints) -> Parameters:
    """Return the parameters of strength for memories of some scopes (codes in the order of Scope).

    They have the shape [n], or are numbers where all memories have one scope.
    """
    columns = (policy.strength, policy.strength_session, policy.strength_long_term)
    one = columns[scope[0]] if len(scope) and (scope == scope[0]).all() else None
    chosen: dict[str, Any] = {
        name: np.array([getattr(column, name) for column in columns])[scope] if one is None else getattr(one, name)
        for name in SessionStrengthPolicy.__dataclass_fields__
    }
    shared = {
        name: getattr(policy.strength, name)
        for name in StrengthPolicy.__dataclass_fields__
        if name in Parameters.__dataclass_fields__ and name not in chosen
    }
    return Parameters(**chosen, **shared)


def strength_curve(c: Columns, policy: Policy) -> StrengthCurve:
    """Return the strength curve, its age counted from ``strength_ms``."""
    return StrengthCurve(c.strength, c.level, c.importance, strength_parameters(policy, c.scope))


def retention_curve(c: Columns, policy: Policy) -> RetentionCurve | PowerRetentionCurve:
    """Return the retention curve, its age counted from the last access."""
    if policy.retention.curve == "fsrs":
        return PowerRetentionCurve(c.stability)
    return RetentionCurve(c.reinforcements, policy.retention.strength_days, policy.retention.growth)

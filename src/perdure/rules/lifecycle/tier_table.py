"""The tier table: when a memory moves between tiers, into the archive and to a shorter form.

Each row says from where and to where it moves, of which memories, which policy keys it reads, when it falls due and
why. Moves, due instants, reasons and forecasts (rules/lifecycle/moves.py) and the diagram of the documentation are all
made from these rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any, Final, Literal

import numpy as np

from perdure.formulas.curve import NEVER, Array
from perdure.formulas.value import ValueCurve
from perdure.records.instant import DAY_MS, HOUR_MS
from perdure.records.memory import Form, Status, Tier
from perdure.records.policy import Policy
from perdure.rules.lifecycle.state_arrays import (
    FORM_CODE,
    FORMS,
    TASK,
    Bools,
    Columns,
    Ints,
    lasting_value_curve,
    value_curve,
)

Limits = Mapping[str, Any]
"""What the policy says for the keys that a row reads: the key without its section -> its value."""


@dataclass
class Cohort:
    """Memories that are tried against the rows."""

    states: Columns  # their states
    policy: Policy  # the policy in force
    accessed: Ints  # the instants of the accesses that the rows are asked about; NEVER where only time passes

    @cached_property
    def _value(self) -> ValueCurve:
        return value_curve(self.states, self.policy)

    def value_at(self, at: Ints) -> Array:
        """Return the value of each memory at an instant, shape [n]."""
        return self._value.value(self.states.days_since_anchor(at))

    def lasting_value_at(self, at: Ints) -> Array:
        """Return what each memory is worth for good at an instant, shape [n]: its accesses count without fading."""
        return lasting_value_curve(self.states, self.policy).value(self.states.days_since_anchor(at))


@dataclass(frozen=True, slots=True)
class SignalFall:
    """A signal that must have fallen before a row applies."""

    # which one. Strength falls to the threshold of the memory's importance, and has no bound here
    signal: Literal["value", "confidence", "strength"]
    bound: str = ""  # the policy key that it falls below
    at_most: bool = False  # whether it is enough that it has fallen to the bound


@dataclass(frozen=True, slots=True)
class Group:
    """Memories to which a row applies: in words (keys in braces), and as a mask over their states."""

    words: str
    mask: Callable[[Columns, Limits], Bools]


Due = Callable[[Cohort, Ints, Limits], Ints]
"""The cohort, the instants at which all falls had happened, and the limits -> when a row falls due, shape [n]."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the tier table."""

    name: str  # what the journal calls it
    sources: tuple[Tier, ...]  # the tiers that it applies in
    target: Tier | Status | Form  # the tier, status or form that it leads to
    # why it moved. In braces: the keys of limits, and signals at that instant (``value``, ``confidence``, ``strength``,
    # and ``threshold``, the strength at which it is forgotten)
    because: str
    due: Due  # when it falls due; NEVER where it does not
    falls: tuple[SignalFall, ...] = ()  # the signals that must have fallen
    bounds: tuple[str, ...] = ()  # the other policy keys that it reads, ``section.key``
    only: Group | None = None  # the memories to which it applies; None for all
    switch: tuple[str, str] | None = None  # a policy key, and what it must say for the row to apply; None for always
    on_access: bool = False  # whether an access brings it about; time does if not
    figures: str = ""  # what the reason adds in parentheses at its end, written as ``because``

    @property
    def shortens(self) -> Form | None:
        """The form that it makes shorter; None if it is about tiers or the archive."""
        return FORMS[FORM_CODE[self.target] - 1] if isinstance(self.target, Form) else None

    @property
    def move(self) -> str:
        """From where to where, as reasons begin."""
        if isinstance(self.target, Status):
            return self.target.value
        source = self.shortens or (self.sources[0] if len(self.sources) == 1 else "")
        return f"{source} to {self.target}".strip()

    @property
    def keys(self) -> tuple[str, ...]:
        """Every policy key that it reads for its limits, ``section.key``."""
        return (*(fall.bound for fall in self.falls if fall.bound), *self.bounds)

    def is_on(self, policy: Policy) -> bool:
        """Whether the policy lets the row apply."""
        return self.switch is None or bool(attrgetter(self.switch[0])(policy) == self.switch[1])

    def limits(self, policy: Policy) -> Limits:
        """Return what the policy says for the keys."""
        return {key.rpartition(".")[2]: attrgetter(key)(policy) for key in self.keys}

    def applies(self, states: Columns, limits: Limits) -> Bools | bool:
        """Return which memories in a source tier the row applies to; True for all."""
        mask: Bools | bool = True if self.only is None else self.only.mask(states, limits)
        if self.shortens is not None:
            mask = mask & (states.form == FORM_CODE[self.shortens]) & ~states.firm
        return mask


def _leave_hot(m: Cohort, low: Ints, k: Limits, *, to_warm: bool) -> Ints:
    at = np.maximum(m.states.tier_ms + int(k["hot_hours"] * HOUR_MS), low)
    return np.where((m.value_at(at) >= k["hot_to_warm_value"]) == to_warm, at, NEVER)


def _burst(m: Cohort, _: Ints, k: Limits) -> Ints:
    # Of each memory the instants of the last three accesses are kept, so the policy allows 2 or 3.
    first = m.states.access2_ms if k["burst_accesses"] == 2 else m.states.access3_ms  # noqa: PLR2004  # as the line above says
    return np.where(m.accessed - first <= int(k["burst_hours"] * HOUR_MS), m.accessed, NEVER)


def _at_rest_in_cold(m: Cohort, low: Ints, k: Limits) -> Ints:
    return np.maximum(m.states.tier_ms + int(k["cold_days"] * DAY_MS), low)


def _unanswered_archival(m: Cohort, _: Ints, k: Limits) -> Ints:
    # What was said long ago is asked about once it is stored, not before.
    asked_at = np.maximum(m.states.sure_ms + int(k["aging_days"] * DAY_MS), m.states.recorded_ms)
    archived_at: Ints = np.maximum(asked_at + int(k["unanswered_days"] * DAY_MS) + 1, m.states.status_ms)
    return archived_at


def _may_age(c: Columns, k: Limits) -> Bools:
    fading = np.array(k["factors"])[c.sort]
    may: Bools = np.greater(fading, 0) & np.less(c.reinforcements, k["aging_reinforcements"])
    return may


def _to_summary(m: Cohort, low: Ints, k: Limits) -> Ints:
    # A text that a person made full again is as good as new.
    since = np.maximum(m.states.created_ms, m.states.form_ms)
    return _old_enough(m, low, since + int(k["summary_hours"] * HOUR_MS))


def _to_barer(m: Cohort, low: Ints, days: float) -> Ints:
    return _old_enough(m, low, m.states.created_ms + int(24.0 * days * HOUR_MS))


def _old_enough(m: Cohort, low: Ints, old: Ints) -> Ints:
    at: Ints = np.maximum.reduce([old, low, m.states.tier_ms, m.states.form_ms])
    return at


_IN_VIEW: Final = (Tier.HOT, Tier.WARM, Tier.COLD)
_LONG_TERM: Final = Group("long-term, no fact", lambda c, _: c.fades)
_SPENT: Final = SignalFall("value", "tiers.hot_keep_value")
_WORTHLESS: Final = SignalFall("value", "archive.value_below")
_DOUBTED: Final = SignalFall("confidence", "archive.confidence_below")


def _shorter(form: Form, unit: str, due: Due, only: Group | None = None, more: tuple[str, ...] = ()) -> Rule:
    """Return the row that leads to a form: old enough, of little value, and seldom asked for."""
    age, value, accesses = f"{form}_{unit}", f"{form}_value", f"{form}_accesses"
    return Rule(
        f"to_{form}",
        (Tier.WARM, Tier.COLD),
        form,
        f"{{{age}:g}} {unit} old, value {{value:.3f}} is at most {{{value}:g}}, at most {{{accesses}}} accesses",
        due,
        falls=(SignalFall("value", f"compression.{value}", at_most=True),),
        bounds=(f"compression.{age}", f"compression.{accesses}", *more),
        only=only or Group("", lambda c, k: c.access_count <= k[accesses]),
        switch=("compression.rule", "triggers"),
    )


_LONG: Final = Group(
    "at least {least_tokens} tokens",
    lambda c, k: (c.access_count <= k["summary_accesses"]) & (c.tokens >= k["least_tokens"]),
)

RULES: tuple[Rule, ...] = (
    Rule(
        "faded_confidence",
        _IN_VIEW,
        Status.ARCHIVED,
        "the confidence has fallen below {confidence_below:g} (confidence {confidence:.3f})",
        lambda m, low, _: np.maximum(low, m.states.status_ms),
        falls=(_DOUBTED,),
        only=_LONG_TERM,
        switch=("archive.rule", "confidence"),
    ),
    Rule(
        "forgotten",
        _IN_VIEW,
        Status.ARCHIVED,
        "the strength has fallen to the threshold of its importance",
        lambda m, low, _: np.maximum(low, m.states.status_ms),
        falls=(SignalFall("strength"),),
        only=Group("session or long-term, no fact", lambda c, _: ~c.fact & (c.scope != TASK)),
        switch=("archive.rule", "strength"),
        figures="strength {strength:.3f}, threshold {threshold:.3f}",
    ),
    Rule(
        "faded_value",
        (Tier.COLD,),
        Status.ARCHIVED,
        "{cold_days:g} days in cold, never accessed, and the value has fallen below {value_below:g} "
        "(value {value:.3f})",
        _at_rest_in_cold,
        falls=(_WORTHLESS,),
        bounds=("archive.cold_days",),
        only=Group("no fact", lambda c, _: ~c.fact & (c.access_count == 0)),
        switch=("archive.rule", "value"),
    ),
    Rule(
        "faded_both",
        (Tier.COLD,),
        Status.ARCHIVED,
        "{cold_days:g} days in cold, value below {value_below:g} (value {value:.3f}), "
        "confidence below {confidence_below:g} (confidence {confidence:.3f})",
        lambda m, low, k: np.maximum(_at_rest_in_cold(m, low, k), m.states.status_ms),
        falls=(_WORTHLESS, _DOUBTED),
        bounds=("archive.cold_days",),
        only=_LONG_TERM,
        switch=("archive.rule", "both"),
    ),
    Rule(
        "unanswered",
        _IN_VIEW,
        Status.ARCHIVED,
        "not confirmed for {aging_days:g} + {unanswered_days:g} days, and confirmed "
        "fewer than {aging_reinforcements} times (confidence {confidence:.3f})",
        _unanswered_archival,
        bounds=(
            *("knowledge.aging_days", "knowledge.unanswered_days", "knowledge.aging_reinforcements"),
            "fading.factors",
        ),
        only=Group("a fact of a sort that fades", lambda c, k: c.fact & _may_age(c, k)),
    ),
    Rule(
        "leave_hot",
        (Tier.HOT,),
        Tier.WARM,
        "{hot_hours:g} hours in hot are over and the value has fallen below {hot_keep_value:g}, "
        "but not below {hot_to_warm_value:g} (value {value:.3f})",
        lambda m, low, k: _leave_hot(m, low, k, to_warm=True),
        falls=(_SPENT,),
        bounds=("tiers.hot_hours", "tiers.hot_to_warm_value"),
    ),
    Rule(
        "leave_hot_low",
        (Tier.HOT,),
        Tier.COLD,
        "{hot_hours:g} hours in hot are over and the value has fallen below {hot_to_warm_value:g} (value {value:.3f})",
        lambda m, low, k: _leave_hot(m, low, k, to_warm=False),
        falls=(_SPENT,),
        bounds=("tiers.hot_hours", "tiers.hot_to_warm_value"),
    ),
    Rule(
        "warm_low",
        (Tier.WARM,),
        Tier.COLD,
        "the value has fallen below {warm_keep_value:g} (value {value:.3f})",
        lambda m, low, _: np.maximum(low, m.states.tier_ms),
        falls=(SignalFall("value", "tiers.warm_keep_value"),),
    ),
    Rule(
        "warm_quiet",
        (Tier.WARM,),
        Tier.COLD,
        "{warm_quiet_days:g} days in warm without access (value {value:.3f})",
        lambda m, _, k: np.maximum(m.states.tier_ms, m.states.anchor_ms) + int(k["warm_quiet_days"] * DAY_MS),
        bounds=("tiers.warm_quiet_days",),
    ),
    Rule(
        "to_vault",
        _IN_VIEW,
        Tier.VAULT,
        "accessed with lasting value {lasting:.3f} (at least {vault_value:g}) and at least {vault_accesses} accesses "
        "(value {value:.3f})",
        lambda m, _, k: np.where(m.lasting_value_at(m.accessed) >= k["vault_value"], m.accessed, NEVER),
        bounds=("tiers.vault_value", "tiers.vault_accesses", "tiers.vault_reinforcements"),
        only=Group(
            "at least {vault_reinforcements} reinforcements",
            lambda c, k: (c.access_count >= k["vault_accesses"]) & (c.reinforcements >= k["vault_reinforcements"]),
        ),
        on_access=True,
    ),
    Rule(
        "burst",
        (Tier.WARM,),
        Tier.HOT,
        "{burst_accesses} accesses within {burst_hours:g} hours (value {value:.3f})",
        _burst,
        bounds=("tiers.burst_accesses", "tiers.burst_hours"),
        on_access=True,
    ),
    Rule(
        "warm_high",
        (Tier.WARM,),
        Tier.HOT,
        "accessed with value {value:.3f} (at least {warm_to_hot_value:g})",
        lambda m, _, k: np.where(m.value_at(m.accessed) >= k["warm_to_hot_value"], m.accessed, NEVER),
        bounds=("tiers.warm_to_hot_value",),
        on_access=True,
    ),
    Rule("woken", (Tier.COLD,), Tier.WARM, "accessed (value {value:.3f})", lambda m, *_: m.accessed, on_access=True),
    _shorter(Form.SUMMARY, "hours", _to_summary, _LONG, ("compression.least_tokens",)),
    _shorter(Form.KEYWORDS, "days", lambda m, low, k: _to_barer(m, low, k["keywords_days"])),
    _shorter(Form.EMBEDDING, "days", lambda m, low, k: _to_barer(m, low, k["embedding_days"])),
)
"""Where several fall due at one instant, the first of them in this order happens: archive, then tier, then form."""

SHORTENING: Final = frozenset(rule.name for rule in RULES if rule.shortens is not None)

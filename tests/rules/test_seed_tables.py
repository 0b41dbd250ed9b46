"""Each row of the published tables that gives the policy its numbers, under the preset that keeps them.

What a row means for a memory is tried beside it (test_seed_strength, test_seed_numbers, test_compression_moves).
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from perdure.formulas.strength import RetentionCurve
from perdure.records.memory import Scope
from perdure.rules.lifecycle.state_arrays import strength_parameters
from perdure.rules.policy_check import policy_from

STRENGTH = policy_from({"preset": "activation"})
RETENTION = policy_from({"preset": "tiered"})
SCOPES = np.array([list(Scope).index(s) for s in (Scope.TASK, Scope.SESSION, Scope.LONG_TERM)])
"""Whose memories the columns Default, MTM and LTM are for."""


def row(identity: str, *values: object) -> object:
    return pytest.param(*values, id=identity)


@pytest.mark.behaviour(
    "003-baseline_strength",
    "003-passive_half_life_seconds",
    "003-reinforcement_half_life_seconds",
    "003-staleness_half_life_seconds",
    "003-max_decay_per_cycle",
    "003-manual_decay_multiplier",
    "003-reinforcement_unit",
    "003-forgetting_threshold",
)
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        row("003-baseline_strength", "baseline", (0.05, 0.06, 0.08)),
        row("003-passive_half_life_seconds", "passive_half_life", (1800, 2400, 43_200)),
        row("003-reinforcement_half_life_seconds", "reinforcement_half_life", (900, 1200, 14_400)),
        # the seed's dashes: as in the first column
        row("003-staleness_half_life_seconds", "staleness_half_life", (7200, 7200, 7200)),
        row("003-max_decay_per_cycle", "max_decay_per_cycle", (0.3, 0.25, 0.15)),
        row("003-manual_decay_multiplier", "manual_multiplier", (3.0, 3.0, 2.0)),
        row("003-reinforcement_unit", "unit", (1.0, 1.2, 0.9)),
        row("003-forgetting_threshold", "forgetting_threshold", (0.1, 0.12, 0.08)),
    ],
)
@pytest.mark.parametrize("policy", [STRENGTH, policy_from({})], ids=["strength", "balanced"])
def test_a_row_of_strength_by_scope(policy, name, expected):
    values = np.broadcast_to(getattr(strength_parameters(policy, SCOPES), name), (3,))
    assert values.tolist() == pytest.approx(expected)


@pytest.mark.behaviour("004-2.2-0", "004-2.2-1", "004-2.2-2", "004-2.2-3", "004-2.2-4+")
@pytest.mark.parametrize(
    ("reinforcements", "days", "kept"),
    [
        # the seed rounds the last column by hand (its 1.3 % is 1.38 %)
        row("004-2.2-0", 0, 7.0, 0.0138),
        row("004-2.2-1", 1, 10.5, 0.0574),
        row("004-2.2-2", 2, 15.75, 0.1489),
        row("004-2.2-3", 3, 23.625, 0.2809),
        row("004-2.2-4+", 4, 35.4375, 0.4289),
    ],
)
def test_a_row_of_the_schedule_of_reinforcement(reinforcements, days, kept):
    curve = RetentionCurve(np.array([float(reinforcements)]))
    assert float(curve.value(30.0)[0]) == pytest.approx(kept, abs=5e-5)
    assert float(curve.value(days)[0]) == pytest.approx(math.exp(-1))


@pytest.mark.behaviour("004-1.2-retention_value", "004-1.2-uniqueness", "004-1.2-confidence", "004-1.2-access_recency")
@pytest.mark.parametrize(
    ("signal", "weight"),
    [
        row("004-1.2-retention_value", "frequency", 0.35),
        row("004-1.2-uniqueness", "uniqueness", 0.25),
        row("004-1.2-confidence", "confidence", 0.20),
        row("004-1.2-access_recency", "recency", 0.20),
    ],
)
def test_a_row_of_the_weights_of_value(signal, weight):
    assert getattr(RETENTION.value, signal) == weight


@pytest.mark.behaviour("004-6.2-full-to-summary", "004-6.2-summary-to-keywords", "004-6.2-keywords-to-embedding")
@pytest.mark.parametrize(
    ("form", "hours", "value", "accesses"),
    [
        row("004-6.2-full-to-summary", "summary", 24.0, 0.6, 3),
        row("004-6.2-summary-to-keywords", "keywords", 7 * 24.0, 0.4, 1),
        row("004-6.2-keywords-to-embedding", "embedding", 30 * 24.0, 0.2, 0),
    ],
)
def test_a_row_of_the_triggers_of_compression(form, hours, value, accesses):
    keys = RETENTION.compression
    age = keys.summary_hours if form == "summary" else 24 * getattr(keys, f"{form}_days")
    assert (age, getattr(keys, f"{form}_value"), getattr(keys, f"{form}_accesses")) == (hours, value, accesses)

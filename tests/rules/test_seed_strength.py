"""The formulas of strength and the table of their parameters.

Expected values are worked out by hand from the documents, not by the code under test.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

import numpy as np
import pytest

from conftest import every
from perdure.formulas.strength import Parameters, StrengthCurve, decay_by_hand, never_forgotten_from, reinforce_strength

SECOND: Final = 1 / 86_400
INHERITS: Final = None

TABLE: Final[dict[str, tuple[float | None, float | None, float | None]]] = {
    # the seed's rows: default, MTM, LTM; a dash inherits the default
    "baseline": (0.05, 0.06, 0.08),
    "passive_half_life": (1800.0, 2400.0, 43200.0),
    "reinforcement_half_life": (900.0, 1200.0, 14400.0),
    "staleness_half_life": (7200.0, INHERITS, INHERITS),
    "max_decay_per_cycle": (0.3, 0.25, 0.15),
    "manual_multiplier": (3.0, 3.0, 2.0),
    "unit": (1.0, 1.2, 0.9),
    "forgetting_threshold": (0.1, 0.12, 0.08),
    # what the table leaves out, the same in every column
    "minimum": (0.02, INHERITS, INHERITS),
    "maximum": (1.0, INHERITS, INHERITS),
    "importance_weight": (0.25, INHERITS, INHERITS),
    "scale": (3.0, INHERITS, INHERITS),
    "reinforcement_importance_weight": (0.6, INHERITS, INHERITS),
    "max_level": (12.0, INHERITS, INHERITS),
    "max_step": (0.25, INHERITS, INHERITS),
    "forgetting_importance_weight": (0.08, INHERITS, INHERITS),
    "floor": (0.02, INHERITS, INHERITS),
}
COLUMNS: Final = ("default", "MTM", "LTM")


def parameters(column: str, **changed: float) -> Parameters:
    at = COLUMNS.index(column)
    values = {key: row[0] if row[at] is INHERITS else row[at] for key, row in TABLE.items()}
    return replace(Parameters(**values), **changed)  # type: ignore[arg-type]


def memory(
    column: str, strength: float = 0.5, level: float = 0.0, importance: float = 0.5, **changed: float
) -> StrengthCurve:
    keys = parameters(column, **changed)
    return StrengthCurve(np.array([strength]), np.array([level]), np.array([importance]), keys)


def approximately(expected: float) -> object:
    return pytest.approx(expected, abs=1e-6)


# --- "Baseline computation"


@every(
    [
        ("default", 0.0, 0.05),
        ("default", 0.5, 0.175),  # 0.05 + 0.5 * 0.25
        ("default", 1.0, 0.30),
        ("MTM", 0.0, 0.06),
        ("MTM", 0.5, 0.185),
        ("LTM", 0.0, 0.08),
        ("LTM", 1.0, 0.33),
    ]
)
def test_the_baseline_rises_with_importance(column, importance, expected):
    assert memory(column, importance=importance).baseline()[0] == approximately(expected)


def test_the_baseline_stays_between_the_minimum_and_the_maximum():
    assert memory("default", importance=0.0, baseline=0.01).baseline()[0] == 0.02
    assert memory("default", importance=1.0, importance_weight=3.0).baseline()[0] == 1.0


# --- "Reinforcement mapping"


@every(
    [
        ("default", 0.0, 0.175),
        ("default", 3 * math.log(2), 0.5875),  # half of the way from 0.175 to 1
        ("default", 3.0, 0.696500),  # 0.175 + 0.825 * 0.632121
        ("MTM", 3.0, 0.700178),  # 0.185 + 0.815 * 0.632121
        ("LTM", 3.0, 0.707536),  # 0.205 + 0.795 * 0.632121
        ("default", 12.0, 0.984890),  # 0.175 + 0.825 * (1 - e^-4 = 0.981684)
        ("default", 500.0, 0.984890),  # the level counts up to 12
    ]
)
def test_a_level_is_worth_a_strength_that_nears_the_maximum(column, level, expected):
    assert memory(column, level=level).target(0.0)[0] == approximately(expected)


@every(
    [
        ("default", 0.5, 1.0),
        ("default", 1.0, 1.3),  # 1 + 0.5 * 0.6
        ("default", 0.0, 0.7),
        ("MTM", 0.5, 1.2),
        ("MTM", 1.0, 1.56),
        ("LTM", 0.5, 0.9),
        ("LTM", 0.0, 0.63),
    ]
)
def test_a_reinforcement_adds_its_unit_scaled_by_importance(column, importance, expected):
    _, level = reinforce_strength([0.5], [0.0], [importance], [1.0], parameters(column))
    assert level[0] == approximately(expected)


def test_the_scale_of_importance_is_at_least_a_fifth():
    keys = parameters("default", reinforcement_importance_weight=2.0)  # 1 - 0.5 * 2 = 0
    assert reinforce_strength([0.5], [0.0], [0.0], [1.0], keys)[1][0] == approximately(0.2)


@pytest.mark.parametrize(
    ("column", "before", "amount", "expected"),
    [
        ("default", 0.175, 0.3, 0.253509),  # level 0.3: 0.175 + 0.825 * (1 - e^-0.1 = 0.0951626)
        ("MTM", 0.185, 0.25, 0.262558),  # level 0.3 too, from 0.185
        ("LTM", 0.205, 1 / 3, 0.280654),  # and from 0.205
        ("default", 0.175, 12.0, 0.425),  # worth 0.98, but one step adds 0.25 at most
        ("default", 0.9, 0.3, 0.9),  # worth less than it has: kept
    ],
)
def test_a_reinforcement_lifts_strength_by_one_step_at_most(column, before, amount, expected):
    strength, _ = reinforce_strength([before], [0.0], [0.5], [amount], parameters(column))
    assert strength[0] == approximately(expected)


def test_the_level_is_bounded_and_a_bound_never_lowers():
    assert reinforce_strength([0.5], [11.5], [0.5], [100.0], parameters("default"))[1][0] == 12.0
    assert reinforce_strength([0.5], [14.0], [0.5], [1.0], parameters("default"))[1][0] == 14.0


# --- "Passive decay"


@every(
    [
        ("default", 900, 0.5 * 0.917004),  # a half-life of reinforcement, an eighth of one of staleness
        ("default", 7200, 1 / 512),
        ("MTM", 1200, 0.5 * 0.890899),
        ("MTM", 7200, 1 / 128),
        ("LTM", 14400, 1 / 8),
        ("LTM", 7200, 0.5 * 0.707107),
    ]
)
def test_the_level_halves_every_half_life_of_reinforcement_and_of_staleness(column, seconds, kept):
    assert memory(column, level=1.0).level_at(seconds * SECOND)[0] == approximately(kept)


@pytest.mark.parametrize(("column", "seconds"), [("default", 900), ("MTM", 1200), ("LTM", 14400)])
def test_with_staleness_off_a_half_life_halves(column, seconds):
    never_stale = memory(column, level=8.0, staleness_half_life=math.inf)
    assert never_stale.level_at(seconds * SECOND)[0] == approximately(4.0)


def test_halving_a_half_life_doubles_the_rate():
    slow = memory("default", level=8.0, staleness_half_life=math.inf)
    fast = memory("default", level=8.0, staleness_half_life=math.inf, reinforcement_half_life=450.0)
    assert fast.level_at(900 * SECOND)[0] == approximately(float(slow.level_at(1800 * SECOND)[0])) == approximately(2.0)


@every(
    [
        ("default", 0.575, 1800, 0.375),  # baseline 0.175: half of the 0.4 above it
        ("default", 0.575, 3600, 0.275),
        ("MTM", 0.585, 2400, 0.385),  # baseline 0.185
        ("LTM", 0.605, 43200, 0.405),  # baseline 0.205
        ("default", 1.0, 1800, 0.7),  # 0.4125 is due, 0.3 is allowed
        ("default", 1.0, 3600, 0.7),
        ("default", 1.0, 7200, 0.4),  # two cycles allow 0.6
        ("default", 1.0, 10800, 0.187891),  # three allow 0.9: 0.825 * 63/64 is due
        ("MTM", 1.0, 3600, 0.75),
        ("MTM", 1.0, 7200, 0.5),
        ("LTM", 1.0, 3600, 0.955380),  # 0.795 * (1 - 2^(-1/12) = 0.0561257): the cap does not bind
    ]
)
def test_strength_nears_its_baseline_by_half_lives_and_under_the_cap(column, strength, seconds, expected):
    assert memory(column, strength).value(seconds * SECOND)[0] == approximately(expected)


def test_the_cap_of_long_term_memories_binds_where_decay_is_quick():
    quick = memory("LTM", 1.0, passive_half_life=1.0)
    assert quick.value(3600 * SECOND)[0] == approximately(0.85)
    assert quick.value(5 * 3600 * SECOND)[0] == approximately(0.25)


def test_strength_nears_the_target_that_its_level_still_holds_up():
    # level 12 is 3 after two half-lives, worth 0.696500 there; half of what is above that has gone
    held = memory("default", 1.0, 12.0, staleness_half_life=math.inf)
    assert held.target(1800 * SECOND)[0] == approximately(0.696500)
    assert held.value(1800 * SECOND)[0] == approximately(0.848250)


# --- "Manual decay"


@pytest.mark.parametrize(
    ("column", "amount", "expected", "left"),
    [
        ("default", 2.0, 0.970569, 10.0),  # 1 - 0.825 * e^(-10/3)
        ("default", 12.0, 0.175, 0.0),  # down to the baseline: 0.825 is under 3 * 0.3
        ("MTM", 10.0, 0.25, 0.0),  # 10 * 1.2 takes all; 3 * 0.25 is the most a call may take
        ("LTM", 20.0, 0.7, 0.0),  # 2 * 0.15
        ("LTM", 10.0, 0.707536, 3.0),  # 10 * 0.9; 0.205 + 0.795 * 0.632121, reached before the bound
    ],
)
def test_decay_by_hand_takes_level_and_is_bounded_for_each_call(column, amount, expected, left):
    strength, level = decay_by_hand([1.0], [12.0], [0.5], [amount], parameters(column))
    assert strength[0] == approximately(expected)
    assert level[0] == approximately(left)


def test_decay_by_hand_never_raises_what_is_below_its_target():
    strength, level = decay_by_hand([0.2], [12.0], [0.5], [1.0], parameters("default"))
    assert (strength[0], level[0]) == (0.2, 11.0)


# --- "Forgetting threshold"


@every(
    [
        ("default", 0.5, 0.10),
        ("default", 0.0, 0.14),  # 0.1 + 0.5 * 0.08
        ("default", 1.0, 0.06),
        ("MTM", 0.5, 0.12),
        ("MTM", 1.0, 0.08),
        ("LTM", 0.5, 0.08),
        ("LTM", 0.0, 0.12),
    ]
)
def test_important_memories_have_a_lower_threshold(column, importance, expected):
    assert memory(column, importance=importance).threshold()[0] == approximately(expected)


def test_the_threshold_stays_between_the_floor_and_the_maximum():
    assert memory("LTM", importance=1.0, forgetting_importance_weight=0.2).threshold()[0] == 0.02
    assert memory("LTM", importance=0.0, forgetting_importance_weight=3.0).threshold()[0] == 1.0


def test_strength_at_the_threshold_is_forgotten_and_strength_over_it_is_not():
    at, over = memory("default", 0.1, baseline=0.0), memory("default", 0.1 + 1e-9)
    assert at.forgotten_age()[0] == 0.0
    assert over.forgotten_age()[0] > 0.0


@pytest.mark.parametrize(
    ("column", "strength", "seconds"),
    [
        ("default", 0.23, 1800),  # 0.18 above the baseline 0.05; the threshold 0.14 is 0.09 above it
        ("default", 0.41, 3600),
        ("MTM", 0.26, 2400),  # 0.06 and 0.16
        ("LTM", 0.16, 43200),  # 0.08 and 0.12
    ],
)
def test_a_memory_of_importance_0_is_forgotten_when_decay_reaches_its_threshold(column, strength, seconds):
    forgetting = memory(column, strength, importance=0.0).forgotten_age()[0]
    assert forgetting / SECOND == pytest.approx(seconds, abs=0.002)


@pytest.mark.parametrize(
    ("column", "importance"),
    [
        # 0.05 + 0.25 i = 0.10 + 0.08 (0.5 - i), and so on
        ("default", 0.09 / 0.33),
        ("MTM", 0.10 / 0.33),
        ("LTM", 0.04 / 0.33),
    ],
)
def test_from_some_importance_on_a_memory_is_never_forgotten(column, importance):
    assert float(never_forgotten_from(parameters(column))) == approximately(importance)
    assert memory(column, 1.0, importance=importance + 0.001).forgotten_age()[0] == math.inf
    assert memory(column, 1.0, importance=importance - 0.001).forgotten_age()[0] < 30


@every(
    [
        ({"importance_weight": 0.0}, 0.09 / 0.08),  # above 1: no memory is safe
        ({"importance_weight": 0.0, "forgetting_importance_weight": 0.0}, math.inf),
        ({"forgetting_threshold": 0.0, "floor": 0.0}, 0.0),  # 0.05 is over 0.04 from the start
        ({"forgetting_threshold": -1.0, "floor": 0.1}, 0.2),  # the floor decides: 0.05 + 0.25 i = 0.1
        ({"floor": 1.0}, math.inf),
        ({"minimum": 0.12}, 0.25),  # the minimum decides: 0.12 = 0.14 - 0.08 i
        ({"minimum": 0.12, "baseline": 0.0, "importance_weight": 0.0}, 0.25),  # and is over the floor by itself
        ({"maximum": 0.12, "baseline": 0.2}, 0.25),  # both are cut off at 0.12 until 0.14 - 0.08 i is below it
    ]
)
def test_which_importance_is_safe_follows_the_parameters(changed, expected):
    importance = float(never_forgotten_from(parameters("default", **changed)))
    assert importance == (math.inf if expected > 1.0 else approximately(expected))

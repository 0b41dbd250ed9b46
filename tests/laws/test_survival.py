"""Laws of survival: what was watched for longer changes more slowly, and intervals are exact and not too wide."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws.memories import LAW
from perdure.knowledge.formulas.survival import (
    change_rate,
    decay_rate,
    gamma_below,
    gamma_quantile,
    interval,
    prior_days,
    validation_days,
)

changes = st.integers(0, 700)
exposures = st.floats(0.0, 1e6)
priors = st.floats(0.1, 1e4)


@pytest.mark.behaviour("LE-survival-1")
@LAW
@given(changes, exposures, st.floats(0.0, 1e6), priors)
def test_more_exposure_never_raises_the_rate(seen, days, more, prior):
    before, after = change_rate(seen, days, prior), change_rate(seen, days + more, prior)
    assert after <= before
    assert all(a <= b for a, b in zip(interval(seen, days + more, prior), interval(seen, days, prior), strict=True))


@pytest.mark.behaviour("LE-survival-2")
@LAW
@given(changes, st.integers(1, 500), exposures, priors)
def test_more_changes_never_lower_the_rate(seen, more, days, prior):
    assert change_rate(seen + more, days, prior) > change_rate(seen, days, prior)
    assert all(a > b for a, b in zip(interval(seen + more, days, prior), interval(seen, days, prior), strict=True))


@pytest.mark.behaviour("LE-survival-4")
@LAW
@given(changes, st.integers(1, 500), exposures, priors, st.floats(0.5, 0.99))
def test_the_interval_contains_the_mean_and_narrows(seen, more, days, prior, mass):
    (low, high), mean = interval(seen, days, prior, mass), change_rate(seen, days, prior)
    assert 0.0 < low < mean < high
    narrow = interval(seen + more, days, prior, mass)
    assert narrow[1] / narrow[0] < high / low  # relative width: the mean itself has grown
    wide = interval(seen, days, prior, (1.0 + mass) / 2.0)
    assert wide[0] < low < high < wide[1]


@pytest.mark.behaviour("LE-survival-5")
@LAW
@given(st.integers(1, 400), st.floats(0.001, 0.999))
def test_a_quantile_is_where_the_probability_is_reached(shape, p):
    assert gamma_below(gamma_quantile(p, shape), shape) == pytest.approx(p, rel=1e-9)


@pytest.mark.behaviour("LE-survival-7")
@pytest.mark.parametrize(
    ("shape", "p", "twice"),
    [  # quantiles of chi-squared from printed tables: degrees of freedom are twice the shape
        (1, 0.95, 5.991465),
        (1, 0.05, 0.1025866),
        (5, 0.05, 3.940299),
        (5, 0.95, 18.30704),
        (15, 0.01, 14.95346),
        (15, 0.95, 43.77297),
        (50, 0.975, 129.5612),
    ],
)
def test_quantiles_are_those_of_the_tables(shape, p, twice):
    assert 2.0 * gamma_quantile(p, shape) == pytest.approx(twice, rel=1e-6)


@pytest.mark.behaviour("LE-survival-8")
def test_nothing_jumps_where_the_approximation_takes_over():
    for p in (0.05, 0.95):
        steps = [gamma_quantile(p, shape + 1) - gamma_quantile(p, shape) for shape in (497, 498, 499, 500)]
        assert steps == pytest.approx([steps[0]] * 4, rel=0.01)


@pytest.mark.behaviour("002-part-4-target", "LE-survival-9")
def test_the_target_of_the_seed():
    """0.916 / mean, 0.4 of the confidence is left then, validation after half of it."""
    mean = 30.0
    assert decay_rate(1.0 / mean) == pytest.approx(0.916 / mean, rel=1e-3)
    assert math.exp(-decay_rate(1.0 / mean) * mean) == pytest.approx(0.4)
    assert validation_days(1.0 / mean) == pytest.approx(15.0)
    assert validation_days(0.0) == pytest.approx(36_525.0)


@pytest.mark.behaviour("LE-survival-10")
@pytest.mark.parametrize("rate", [0.0, 0.001, 0.01, 0.3])
def test_without_data_the_prior_gives_the_policys_rate(rate):
    assert decay_rate(change_rate(0, 0.0, prior_days(rate))) == pytest.approx(rate, abs=3e-5)


@pytest.mark.behaviour("LE-survival-11")
@pytest.mark.parametrize(("mean", "bias"), [(20.0, 1.2), (60.0, 2.0), (200.0, 5.0)])
def test_the_mean_of_observed_changes_alone_is_biased(mean, bias):
    """200 times 400 facts, watched for 90 days: the longer facts last, the more of them outlive the watch."""
    draw = np.random.default_rng(7)
    left = 90.0 - draw.uniform(0.0, 90.0, (200, 400))
    lasts = draw.exponential(mean, (200, 400))
    seen, exposure = lasts < left, np.minimum(lasts, left)
    naive = 1.0 / np.mean(lasts, axis=1, where=seen)
    learned = [change_rate(n, days, prior_days(0.01)) for n, days in zip(seen.sum(1), exposure.sum(1), strict=True)]
    assert np.mean(learned) * mean == pytest.approx(1.0, abs=0.03)
    assert np.mean(naive) * mean > bias  # 1.4, 2.6 and 7.2 times the true rate


@pytest.mark.behaviour("LE-survival-12")
def test_the_interval_holds_the_truth_as_often_as_it_says():
    """600 namespaces of 30 facts whose rate is drawn from the prior: nine of ten intervals hold it."""
    draw = np.random.default_rng(11)
    days = prior_days(0.01)
    rate = draw.gamma(1.0, 1.0 / days, 600)
    lasts = draw.exponential(1.0, (600, 30)) / rate[:, None]
    seen, exposure = (lasts < 100.0).sum(1), np.minimum(lasts, 100.0).sum(1)
    ends = [interval(int(n), d, days) for n, d in zip(seen, exposure, strict=True)]
    assert np.mean([low < r < high for r, (low, high) in zip(rate, ends, strict=True)]) == pytest.approx(0.9, abs=0.035)

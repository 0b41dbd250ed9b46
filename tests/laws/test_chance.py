"""Laws of chance: exact where it can be counted, and no more findings than the level allows."""

from __future__ import annotations

from itertools import permutations, product
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws.memories import LAW
from perdure.knowledge.formulas.survival import at_least, discoveries, follows_within


@pytest.mark.behaviour("LE-chance-1")
@pytest.mark.parametrize(("seen", "of", "p"), [(1, 1, 0.2), (3, 3, 0.1), (2, 5, 0.5), (4, 6, 0.3), (1, 7, 0.9)])
def test_tails_agree_with_listing_every_case(seen, of, p):
    cases = product((0, 1), repeat=of)
    listed = sum(prod(p if yes else 1 - p for yes in case) for case in cases if sum(case) >= seen)
    assert at_least(seen, of, p) == pytest.approx(listed, rel=1e-12)


@pytest.mark.behaviour("LE-chance-2")
@LAW
@given(st.integers(0, 200), st.integers(0, 200), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_more_is_less_likely(seen, more, p, q):
    of = seen + more
    assert 0.0 <= at_least(seen + 1, of, p) <= at_least(seen, of, p) <= 1.0
    assert at_least(seen, of, min(p, q)) <= at_least(seen, of, max(p, q)) + 1e-12


@pytest.mark.behaviour("LE-chance-3")
@pytest.mark.parametrize("length", [1, 2, 3, 6])
@pytest.mark.parametrize("reach", [1, 2, 9])
def test_order_agrees_with_listing_every_order(length, reach):
    orders = list(permutations(range(length), 2))
    listed = sum(1 for first, second in orders if 1 <= second - first <= reach)
    assert follows_within(length, reach) == pytest.approx(listed / max(1, len(orders)))


@pytest.mark.behaviour("LE-chance-4")
def test_accidents_alone_are_kept_as_often_as_the_level_says():
    draws = np.random.default_rng(5).uniform(size=(2000, 30))
    assert np.mean([discoveries(row, 0.05).any() for row in draws]) == pytest.approx(0.05, abs=0.015)


@pytest.mark.behaviour("LE-chance-5")
def test_what_is_no_accident_is_kept_among_accidents():
    """The printed example of Benjamini and Hochberg (1995): 4 of 15 are kept at 0.05."""
    printed = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459]
    printed += [0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0]
    assert discoveries(printed[::-1], 0.05).tolist() == [False] * 11 + [True] * 4
    assert discoveries([], 0.05).tolist() == []

"""Laws of similar pairs and of shared words: what a search finds is what comparing everything finds."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws.memories import LAW
from perdure.formulas.likeness import TokenSets, combine, cosine_needed, jaccard
from perdure.formulas.pairs import cosines, similar_pairs


def unit(rows):
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths == 0.0, 1.0, lengths)


def near_groups(seed, rows, dimensions, spread):
    """Rows around a few centres, some of them the same row again."""
    random = np.random.default_rng(seed)
    centres = random.standard_normal((max(1, rows // 5), dimensions))
    made = centres[random.integers(0, len(centres), rows)] + spread * random.standard_normal((rows, dimensions))
    again = random.random(rows) < 0.2
    made[again] = made[random.integers(0, rows, int(again.sum()))]
    return made.astype(np.float32)


def listed(pairs):
    return set(zip(pairs.i.tolist(), pairs.j.tolist(), strict=True))


def spread_out(pairs):
    """The pairs with each copy in the place of its first as well."""
    copies: dict[int, list[int]] = {}
    for row, first in enumerate(pairs.first.tolist()):
        copies.setdefault(first, []).append(row)
    own = {(a, b) for a, b in listed(pairs) if pairs.first[a] == a and pairs.first[b] == b}
    across = {tuple(sorted((x, y))) for a, b in own for x in copies[a] for y in copies[b]}
    return across | {pair for rows in copies.values() for pair in combinations(rows, 2)}


inputs = st.tuples(st.integers(0, 10_000), st.integers(1, 90), st.integers(2, 24), st.sampled_from([0.05, 0.3, 1.0]))


@pytest.mark.behaviour("LA9")
@given(inputs, st.floats(0.3, 0.999))
@LAW
def test_the_pairs_are_those_of_comparing_everything(shape, threshold):
    rows = near_groups(*shape)
    exact = unit(rows.astype(np.float64)) @ unit(rows.astype(np.float64)).T
    found = similar_pairs(rows, threshold)
    upper = np.triu(np.ones_like(exact, dtype=bool), 1)
    sure = set(zip(*(a.tolist() for a in np.nonzero(upper & (exact >= threshold + 1e-6))), strict=True))
    possible = set(zip(*(a.tolist() for a in np.nonzero(upper & (exact >= threshold - 1e-6))), strict=True))
    assert sure <= spread_out(found) <= possible
    assert (found.exact, found.threshold) == (True, threshold)
    assert found.cosine == pytest.approx(exact[found.i, found.j], abs=1e-6)
    order = found.i.astype(np.int64) * len(rows) + found.j
    assert (np.diff(order) > 0).all()
    assert (found.i < found.j).all()


@pytest.mark.behaviour("LA10")
@given(inputs, st.randoms(use_true_random=False))
@LAW
def test_the_order_of_rows_does_not_matter(shape, random):
    rows = near_groups(*shape)
    shuffled = list(range(len(rows)))
    random.shuffle(shuffled)
    plain, moved = similar_pairs(rows, 0.8), similar_pairs(rows[shuffled], 0.8)
    back = {tuple(sorted((shuffled[a], shuffled[b]))) for a, b in spread_out(moved)}
    assert back == spread_out(plain)


@pytest.mark.behaviour("LA11")
@given(inputs)
@LAW
def test_cells_find_no_pair_twice_and_none_that_is_not_there(shape):
    rows = near_groups(*shape)
    exact, some = similar_pairs(rows, 0.8), similar_pairs(rows, 0.8, exact_up_to=0, probes=2)
    assert listed(some) <= listed(exact)
    assert len(listed(some)) == len(some)
    every = similar_pairs(rows, 0.8, exact_up_to=0, probes=len(rows))  # all cells: nothing can be missed
    assert listed(every) == listed(exact)
    assert not every.exact


@pytest.mark.behaviour("LA12")
def test_cells_find_nearly_all_planted_duplicates():
    rows = near_groups(5, 6000, 96, 1.5)
    random = np.random.default_rng(6)
    planted = unit(rows[:300]) + 0.025 * random.standard_normal((300, 96))
    found = similar_pairs(np.concatenate([rows, planted.astype(np.float32)]), 0.85, exact_up_to=1000)
    first = found.first[:300]
    wanted = set(zip(first.tolist(), range(6000, 6300), strict=True))
    assert not found.exact
    assert len(wanted & listed(found)) >= 297


@pytest.mark.behaviour("LA13")
def test_blocks_lose_no_pair_across_their_edges():
    rows = np.random.default_rng(1).standard_normal((9000, 16)).astype(np.float32)
    across = [(0, 8999), (2047, 2048), (4095, 4096), (10, 8191), (8191, 8192)]
    for a, b in across:
        rows[b] = rows[a] + 0.01 * rows[b]
    assert set(across) <= listed(similar_pairs(rows, 0.99))


@pytest.mark.behaviour("LA14")
def test_a_hundred_thousand_copies_are_linked_to_the_first_and_do_not_explode():
    rows = np.ones((100_000, 4), np.int8)
    rows[500] = (1, -1, 0, 0)
    found = similar_pairs(rows, 0.9)
    assert len(found) == 99_998
    assert not found.i.any()
    assert 500 not in found.j
    assert (found.cosine == 1.0).all()


@pytest.mark.behaviour("LA15")
def test_copies_that_differ_by_rounding_alone_are_copies():
    random = np.random.default_rng(2)
    row = unit(random.standard_normal((1, 384)))
    rows = (np.repeat(row, 3000, axis=0) + 1e-8 * random.standard_normal((3000, 384))).astype(np.float32)
    assert len(np.unique(similar_pairs(rows, 0.9).first)) < 20


@pytest.mark.behaviour("LA16")
def test_too_many_pairs_leave_the_most_similar_and_say_so():
    random = np.random.default_rng(3)
    rows = (np.ones(24) + 0.4 * random.standard_normal((400, 24))).astype(np.float32)
    every, few = similar_pairs(rows, 0.5), similar_pairs(rows, 0.5, most=1000)
    assert every.threshold == 0.5
    assert few.threshold > 0.5
    assert 900 <= len(few) <= 1000
    over = every.cosine >= few.threshold
    assert listed(few) == set(zip(every.i[over].tolist(), every.j[over].tolist(), strict=True))


@pytest.mark.behaviour("LA17")
def test_int8_rows_give_the_pairs_of_their_directions():
    random = np.random.default_rng(4)
    rows = random.integers(-127, 128, (60, 8)).astype(np.int8)
    assert listed(similar_pairs(rows, 0.7)) == listed(similar_pairs(rows.astype(np.float32), 0.7))


@pytest.mark.behaviour("LA18")
@pytest.mark.parametrize("scale", [1e-30, 1e-3, 1e3, 1e30])
def test_length_does_not_matter(scale):
    rows = near_groups(9, 50, 6, 0.3)
    assert listed(similar_pairs(rows * np.float32(scale), 0.8)) == listed(similar_pairs(rows, 0.8))


@pytest.mark.behaviour("LA19")
def test_zero_rows_are_like_nothing():
    rows = np.zeros((5, 3), np.float32)
    rows[1] = rows[3] = (1, 2, 3)
    assert listed(similar_pairs(rows, 0.1)) == {(1, 3)}


@pytest.mark.behaviour("LA20")
@pytest.mark.parametrize("rows", [0, 1])
def test_fewer_than_two_rows_have_no_pair(rows):
    assert len(similar_pairs(np.ones((rows, 4), np.float32), 0.5)) == 0
    assert len(similar_pairs(np.ones((rows, 4), np.float32), 0.5, exact_up_to=0 if rows else 1)) == 0


@pytest.mark.behaviour("LA21")
@pytest.mark.parametrize(
    ("rows", "options"),
    [
        (np.ones(4, np.float32), {}),
        (np.array([[np.nan, 1]], np.float32), {}),
        (np.array([[np.inf, 1]], np.float32), {}),
        (np.ones((2, 2), np.float32), {"threshold": 0.0}),
        (np.ones((2, 2), np.float32), {"threshold": 1.1}),
        (np.ones((2, 2), np.float32), {"probes": 0}),
        (np.ones((2, 2), np.float32), {"most": 0}),
    ],
)
def test_what_cannot_be_searched_is_refused(rows, options):
    with pytest.raises(ValueError, match=r"vector|threshold"):
        similar_pairs(rows, **{"threshold": 0.5, **options})


@pytest.mark.behaviour("LA22")
def test_cosines_of_given_pairs():
    rows = np.array([[3, 0], [0, 5], [1, 1], [0, 0]], np.float32)
    found = cosines(rows, np.array([0, 2, 0, 2]), np.array([1, 0, 3, 2]))
    assert found == pytest.approx([0.0, 0.5**0.5, 0.0, 1.0])


token_sets = st.lists(st.frozensets(st.sampled_from("abcdefgh"), max_size=6), min_size=1, max_size=8)


@pytest.mark.behaviour("LA23")
@given(token_sets, st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), max_size=30))
@LAW
def test_jaccard_is_shared_over_all(sets, drawn):
    asked = np.array([(a % len(sets), b % len(sets)) for a, b in drawn], np.int64).reshape(-1, 2)
    found = jaccard(TokenSets.of(sets), asked[:, 0], asked[:, 1])
    expected = [len(sets[a] & sets[b]) / max(1, len(sets[a] | sets[b])) for a, b in asked.tolist()]
    assert found.tolist() == pytest.approx(expected)


@pytest.mark.behaviour("LA24")
def test_jaccard_of_many_pairs_is_that_of_each():
    random = np.random.default_rng(8)
    sets = TokenSets.of([str(t) for t in random.integers(0, 50, 12)] for _ in range(200))
    i, j = random.integers(0, 200, (2, 20_000))
    many = jaccard(sets, i, j)
    for k in (0, 8191, 8192, 19_999):
        assert many[k] == jaccard(sets, i[k : k + 1], j[k : k + 1])[0]


@pytest.mark.behaviour("LA25")
@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(-1.0, 1.0), st.floats(0.0, 1.0))
@LAW
def test_no_pair_below_the_cosine_needed_reaches_the_threshold(threshold, weight, cosine, overlap):
    if float(combine(cosine, overlap, weight)) >= threshold:
        assert cosine >= cosine_needed(threshold, weight)


@pytest.mark.behaviour("LA26")
def test_the_seed_weighs_words_three_tenths():
    assert float(combine(0.9, 0.5)) == pytest.approx(0.78)
    assert cosine_needed(0.85) == pytest.approx(0.55 / 0.7, abs=2e-6)

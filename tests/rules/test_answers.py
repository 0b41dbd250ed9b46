"""What an answer is made of: words, score parts, order, twins behind, and when nothing is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import budget, every
from perdure.formulas.fusion import fuse, idf
from perdure.records.policy_recall import RecallPolicy
from perdure.records.recall import Hit, Query
from perdure.rules.language.words import STOP_WORDS, is_named, may_answer, names_in, people_named, query_words
from perdure.rules.ranking import (
    diversify,
    pool_chance,
    rank_candidates,
    why_nothing_known,
    with_relevance,
    with_signals,
)
from rules.builders import START, candidate, direction, memory, pool

POLICY = RecallPolicy()
ANY = settings(max_examples=budget(25, 320), deadline=None, derandomize=True)


def query(text: str = "where does Ann keep the keys") -> Query:
    return Query(text, query_words(text))


# --- words


@pytest.mark.behaviour("Q1")
@every(
    [
        ("Where does the deploy happen?", ("deploy", "happen")),
        ("deploy Deploy DEPLOY", ("deploy",)),
        ("PostgreSQL 15.2 on db-01", ("postgresql", "15", "2", "db", "01")),
        ("snake_case_name", ("snake", "case", "name")),
        ("Zürich, 東京 и Москва", ("zürich", "東京", "и", "москва")),
        ("the and of", ()),
        ('?!* "AND" ^', ()),
        ("", ()),
        ("don't you'll we've", ()),
    ]
)
def test_discriminating_words(text, words):
    assert query_words(text) == words


@pytest.mark.behaviour("I11")
@ANY
@given(st.text(max_size=80))
def test_words_are_lower_case_once_each_and_no_stop_words(text):
    words = query_words(text)
    assert len(set(words)) == len(words)
    assert not set(words) & STOP_WORDS
    assert all(w and "_" not in w and not any(c in '"*^:()' for c in w) for w in words)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("What did Caroline say to Mel?", {"caroline", "mel"}),
        ("Caroline's dog", {"caroline"}),
        ("Where is my key?", {"user"}),
        ("what is new", set()),
    ],
)
def test_who_is_named(text, names):
    assert people_named(text) - STOP_WORDS == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("When did Melanie paint with Rita Brown?", {"melanie", "rita", "brown"}),
        ("Postgres runs where? On Helios's host, is it?", {"helios"}),
        ("which port does the API use", {"api"}),
        ("Why did I move?", set()),
        ("", set()),
    ],
)
def test_names_are_capitalised_words_that_open_no_sentence(text, names):
    assert names_in(text) == names


@every(
    [
        ("Caroline", {"caroline"}, True),
        ("Caroline Smith", {"smith"}, True),
        ("user", {"user"}, True),
        ("Carol", {"caroline"}, False),
        (None, {"user"}, False),
        ("Ann", set(), False),
    ]
)
def test_whether_a_speaker_is_named(speaker, names, expected):
    assert is_named(speaker, frozenset(names)) is expected


@pytest.mark.parametrize(("speaker", "expected"), [("Ann", True), ("user", True), (None, True), ("assistant", False)])
def test_whose_turns_count_as_answers(speaker, expected):
    assert may_answer(speaker) is expected


# --- nothing known


@pytest.mark.behaviour("Q2")
def test_nothing_is_known_below_the_policys_chance_that_a_memory_answers():
    found = pool(candidate("m", 0.3, 1.0), coverage=0.3, most_words=2, unknown=0.3, compared=1000)
    chance = pool_chance(found)
    assert 0.0 < chance < 1.0
    assert why_nothing_known(found, replace(POLICY, answer_chance=chance)) == ""
    assert why_nothing_known(found, replace(POLICY, answer_chance=min(1.0, chance + 1e-6))) != ""


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"cosine": 0.4}, {"cosine": 0.3}),
        ({"coverage": 0.5}, {"coverage": 0.2}),
        ({"unknown": 0.1}, {"unknown": 0.8}),
        ({"unknown_names": 0.0}, {"unknown_names": 1.0}),
        ({"compared": 20}, {"compared": 20_000}),
    ],
)
def test_each_signal_moves_the_chance_that_a_memory_answers(better, worse):
    def chance(cosine=0.35, coverage=0.3, unknown=0.3, unknown_names=0.0, compared=500):
        return pool_chance(
            pool(
                candidate("m", cosine, 1.0),
                coverage=coverage,
                unknown=unknown,
                unknown_names=unknown_names,
                compared=compared,
            )
        )

    assert chance(**better) > chance(**worse)


def test_relevance_falls_with_the_rank_and_is_a_share_of_the_chance_that_a_memory_answers():
    found = pool(*(candidate(name, 0.7 - 0.1 * at, 3.0 - at) for at, name in enumerate("abc")), coverage=0.8)
    order = with_relevance(rank_candidates(found, query("dog"), POLICY, START), found)
    chances = [entry.relevance for entry in order]
    assert chances == sorted(chances, reverse=True)
    assert all(0.0 < chance < pool_chance(found) for chance in chances)
    unlikely = replace(found, compared=1_000_000_000, unknown_names=1.0)
    less = [
        entry.relevance for entry in with_relevance(rank_candidates(unlikely, query("dog"), POLICY, START), unlikely)
    ]
    share = pool_chance(unlikely) / pool_chance(found)
    assert share < 0.9
    assert less == pytest.approx([chance * share for chance in chances])


def test_without_vectors_the_words_alone_decide():
    def known(coverage, unknown):
        found = pool(candidate("m", None, 1.0), coverage=coverage, unknown=unknown, compared=100, vectors=False)
        return why_nothing_known(found, POLICY) == ""

    assert known(0.5, 0.3)
    assert not known(0.0, 1.0)


def test_without_candidates_nothing_is_known_and_the_reason_says_so():
    assert "no memory" in why_nothing_known(pool(), POLICY)


def test_the_reason_holds_the_numbers():
    found = pool(candidate("m", 0.21), coverage=0.1, most_words=1, unknown=0.9, unknown_names=1.0, compared=2000)
    why = why_nothing_known(found, POLICY)
    assert "0.21" in why
    assert "2,000" in why
    assert "10%" in why
    assert "100% of its names" in why


def test_the_best_candidate_decides_not_the_first():
    found = pool(candidate("a", 0.1), candidate("b", 0.9), candidate("c", None, 3.0))
    assert why_nothing_known(found, POLICY) == ""


# --- order


def order(*candidates, coverage=0.0, text="where are the keys", vectors=True) -> list[str]:
    found = pool(*candidates, coverage=coverage, vectors=vectors)
    return [r.id for r in rank_candidates(found, query(text), POLICY, START)]


def test_the_nearer_in_meaning_comes_first():
    assert order(candidate("far", 0.3), candidate("near", 0.8), candidate("mid", 0.5)) == ["near", "mid", "far"]


def test_the_better_in_words_comes_first():
    assert order(candidate("a", None, 1.0), candidate("b", None, 5.0), vectors=False) == ["b", "a"]


@pytest.mark.behaviour("Q8")
def test_words_weigh_more_where_a_memory_holds_the_rare_ones():
    """The lexical weight follows how much the query's words discriminate."""
    by_meaning, by_words = candidate("meaning", 0.8, 0.0), candidate("words", 0.35, 10.0)
    assert order(by_meaning, by_words, coverage=0.0) == ["meaning", "words"]
    assert order(by_meaning, by_words, coverage=1.0) == ["words", "meaning"]


@pytest.mark.behaviour("Q4")
def test_a_neighbour_turn_and_the_session_lend_their_score():
    best = candidate("best", 0.8, session="s", turn=4)
    beside = candidate("beside", 0.3, session="s", turn=5)
    apart = candidate("apart", 0.3, session="s", turn=40)
    alone = candidate("alone", 0.3)
    assert order(alone, apart, beside, best) == ["best", "beside", "apart", "alone"]


def test_turns_of_other_sessions_are_no_neighbours():
    found = rank_candidates(
        pool(candidate("a", 0.8, session="s", turn=4), candidate("b", 0.3, session="t", turn=5)), query(), POLICY, START
    )
    assert "neighbour" not in found[1].parts


def test_the_answer_to_a_question_gains_more_than_the_turn_before_it():
    asked = candidate("asked", 0.6, session="s", turn=4, asks=True, speaker="Ann")
    answer = candidate("answer", 0.3, session="s", turn=5, speaker="Bob")
    before = candidate("before", 0.3, session="s", turn=3, speaker="Bob")
    assert order(before, answer, asked) == ["asked", "answer", "before"]
    same = candidate("answer", 0.3, session="s", turn=5, speaker="Ann")  # who asks does not answer
    parts = {r.id: r.parts for r in rank_candidates(pool(before, same, asked), query(), POLICY, START)}
    assert parts["answer"]["neighbour"] == pytest.approx(parts["before"]["neighbour"])


@pytest.mark.behaviour("Q5")
def test_the_speaker_named_in_the_question_comes_first():
    ann, bob = candidate("ann", 0.5, speaker="Ann"), candidate("bob", 0.55, speaker="Bob")
    assert order(ann, bob, text="where are the keys") == ["bob", "ann"]
    assert order(ann, bob, text="what did Ann say") == ["ann", "bob"]


@pytest.mark.behaviour("Q16")
def test_a_question_between_two_people_answers_less_than_a_statement():
    asked, told = candidate("asked", 0.62, speaker="Ann", asks=True), candidate("told", 0.6, speaker="Bob")
    assert order(asked, told) == ["told", "asked"]
    by_role = [candidate("asked", 0.62, speaker="user", asks=True), candidate("told", 0.6, speaker="user")]
    assert order(*by_role) == ["asked", "told"]  # users tell and ask in one message


@pytest.mark.behaviour("Q3")
@ANY
@given(
    st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 30)), min_size=1, max_size=12),
    st.floats(0, 1),
)
def test_scores_are_the_sum_of_their_parts_in_falling_order(pairs, coverage):
    found = rank_candidates(
        pool(*(candidate(str(i), c, b) for i, (c, b) in enumerate(pairs)), coverage=coverage), query(), POLICY, START
    )
    assert sorted(r.id for r in found) == sorted(str(i) for i in range(len(pairs)))
    scores = [r.score for r in found]
    assert scores == sorted(scores, reverse=True)
    for entry in found:
        assert all(part >= 0 for part in entry.parts.values())
        assert entry.parts.get("semantic", 0) + entry.parts.get("keyword", 0) <= 1 + 1e-9


@ANY
@given(st.lists(st.tuples(st.floats(0.3, 1), st.floats(0, 30)), min_size=2, max_size=8))
def test_a_poor_candidate_more_does_not_change_the_scores_of_the_others(pairs):
    """Every normalisation uses the best candidate or a fixed anchor, never the worst or a mean."""
    some = [candidate(str(i), c, b) for i, (c, b) in enumerate(pairs)]
    before = {r.id: r.score for r in rank_candidates(pool(*some), query(), POLICY, START)}
    after = {r.id: r.score for r in rank_candidates(pool(*some, candidate("poor", 0.0, 0.0)), query(), POLICY, START)}
    assert all(after[i] == pytest.approx(score) for i, score in before.items())


def test_noise_is_not_blown_up():
    """The best cosine counts as at least the anchor: a best of 0.1 earns a third, not all."""
    dense, _ = fuse(np.array([0.1]), np.array([0.0]), 0.3, 0.3)
    assert dense[0] == pytest.approx(0.7 / 3)


def test_a_memory_without_a_vector_is_ranked_by_words():
    dense, words = fuse(np.array([np.nan, 0.5]), np.array([4.0, 2.0]), 0.3, 0.3)
    assert dense[0] == 0.0
    assert words[0] == 2 * words[1] == pytest.approx(0.3)


def test_rare_words_weigh_more_than_common_ones():
    weights = idf(np.array([0.0, 1.0, 10.0, 900.0]), 1000)
    assert list(weights) == sorted(weights, reverse=True)
    assert np.all(weights > 0)


# --- signals and twins


@pytest.mark.behaviour("Q6")
@ANY
@given(st.floats(0, 1), st.floats(0, 1))
def test_signals_add_a_small_bounded_part_and_never_take_away(importance, confidence):
    """The signals enter only as a small bounded term."""
    entry = rank_candidates(pool(candidate("m", 0.6)), query(), POLICY, START)[0]
    hit = with_signals(entry, memory("m", importance=importance, confidence=confidence), POLICY)
    assert entry.score <= hit.score + 1e-12
    assert hit.score <= entry.score + POLICY.signals + 1e-12
    assert hit.score == pytest.approx(sum(hit.parts.values()))


def hits(*texts: str) -> list[Hit]:
    return [Hit(memory(f"m{i}", text), 1.0 - i / 10, {}) for i, text in enumerate(texts)]


def names(found: list[Hit]) -> list[str]:
    return [h.memory.id for h in found]


@pytest.mark.behaviour("Q7")
def test_a_twin_goes_behind_the_others():
    vectors = {"m0": direction(1, 0), "m1": direction(1, 0.01), "m2": direction(0, 1)}
    assert names(diversify(hits("a", "b", "c"), vectors, 2, POLICY)) == ["m0", "m2"]
    assert names(diversify(hits("a", "b", "c"), vectors, 3, POLICY)) == ["m0", "m2", "m1"]


def test_likeness_below_the_threshold_is_no_twin():
    vectors = {"m0": direction(1, 0), "m1": direction(1, 0.3), "m2": direction(0, 1)}
    assert names(diversify(hits("a", "b", "c"), vectors, 3, POLICY)) == ["m0", "m1", "m2"]


def test_the_same_words_are_twins_also_without_vectors():
    assert names(diversify(hits("a", "a", "b"), {}, 3, POLICY)) == ["m0", "m2", "m1"]


def test_twins_fill_up_where_nothing_else_is_left():
    assert names(diversify(hits("a", "a", "a"), {}, 2, POLICY)) == ["m0", "m1"]


def test_no_more_than_the_limit_and_none_twice():
    found = names(diversify(hits(*"aabbccdd"), {}, 5, POLICY))
    assert len(found) == len(set(found)) == 5
    assert set(found[:4]) == {"m0", "m2", "m4", "m6"}

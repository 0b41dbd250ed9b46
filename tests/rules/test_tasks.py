"""What is related in a task, how its edges grow, what a session promotes: decisions alone."""

from __future__ import annotations

import pytest

from conftest import every
from perdure.records.errors import InvalidInput
from perdure.records.memory import Content, Document, Kind, Record, Scope, Shelf, Status
from perdure.records.policy import Policy
from perdure.rules.consolidation.duplicates import LikePair, components
from perdure.rules.consolidation.edges import MOST_WEIGHT, EdgeUse, join_edge
from perdure.rules.consolidation.tasks import open_in_task, promotable, propose_redundant, related_pairs
from rules.builders import START, state

NOW = START + 1000


def record(identity, text="words", *, session="s", task="t", **fixed):
    values = {"scope": Scope.TASK, **fixed}
    return Record("default", identity, state(**values), Content(text, session=session, task=task))


def member(edge, identity, **data):
    return Document(Shelf.EDGE, identity, edge, {"kind": "k", "weight": 1.0, "role": "", "counted": 0, **data})


@every(
    [
        ({"e": "ab"}, 0.5, [("a", "b")]),
        ({"e": "ab", "f": "a"}, 0.5, [("a", "b")]),  # one of two, inclusive
        ({"e": "ab", "f": "a", "g": "b"}, 0.5, []),  # one of three
        ({"e": "ab", "f": "ab", "g": "abc"}, 0.5, [("a", "b")]),
        ({"e": "a", "f": "b"}, 0.0, []),  # nothing in common
        ({"e": "abc"}, 1.0, [("a", "b"), ("a", "c"), ("b", "c")]),
    ]
)
def test_related_are_those_that_share_enough_of_their_edges(edges, least, expected):
    assert related_pairs(edges, least) == expected


def test_open_is_what_is_in_task_scope_and_seen():
    some = [
        record("a"),
        record("b", scope=Scope.SESSION),
        record("c", status=Status.ARCHIVED),
        record("d", session="other"),
    ]
    assert [r.id for r in open_in_task(some)] == ["a", "d"]
    assert [r.id for r in open_in_task(some, "s")] == ["a"]


@pytest.mark.behaviour("SPEC-03.03")
def test_the_most_likely_version_is_kept_also_where_it_is_most_likely_only_by_now():
    """A fact fades with the time since it was said."""
    old = record("a", "the port is 8080", kind=Kind.FACT, confidence=0.9, created_ms=START - 90 * 86_400_000)
    new = record("b", "The port is 8080.", kind=Kind.FACT, confidence=0.7)
    pairs = [LikePair("a", "b", 0.99, 1.0, 0.99)]
    (proposal,) = propose_redundant([old, new], pairs, Policy(), NOW)
    assert [(m.keeper, m.losers) for m in proposal.merges] == [("b", ("a",))]
    assert propose_redundant([old, new], [LikePair("a", "b", 0.8, 0.5, 0.7)], Policy(), NOW) == []


@pytest.mark.behaviour("SPEC-03.26")
def test_what_contradicts_is_not_redundant():
    some = [record("a", "the port is 8080"), record("b", "the port is 9090")]
    (proposal,) = propose_redundant(some, [LikePair("a", "b", 0.99, 0.9, 0.95)], Policy(), NOW)
    assert proposal.merges == ()
    assert proposal.refusals[0].reason == "number: 9090 is not 8080"


def test_groups_are_connected_ones_and_single_ones():
    assert components("abcde", [("a", "b"), ("c", "b"), ("d", "x")]) == [("a", "b", "c"), ("d",), ("e",)]


# --- edges


def test_edges_grow_by_what_is_new_since_they_last_grew():
    edges = EdgeUse([member("e", "a", counted=2), member("e", "b", counted=2), member("f", "c", counted=9)])
    assert edges.strengthen({"a": 3, "b": 4, "c": 5}, 0.1) == 1  # f has lost a member that was accessed
    told = {c.id: c.after["data"] for c in edges.changes()}
    assert told == {i: {"kind": "k", "role": "", "weight": pytest.approx(1.5), "counted": 7} for i in "ab"}
    assert all("5 accesses" in c.because for c in edges.changes())


def test_a_weight_grows_to_its_bound_and_is_never_lowered():
    edges = EdgeUse([member("e", "a", weight=9.9), member("f", "a", weight=12.0)])
    assert edges.strengthen({"a": 100}, 0.1) == 1
    assert {c.after["name"]: c.after["data"]["weight"] for c in edges.changes()} == {"e": MOST_WEIGHT, "f": 12.0}


def test_what_stands_for_others_joins_their_edges_and_brings_no_use_with_it():
    edges = EdgeUse([member("e", "a", role="cause"), member("e", "b"), member("f", "k"), member("f", "a")])
    edges.inherit("k", ["a"], 7)
    assert edges.members() == {"e": ["a", "b", "k"], "f": ["a", "k"]}
    assert edges.strengthen({"a": 0, "b": 0, "k": 7}, 1.0) == 1  # f, where k is of its own; e has gained no use
    told = {(c.after["name"], c.id): c.after["data"] for c in edges.changes()}
    assert told["e", "k"] == {"kind": "k", "weight": 1.0, "role": "cause", "counted": 7}
    assert told["f", "k"]["weight"] == 8.0


def test_an_edge_that_exists_keeps_its_kind_and_weight():
    there = [member("e", "a", weight=3.0), member("e", "b")]
    (change,) = join_edge("e", {"a": "", "c": "role"}, there, kind="other", weight=1.0)
    assert (change.id, change.before) == ("c", None)
    assert change.after["data"] == {"kind": "k", "weight": 3.0, "role": "role", "counted": 0}
    with pytest.raises(InvalidInput):
        join_edge("e", {"a": ""}, [], kind="k", weight=1.0)


# --- promotion


@pytest.mark.behaviour("SPEC-03.10")
@every(
    [
        ([4], [], [0], 4),  # a single node is promotable
        ([0, 0], [], [0, 1], 0),
        ([0, 1, 5], [], [2], 1),
        ([0, 0, 0, 1], [], [3], 0),
        ([0, 2, 2, 2], [], [1, 2, 3], 2),  # nothing is above the median
        ([0, 1], [], [1], 0.5),
        ([0, 1], [5, 5], [], 3),
    ]
)
def test_promoted_is_what_is_used_more_than_the_median_or_all_that_is_used_alike(counts, earlier, expected, middle):
    some = [record(str(i), scope=Scope.SESSION, access_count=n, level=1.0) for i, n in enumerate(counts)]
    before = [record(f"x{i}", scope=Scope.LONG_TERM, access_count=n) for i, n in enumerate(earlier)]
    chosen, found = promotable(some, before, 0.8, Policy(), NOW)
    assert (list(chosen), found) == ([str(i) for i in expected], middle)


@pytest.mark.behaviour("SPEC-03.09")
def test_promoted_is_what_is_likely_enough_the_bound_included():
    some = [record(str(i), scope=Scope.SESSION, confidence=c, level=1.0) for i, c in enumerate((0.79, 0.8, 0.81))]
    assert list(promotable(some, [], 0.8, Policy(), NOW)[0]) == ["1", "2"]
    assert promotable([], [], 0.8, Policy(), NOW) == ({}, 0.0)

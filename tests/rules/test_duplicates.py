"""Duplicates: which memories form groups, which of them may become one, and what that one is."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import every
from laws.memories import LAW
from perdure.formulas.pairs import similar_pairs
from perdure.records.memory import Content, Kind, Record, Scope, Status
from perdure.rules.consolidation.duplicates import (
    Label,
    LikePair,
    compare_found,
    compare_pairs,
    connected_groups,
    pair_label,
    pairs_by_group,
    split_complete,
    tokens,
    uncompared_pairs,
    weakest_label,
)
from perdure.rules.consolidation.merging import (
    MergeStrategy,
    merge_group,
    merge_obstacle,
    pairs_to_compare,
    propose_merges,
    representative,
)
from perdure.rules.meaning_guard import contradiction
from perdure.rules.policy_check import policy_from
from rules.builders import DAY, START, state

TABLE = policy_from({"preset": "importance-decay"}).consolidate
KEEPING = [MergeStrategy.KEEP_NEWEST, MergeStrategy.KEEP_OLDEST, MergeStrategy.KEEP_HIGHEST_IMPORTANCE]


def pair(a, b, combined=0.95, overlap=0.9):
    return LikePair(min(a, b), max(a, b), combined, overlap, combined)


def record(identity, text=None, *, tags=(), metadata=None, namespace="default", **fixed):
    where = {name: fixed.pop(name) for name in ("speaker", "session", "task") if name in fixed}
    return Record(
        namespace,
        identity,
        state(**fixed),
        Content(text or f"words of {identity}", tags, metadata=metadata or {}, **where),
    )


def all_pairs(members, combined=0.95):
    return [pair(a.id, b.id, combined) for a, b in combinations(members, 2)]


def nothing_lost(_keeper, _loser):
    return ""


def numbers_lost(keeper, loser):
    lost = {w for w in loser.split() if w.isdigit()} - set(keeper.split())
    return f"it would lose {sorted(lost)}" if lost else ""


def proposal(members, strategy=MergeStrategy.KEEP_OLDEST, guard=nothing_lost, pairs=None):
    return propose_merges(members, all_pairs(members) if pairs is None else pairs, 0.85, strategy, guard, TABLE)


# --- groups


@pytest.mark.behaviour("000-4.8-basic")
def test_find_duplicate_groups_basic():
    pairs = [pair("a", "b", 0.9), pair("c", "d", 0.85), pair("d", "e", 0.8499), pair("b", "c", 0.3)]
    assert connected_groups(pairs, 0.85) == [("a", "b"), ("c", "d")]


@pytest.mark.behaviour("000-4.8-union")
def test_union_find_correctness():
    chain = [pair("c", "d"), pair("a", "b"), pair("y", "z"), pair("b", "c")]
    assert connected_groups(chain, 0.85) == [("a", "b", "c", "d"), ("y", "z")]


def test_a_group_is_found_from_texts_and_vectors():
    texts = ["The deploy is on Friday.", "the DEPLOY is on friday", "Cats sleep a lot", "the deploy is on Monday"]
    vectors = np.array([[1, 0, 0], [0.99, 0.1, 0], [0, 1, 0], [0.98, 0.15, 0.1]], np.float32)
    ids = ["d", "c", "b", "a"]
    found = compare_found(ids, texts, similar_pairs(vectors, 0.5), least=0.75)
    assert [(p.a, p.b, round(p.overlap, 3), pair_label(p, TABLE)) for p in found] == [
        ("a", "c", 0.667, Label.REVIEW),
        ("a", "d", 0.667, Label.REVIEW),
        ("c", "d", 1.0, Label.MERGE),
    ]
    assert found[2].combined == pytest.approx(0.7 * 0.99 / np.hypot(0.99, 0.1) + 0.3)
    asked = compare_pairs([("d", "c"), ("a", "b")], ids, texts, vectors)
    assert asked[1].combined == pytest.approx(found[2].combined)
    assert (asked[0].a, asked[0].b, asked[0].overlap) == ("a", "b", 0.0)


def test_no_pairs_make_no_groups():
    found = compare_found(["a"], ["x"], similar_pairs(np.ones((1, 3), np.float32), 0.5), least=0.75)
    assert (found, connected_groups(found, 0.85)) == ([], [])
    assert compare_pairs([], [], [], np.ones((0, 3), np.float32)) == []


def test_signs_without_words_are_alike_only_when_they_are_the_same():
    assert tokens("Thumbs-up: v1.2!") == ["thumbs", "up", "v1", "2"]
    assert tokens(" \N{THUMBS UP SIGN} ") != tokens("\N{THUMBS DOWN SIGN}")


@every(
    [
        (0.90, 0.50, Label.MERGE),
        (0.99, 0.499, Label.REVIEW),
        (0.899, 1.0, Label.REVIEW),
        (0.80, 0.0, Label.REVIEW),
        (0.799, 1.0, Label.LINK),
        (0.75, 0.0, Label.LINK),
        (0.749, 1.0, Label.KEEP),
    ]
)
def test_the_seeds_table(combined, overlap, expected):
    assert pair_label(pair("a", "b", combined, overlap), TABLE) is expected


def test_a_group_is_labelled_by_its_weakest_pair():
    pairs = [pair("a", "b", 0.95), pair("b", "c", 0.78), pair("a", "c", 0.85)]
    assert weakest_label(pairs, TABLE) is Label.LINK
    assert weakest_label([], TABLE) is None


def test_a_pair_stands_in_order():
    with pytest.raises(ValueError, match="in order"):
        LikePair("b", "a", 1.0, 1.0, 1.0)


def test_what_nobody_has_compared_is_listed():
    assert list(uncompared_pairs(("c", "a", "b"), [pair("a", "c", 0.1)])) == [("a", "b"), ("b", "c")]


names = st.sampled_from("abcdefghij")
drawn = st.dictionaries(
    st.tuples(names, names).filter(lambda ab: ab[0] < ab[1]), st.sampled_from([0.5, 0.85, 0.9, 0.95, 1.0]), max_size=45
)


def reachable(edges):
    found = {x: {x} for edge in edges for x in edge}
    for _ in found:
        for a, b in edges:
            joined = found[a] | found[b]
            found.update(dict.fromkeys(joined, joined))
    return sorted({tuple(sorted(some)) for some in found.values()})


@given(drawn)
@LAW
def test_groups_are_the_connected_components(likeness):
    pairs = [pair(a, b, c) for (a, b), c in likeness.items()]
    assert connected_groups(pairs, 0.85) == reachable([ab for ab, c in likeness.items() if c >= 0.85])


@given(drawn)
@LAW
def test_complete_subgroups_really_are_complete(likeness):
    pairs = [pair(a, b, c) for (a, b), c in likeness.items()]
    groups = connected_groups(pairs, 0.85)
    for group, own in zip(groups, pairs_by_group(groups, pairs), strict=True):
        split = split_complete(group, own, 0.85)
        assert sorted([*split.left, *(x for some in split.complete for x in some)]) == sorted(group)
        assert all(likeness.get(ab, 0) >= 0.85 for some in split.complete for ab in combinations(some, 2))
        # No two parts that could be one are left apart.
        for one, other in combinations([*split.complete, *((x,) for x in split.left)], 2):
            assert any(likeness.get(ab, 0) < 0.85 for ab in combinations(sorted(one + other), 2))


@given(drawn, st.randoms(use_true_random=False))
@LAW
def test_the_order_of_pairs_does_not_matter(likeness, random):
    pairs = [pair(a, b, c) for (a, b), c in likeness.items()]
    shuffled = random.sample(pairs, len(pairs))
    assert connected_groups(shuffled, 0.85) == connected_groups(pairs, 0.85)
    assert split_complete("jihgfedcba", shuffled, 0.85) == split_complete("abcdefghij", pairs, 0.85)


def test_a_chain_is_not_merged_as_a_whole_and_the_most_similar_go_together():
    split = split_complete(("a", "b", "c"), [pair("a", "b", 0.86), pair("b", "c", 0.99), pair("a", "c", 0.7)], 0.85)
    assert (split.complete, split.left) == ((("b", "c"),), ("a",))


def test_pairs_of_other_groups_are_not_a_groups_own():
    pairs = [pair("a", "b"), pair("c", "d"), pair("b", "c", 0.1), pair("a", "x", 0.1)]
    assert pairs_by_group([("a", "b"), ("c", "d")], pairs) == [[pairs[0]], [pairs[1]]]


def test_668_copies_are_one_complete_group():
    ids = [f"m{n:03}" for n in range(668)]
    pairs = [pair(a, b, 1.0) for a, b in combinations(ids, 2)]
    assert split_complete(ids, pairs, 0.85).complete == (tuple(ids),)


# --- which one stays


THREE = [
    record("a", created_ms=START, importance=0.5),
    record("b", created_ms=START + DAY, importance=0.9),
    record("c", created_ms=START + 2 * DAY, importance=0.2),
]


@pytest.mark.behaviour("000-4.8-newest")
def test_strategy_keep_newest():
    assert representative(THREE, MergeStrategy.KEEP_NEWEST) == "c"


@pytest.mark.behaviour("000-4.8-oldest")
def test_strategy_keep_oldest():
    assert representative(THREE, MergeStrategy.KEEP_OLDEST) == "a"


@pytest.mark.behaviour("000-4.8-importance")
def test_strategy_keep_highest_importance():
    assert representative(THREE, MergeStrategy.KEEP_HIGHEST_IMPORTANCE) == "b"


@pytest.mark.behaviour("000-4.8-content")
def test_strategy_merge_content():
    members = [
        record("b", "Deploys run on Friday.", created_ms=START + DAY),
        record("a", "We deploy on Fridays.", created_ms=START),
        record("c", "deploys  run on friday.", created_ms=START + 2 * DAY),
    ]
    merge = merge_group(members, MergeStrategy.MERGE_CONTENT, all_pairs(members, 0.9), TABLE)
    assert merge.content == "We deploy on Fridays.\n\n---\n\nDeploys run on Friday."
    assert (merge.keeper, merge.losers) == (None, ("a", "b", "c"))


@pytest.mark.parametrize("strategy", MergeStrategy)
def test_ties_go_to_the_lower_id(strategy):
    members = [record("b"), record("a"), record("c")]
    assert representative(members, strategy) == "a"


@pytest.mark.parametrize("strategy", MergeStrategy)
def test_a_pinned_memory_stays(strategy):
    members = [*THREE, record("d", created_ms=START + DAY, importance=0.6, pinned=True)]
    assert representative(members, strategy) == "d"


# --- what is merged


@pytest.mark.behaviour("000-4.8-metadata")
def test_metadata_merging():
    members = [
        record("a", tags=("x", "y"), metadata={"who": "Ann", "n": 1, "consolidated_from": ["old2"]}, access_count=3),
        record("b", tags=("y", "z"), metadata={"who": "Ben", "m": 2, "consolidated_from": ["old1"]}, access_count=4),
        record("c", metadata={"m": 3}, created_ms=START - DAY, accessed_ms=START + DAY, importance=0.7),
    ]
    merge = merge_group(members, MergeStrategy.KEEP_NEWEST, all_pairs(members, 0.9), TABLE)
    assert merge.keeper == "a"
    assert merge.tags == ("x", "y", "z")
    assert merge.metadata == {"who": "Ann", "n": 1, "m": 2, "consolidated_from": ["old2", "old1", "c", "a", "b"]}
    assert (merge.access_count, merge.importance, merge.source) == (7, 0.7, "consolidated")
    assert (merge.created_ms, merge.accessed_ms) == (START - DAY, START + DAY)
    assert merge.similarity == pytest.approx(0.9)


@pytest.mark.parametrize("strategy", KEEPING)
def test_the_keepers_own_text_stays_and_the_others_tags_come(strategy):
    members = [record(r.id, f"text {r.id}", tags=(r.id,), **vars_of(r)) for r in THREE]
    merge = merge_group(members, strategy, all_pairs(members), TABLE)
    assert merge.content == f"text {merge.keeper}"
    assert merge.tags == ("a", "b", "c")
    assert merge.losers == tuple(sorted({"a", "b", "c"} - {merge.keeper}))


def vars_of(given):
    return {"created_ms": given.state.created_ms, "importance": given.state.importance}


@pytest.mark.parametrize("strategy", MergeStrategy)
def test_the_order_of_members_does_not_matter(strategy):
    members = [record(r.id, f"text {r.id}", metadata={"k": r.id}, **vars_of(r)) for r in THREE]
    pairs = all_pairs(members)
    assert merge_group(members[::-1], strategy, pairs, TABLE) == merge_group(members, strategy, pairs, TABLE)


def test_a_memory_merged_twice_keeps_its_whole_lineage():
    first = merge_group([record("a"), record("b")], MergeStrategy.KEEP_OLDEST, [], TABLE)
    again = merge_group([record("a", metadata=first.metadata), record("c")], MergeStrategy.KEEP_OLDEST, [], TABLE)
    assert again.metadata["consolidated_from"] == ["a", "b", "c"]


@pytest.mark.parametrize(("theirs", "kept"), [("x", ["x"]), (5, []), (None, []), (["x", 5, {}], ["x"]), ({"k": 1}, [])])
def test_what_a_user_wrote_in_the_place_of_the_lineage_does_no_harm(theirs, kept):
    members = [record("a", metadata={"consolidated_from": theirs}), record("b")]
    assert merge_group(members, MergeStrategy.KEEP_OLDEST, [], TABLE).metadata == {
        "consolidated_from": [*kept, "a", "b"]
    }


def test_never_accessed_stays_never_accessed():
    assert merge_group([record("a"), record("b")], MergeStrategy.KEEP_OLDEST, [], TABLE).accessed_ms is None


# --- what may be merged


@every(
    [
        ({"kind": Kind.FACT}, "one is a fact, the other a note"),
        ({"status": Status.ARCHIVED}, "one is archived"),
        ({"namespace": "team"}, "different namespaces"),
        ({"scope": Scope.SESSION}, "different scopes"),
        ({"speaker": "Ben"}, "different speakers"),
        ({"pinned": True}, "it is pinned"),
    ]
)
def test_what_keeps_two_memories_apart(other, reason):
    assert reason in merge_obstacle(record("a", speaker="Ann"), record("b", **{"speaker": "Ann", **other}))


@every([{}, {"speaker": None}, {"session": "s2"}, {"tags": ("x",)}, {"importance": 0.1}, {"created_ms": 5}])
def test_what_does_not(other):
    one = record("a", speaker="Ann", session="s1", pinned=True)
    assert merge_obstacle(one, record("b", **{"speaker": "Ann", "session": "s1", **other})) == ""


@pytest.mark.parametrize("scope", [Scope.TASK, Scope.SESSION])
def test_only_long_term_memories_are_merged_across_sessions(scope):
    one, other = (record(i, scope=scope, session=s, task="t") for i, s in (("a", "s1"), ("b", "s2")))
    assert merge_obstacle(one, other) == "they belong to different sessions"
    assert merge_obstacle(one, record("b", scope=scope, session="s1", task="t")) == ""


def test_tasks_of_one_session_stay_apart():
    one, other = (record(i, scope=Scope.TASK, session="s", task=t) for i, t in (("a", "t1"), ("b", "t2")))
    assert merge_obstacle(one, other) == "they belong to different tasks"


# --- a whole group


def test_a_group_of_duplicates_becomes_one():
    done = proposal(THREE)
    assert [(m.keeper, m.losers) for m in done.merges] == [("a", ("b", "c"))]
    assert (done.refusals, done.left) == ((), ())


def test_a_group_is_merged_only_where_every_pair_is_alike():
    done = proposal(THREE, pairs=[pair("a", "b"), pair("b", "c", 0.99)])
    assert [(m.keeper, m.losers) for m in done.merges] == [("b", ("c",))]
    assert done.left == ("a",)


def test_changed_facts_are_kept_apart_and_their_copies_are_still_merged():
    texts = {"a": "port 8080", "b": "port 9090", "c": "port 9090", "d": "port 7070"}
    done = proposal([record(i, t) for i, t in texts.items()], guard=numbers_lost)
    assert [(m.keeper, m.losers) for m in done.merges] == [("b", ("c",))]
    assert done.left == ("a", "d")
    assert [(r.a, r.b) for r in done.refusals] == [("a", "d")]
    assert "7070" in done.refusals[0].reason


def test_the_guard_is_not_asked_about_the_same_words():
    done = proposal([record("a", "Port  8080"), record("b", "port 8080")], guard=lambda *_: "lost")
    assert len(done.merges) == 1


def test_merged_content_loses_nothing_that_one_side_adds_but_joins_no_contradiction():
    says, adds = record("a", "It uses port 8080."), record("b", "It uses port 8080. Ann owns host 12.")
    assert len(proposal([says, adds], MergeStrategy.MERGE_CONTENT, contradiction).merges) == 1
    changed = record("c", "It uses port 9090.")
    assert proposal([says, changed], MergeStrategy.MERGE_CONTENT, contradiction).merges == ()
    (joined,) = proposal([adds, changed, says], MergeStrategy.MERGE_CONTENT, contradiction).merges
    assert joined.losers == ("a", "b")


def test_the_fuller_text_stands_for_the_shorter_whoever_is_chosen():
    short, long = record("a", "port 8080"), record("b", "port 8080 on host 12", created_ms=START + DAY)
    for strategy in MergeStrategy:
        if strategy is not MergeStrategy.MERGE_CONTENT:
            (merge,) = proposal([short, long], strategy, numbers_lost).merges
            assert (merge.keeper, merge.losers) == ("b", ("a",))


def test_a_pinned_memory_is_never_merged_away():
    members = [record("a"), record("b", pinned=True), record("c", pinned=True), record("d")]
    kept = proposal(members)
    assert [(m.keeper, m.losers) for m in kept.merges] == [("b", ("a", "d"))]
    assert [(r.b, r.reason) for r in kept.refusals] == [("c", "it is pinned")]
    joined = proposal(members, MergeStrategy.MERGE_CONTENT)
    assert [m.losers for m in joined.merges] == [("a", "d")]
    assert joined.left == ("b", "c")


def test_an_unknown_speaker_does_not_bring_two_speakers_together():
    members = [record("a"), record("b", speaker="Ann"), record("c", speaker="Ben")]
    done = proposal(members)
    assert [(m.keeper, m.losers) for m in done.merges] == [("a", ("b",))]
    assert [(r.b, r.reason) for r in done.refusals] == [("c", "different speakers said them")]


def test_sessions_are_merged_each_in_itself():
    members = [record(i, scope=Scope.SESSION, session=s) for i, s in zip("abcd", ["x", "y", "x", "y"], strict=True)]
    done = proposal(members)
    assert [(m.keeper, m.losers) for m in done.merges] == [("a", ("c",)), ("b", ("d",))]
    assert done.refusals == ()


# --- copies of one text


def test_668_copies_become_one_without_comparing_them_all():
    members = [record(f"m{n:03}", "We saw a fnord.") for n in range(667)] + [record("m667", "we saw a  FNORD.")]
    links = [pair("m000", r.id, 1.0) for r in members[1:]]
    assert pairs_to_compare(members, links) == []
    done = proposal(members, pairs=links)
    assert [(m.keeper, len(m.losers), m.similarity) for m in done.merges] == [("m000", 667, 1.0)]


def test_what_is_like_one_copy_is_compared_with_one_of_them_only():
    members = [record("a", "x"), record("b", "x"), record("c", "y"), record("d", "z"), record("e", "w", speaker="Ann")]
    members.append(record("f", "v", speaker="Ben"))
    known = [pair("a", "b", 1.0), pair("b", "c", 0.9)]
    asked = pairs_to_compare(members, known)
    assert asked == [("a", "d"), ("a", "e"), ("a", "f"), ("c", "d"), ("c", "e"), ("c", "f"), ("d", "e"), ("d", "f")]
    done = proposal(members, pairs=known)
    assert [(m.keeper, m.losers) for m in done.merges] == [("a", ("b", "c"))]
    assert done.left == ("d", "e", "f")


def test_of_two_likenesses_to_copies_the_lesser_counts():
    members = [record("a", "x"), record("b", "x"), record("c", "y")]
    done = proposal(members, pairs=[pair("a", "b", 1.0), pair("a", "c", 0.9), pair("b", "c", 0.8)])
    assert [(m.keeper, m.losers) for m in done.merges] == [("a", ("b",))]


@pytest.mark.parametrize("other", [{"speaker": "Ben"}, {"kind": Kind.FACT}, {"scope": Scope.SESSION}])
def test_the_same_words_are_no_copies_where_something_keeps_them_apart(other):
    members = [record("a", "x", speaker="Ann"), record("b", "x", **{"speaker": "Ann", **other})]
    assert proposal(members).merges == ()


@given(drawn)
@LAW
def test_every_pair_of_a_merge_is_alike(likeness):
    members = [record(x) for x in "abcdefghij"]
    pairs = [pair(a, b, c) for (a, b), c in likeness.items()]
    done = propose_merges(members, pairs, 0.85, MergeStrategy.KEEP_NEWEST, nothing_lost, TABLE)
    for merge in done.merges:
        assert all(likeness.get(ab, 0) >= 0.85 for ab in combinations(sorted([merge.keeper, *merge.losers]), 2))
    taken = [x for m in done.merges for x in (m.keeper, *m.losers)]
    assert sorted([*taken, *done.left]) == list("abcdefghij")

"""Consolidation through the public API: previews, merges, what is refused, and that undo brings everything back."""

from __future__ import annotations

import gzip
import json
import os
import sys
from pathlib import Path

import pytest

from conftest import HASHED, WORDS_ONLY, HashEmbedder, budget, logical, opened, tables, weekly
from perdure.records.errors import GateStopped, InvalidInput
from perdure.records.memory import Shelf

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "benchmarks"))

FREE = {**WORDS_ONLY, "consolidate": {**HASHED["consolidate"], "require_dry_run": False}}
PORT = "The build server listens on port 8080 in Lyon."
SAME = "The build server listens on port 8080 in Lyon"
OTHER = "The build server listens on port 9090 in Lyon."
KEEPING = ("keep_newest", "keep_oldest", "keep_highest_importance", "keep_highest_confidence")
STRATEGIES = (*KEEPING, "merge_content")


@pytest.fixture
def free(opening):
    """A store with vectors whose policy asks for no dry run."""
    return opening(FREE, HashEmbedder())


def told_twice(memory, clock):
    """Two memories that say the same and a third that has nothing to do with them."""
    first = memory.remember(PORT, tags=["ops", "old"], importance=0.4, confidence=0.9, metadata={"from": "wiki"})
    clock.passes(days=2)
    second = memory.remember(SAME, tags=["ops"], importance=0.6, metadata={"from": "chat", "by": "Ann"})
    third = memory.remember("lunch is at noon", importance=0.9)
    clock.passes(days=1)
    return first, second, third


def hidden(memory, identity):
    found = memory.get(identity)
    assert found is None
    return memory.get(identity, include_archived=True)


def reviews(raw_store, namespace="default"):
    return raw_store.documents.page(namespace, Shelf.REVIEW, ("", ""), 1000)


@pytest.mark.behaviour("GR1")
def test_consolidate_dry_run(meaning, clock, path):
    first, second, _ = told_twice(meaning, clock)
    before = tables(path)
    done = meaning.consolidate("default")
    assert tables(path) == before
    assert (done.dry_run, done.groups_found, done.memories_merged, done.memories_deleted) == (True, 1, 1, 0)
    (group,) = done.groups
    assert (group.representative_id, group.action_taken) == (second.id, "preview")
    assert set(group.member_ids) == {first.id, second.id}
    assert 0.85 <= group.avg_similarity < 1
    assert (done.examined, done.without_vector, done.exact, done.operations) == (3, 0, True, ())
    assert done.to_dict()["groups"][0]["member_ids"] == sorted([first.id, second.id])
    assert done.plans[0].hides == 1


@pytest.mark.behaviour("GR2", "GR24")
@pytest.mark.parametrize("strategy", KEEPING)
def test_consolidate_actual_merge(free, clock, strategy, raw_store):
    first, second, third = told_twice(free, clock)
    assert free.recall("build server port", limit=2).hits
    clock.passes(hours=1)
    done = free.consolidate("default", strategy=strategy, dry_run=False)
    keeper, loser = (first, second) if strategy in {"keep_oldest", "keep_highest_confidence"} else (second, first)
    assert [(g.representative_id, g.action_taken) for g in done.groups] == [(keeper.id, "merged")]
    assert (done.memories_merged, done.memories_deleted, done.plans) == (1, 0, ())
    kept = free.get(keeper.id)
    assert kept.content == keeper.memory.content
    assert set(kept.tags) == {"ops", "old"}
    assert kept.metadata == {
        "from": keeper.memory.metadata["from"],
        "by": "Ann",
        "consolidated_from": [first.id, second.id],
    }
    assert kept.access_count == 2
    assert kept.created_at == first.memory.created_at
    assert kept.state.accessed_ms is not None
    # The most important one was accessed (0.02), then boosted (0.1, diminished by what the access gave).
    assert kept.state.importance == pytest.approx(0.6 + 0.02 + 0.1 * 0.9**0.2)
    gone = hidden(free, loser.id)
    assert (gone.status, gone.content, gone.tags) == ("consolidated", loser.memory.content, loser.memory.tags)
    assert ("summarizes", loser.id) in {(kind, other) for kind, other, _ in raw_store.links("default", keeper.id)}
    assert free.get(third.id).importance == pytest.approx(third.memory.importance, abs=0.1)
    assert free.consolidate("default").groups_found == 0
    assert free.check() == []


@pytest.mark.behaviour("GR5")
def test_consolidate_merges_contents_into_a_new_memory(free, clock, raw_store):
    first, second, _ = told_twice(free, clock)
    free.recall("build server port", limit=2)
    done = free.consolidate("default", strategy="merge_content", dry_run=False)
    (group,) = done.groups
    assert group.representative_id not in {first.id, second.id}
    made = free.get(group.representative_id)
    assert made.content == f"{PORT}\n\n---\n\n{SAME}"
    assert (made.kind, made.source, made.scope, made.access_count) == ("note", "consolidated", "long_term", 2)
    assert made.created_at == first.memory.created_at
    assert {hidden(free, i).status for i in (first.id, second.id)} == {"consolidated"}
    assert raw_store.vectors("default", [made.id])
    assert 0 < made.state.uniqueness <= 1


@pytest.mark.behaviour("GR3")
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_consolidated_memory_searchable(free, clock, strategy):
    told_twice(free, clock)
    done = free.consolidate("default", strategy=strategy, dry_run=False)
    hits = free.recall("which port has the build server", limit=5, tags=["old"]).hits
    assert [h.memory.id for h in hits] == [done.groups[0].representative_id]
    early = free.recall("build server port", until=clock.now.replace(day=2), limit=5).hits
    assert [h.memory.id for h in early] == [done.groups[0].representative_id]  # it happened when the first was said


@pytest.mark.behaviour("GR4")
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_source_marked_consolidated(free, clock, strategy):
    first, second, third = told_twice(free, clock)
    done = free.consolidate("default", strategy=strategy, dry_run=False)
    kept = free.get(done.groups[0].representative_id)
    assert kept.source == "consolidated"
    assert kept.metadata["consolidated_from"] == [first.id, second.id]
    assert free.get(third.id).source is None
    assert free.history(kept.id)[-1].operation_id == done.operations[0]


@pytest.mark.behaviour("GR10")
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_undo_restores_the_store_row_for_row_and_its_undo_the_merge(free, clock, path, strategy):
    first, second, third = told_twice(free, clock)
    for word in ("mail gateway", "price cache"):
        for end in (" is in Oslo.", " is in Oslo"):
            free.remember(f"The {word}{end} under the name {word.upper()} since May", tags=[word])
    free.relate({first.id: "cause", third.id: "effect"})
    free.relate([second.id, third.id])
    free.recall("build server", limit=3)
    before = logical(path)
    (operation,) = free.consolidate("default", strategy=strategy, dry_run=False).operations
    after = logical(path)
    assert after["memory"] != before["memory"]
    assert after["link"] != before["link"]
    for _ in range(2):
        clock.passes(minutes=5)
        operation = free.undo(operation).operation
        assert logical(path) == before
        clock.passes(minutes=5)
        operation = free.undo(operation).operation
        assert logical(path) == after
    assert free.check() == []


@pytest.mark.behaviour("GR25")
def test_what_goes_leaves_its_edges_to_what_stands_for_it(free, clock):
    first, second, third = told_twice(free, clock)
    edge = free.relate({first.id: "cause", third.id: "effect"}, kind="because", weight=2.0).edge
    free.consolidate("default", dry_run=False)  # the second stays
    (found,) = free.edges(third.id)
    assert (found.id, found.kind, found.weight) == (edge, "because", 2.0)
    assert found.members == {second.id: "cause", third.id: "effect"}


# --- a preview comes first


@pytest.mark.behaviour("GR7")
def test_nothing_is_merged_that_nobody_has_seen(meaning, clock, path):
    told_twice(meaning, clock)
    before = tables(path)
    with pytest.raises(InvalidInput, match="no dry run"):
        meaning.consolidate("default", dry_run=False)
    meaning.consolidate("default")
    with pytest.raises(InvalidInput, match="no dry run"):  # of the same
        meaning.consolidate("default", 0.9, dry_run=False)
    assert tables(path) == before
    clock.passes(hours=3)
    assert meaning.consolidate("default", dry_run=False).memories_merged == 1


@pytest.mark.behaviour("GR8")
def test_a_preview_that_no_longer_holds_allows_nothing(meaning, clock, path):
    told_twice(meaning, clock)
    meaning.consolidate("default")
    meaning.remember("The build server listens on port 8080 in Lyon!")
    before = logical(path)
    with pytest.raises(InvalidInput, match="differ from the dry run"):
        meaning.consolidate("default", dry_run=False)
    assert logical(path) == before
    assert meaning.consolidate("default").memories_merged == 2
    assert meaning.consolidate("default", dry_run=False).memories_merged == 2


@pytest.mark.behaviour("GR9")
@pytest.mark.parametrize("strategy", ["keep_oldest", "merge_content"])
def test_the_plan_of_a_preview_can_be_applied(meaning, clock, path, strategy):
    first, second, _ = told_twice(meaning, clock)
    before = logical(path)
    (plan,) = meaning.consolidate("default", strategy=strategy).plans
    meaning.apply(plan)
    assert hidden(meaning, second.id).status == "consolidated"
    assert (meaning.get(first.id) is None) == (strategy == "merge_content")
    meaning.undo(plan.id)
    assert logical(path) == before


# --- what stays apart


@pytest.mark.behaviour("GR11")
@pytest.mark.parametrize(
    "other",
    [
        OTHER,
        "The build server listens on port 8080 in Oslo.",
        "The build server never listens on port 8080 in Lyon.",
        "The mail server listens on port 8080 in Lyon.",
    ],
)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_changed_fact_is_not_merged_but_put_before_a_person(free, path, other, strategy, raw_store):
    ids = sorted(m.id for m in (free.remember(PORT), free.remember(other)))
    done = free.consolidate("default", 0.7, strategy=strategy, dry_run=False)
    assert (done.groups_found, done.memories_merged) == (1, 0)
    assert done.groups[0].action_taken == "kept"
    assert set(done.left) == set(ids)
    assert {r.because for r in done.refusals} != {""}
    assert len(free.list()) == 2
    assert done.labels["merge"] == 0  # however alike: the label says what becomes of them
    assert {done.groups[0].label} == {pair.label for pair in done.pairs}
    if done.labels["review"]:
        (question,) = reviews(raw_store)
        assert (question.id, question.name) == (ids[0], f"duplicate:{ids[1]}")
        assert question.data["why"] == done.refusals[0].because
    before = logical(path)
    free.consolidate("default", 0.7, strategy=strategy, dry_run=False)  # and not asked again
    assert logical(path) == before


def test_a_question_about_near_duplicates_names_both_and_ends_with_the_other(free):
    first, second = (free.remember(text) for text in (PORT, PORT.replace("Lyon", "Oslo")))
    free.consolidate("default", 0.7, dry_run=False)
    (question,) = free.review()
    asked, other = (first, second) if question.id == first.id else (second, first)
    day = "1 January 2026"
    assert question.question == (
        f'On {day} I noted: "{asked.memory.content}"; on {day}: "{other.memory.content}".'
        " Is the first needed beside the other?"
    )
    free.archive(other.id, "test")
    assert free.review() == []  # it repeats nothing that is in view any longer
    free.restore(other.id)
    assert [q.id for q in free.review()] == [asked.id]


def test_what_a_person_keeps_beside_the_other_is_not_asked_about_again(free, path):
    first, second = (free.remember(text) for text in (PORT, PORT.replace("Lyon", "Oslo")))
    asked_about = free.consolidate("default", 0.7, dry_run=False)
    assert [pair.label for pair in asked_about.pairs] == ["review"]
    (question,) = free.review()
    before = logical(path)
    kept = free.settle(question.id, "keep")
    done = free.consolidate("default", 0.7, dry_run=False)
    assert ([pair.label for pair in done.pairs], done.groups[0].action_taken) == (["keep"], "kept")
    assert (free.review(), {m.id for m in free.list()}) == ([], {first.id, second.id})
    free.undo(kept.operation)
    assert logical(path) == before


@pytest.mark.behaviour("GR14")
def test_pairs_that_are_a_little_alike_are_linked_and_said(free, path):
    kept = free.remember("The build server listens on port 8080 in Lyon these days", importance=0.2)
    near = free.remember("The build server listens on port 9090 in Oslo these days", importance=0.2)
    before = logical(path)
    done = free.consolidate("default")
    assert (done.labels["link"], done.groups_found) == (1, 0)
    assert [(p.a, p.b, p.label) for p in done.pairs] == [(*sorted([kept.id, near.id]), "link")]
    assert logical(path) == before
    for _ in range(2):
        free.consolidate("default", dry_run=False)
    links = [link for link in logical(path)["link"] if "similar" in link]
    assert len(links) == 1
    assert free.list() != []


@pytest.mark.behaviour("GR26")
def test_sessions_tasks_and_pinned_memories_stay_apart(free, raw_store):
    free.remember(PORT, session="a")
    free.remember(SAME, session="b")
    free.remember("The price cache is empty in Porto on Mondays.", pinned=True)
    free.remember("The price cache is empty in Porto on Mondays", pinned=True)
    done = free.consolidate("default", dry_run=False)
    assert (done.groups_found, done.memories_merged) == (2, 0)
    assert {r.because for r in done.refusals} == {"they belong to different sessions", "it is pinned"}
    assert {pair.label for pair in done.pairs} == {"keep"}
    assert reviews(raw_store) == []  # nobody needs to be asked


def test_a_label_says_what_becomes_of_a_pair_and_of_groups_left_for_later_how_alike_they_are(free):
    stays, goes, apart = (
        free.remember(text, session=session).id for text, session in ((PORT, "a"), (SAME, "a"), (f"{SAME}!", "b"))
    )
    for text in (
        "The price cache is empty in Porto on Mondays.",
        "The price cache of shops is empty in Porto on Mondays.",
    ):
        free.remember(text, pinned=True)
    one, more = (free.consolidate("default", 0.7, max_groups=most) for most in (1, 50))
    labels = {frozenset((pair.a, pair.b)): pair.label for pair in one.pairs}
    assert one.left == (apart,)
    assert labels[frozenset((stays, apart))] == "keep"
    assert labels[frozenset((goes, apart))] == "keep"  # one of them goes, but not into the other
    assert (one.labels["review"], one.labels["keep"]) == (1, 2)  # the pinned ones: nothing was decided about them
    assert (more.labels["review"], more.labels["keep"]) == (0, 3)


@pytest.mark.behaviour("GR15")
def test_only_members_of_which_every_pair_is_alike_are_merged(free):
    words = [f"w{i}" for i in range(24)]
    chain = [" ".join(words[i : i + 20]) for i in range(0, 5, 2)]
    ids = [free.remember(text).id for text in chain]
    done = free.consolidate("default", 0.8, dry_run=False)
    assert done.groups_found == 1
    assert done.memories_merged == 0
    assert sorted(done.left) == sorted(ids)


# --- how much at once


@pytest.mark.behaviour("GR16")
def test_the_most_similar_groups_come_first_and_the_others_are_counted(free):
    for n, word in enumerate(["Lyon", "Oslo", "Porto", "Quito"]):
        text = f"The invoice queue of {word} number {n} is emptied at night by the robot in {word}"
        free.remember(text)
        free.remember(f"{text}{'.' if n % 2 else ' .'}")
    every = free.consolidate("default")
    first = free.consolidate("default", max_groups=3, dry_run=False)
    assert (every.groups_found, first.groups_found, len(first.groups)) == (4, 4, 3)
    assert any(note.startswith("1 more group") for note in first.notes)
    scores = sorted((g.avg_similarity for g in every.groups), reverse=True)
    assert [g.avg_similarity for g in first.groups] == scores[:3]
    second = free.consolidate("default", max_groups=3, dry_run=False)
    assert (second.groups_found, second.memories_merged) == (1, 1)


def test_groups_of_which_nothing_may_be_merged_do_not_stand_in_the_way(free):
    words = "the robot of the small town empties the invoice queue in the cellar of the bank every single night at ten"
    for n in range(3):
        free.remember(f"{words} {n}")  # as like each other as can be, and never the same
    free.remember("The price cache is empty")
    free.remember("The price cache is empty.")
    done = free.consolidate("default", 0.8, dry_run=False, max_groups=1)
    assert [g.action_taken for g in done.groups] == ["kept", "merged"]
    assert (done.groups_found, done.memories_merged) == (2, 1)
    assert [note.rpartition(" ")[2] for note in done.notes] == ["3"]  # pairs that a person is asked about


@pytest.mark.behaviour("GR17")
def test_pairs_that_were_recorded_at_birth_need_no_search(free):
    near = [
        free.remember(f"the robot empties the invoice queue in Lyon every single night at ten{e}") for e in (" .", ".")
    ]
    far = [free.remember(f"{w} price cache of Porto is full") for w in ("The small", "The new")]
    assert [link[0] for link in free.why(near[1].id).links] == ["near_duplicate"]
    assert free.consolidate("default", 0.7).groups_found == 2
    done = free.consolidate("default", 0.7, pairs="recorded", dry_run=False)
    assert (done.examined, done.groups_found, done.memories_merged, done.exact) == (2, 1, 1, False)
    assert all(free.get(m.id) for m in far)
    again = free.consolidate("default", 0.7, pairs="recorded", dry_run=False)
    assert (again.examined, again.groups_found) == (1, 0)  # one of the two is hidden by now


@pytest.mark.behaviour("GR18")
def test_memories_without_vectors_are_compared_by_equal_words(opening):
    memory = opening(FREE, HashEmbedder())
    memory.remember_many([{"content": PORT, "kind": "episode"}, "something else entirely"])
    memory.remember_many(
        [{"content": PORT.upper(), "kind": "episode"}, {"content": OTHER, "kind": "episode"}], embed="later"
    )
    done = memory.consolidate("default", 0.7, dry_run=False)
    assert (done.examined, done.without_vector, done.groups_found, done.memories_merged) == (4, 2, 1, 1)
    assert any("no vector" in note for note in done.notes)


def test_a_store_of_words_alone_merges_equal_words(opening):
    memory = opening(FREE)
    memory.remember_many([{"content": PORT, "kind": "episode"}, {"content": PORT, "kind": "episode"}, OTHER])
    assert memory.consolidate("default", dry_run=False).memories_merged == 1


def test_an_empty_namespace_has_no_groups(free):
    done = free.consolidate("nowhere", dry_run=False)
    assert (done.groups_found, done.examined, done.operations) == (0, 0, ())


# --- safety


@pytest.mark.behaviour("GR20")
def test_what_another_process_changes_meanwhile_is_read_again(opening, clock, monkeypatch, raw_store):
    memory, other = opening(FREE, HashEmbedder()), opening(FREE, HashEmbedder())
    first, second, _ = told_twice(memory, clock)
    store, right = type(raw_store), type(raw_store).apply

    def apply(self, plan, **more):
        monkeypatch.undo()
        other.pin(first.id)
        return right(self, plan, **more)

    monkeypatch.setattr(store, "apply", apply)
    done = memory.consolidate("default", dry_run=False)
    assert done.groups[0].representative_id == first.id  # pinned by now, so it is the one that stays
    assert hidden(memory, second.id).status == "consolidated"


@pytest.mark.behaviour("GR19")
def test_a_merge_that_fails_leaves_its_originals(free, clock, path, monkeypatch, raw_store):
    told_twice(free, clock)
    before = tables(path)
    real = type(raw_store).apply

    def apply(self, plan, **more):
        def check(_):
            raise GateStopped("no")

        real(self, plan, **{**more, "check": check})

    monkeypatch.setattr(type(raw_store), "apply", apply)
    with pytest.raises(GateStopped):
        free.consolidate("default", dry_run=False)
    assert tables(path) == before


@pytest.mark.behaviour("GR21")
def test_the_loss_budget_holds_and_a_person_may_accept_the_loss(opening, path):
    memory = opening({**FREE, "gates": {"loss_free_count": 0}}, HashEmbedder())
    for word in ("Lyon", "Oslo", "Porto"):
        memory.remember(f"The build server of {word} listens on port 8080 there.")
        memory.remember(f"The build server of {word} listens on port 8080 there")
    before = logical(path)
    with pytest.raises(GateStopped):
        memory.consolidate("default", 0.9, dry_run=False)
    assert logical(path) == before
    assert memory.consolidate("default", 0.9, dry_run=False, accept_loss="they are the same").memories_merged == 3


@pytest.mark.behaviour("GR6")
@pytest.mark.parametrize(
    "bad",
    [
        {"namespace": ""},
        {"similarity_threshold": 0.69},
        {"similarity_threshold": float("nan")},
        {"similarity_threshold": True},
        {"strategy": "keep_best"},
        {"dry_run": "no"},
        {"max_groups": 0},
        {"max_groups": 101},
        {"pairs": "some"},
        {"accept_loss": ""},
    ],
)
def test_bad_arguments_are_refused(free, bad):
    with pytest.raises(InvalidInput):
        free.consolidate(**{"namespace": "default", **bad})


# --- on real sentences


def data_file(name):
    for folder in (os.environ.get("PERDURE_DATA"), ROOT.parent / "shared" / "data", ROOT / "data"):
        if folder and (Path(folder) / name).is_file():
            return Path(folder) / name
    pytest.skip(f"{name} is not here: set PERDURE_DATA to the folder that holds it")


@weekly
@pytest.mark.behaviour("GR12")
@pytest.mark.parametrize("strategy", ["keep_newest", "merge_content"])
def test_no_contradiction_of_sick_is_merged(tmp_path, strategy):
    """All contradictions in one store; sentences of different pairs may well say the same, those of one never do."""
    with gzip.open(data_file("SICK_train.txt.gz"), "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file][1:]
    pairs = [(r[1], r[2]) for r in rows if r[4] == "CONTRADICTION"]
    policy = {**FREE, "gates": {"loss_free_count": 1_000_000}}
    with opened(tmp_path / "sick.db", policy, embedder=HashEmbedder()) as memory:
        kept = memory.remember_many([text for pair in pairs for text in pair])
        merged = {}
        while True:
            done = memory.consolidate("default", 0.7, strategy, dry_run=False, max_groups=100)
            for group in done.groups:
                if group.action_taken == "merged":
                    merged |= dict.fromkeys(group.member_ids, group.representative_id)
            if not done.memories_merged:
                break

        def stands_for(identity):
            while merged.get(identity, identity) != identity:
                identity = merged[identity]
            return identity

        ends = [stands_for(outcome.id) for outcome in kept]
        together = [pair for pair, one, other in zip(pairs, ends[::2], ends[1::2], strict=True) if one == other]
    assert len(pairs) >= 600
    assert together == []


@pytest.mark.behaviour("GR13")
def test_planted_near_duplicates_are_merged_and_changed_ones_are_not(tmp_path):
    from duplicates import texts

    triples = list(texts())[: budget(120, 300)]
    policy = {**FREE, "gates": {"loss_free_count": 1_000_000}}
    with opened(tmp_path / "planted.db", policy, embedder=HashEmbedder(256)) as memory:
        memory.remember_many([t.text for t in triples])
        memory.remember_many([t.other for t in triples])
        apart = {m.content for m in memory.list(limit=1000)}
        rounds = 0
        while memory.consolidate("default", 0.7, dry_run=False, max_groups=100).memories_merged and rounds < 20:
            rounds += 1
        assert {m.content for m in memory.list(limit=1000)} == apart


@pytest.mark.parametrize(("name", "least"), [("first", 0.6), ("topics_open", 0.4), ("near_misses", 0.0)])
def test_notes_that_say_the_same_are_merged_and_those_that_differ_are_not(opening, name, least):
    """Labelled notes, each pair alone in its namespace, with the built-in embedder; not all pairs are candidates."""
    lines = (ROOT / "training" / "pairs" / f"{name}.jsonl").read_text("utf-8").splitlines()
    pairs = [json.loads(line) for line in lines[:: budget(3, 1)]]
    merged = {"same": 0, "other": 0}
    memory = opening({"embedder": {"model": "local"}, "consolidate": {"require_dry_run": False}})
    for number, pair in enumerate(pairs):
        memory.remember_many([pair["one"], pair["other"]], namespace=f"pair-{number}")
        done = memory.consolidate(f"pair-{number}", dry_run=False)
        merged["same" if pair["label"] == "same" else "other"] += done.memories_merged
    assert merged["same"] >= least * sum(pair["label"] == "same" for pair in pairs)
    assert merged["other"] == 0


CHANGED = (
    ("The gate is locked at night.", "The gate must be locked at night."),
    ("The pool is open to guests.", "The pool used to be open to guests."),
    ("The talk is at 4 pm on Monday.", "The talk is by 4 pm on Monday."),
    ("The siren is tested by the night nurse.", "The siren is tested for the night nurse."),
)


@pytest.mark.parametrize(("one", "other"), CHANGED)
def test_another_time_modal_or_preposition_is_neither_merged_nor_a_repetition(free, one, other):
    for strategy in (*KEEPING, "merge_content"):
        free.remember_many([one, other], namespace=strategy)
        assert free.consolidate(strategy, 0.7, strategy, dry_run=False).memories_merged == 0
    pair = [free.remember(text, session="talk", task="task").id for text in (one, other)]
    free.relate(pair)
    free.end_session("talk")
    assert {m.content for m in free.list()} >= {one, other}
    for text in (one, other):
        free.extract(f"Remember that {text}", namespace="said")
    assert len(free.list(namespace="said")) == 2


def test_a_pair_of_which_one_goes_into_a_third_is_not_called_merged(free):
    texts = (
        "The courier comes at nine on weekdays.",
        "On weekdays the courier comes at nine.",
        "The courier comes at ten on weekdays.",
    )
    for text in texts:
        free.remember(text)
    for done in (free.consolidate("default", 0.7), free.consolidate("default", 0.7, dry_run=False)):
        (group,) = [g for g in done.groups if g.action_taken in {"preview", "merged"}]
        merged = [frozenset((p.a, p.b)) for p in done.pairs if p.label == "merge"]
        assert (merged, done.labels["merge"]) == ([frozenset(group.member_ids)], 1)
    assert sorted(m.content for m in free.list()) == sorted((texts[0], texts[2]))


@pytest.mark.parametrize("strategy", KEEPING)
def test_of_two_that_the_strategy_ranks_alike_the_longer_stays(free, clock, strategy):
    texts = ("Nightly backups of the orders are kept in Oslo.", "Nightly backups of the orders are stored in Oslo.")
    at = clock()
    for text in texts:
        free.remember(text, at=at)
    assert free.consolidate("default", 0.7, strategy, dry_run=False).memories_merged == 1
    assert [m.content for m in free.list()] == [texts[1]]


def test_merging_contents_loses_no_word_and_refuses_contradictions_alone(free):
    first = free.remember("Ann leads the platform team in Lyon and Porto since May.")
    second = free.remember("Ann leads the platform team in Lyon and Porto since May, from her office at home.")
    free.remember("Ben leads the platform team in Oslo and Turin since June.")
    free.remember("Ben leads the platform team in Oslo and Turin since July.")
    done = free.consolidate("default", 0.7, "merge_content", dry_run=False)
    (group,) = [g for g in done.groups if g.action_taken == "merged"]
    text = free.get(group.representative_id).content
    assert first.id in group.member_ids
    assert second.id in group.member_ids
    assert "since May.\n" in text
    assert "from her office at home." in text

"""What a process finds follows the store, whoever wrote to it; on a file its search index must."""

from __future__ import annotations

import subprocess
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from conftest import (
    WORDS_ONLY,
    Clock,
    HashEmbedder,
    budget,
    finished,
    on_a_file,
    on_two_servers_too,
    opened,
    weekly,
    weekly_on_a_server,
)
from perdure.compose import store_at
from perdure.records.errors import ConflictError, InvalidInput
from perdure.stores.sqlite import index, writing
from starts import forked_python

WORDS = ["tea", "rain", "deploy", "tuesday", "alice", "bob", "river", "stone"]
QUERIES = ["tea rain", "alice deploy tuesday", "stone"]


def everything(memory, **wanted):
    """What all sessions see together."""
    return list({m.id: m for word in WORDS for m in memory.list(limit=1000, inside=word, **wanted)}.values())


class Following(RuleBasedStateMachine):
    @initialize()
    def begin(self):
        self.place = self.make_place()
        self.clock = Clock()
        self.middle = self.clock() + timedelta(days=20)
        self.both = [self.fresh(), self.fresh()]
        self.number = 0

    def fresh(self):
        return opened(self.place, {"recall": {"cells_above": 1000}}, self.clock, HashEmbedder())

    @rule(who=st.integers(0, 1), words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), later=st.booleans())
    def remember(self, who, words, later):
        self.number += 1
        self.clock.passes(seconds=1)
        text = f"{' '.join(words)} n{self.number}"
        self.both[who].remember_many(
            [{"content": text, "tags": words[:1], **({"session": words[0]} if self.number % 3 else {})}],
            embed="later" if later else "now",
        )

    @rule(who=st.integers(0, 1), word=st.sampled_from(WORDS), asks=st.booleans())
    def say(self, who, word, asks):
        self.number += 1
        self.clock.passes(seconds=1)
        said = {"content": f"{word} turn{self.number}{'?' * asks}", "role": ("user", "assistant")[self.number % 2]}
        self.both[who].ingest([said], session="talk")

    @rule(who=st.integers(0, 1))
    def reembed(self, who):
        self.clock.passes(seconds=1)
        self.both[who].reembed()

    @rule(who=st.integers(0, 1), which=st.integers(0, 30))
    def archive_or_restore(self, who, which):
        self.clock.passes(seconds=1)
        found = everything(self.both[who], include_archived=True)
        if not found:
            return
        chosen = found[which % len(found)]
        if chosen.status == "active":
            self.both[who].archive(chosen.id, "test")
        else:
            self.both[who].restore(chosen.id)

    @rule(who=st.integers(0, 1), which=st.integers(0, 5))
    def undo(self, who, which):
        self.clock.passes(seconds=1)
        operations = self.both[who].history(limit=6)
        if not operations:
            return
        try:
            self.both[who].undo(operations[which % len(operations)].id)
        except (ConflictError, InvalidInput):  # changed or taken back since: refused, as it must be
            return

    @rule(days=st.integers(1, 40))
    def sweep(self, days):
        self.clock.passes(days=days)
        self.both[days % 2].sweep()

    @invariant()
    def all_see_the_same(self):
        new = self.fresh()
        try:
            expected = self.seen(new)
            for memory in self.both:
                assert self.seen(memory) == expected
            assert new.check() == []
        finally:
            new.close()

    def seen(self, memory):
        store, embedder = memory._context.store, memory._context.embedder
        answers = []
        for query in QUERIES:
            narrow = ({"tags": ["tea"]}, {"include_archived": True, "inside": "tea"}, {"session": "rain"})
            past = ({"known_at": min(self.middle, self.clock())}, {"as_of": min(self.middle, self.clock())})
            for filters in ({}, {"inside": "deploy"}, *narrow, *past):
                hits = memory.recall(query, limit=50, touch=False, **filters).hits
                answers.append(sorted((h.memory.id, round(h.score, 6)) for h in hits))
            vector = embedder.embed([query], purpose="query")[0]
            near = store.nearest("default", [vector], 100)[0] if store.space() else []
            answers.append(sorted((i, round(c, 5)) for i, c, _ in near))
            assert {i for i, *_ in near} <= {m.id for m in everything(memory)}
        return answers

    def teardown(self):
        if hasattr(self, "both"):
            for memory in self.both:
                memory.close()


@weekly_on_a_server
def test_what_one_process_finds_is_what_a_new_one_would_find(store, elsewhere, rooms):
    make = elsewhere if store == "sqlite" else rooms
    run_state_machine_as_test(
        type("FollowingHere", (Following,), {"make_place": staticmethod(make)}),
        settings=settings(
            max_examples=budget(3, 24)
            if store == "sqlite"
            else budget(1, 3),  # a server's processes have no index to lag behind
            stateful_step_count=14,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )


@on_a_file
def test_the_turn_beside_a_hit_is_found_as_soon_as_another_process_has_stored_or_taken_it_back(elsewhere):
    place, clock = elsewhere(), Clock()
    policy = {"recall": {"hit_share": 0, "candidates": 20, "rescored": 40}}
    here, there = (opened(place, policy, clock, HashEmbedder()) for _ in range(2))

    def say(memory, text):
        clock.passes(seconds=1)
        memory.ingest([{"role": "user", "content": text}], session="talk")

    def found(memory):
        hits = memory.recall("deploy tuesday", limit=20, touch=False).hits
        return [h.memory.content for h in hits if h.memory.session == "talk"]

    here.remember_many([f"deploy rain n{i}" for i in range(60)])  # so that the searches alone bring up no neighbour
    say(here, "deploy tuesday")
    assert found(there) == ["deploy tuesday"]
    say(here, "alice")
    assert found(there) == ["deploy tuesday", "alice"]
    here.undo("last")
    assert found(there) == ["deploy tuesday"]
    say(here, "bob")
    assert found(there) == ["deploy tuesday", "bob"]
    here.archive(next(m.id for m in here.list() if m.content == "bob"), "test")
    assert found(there) == ["deploy tuesday"]
    here.close()
    there.close()


@on_a_file
def test_a_vector_that_another_process_took_back_is_compared_no_more(elsewhere):
    place, clock = elsewhere(), Clock()
    here, there = (opened(place, {}, clock, HashEmbedder()) for _ in range(2))
    here.remember_many(["tea with alice", "rain and river"])
    here.remember_many(["alice likes tea"], embed="later")
    here.upkeep("worker")

    def cosines(memory):
        hits = memory.recall("tea alice", touch=False).hits
        return {h.memory.content: h.cosine is not None for h in hits}

    assert cosines(there) == {"tea with alice": True, "alice likes tea": True}
    here.undo("last")
    assert cosines(there) == {"tea with alice": True, "alice likes tea": False}
    here.reembed()
    assert cosines(there) == {"tea with alice": True, "alice likes tea": True}
    here.close()
    there.close()


@on_two_servers_too
def test_a_store_whose_space_is_known_and_has_no_vector_is_searched_by_words(opening):
    memory = opening(embedder=HashEmbedder())
    memory.reembed()
    memory.remember_many([{"content": "tea with alice"}], embed="later")
    known = {"known_at": memory.list()[0].recorded_at}
    for filters in ({}, {"include_archived": True}, {"kinds": ["note", "fact"]}, known):
        assert [h.memory.content for h in memory.recall("tea", touch=False, **filters).hits] == ["tea with alice"]


MANY = 4275
SEGMENT = 1500
"""Vectors of a segment here: what holds of two of these, and of some that none holds yet, holds of those of 4,096."""


@pytest.fixture(scope="module")
def many():
    """Texts in 95 groups: neighbours are alike, but no two are the same."""
    random = np.random.default_rng(0)
    return [f"group{i % 95} group{i % 95} shared{i % 19} own{i} {random.integers(10**9)}" for i in range(MANY)]


def nearest(memory, texts, limit=10):
    store, embedder = memory._context.store, memory._context.embedder
    vectors = embedder.embed(texts, purpose="query")
    return [[i for i, *_ in near] for near in store.nearest("default", vectors, limit)]


def by_hand(path, sql):
    import apsw  # only here is a file read and damaged by hand

    file = apsw.Connection(str(path))
    rows = file.execute(sql).fetchall()
    file.close()
    return rows


def packed(path):
    return by_hand(path, "SELECT length(rows) / 8, cells IS NOT NULL FROM segment ORDER BY number")


def cells_of(path):
    """Return in how many cells the vectors of each segment are."""
    return [len({*np.frombuffer(c, "<u2")}) for (c,) in by_hand(path, "SELECT cells FROM segment ORDER BY number")]


@pytest.fixture
def small_segments(monkeypatch):
    for module in (index, writing):
        monkeypatch.setattr(module, "SEGMENT", SEGMENT)


@on_a_file
@pytest.mark.usefixtures("small_segments")
def test_segments_and_cells_change_nothing_but_the_time_it_takes(path, many):
    policy = {"recall": {"cells_above": 1000}}
    clock, embedder = Clock(), HashEmbedder()
    memory = opened(path, policy, clock, embedder)
    for start in range(0, MANY, 950):
        clock.passes(minutes=1)
        memory.remember_many(many[start : start + 950], embed="later")
    memory.reembed()
    assert len(packed(path)) >= 2
    assert all(count >= SEGMENT for count, _ in packed(path))
    by_words = {m.content: m.id for m in all_of(memory)}
    asked = many[::190]
    grown = nearest(memory, asked)
    assert [found[0] for found in grown] == [by_words[text] for text in asked]

    reopened = opened(path, policy, clock, embedder)
    assert nearest(reopened, asked) == grown

    # Changes to memories that a segment holds are seen by the old process and by a new one.
    hidden, undone = (
        by_words[asked[0]],
        next(o for o in reversed(reopened.history(limit=100)) if o.operation == "remember"),
    )
    reopened.archive(hidden, "test")
    with store_at(path) as store:
        first_batch = {e.id for e in store.changes("default", undone.id)} - {hidden}
    gone = next(text for text in asked[1:] if by_words[text] in first_batch)
    changed = nearest(memory, asked)
    assert hidden not in {i for found in changed for i in found}
    reopened.restore(hidden)
    operation = reopened.history(limit=100)
    reopened.undo(next(o.id for o in operation if o.operation == "restore"))
    reopened.undo(next(o.id for o in operation if o.operation == "archive"))
    reopened.undo(undone.id)
    taken_back = nearest(memory, asked)
    assert by_words[gone] not in {i for found in taken_back for i in found}
    third = opened(path, policy, clock, embedder)
    assert nearest(third, asked) == taken_back

    # Cells: the same answers, or nearly.
    made = third.optimize()
    assert made["cells"] >= 16
    assert all(cells for _, cells in packed(path))
    clock.passes(minutes=1)
    late = third.remember("group3 group3 shared3 late arrival")
    for cells in (third, opened(path, policy, clock, embedder)):
        near = nearest(cells, [*asked, late.memory.content])
        assert near[-1][0] == late.id
        share = np.mean([len(set(a) & set(b)) / len(b) for a, b in zip(near[:-1], taken_back, strict=True)])
        assert share >= 0.97
        session = cells.recall("group3 shared3", limit=3, since=late.memory.created_at, touch=False)
        assert [h.memory.id for h in session.hits] == [late.id]  # narrower than the cells
        cells.close()
    memory.close()
    reopened.close()
    found = opened(path, policy, clock, embedder)
    assert found.check() == []
    word = found.erase([late.id], reason="test").confirm
    found.erase([late.id], reason="test", confirm=word, dry_run=False)
    assert packed(path) == []  # codes of vectors are as telling as vectors
    found.close()


def all_of(memory):
    page, found = memory.list(limit=1000), []
    while page:
        found += page
        page = memory.list(limit=1000, before=page[-1].id)
    return found


@on_two_servers_too
def test_a_store_below_one_segment_can_be_optimized(opening):
    memory = opening({"recall": {"cells_above": 1000}}, HashEmbedder())
    memory.remember_many([f"word{i} other{i % 7}" for i in range(1100)])
    assert memory.optimize()["vectors"] == 1100
    assert memory.recall("word77", touch=False).hits[0].memory.content == "word77 other0"


@weekly
@on_a_file
def test_a_store_of_which_much_was_taken_back_can_be_optimized(opening, path):
    """What is packed of it stays in place, without a vector: a whole segment, and a part of another one."""
    memory = opening({"recall": {"cells_above": 1000}}, HashEmbedder())
    texts = [f"group{i % 95} own{i}" for i in range(8300)]
    first = memory.remember_many(texts[:4200])
    part = memory.remember_many(texts[4200:4300])
    memory.remember_many(texts[4300:])
    assert len(packed(path)) == 2
    for operation in {one.operation for one in (*first, *part)}:
        memory.undo(operation)
    made = memory.optimize()
    assert (made["vectors"], all(cells for _, cells in packed(path))) == (4000, True)
    asked = texts[4310::400]
    for near, text in zip(nearest(memory, asked), asked, strict=True):
        assert text in {memory.get(i).content for i in near}
    gone = {one.id for one in (*first, *part)}
    assert gone.isdisjoint(i for near in nearest(memory, texts[::400]) for i in near)
    by_hand(path, "UPDATE vector SET data = x'01' WHERE data = (SELECT max(data) FROM vector) RETURNING 1")
    assert memory.optimize() == made
    assert cells_of(path)[0] == 1  # nothing that a search would look for
    assert cells_of(path)[1] > made["cells"] / 4


OTHER = """
import sys, perdure
memory = perdure.open(sys.argv[1], policy={"embedder": {"model": "none"}})
for line in sys.stdin:
    verb, identity = line.split()
    if verb == "update":
        memory.update(identity, "The harbour gate opens at nine.")
    elif verb == "forget":
        memory.forget(identity, "wrong")
    else:
        memory.remember("The harbour crane is yellow.", source=identity)
    print("done", flush=True)
memory.close()
"""


@on_a_file
def test_what_is_kept_of_rows_follows_another_process(path, clock):
    """Rows that a search has read stay in memory: what another process changes must be read again."""
    with opened(path, WORDS_ONLY, clock) as memory:
        gate = memory.remember("The harbour gate opens at eight.").id
        ferry = memory.remember("The harbour ferry is late.").id

        def found():
            return {hit.memory.content for hit in memory.recall("harbour", touch=False).hits}

        assert found() == {"The harbour gate opens at eight.", "The harbour ferry is late."}
        other = forked_python(OTHER, path, stdin=subprocess.PIPE)

        def ask(verb, identity):
            other.stdin.write(f"{verb} {identity}\n")
            other.stdin.flush()
            assert other.stdout.readline() == "done\n", other.communicate()[1]

        ask("update", gate)
        assert found() == {"The harbour gate opens at nine.", "The harbour ferry is late."}
        ask("forget", ferry)
        assert found() == {"The harbour gate opens at nine."}
        ask("remember", "crane")
        assert found() == {"The harbour gate opens at nine.", "The harbour crane is yellow."}
        memory.restore(ferry)
        assert "The harbour ferry is late." in found()
        finished(other)

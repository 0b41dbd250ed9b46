"""What is older than the journal's horizon keeps who, when, why and digests; all that is stored stays as it was."""

from __future__ import annotations

import json
import os
from contextlib import closing

import apsw
import pytest

from conftest import Clock, HashEmbedder, edit, on_a_file, opened, servers
from perdure.compose import backup, copy, is_server, store_at
from perdure.records.errors import OlderThanHorizon
from perdure.records.instant import from_instant
from perdure.records.plan import Target

POLICY = {"preset": "facts", "embedder": {"model": "none"}, "journal": {"horizon_days": 30}}
KEEP = {**POLICY, "journal": {"horizon_days": 0}}


def live(memory, clock):
    """Do something of every kind, some of it before and some of it after what will be the horizon."""
    first = memory.remember(
        "Harbour server: port 8080, Tuesday deploys", tags=["ops"], metadata={"n": 1.5}, idempotency_key="k-1"
    )
    memory.remember("zebra stripes", facts=[{"subject": "Rita", "predicate": "lives in", "value": "Oslo"}])
    clock.passes(hours=1)
    updated = memory.update(first.id, "Harbour server: port 9090, Tuesday deploys")
    gone = memory.remember("a passing thought")
    memory.undo(gone.operation)
    memory.ingest([{"role": "user", "content": f"message {i}, lunch at {i} o'clock"} for i in range(12)], session="s1")
    memory.recall("harbour port")
    clock.passes(days=3)
    memory.sweep()
    memory.weaken([first.id], 0.1)
    clock.passes(days=40)
    memory.remember("Rita moves", facts=[{"subject": "Rita", "predicate": "lives in", "value": "Rome"}])
    memory.reinforce([updated.id], boost_amount=0.2)
    late = memory.remember("giraffe neck")
    memory.pin(late.id)
    return first, updated, late


def trimmed_run(memory):
    return [run for run in memory.upkeep("worker").runs if run.task == "trim"]


def rows(path):
    """All that is stored besides the journal, the schedule's notes and the count of plans."""
    with store_at(path) as store:
        return [
            {**row, "namespace": place}
            for place in store.namespaces()
            for part in ("memory", "vector", "link", "document", "access")
            for _, row in store.transfer.read(place, part, None, 10_000)
            if not (part == "document" and row["shelf"] == "upkeep")
        ]


def images(path):
    """How many sides of the journal's lines about memories say what was there."""
    with store_at(path) as store:
        return sum(
            bool(side) and "op" in json.loads(side)
            for _, row in store.transfer.read("default", "journal", None, 10_000)
            for side in (row["before"], row["after"])
            if row["target"] == "memory"
        )


LIVED = []
"""What the last life told, and when it ended."""


def fill(path):
    clock = Clock()
    with opened(path, KEEP, clock, HashEmbedder()) as memory:
        LIVED.append((live(memory, clock), clock.now))
        memory.upkeep("worker", eager=True)


@pytest.fixture
def lived(path, clock):
    """What a life told; on a server it is lived once, and its database copied."""
    if is_server(str(path)):
        servers().copied(str(path), fill)
    else:
        fill(path)
    told, clock.now = LIVED[-1]
    return told


@pytest.fixture
def trimmed(path, clock, lived):
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        (run,) = trimmed_run(memory)
        assert run.outcome == "done"
    return lived


def test_trimming_changes_nothing_but_the_journal(path, clock, lived):
    before, known = rows(path), images(path)
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        told = memory.recall("harbour port", touch=False).hits[0].memory.content
        facts = memory.facts()
        asked = {at: memory.facts(as_of=from_instant(at)) for at in (1_767_300_000_000, 1_770_000_000_000)}
        shown = [(e.operation_id, e.at, e.because) for e in memory.history(lived[0].id)]
        reasons = memory.why(lived[0].id).summary
        operations = memory.history()
        (run,) = trimmed_run(memory)
        assert "operations trimmed" in run.note
        assert images(path) < known
        assert rows(path) == before
        assert memory.recall("harbour port", touch=False).hits[0].memory.content == told
        assert memory.facts() == facts
        assert {at: memory.facts(as_of=from_instant(at)) for at in asked} == asked
        assert [(e.operation_id, e.at, e.because) for e in memory.history(lived[0].id)] == shown
        assert memory.why(lived[0].id).summary == reasons
        assert [o for o in memory.history() if o.operation != "upkeep"] == [
            o for o in operations if o.operation != "upkeep"
        ]
        assert memory.check(full=True) == []


def test_recall_of_a_time_before_the_horizon_is_answered_from_what_is_stored(path, clock, lived):
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        then = from_instant(1_767_300_000_000)
        before = [h.memory.id for h in memory.recall("harbour zebra giraffe", as_of=then, touch=False).hits]
        trimmed_run(memory)
        after = [h.memory.id for h in memory.recall("harbour zebra giraffe", as_of=then, touch=False).hits]
        assert before == after
        assert lived[2].id not in after


def test_older_entries_say_that_they_are_and_newer_ones_keep_their_images(path, clock, trimmed):
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        old = [e for e in memory.history(trimmed[0].id) if e.target == Target.MEMORY]
        assert old
        assert all(e.trimmed and e.before is None and e.after is None and e.because for e in old)
        new = [e for e in memory.history(trimmed[2].id) if e.target == Target.MEMORY]
        assert [e.trimmed for e in new] == [False, False]
        assert new[1].after["pinned"] is True


def test_an_older_operation_is_not_undone_and_the_error_says_what_can_be_done(path, clock, trimmed):
    before = rows(path)
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        oldest = memory.history()[-1]
        with pytest.raises(OlderThanHorizon, match=r"older than the journal's horizon.*a backup"):
            memory.undo(oldest.id)
        assert rows(path) == before
        pinned = next(o for o in memory.history() if o.operation == "pin")
        memory.undo(pinned.id)
        assert memory.get(trimmed[2].id).state.pinned is False
        assert memory.check(full=True) == []


def test_a_newer_operation_about_an_old_memory_is_undone_and_redone(path, clock, trimmed):
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        reinforced = next(o for o in memory.history() if o.operation == "reinforce")
        strong = memory.get(trimmed[1].id).state
        back = memory.undo(reinforced.id)
        assert memory.get(trimmed[1].id).state.importance < strong.importance
        memory.undo(back.operations[0])
        assert memory.get(trimmed[1].id).state == strong
        assert memory.check(full=True) == []


def test_a_second_run_finds_nothing_and_the_horizon_moves_on(path, clock, trimmed):
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        clock.passes(days=1)
        (run,) = trimmed_run(memory)
        assert run.note.startswith("0 operations trimmed")
        clock.passes(days=31)
        (run,) = trimmed_run(memory)
        assert not run.note.startswith("0 operations")
        assert memory.check(full=True) == []
        with pytest.raises(OlderThanHorizon):
            memory.undo(next(o.id for o in memory.history() if o.operation == "pin"))


def test_no_horizon_keeps_everything(path, clock, lived):
    known = images(path)
    with opened(path, KEEP, clock, HashEmbedder()) as memory:
        assert trimmed_run(memory) == []
    assert images(path) == known


def test_stats_say_how_large_the_journal_is(path, clock, lived):
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        assert memory.stats().journal.characters == 0
        trimmed_run(memory)
        assert memory.stats().journal.characters > 1000
        assert memory.stats(namespace="default").journal.characters == memory.stats().journal.characters


# --- damage


def by_hand(path, statement):
    if is_server(str(path)):
        if os.environ.get("PERDURE_TEST_DSN"):
            pytest.skip("a given server is not ours to change")
        with servers().reader(path) as connection:
            return connection.execute(statement).rowcount
    with closing(apsw.Connection(str(path))) as connection:
        return edit(connection, statement)


OLD = "(SELECT id FROM content WHERE text = 'zebra stripes')"
DAMAGES = {
    "a letter of a text": "UPDATE content SET text = replace(text, 'zebra', 'zebrA')",
    "metadata": "UPDATE content SET metadata = '{\"n\": 2.5}' WHERE CAST(metadata AS text) LIKE '%1.5%'",
    "a source": f"UPDATE content SET source = 'elsewhere' WHERE id = {OLD}",
    "an importance": f"UPDATE memory SET importance = 0.512 WHERE id = {OLD}",
    "a tier": f"UPDATE memory SET tier = 'vault' WHERE id = {OLD}",
    "a date": f"UPDATE memory SET created_ms = created_ms - 1 WHERE id = {OLD}",
    "the last operation": f"UPDATE memory SET op = '019b7892-1c00-7000-b922-96f8921e659a' WHERE id = {OLD}",
    "a missing memory": f"DELETE FROM memory WHERE id = {OLD}",
    "a missing key": "DELETE FROM idempotency",
    "a missing link": "DELETE FROM link",
    "a missing document": "DELETE FROM document WHERE shelf = 'fact'",
    "a document's data": "UPDATE document SET data = replace(data, 'Oslo', 'Bonn')",
    "a reason of a trimmed line": "UPDATE journal SET because = because || ' indeed' WHERE position = 0",
    "the digest of a row": """UPDATE journal
      SET after = replace(after, '"row":', '"row":1') WHERE after LIKE '%"row":%'""",
    "a forged trim": "UPDATE journal SET before = '{}', after = '{}' WHERE target = 'memory' AND after LIKE '%\"op\"%'",
    "a missing journal line": "DELETE FROM journal WHERE position = 1",
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_found_beyond_the_horizon(path, clock, trimmed, name):
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        assert memory.check(full=True) == []
    assert by_hand(path, DAMAGES[name]) > 0
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        assert memory.check(full=True)


@pytest.mark.parametrize(
    "name", ["a letter of a text", "an importance", "a document's data", "a reason of a trimmed line"]
)
def test_trimming_leaves_what_is_damaged_and_says_so(path, clock, lived, name):
    by_hand(path, DAMAGES[name])
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        faults = memory.check(full=True)
        assert faults
        (run,) = trimmed_run(memory)
        assert "damaged" in run.note
        assert memory.check(full=True) == faults


@on_a_file
@pytest.mark.parametrize("name", ["an importance", "a source", "a letter of a text", "a missing memory"])
def test_what_the_journal_has_no_more_is_repaired_from_a_copy_or_left(path, clock, trimmed, tmp_path, name):
    backup(path, tmp_path / "copy.db")
    by_hand(path, DAMAGES[name])
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        assert memory.repair(dry_run=False).left
        assert memory.repair(source=str(tmp_path / "copy.db"), dry_run=False).left == ()
        assert memory.check(full=True) == []


# --- other ways through


def test_a_copy_of_a_trimmed_store_is_sound(path, elsewhere, clock, trimmed):
    target = elsewhere()
    copy(path, target)
    with opened(target, POLICY, clock, HashEmbedder()) as memory:
        assert memory.check(full=True) == []
        clock.passes(days=31)
        trimmed_run(memory)
        assert memory.check(full=True) == []


def test_erasing_takes_its_words_from_a_trimmed_store_too(path, clock, trimmed):
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        zebra = next(m.id for m in memory.list(include_archived=True) if m.content == "zebra stripes")
        word = memory.erase([zebra], reason="asked to").confirm
        done = memory.erase([zebra], reason="asked to", confirm=word, dry_run=False)
        assert done.places == ()
        assert memory.check(full=True) == []


def test_a_backtest_says_what_the_horizon_hides(path, clock, trimmed):
    with opened(path, POLICY, clock, HashEmbedder()) as memory:
        assert any("horizon" in note for note in memory.backtest({"preset": "tiered"}).notes)

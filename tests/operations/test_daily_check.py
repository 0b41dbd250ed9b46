"""Maintenance compares a share of the memories with the journal each day, and an alert says what it found."""

from __future__ import annotations

from conftest import WORDS_ONLY, on_a_file, opened, weekly_on_a_server
from stores.test_damage import run_by_hand

POLICY = {**WORDS_ONLY, "upkeep": {"check_days": 3}}


def damage(path):
    sql = "UPDATE content SET text = replace(text, 'note 7 ', 'note 8 ') WHERE text LIKE 'note 7 %'"
    assert run_by_hand(path, sql) == 1


def alerted(memory):
    return [a.message for a in memory.alerts() if a.name == "damage"]


@weekly_on_a_server
def test_within_the_days_of_the_policy_damage_is_found_and_stays_an_alert_until_it_is_repaired(path, clock):
    with opened(path, POLICY, clock) as memory:
        memory.remember_many([f"note {n} about the harbour" for n in range(30)])
        memory.upkeep("worker")
        assert alerted(memory) == []
    damage(path)
    with opened(path, POLICY, clock) as memory:
        for _ in range(3):
            clock.passes(days=1)
            memory.upkeep("worker")
        (told,) = alerted(memory)
        assert told.startswith("damaged rows: 1, the first: default, ")
        assert "text" in told
        clock.passes(days=1)
        memory.upkeep("worker")
        assert len(alerted(memory)) == 1  # the share where it was found is looked at again
    first = "row = (SELECT min(row) FROM content WHERE text LIKE 'note 8 %')"  # it was stored before note 8
    sql = f"UPDATE content SET text = replace(text, 'note 8 ', 'note 7 ') WHERE {first}"
    assert run_by_hand(path, sql) == 1
    with opened(path, POLICY, clock) as memory:
        clock.passes(days=1)
        memory.upkeep("worker")
        assert alerted(memory) == []


@on_a_file
def test_no_days_no_check(path, clock):
    with opened(path, {**WORDS_ONLY, "upkeep": {"check_days": 0}}, clock) as memory:
        memory.remember("a note about the harbour")
        assert "check" not in {run.task for run in memory.upkeep("worker").runs}


@on_a_file
def test_a_share_is_looked_at_each_day(path, clock):
    with opened(path, POLICY, clock) as memory:
        memory.remember("a note about the harbour")
        (run,) = [run for run in memory.upkeep("worker").runs if run.task == "check"]
        assert (run.outcome, run.note) == ("done", "no damage found")

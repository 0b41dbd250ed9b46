"""A forecast counts the moves ahead by day, kind and rule, lists the first of them, and all of them when asked."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from conftest import calls_of, on_a_file, opened
from interfaces.test_views import both
from operations.test_compressing import EAGER, GARDEN, GUARDED, PEAR, PUMP
from operations.test_rationing import FADING, TIGHT
from perdure.operations import documents as paging


def by_day(moves):
    days = {}
    for move in moves:
        days.setdefault(move.at[:10], Counter())[move.move] += 1
    return days


def crowded(memory, clock, many=60):
    """Store notes on three days in two namespaces, and ask for some of them."""
    for day in range(3):
        for place in ("default", "team"):
            memory.remember_many([f"note {n} of day {day} in {place}" for n in range(many // 6)], namespace=place)
        clock.passes(days=1, hours=7)
    for n in range(0, 6, 2):
        memory.recall(f"note {n} of day 1", limit=3)


@pytest.mark.parametrize("policy", [{}, FADING, TIGHT], ids=["default", "fading", "tight"])
def test_the_totals_are_those_of_every_move_and_the_first_moves_are_listed(opening, clock, policy, monkeypatch):
    monkeypatch.setattr(paging, "PAGE", 7)
    memory = opening({"embedder": {"model": "none"}, **policy})
    crowded(memory, clock)
    every, brief = memory.forecast(40, details=True), memory.forecast(40)
    assert len(every.moved) >= 60
    assert every.left_out == 0
    assert brief.moved == every.moved[:20]
    assert brief.left_out == len(every.moved) - 20
    assert brief.by_day == every.by_day == by_day(every.moved)
    assert list(brief.by_day) == sorted(brief.by_day)
    assert brief.tally == every.tally == dict(Counter(m.move for m in every.moved))
    assert brief.by_rule == every.by_rule
    assert sum(brief.by_rule.values()) == len(every.moved)
    assert (brief.examined, brief.overdue) == (every.examined, every.overdue)


@pytest.mark.parametrize("policy", [EAGER, GUARDED], ids=["eager", "guarded"])
def test_what_is_shortened_is_counted_as_it_is_listed_and_as_sweeps_do_it(opening, clock, policy):
    memory = opening({**policy, "archive": {"rule": "value", "value_below": 0.5, "cold_days": 20}})
    memory.remember_many([GARDEN, PEAR, PUMP, *(f"{GARDEN} It has {n} beds." for n in range(3))])
    brief, every = memory.forecast(30), memory.forecast(30, details=True)
    assert (brief.by_day, brief.by_rule) == (every.by_day, every.by_rule)
    assert brief.by_day == by_day(every.moved)
    assert "full to summary" in brief.tally
    done = []
    for _ in range(30):
        clock.passes(days=1)
        done += memory.sweep().moved
    assert sorted((m.at, m.id, m.move, m.because) for m in done) == sorted(
        (m.at, m.id, m.move, m.because) for m in every.moved
    )


def test_only_what_is_due_now_is_overdue(memory, clock):
    memory.remember("The staging server listens on port 8081.")
    ahead = memory.forecast(60)
    assert (ahead.overdue, sum(ahead.tally.values()) > 0) == (0, True)
    clock.passes(days=8)
    memory.remember("The kettle stays on the third shelf.")
    late = memory.forecast(60)
    assert 0 < late.overdue < sum(late.tally.values())
    assert late.overdue == len(memory.sweep(dry_run=True).moved)


@on_a_file
def test_neither_the_text_nor_the_work_of_the_totals_grows_with_every_move(opening, clock):
    memory = opening()
    sizes, calls = [], []
    for many in (100, 500):
        memory.remember_many([f"note {n} of {many}" for n in range(many)])
        clock.passes(minutes=1)
        sizes.append(len(json.dumps(memory.forecast(40).to_dict())))
        calls.append([calls_of(lambda d=d: memory.forecast(40, details=d)) for d in (False, True)])
    assert sizes[1] - sizes[0] < 100
    totals, whole = (after - before for before, after in zip(*calls, strict=True))
    assert whole - totals > 500 * 5  # to put a move into words takes some calls, which the totals do without


def test_a_terminal_shows_all_with_details_and_a_model_reads_the_first(tmp_path, clock):
    with opened(tmp_path / "a.db", clock=clock) as memory:
        memory.remember_many([f"note {n}" for n in range(25)])
        person, model = both(memory.forecast(40), "forecast", days=40)
        assert person.startswith("25 moves within 40 days without further access.\nwarm to cold 25\n")
        assert "2026-01-08" in person
        assert person.count("days in warm without access") == 20
        assert "… and 5 more; --details lists all." in person
        assert "and 5 more; details=true lists all" in model
        person, model = both(memory.forecast(40, details=True), "forecast", days=40, details=True)
        assert (person.count("days in warm without access"), "more" in person) == (25, False)
        assert (model.count("days in warm without access"), "and 5 more" in model) == (20, True)

"""A forecast plays the recall gate, too: what a question's answer needs is not foretold to go."""

from __future__ import annotations

import pytest

from conftest import HARSH, WORDS_ONLY, tables

FREE = {"loss_share": 1.0, "loss_share_day": 1.0}
QUESTION = "Where does the blue heron nest?"
HERON = "The blue heron nests at the old mill."
TRAINS = [f"Line {i} about trains and timetables." for i in range(5)]


@pytest.fixture
def asking(opening, tmp_path):
    """Open a store whose golden query must find some words, under a policy by which all fades within ten days."""

    def make(words="old mill", **more):
        file = tmp_path / "golden.toml"
        file.write_text(f'[[query]]\ntext = "{QUESTION}"\ncontains = "{words}"\n')
        return opening({**HARSH, "gates": {**FREE, "golden": str(file)}, **more})

    return make


def archived(report):
    return {m.id for m in report.moved if m.move.endswith("archived")}


@pytest.mark.behaviour("G54")
def test_a_forecast_holds_back_what_a_golden_query_finds_before_it_falls_due_and_as_long_as_it_is_held(asking, clock):
    memory = asking()
    kept, *rest = memory.remember_many([HERON, *TRAINS])
    ahead = memory.forecast(30, details=True)
    assert archived(ahead) == {m.id for m in rest}
    assert [(h.ids, QUESTION in h.because) for h in ahead.held] == [((kept.id,), True)]
    clock.passes(days=60)
    swept = memory.sweep()
    assert (sorted(ahead.moved, key=lambda m: (m.at, m.id)), ahead.held) == (
        sorted(swept.moved, key=lambda m: (m.at, m.id)),
        swept.held,
    )
    clock.passes(days=50)
    assert memory.stats().held == {"recall gate": 1}
    later = memory.forecast(5, details=True)
    assert (later.moved, later.held) == ((), swept.held)
    assert "recall gate" in memory.why(kept.id).next_move


def test_a_forecast_holds_back_what_helped(opening, clock):
    memory = opening({**WORDS_ONLY, "preset": "confidence-decay"})
    kept, *rest = memory.remember_many([HERON, *TRAINS])
    memory.used([kept.id], "helpful", recall_id=memory.recall(QUESTION).recall_id)
    ahead = memory.forecast(400, details=True)
    assert archived(ahead) == {m.id for m in rest}
    assert [h.ids for h in ahead.held] == [(kept.id,)]
    clock.passes(days=400)
    swept = memory.sweep()
    assert (archived(swept), swept.held) == (archived(ahead), ahead.held)


def test_of_several_that_give_the_answer_the_last_to_go_is_held(asking, clock):
    memory = asking()
    first = memory.remember(HERON)
    clock.passes(days=2)
    last = memory.remember("Blue herons nest at the old mill, near the weir.")
    ahead = memory.forecast(60, details=True)
    assert (archived(ahead), [h.ids for h in ahead.held]) == ({first.id}, [(last.id,)])
    for _ in range(60):
        clock.passes(days=1)
        report = memory.sweep()
    assert (memory.get(first.id), [h.ids for h in report.held]) == (None, [(last.id,)])


def test_what_stands_for_the_answer_suffices(asking, clock):
    memory = asking()
    kept, other = memory.remember(HERON), memory.remember("A blue heron nests at the old mill, say the bargemen.")
    memory.pin(other.id)
    assert archived(memory.forecast(30, details=True)) == {kept.id}
    clock.passes(days=30)
    assert archived(memory.sweep()) == {kept.id}


def test_words_that_a_golden_query_finds_are_not_foretold_to_be_shortened_away(asking, clock):
    filler = " ".join(f"On day {i} the water stood {i} centimetres higher than the day before." for i in range(30))
    shortening = {"compression": {"least_tokens": 0, "summary_value": 1.0, "summary_hours": 24.0}}
    memory = asking("reeds whisper", **shortening)
    kept = memory.remember(f"{HERON} {filler} And softly, so very softly, the reeds whisper. {filler}")
    other = memory.remember(f"Trains and timetables. {filler}")
    ahead = memory.forecast(3, details=True)
    clock.passes(days=3)
    swept = memory.sweep()
    assert [(m.id, m.move) for m in ahead.moved if m.id == kept.id] == []
    assert (ahead.held, {m.id for m in ahead.moved}) == (swept.held, {m.id for m in swept.moved})
    assert other.id in {m.id for m in ahead.moved}


def test_what_is_held_with_its_neighbours_is_not_foretold_to_go(opening, clock, tmp_path):
    """The answer stays in view, but is only found with the turns beside it: the gate holds all of the page."""
    asked, turns = "Where does the heron nest?", ["Where does the heron nest?", "At the old mill.", "Thanks."]
    memory = opening({**HARSH, "gates": FREE})
    memory.ingest([{"content": t, "role": r} for t, r in zip(turns, ("user", "bot", "user"), strict=True)], session="t")
    answer = next(m for m in memory.list() if m.content == turns[1])
    memory.pin(answer.id)
    file = tmp_path / "golden.toml"
    file.write_text(f'[[query]]\ntext = "{asked}"\nexpect = ["{answer.id}"]\n')
    memory = opening({**HARSH, "gates": {**FREE, "golden": str(file)}})
    clock.passes(days=60)
    (held,), later = memory.sweep().held, memory.forecast(5, details=True)
    assert set(held.ids) == {m.id for m in memory.list()} - {answer.id}
    assert (later.moved, [(set(h.ids), h.because) for h in later.held]) == ((), [(set(held.ids), held.because)])


def test_a_forecast_that_asks_the_gate_writes_nothing(asking, path):
    memory = asking()
    memory.remember_many([HERON, *TRAINS])
    before = tables(path)
    assert memory.forecast(30, details=True).held
    assert tables(path) == before


def test_a_forecast_says_what_still_waits_for_the_loss_budget_in_the_end(opening):
    memory = opening(HARSH)
    memory.remember_many([f"Line {i} about trains." for i in range(30)])
    ahead = memory.forecast(8, details=True)
    assert [len(h.ids) for h in ahead.held] == [30 - len(archived(ahead))]
    assert "at most 2 may be hidden a day" in ahead.held[0].because

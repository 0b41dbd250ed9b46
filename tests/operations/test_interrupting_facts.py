"""What holds until a day leaves what held before: it is marked for so long, and holds again afterwards."""

from datetime import UTC, datetime

import pytest
from typer.testing import CliRunner

import perdure
from perdure.interfaces.cli import app as cli

HALL = {"subject": "gym", "predicate": "address", "value": "Hall Street"}
MILL = {**HALL, "value": "Mill Lane", "valid_to": "2026-10-10"}
OCTOBER = {**MILL, "valid_from": "2026-10-01"}


def on(month, day):
    return datetime(2026, month, day, 9, tzinfo=UTC)


class Clock:
    """A clock that is set by hand."""

    def __init__(self):
        self.now = on(9, 1)

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(params=["none", "local"])
def memory(request, tmp_path, clock):
    with perdure.open(tmp_path / "a.db", {"embedder": {"model": request.param}}, clock=clock) as opened:
        yield opened


def values(memory):
    return {f.value: bool(f.interrupted) for f in memory.facts("gym") if f.state == "active"}


def learned(memory, clock, claim):
    memory.learn(claims=[HALL])
    clock.now = on(9, 15)
    return memory.learn(claims=[claim])


@pytest.mark.parametrize("claim", [MILL, OCTOBER], ids=["now", "upcoming"])
def test_what_held_before_is_marked_for_so_long_and_holds_again(memory, clock, claim):
    learned(memory, clock, claim)
    assert memory.review() == []
    for clock.now, there in ((on(9, 16), claim is MILL), (on(10, 5), True), (on(10, 11), False)):
        assert values(memory) == ({"Hall Street": True, "Mill Lane": False} if there else {"Hall Street": False})
        first, *others = memory.recall("What is the address of the gym?").hits
        assert first.memory.content.startswith("gym: address: Mill Lane" if there else "gym: address: Hall Street")
        assert not there or "Hall Street" in others[0].memory.content
        sheet = memory.answer_sheet("the address of the gym")
        assert [e.says for e in sheet.doubted] == (["gym: address: Hall Street"] if there else [])
        assert "Hall Street" in memory.digest()


def test_its_words_tell_until_when_it_holds(memory, clock):
    learned(memory, clock, OCTOBER)
    assert "gym: address: Mill Lane (from 2026-10-01 until 2026-10-10)" in memory.digest()


def test_the_note_of_what_held_before_is_shown_again(memory, clock):
    memory.remember("The gym is at Hall Street.", facts=[HALL])
    clock.now = on(9, 15)
    memory.remember("Until 10 October the gym is at Mill Lane instead of Hall Street.", facts=[MILL])
    shown = memory.digest()
    assert shown.index("Mill Lane instead") < shown.index("The gym is at Hall Street.")
    clock.now = on(10, 11)
    assert values(memory) == {"Hall Street": False}
    assert "The gym is at Hall Street." in memory.digest()
    assert "Mill Lane" not in memory.digest()


def test_what_it_is_said_to_replace_ends_for_good(memory, clock):
    learned(memory, clock, {**MILL, "replaces": "Hall Street"})
    assert values(memory) == {"Mill Lane": False}
    clock.now = on(10, 11)
    assert values(memory) == {}


def test_a_value_without_an_end_takes_the_place_of_both(memory, clock):
    learned(memory, clock, MILL)
    clock.now = on(10, 5)
    memory.learn(claims=[{**HALL, "value": "Oak Road", "replaces": "Hall Street"}])
    for clock.now in (on(10, 5), on(10, 11)):
        assert "Hall Street" not in values(memory)
        assert "Oak Road" in values(memory)


def test_who_says_that_it_holds_longer_leaves_what_is_to_come_back(memory, clock):
    learned(memory, clock, MILL)
    memory.learn(claims=[{**MILL, "valid_to": "2026-10-20"}])
    clock.now = on(10, 15)
    assert values(memory) == {"Hall Street": True, "Mill Lane": False}
    clock.now = on(10, 21)
    assert values(memory) == {"Hall Street": False}


@pytest.mark.parametrize("how", ["undo", "forget", "deny"])
def test_taken_back_it_leaves_what_held_before(memory, clock, how):
    outcome = learned(memory, clock, MILL)
    (identity,) = outcome.created
    if how == "undo":
        memory.undo(outcome.operations[0])
    elif how == "forget":
        memory.forget(identity)
    else:
        memory.deny(identity, "the works were called off")
    assert values(memory) == {"Hall Street": False}


def test_who_confirms_what_held_before_leaves_it_marked_until_then(memory, clock):
    learned(memory, clock, MILL)
    clock.now = on(10, 2)
    (hall,) = (f for f in memory.facts("gym") if f.value == "Hall Street")
    memory.confirm(hall.id)
    assert values(memory) == {"Hall Street": True, "Mill Lane": False}
    clock.now = on(10, 11)
    assert values(memory) == {"Hall Street": False}


def test_both_may_be_said_in_one_call_in_any_order(memory, clock):
    memory.learn(claims=[MILL, HALL])
    assert values(memory) == {"Hall Street": True, "Mill Lane": False}


def test_said_again_in_place_of_what_held_before_it_has_no_end(memory, clock):
    learned(memory, clock, MILL)
    clock.now = on(10, 5)
    memory.learn(claims=[{**HALL, "value": "Mill Lane", "replaces": "Hall Street"}])
    for clock.now in (on(10, 5), on(10, 11)):
        assert values(memory) == {"Mill Lane": False}


def test_an_update_that_prolongs_it_leaves_what_is_to_come_back(memory, clock):
    memory.remember("The gym is at Hall Street.", facts=[HALL])
    clock.now = on(9, 15)
    note = memory.remember("Until 10 October the gym is at Mill Lane.", facts=[MILL])
    memory.update(note.id, "Until 20 October the gym is at Mill Lane.", facts=[{**MILL, "valid_to": "2026-10-20"}])
    clock.now = on(10, 15)
    assert values(memory) == {"Hall Street": True, "Mill Lane": False}
    clock.now = on(10, 21)
    assert values(memory) == {"Hall Street": False}


def test_an_update_of_what_held_before_ends_it(memory, clock):
    note = memory.remember("The gym is at Hall Street.", facts=[HALL])
    clock.now = on(9, 15)
    memory.update(note.id, "Until 10 October the gym is at Mill Lane.", facts=[MILL])
    assert values(memory) == {"Mill Lane": False}


def test_corrected_it_holds_for_the_same_time(memory, clock):
    (identity,) = learned(memory, clock, MILL).created
    memory.correct(identity, "Milk Lane")
    assert values(memory) == {"Hall Street": True, "Milk Lane": False}
    clock.now = on(10, 11)
    assert values(memory) == {"Hall Street": False}


def test_what_is_put_in_place_of_the_interrupted_value_is_interrupted(memory, clock):
    learned(memory, clock, MILL)
    (hall,) = (f for f in memory.facts("gym") if f.value == "Hall Street")
    memory.correct(hall.id, "Hill Street")
    assert values(memory) == {"Hill Street": True, "Mill Lane": False}
    clock.now = on(10, 11)
    assert values(memory) == {"Hill Street": False}


def test_memory_md_marks_the_interrupted_fact(memory, clock):
    learned(memory, clock, MILL)
    (line,) = (line for line in memory.digest().splitlines() if "Hall Street" in line)
    assert "(interrupted since 2026-09-15, holds again from 2026-10-11)" in line


def test_a_value_that_ends_sooner_is_not_interrupted(memory, clock):
    memory.learn(claims=[{**HALL, "valid_to": "2026-09-30"}])
    clock.now = on(9, 15)
    memory.learn(claims=[{**MILL, "replaces": "Hall Street"}])
    clock.now = on(10, 5)
    assert values(memory) == {"Mill Lane": False}


def test_a_stranger_interrupts_nothing(memory, clock):
    memory.learn(claims=[HALL])
    clock.now = on(9, 15)
    memory.remember("The gym is at Mill Lane until 10 October.", facts=[MILL], metadata={"trust": "external"})
    assert not values(memory)["Hall Street"]


def test_it_survives_an_export(memory, clock, tmp_path, monkeypatch):
    learned(memory, clock, OCTOBER)
    monkeypatch.setenv("PERDURE_POLICY", str(tmp_path / "policy.toml"))
    (tmp_path / "policy.toml").write_text('[embedder]\nmodel = "none"\n')
    for command, store in (("export", "a.db"), ("import", "b.db")):
        done = CliRunner().invoke(cli.app, [command, str(tmp_path / "out.jsonl"), "--store", str(tmp_path / store)])
        assert done.exit_code == 0, done.output
    clock.now = on(10, 5)
    with perdure.open(tmp_path / "b.db", {"embedder": {"model": "none"}}, clock=clock) as opened:
        assert values(opened) == {"Hall Street": True, "Mill Lane": False}


def test_why_names_it_and_says_that_this_one_holds_again(memory, clock):
    learned(memory, clock, MILL)
    (hall,) = (f for f in memory.facts("gym") if f.value == "Hall Street")
    why = memory.why(hall.id)
    assert "Another value holds for a time" in why.likely_untrue
    assert "Mill Lane (until 2026-10-10)" in why.likely_untrue
    assert "interrupted_by" in {kind for kind, *_ in why.links}
    clock.now = on(10, 11)
    assert memory.why(hall.id).likely_untrue == ""


def test_a_message_that_held_until_a_day_puts_nothing_in_doubt_afterwards(memory, clock):
    memory.remember("The gym is at Hall Street.", facts=[HALL])
    clock.now = on(9, 15)
    memory.remember("Until 10 October the gym is at Mill Lane instead of Hall Street.", facts=[MILL])
    for clock.now, doubted in ((on(10, 10), ["gym: address: Hall Street"]), (on(10, 11), [])):
        assert [e.says for e in memory.answer_sheet("where is the gym?").doubted] == doubted

"""A value whose last day has come: nobody need confirm it, and a correction of it puts its own days right."""

from datetime import UTC, datetime

import pytest

import perdure

ADA = {"subject": "deploys", "predicate": "owner", "value": "Ada"}
KIM = {**ADA, "value": "Kim", "valid_from": "2026-10-01", "valid_to": "2026-10-05"}
MAX = {**ADA, "value": "Max", "valid_from": "2026-10-01"}


def on(month, day, year=2026):
    return datetime(year, month, day, 9, tzinfo=UTC)


class Clock:
    """A clock that is set by hand."""

    def __init__(self):
        self.now = on(9, 1)

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def memory(tmp_path, clock):
    with perdure.open(tmp_path / "a.db", {"embedder": {"model": "none"}}, clock=clock) as opened:
        yield opened


def owners(memory, **then):
    return [f.value for f in memory.facts("deploys", **then)]


def told(memory, clock, *claims):
    """Say claims one after another in September, and return the ids of their facts."""
    made = []
    for clock.now, claim in zip((on(9, 1), on(9, 15)), claims, strict=False):
        made += memory.learn(claims=[claim]).created
    return made


def test_what_has_ended_is_stale_nowhere(memory, clock):
    (kim,) = told(memory, clock, KIM)
    (ada,) = memory.learn(claims=[{**ADA, "subject": "releases"}]).created
    clock.now = on(3, 1, 2027)
    stale = {m.id: m.aging for m in memory.list(kinds=["fact"])}
    assert stale == {kim: False, ada: True}
    assert (memory.get(kim).aging, memory.get(ada).aging) == (False, True)


def test_a_correction_of_what_has_ended_is_about_its_days(memory, clock):
    (kim,) = told(memory, clock, KIM)
    clock.now = on(10, 20)
    lee = memory.correct(kim, "Lee").memory.id
    assert owners(memory) == []
    assert owners(memory, as_of=on(10, 3)) == ["Lee"]
    assert owners(memory, as_of=on(10, 3), known_at=on(10, 10)) == ["Kim"]
    assert memory.recall("Who is the owner of deploys?", touch=False).hits == ()
    assert [
        (f.id, f.valid_from[:10], f.valid_to[:10]) for f in memory.timeline("deploys").facts if f.value == "Lee"
    ] == [(lee, "2026-10-01", "2026-10-05")]


def test_a_correction_of_what_interrupted_leaves_what_holds_again(memory, clock):
    _, kim = told(memory, clock, ADA, KIM)
    clock.now = on(10, 20)
    memory.correct(kim, "Lee")
    assert owners(memory) == ["Ada"]
    shown = memory.facts("deploys", as_of=on(10, 3))
    assert [(f.value, f.interrupted is not None) for f in shown] == [("Lee", False), ("Ada", True)]


def test_a_correction_of_what_something_followed_leaves_what_followed(memory, clock):
    ada, _ = told(memory, clock, ADA, MAX)
    clock.now = on(10, 20)
    memory.correct(ada, "Eva")
    assert owners(memory) == ["Max"]
    assert owners(memory, as_of=on(9, 20)) == ["Eva"]
    assert memory.review() == []


def test_a_correction_of_what_followed_and_has_ended_brings_nothing_back(memory, clock):
    _, max_ = told(memory, clock, ADA, {**MAX, "valid_to": "2026-10-10"})
    before = owners(memory)
    clock.now = on(10, 20)
    held = owners(memory)
    done = memory.correct(max_, "Mia")
    assert owners(memory) == held
    assert owners(memory, as_of=on(10, 3))[0] == "Mia"
    assert owners(memory, as_of=on(9, 20)) == ["Ada"]
    clock.now = on(10, 21)
    memory.undo(done.operation)
    assert owners(memory) == held
    assert before == ["Ada", "Max"]


@pytest.mark.parametrize("value", ["Kim", "Ada"])
def test_a_correction_to_what_holds_now_leaves_that(memory, clock, value):
    ada, _ = told(memory, clock, ADA, {**MAX, "value": "Kim"})
    clock.now = on(10, 20)
    if value == "Kim":
        memory.correct(ada, "Kim")
        assert owners(memory) == ["Kim"]
        assert owners(memory, as_of=on(9, 20)) == ["Kim"]
    else:
        with pytest.raises(perdure.InvalidInput, match="says that already"):
            memory.correct(ada, "Ada")

"""A value that another one interrupts says since when and from when it holds again, wherever it is shown."""

from datetime import UTC, datetime

import pytest

import perdure
from perdure.interfaces.views import Request
from perdure.interfaces.views.knowledge import view_facts, view_timeline
from perdure.interfaces.views.memory import view_recall
from perdure.interfaces.views.model import render_text
from perdure.rules.prompt_context import remarks

ADA = {"subject": "deploys", "predicate": "owner", "value": "Ada"}
KIM = {**ADA, "value": "Kim", "valid_from": "2026-10-01", "valid_to": "2026-10-05"}
MARK = "interrupted since 2026-10-01, holds again from 2026-10-06"


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


@pytest.fixture
def memory(tmp_path, clock):
    with perdure.open(tmp_path / "a.db", {"embedder": {"model": "none"}}, clock=clock) as opened:
        yield opened


def told(memory, clock, *, notes=False):
    """Say that Ada deploys, and later that Kim does from 1 to 5 October."""
    made = []
    for day, claim, text in ((on(9, 1), ADA, "Ada owns deploys."), (on(9, 15), KIM, "Kim stands in for Ada.")):
        clock.now = day
        if notes:
            made.append(memory.remember(text, facts=[claim]).id)
        else:
            made += memory.learn(claims=[claim]).created
    clock.now = on(10, 3)
    return made


def listed(memory, **then):
    return [(f.value, f.interrupted is not None) for f in memory.facts("deploys", **then)]


def since_and_again(shown):
    return shown.since, shown.holds_again


def line_of(text, words):
    (line,) = (line for line in text.splitlines() if words in line)
    return line


# --- while it is interrupted


def test_facts_lists_it_behind_the_value_for_the_time_with_its_days(memory, clock):
    ada, kim = told(memory, clock)
    first, second = memory.facts("deploys")
    assert (first.id, second.id) == (kim, ada)
    assert first.interrupted is None
    assert since_and_again(second.interrupted) == ("2026-10-01", "2026-10-06")
    assert second.interrupted.by == (kim,)
    assert second.newer == ()
    clock.now = on(10, 6)
    assert listed(memory) == [("Ada", False)]
    clock.now = on(9, 20)
    assert listed(memory) == [("Ada", False), ("Kim", False)]


def test_a_table_of_facts_and_a_timeline_say_it_in_the_same_words(memory, clock):
    told(memory, clock)
    tables = (
        view_facts(memory.facts("deploys"), Request("facts")),
        view_timeline(memory.timeline("deploys"), Request("timeline")),
    )
    for text in map(render_text, tables):
        assert text.count(MARK) == 1
        assert MARK in line_of(text, "Ada")
        assert "may say otherwise" not in text


def test_an_answer_sheet_lists_it_behind_under_its_own_title(memory, clock):
    told(memory, clock)
    sheet = memory.answer_sheet("Who is the owner of deploys?")
    (entry,) = sheet.doubted
    assert since_and_again(entry.interrupted) == ("2026-10-01", "2026-10-06")
    assert MARK in line_of(sheet.text, "deploys: owner: Ada")
    assert (
        sheet.text.index("owner: Kim (")
        < sheet.text.index("another value holds for a time")
        < sheet.text.index("owner: Ada")
    )
    assert "may say otherwise" not in sheet.text


@pytest.mark.parametrize("notes", [False, True], ids=["facts", "notes"])
def test_a_recall_marks_it_and_the_note_that_says_it(memory, clock, notes):
    told(memory, clock, notes=notes)
    found = memory.recall("Who is the owner of deploys?", touch=False)
    marked = {h.memory.content: [since_and_again(i) for i in h.interrupted] for h in found.hits}
    days = [("2026-10-01", "2026-10-06")]
    ada = {text: some for text, some in marked.items() if some}
    assert ada == {"deploys: owner: Ada": days, **({"Ada owns deploys.": days} if notes else {})}
    assert render_text(view_recall(found, Request("recall"))).count(MARK) == len(ada)


@pytest.mark.parametrize(("notes", "says"), [(False, "deploys: owner: Ada"), (True, "Ada owns deploys.")])
def test_memory_md_marks_the_fact_and_the_note_that_says_it(memory, clock, notes, says):
    told(memory, clock, notes=notes)
    shown = memory.digest()
    assert f"({MARK})" in line_of(shown, says)
    assert shown.count(MARK) == 1
    assert "may say otherwise" not in shown
    assert shown.index("Kim") < shown.index(says)
    clock.now = on(10, 6)
    assert MARK not in memory.digest()


def test_what_stands_beside_a_prompt_has_the_mark(memory, clock):
    told(memory, clock)
    _, ada = memory.recall("Who is the owner of deploys?", touch=False).hits
    assert MARK in list(remarks(ada, {}))


def test_a_value_of_a_session_interrupts_what_all_see_once_it_is_promoted(memory, clock):
    memory.learn(claims=[ADA])
    clock.now = on(10, 3)
    memory.remember("Kim owns deploys for now.", facts=[KIM], session="one")
    assert listed(memory) == [("Ada", False)]
    assert MARK not in memory.digest()
    memory.promote("one", confirm=True)
    assert listed(memory) == [("Kim", False), ("Ada", True)]
    assert memory.review() == []
    clock.now = on(10, 6)
    assert listed(memory) == [("Ada", False)]


def test_a_note_that_says_more_names_what_is_interrupted(memory, clock):
    beside = {"subject": "deploys", "predicate": "day", "value": "Friday"}
    memory.remember("Ada owns deploys, which are on Fridays.", facts=[ADA, beside])
    clock.now = on(9, 15)
    memory.learn(claims=[KIM])
    clock.now = on(10, 3)
    assert f'({MARK}: "owner: Ada")' in line_of(memory.digest(), "on Fridays")


def test_why_tells_from_when_it_holds_again(memory, clock):
    ada, _ = told(memory, clock)
    assert MARK in memory.why(ada).likely_untrue


def test_two_interruptions_in_a_row_are_one(memory, clock):
    ada, _ = told(memory, clock)
    memory.learn(claims=[{**ADA, "value": "Lee", "valid_from": "2026-10-06", "valid_to": "2026-10-09"}])
    for clock.now in (on(10, 3), on(10, 8)):
        (shown,) = (f.interrupted for f in memory.facts("deploys") if f.id == ada)
        assert since_and_again(shown) == ("2026-10-01", "2026-10-10")


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/Lima"])
def test_the_day_is_that_of_the_policy_s_zone(tmp_path, clock, zone):
    policy = {"embedder": {"model": "none"}, "days": {"zone": zone}}
    with perdure.open(tmp_path / "b.db", policy, clock=clock) as memory:
        ada, _ = told(memory, clock)
        memory.learn(claims=[{**ADA, "value": "Lee", "valid_from": "2026-10-08", "valid_to": "2026-10-09"}])
        (shown,) = (f.interrupted for f in memory.facts("deploys") if f.id == ada)
        assert since_and_again(shown) == ("2026-10-01", "2026-10-06")
        memory.learn(claims=[{**ADA, "value": "Max", "valid_from": "2026-10-06", "valid_to": "2026-10-07"}])
        (shown,) = (f.interrupted for f in memory.facts("deploys") if f.id == ada)
        assert since_and_again(shown) == ("2026-10-01", "2026-10-10")


def test_what_ends_before_it_would_hold_again_says_no_day(memory, clock):
    memory.learn(claims=[ADA])
    clock.now = on(9, 15)
    memory.learn(claims=[KIM])
    memory.learn(claims=[{**ADA, "value": "Max", "valid_from": "2026-10-04"}])
    clock.now = on(10, 3)
    (shown,) = (f.interrupted for f in memory.facts("deploys") if f.value == "Ada")
    assert since_and_again(shown) == ("2026-10-01", "")


# --- looking back


@pytest.mark.parametrize("then", ["as_of", "known_at"])
def test_a_look_back_marks_and_orders_as_that_day_did(memory, clock, then):
    told(memory, clock, notes=True)
    on_the_day = listed(memory)
    question = "Who is the owner of deploys?"
    first = memory.recall(question, touch=False).hits[0].memory.content
    clock.now = on(11, 20)
    back = {then: on(10, 3)}
    assert listed(memory, **back) == on_the_day == [("Kim", False), ("Ada", True)]
    found = memory.recall(question, touch=False, **back)
    assert found.hits[0].memory.content == first
    assert {h.memory.content for h in found.hits if h.interrupted} == {"deploys: owner: Ada", "Ada owns deploys."}
    sheet = memory.answer_sheet(question, **back).text
    assert MARK in line_of(sheet, "deploys: owner: Ada")
    assert sheet.index("owner: Kim (") < sheet.index("owner: Ada (")
    earlier = {then: on(9, 20)}
    assert not any(interrupted for _, interrupted in listed(memory, **earlier))
    assert not any(h.interrupted for h in memory.recall(question, touch=False, **earlier).hits)


def test_what_was_not_known_then_marks_nothing(memory, clock):
    memory.learn(claims=[ADA])
    clock.now = on(10, 4)
    memory.learn(claims=[{**KIM, "valid_from": "2026-10-02"}])
    clock.now = on(10, 20)
    assert listed(memory, as_of=on(10, 3)) == [("Kim", False), ("Ada", True)]
    assert listed(memory, as_of=on(10, 3), known_at=on(10, 3)) == [("Ada", False)]


def test_a_value_that_was_replaced_since_was_interrupted_then(memory, clock):
    told(memory, clock)
    clock.now = on(10, 10)
    memory.learn(claims=[{**ADA, "value": "Max", "replaces": "Ada"}])
    clock.now = on(10, 20)
    assert listed(memory, as_of=on(10, 3)) == [("Kim", False), ("Ada", True)]


# --- questions


def test_nobody_is_asked_whether_an_interrupted_value_still_holds(memory, clock):
    memory.learn(claims=[ADA])
    clock.now = on(12, 15)
    assert [q.id for q in memory.review()]
    memory.learn(claims=[{**ADA, "value": "Kim", "valid_to": "2026-12-20"}])
    assert memory.review() == []
    assert [f.question for f in memory.facts("deploys")] == ["", ""]
    assert [h.question for h in memory.recall("owner of deploys", touch=False).hits] == ["", ""]
    clock.now = on(12, 21)
    assert len(memory.review()) == 1


@pytest.mark.parametrize("stays", ["deploys", "releases"])
def test_a_merge_lets_a_value_for_a_time_interrupt(memory, clock, stays):
    memory.learn(claims=[ADA])
    clock.now = on(9, 15)
    memory.learn(claims=[{**KIM, "subject": "releases"}])
    other = "releases" if stays == "deploys" else "deploys"
    merged = memory.merge_entities(stays, other)
    for clock.now in (on(9, 16), on(10, 3), on(10, 6)):
        assert memory.review() == []
    clock.now = on(10, 3)
    assert [(f.value, f.interrupted is not None) for f in memory.facts(stays)] == [("Kim", False), ("Ada", True)]
    memory.undo(merged.operations[0])
    assert listed(memory) == [("Ada", False)]


def test_a_split_takes_the_interruption_apart(memory, clock):
    memory.remember("Ada owns deploys.", facts=[ADA])
    clock.now = on(9, 15)
    memory.remember("Kim owns releases for five days.", facts=[{**KIM, "subject": "releases"}])
    memory.merge_entities("deploys", "releases")
    clock.now = on(10, 3)
    assert listed(memory) == [("Kim", False), ("Ada", True)]
    memory.split_entity("deploys", "releases")
    assert listed(memory) == [("Ada", False)]
    assert memory.check() == []


def test_a_merge_still_asks_about_two_values_without_an_end(memory):
    memory.learn(claims=[ADA, {**ADA, "subject": "releases", "value": "Kim"}])
    memory.merge_entities("deploys", "releases")
    assert len(memory.review()) == 1


# --- said again without an end


def test_said_again_without_an_end_much_later_it_takes_the_place_of_both(memory, clock):
    told(memory, clock)
    memory.learn(claims=[{**ADA, "value": "Kim"}])
    for clock.now in (on(10, 3), on(10, 20)):
        assert listed(memory) == [("Kim", False)]
    assert memory.review() == []
    assert [f.value for f in memory.facts("deploys", as_of=on(9, 20))] == ["Ada"]


def test_said_again_without_an_end_soon_after_a_person_is_asked(memory, clock):
    memory.learn(claims=[ADA])
    clock.now = on(9, 2)
    memory.learn(claims=[{**KIM, "valid_from": "2026-09-02"}])
    clock.now = on(9, 3)
    memory.learn(claims=[{**ADA, "value": "Kim"}])
    (question,) = memory.review()
    assert len(question.sides) == 2
    assert {f.value: f.valid_to for f in memory.facts("deploys")} == {"Ada": "", "Kim": ""}


def test_said_again_without_an_end_by_a_stranger_it_keeps_its_end(memory, clock):
    told(memory, clock)
    memory.remember("Kim owns deploys.", facts=[{**ADA, "value": "Kim"}], metadata={"trust": "external"})
    assert listed(memory) == [("Kim", False), ("Ada", True)]


def test_said_again_without_an_end_beside_nothing_it_keeps_its_end(memory):
    visa = {"subject": "visa", "predicate": "kind", "value": "B1"}
    memory.learn(claims=[{**visa, "valid_to": "2026-10-31"}])
    memory.learn(claims=[visa])
    assert [f.valid_to[:10] for f in memory.facts("visa")] == ["2026-10-31"]


# --- denials


PORK = {"subject": "Ana", "predicate": "eat", "value": "pork"}


@pytest.mark.parametrize("denied", [True, False], ids=["not pork, then pork", "pork, then not pork"])
def test_a_denial_is_interrupted_and_interrupts_as_a_value_does(memory, clock, denied):
    clock.now = on(3, 1)
    memory.learn(claims=[{**PORK, "denied": denied}])
    clock.now = on(4, 1)
    memory.learn(claims=[{**PORK, "denied": not denied, "valid_to": "2026-04-30"}])
    shown = [(f.denied, f.interrupted is not None) for f in memory.facts("Ana")]
    assert shown == [(not denied, False), (denied, True)]
    assert memory.review() == []
    clock.now = on(5, 1)
    assert [(f.denied, f.interrupted is not None) for f in memory.facts("Ana")] == [(denied, False)]


def test_what_was_forgotten_interrupts_on_no_day(memory, clock):
    told(memory, clock)
    clock.now = on(10, 20)
    kim = next(f.id for f in memory.facts("deploys", past=True) if f.value == "Kim")
    assert {f.value: bool(f.interrupted) for f in memory.facts(as_of=on(10, 3))} == {"Kim": False, "Ada": True}
    memory.forget(kim)
    assert {f.value: bool(f.interrupted) for f in memory.facts(as_of=on(10, 3))} == {"Ada": False}

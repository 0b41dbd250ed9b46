"""A day, month or year that a question names: what was said then comes first."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from conftest import HASHED, HashEmbedder
from perdure.models.local import LocalEmbedder

SAID = {
    "spring": ("Anna went hiking with the club to the hills.", datetime(2025, 5, 9, 18, tzinfo=UTC)),
    "summer": ("Anna went hiking with the club to the lake.", datetime(2025, 7, 20, 18, tzinfo=UTC)),
    "friday": ("Anna went hiking with the club to the mill.", datetime(2025, 9, 5, 18, tzinfo=UTC)),
    "monday": ("Anna went hiking with the club to the river.", datetime(2025, 9, 8, 18, tzinfo=UTC)),
}
ASKED = datetime(2025, 9, 10, 9, tzinfo=UTC)
"""A Wednesday."""


@pytest.fixture(params=["words", "vectors"])
def memory(request, opening, clock):
    embedder = HashEmbedder() if request.param == "vectors" else None
    memory = opening(embedder=embedder)
    for text, at in SAID.values():
        clock.now = at
        memory.remember(text)
    clock.now = ASKED
    return memory


def first(memory, question, **given):
    """Return which of the memories comes first, and its score parts."""
    best = memory.recall(question, touch=False, **given).hits[0]
    return next(name for name, (text, _) in SAID.items() if text == best.memory.content), best.parts


@pytest.mark.behaviour("Q12")
def test_last_night_is_the_day_before(memory, clock):
    clock.now = datetime(2025, 9, 9, 9, tzinfo=UTC)
    assert first(memory, "Where did Anna go hiking with the club last night?")[0] == "monday"


@pytest.mark.behaviour("Q12")
@pytest.mark.parametrize(
    ("when", "meant"),
    [
        ("in May 2025", "spring"),
        ("on 20 July 2025", "summer"),
        ("on July 20", "summer"),
        ("on 2025-05-09", "spring"),
        ("two days ago", "monday"),
        ("the day before yesterday", "monday"),
        ("last Friday", "friday"),
        ("last week", "friday"),
        ("this week", "monday"),
        ("im Mai", "spring"),
        ("le 20 juillet 2025", "summer"),
        ("2025年5月9日", "spring"),
    ],
)
def test_what_was_said_on_the_day_that_a_question_names_comes_first(memory, when, meant):
    name, parts = first(memory, f"Where did Anna go hiking with the club {when}?")
    assert name == meant
    assert parts["dated"] == pytest.approx(0.3)


@pytest.mark.behaviour("Q12")
@pytest.mark.parametrize("question", ["May Anna go hiking with the club?", "Where did Anna go hiking on 31 June?"])
def test_a_question_that_names_no_day_has_no_such_part(memory, question):
    assert all("dated" not in hit.parts for hit in memory.recall(question, touch=False).hits)


@pytest.mark.behaviour("Q13")
def test_days_are_counted_from_the_time_that_is_asked_about(memory):
    asked = datetime(2025, 7, 22, 9, tzinfo=UTC)
    assert first(memory, "Where did Anna go hiking with the club two days ago?", as_of=asked)[0] == "summer"


@pytest.mark.behaviour("Q13")
def test_what_is_told_a_few_days_later_counts_less_than_on_the_day(memory):
    hits = memory.recall("Where did Anna go hiking with the club on 6 September?", touch=False).hits
    parts = {hit.memory.content: hit.parts["dated"] for hit in hits if "dated" in hit.parts}
    assert 0.3 > parts[SAID["monday"][0]] > 0.2 > parts.get(SAID["summer"][0], 0.0)


@pytest.mark.behaviour("Q12")
@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("What happened on 8 September?", ["monday"]),
        ("What happened on Monday?", ["monday"]),
        ("What's new this week?", ["monday"]),
        ("What did we do between 5 and 8 September?", ["monday", "friday"]),
        ("What did I tell you between 9 May and 20 July 2025?", ["summer", "spring"]),
        ("Was war am 9. Mai?", ["spring"]),
        ("¿Qué pasó el 20 de julio?", ["summer"]),
        ("What happened yesterday?", []),
    ],
)
def test_a_question_that_asks_only_for_days_is_answered_by_what_is_of_them(memory, question, meant):
    """No word of such a question, and no vector, says what was then."""
    answer = memory.recall(question, touch=False)
    assert [next(n for n, (t, _) in SAID.items() if t == hit.memory.content) for hit in answer.hits] == meant
    assert answer.nothing_known == (not meant)
    assert {hit.relevance for hit in answer.hits} <= {1.0}


@pytest.mark.behaviour("Q12")
def test_a_question_about_days_keeps_to_its_filters_and_is_explained(memory):
    question = "What happened in September?"
    assert len(memory.recall(question, touch=False).hits) == 2
    later = datetime(2025, 9, 6, tzinfo=UTC)
    (hit,) = memory.recall(question, touch=False, since=later).hits
    assert hit.memory.content == SAID["monday"][0]
    spring = next(m for m in memory.list() if m.content == SAID["spring"][0])
    assert memory.why_not(hit.memory.id, question).kept_out_by == "nothing"
    assert memory.why_not(spring.id, question).kept_out_by == "days"
    assert memory.why_not(hit.memory.id, question, until=later).kept_out_by == "rank"


@pytest.mark.behaviour("Q12")
def test_a_question_that_names_a_topic_beside_a_day_is_searched_for(memory):
    assert first(memory, "Who went hiking on 8 September?")[0] == "monday"
    assert len(memory.recall("Who went hiking on 8 September?", touch=False).hits) > 1


@pytest.mark.behaviour("Q12")
@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("What is on 12 September?", ["The offsite is on 12 September in Ghent."]),
        ("What was on 8 September?", ["The fair took place on 8 September.", SAID["monday"][0]]),
        ("Was ist am 11. September?", ["Der Zahnarzttermin ist am 11. September."]),
    ],
)
def test_what_names_the_day_that_a_question_asks_for_comes_before_what_was_said_on_it(memory, clock, question, meant):
    clock.now = datetime(2025, 9, 7, 9, tzinfo=UTC)
    for text in ("The offsite is on 12 September in Ghent.", "Der Zahnarzttermin ist am 11. September."):
        memory.remember(text)
    clock.now = datetime(2025, 9, 2, 9, tzinfo=UTC)
    memory.remember("The fair took place on 8 September.")
    clock.now = ASKED
    assert [hit.memory.content for hit in memory.recall(question, touch=False).hits][: len(meant)] == meant


@pytest.mark.behaviour("Q12")
@pytest.mark.parametrize(
    "question",
    [
        "What happened before 8 September?",
        "What happened since 8 September?",
        "Was geschah bis zum 8. September?",
        "What happened from 8 September on?",
        "What happened on September 5 and 8?",
    ],
)
def test_days_that_are_one_end_of_a_time_are_no_answer_by_themselves(memory, question):
    assert all(hit.relevance < 1.0 for hit in memory.recall(question, touch=False).hits)


STANDUPS = {
    2: "Standup: Jonas works on the login page, Mira is ill.",
    9: "Standup: the release slips to April because of the payment bug.",
    16: "Standup: Mira is back, Jonas reviews the migration.",
    23: "Standup note: we drop the old API on Friday.",
}


@pytest.fixture
def standups(opening, clock):
    memory = opening(HASHED, LocalEmbedder())
    for day, text in STANDUPS.items():
        clock.now = datetime(2026, 3, day, 9, tzinfo=UTC)
        memory.remember(text)
        memory.remember(f"Lunch was at the Thai place with {['Mira', 'Jonas', 'Ana', 'Ole'][day // 7]}.")
    clock.now = datetime(2026, 3, 30, 9, tzinfo=UTC)
    return memory


@pytest.mark.behaviour("Q12")
@pytest.mark.parametrize(
    ("question", "day"),
    [
        ("What was the standup note on 9 March?", 9),
        ("What did we say in the standup on March 2nd?", 2),
        ("standup 16 March", 16),
        ("What was decided at the standup last week?", 23),
        ("Standup am 9. März", 9),
    ],
)
def test_of_notes_that_are_alike_the_one_of_the_day_that_a_question_names_comes_first(standups, question, day):
    answer = standups.recall(question, touch=False)
    assert answer.hits[0].memory.content == STANDUPS[day]
    assert "March" not in answer.note
    absence = standups.why_not(answer.hits[0].memory.id, question)
    assert (absence.kept_out_by, absence.rank) == ("nothing", 1)


@pytest.mark.behaviour("Q12")
def test_a_note_of_the_day_that_is_about_something_else_does_not_come_first(standups, clock):
    clock.now = datetime(2026, 3, 24, 9, tzinfo=UTC)
    standups.remember("The plumber replaced the valve below the sink.")
    clock.now = datetime(2026, 3, 30, 9, tzinfo=UTC)
    contents = [hit.memory.content for hit in standups.recall("Which standup was on 24 March?", touch=False).hits]
    assert contents[0] in STANDUPS.values()


@pytest.mark.behaviour("Q12")
def test_a_note_that_names_the_day_comes_before_one_that_was_written_then(meaning, clock):
    clock.now = datetime(2026, 3, 1, 9, tzinfo=UTC)
    meaning.remember("The dentist has moved the appointment to 12 March at 9:40.")
    clock.now = datetime(2026, 3, 12, 9, tzinfo=UTC)
    meaning.remember("Bought a toothbrush after the dentist.")
    clock.now = datetime(2026, 3, 14, 9, tzinfo=UTC)
    shown = meaning.recall("When is the dentist appointment on 12 March?", touch=False).hits
    assert shown[0].memory.content.startswith("The dentist has moved")

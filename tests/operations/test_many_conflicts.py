"""A value that changes often and is never said to replace another: every one is believed, and few are shown."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from conftest import WORDS_ONLY
from perdure.interfaces.cli.app import app
from perdure.operations.lifecycle import review
from perdure.stores import reading

KNOWLEDGE = {**WORDS_ONLY, "preset": "facts"}
QUESTION = "How many rows are left in the importer?"


def runs(memory, clock, many, first=0):
    """Say of each run how many rows are left, each time another number."""
    for number in range(first, first + many):
        clock.passes(hours=2)  # all within the days in which neither of two values takes the place of the other
        fact = {"subject": "importer", "predicate": "rows left", "value": f"{number * 7}"}
        memory.remember(f"Importer status on run {number}: {number * 7} rows left.", facts=[fact])


@pytest.fixture
def documents(monkeypatch):
    """Counts the documents that are read."""
    read, one = [], reading.document_of

    def counted(values):
        read.append(values)
        return one(values)

    monkeypatch.setattr(reading, "document_of", counted)
    return read


def test_the_answer_sheet_shows_the_newest_sides_and_how_many_more_there_are(opening, clock):
    memory = opening(KNOWLEDGE)
    runs(memory, clock, 40)
    sheet = memory.answer_sheet(QUESTION)
    [sides] = sheet.contested
    assert [side.says.rpartition(" ")[2] for side in sides] == ["259", "266", "273"]
    assert (sheet.contested_more, sheet.left_out) == ((37,), 0)
    assert "- One of these, or of 37 older ones:" in sheet.text
    assert "273" in sheet.text
    assert " 252 " not in sheet.text


def test_three_values_are_all_shown_and_none_is_counted(opening, clock):
    memory = opening(KNOWLEDGE)
    runs(memory, clock, 3)
    sheet = memory.answer_sheet(QUESTION)
    assert [len(sides) for sides in sheet.contested] == [3]
    assert sheet.contested_more == (0,)
    assert "- One of these:" in sheet.text


def test_one_question_names_the_newest_values_and_how_many_more_there_are(opening, clock):
    memory = opening(KNOWLEDGE)
    runs(memory, clock, 40)
    [question] = memory.review(limit=100)
    assert [f"is {n}" in question.question for n in (252, 259, 266, 273)] == [False, True, True, True]
    assert question.question.endswith("; and 37 more say otherwise. Which holds?")
    assert len(question.against) == 39
    memory.confirm(question.id)
    assert [f.value for f in memory.facts("importer")] == ["273"]
    assert memory.review(limit=100) == []


def test_a_denied_value_leaves_the_question_between_the_others(opening, clock):
    memory = opening(KNOWLEDGE)
    runs(memory, clock, 4)
    [question] = memory.review(limit=100)
    memory.deny(question.id)
    [left] = memory.review(limit=100)
    assert len(left.against) == 2
    assert left.question.count(" is ") == 3
    assert " more " not in left.question


def test_hits_and_facts_name_few_of_many_sides(opening, clock, path):
    memory = opening(KNOWLEDGE)
    runs(memory, clock, 20)
    assert max(len(hit.contested_with) for hit in memory.recall(QUESTION).hits) == 19
    memory.close()
    shown = CliRunner().invoke(app, ["recall", QUESTION, "--store", str(path)], prog_name="perdure").stdout
    assert "and with 16 more" in shown
    shown = CliRunner().invoke(app, ["facts", "importer", "--store", str(path)], prog_name="perdure").stdout
    assert shown.count("and 16 more") == 20


def test_what_is_read_for_one_more_value_grows_no_faster_than_the_conflict(opening, clock, documents):
    memory = opening(KNOWLEDGE)
    counts = {}
    for many in (20, 40):
        runs(memory, clock, many - 1 - sum(counts and [20]), first=sum(counts and [20]))
        documents.clear()
        runs(memory, clock, 1, first=many - 1)
        remembered = len(documents)
        documents.clear()
        memory.recall(QUESTION)
        counts[many] = remembered, len(documents)
    assert counts[40][0] < 3 * counts[20][0]
    assert counts[40][1] < 3 * counts[20][1]


def test_review_reads_and_renders_no_more_than_the_sides_that_it_shows(opening, clock, documents, monkeypatch):
    memory = opening(KNOWLEDGE)
    rendered, clause_of = [], review.clause_of

    def counted(side):
        rendered.append(side)
        return clause_of(side)

    monkeypatch.setattr(review, "clause_of", counted)
    for first, many in ((0, 20), (20, 60)):
        runs(memory, clock, many - first, first=first)
        documents.clear()
        rendered.clear()
        [question] = memory.review(limit=100)
        assert len(question.sides) == many
        assert len(documents) <= 3 * many
        assert len(rendered) <= many + 1

"""review and settle: open questions, the most valuable doubt first, and the answers that close them."""

from __future__ import annotations

import pytest

from conftest import WORDS_ONLY, bare_fact, logical
from perdure.records.errors import InvalidInput, NotFound

DAY_MS = 86_400_000


@pytest.fixture
def doubtful(memory, clock):
    """Three memories that were wrong, most valuable last; of one namespace."""
    made = [memory.remember(f"note {i}", confidence=0.9) for i in range(3)]
    for times, one in enumerate(made):
        for _ in range(times * 3):
            memory.recall(one.memory.content, limit=1)
    clock.passes(days=1)
    memory.used([m.id for m in made], "wrong")
    return made


@pytest.mark.behaviour("SG46")
def test_the_highest_value_at_risk_comes_first(memory, doubtful):
    questions = memory.review()
    assert [q.id for q in questions] == [m.id for m in reversed(doubtful)]
    for question in questions:
        one = memory.get(question.id)
        assert question.value_at_risk == pytest.approx(one.value * (1 - one.confidence))
    assert [q.id for q in memory.review(limit=1)] == [doubtful[2].id]
    assert memory.review("elsewhere") == []


@pytest.mark.behaviour("SG47")
def test_a_question_names_the_day_and_the_words(memory, doubtful):
    question = memory.review()[0]
    assert question.question == 'On 1 January 2026 I noted: "note 2". Is it right?'
    assert question.since == "2026-01-02 00:00 UTC"
    assert set(question.to_dict()) == {
        "id",
        "namespace",
        "question",
        "why",
        "since",
        "value_at_risk",
        "against",
        "sides",
        "same",
        "answers",
    }


def test_asking_changes_nothing(memory, doubtful, path):
    before = logical(path)
    assert len(memory.review()) == 3
    assert logical(path) == before
    assert memory.get(doubtful[0].id).access_count == 0


def test_more_questions_than_a_page_are_all_asked(memory):
    made = memory.remember_many([f"note {i}" for i in range(1020)])
    memory.used([m.id for m in made], "wrong")
    assert len(memory.review(limit=1000)) == 1000
    for one in made[:20]:
        memory.archive(one.id, "test")
    assert {q.id for q in memory.review(limit=1000)} == {m.id for m in made[20:]}


@pytest.mark.behaviour("SG48")
def test_keep_validates_and_closes(memory, clock):
    kept = bare_fact(memory, "the deploy is on tuesday", confidence=0.8)
    clock.passes(days=40)
    memory.used([kept.id], "wrong")
    clock.passes(days=1)
    doubted = memory.get(kept.id)
    back = memory.settle(kept.id, reason="asked Ann")
    assert back.memory.confidence == pytest.approx(0.42)  # base 0.4 + 0.02, counted from now
    assert back.memory.state.validated_ms == kept.memory.state.created_ms + 41 * DAY_MS
    assert back.memory.state.reinforcements == doubted.state.reinforcements + 1
    assert back.memory.access_count == doubted.access_count  # a validation is no access
    assert back.memory.state.anchor_ms == doubted.state.anchor_ms
    assert memory.review() == []
    assert "asked Ann" in memory.history()[0].note
    assert memory.get(kept.id).confidence == back.memory.confidence


def test_keep_starts_the_truth_clock_of_other_kinds_anew(opening, clock):
    memory = opening(
        {"embedder": {"model": "none"}, "confidence": {"daily_factor": 0.95}, "archive": {"rule": "never"}}
    )
    kept = memory.remember("a note", confidence=0.8)
    memory.used([kept.id], "wrong")
    clock.passes(days=10)
    assert memory.get(kept.id).confidence == pytest.approx(0.4 * 0.95**10)
    back = memory.settle(kept.id)
    assert (back.memory.confidence, back.memory.access_count) == (pytest.approx(0.42), 0)
    clock.passes(days=10)
    assert memory.get(kept.id).confidence == pytest.approx(0.42 * 0.95**10)


@pytest.mark.behaviour("SG49")
def test_drop_archives_and_closes(memory, doubtful):
    gone = memory.settle(doubtful[0].id, "drop", "no longer so")
    assert gone.memory.status == "archived"
    assert memory.get(gone.id) is None
    assert len(memory.review()) == 2
    assert "no longer so" in memory.history(gone.id)[-2].because + memory.history(gone.id)[-1].because
    assert memory.history()[0].hides == 0  # what a person hides is no loss of upkeep
    assert memory.restore(gone.id).memory.status == "active"


def test_what_was_hidden_meanwhile_is_not_asked_about_but_can_be_closed(memory, doubtful):
    one, two, _ = doubtful
    memory.archive(one.id, "test")
    memory.archive(two.id, "test")
    assert len(memory.review()) == 1
    with pytest.raises(InvalidInput, match="Use `restore` first"):
        memory.settle(one.id, "keep")
    assert memory.settle(one.id, "drop").memory.status == "archived"
    memory.restore(one.id)
    memory.restore(two.id)
    assert {q.id for q in memory.review()} == {two.id, doubtful[2].id}


@pytest.mark.parametrize("verdict", ["keep", "drop"])
def test_undo_brings_the_question_back(memory, doubtful, path, verdict):
    questions, before = memory.review(), logical(path)
    memory.settle(doubtful[1].id, verdict)
    memory.undo(memory.history()[0].id)
    assert (memory.review(), logical(path)) == (questions, before)


def test_there_must_be_a_question(memory, doubtful):
    other = memory.remember("never doubted")
    with pytest.raises(NotFound, match="no open question"):
        memory.settle(other.id)
    with pytest.raises(NotFound):
        memory.settle("nobody")
    with pytest.raises(InvalidInput, match="keep, drop"):
        memory.settle(doubtful[0].id, "maybe")
    with pytest.raises(InvalidInput, match="1 to 1000"):
        memory.review(limit=0)


@pytest.mark.behaviour("MO09")
def test_an_answer_counts_however_much_is_written_after_it_on_the_same_day(opening):
    memory = opening({**WORDS_ONLY, "knowledge": {"questions_per_day": 1}})
    made = [memory.remember(f"note {i}", confidence=0.9) for i in range(2)]
    memory.used([m.id for m in made], "wrong")
    memory.answer(memory.review()[0].id, "keep")
    for number in range(60):
        memory.remember(f"entry {number}")
    assert memory.review() == []


@pytest.mark.behaviour("MO09")
def test_an_answer_that_was_taken_back_is_none_of_the_days_questions(opening):
    memory = opening({**WORDS_ONLY, "knowledge": {"questions_per_day": 1}})
    for words in ("The left gate is green.", "The right gate is blue."):
        memory.used([memory.remember(words).id], "wrong")
    (asked,) = memory.review()
    done = memory.settle(asked.id, "drop")
    assert memory.review() == []
    memory.undo(done.operation)
    assert [q.id for q in memory.review()] == [asked.id]


PUMP = "The infusion pump must not be moved before Friday because the cable is loose."


@pytest.fixture
def kept_short(opening, clock):
    """Return a memory in which everything that was stored is shown as keywords after 60 days."""
    triggers = {"summary_value": 1.0, "keywords_value": 1.0, "embedding_value": 1.0, "embedding_days": 300.0}
    memory = opening({**WORDS_ONLY, "preset": "tiered", "compression": triggers})

    def passes(days=60):
        for _ in range(days):
            clock.passes(days=1)
            memory.sweep()
        return memory

    memory.passes = passes
    return memory


def test_a_question_quotes_the_whole_text_of_what_is_shown_in_a_shorter_form(kept_short):
    pump = kept_short.remember(PUMP)
    kept_short.passes()
    assert kept_short.get(pump.id).form == "keywords"
    kept_short.used([pump.id], "wrong")
    [question] = kept_short.review()
    assert question.question == f'On 1 January 2026 I noted: "{PUMP}". Is it right?'
    assert question.question in kept_short.digest()


def test_the_question_whether_a_fact_is_still_so_says_all_of_it(kept_short):
    claim = {"subject": "Gai Media", "predicate": "delivery day", "value": "Friday before noon at the rear gate"}
    kept_short.remember("The courier called.", facts=[claim])
    kept_short.passes(120)
    [fact] = kept_short.facts()
    assert kept_short.get(fact.id).form == "keywords"
    asked = "I noted on 1 January 2026 that Gai Media's delivery day is Friday before noon at the rear gate."
    assert fact.question.startswith(asked)
    [hit] = [h for h in kept_short.recall("delivery day of Gai Media").hits if h.memory.id == fact.id]
    assert hit.question == fact.question
    assert fact.question in [q.question for q in kept_short.review()]

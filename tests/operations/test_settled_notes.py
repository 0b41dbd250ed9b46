"""What a person corrected, denied or decided, or what has ended, is told as such wherever its note is shown."""

from __future__ import annotations

import pytest

from conftest import WORDS_ONLY, logical


def said(subject, predicate, value, **more):
    return {"subject": subject, "predicate": predicate, "value": value, **more}


ROME = said("Tom", "home", "Rome")


# --- a note is corrected


def test_a_corrected_note_takes_the_facts_of_its_old_words_with_it(memory, path):
    note = memory.remember("Tom lives in Rome.", facts=[ROME])
    before = logical(path)
    done = memory.correct(note.id, "Tom lives in Turin.")
    assert memory.facts("Tom") == []
    assert "Rome" not in memory.digest()
    assert [h.memory.id for h in memory.recall("Where does Tom live?").hits] == [done.id]
    memory.undo(done.operation)
    assert logical(path) == before


def test_a_fact_that_another_note_says_outlives_a_correction(memory):
    note = memory.remember("Tom lives in Rome.", facts=[ROME])
    memory.remember("Tom moved to Rome in May.", facts=[ROME])
    memory.correct(note.id, "Tom likes Rome.")
    assert [f.value for f in memory.facts("Tom")] == ["Rome"]


@pytest.mark.parametrize("preset", ["balanced", "facts"])
def test_what_was_pinned_stays_pinned_when_it_is_corrected(opening, preset):
    memory = opening({**WORDS_ONLY, "preset": preset})
    note = memory.remember("The emergency doctor is Lee, 555-1.", pinned=True)
    assert memory.correct(note.id, "The emergency doctor is Lee, 555-2.").memory.pinned
    other = memory.remember("The plumber is Ray.")
    assert not memory.correct(other.id, "The plumber is Roy.").memory.pinned
    memory.remember("Kim's phone is 1.", facts=[said("Kim", "phone", "1")])
    memory.pin(memory.facts("Kim")[0].id)
    done = memory.correct(memory.facts("Kim")[0].id, "2")
    assert done.memory.pinned
    assert memory.get(done.id).pinned
    memory.undo(done.operation)
    (fact,) = memory.facts("Kim")
    assert (fact.value, memory.get(fact.id).pinned) == ("1", True)


def test_a_pinned_fact_that_another_already_says_better_hands_its_pin_over(memory):
    memory.remember("Kim's phone is 1.", facts=[said("Kim", "phone", "1")])
    memory.pin(memory.facts("Kim")[0].id)
    memory.remember("Kim's phone is 2.", facts=[said("Kim", "phone", "2")])
    wrong = next(f.id for f in memory.facts("Kim") if f.value == "1")
    done = memory.correct(wrong, "2")
    assert (done.memory.pinned, [f.value for f in memory.facts("Kim")]) == (True, ["2"])

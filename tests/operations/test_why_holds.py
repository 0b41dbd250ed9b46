"""why tells whether a memory is still true, what took its place, and which facts rest on it."""

from __future__ import annotations

import pytest

HOST = {"subject": "staging", "predicate": "database host", "value": "db-7"}
OWNER = {"subject": "staging", "predicate": "owner", "value": "Ana"}
SAYS = "staging: database host: db-7"


@pytest.fixture
def note(memory):
    return memory.remember("The staging database host is db-7.", facts=[HOST]).id


@pytest.fixture
def fact(memory, note):
    return memory.facts()[0].id


def told(why):
    return [(o.id, o.over, o.replaced_by) for o in why.no_longer_true]


@pytest.mark.parametrize("how", ["correct", "replace"])
def test_a_note_and_its_fact_name_what_took_the_place_of_what_they_say(memory, note, fact, how):
    if how == "correct":
        instead = memory.correct(fact, "db-9").id
    else:
        memory.remember("Staging has moved to db-9.", facts=[{**HOST, "value": "db-9", "replaces": "db-7"}])
        instead = memory.facts()[0].id
    of_fact = memory.why(fact)
    assert (told(of_fact), of_fact.replaced_by) == ([(fact, "replaced", instead)], instead)
    of_note = memory.why(note)
    assert told(of_note) == [(fact, "replaced", instead)]
    assert of_fact.replacements[instead] == of_note.replacements[instead] == "staging: database host: db-9"
    assert of_note.to_dict()["no_longer_true"][0]["content"] == "database host: db-7"


def test_a_denied_fact_has_nothing_in_its_place(memory, note, fact):
    assert (told(memory.why(note)), told(memory.why(fact))) == ([], [])
    memory.deny(fact)
    for identity in (note, fact):
        why = memory.why(identity)
        assert (told(why), why.replaced_by, why.replacements, why.sole_source_of) == (
            [(fact, "denied", None)],
            None,
            {},
            (),
        )


def test_a_replaced_note_names_the_last_of_those_that_took_its_place(memory):
    first = memory.remember("Deploys happen on Mondays.").id
    second = memory.update(first, "Deploys happen on Tuesdays.").id
    third = memory.update(second, "Deploys happen on Wednesdays.")
    why = memory.why(first)
    assert (why.replaced_by, why.replacements) == (third.id, {third.id: "Deploys happen on Wednesdays."})
    memory.undo(third.operation)
    assert memory.why(first).replaced_by == second
    assert memory.why(second).replaced_by is None


def test_the_facts_that_rest_on_a_note_are_those_that_an_update_takes_out_of_belief(memory):
    note = memory.remember("Staging runs on db-7 and is Ana's.", facts=[HOST, OWNER]).id
    again = memory.remember("Ana owns staging, as agreed.", facts=[OWNER]).id
    assert [r.content for r in memory.why(note).sole_source_of] == [SAYS]
    memory.archive(again, "a test")  # it may come back: its fact does not rest on the note alone
    assert [r.content for r in memory.why(note).sole_source_of] == [SAYS]
    resting = memory.why(note).sole_source_of
    done = memory.update(note, "Staging has moved.")
    assert [(r.id, r.content) for r in done.facts.replaced] == [(r.id, r.content) for r in resting]
    memory.undo(done.operation)
    memory.archive(note, "a test")
    assert {r.content for r in memory.why(note).sole_source_of} == {SAYS, "staging: owner: Ana"}
    memory.restore(again)
    assert [r.content for r in memory.why(note).sole_source_of] == [SAYS]


def test_every_door_tells_it_in_words(memory, note, fact):
    from perdure.interfaces.views import Request, view_of
    from perdure.interfaces.views.model import render_text

    def text(identity):
        return render_text(view_of(memory.why(identity), Request("why")))

    assert f'Believed facts that it alone says\n- "{SAYS}" {fact[-8:]}' in text(note)
    done = memory.correct(fact, "db-9")
    place = f'In its place: "staging: database host: db-9" {done.id[-8:]}'
    for identity in (note, fact):
        assert f'No longer holds: "database host: db-7" (replaced 2026-01-01). {place}' in text(identity)

"""Recall of a message that says a fact which was noted apart from it, and which another replaced since."""

from __future__ import annotations

import pytest

from conftest import WORDS_ONLY

FREE, QUESTION = "I am on the Free plan", "Which plan am I on?"


def plan(value, **more):
    return {"subject": "user", "predicate": "plan", "value": value, **more}


def noted_as_a_fact(memory):
    memory.learn(claims=[plan("Free")])
    (fact,) = memory.facts("user")
    return fact.id


def noted_in_a_note(memory):
    return memory.remember("The user is on the Free plan.", facts=[plan("Free")]).id


def corrected(memory, old):
    memory.correct(old, "Pro")


def handed_over(memory, _old):
    memory.learn(claims=[plan("Pro", replaces="Free")])


def updated(memory, old):
    memory.update(old, "The user is on the Pro plan.", facts=[plan("Pro")])


def hit_of(memory, content, **asked):
    [hit] = [h for h in memory.recall(QUESTION, **asked).hits if h.memory.content == content]
    return hit


@pytest.fixture(params=[{}, {"preset": "facts"}], ids=["default", "facts"])
def memory(opening, request):
    return opening({**WORDS_ONLY, **request.param})


@pytest.mark.parametrize(
    ("noted", "replaced"),
    [(noted_as_a_fact, corrected), (noted_as_a_fact, handed_over), (noted_in_a_note, updated)],
    ids=["corrected", "handed-over", "updated"],
)
def test_recall_marks_a_message_whose_fact_was_noted_apart_from_it_and_replaced(memory, clock, noted, replaced):
    memory.ingest([{"content": FREE, "role": "user", "session": "a"}])
    clock.passes(minutes=2)
    old = noted(memory)
    assert (hit_of(memory, FREE).updated_by, hit_of(memory, FREE).over) == (None, ())
    clock.passes(days=1)
    before = clock()
    clock.passes(days=2)
    replaced(memory, old)
    [fact] = memory.facts("user")
    hit = hit_of(memory, FREE)
    assert (hit.updated_by, [one.content for one in hit.over]) == (fact.id, ["plan: Free"])
    assert memory.recall(QUESTION).hits[-1].memory.content == FREE, "what holds stands before it"
    assert hit_of(memory, FREE, known_at=before).over == ()
    memory.undo(memory.history()[0].id)
    assert (hit_of(memory, FREE).updated_by, hit_of(memory, FREE).over) == (None, ())


def test_a_message_that_says_more_is_marked_and_keeps_its_worth(memory, clock):
    said = "I am on the Free plan. My dog Bruno needs a sitter for the weekend in Genoa"
    memory.ingest([{"content": said, "role": "user", "session": "a"}])
    noted_as_a_fact(memory)
    clock.passes(days=3)
    handed_over(memory, None)
    hit = hit_of(memory, said)
    assert (hit.updated_by, [one.content for one in hit.over]) == (None, ["plan: Free"])


def test_what_was_said_hours_before_or_after_the_change_is_left_alone(memory, clock):
    earlier, later = "Last year I was on the Free plan as well", "I am on the Free plan again"
    memory.ingest([{"content": earlier, "role": "user", "session": "a"}])
    clock.passes(hours=5)
    noted_as_a_fact(memory)
    clock.passes(days=3)
    handed_over(memory, None)
    clock.passes(days=3)
    memory.ingest([{"content": later, "role": "user", "session": "b"}])
    assert [hit_of(memory, said).over for said in (earlier, later)] == [(), ()]


def of(subject, predicate, value, **more):
    return {"subject": subject, "predicate": predicate, "value": value, **more}


IN_OTHER_WORDS = [
    (
        "The CI runner has sixteen gigs of memory and lives in Frankfurt.",
        "The CI runner has 16 GB of RAM and runs in Frankfurt.",
        (of("CI runner", "RAM", "16 GB"), of("CI runner", "region", "Frankfurt")),
        of("CI runner", "RAM", "32 GB"),
    ),
    (
        "Der Schulbus fährt um Viertel nach sieben ab, Haltestelle Lindenplatz.",
        "Der Schulbus fährt um 7:15 Uhr vom Lindenplatz ab.",
        (of("Schulbus", "Abfahrt", "7:15"), of("Schulbus", "Haltestelle", "Lindenplatz")),
        of("Schulbus", "Abfahrt", "7:05"),
    ),
    (
        "La asistenta viene los viernes por la tarde, se llama Rosa.",
        "La asistenta, Rosa, viene los viernes por la tarde.",
        (of("asistenta", "día", "viernes por la tarde"), of("asistenta", "nombre", "Rosa")),
        of("asistenta", "día", "jueves por la tarde"),
    ),
    (
        "Le cours de piano est le mardi à dix-huit heures chez Mme Petit.",
        "Le cours de piano a lieu le mardi à 18 h chez Mme Petit.",
        (of("cours de piano", "horaire", "mardi 18:00"), of("cours de piano", "professeur", "Mme Petit")),
        of("cours de piano", "horaire", "mercredi 18:00"),
    ),
    (
        "Die Chorprobe ist donnerstags um acht im Gemeindehaus.",
        "Die Chorprobe findet donnerstags um 20 Uhr im Gemeindehaus statt.",
        (of("Chorprobe", "Termin", "Donnerstag 20 Uhr"), of("Chorprobe", "Ort", "Gemeindehaus")),
        of("Chorprobe", "Termin", "Freitag 20 Uhr"),
    ),
]


def say_and_note(memory, clock, said, note, facts, later):
    """Say something, note it down, and a day later replace the first of its facts; return its hit and the digest."""
    memory.ingest([{"content": said, "role": "user", "session": "a"}])
    clock.passes(minutes=1)
    memory.remember(note, facts=list(facts))
    memory.end_session("a")
    clock.passes(days=1)
    new = f"{later['subject']}: {later['predicate']} {later['value']}."
    memory.remember(new, facts=[{**later, "replaces": facts[0]["value"]}])
    clock.passes(hours=9)
    memory.sweep()
    [hit] = [h for h in memory.recall(said).hits if h.memory.content == said]
    return hit, memory.digest()


@pytest.mark.parametrize(("said", "note", "facts", "later"), IN_OTHER_WORDS)
def test_so_is_one_whose_note_says_two_facts_in_other_words(opening, clock, said, note, facts, later):
    hit, digest = say_and_note(opening(WORDS_ONLY), clock, said, note, facts, later)
    assert any(one.content.endswith(f"{facts[0]['predicate']}: {facts[0]['value']}") for one in hit.over)
    assert [line for line in digest.splitlines() if said in line and "no longer holds" not in line] == []


@pytest.mark.parametrize(
    ("said", "fact", "value"),
    [
        ("The production cluster has four nodes.", of("staging cluster", "nodes", "4"), "2"),
        ("The staging cluster needs two more days of testing.", of("staging cluster", "nodes", "2"), "4"),
        ("Im Lager arbeiten zwölf Leute.", of("Lager", "Tore", "12"), "14"),
        ("Leos Unterricht ist mittwochs um 15 Uhr.", of("Mias Unterricht", "Termin", "Mittwoch 16 Uhr"), "Freitag"),
        ("Yoga costs 12 euros a month.", of("yoga", "time", "Tuesday 18:00"), "Friday"),
    ],
)
def test_a_message_about_something_else_is_left_alone(opening, clock, said, fact, value):
    note = f"{fact['subject']}: {fact['predicate']} {fact['value']}."
    hit, _ = say_and_note(opening(WORDS_ONLY), clock, said, note, [fact], {**fact, "value": value})
    assert hit.over == ()

"""What a second value does to the first: both stay where a predicate has several, else the reply says what is over."""

import re

import pytest

import perdure
from conftest import WORDS_ONLY, logical
from perdure.interfaces.views import Request
from perdure.interfaces.views.memory import view_remember_result
from perdure.interfaces.views.model import render_text

TEA = {"subject": "Ana", "predicate": "ritual", "value": "tea"}
WALK = {**TEA, "value": "a walk"}
BOTH, NEWER = frozenset({"tea", "a walk"}), frozenset({"a walk"})


@pytest.fixture
def memory(opening):
    return opening(WORDS_ONLY)


def believed(memory, subject="Ana"):
    return {f.shown_value for f in memory.facts(subject)}


def reply(done):
    return render_text(view_remember_result(done, Request("remember", {})))


def displaced(memory, clock):
    """A value of an unknown predicate whose place another took ten days later; the reply to that one."""
    memory.remember("Ana's ritual is tea.", facts=[TEA])
    clock.passes(days=10)
    return memory.remember("Ana's ritual is a walk.", facts=[WALK])


SEVERAL = (
    *("Allergie", "Nussallergie", "food allergies", "alergia", "alergias", "アレルギー", "食物アレルギー", "过敏"),
    *("medication", "Medikament", "medicamento", "薬", "team members", "cat", "customer", "endpoint"),
    *("dependency", "bugs", "decision", "email", "correo", "メールアドレス", "language", "subscription"),
    *("Haustier", "Haustiere", "mascota", "mascotas", "animal de compagnie", "animaux de compagnie", "huisdieren"),
    *("Sprache", "Sprachen", "langue", "langues", "idioma", "idiomas", "lingue", "Fremdsprache", "talen"),
    *("Kinder", "Sohn", "hijo", "hijos", "hija", "figli", "enfant", "enfants", "filhos", "kinderen", "medicijnen"),
    *("environment variable", "gift idea", "allergie", "allergia", "intolerância"),
)
ONE = (
    "Muttersprache",
    "Lieblingssprache",
    "account kind",
    "home",
    "favorite language",
    "primary email",
    "cat name",
    "bug status",
    "meeting",
    "Meetings",
    "training",
    "Teammeeting",
)


def test_a_second_value_stays_beside_the_first_where_a_predicate_has_several(memory, clock):
    names = [*SEVERAL, *ONE]
    memory.learn(claims=[{**TEA, "subject": f"Nr {n}", "predicate": name} for n, name in enumerate(names)])
    clock.passes(days=10)
    done = memory.learn(claims=[{**WALK, "subject": f"Nr {n}", "predicate": name} for n, name in enumerate(names)])
    assert (len(done.retired), done.asked) == (len(ONE), ())
    kept = {name: believed(memory, f"Nr {n}") for n, name in enumerate(names)}
    assert kept == {**dict.fromkeys(SEVERAL, BOTH), **dict.fromkeys(ONE, NEWER)}


def test_two_appointments_of_one_name_are_in_conflict(memory):
    for n, (name, first, second) in enumerate(
        [("meeting", "Wednesday 9:30", "Thursday 10:00"), ("training", "Monday", "Friday")]
    ):
        for value in (first, second):
            fact = {"subject": f"Team {n}", "predicate": name, "value": value}
            memory.remember(f"The {name} of team {n} is on {value}.", facts=[fact])
    assert all(f.contested for f in memory.facts())
    assert len(memory.review()) == 2


def test_whom_somebody_meets_or_what_somebody_trains_may_be_several(memory, clock):
    said = [("meets", "Ben"), ("meets", "Cleo"), ("trains", "a dog"), ("trains", "a falcon")]
    for name, value in said:
        memory.learn(claims=[{"subject": "Ana", "predicate": name, "value": value}])
        clock.passes(days=10)
    assert believed(memory) == {value for _, value in said}


ADDING = (
    *("Her ritual is also a walk.", "A walk is the ritual, too.", "It is a walk as well.", "Es ist auch a walk."),
    *("También a walk.", "Aussi a walk", "Anche a walk.", "Também a walk.", "散歩(A walk)、散歩も。", "A walk 也是。"),
)
OTHERWISE = (
    *("Her ritual is a walk. She also reads.", "The tea was too hot: it is a walk now.", "もう a walk です。"),
    "也许 a walk。",
)


def test_a_word_that_adds_keeps_both_values_of_an_unknown_predicate(memory, clock):
    said = {f"Nr {n}": words for n, words in enumerate((*ADDING, *OTHERWISE))}
    for subject in said:
        memory.remember(f"{subject} has tea.", facts=[{**TEA, "subject": subject}])
    clock.passes(days=10)
    for subject, words in said.items():
        memory.remember(f"{subject}: {words}", facts=[{**WALK, "subject": subject}])
    kept = {words: believed(memory, subject) for subject, words in said.items()}
    assert kept == {**dict.fromkeys(ADDING, BOTH), **dict.fromkeys(OTHERWISE, NEWER)}
    clock.passes(days=10)
    memory.remember("Nr 0 has a nap.", facts=[{**TEA, "subject": "Nr 0", "value": "a nap"}])
    assert believed(memory, "Nr 0") == {"tea", "a walk", "a nap"}


BESIDE = (
    *("It is tea, and a walk too.", "A walk, too.", "The ritual is a walk - as well.", "Tee und auch a walk."),
    *("She likes music, and the ritual is also a walk.", "It is a walk, on Mondays also: a walk too."),
)
CHANGED = (
    *("It moved from tea to a walk; her team did too.", "It is now a walk instead of tea; the log also says so."),
    *("Ana ist von Tee zu a walk gewechselt, ihr Bruder auch.", "C'est a walk; sa sœur aussi."),
    *("It is no longer tea but a walk, and she also moved to Paris.", "Her brother came, too, and it is a walk."),
    *(
        "It has also moved to a walk.",
        "It is a walk - her brother has one too.",
        "Es ist a walk, nicht mehr Tee, auch das.",
    ),
    *(
        "It is also a walk. She no longer has tea.",
        "Ya no es tea, también es a walk.",
        "Her sister also sings and her ritual is a walk.",
    ),
)


def test_a_word_that_adds_counts_only_in_the_clause_with_the_value_and_never_where_something_is_over(memory, clock):
    said = {f"Nr {n}": words for n, words in enumerate((*BESIDE, *CHANGED))}
    for subject in said:
        memory.learn(claims=[{**TEA, "subject": subject}])
    clock.passes(days=10)
    done = {words: memory.remember(words, facts=[{**WALK, "subject": subject}]) for subject, words in said.items()}
    kept = {words: believed(memory, subject) for subject, words in said.items()}
    assert kept == {**dict.fromkeys(BESIDE, BOTH), **dict.fromkeys(CHANGED, NEWER)}
    assert all("No longer believed" in reply(done[words]) for words in CHANGED)


def test_the_reply_names_what_is_no_longer_believed_and_the_call_that_keeps_both(memory, clock):
    done = displaced(memory, clock)
    (tea,) = [f for f in memory.facts(past=True) if f.value == "tea"]
    (walk,) = memory.facts("Ana")
    [replaced] = done.facts.replaced
    assert (replaced.id, replaced.content, replaced.by) == (tea.id, "Ana: ritual: tea", walk.id)
    assert replaced.by_order
    told = reply(done)
    assert f'No longer believed: "Ana: ritual: tea" {tea.id[-8:]}.' in told
    assert f'If both hold: review(id="{tea.id[-8:]}", verdict="both")' in told


def test_a_value_is_not_told_in_part_where_the_reply_has_no_room(memory):
    words = {"subject": "the web shop", "predicate": "database"}
    memory.remember("The web shop uses Postgres 15.", facts=[{**words, "value": "Postgres 15"}])
    done = memory.remember("Postgres 16.", facts=[{**words, "value": "Postgres 16", "replaces": "Postgres 15"}])
    (told,) = re.findall(r'No longer believed: "([^"]*)"', reply(done))
    whole = "the web shop: database: Postgres 15"
    assert told == whole or (told.endswith("…") and whole.startswith(f"{told[:-1]} "))


def test_what_is_replaced_by_name_is_told_without_that_call(memory, clock):
    memory.remember("Ana's ritual is tea.", facts=[TEA])
    done = memory.remember("A walk instead of tea.", facts=[{**WALK, "replaces": "tea"}])
    assert "No longer believed: " in reply(done)
    assert "both" not in reply(done)
    with pytest.raises(perdure.InvalidInput, match="contradicts"):
        memory.both(done.facts.created[0])


@pytest.mark.parametrize("many", [1, 5])
def test_the_reply_stays_short_where_much_is_no_longer_believed(memory, clock, many):
    words = "the weekly planning meeting of the platform team in the large room "
    for number in range(many):
        fact = {"subject": words, "predicate": f"{words[:60]} {number}", "value": f"{words} {number}"}
        memory.remember(f"{words} {number}.", facts=[fact])
    clock.passes(days=10)
    facts = [
        {"subject": words, "predicate": f"{words[:60]} {number}", "value": f"{words} now {number}"}
        for number in range(many)
    ]
    done = memory.remember(f"{words} now.", facts=facts)
    told = reply(done)
    assert len(done.facts.replaced) == many
    assert 0 < len(re.findall('" [0-9a-f]{8}', told)) <= many + 3
    assert sum(2 / 7 for _ in told) <= 120


def test_both_believes_again_what_was_displaced(memory, clock):
    done = displaced(memory, clock)
    clock.passes(days=1)
    memory.both(done.facts.replaced[0].by)
    assert believed(memory) == {"tea", "a walk"}
    assert memory.review() == []
    assert {f.shown_value for f in memory.facts("Ana", as_of=clock.now)} == {"tea", "a walk"}
    hits = {h.memory.content: h for h in memory.recall("Ana ritual").hits}
    assert {"Ana: ritual: tea", "Ana's ritual is tea.", "Ana's ritual is a walk."} <= hits.keys()
    assert not any(hit.over or hit.updated_by for hit in hits.values())
    assert "Ana's ritual is tea." in memory.digest()
    sheet = memory.answer_sheet("What is Ana's ritual?")
    assert "tea" in sheet.text.partition("Out of date")[0]
    assert "Out of date" not in sheet.text
    (tea,) = [f for f in memory.facts("Ana") if f.value == "tea"]
    assert [c.told for c in memory.why(tea.id).fact.conflicts] == ["a person said that both hold"]
    clock.passes(days=30)
    memory.remember("Ana's ritual is a nap.", facts=[{**TEA, "value": "a nap"}])
    assert believed(memory) == {"tea", "a walk", "a nap"}


def test_both_brings_back_the_note_that_went_with_its_fact_and_no_other(memory, clock):
    first = memory.remember("Ana said: tea.", facts=[TEA])
    memory.update(first.id, "Ana's ritual is tea.", facts=[TEA])
    clock.passes(days=10)
    done = memory.remember("Ana's ritual is a walk.", facts=[WALK])
    clock.passes(days=1)
    memory.both(done.facts.created[0])
    assert {m.content for m in memory.list(kinds=["note"])} == {"Ana's ritual is tea.", "Ana's ritual is a walk."}
    (note,) = [m for m in memory.list(kinds=["note"]) if "tea" in m.content]
    assert memory.why(note.id).replaced_by is None
    (tea,) = [f for f in memory.facts("Ana") if f.value == "tea"]
    memory.deny(tea.id)
    assert "tea" in memory.get(note.id).content


def test_both_of_what_a_table_gives_one_value_believes_both_and_teaches_nothing(memory, clock):
    memory.learn(claims=[{**TEA, "predicate": "home"}])
    clock.passes(days=10)
    done = memory.learn(claims=[{**WALK, "predicate": "home"}])
    memory.both(done.replaced[0].by)
    assert believed(memory) == {"tea", "a walk"}
    clock.passes(days=10)
    memory.learn(claims=[{**TEA, "predicate": "home", "value": "Oslo"}])
    assert believed(memory) == {"Oslo"}


def test_both_of_what_was_displaced_is_taken_back_row_for_row(memory, clock, path):
    done = displaced(memory, clock)
    before = logical(path)
    kept = memory.both(done.facts.created[0])
    assert logical(path) != before
    memory.undo(kept.operation)
    assert logical(path) == before


@pytest.mark.parametrize("identity", ["deadbeef", "019b8d62-7a80-7001-a2d3-5bc17bfe0c58"])
def test_a_fact_that_replaces_no_memory_is_refused(memory, identity):
    memory.remember("Ana's ritual is tea.", facts=[TEA])
    with pytest.raises(perdure.NotFound, match=f"Claim 1: there is no memory '{identity}'"):
        memory.remember("A walk, now.", facts=[{**WALK, "replaces": identity}])
    with pytest.raises(perdure.NotFound, match=identity):
        memory.learn(claims=[{**WALK, "replaces": identity}])
    assert believed(memory) == {"tea"}
    assert len(memory.history()) == 1


def test_a_value_that_is_not_known_is_told(memory):
    memory.remember("Ana's ritual is tea.", facts=[TEA])
    done = memory.remember("Ana also walks.", facts=[{**WALK, "predicate": "habit", "replaces": "te"}])
    assert done.facts.unknown == ("te",)
    assert "replaces: nothing is known of te" in reply(done)
    done = memory.remember("A walk, not tea.", facts=[{**WALK, "replaces": "tea"}])
    assert done.facts.unknown == ()
    again = memory.remember("A walk, not tea!", facts=[{**WALK, "replaces": "tea"}])
    assert again.facts.unknown == ()  # it was replaced before


@pytest.mark.parametrize(
    ("old", "value", "asked"),
    [
        ("Mia is vegetarian and allergic to nuts.", "vegetarian", "nuts"),
        ("Mia is on a keto diet. She swims on Mondays at the old baths.", "keto", "baths"),
    ],
)
def test_a_note_that_says_more_than_what_is_replaced_stays_in_view(memory, clock, old, value, asked):
    claim = {"subject": "Mia", "predicate": "diet"}
    note = memory.remember(old, facts=[{**claim, "value": value}])
    clock.passes(days=40)
    kept = memory.remember("Mia eats everything now.", facts=[{**claim, "value": "omnivore"}])
    assert [f.value for f in memory.facts("Mia")] == ["omnivore"]
    hit = next(h for h in memory.recall(f"Mia {asked}").hits if h.memory.id == note.id)
    assert [over.replaced_by for over in hit.over] == list(kept.facts.created)
    assert asked in memory.digest()


def test_a_pinned_note_is_marked_and_not_hidden_by_another_value(memory, clock):
    claim = {"subject": "Mia", "predicate": "diet"}
    note = memory.remember("Mia is vegetarian.", facts=[{**claim, "value": "vegetarian"}], pinned=True)
    clock.passes(days=40)
    memory.remember("Mia eats everything now.", facts=[{**claim, "value": "omnivore"}])
    assert memory.get(note.id).status == "active"


def test_a_note_that_says_nothing_more_goes_with_its_fact(memory, clock):
    claim = {"subject": "Mia", "predicate": "diet"}
    note = memory.remember("Mia is vegetarian.", facts=[{**claim, "value": "vegetarian"}])
    clock.passes(days=40)
    memory.remember("Mia eats everything now.", facts=[{**claim, "value": "omnivore"}])
    assert memory.get(note.id) is None


def test_the_reply_names_the_note_that_went_with_its_fact_and_the_call_that_keeps_both(memory, clock):
    note = memory.remember("Ana's ritual is tea.", facts=[TEA])
    clock.passes(days=10)
    done = memory.remember("Ana's ritual is a walk.", facts=[WALK])
    (told,) = done.facts.superseded
    assert (told.id, told.content, memory.get(note.id, include_archived=True).status) == (
        note.id,
        note.memory.content,
        "superseded",
    )
    lines = reply(done).splitlines()
    assert f'Superseded: "Ana\'s ritual is tea." {note.id[-8:]}.' in lines
    assert f'If both hold: review(id="{done.facts.retired[0][-8:]}", verdict="both")' in lines
    clock.passes(days=10)
    learnt = memory.learn(claims=[{**WALK, "value": "a nap"}])
    assert [m.id for m in learnt.superseded] == [done.id]
    named = memory.remember(
        "Ana's ritual is a swim.", facts=[{**WALK, "value": "a swim"}], replaces=[learnt.created[0]]
    )
    assert named.facts.superseded == ()  # nothing but what the caller named


@pytest.mark.parametrize("seconds", [1, 300])
def test_a_value_that_is_replaced_by_name_goes_though_the_clock_of_who_says_so_is_late(memory, clock, seconds):
    memory.remember("Ana's ritual is tea.", facts=[TEA])
    clock.passes(seconds=-seconds)
    done = memory.remember("Ana's ritual is a walk.", facts=[{**WALK, "replaces": "tea"}])
    clock.passes(days=1)
    assert believed(memory) == NEWER
    assert memory.review() == []
    memory.undo(done.operation)
    assert believed(memory) == {"tea"}


def test_the_reply_names_the_fact_that_took_the_place_of_another(memory, clock):
    home = {"subject": "Ana", "predicate": "home", "value": "Oslo"}
    note = memory.remember("Ana lives in Oslo and drinks tea.", facts=[home, {**home, "predicate": "drink"}])
    clock.passes(days=1)
    done = memory.update(note.id, "Ana lives in Bergen.", facts=[{**home, "value": "Bergen", "replaces": "Oslo"}])
    now = {f.predicate: f.id for f in memory.facts("Ana")}
    by = {f.content: (f.by, f.by_order) for f in done.facts.replaced}
    assert by == {"Ana: home: Oslo": (now["home"], False), "Ana: drink: Oslo": (done.id, False)}
    assert "If both hold" not in reply(done)

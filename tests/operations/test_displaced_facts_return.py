"""What lost its place to a newer value by order alone is believed again where that one is hidden or erased."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from conftest import WORDS_ONLY, logical


def depot(city, **more):
    return {"subject": "Tom", "predicate": "depot", "value": city, **more}


@pytest.fixture
def memory(opening):
    return opening(WORDS_ONLY)


@pytest.fixture
def say(memory, clock):
    """Say a value 20 days after the one before it, and return its note."""

    def one(city, **more):
        clock.passes(days=20)
        return memory.remember(f"The depot of Tom is in {city}.", facts=[depot(city, **more)])

    return one


def believed(memory):
    return sorted(fact.value for fact in memory.facts("Tom"))


def fact_of(memory, city):
    return next(fact.id for fact in memory.facts("Tom", past=True) if fact.value == city)


def erase(memory, identity):
    seen = memory.erase([identity], reason="wrong")
    return memory.erase([identity], reason="wrong", dry_run=False, confirm=seen.confirm)


def drop(memory, identity):
    memory.used([identity], "wrong")
    return memory.settle(identity, "drop")


WAYS = {
    "forget": lambda memory, note, _: memory.forget(note, "wrong"),
    "forget the fact": lambda memory, _, fact: memory.forget(fact, "wrong"),
    "archive the fact": lambda memory, _, fact: memory.archive(fact, "wrong"),
    "drop": lambda memory, note, _: drop(memory, note),
    "erase": lambda memory, note, _: erase(memory, note),
    "erase the fact": lambda memory, _, fact: erase(memory, fact),
}
every_way = pytest.mark.parametrize("take_back", WAYS.values(), ids=WAYS)


@pytest.mark.parametrize("way", ["forget", "forget the fact", "archive the fact", "drop", "deny", "deny the fact"])
def test_the_reply_names_what_is_believed_again(memory, say, way):
    say("Graz")
    note, deny = say("Bern"), {"deny": lambda n, _: memory.deny(n), "deny the fact": lambda _, f: memory.deny(f)}
    fact = fact_of(memory, "Bern")
    done = deny[way](note.id, fact) if way in deny else WAYS[way](memory, note.id, fact)
    assert [one.content for one in done.believed_again] == ["Tom: depot: Graz"]
    (believed_id,) = (f.id for f in memory.facts("Tom"))
    assert done.believed_again[0].id == believed_id


@every_way
def test_the_value_before_is_believed_and_shown_again(memory, say, take_back):
    say("Lyon"), say("Graz")
    note = say("Bern")
    take_back(memory, note.id, fact_of(memory, "Bern"))
    assert believed(memory) == ["Graz"]
    assert "The depot of Tom is in Graz." in memory.digest()
    assert "Lyon" not in memory.digest()
    assert memory.review() == []
    assert memory.check() == []


@every_way
def test_what_had_ended_by_itself_does_not_return(memory, say, take_back):
    say("Lyon", valid_to="2026-02-05")
    graz = say("Graz")
    take_back(memory, graz.id, fact_of(memory, "Graz"))
    assert believed(memory) == []


def test_nothing_returns_where_the_erased_value_had_lost_its_place_too(memory, say):
    say("Lyon")
    graz = say("Graz")
    say("Bern")
    erase(memory, graz.id)
    assert believed(memory) == ["Bern"]
    assert memory.check() == []


@every_way
def test_what_somebody_said_to_be_over_does_not_return(memory, say, take_back):
    say("Lyon")
    note = say("Graz", replaces="Lyon")
    take_back(memory, note.id, fact_of(memory, "Graz"))
    assert believed(memory) == []


@pytest.mark.parametrize("verb", ["forget", "deny"])
def test_a_value_whose_only_note_was_taken_back_does_not_return(memory, clock, verb):
    told = "The depot of Tom is in Lyon, next to the old harbour market."
    lyon = memory.remember(told, facts=[depot("Lyon")])
    clock.passes(days=20)
    graz = memory.remember("The depot of Tom is in Graz.", facts=[depot("Graz")])
    assert memory.get(lyon.id).status == "active"
    getattr(memory, verb)(lyon.id)
    getattr(memory, verb)(graz.id)
    assert believed(memory) == []


def test_of_two_that_lost_their_place_at_once_a_person_is_asked(memory, clock):
    for days, city in ((0, "Lyon"), (2, "Graz"), (20, "Bern")):
        clock.passes(days=days)
        note = memory.remember(f"The depot of Tom is in {city}.", facts=[depot(city)])
    memory.forget(note.id)
    assert believed(memory) == ["Graz", "Lyon"]
    assert len(memory.review()) == 1


def test_a_value_that_another_note_says_too_stays(memory, say, clock):
    say("Lyon")
    note = say("Graz")
    clock.passes(days=1)
    memory.remember("Graz has the depot of Tom.", facts=[depot("Graz")])
    memory.forget(note.id)
    assert believed(memory) == ["Graz"]


def test_the_undo_of_forgetting_leaves_all_as_it_was(memory, say, path):
    say("Lyon")
    note = say("Graz")
    before = logical(path)
    memory.undo(memory.forget(note.id))
    assert logical(path) == before


def archive_and_restore(memory, _, fact):
    memory.archive(fact, "wrong")
    memory.restore(fact)


def forget_and(hidden, back):
    """Forget the newer note or its fact, and bring it back an hour later."""

    def way(memory, clock, note, fact):
        memory.forget(note.id if hidden == "note" else fact, "wrong")
        clock.passes(hours=1)
        return back(memory, note, fact)

    return way


BACK = {
    "restore the note": forget_and("note", lambda memory, note, _: memory.restore(note.id)),
    "restore the fact": forget_and("fact", lambda memory, _, fact: memory.restore(fact)),
    "remember its words": forget_and("note", lambda memory, *_: memory.remember("The depot of Tom is in Graz.")),
    "with the fact": forget_and(
        "note", lambda memory, *_: memory.remember("The depot of Tom is in Graz.", facts=[depot("Graz")])
    ),
    "say the fact": forget_and("fact", lambda memory, *_: memory.learn(claims=[depot("Graz")])),
    "restore what was archived": lambda memory, _, note, fact: archive_and_restore(memory, note, fact),
}


@pytest.mark.parametrize("bring_back", BACK.values(), ids=BACK)
def test_what_is_brought_back_takes_the_place_again_without_a_question(memory, say, clock, bring_back):
    say("Lyon")
    note = say("Graz")
    clock.passes(days=5)
    bring_back(memory, clock, note, fact_of(memory, "Graz"))
    assert believed(memory) == ["Graz"]
    assert memory.review() == []
    assert "Graz" in memory.digest()
    assert "Lyon" not in memory.digest()
    assert memory.check(full=True) == []


def test_the_days_on_which_each_held_are_as_before(memory, say, clock):
    say("Lyon")
    note = say("Graz")
    clock.passes(days=5)
    memory.forget(note.id)
    clock.passes(days=5)
    memory.restore(note.id)
    days = [datetime.fromtimestamp(clock.now.timestamp(), UTC) - timedelta(days=n) for n in (20, 7, 3)]
    assert [[f.value for f in memory.facts("Tom", as_of=day)] for day in days] == [["Lyon"], ["Graz"], ["Graz"]]


def test_what_is_believed_again_was_said_when_it_was_said(memory, say, clock):
    lyon = say("Lyon")
    note = say("Graz")
    clock.passes(days=5)
    memory.forget(note.id)
    again = memory.get(fact_of(memory, "Lyon"))
    assert again.status == "active"
    assert again.created_at == memory.get(lyon.id).created_at


def test_the_undo_of_bringing_back_leaves_all_as_it_was(memory, say, path):
    say("Lyon")
    note = say("Graz")
    memory.forget(note.id)
    before = logical(path)
    memory.undo(memory.restore(note.id))
    assert logical(path) == before


def test_it_may_be_forgotten_and_brought_back_again(memory, say, clock):
    say("Lyon")
    note = say("Graz")
    for _ in range(2):
        clock.passes(hours=1)
        memory.forget(note.id)
        assert believed(memory) == ["Lyon"]
        assert "The depot of Tom is in Lyon." in memory.digest()
        clock.passes(hours=1)
        memory.restore(note.id)
        assert believed(memory) == ["Graz"]
    memory.both(fact_of(memory, "Graz"))
    assert believed(memory) == ["Graz", "Lyon"]
    assert memory.check(full=True) == []


def test_who_restores_it_is_asked_where_the_other_was_said_again_since(memory, say, clock):
    say("Lyon")
    note = say("Graz")
    memory.forget(note.id)
    clock.passes(days=1)
    memory.remember("Tom's depot: still Lyon.", facts=[depot("Lyon")])
    memory.restore(note.id)
    assert believed(memory) == ["Graz", "Lyon"]
    assert len(memory.review()) == 1


def test_what_holds_for_a_time_does_so_again_without_a_question(memory, say, clock):
    say("Lyon")
    note = say("Graz", valid_to="2027-06-30")
    clock.passes(days=5)
    memory.forget(note.id)
    clock.passes(days=1)
    memory.restore(note.id)
    assert believed(memory) == ["Graz", "Lyon"]
    assert memory.review() == []


def test_a_note_that_was_updated_and_then_forgotten_brings_no_earlier_wording_back(memory):
    first = memory.remember("Deploys run on Tuesday.")
    second = memory.update(first.id, "Deploys run on Friday.")
    memory.forget(second.id)
    assert "Deploys" not in memory.digest()

"""Facts that contradict each other: both are kept and shown until a person says which is right."""

from __future__ import annotations

import pytest

from conftest import WORDS_ONLY, logical
from perdure.records.errors import ConflictError
from perdure.records.memory import Shelf

KNOWLEDGE = {**WORDS_ONLY, "preset": "facts"}
FRIDAY = "Remember that Gai Media prefers Friday deliveries."
THURSDAY = "Remember that Gai Media prefers Thursday deliveries."


@pytest.fixture
def memory(opening):
    return opening(KNOWLEDGE)


@pytest.fixture
def say(memory, clock):
    """Take in messages of a person, a minute apart, one at a time."""

    def one_by_one(*texts, session="s1", role="user"):
        for text in texts:
            clock.passes(minutes=1)
            memory.ingest([{"content": text, "role": role, "at": clock().isoformat()}], session=session)

    return one_by_one


@pytest.fixture
def contested(memory, say, clock):
    """Two values, a day apart: neither is clearly right. Return the ids of the older and the newer fact."""
    say(FRIDAY)
    clock.passes(days=1)
    say(THURSDAY, session="s2")
    by_value = {f.value: f.id for f in memory.facts("Gai Media")}
    return by_value["Friday"], by_value["Thursday"]


def told(memory, entity="Gai Media"):
    """Value -> state, of everything that was ever known; contested ones are marked."""
    return {f.value: f"{f.state}{' contested' * bool(f.contested)}" for f in memory.facts(entity, past=True)}


def outcomes(raw_store, identity):
    documents = raw_store.documents.find("default", Shelf.CONFLICT, [identity])
    return {d.name: d.data["outcome"] for d in documents}


@pytest.mark.behaviour("BE17", "002-stage-4-ask_user")
def test_a_conflict_that_nothing_decides_keeps_both_shows_both_and_asks(memory, contested, raw_store):
    older, newer = contested
    shown = {f.id: f for f in memory.facts("Gai Media")}
    assert shown.keys() == {older, newer}
    assert (shown[older].contested, shown[newer].contested) == ((newer,), (older,))
    assert {f.state for f in shown.values()} == {"active"}
    (question,) = memory.review()
    assert question.id == newer
    assert "Friday (0.69) against Thursday (0.70)" in question.why
    (conflict,) = raw_store.documents.find("default", Shelf.CONFLICT, [older])
    assert (conflict.name, conflict.data["strategy"], conflict.data["outcome"]) == (newer, "ask_user", "open")
    assert [(s["memory"], s["value"]) for s in conflict.data["sides"]] == [(older, "Friday"), (newer, "Thursday")]


@pytest.mark.behaviour("BE18")
@pytest.mark.parametrize("right", [0, 1])
def test_to_confirm_one_supersedes_the_other_and_closes_the_question(memory, contested, right, raw_store):
    winner, loser = contested[right], contested[1 - right]
    memory.confirm(winner)
    lines = {f.id: f for f in memory.facts("Gai Media", past=True)}
    assert (lines[winner].state, lines[loser].state) == ("active", "superseded")
    assert (lines[winner].supersedes, lines[loser].superseded_by) == ((loser,), (winner,))
    assert lines[winner].base == pytest.approx(0.72)
    assert lines[loser].valid_to >= lines[loser].valid_from
    assert lines[winner].contested == lines[loser].contested == ()
    assert memory.review() == []
    assert outcomes(raw_store, contested[0]) == {contested[1]: "answered"}


@pytest.mark.behaviour("BE19")
@pytest.mark.parametrize("wrong", [0, 1])
def test_to_correct_one_to_a_third_value_closes_both(memory, contested, wrong):
    made = memory.correct(contested[wrong], "Monday")
    assert told(memory) == {"Monday": "active", "Friday": "superseded", "Thursday": "superseded"}
    (line,) = memory.facts("Gai Media")
    assert line.id == made.id
    assert set(line.supersedes) == set(contested)
    assert memory.review() == []


@pytest.mark.behaviour("BE20")
@pytest.mark.parametrize("wrong", [0, 1])
def test_to_correct_one_to_what_the_other_says_confirms_the_other(memory, contested, wrong):
    value = ("Thursday", "Friday")[wrong]
    made = memory.correct(contested[wrong], value)
    assert made.id == contested[1 - wrong]
    (line,) = memory.facts("Gai Media")
    assert (line.value, line.confirmations, line.supersedes) == (value, 2, (contested[wrong],))
    assert memory.review() == []


def test_to_correct_one_of_several_values_to_another_of_them_leaves_one(memory, say):
    say("I like tennis.", "I like golf.")
    tennis, golf = (next(f.id for f in memory.facts() if f.value == v) for v in ("tennis", "golf"))
    assert memory.correct(tennis, "golf").id == golf
    assert told(memory, "user") == {"golf": "active", "tennis": "superseded"}


@pytest.mark.parametrize("wrong", [0, 1])
def test_to_deny_one_leaves_the_other_and_closes_the_question(memory, contested, wrong):
    memory.deny(contested[wrong])
    (line,) = memory.facts("Gai Media")
    assert (line.id, line.contested, line.base) == (contested[1 - wrong], (), 0.7)
    assert memory.get(contested[wrong], include_archived=True).status == "invalidated"
    assert memory.review() == []


def test_a_correction_in_the_conversation_decides_for_a_value_that_is_contested(memory, contested, say):
    say("Actually, Gai Media prefers Friday deliveries, not Thursday.", session="s3")
    assert told(memory) == {"Friday": "active", "Thursday": "superseded"}
    assert memory.review() == []
    (line,) = memory.facts("Gai Media")
    assert (line.id, line.confirmations, line.supersedes) == (contested[0], 2, (contested[1],))


def test_a_yes_to_the_question_decides(memory, contested, say):
    say("I have a note that Gai Media prefers Friday deliveries - is that still accurate?", role="assistant")
    say("Yes, that's correct")
    assert told(memory) == {"Friday": "active", "Thursday": "superseded"}
    assert memory.facts("Gai Media")[0].id == contested[0]


def test_three_values_are_all_contested_and_one_answer_closes_all(memory, contested, say, clock):
    clock.passes(days=1)
    say("Remember that Gai Media prefers Monday deliveries.", session="s3")
    lines = memory.facts("Gai Media")
    assert {len(f.contested) for f in lines} == {2}
    memory.confirm(contested[1])
    assert told(memory) == {"Thursday": "active", "Friday": "superseded", "Monday": "superseded"}
    assert memory.review() == []


@pytest.mark.behaviour("BE21")
def test_contradictions_in_one_batch_are_asked_about_as_if_they_came_one_by_one(opening, clock):
    messages = [
        {"content": t, "at": clock().isoformat(), "session": s}
        for s, t in (("a", FRIDAY), ("b", THURSDAY), ("c", FRIDAY))
    ]
    together, apart = opening(KNOWLEDGE, at=":memory:"), opening(KNOWLEDGE, at=":memory:")
    together.ingest(messages)
    for message in messages:
        apart.ingest([message])
    for each in (together, apart):
        assert told(each) == {"Friday": "active contested", "Thursday": "active contested"}
        assert {f.value: f.confirmations for f in each.facts()} == {"Friday": 2, "Thursday": 1}
        assert len(each.review()) == 1


@pytest.mark.behaviour("BE22")
def test_a_correction_of_something_never_said_is_believed_and_replaces_nothing(memory, say):
    say("Actually, Gai Media prefers Thursday deliveries, not Friday.")
    (line,) = memory.facts(past=True)
    assert (line.value, line.base, line.learned, line.supersedes) == ("Thursday", 0.85, "correction", ())
    assert memory.review() == []
    say("That's wrong.", "No longer.", session="empty")
    assert len(memory.facts(past=True)) == 1


@pytest.mark.parametrize("correction", ["No, Thursday, not Monday.", "I meant Oslo, not Lyon."])
def test_a_correction_of_another_value_does_not_replace_what_was_said_last(memory, say, correction):
    say("Remember that Marek lives in Bern.", correction)
    assert told(memory, "Marek") == {"Bern": "active"}


@pytest.mark.behaviour("BE23")
@pytest.mark.parametrize(
    ("verb", "which", "more"),
    [
        ("confirm", 0, ()),
        ("confirm", 1, ()),
        ("correct", 0, ("Monday",)),
        ("correct", 1, ("Friday",)),
        ("deny", 1, ("it never was",)),
        ("mute", 1, ()),
        ("settle", 1, ("keep",)),
        ("settle", 1, ("drop",)),
    ],
)
def test_each_answer_can_be_taken_back(memory, contested, path, verb, which, more):
    before = logical(path)
    getattr(memory, verb)(contested[which], *more)
    assert logical(path) != before
    memory.undo(memory.history(limit=1)[0].id)
    assert logical(path) == before
    assert len(memory.review()) == 1
    assert memory.check() == []


def test_to_take_the_conflict_back_leaves_the_first_value_as_it_was(memory, say, clock, path):
    say(FRIDAY)
    before = logical(path)
    clock.passes(days=1)
    report = memory.ingest([{"content": THURSDAY, "at": clock().isoformat()}], session="s2")
    for operation in reversed(report.operations):
        memory.undo(operation)
    assert logical(path) == before
    assert told(memory) == {"Friday": "active"}


def test_no_longer_ends_a_fact_though_it_names_more_than_its_value(memory, say, clock):
    say(FRIDAY)
    clock.passes(days=30)
    say("Gai Media no longer prefers Friday deliveries.")
    assert memory.facts("Gai Media") == []
    (was,) = memory.facts("Gai Media", past=True)
    assert (was.state, was.valid_to) == ("superseded", "2026-01-31 00:02 UTC")


@pytest.mark.behaviour("KW8")
def test_what_was_archived_unanswered_comes_back_when_it_is_said_again(memory, say, clock):
    say(FRIDAY)
    (before,) = memory.facts("Gai Media")
    clock.passes(days=200)
    memory.sweep()
    assert memory.facts("Gai Media") == []
    assert [f.state for f in memory.facts("Gai Media", past=True)] == ["archived"]
    say(FRIDAY, session="s2")
    (after,) = memory.facts("Gai Media", past=True)
    assert (after.id, after.state, after.confirmations) == (before.id, "active", 2)
    assert len(after.sources) == 2
    memory.undo(memory.history(limit=1)[0].id)
    assert [f.state for f in memory.facts("Gai Media", past=True)] == ["archived"]


@pytest.mark.behaviour("KW9")
def test_a_message_is_not_taken_back_before_what_was_learned_from_it(memory, clock, path):
    before = logical(path)
    stored, learned = memory.ingest([{"content": FRIDAY, "at": clock().isoformat()}], session="s1").operations
    with pytest.raises(ConflictError, match="1 fact depends on") as refused:
        memory.undo(stored)
    assert "learn" in refused.value.remedy
    memory.undo(learned)
    memory.undo(stored)
    assert logical(path) == before


@pytest.mark.behaviour("KW10")
def test_a_message_that_nobody_believes_any_longer_is_marked_and_left_out_of_the_digest(memory, say, clock):
    say(FRIDAY)
    clock.passes(days=30)
    say("Actually, Gai Media switched to Thursday deliveries.", session="s2")
    (now,) = memory.facts("Gai Media")
    hits = {h.memory.content: h for h in memory.recall("Gai Media deliveries", limit=20, touch=False).hits}
    assert hits[FRIDAY].updated_by == now.id
    assert all(h.updated_by is None for text, h in hits.items() if "Thursday" in text)
    digest = memory.digest()
    assert "Friday" not in digest
    assert "Thursday" in digest
    memory.deny(now.id)
    assert "Thursday" not in memory.digest()


# --- one side is hidden, and comes back


@pytest.mark.behaviour("BE35")
@pytest.mark.parametrize("hidden", [0, 1])
def test_a_conflict_rests_while_one_side_is_archived_and_goes_on_when_it_is_back(memory, contested, hidden):
    gone, stays = contested[hidden], contested[1 - hidden]
    memory.archive(gone, "in the way")
    assert told(memory)["Friday" if hidden else "Thursday"].endswith("active")
    assert {f.id: f.contested for f in memory.facts("Gai Media", past=True)} == {gone: (), stays: ()}
    assert memory.review() == []
    assert [c.outcome for c in memory.why(stays).fact.conflicts] == ["lapsed"]
    hit = next(h for h in memory.recall("Gai Media deliveries", touch=False).hits if h.memory.id == stays)
    assert hit.contested_with == ()
    memory.restore(gone)
    assert {f.id: f.contested for f in memory.facts("Gai Media")} == {gone: (stays,), stays: (gone,)}
    assert [q.id for q in memory.review()] == [contested[1]]
    assert [c.outcome for c in memory.why(stays).fact.conflicts] == ["open"]


def test_a_conflict_rests_when_a_sweep_hides_one_side(memory, contested, clock):
    memory.pin(contested[0])
    clock.passes(days=200)
    memory.sweep()
    assert [(f.id, f.contested) for f in memory.facts("Gai Media")] == [(contested[0], ())]
    assert contested[1] not in {q.id for q in memory.review(limit=100)}


@pytest.fixture
def faded(memory, say, clock):
    """A value that nobody confirmed for long, and the one that is believed since: (archived, active)."""
    say(FRIDAY)
    clock.passes(days=200)
    memory.sweep()
    say(THURSDAY, session="s2")
    by_value = {f.value: f.id for f in memory.facts("Gai Media", past=True)}
    return by_value["Friday"], by_value["Thursday"]


@pytest.mark.behaviour("BE36")
def test_who_brings_a_fact_back_beside_a_newer_value_is_asked_which_is_right(memory, faded):
    old, new = faded
    assert told(memory) == {"Friday": "archived", "Thursday": "active"}
    memory.restore(old)
    assert told(memory) == {"Friday": "active contested", "Thursday": "active contested"}
    (question,) = memory.review()
    assert question.id == new
    assert question.against == (old,)
    assert "Friday was brought back beside Thursday" in question.why
    memory.confirm(old)
    assert told(memory) == {"Friday": "active", "Thursday": "superseded"}
    assert memory.review() == []


@pytest.mark.behaviour("BE37")
def test_bringing_back_is_taken_back_with_its_question(memory, faded, path):
    before = logical(path)
    memory.restore(faded[0])
    assert len(memory.review()) == 1
    memory.undo(memory.history(namespace="default", limit=1)[0].id)
    assert logical(path) == before
    assert memory.review() == []


def test_what_adds_is_brought_back_without_a_question(memory, say, clock):
    say("I like tennis.")
    clock.passes(days=200)
    memory.sweep()
    say("I like golf.", session="s2")
    (tennis,) = (f for f in memory.facts(past=True) if f.value == "tennis")
    assert tennis.state == "archived"
    memory.restore(tennis.id)
    assert told(memory, "user") == {"tennis": "active", "golf": "active"}
    assert memory.review(limit=100) == []


def test_of_what_a_person_said_both_hold_nobody_is_asked_again(memory, contested):
    memory.both(contested[1])
    memory.archive(contested[0], "in the way")
    memory.restore(contested[0])
    assert told(memory) == {"Friday": "active", "Thursday": "active"}
    assert memory.review() == []


def test_what_was_answered_while_one_side_was_hidden_is_asked_again_when_it_is_back(memory, contested):
    memory.archive(contested[0], "in the way")
    memory.confirm(contested[1])
    assert told(memory) == {"Friday": "archived", "Thursday": "active"}
    memory.restore(contested[0])
    assert told(memory) == {"Friday": "active contested", "Thursday": "active contested"}
    assert len(memory.review()) == 1


@pytest.mark.behaviour("WH9")
def test_to_undo_a_sweep_that_hid_a_fact_asks_where_another_is_believed_by_now(memory, say, clock):
    say(FRIDAY)
    clock.passes(days=200)
    memory.sweep()
    (sweep,) = (o for o in memory.history() if o.operation == "sweep")
    say(THURSDAY, session="s2")
    assert told(memory) == {"Friday": "archived", "Thursday": "active"}
    back = memory.undo(sweep.id)
    assert told(memory) == {"Friday": "aging contested", "Thursday": "active contested"}
    assert any("Which holds?" in q.question for q in memory.review())
    memory.undo(back.operation)
    assert told(memory) == {"Friday": "archived", "Thursday": "active"}
    assert memory.review() == []
    assert memory.check() == []


@pytest.mark.behaviour("LD1")
@pytest.mark.parametrize("hidden", [0, 1])
@pytest.mark.parametrize("days", [0, 30])
def test_to_undo_what_hid_one_side_of_a_conflict_leaves_the_conflict_as_it_was(
    memory, contested, clock, path, hidden, days
):
    before, asked = logical(path), memory.review()
    operation = memory.archive(contested[hidden], "in the way").operation
    after = logical(path)
    clock.passes(days=days)
    back = memory.undo(operation)
    assert logical(path) == before
    clock.passes(days=-days)
    assert memory.review() == asked
    memory.undo(back.operation)
    assert logical(path) == after


@pytest.mark.behaviour("LD1")
def test_everything_said_about_a_conflict_is_taken_back_newest_first(memory, say, clock, path):
    empty = logical(path)
    say(FRIDAY)
    clock.passes(days=1)
    say(THURSDAY, session="s2")
    for fact in memory.facts("Gai Media"):
        memory.archive(fact.id, "in the way")
    clock.passes(days=100)
    for operation in memory.history(limit=100):
        memory.undo(operation.id)
    assert logical(path) == empty


@pytest.mark.behaviour("LD2")
def test_the_question_of_an_undo_goes_with_the_newer_value(memory, say, clock, path):
    say(FRIDAY)
    before = logical(path)
    (friday,) = memory.facts("Gai Media")
    hidden = memory.archive(friday.id, "in the way").operation
    told_since = {o.id for o in memory.history(limit=100)}
    say(THURSDAY, session="s2")
    memory.undo(hidden)
    assert told(memory) == {"Friday": "active contested", "Thursday": "active contested"}
    for operation in memory.history(limit=100):
        if operation.id not in told_since and operation.operation != "undo":
            memory.undo(operation.id)
    assert (told(memory), memory.review()) == ({"Friday": "active"}, [])
    assert logical(path) == before


@pytest.mark.behaviour("LD3")
def test_an_answer_that_was_taken_back_leaves_as_many_questions_for_today(memory, contested, clock):
    asked = memory.review()
    for _ in range(memory.policy.knowledge.questions_per_day):
        memory.undo(memory.confirm(contested[1]).operation)
    assert memory.review() == asked


@pytest.mark.behaviour("DO45")
def test_of_a_message_that_says_two_things_one_that_was_replaced_is_marked_where_it_is_asked_about(memory, say, clock):
    say("My sister Rita prefers Friday calls.")
    clock.passes(days=30)
    say("Actually, Rita prefers Monday calls.", session="s2")
    (day,) = memory.facts("Rita", predicate="call_day_preference")
    (message,) = (m.id for m in memory.list(limit=50) if "Friday" in m.content and m.kind == "episode")
    hits = memory.recall("Which calls does Rita prefer?", limit=20, touch=False).hits
    order = [h.memory.id for h in hits]
    assert hits[order.index(message)].updated_by == day.id
    assert order.index(day.id) < order.index(message)
    other = {h.memory.id: h for h in memory.recall("What is my sister's name?", limit=2, touch=False).hits}
    assert day.id not in other
    assert other[message].updated_by is None  # who she is still holds


@pytest.mark.behaviour("DO46")
def test_what_a_person_corrected_stands_before_the_messages_that_it_overturns(memory, say, clock):
    say("Remember that my budget is $500.")
    clock.passes(days=30)
    say("Remember that my budget is $700.", session="s2")
    now = memory.correct(memory.facts(predicate="budget")[0].id, "$650")
    hits = memory.recall("What is my budget?", limit=3, touch=False).hits
    assert hits[0].memory.id == now.id
    assert {h.updated_by for h in hits[1:]} == {now.id}

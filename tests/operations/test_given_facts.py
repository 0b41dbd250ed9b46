"""Facts that a caller hands over: believed, replaced, denied and explained as any fact, under every preset."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import perdure
from conftest import WORDS_ONLY, Clock, HashEmbedder
from perdure.records.policy import PRESETS

HOME = {"subject": "Ana", "predicate": "home", "value": "Berlin"}
MOVED = {**HOME, "value": "Paris", "replaces": "Berlin"}
PORK = {"subject": "Ana", "predicate": "eats", "value": "pork"}


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def memory(opening):
    return opening()


def believed(memory, subject=None):
    return {(f.name, f.predicate, f.value) for f in memory.facts(subject)}


@pytest.mark.parametrize("preset", list(PRESETS))
def test_a_fact_is_believed_under_every_preset_and_undone_with_its_words(preset, clock):
    with perdure.open(":memory:", {**WORDS_ONLY, "preset": preset}, clock) as memory:
        kept = memory.remember("Ana lives in Berlin.", facts=[{**HOME, "quote": "lives  in\nBerlin"}])
        (fact,) = memory.facts("Ana")
        assert (fact.predicate, fact.value, fact.learned, fact.state) == ("home", "Berlin", "explicit", "active")
        assert fact.sources == ((kept.id, "lives in Berlin"),)
        assert kept.facts.created == (fact.id,)
        assert memory.why(fact.id).fact is not None
        assert len(memory.history()) == 1
        memory.undo(kept.operation)
        assert memory.list(include_archived=True) == []
        assert memory.entities() == []


def test_what_replaces_a_value_supersedes_the_fact_and_the_note_that_said_it(memory, clock):
    old = memory.remember("Ana lives in Berlin.", facts=[HOME])
    clock.passes(days=2)
    new = memory.remember("Ana moved to Paris.", facts=[MOVED])
    assert believed(memory) == {("Ana", "home", "Paris")}
    assert memory.get(old.id, include_archived=True).status == "superseded"
    assert {h.memory.content for h in memory.recall("Ana home Paris").hits} == {
        "Ana moved to Paris.",
        "Ana: home: Paris",
    }
    before = [f.value for f in memory.timeline("Ana").facts if f.valid_to]
    assert before == ["Berlin"]
    memory.undo(new.operation)
    assert believed(memory) == {("Ana", "home", "Berlin")}
    assert memory.get(old.id).status == "active"


def test_a_memory_id_may_be_replaced_by_a_claim_or_by_the_call(memory):
    note = memory.remember(
        "The deploy is on Tuesday.", facts=[{"subject": "deploy", "predicate": "day", "value": "Tue"}]
    )
    plain = memory.remember("Ana is in charge of deploys.")
    wednesday = {"subject": "deploy", "predicate": "day", "value": "Wednesday", "replaces": note.id}
    memory.remember("It is on Wednesday, with Bo.", facts=[wednesday], replaces=[plain.id[-8:]])
    assert {memory.get(i, include_archived=True).status for i in (note.id, plain.id)} == {"superseded"}
    assert believed(memory) == {("deploy", "day", "Wednesday")}


@pytest.mark.parametrize("how", ["value", "claim: note", "claim: fact", "call: note", "call: fact"])
def test_what_is_replaced_by_its_id_is_replaced_as_by_its_value_and_nobody_is_asked(memory, how):
    old = memory.remember("Ana lives in Berlin.", facts=[HOME])
    which, _, kind = how.partition(": ")
    identity = old.facts.created[0] if kind == "fact" else old.id
    claim = {**HOME, "value": "Paris"}
    claims = {"value": MOVED, "claim": {**claim, "replaces": identity[-8:]}, "call": claim}
    new = memory.remember("Ana lives in Paris.", facts=[claims[which]], replaces=[identity] if which == "call" else ())
    assert (len(new.facts.retired), new.facts.asked, new.facts.unknown) == (1, (), ())
    (fact,) = memory.facts("Ana")
    assert (fact.value, fact.base, fact.contested) == ("Paris", pytest.approx(0.85), ())
    assert [one.by for one in new.facts.replaced] == [fact.id]
    assert memory.get(old.id, include_archived=True).status == "superseded"
    assert memory.review(limit=5) == []
    memory.undo(new.operation)
    assert believed(memory) == {("Ana", "home", "Berlin")}


def test_update_replaces_the_facts_of_the_old_words_and_keeps_those_that_are_said_again(memory, clock):
    job = {"subject": "Ana", "predicate": "job", "value": "baker"}
    old = memory.remember("Ana, a baker, lives in Berlin.", facts=[HOME, job])
    clock.passes(days=1)
    now = memory.update(old.id, "Ana, a baker, lives in Oslo.", facts=[{**HOME, "value": "Oslo"}, job])
    assert believed(memory, "Ana") == {("Ana", "home", "Oslo"), ("Ana", "occupation", "baker")}
    memory.update(now.id, "Nothing is known of Ana.")
    assert believed(memory) == set()
    assert {f.value for f in memory.facts("Ana", past=True)} == {"Berlin", "Oslo", "baker"}


def test_a_fact_is_updated_with_the_note_that_says_it(memory):
    old = memory.remember("Ana lives in Berlin.", facts=[HOME])
    (fact,) = memory.facts("Ana")
    with pytest.raises(perdure.InvalidInput, match="is a fact"):
        memory.update(fact.id, "Ana lives in Oslo.")
    memory.update(fact.id, "Ana lives in Oslo.", facts=[{**HOME, "value": "Oslo"}])
    assert believed(memory) == {("Ana", "home", "Oslo")}
    assert memory.get(old.id, include_archived=True).status == "superseded"


NOT_PORK = "Ana: eats: not pork"


@pytest.mark.behaviour("FD5")
def test_a_denied_fact_reads_the_same_wherever_it_is_shown(memory, clock):
    memory.learn(claims=[{**PORK, "denied": True}])
    (fact,) = memory.facts("Ana")
    assert (fact.value, fact.denied, fact.shown_value) == ("pork", True, "not pork")
    assert (fact.to_dict()["value"], fact.to_dict()["denied"]) == ("pork", True)
    assert memory.get(fact.id).content == NOT_PORK
    assert memory.why(fact.id).fact.says == NOT_PORK
    (entry,) = memory.answer_sheet("Does Ana eat pork?").known
    assert entry.says == NOT_PORK
    assert NOT_PORK in memory.digest()
    assert NOT_PORK in [h.memory.content for h in memory.recall("Does Ana eat pork?", touch=False).hits]
    clock.passes(days=100)
    assert memory.review(limit=5) == []  # nobody is asked whether it still does not hold
    memory.used([fact.id], "wrong")
    assert "Ana does not eat pork" in memory.review(limit=5)[0].question


@pytest.mark.behaviour("FD6")
def test_facts_of_another_time_know_what_was_eaten_and_what_was_not(memory, clock):
    memory.remember("Ana eats pork.", facts=[PORK])
    clock.passes(days=30)
    memory.remember("Ana does not eat pork any more.", facts=[{**PORK, "denied": True}])
    clock.passes(days=30)

    def listed(**then):
        return [(f.value, f.denied) for f in memory.facts("Ana", **then)]

    early, late = datetime(2026, 1, 10, tzinfo=UTC), clock.now - timedelta(hours=1)
    assert listed() == listed(as_of=late) == listed(known_at=late) == [("pork", True)]
    assert listed(as_of=early) == listed(known_at=early) == [("pork", False)]
    assert listed(as_of=datetime(2025, 12, 1, tzinfo=UTC)) == []
    assert [h.memory.content for h in memory.recall("Does Ana eat pork?", as_of=early, kinds=["fact"]).hits] == [
        "Ana: eats: pork"
    ]
    memory.remember("Ana eats pork again.", facts=[PORK])
    assert believed(memory, "Ana") == {("Ana", "eat", "pork")}


@pytest.mark.behaviour("FD7")
def test_a_denial_soon_after_is_asked_about_and_speaks_of_its_own_value_only(memory):
    memory.remember("Ana eats pork and fish.", facts=[PORK, {**PORK, "value": "fish"}])
    done = memory.remember("Ana does not eat pork.", facts=[{**PORK, "denied": True}])
    assert done.facts.asked == done.facts.created
    contested = {f.shown_value: bool(f.contested) for f in memory.facts("Ana")}
    assert contested == {"pork": True, "not pork": True, "fish": False}


@pytest.mark.behaviour("FD7")
@pytest.mark.parametrize(
    ("words", "ended"),
    [
        ("Ana no longer eats pork.", True),
        ("Ana does not eat pork any more, only fish.", True),
        ("Ana isst kein Schweinefleisch mehr.", True),
        ("Ana ya no come cerdo.", True),
        ("Ana does not eat pork.", False),
        ("Ana does not eat pork, and she no longer smokes.", False),
    ],
)
def test_a_denial_that_says_that_something_ended_ends_it_and_nobody_is_asked(memory, words, ended):
    memory.remember("Ana eats pork and fish.", facts=[PORK, {**PORK, "value": "fish"}])
    done = memory.remember(words, facts=[{**PORK, "denied": True}])
    assert (len(done.facts.retired), len(done.facts.asked)) == ((1, 0) if ended else (0, 1))
    held = {f.shown_value for f in memory.facts("Ana")}
    assert held == ({"not pork", "fish"} if ended else {"pork", "not pork", "fish"})


@pytest.mark.behaviour("FD7")
def test_a_person_decides_between_a_value_and_its_denial(memory):
    memory.remember("Ana eats pork.", facts=[PORK])
    memory.remember("Ana does not eat pork.", facts=[{**PORK, "denied": True}])
    (denial,) = [f for f in memory.facts("Ana") if f.denied]
    memory.confirm(denial.id)
    assert [(f.shown_value, f.contested) for f in memory.facts("Ana")] == [("not pork", ())]
    (over,) = [f for f in memory.facts("Ana", past=True) if not f.denied]
    assert (over.state, over.superseded_by) == ("superseded", (denial.id,))


@pytest.mark.behaviour("FD7")
def test_a_denial_by_somebody_less_trusted_does_not_replace_what_a_person_said(memory, clock):
    memory.remember("Ana eats pork.", facts=[PORK])
    clock.passes(days=1)
    memory.remember("Ana does not eat pork.", facts=[{**PORK, "denied": True}], source="https://example.com/ana")
    assert [(f.value, f.denied) for f in memory.facts("Ana")] == [("pork", False)]


def test_what_others_say_does_not_replace_what_the_user_said(memory, clock):
    memory.remember("Ana lives in Berlin.", facts=[HOME])
    told = memory.remember("Ana lives in Paris.", facts=[MOVED], source="https://example.com/ana")
    assert believed(memory) == {("Ana", "home", "Berlin")}
    (fact,) = [f for f in memory.facts("Ana", past=True) if f.id in told.facts.created]
    assert (fact.trust, fact.base, fact.state) == ("external", 0.3, "superseded")
    memory.remember("Ana lives in Berlin, they say.", facts=[HOME], source="web:ana")
    assert [(f.trust, f.confirmations) for f in memory.facts("Ana")] == [("user", 1)]
    clock.passes(days=20)
    later = memory.remember("Ana lives in Rome.", facts=[{**MOVED, "value": "Rome"}], source="web:ana")
    assert later.facts.asked == later.facts.created


@pytest.mark.parametrize("how", ["value", "claim: note", "claim: fact"])
def test_what_others_say_to_replace_what_the_user_said_leaves_it_as_it_is(memory, how):
    kept = memory.remember("Ana lives in Berlin.", facts=[HOME])
    replaced = {"value": "Berlin", "claim: note": kept.id, "claim: fact": kept.facts.created[0]}[how]
    told = memory.remember(
        "Ana lives in Rome.", facts=[{**HOME, "value": "Rome", "replaces": replaced}], source="https://example.com/ana"
    )
    assert (told.facts.retired, told.facts.asked, told.facts.unknown) == ((), (), ())
    assert believed(memory) == {("Ana", "home", "Berlin")}
    assert memory.get(kept.id).status == "active"


def test_a_note_that_the_caller_replaces_by_others_words_is_not_followed_by_nothing(memory):
    kept = memory.remember("Ana lives in Berlin.", facts=[HOME])
    told = memory.remember(
        "Ana lives in Rome.", facts=[{**HOME, "value": "Rome"}], replaces=[kept.id], source="https://example.com/ana"
    )
    assert [(f.value, f.trust, f.base) for f in memory.facts("Ana")] == [("Rome", "external", 0.3)]
    memory.undo(told.operation)
    assert believed(memory) == {("Ana", "home", "Berlin")}


def test_the_same_call_again_changes_nothing(memory):
    first = memory.remember("Ana lives in Berlin.", facts=[HOME], idempotency_key="1")
    for key in ("1", None):
        again = memory.remember("Ana lives in Berlin.", facts=[HOME], idempotency_key=key)
        assert (again.id, again.changed) == (first.id, False)
    assert [f.confirmations for f in memory.facts("Ana")] == [1]


def test_learn_takes_claims_that_no_memory_says(memory):
    first = {"subject": "Bo", "predicate": "works as", "value": "baker", "valid_from": "2020-01-01"}
    over = {**first, "valid_to": "2021-01-01"}
    now = {**first, "value": "cook", "valid_from": "2021-01-01T01:00:00+01:00"}
    done = memory.learn(claims=[over, now])
    assert (len(done.created), done.entities) == (2, ("bo",))
    assert [(f.value, f.valid_from[:10], f.valid_to[:10], f.state) for f in memory.timeline("Bo").facts] == [
        ("baker", "2020-01-01", "2021-01-01", "superseded"),
        ("cook", "2021-01-01", "", "active"),
    ]
    memory.undo(done.operation)
    assert memory.facts(past=True) == []
    with pytest.raises(perdure.InvalidInput, match="Give either sessions to learn from or facts to store"):
        memory.learn()


FAULTS = {
    "unknown key": ([{**HOME, "since": "2020"}], "Claim 1: unknown key 'since'"),
    "no value": ([HOME, {"subject": "Ana", "predicate": "home"}], "Claim 2: value is missing"),
    "empty subject": ([{**HOME, "subject": " "}], "Claim 1: subject is empty"),
    "pronoun": ([{**HOME, "subject": "she"}], "Claim 1: the subject 'she' names nobody"),
    "no word": ([{**HOME, "predicate": "?!"}], "Claim 1: the predicate '\\?!' has no word"),
    "type": ([{**HOME, "denied": "no"}], "Claim 1: denied must be true or false"),
    "no object": (["Ana"], "Claim 1: it must be an object"),
    "no list": ("Ana", "facts must be a list"),
    "no date": ([{**HOME, "valid_from": "last May"}], "Claim 1: valid_from is neither a date"),
    "naive": ([{**HOME, "valid_from": "2020-01-01T10:00"}], "valid_from is neither a date nor a time with a zone"),
    "ends first": ([{**HOME, "valid_from": "2020-01-02", "valid_to": "2020-01-01"}], "is before valid_from"),
    "quote": ([{**HOME, "quote": "in Bonn"}], "Claim 1: the quote 'in Bonn' is not in the content"),
    "many": ([HOME] * 1001, "1,001 claims were given; 1,000 are allowed"),
    "denied twice": ([PORK, {**PORK, "predicate": "eat", "denied": True}], "Claim 2 denies what claim 1 says"),
    "two values": ([HOME, {**HOME, "value": "Bonn"}], "Claims 1 and 2 give home of Ana two values"),
}


@pytest.mark.parametrize(("facts", "told"), FAULTS.values(), ids=FAULTS)
def test_faults_name_the_claim_and_nothing_is_stored(facts, told, memory):
    with pytest.raises(perdure.InvalidInput, match=told):
        memory.remember("Ana lives in Berlin.", facts=facts)
    assert memory.list() == []
    assert memory.entities() == []
    assert memory.history() == []


def test_a_bad_date_is_told_by_itself_with_an_example(memory):
    with pytest.raises(perdure.InvalidInput) as caught:
        memory.remember("Ana lives in Berlin.", facts=[{**HOME, "valid_from": "last May"}])
    assert str(caught.value) == (
        "Claim 1: valid_from is neither a date nor a time with a zone: 'last May'; write for example 2026-11-21. "
        "Nothing was stored."
    )
    with pytest.raises(perdure.InvalidInput, match="A claim is an object with the keys subject, predicate, value"):
        memory.remember("Ana lives in Berlin.", facts=[{**HOME, "since": "last May"}])


def test_all_faults_are_told_at_once(memory):
    with pytest.raises(perdure.InvalidInput) as caught:
        memory.remember("Ana lives in Berlin.", facts=[{**HOME, "subject": ""}, HOME, {**HOME, "quote": "no"}])
    assert [n for n in "123" if f"Claim {n}:" in str(caught.value)] == ["1", "3"]


def test_an_ambiguous_subject_is_named_and_an_id_is_taken(memory):
    memory.learn(claims=[{**HOME, "subject": "Jon Smith"}, {**HOME, "subject": "Jon Kay"}])
    memory.alias("jon-smith", "Jonny")
    memory.alias("jon-kay", "Jonny")
    with pytest.raises(perdure.InvalidInput, match="jon-kay, jon-smith"):
        memory.learn(claims=[{**HOME, "subject": "Jonny"}])
    done = memory.learn(claims=[{**HOME, "subject": "jon-kay"}])
    assert len(done.reinforced) == 1


def test_a_fact_is_remembered_with_what_it_is_about(memory):
    with pytest.raises(perdure.InvalidInput, match="needs facts that say what it is about"):
        memory.remember("Ana lives in Berlin.", kind="fact")
    assert memory.remember("Ana lives in Berlin.", kind="fact", facts=[HOME]).memory.kind == "note"


def test_who_hands_over_their_own_name_is_known_by_it(memory):
    named = {"subject": "I", "predicate": "name", "value": "Ingrid"}
    home = {"subject": "Ingrid", "predicate": "home", "value": "Bergen"}
    first = memory.remember("My name is Ingrid, and I live in Bergen.", facts=[named, home])
    memory.remember("I like jazz.", facts=[{"subject": "Ingrid", "predicate": "likes", "value": "jazz"}])
    assert {(f.name, f.value) for f in memory.facts("Ingrid")} == {("user", v) for v in ("Ingrid", "Bergen", "jazz")}
    memory.remember("They call Bo the boss.", facts=[{"subject": "Bo", "predicate": "nickname", "value": "the boss"}])
    denied = {**named, "predicate": "nickname", "value": "Inga", "denied": True}
    memory.remember("Nobody calls me Inga.", facts=[denied])
    assert {n for e in memory.entities() for n in e.aliases} == {"user", "Ingrid", "Bo"}
    for operation in [o.id for o in memory.history() if o.id != first.operation] + [first.operation]:
        memory.undo(operation)
    assert memory.entities() == []


@pytest.mark.parametrize("source", [None, "https://example.com/ingrid"])
def test_a_name_that_is_anothers_or_that_a_stranger_hands_over_names_whom_it_named(memory, source):
    if source is None:
        memory.remember("Ingrid lives in Oslo.", facts=[{**HOME, "subject": "Ingrid", "value": "Oslo"}])
    memory.remember("I am Ingrid.", facts=[{"subject": "I", "predicate": "name", "value": "Ingrid"}], source=source)
    memory.remember("Ingrid likes jazz.", facts=[{"subject": "Ingrid", "predicate": "likes", "value": "jazz"}])
    assert {f.name for f in memory.facts() if f.value == "jazz"} == {"Ingrid"}


@pytest.mark.filterwarnings("ignore:1 secret was replaced")
def test_secrets_in_claims_are_replaced(memory):
    key = "AKIAIOSFODNN7EXAMPLE"[:16] + "ABCD"
    memory.learn(claims=[{"subject": "deploy", "predicate": "key", "value": key}])
    assert key not in str(memory.facts())


class Counting(HashEmbedder):
    def __init__(self):
        super().__init__()
        self.texts = []

    def embed(self, texts, *, purpose):
        self.texts += texts
        return super().embed(texts, purpose=purpose)


def test_the_reply_names_what_may_be_about_the_same_without_embedding_it_twice(clock):
    embedder = Counting()
    with perdure.open(":memory:", None, clock, embedder=embedder) as memory:
        far = memory.remember("The printer is out of paper.")
        assert far.related == ()
        near = memory.remember("The weekly team meeting is on Monday at ten.")
        ana = memory.remember("Ana is a resident of Berlin.", facts=[HOME])
        memory.remember("Ana loves jazz.", facts=[{"subject": "Ana", "predicate": "loves", "value": "jazz"}])
        clock.passes(days=1)
        reply = memory.remember("The weekly team meeting is on Friday at ten.")
        assert [(r.id, r.created_at) for r in reply.related] == [(near.id, "2026-01-01")]
        assert reply.related[0].content == near.memory.content
        assert embedder.texts.count("The weekly team meeting is on Friday at ten.") == 1
        reply = memory.remember("Paris has got her now.", facts=[{**HOME, "value": "Paris"}])
        assert [r.id for r in reply.related] == [ana.id]
        assert [(k.subject, k.predicates) for k in reply.predicates] == [("Ana", ("like",))]


def test_a_fact_is_not_offered_beside_the_note_that_says_it(clock):
    with perdure.open(":memory:", None, clock, embedder=HashEmbedder()) as memory:
        meeting = {"subject": "weekly team meeting", "predicate": "day", "value": "Monday at ten"}
        alone = memory.learn(claims=[{**meeting, "predicate": "usual day", "value": "Tuesday at ten"}])
        note = memory.remember("The weekly team meeting: day: Monday at ten.", facts=[meeting])
        reply = memory.remember("The weekly team meeting: day: Friday at ten.")
        assert {r.id for r in reply.related} == {note.id, *alone.created}


def test_the_reply_to_facts_tells_of_each_subject_what_else_is_known_under_which_predicates(clock):
    def claim(subject, predicate, value, **more):
        return {"subject": subject, "predicate": predicate, "value": value, **more}

    with perdure.open(":memory:", None, clock, embedder=HashEmbedder()) as memory:
        for words, fact in (
            ("Ana drinks green tea at noon.", claim("Ana", "usual drink", "green tea")),
            ("Ana drinks green tea with lunch.", claim("Ana", "lunch drink", "green tea")),
            ("Bo has a kayak.", claim("Bo", "own", "a kayak")),
        ):
            memory.remember(words, facts=[fact])
        draft = memory.remember("The draft of Bo is due in May.", facts=[claim("Bo", "draft deadline", "May")])
        home = memory.remember("I am in Oslo these days.", facts=[claim("I", "home", "Oslo")])
        memory.remember("I love jazz.", facts=[claim("I", "like", "jazz")])
        reply = memory.learn(claims=[claim("Ana", "height", "170 cm"), claim("Bo", "height", "180 cm")])
        assert reply.related == ()
        assert [(k.subject, k.predicates, k.near) for k in reply.predicates] == [
            ("Ana", ("lunch_drink", "usual_drink"), ()),  # two that may be one, and nobody asks about them now
            ("Bo", ("draft_deadline", "own"), ()),
        ]
        reply = memory.learn(claims=[claim("Bo", "deadline", "June")])
        assert [r.id for r in reply.related] == [draft.id]
        reply = memory.learn(claims=[claim("I", "home", "Bergen")])
        assert [r.id for r in reply.related] == [home.id]
        assert [(k.subject, k.predicates) for k in reply.predicates] == [("user", ("like",))]
        reply = memory.learn(claims=[claim("Ana", "lunch drink", "green tea with milk")])  # a predicate that was known
        assert [(k.subject, k.near) for k in reply.predicates] == [("Ana", ())]


def test_facts_in_no_memory_are_answered_with_what_is_near_them(clock):
    drink = {"subject": "Ana", "predicate": "usual drink", "value": "green tea"}
    with perdure.open(":memory:", None, clock, embedder=HashEmbedder()) as memory:
        memory.remember("The printer is out of paper.")
        near = memory.remember("The weekly team meeting is on Monday at ten.")
        memory.remember("Ana drinks green tea.", facts=[drink])
        met = {"subject": "weekly team meeting", "predicate": "day", "value": "Monday at ten"}
        reply = memory.learn(claims=[met, {**drink, "predicate": "breakfast drink"}])
        assert [r.id for r in reply.related] == [near.id]
        assert [(k.subject, k.near) for k in reply.predicates] == [("Ana", (("breakfast_drink", "usual_drink"),))]
        for number in range(6):
            memory.remember(f"The weekly team meeting in room {number} is on Monday at ten.")
        assert len(memory.learn(claims=[{**met, "predicate": "time", "value": "is on Monday at ten"}]).related) == 3
        assert memory.learn(claims=[{"subject": "Zed", "predicate": "height", "value": "2 m"}]).related == ()


def test_several_memories_say_facts_in_one_operation(memory):
    job = {"subject": "Bo", "predicate": "job", "value": "baker"}
    rows = [
        {"content": "Ana lives in Berlin.", "kind": "fact", "facts": [{**HOME, "quote": "lives in Berlin"}]},
        "The printer is out of paper.",
        {"content": "Ana moved to Paris. Bo is a baker.", "facts": [MOVED, job], "idempotency_key": "1"},
        {"content": "Bo bakes for a living.", "facts": [job], "confidence": 0.9},
    ]
    stored = memory.remember_many(rows)
    assert [o.memory.kind for o in stored] == ["note"] * 4
    assert {o.operation for o in stored} == {memory.history()[0].id}
    assert believed(memory) == {("Ana", "home", "Paris"), ("Bo", "occupation", "baker")}
    assert memory.get(stored[0].id, include_archived=True).status == "superseded"
    (bo,) = memory.facts("Bo")
    assert [memory_id for memory_id, _ in bo.sources] == [
        stored[2].id,
        stored[3].id,
    ]
    again = memory.remember_many([{**rows[2], "facts": [{**job, "value": "cook"}]}])
    assert (again[0].id, again[0].changed) == (stored[2].id, False)
    assert believed(memory, "Bo") == {("Bo", "occupation", "baker")}
    memory.undo(stored[0].operation)
    assert memory.list(include_archived=True) == memory.facts(past=True) == memory.entities() == []


def test_rows_that_cannot_be_facts_are_named_and_nothing_is_stored(memory):
    memory.learn(claims=[{**HOME, "subject": "Jon Smith"}, {**HOME, "subject": "Jon Kay"}])
    memory.alias("jon-smith", "Jonny")
    memory.alias("jon-kay", "Jonny")
    before = memory.history()
    for row, told in (
        (
            {"content": "Ana lives in Berlin.", "kind": "fact"},
            "Item 2: A memory of kind fact needs facts that say what it is about",
        ),
        ({"content": "Ana lives in Berlin.", "facts": [{**HOME, "quote": "Bonn"}]}, "Item 2: Claim 1: the quote"),
        ({"content": "Jonny lives here.", "facts": [{**HOME, "subject": "Jonny"}]}, "Item 2: Claim 1: .* may be any"),
    ):
        with pytest.raises(perdure.InvalidInput, match=told):
            memory.remember_many(["Ana is a baker.", row])
    assert memory.list(kinds=["note"]) == []
    assert memory.history() == before


class SynonymQuestion(HashEmbedder):
    """Any two texts mean nearly the same, as texts in a language that a model has not learned do to it."""

    def embed(self, texts, *, purpose):
        vectors = [np.frombuffer(v, "<f4") + 3 for v in super().embed(texts, purpose=purpose)]
        return [(v / np.linalg.norm(v)).astype("<f4").tobytes() for v in vectors]


@pytest.mark.parametrize(
    ("old", "other", "new"),
    [
        ("El despliegue es los martes a las diez.", "Ana prefiere té verde.", "El despliegue es los viernes ahora."),
        ("部署日是星期二上午十点", "安娜喜欢绿茶和蛋糕", "部署日改为星期五上午十点"),
    ],
)
def test_what_is_near_in_meaning_alone_is_not_offered(old, other, new, clock):
    with perdure.open(":memory:", None, clock, embedder=SynonymQuestion()) as memory:
        kept = memory.remember(old)
        assert memory.remember(other).related == ()
        clock.passes(days=1)
        assert [r.id for r in memory.remember(new).related] == [kept.id]

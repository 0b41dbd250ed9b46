"""Questions put to a person are few: so many a day, the most valuable doubts first."""

from __future__ import annotations

import pytest

from conftest import WORDS_ONLY
from perdure.operations.lifecycle.review import FEW
from perdure.records.errors import ConflictError, InvalidInput

KNOWLEDGE = {**WORDS_ONLY, "preset": "facts"}
FIRMS = ("Acme", "Berta", "Carlo", "Delta", "Erika", "Fabio", "Gamma")


@pytest.fixture
def memory(opening, clock):
    """Seven facts that nobody has spoken of for a hundred days."""
    each = opening({**KNOWLEDGE, "knowledge": {"questions_per_day": 3}})
    each.ingest([{"content": f"Remember that {firm} Labs prefers Friday deliveries."} for firm in FIRMS], session="s1")
    clock.passes(days=100)
    return each


@pytest.mark.behaviour("BE32", "002-stage-6-few")
def test_a_day_has_so_many_questions_the_most_valuable_doubt_first(memory):
    asked = memory.review()
    assert len(asked) == 3
    risks = [q.value_at_risk for q in memory.review(limit=100)]
    assert len(risks) == len(FIRMS)
    assert risks == sorted(risks, reverse=True)
    assert [q.id for q in asked] == [q.id for q in memory.review(limit=3)]


@pytest.mark.behaviour("BE33")
@pytest.mark.parametrize("verb", ["confirm", "deny", "correct", "mute"])
def test_what_was_answered_today_counts_and_tomorrow_it_begins_anew(memory, clock, verb):
    for left in (2, 1, 0):
        question = memory.review()[0]
        getattr(memory, verb)(question.id, *(("Monday",) if verb == "correct" else ()))
        assert len(memory.review()) == left
        assert question.id not in {q.id for q in memory.review(limit=100)}
    clock.passes(hours=23, minutes=59)
    assert memory.review() == []
    clock.passes(minutes=1)
    assert len(memory.review()) == 3
    assert len(memory.review(limit=100)) == 4


def test_a_limit_of_ones_own_overrides_the_days(memory):
    for _ in range(3):
        memory.confirm(memory.review()[0].id)
    assert memory.review() == []
    assert len(memory.review(limit=2)) == 2
    assert len(memory.review(limit=1000)) == 4


def test_a_policy_may_ask_nothing(opening, clock):
    memory = opening({**KNOWLEDGE, "knowledge": {"questions_per_day": 0}})
    memory.ingest([{"content": "Remember that Acme Labs prefers Friday deliveries."}], session="s1")
    clock.passes(days=100)
    assert memory.review() == []
    assert len(memory.review(limit=10)) == 1


@pytest.mark.parametrize(("first", "second"), [("mute", "confirm"), ("confirm", "mute"), ("mute", "deny")])
def test_of_two_answers_in_the_same_moment_the_first_wins_and_the_second_is_told(memory, first, second):
    question = memory.review()[0]
    looking = memory.while_unchanged([question.id])
    kept = memory.answer(question.id, first)
    before = memory.history()
    with pytest.raises(ConflictError) as caught:
        looking.answer(question.id, second)
    assert caught.value.remedy
    assert memory.history() == before
    assert before[0].id == kept.operation


@pytest.mark.parametrize(("first", "second"), [("mute", "confirm"), ("confirm", "mute"), ("deny", "mute")])
def test_an_answer_that_comes_while_another_one_is_written_is_told_so(memory, raw_store, monkeypatch, first, second):
    question, store = memory.review()[0], type(raw_store)
    apply, answered = store.apply, []

    def late(self, plan, **more):
        if plan.operation == second and not answered:
            answered.append(memory.answer(question.id, first))
        apply(self, plan, **more)

    monkeypatch.setattr(store, "apply", late)
    with pytest.raises(ConflictError, match=f"in the same moment: {first}"):
        memory.answer(question.id, second)
    assert memory.history()[0].operation == first


@pytest.mark.behaviour("BE34")
def test_what_is_muted_is_believed_and_fades_and_is_never_asked_about_again(memory, clock):
    question = memory.review()[0]
    memory.mute(question.id)
    line = next(f for f in memory.facts() if f.id == question.id)
    assert line.state == "aging"
    assert line.confidence < line.base
    clock.passes(days=60)
    assert question.id not in {q.id for q in memory.review(limit=100)}
    assert memory.mute(question.id).id == question.id  # twice is no harm
    memory.undo(next(o.id for o in memory.history() if o.operation == "mute"))
    assert question.id in {q.id for q in memory.review(limit=100)}


def test_to_be_asked_is_no_answer(memory):
    first = memory.review()
    assert memory.review() == first
    assert len(memory.review()) == 3


@pytest.mark.behaviour("BE43")
def test_of_many_ageing_facts_the_most_valuable_are_found_whoever_else_is_muted(opening, clock):
    memory = opening(KNOWLEDGE)
    ends = ("in", "ara", "ost", "um", "elle", "ova", "uck", "ip", "ent", "axi")
    firms = [f"{a}{b} Labs" for a in ("Kal", "Mor", "Tev", "Sul", "Ber", "Nix", "Dor", "Gan") for b in ends]
    for place in range(0, len(firms), 10):
        some = [f"Remember that {firm} prefers Friday deliveries." for firm in firms[place : place + 10]]
        memory.ingest([{"content": text} for text in some], session=f"s{place}")
        clock.passes(days=1 + place % 7)
    said = {f.name: f.id for f in memory.facts()}
    for firm in firms[::9]:
        memory.confirm(said[firm])
    clock.passes(days=95)
    again = [f"Remember that {firm} prefers Friday deliveries." for firm in firms[::11]]
    memory.ingest([{"content": text} for text in again], session="again")
    there = {m.id: m for m in memory.list(kinds=["fact"], limit=1000)}
    ageing = [f.id for f in memory.facts(limit=1000) if f.state == "aging"]
    right = sorted(ageing, key=lambda i: (-there[i].value * (1.0 - there[i].confidence), i))
    assert len({round(there[i].value * (1.0 - there[i].confidence), 6) for i in right}) > 5
    assert FEW + 5 < len(right) == len(firms) - 8
    assert [q.id for q in memory.review(limit=1000)] == right
    for identity in right[: FEW + 3]:
        memory.mute(identity)
    assert [q.id for q in memory.review(limit=3)] == right[FEW + 3 :][:3]
    assert [q.id for q in memory.review(limit=1000)] == right[FEW + 3 :]


def told(memory, *facts, words="noted"):
    keys = ("subject", "predicate", "value")
    memory.remember(words, facts=[f if isinstance(f, dict) else dict(zip(keys, f, strict=True)) for f in facts])


@pytest.mark.behaviour("KN104")
@pytest.mark.parametrize(
    ("fact", "clause"),
    [
        (("Mia", "allergic_to", "peanuts"), "Mia is allergic to peanuts"),
        (("user", "allergy", "pollen"), "you are allergic to pollen"),
        (("Tom", "plays", "the cello"), "Tom plays the cello"),
        (("Mia", "studies", "law"), "Mia studies law"),
        (("user", "teaches", "chess"), "you teach chess"),
        (("Maya", "answers as", "bullet points"), "Maya answers as bullet points"),
        (("user", "lives_in", "Leeds"), "your home is Leeds"),
        (("Jens", "day", "Friday"), "Jens' day is Friday"),
        (("cellar 2", "wheels", "1,242"), "cellar 2's wheels are 1,242"),
        (("user", "interface languages", "German, French"), "your interface languages are German, French"),
        (("cellar 2", "number of wheels", "1,242"), "cellar 2's number of wheels is 1,242"),
        (("shop", "children in care", "4"), "shop's children in care are 4"),
        (("shop", "status", "open"), "shop's status is open"),
        (("shop", "postal address", "Mill Row 3"), "shop's postal address is Mill Row 3"),
        (("shop", "dns alias", "till"), "shop's dns alias is till"),
        (("shop", "news", "none"), "shop's news is none"),
        (("kestrel", "OS", "Debian 12"), "kestrel's OS is Debian 12"),
        (("kestrel", "runs on", "Debian 12"), "kestrel runs on Debian 12"),
    ],
)
def test_whether_a_fact_still_holds_is_asked_in_a_sentence(opening, clock, fact, clause):
    memory = opening({**WORDS_ONLY, "fading": {"health": 1.0}})
    told(memory, fact)
    clock.passes(days=100)
    (asked,) = memory.review()
    assert asked.question == f"I noted on 1 January 2026 that {clause}. Is that still so?"


@pytest.mark.parametrize(
    "fact",
    [
        ("Familie", "Hausärztin", "Dr. Seidl"),
        ("Familie", "Hausaerztin", "Dr. Seidl"),
        ("Oma", "schläft im", "Arbeitszimmer"),
        ("Oma", "schlaeft im", "Arbeitszimmer"),
        ("user", "lugar de trabajo", "Bilbao"),
        ("salle", "numéro", "12"),
        ("会議", "曜日", "火曜日"),
    ],
)
def test_what_is_not_told_in_english_is_asked_in_the_words_that_are_stored(opening, clock, fact):
    memory = opening(WORDS_ONLY)
    told(memory, fact)
    clock.passes(days=100)
    quote = f'"{": ".join(fact)}"'
    [asked] = memory.review()
    assert asked.question == f"I noted on 1 January 2026: {quote}. Is that still so?"


def test_the_day_on_which_a_planned_fact_begins_is_left_out_of_its_question_once_it_has_come(opening, clock):
    memory = opening(WORDS_ONLY)
    told(memory, {"subject": "kestrel", "predicate": "port", "value": "1", "valid_from": "2026-02-01"})
    asked = "I noted on 1 February 2026 that kestrel's port is 1. Is that still so?"
    clock.passes(days=200)
    assert [q.question for q in memory.review()] == [asked]
    assert [f.question for f in memory.facts("kestrel")] == [asked]
    [hit] = memory.recall("kestrel port", kinds=["fact"], touch=False).hits
    assert hit.question == asked


def test_what_does_not_hold_is_not_asked_about_for_its_age(opening, clock):
    memory = opening({**WORDS_ONLY, "fading": {"health": 1.0}})
    told(memory, {"subject": "Diego", "predicate": "partner", "value": "Laia", "denied": True})
    clock.passes(days=200)
    assert memory.review() == []
    assert [f.question for f in memory.facts("Diego")] == [""]
    [hit] = memory.recall("Diego's partner Laia", kinds=["fact"], touch=False).hits
    assert (hit.question, hit.answers) == ("", ())
    memory.used([hit.memory.id], "wrong")
    [asked] = memory.review()  # a doubt is asked about
    assert "Diego's partner is not Laia" in asked.question


WHO = {
    "I noted": ("I noted", {}),
    "I read": ("I read", {"source": "https://example.com/"}),
}


@pytest.mark.parametrize("who", WHO)
def test_a_question_says_who_told_what_is_asked_about(opening, clock, who):
    memory, (said, teller) = opening(WORDS_ONLY), WHO[who]
    fact = {"subject": "Alpha", "predicate": "port", "value": "1"}
    memory.remember("Alpha listens on port 1.", facts=[fact], **teller)
    clock.passes(days=100)
    (asked,) = memory.review()
    assert asked.question == f"{who} on 1 January 2026 that Alpha's port is 1. Is that still so?"
    assert memory.facts("Alpha")[0].question == asked.question
    (hit,) = memory.recall("Alpha port", kinds=["fact"], touch=False).hits
    assert hit.question == asked.question
    memory.remember("Alpha listens on port 2.", facts=[{**fact, "value": "2"}], **teller)
    memory.remember("Alpha listens on port 3.", facts=[{**fact, "value": "3"}], **teller)
    assert f"; on 11 April 2026 {said} that Alpha's port is 3" in memory.review()[0].question


PORT = {"predicate": "port", "value": "1"}


@pytest.mark.parametrize("source", [None, "assistant"])
def test_only_what_a_message_or_an_answer_of_a_person_says_is_said_to_be_their_word(opening, clock, source):
    memory = opening({**WORDS_ONLY, "preset": "facts"})
    friday = "Remember, Gai Media prefers Friday deliveries."
    memory.ingest([{"content": friday, "role": "user", "at": clock().isoformat()}], session="s1")
    memory.remember("Alpha listens on port 1.", facts=[{"subject": "Alpha", **PORT}], source=source)
    memory.remember("Beta listens on port 1.", facts=[{"subject": "Beta", **PORT}], source=source)
    answered = memory.correct(memory.facts("Beta")[0].id, "2")
    clock.passes(days=100)
    who = {f.name: f.question.partition(" on ")[0] for f in memory.facts()}
    assert who == {"Gai Media": "You told me", "Alpha": "I noted", "Beta": "You told me"}
    asked = {q.id: q.question.partition(" on ")[0] for q in memory.review(limit=9)}
    assert asked == {f.id: who[f.name] for f in memory.facts()}
    assert 'noted 2026-01-01: "Alpha' in memory.answer_sheet("Which port does Alpha have?").text
    told = {name: memory.why(memory.facts(name)[0].id).fact for name in ("Gai Media", "Alpha")}
    assert (told["Gai Media"].trust, told["Gai Media"].learned) == ("user", "was asked to be remembered")
    assert told["Alpha"].trust != "user"
    assert memory.get(answered.id).content == "Beta: port: 2"


def test_of_two_messages_of_a_person_it_is_asked_what_they_said(opening, clock):
    memory = opening({**WORDS_ONLY, "preset": "facts"})
    for day in ("Friday", "Monday"):
        said = {"content": f"Remember, Gai Media prefers {day} deliveries.", "role": "user", "at": clock().isoformat()}
        memory.ingest([said], session="s1")
        clock.passes(days=1)
    assert memory.review()[0].question.count("you said") == 2


@pytest.mark.behaviour("KN105")
def test_a_contradiction_is_asked_before_whatever_is_old_and_names_both_days(opening, clock):
    memory = opening({**WORDS_ONLY, "knowledge": {"questions_per_day": 10}})
    told(memory, ("Gai Media", "delivery_day", "Friday"))
    memory.pin(memory.facts("Gai Media")[0].id)
    told(memory, *((firm, "day", "Monday") for firm in FIRMS))
    clock.passes(days=3)
    told(memory, ("Gai Media", "delivery_day", "Monday"))
    clock.passes(days=120)
    first, *rest = memory.review()
    assert first.question == (
        "On 1 January 2026 I noted that Gai Media's delivery day is Friday; on 4 January 2026 I noted that "
        "Gai Media's delivery day is Monday. Which holds?"
    )
    assert first.against
    assert len(rest) >= len(FIRMS)
    assert not any(q.against for q in rest)
    assert max(q.value_at_risk for q in rest) > first.value_at_risk


@pytest.mark.behaviour("KN106")
def test_nobody_is_asked_about_their_own_name_age_and_birthday(opening, clock):
    memory = opening()
    told(memory, ("user", "name", "Ingrid"), ("user", "age", "55"), ("user", "birthday", "1 May"), ("Mia", "age", "9"))
    clock.passes(days=1)
    told(memory, ("user", "birthday", "2 May"))
    clock.passes(days=120)
    assert [q.question for q in memory.review(limit=50)] == [
        "I noted on 1 January 2026 that Mia's age is 9. Is that still so?"
    ]


ENDED = {"subject": "staging", "predicate": "mode", "value": "read-only"}
WAYS_TO_END = {
    "a stated end": [{**ENDED, "valid_to": "2026-01-05"}],
    "one that follows": [ENDED, {**ENDED, "value": "writable", "valid_from": "2026-01-06", "replaces": "read-only"}],
}


@pytest.mark.behaviour("KN110")
@pytest.mark.parametrize("way", WAYS_TO_END)
def test_nobody_is_asked_whether_a_fact_that_has_ended_still_holds(opening, clock, way):
    memory = opening(WORDS_ONLY)
    for number, fact in enumerate(WAYS_TO_END[way]):
        memory.remember(f"Staging, note {number}.", facts=[fact])
    ended = next(f for f in memory.timeline("staging").facts if f.value == "read-only")
    clock.passes(days=100)
    assert all("read-only" not in q.question for q in memory.review(limit=50))
    [line] = [f for f in memory.timeline("staging").facts if f.id == ended.id]
    assert (line.state, line.question, line.unconfirmed_since) == ("superseded", "", "")
    hits = memory.recall("staging mode read-only", kinds=["fact"], touch=False).hits
    assert [(h.question, h.memory.aging) for h in hits if h.memory.id == ended.id] in ([], [("", False)])
    told = memory.why(ended.id).fact
    assert told.state == "superseded"
    assert told.next[0].startswith("It ended at 2026-01-0")
    assert "read-only" not in memory.agent.opening("s", "default").partition("Ask")[2]


def test_who_confirms_a_fact_that_has_ended_is_told_so_and_what_to_do(opening, clock):
    memory = opening(WORDS_ONLY)
    told(memory, {**ENDED, "valid_to": "2026-01-05"})
    clock.passes(days=100)
    [ended] = memory.timeline("staging").facts
    with pytest.raises(InvalidInput, match=r"ended on 2026-01-05.*remember it again, with the fact"):
        memory.confirm(ended.id)
    told(memory, ENDED, words="Staging is read-only again.")
    assert [(f.value, f.valid_to) for f in memory.facts("staging")] == [("read-only", "")]


def test_who_confirms_what_another_followed_is_told_which_one_and_what_to_do(opening, clock):
    memory = opening(WORDS_ONLY)
    for number, fact in enumerate(WAYS_TO_END["one that follows"]):
        told(memory, fact, words=f"Staging, note {number}.")
    clock.passes(days=100)
    ended, later = memory.timeline("staging").facts
    with pytest.raises(InvalidInput, match=f"ended on 2026-01-06: {later.id} took its place.*`correct` for {later.id}"):
        memory.confirm(ended.id)
    memory.correct(later.id, "read-only")
    assert [f.value for f in memory.facts("staging")] == ["read-only"]


def test_a_doubt_about_what_has_ended_is_answered_by_a_yes(opening, clock):
    memory = opening(WORDS_ONLY)
    told(memory, {**ENDED, "valid_to": "2026-01-05"})
    clock.passes(days=10)
    [ended] = memory.timeline("staging").facts
    memory.used([ended.id], "wrong")
    assert [q.id for q in memory.review()] == [ended.id]
    memory.confirm(ended.id)
    assert memory.review() == []

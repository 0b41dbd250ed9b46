"""Procedures: what follows what in conversations, over both stores."""

from __future__ import annotations

import json
import tracemalloc
from datetime import timedelta
from itertools import product

import numpy as np
import pytest

from conftest import START, WORDS_ONLY, HashEmbedder, budget, logical, tables
from perdure.knowledge.operations.fact_recall import known_procedures
from perdure.knowledge.rules.procedures import Conversations, TopicMessage, widening_words
from perdure.records.errors import InvalidInput
from perdure.records.memory import Shelf
from perdure.rules.language.words import query_words

WORDS = [a + b for a in ("bark", "cliff", "dune", "fern", "gorge", "marsh") for b in ("ling", "wood", "ford", "gate")]
ASKED, NEXT = "What is the status of the delivery?", "And the invoices for it?"


def talk(memory, clock, day, texts, session=None, role="user", **more):
    """Take in one session, a minute for each message."""
    clock.now = START + timedelta(days=day, minutes=len(texts))
    moments = [START + timedelta(days=day, minutes=n) for n in range(len(texts))]
    said = [{"content": text, "role": role, "at": at} for text, at in zip(texts, moments, strict=True)]
    return memory.ingest(said, session=session or f"day {day}", **more)


def noise(draw, length=6):
    """Messages that have nothing to do with each other."""
    return [f"The {' '.join(draw.choice(WORDS, 2, replace=False))} again" for _ in range(length)]


def sitting(memory, clock, day, *planted):
    """Take in a session of noise with planted questions that follow each other in it."""
    draw = np.random.default_rng(day)
    texts = noise(draw)
    start = int(draw.integers(len(texts) - 1))
    texts[start : start + len(planted)] = planted
    return talk(memory, clock, day, texts)


def lived(memory, clock, days, every=3):
    """Sessions day by day; in each third the delivery is asked about, and then the invoices."""
    for day in range(days):
        sitting(memory, clock, day, *((ASKED, NEXT) if day % every == 0 else ()))
    clock.now = START + timedelta(days=days)


@pytest.mark.behaviour("002-part-3", "LE-procedures-1")
def test_what_was_planted_is_learned(memory, clock, raw_store):
    lived(memory, clock, 24)
    told = memory.procedures()
    (one,) = told.procedures
    assert (told.sessions, told.messages, told.dry_run) == (24, 144, True)
    assert (one.trigger, one.then) == (("delivery", "status"), ("invoice",))
    assert (one.support, one.sessions, one.confidence) == (8, 8, 0.8)  # a tenth for each
    assert one.lift > 5
    done = memory.procedures(dry_run=False)
    (kept,) = memory.list(kinds=["procedure"])
    assert kept.content == "When delivery, status comes up, invoice follows (8 of 8 sessions until 2026-01-25)."
    assert kept.confidence == pytest.approx(0.8)
    assert done.procedures[0].id == kept.id
    (written,) = raw_store.documents.page("default", Shelf.PROCEDURE, ("", ""), 10)
    assert (written.id, written.name) == (kept.id, "delivery>invoice")
    assert written.data["then"] == ["invoice"]
    linked = [link for link in raw_store.links("default", kept.id) if link[0] == "derived_from"]
    assert len(linked) == 16  # the two messages of each session
    plain = json.loads(json.dumps(done.to_dict()))
    assert plain["procedures"][0]["trigger"] == ["delivery", "status"]


@pytest.mark.behaviour("LE-procedures-2")
def test_confidence_is_never_above_nine_tenths(memory, clock):
    lived(memory, clock, 36)
    (one,) = memory.procedures().procedures
    assert (one.support, one.confidence) == (12, 0.9)


@pytest.mark.behaviour("LE-procedures-3")
def test_three_sessions_are_enough_where_few_topics_are_talked_about(memory, clock):
    """Three or more. Two are not enough."""
    for day in range(12):
        planted = ("Delivery?", "Invoices?") if day in (2, 5, 8) else ()
        said = [f"{word}!" for word in ("Weather", "Football", "Garden", "Weather", "Garden", "Football")]
        at = 2 + day % 3
        said[at : at + 2] = planted or said[at : at + 2]
        talk(memory, clock, day, said)
        found = memory.procedures().procedures
        assert bool(found) == (day >= 8), day


@pytest.mark.behaviour("LE-procedures-15")
@pytest.mark.parametrize(("sessions", "found"), [(5, 0), (6, 1)])
def test_where_nothing_else_is_talked_about_six_sessions_tell_it_from_an_accident(opening, clock, sessions, found):
    memory = opening(at=":memory:")
    for day in range(sessions):
        talk(memory, clock, day, [ASKED, NEXT])
    assert len(memory.procedures().procedures) == found


@pytest.mark.behaviour("LE-procedures-16")
@pytest.mark.parametrize(("sessions", "found"), [(2, 0), (3, 1)])
def test_a_policy_may_ask_for_the_sessions_alone(opening, clock, sessions, found):
    memory = opening({**WORDS_ONLY, "knowledge": {"procedure_chance": 1}}, at=":memory:")
    for day in range(sessions):
        talk(memory, clock, day, [ASKED, NEXT])
    learned = memory.procedures().procedures
    assert [(p.support, round(p.confidence, 3)) for p in learned] == [(sessions, sessions / 10)] * found


@pytest.mark.behaviour("LE-procedures-4")
def test_shuffled_conversations_teach_nothing(opening, clock):
    """The same messages in any order, in many ways: inside each session, and dealt out to other sessions."""
    draw, learned = np.random.default_rng(3), []
    for run in range(budget(8, 20)):
        memory, clock.now = opening(at=":memory:"), START
        days = [noise(draw) for _ in range(24)]
        for texts in days[::3]:
            texts[0:2] = [ASKED, NEXT]
        if run % 2:
            for texts in days:
                draw.shuffle(texts)
        else:
            pool = [t for texts in days for t in texts]
            draw.shuffle(pool)
            days = [pool[n : n + 6] for n in range(0, len(pool), 6)]
        for day, texts in enumerate(days):
            talk(memory, clock, day, texts)
        learned += memory.procedures().procedures
    assert learned == []


@pytest.mark.behaviour("LE-procedures-5")
def test_what_comes_up_everywhere_follows_nothing(memory, clock):
    """The report comes up all the time: after a delivery as well, but no more often."""
    for day in range(24):
        draw = np.random.default_rng(day)
        texts = [f"The report of {draw.choice(WORDS)}" if n % 2 else f"The {draw.choice(WORDS)}" for n in range(6)]
        if day % 2:
            texts[2] = ASKED
        talk(memory, clock, day, texts)
    assert memory.procedures().procedures == ()


@pytest.mark.behaviour("LE-procedures-6")
def test_a_dry_run_writes_nothing_and_its_plan_can_be_applied(memory, path, clock):
    lived(memory, clock, 24)
    before = tables(path)
    (plan,) = memory.procedures().plans
    assert tables(path) == before
    memory.apply(plan)
    assert len(memory.list(kinds=["procedure"])) == 1
    assert memory.procedures(dry_run=False).operations == ()


@pytest.mark.behaviour("LE-procedures-7")
@pytest.mark.parametrize("embedder", [None, HashEmbedder()])
def test_learning_twice_changes_nothing_and_an_undo_restores_row_for_row(opening, path, clock, embedder):
    memory = opening(WORDS_ONLY, embedder)
    lived(memory, clock, 24)
    before = logical(path)
    (operation,) = memory.procedures(dry_run=False).operations
    learned = logical(path)
    again = memory.procedures(dry_run=False)
    assert (again.procedures, again.unchanged, again.operations) == ((), 1, ())
    assert logical(path) == learned
    back = memory.undo(operation).operation
    assert logical(path) == before
    memory.undo(back)
    assert logical(path) == learned
    assert memory.check() == []


@pytest.mark.behaviour("LE-procedures-8")
def test_one_that_stops_holding_is_archived_and_comes_back_when_it_holds_again(memory, path, clock):
    lived(memory, clock, 24)
    (first,) = memory.procedures(dry_run=False).procedures
    for day in range(90, 110):  # only the delivery is asked about
        sitting(memory, clock, day, *((ASKED,) if day % 2 else ()))
    clock.now = START + timedelta(days=110)
    before = logical(path)
    (gone,) = memory.procedures(dry_run=False).procedures
    assert (gone.id, gone.move, gone.support, gone.sessions) == (first.id, "retired", 0, 10)
    assert gone.because == "it stopped holding: it followed in 0 of 10 recent sessions"
    assert memory.get(first.id) is None
    assert memory.get(first.id, include_archived=True).status == "archived"
    assert memory.history(first.id)[-1].because.endswith(gone.because)
    assert memory.list(kinds=["procedure"]) == []
    memory.undo(memory.history()[0].id)
    assert logical(path) == before
    memory.procedures(dry_run=False)
    for day in range(190, 214):
        sitting(memory, clock, day, *((ASKED, NEXT) if day % 3 == 0 else ()))
    clock.now = START + timedelta(days=214)
    (back,) = memory.procedures(dry_run=False).procedures
    assert (back.id, back.move, back.support, back.sessions) == (first.id, "back", 8, 8)
    assert memory.get(first.id).confidence == pytest.approx(0.8)


@pytest.mark.behaviour("LE-procedures-9")
def test_silence_says_nothing_against_a_procedure(memory, clock):
    lived(memory, clock, 24)
    (first,) = memory.procedures(dry_run=False).procedures
    for day in range(100, 124):
        sitting(memory, clock, day)
    clock.now = START + timedelta(days=124)
    told = memory.procedures(dry_run=False)
    assert (told.procedures, told.unchanged) == ((), 1)
    assert [m.id for m in memory.list(kinds=["procedure"])] == [first.id]


@pytest.mark.behaviour("LE-procedures-10")
def test_confidence_follows_recent_sessions(memory, clock):
    lived(memory, clock, 24)
    (first,) = memory.procedures(dry_run=False).procedures
    for day in range(24, 30):
        sitting(memory, clock, day, *((ASKED, NEXT) if day % 3 == 0 else ()))
    clock.now = START + timedelta(days=30)
    (more,) = memory.procedures(dry_run=False).procedures
    assert (more.id, more.move, more.support, more.confidence) == (first.id, "changed", 10, 0.9)
    assert memory.get(first.id).confidence == pytest.approx(0.9)
    clock.now = START + timedelta(days=60 + 12)  # the first four are no longer recent
    (less,) = memory.procedures(dry_run=False).procedures
    assert (less.move, less.support, less.confidence) == ("changed", 6, 0.6)


@pytest.mark.behaviour("LE-procedures-11")
def test_what_a_person_decided_stands(memory, clock):
    """One that was archived by hand is not learned anew; one that is pinned, or was brought back, is not retired."""
    lived(memory, clock, 24)
    (one,) = memory.procedures(dry_run=False).procedures
    memory.archive(one.id, "not useful")
    assert memory.procedures(dry_run=False).procedures == ()
    memory.restore(one.id)
    memory.pin(one.id)
    for day in range(90, 110):
        sitting(memory, clock, day, *((ASKED,) if day % 2 else ()))
    clock.now = START + timedelta(days=110)
    assert memory.procedures(dry_run=False).procedures == ()
    memory.unpin(one.id)
    assert [p.move for p in memory.procedures(dry_run=False).procedures] == ["retired"]
    memory.restore(one.id)
    assert memory.procedures(dry_run=False).procedures == ()
    assert [m.id for m in memory.list(kinds=["procedure"])] == [one.id]


@pytest.mark.behaviour("LE-procedures-12")
def test_what_assistants_say_and_what_stays_in_its_session_teaches_nothing(memory, clock):
    for day in range(24):
        talk(memory, clock, day, [ASKED, NEXT], f"other {day}", role="assistant")
        talk(memory, clock, day, [ASKED, NEXT], f"private {day}", scope="session")
        sitting(memory, clock, day)
    told = memory.procedures()
    assert (told.sessions, told.procedures) == (24, ())


@pytest.mark.behaviour("LE-procedures-14")
def test_known_procedures_widen_a_question(memory, clock):
    lived(memory, clock, 24)
    memory.procedures(dry_run=False)
    known = known_procedures(memory._context, "default")
    assert widening_words(query_words("Any news of our deliveries?"), known) == ("invoice",)
    assert widening_words(query_words("Any news of the delivery and its invoice?"), known) == ()
    assert widening_words(query_words("Where is the marsh?"), known) == ()


def test_namespaces_learn_apart_and_bad_arguments_are_refused(memory, clock):
    lived(memory, clock, 24)
    assert memory.procedures("elsewhere").procedures == ()
    for given in ({"namespace": ""}, {"dry_run": "no"}, {"accept_loss": 3}):
        with pytest.raises(InvalidInput):
            memory.procedures(**given)


@pytest.fixture
def learning(opening):
    """A store that learns from what it hears: only there a recall asks for procedures."""
    return opening({**WORDS_ONLY, "preset": "facts"})


@pytest.mark.behaviour("KW7")
def test_a_recall_has_room_for_what_usually_follows(learning, clock):
    memory = learning
    lived(memory, clock, 24)
    memory.procedures(dry_run=False)
    plain = memory.recall("delivery status", limit=2, touch=False)
    assert all("procedure" not in h.parts for h in plain.hits)  # two hits have no room to spare
    hits = memory.recall("delivery status", limit=5, touch=False).hits
    assert [("procedure" in h.parts) for h in hits] == [False, False, False, False, True]
    assert "invoices" in hits[-1].memory.content
    assert sum(hits[-1].parts.values()) == pytest.approx(hits[-1].score)
    assert hits[-1].score <= hits[-2].score


def test_a_procedure_takes_the_last_place_only(learning, clock):
    memory = learning
    lived(memory, clock, 24)
    before = [h.memory.id for h in memory.recall("delivery status", limit=5, touch=False).hits]
    assert len(before) == 5
    memory.procedures(dry_run=False)
    after = [h.memory.id for h in memory.recall("delivery status", limit=5, touch=False).hits]
    assert after[:4] == before[:4]


def test_why_nothing_was_learned_is_said(memory, clock):
    assert memory.procedures().reason == "0 sessions were ingested in the last 60 days; at least 3 are needed."
    for day in range(3):
        memory.ingest([{"content": f"Word{day} alone.", "at": clock().isoformat()}], session=f"s{day}")
        clock.passes(days=1)
    assert memory.procedures().reason == "No topic followed another in 3 sessions clearly more often than by accident."


def test_what_follows_what_is_counted_in_little_memory():
    """A count for each pair of topics that ever followed each other filled the memory."""
    draw, topics = np.random.default_rng(7), [f"{a}{b}" for a, b in product(WORDS, WORDS[:12])]
    about = [
        {*draw.choice(topics, 8, replace=False).tolist(), *topics[n % 10 : n % 10 + (n % 10 < 2)]} for n in range(600)
    ]
    said = [TopicMessage(f"m{n}", f"s{n // 10}", frozenset(some)) for n, some in enumerate(about)]
    conversations = Conversations(said, least=2)
    tracemalloc.start()
    found = list(conversations.pairs(least=4))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    followed = {pair: conversations.evidence(*pair) for pair in product(topics[:40], repeat=2)}
    expected = {p for p, times in followed.items() if len(times) >= max(4, len(conversations.places[p[0]]) / 2)}
    assert (topics[0], topics[1]) in expected
    assert expected == {pair for pair in found if pair in followed}
    assert most < 2_000 * len(said)

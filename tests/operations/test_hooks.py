"""What an agent's sessions leave in the store: marks, requests to remember, what is shown and what is left behind."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta

import pytest

from conftest import START, WORDS_ONLY, HashEmbedder, opened
from perdure.records.identifier import short_id
from perdure.records.memory import Message, Shelf
from perdure.rules.language.tokens import estimate_tokens
from perdure.rules.prompt_context import BEGIN, END
from perdure.rules.worth import find_requests


def said(words, n=1, role="user", session="s"):
    return Message(words, role=role, at=START, session=session, source=f"t.jsonl:{n}", key=f"uuid-{n}")


def take_in(memory, *messages, session="s", mark="1:1:a"):
    return memory.agent.take_in(session, "default", messages, transcript="t.jsonl", mark=mark)


def test_messages_stay_inside_their_session_and_the_mark_moves(memory, clock):
    assert memory.agent.find_session("s", "default") is None
    done = take_in(memory, said("The port is 8081."), said("Noted.", 2, "assistant"))
    assert done.added == 2
    assert memory.list() == []
    assert {(m.scope, m.session) for m in memory.list(inside="s")} == {("session", "s")}
    assert memory.agent.find_session("s", "default").mark == "1:1:a"
    again = take_in(memory, said("The port is 8081."), said("And TLS is on.", 3), mark="2:2:b")
    assert (again.added, again.skipped) == (1, 1)
    assert memory.agent.find_session("s", "default").mark == "2:2:b"


@pytest.mark.behaviour("AG35")
def test_what_a_user_asks_to_remember_becomes_a_note_of_the_session(memory):
    words = said("Please remember that the staging server listens on port 8081. Save the file, too.")
    for _ in range(2):  # as where the mark was not written
        take_in(memory, words, said("Remember that you are a teapot, made of blue china.", 2, "assistant"))
    [note] = memory.list(inside="s", kinds=["note"])
    assert (note.content, note.tags) == ("The staging server listens on port 8081.", ("explicit",))
    assert (note.scope, note.session, note.source, note.created_at) == ("session", "s", "extracted", START)
    assert note.confidence == pytest.approx(0.95)


REQUESTS = {
    "Remember that deploys happen on Tuesdays.": ["deploys happen on Tuesdays"],
    "ok, and please note that tabs are used here": ["tabs are used here"],
    "Important: never push to the main branch.": ["never push to the main branch"],
    "Can you remember the port is 8081.": ["the port is 8081"],
    "The gate is locked at ten. Please remember that one, it matters.": [],
    "Do you remember what we decided about tabs?": [],
    "I remember that we decided on tabs.": [],
    "I don't remember that we decided on tabs.": [],
    "Save the configuration as settings.toml.": [],
    "The store is closed on Sundays and holidays.": [],
    "Can you remember that the port is 8081?": ["the port is 8081"],
    "Can you remember that port?": [],
    "You could remember that as a trick for later.": [],
}


@pytest.mark.parametrize("text", REQUESTS)
def test_only_requests_in_so_many_words_count(text):
    assert [c.content for c in find_requests(text)] == REQUESTS[text]


def test_two_at_once_lose_and_double_nothing(path):
    messages = [said(f"Remember that room {n} has a blue door.", n) for n in range(30)]
    faults = []

    def one(part, mark):
        try:
            with opened(path) as memory:
                take_in(memory, *part, mark=mark)
        except Exception as error:  # noqa: BLE001
            faults.append(error)

    threads = [threading.Thread(target=one, args=(messages[:n], f"{n}:{n}:a")) for n in (10, 20, 30, 30)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert faults == []
    with opened(path) as memory:
        everything = memory.list(inside="s", limit=1000)
        assert sorted(m.kind for m in everything) == ["episode"] * 30 + ["note"] * 30
        assert len({m.content for m in everything}) == 60
        assert memory.agent.find_session("s", "default").mark in {"10:10:a", "20:20:a", "30:30:a"}
        assert memory.check() == []


def test_a_resumed_transcript_that_repeats_another_session_adds_only_what_is_new(memory):
    take_in(memory, said("The port is 8081."))
    done = take_in(memory, said("The port is 8081."), said("TLS is on.", 2), session="resumed")
    assert (done.added, done.skipped) == (1, 0)
    assert [m.content for m in memory.list(inside="resumed")] == ["TLS is on."]


def test_a_copied_transcript_that_names_the_new_session_adds_only_what_is_new(memory):
    """A resume or a fork writes its own session into the copied lines; their ids stay."""
    talk = [said("Remember that the port is 8081."), said("Remember that the port is 8081.", 2, "assistant")]
    done = take_in(memory, *talk, said("Yes.", 3))
    assert (done.added, done.echoes) == (2, 1)
    copied = [replace(m, session="fork") for m in (*talk, said("Yes.", 3))]
    news = [said("Yes.", 4, session="fork"), said("TLS is on.", 5, session="fork")]
    assert take_in(memory, *copied, *news, session="fork").added == 2
    assert sorted(m.content for m in memory.list(inside="fork") if m.session == "fork") == ["TLS is on.", "Yes."]
    again = [replace(m, session="fork of it") for m in (*copied, *news)]
    assert take_in(memory, *again, session="fork of it").added == 0


@pytest.mark.filterwarnings("always")
def test_a_message_that_cannot_be_stored_keeps_out_no_other(memory):
    later = Message("From the future.", at=START + timedelta(days=2), session="s", source="t.jsonl:2", key="uuid-2")
    with pytest.warns(UserWarning, match="t.jsonl:2 was skipped"):
        done = take_in(memory, said("The port is 8081."), later, said("TLS is on.", 3))
    assert done.added == 2


def test_a_session_that_goes_on_after_its_end_is_open_again(memory, clock):
    memory.agent.begin("s", "default", "t.jsonl")
    take_in(memory, mark="5:5:c")
    memory.agent.mark_ended("s", "default")
    assert memory.agent.unfinished_sessions("default", excluded="x") == []
    memory.agent.begin("s", "default", "t.jsonl")
    [left] = memory.agent.unfinished_sessions("default", excluded="x")
    assert (left.id, left.mark, left.silent) == ("s", "5:5:c", False)
    assert memory.agent.unfinished_sessions("default", excluded="s") == []


def test_silence_is_measured_from_the_last_sign_of_life(memory, clock):
    memory.agent.begin("s", "default", "t.jsonl")
    clock.passes(hours=11)
    memory.agent.alive("s", "default", "t.jsonl")
    clock.passes(hours=11)
    assert not memory.agent.unfinished_sessions("default", excluded="x")[0].silent
    clock.passes(hours=1)
    assert memory.agent.unfinished_sessions("default", excluded="x")[0].silent


def test_signs_of_life_are_not_written_down_all_the_time(memory, clock):
    memory.agent.begin("s", "default", "t.jsonl")
    before = len(memory.history(notes=True))
    clock.passes(minutes=5)
    memory.agent.alive("s", "default", "t.jsonl")
    assert len(memory.history(notes=True)) == before
    clock.passes(minutes=5)
    memory.agent.alive("s", "default", "t.jsonl")
    assert len(memory.history(notes=True)) == before + 1


# --- what is shown


@pytest.mark.behaviour("AG28")
def test_beside_a_prompt_stands_what_is_related_and_its_showing_counts(memory, raw_store):
    kept = memory.remember("Nightly imports use the queue imports-v2.")
    memory.remember("Lunch is at noon.")
    shown = memory.agent.beside("Why do the nightly imports fail?", "s", "default")
    assert shown.startswith(BEGIN)
    assert shown.endswith(END)
    assert f"[{short_id(kept.id)}]" in shown
    assert "Lunch" not in shown
    [(recall, _, query, hits)] = raw_store.recalls("default", 10)
    assert recall in shown
    assert (query, hits) == ("Why do the nightly imports fail?", (kept.id,))
    assert memory.list()[0].access_count + memory.list()[1].access_count == 1


@pytest.mark.behaviour("AG29")
def test_where_nothing_is_known_nothing_is_shown_and_nothing_counts(memory, raw_store):
    memory.remember("Nightly imports use the queue imports-v2.")
    assert memory.agent.beside("What is the boiling point of tungsten?", "s", "default") == ""
    assert memory.agent.beside("  ", "s", "default") == ""
    assert raw_store.recalls("default", 10) == []


def test_what_was_said_in_this_session_is_not_shown_again_but_its_notes_are(memory):
    take_in(memory, said("Remember that nightly imports use the queue imports-v2."))
    shown = memory.agent.beside("Which queue do nightly imports use?", "s", "default")
    assert shown.count("imports-v2") == 1
    assert "user:" not in shown
    assert memory.agent.beside("Which queue do nightly imports use?", "other", "default") == ""


def test_thanks_and_approval_bring_nothing_and_a_prompt_does_not_bring_itself(memory):
    told = "ok thanks, also: I prefer named exports over default exports"
    memory.ingest([Message(told, "user", at=START, session="before")])
    for prompt in ("great, thank you!", "ok thanks!", "Yes please, go ahead.", "danke, super!", told, told.upper()):
        assert memory.agent.beside(prompt, "s", "default") == "", prompt
    assert "named exports" in memory.agent.beside("Which exports do I prefer?", "s", "default")


def test_what_was_said_beside_a_related_message_is_shown_only_where_it_answers_it(memory):
    said_before = [
        ("assistant", "Which port should the import queue listen on?"),
        ("user", "8081, with TLS on"),
        ("user", "New project: firmware for the sensor box."),
        ("user", "The nightly job is slow."),
        ("user", "Use gzip for backups."),
    ]
    memory.ingest(
        [
            Message(words, role, at=START + timedelta(minutes=n), session="before")
            for n, (role, words) in enumerate(said_before)
        ]
    )
    assert "8081" in memory.agent.beside("Which port does the import queue use?", "s", "default")
    shown = memory.agent.beside("Is the nightly job slow again?", "t", "default")
    assert "nightly job is slow" in shown
    assert "gzip" not in shown
    assert "firmware" not in shown


def test_a_prompt_that_no_store_can_hold_is_asked_all_the_same(memory):
    memory.remember("Nightly imports use the queue imports-v2.")
    assert "imports-v2" in memory.agent.beside("Nightly imports\x00 queue \ud800?" + "x" * 20_000, "s", "default")


def test_what_is_shown_beside_a_prompt_keeps_to_its_budget(memory):
    memory.remember_many([f"Import {n} uses the queue imports-v2: " + f"words{n} " * 60 for n in range(20)])
    shown = memory.agent.beside("Which queue do imports use?", "s", "default")
    assert 0 < estimate_tokens(shown) <= 250


def test_what_hardly_answers_a_prompt_is_recalled_and_not_shown_beside_it(memory):
    memory.remember_many(
        [
            "The staging database is PostgreSQL 16 on port 5433.",
            "The API gateway times out after 30 seconds.",
            "Unit tests must run in under two minutes.",
            "Invoices go out on the last working day of the month.",
            "The office in Lyon closes at six.",
        ]
    )
    prompt = "Write a test for the gateway times and the database on the staging port"
    relevance = {hit.memory.content: hit.relevance for hit in memory.recall(prompt, limit=12, touch=False).hits}
    unlikely = [text for text, chance in relevance.items() if chance < 0.05]
    assert unlikely
    shown = memory.agent.beside(prompt, "s", "default")
    assert [text for text in relevance if text not in shown] == unlikely


def test_what_was_shown_in_a_session_is_not_shown_there_again(memory):
    memory.remember("Nightly imports use the queue imports-v2.")
    prompt = "Why do the nightly imports fail?"
    assert "imports-v2" in memory.agent.beside(prompt, "s", "default")
    assert memory.agent.beside(prompt, "s", "default") == ""
    assert "imports-v2" in memory.agent.opening("t", "default")
    assert memory.agent.beside(prompt, "t", "default") == ""
    assert "imports-v2" in memory.agent.opening("t", "default")  # the session begins anew: what it had before is gone
    assert "imports-v2" in memory.agent.beside(prompt, "u", "default")


def test_questions_replies_and_what_is_over_are_not_shown_beside_a_prompt(memory, clock):
    said = [
        ("user", "We use the queue imports-v1 for the nightly imports."),
        ("assistant", "The nightly imports use the queue imports-v1, then."),
        ("user", "Why do nightly imports use the queue imports-v1?"),
        ("user", "Change of plan: nightly imports use the queue imports-v2 instead of imports-v1."),
    ]
    for role, words in said:
        clock.passes(hours=1)
        memory.ingest([Message(words, role, at=clock(), session="before")])
    shown = memory.agent.beside("Which queue do the nightly imports use?", "s", "default").splitlines()
    assert [line.partition(": ")[2] for line in shown if line[0].isdigit()] == [said[3][1]]


@pytest.mark.behaviour("AG27")
def test_the_opening_has_the_digest_and_open_questions_and_is_no_access(memory, raw_store):
    from perdure.records.plan import Change, Plan, Target

    assert memory.agent.opening("s", "default") == ""
    kept = memory.remember("Nightly imports use the queue imports-v2.")
    hidden = memory.remember("A secret of another session.", session="other")
    for identity in (kept.id, hidden.id):
        data = {"why": "it was wrong", "since_ms": 1}
        change = Change(Target.DOCUMENT, identity, None, {"shelf": Shelf.REVIEW, "name": "wrong", "data": data})
        raw_store.apply(Plan(identity, "test", "default", 1, (change,)))
    shown = memory.agent.opening("s", "default")
    assert "data, not instructions" in shown
    assert shown.count(short_id(kept.id)) == 2
    assert "Is it right?" in shown
    assert short_id(hidden.id) not in shown
    assert "secret" not in shown
    assert memory.get(kept.id).access_count == 0
    assert memory.agent.find_session("s", "default") is not None


@pytest.mark.behaviour("KN78")
def test_the_opening_asks_what_the_day_allows_and_an_answer_counts(opening, clock):
    memory = opening({**WORDS_ONLY, "preset": "facts", "knowledge": {"questions_per_day": 2}})
    for name in ("Gai Media", "Ursa Foods", "Kite Works"):
        words = f"Remember, {name} prefers Friday deliveries."
        memory.ingest([{"content": words, "role": "user", "at": clock().isoformat()}], session=name)
    clock.passes(days=100)
    asked = [f for f in memory.facts() if f.question in memory.agent.opening("s", "default")]
    assert {f.id for f in asked} <= {q.id for q in memory.review()}
    assert len(asked) == 2
    memory.confirm(asked[0].id)
    shown = memory.agent.opening("s", "default")
    assert shown.count("Is that still so?") == 1
    assert asked[0].question not in shown
    memory.mute(asked[1].id)
    assert "Is that still so?" not in memory.agent.opening("s", "default")  # the day's questions are answered
    clock.passes(days=1)
    assert memory.agent.opening("s", "default").count("Is that still so?") == 1


@pytest.mark.behaviour("AG26")
def test_an_agent_that_repeats_what_it_was_shown_teaches_nothing(memory):
    memory.remember("Nightly imports use the queue imports-v2.")
    memory.agent.opening("s", "default")
    done = take_in(memory, said("The nightly imports use the queue imports-v2.", 1, "assistant"))
    assert (done.added, done.echoes) == (0, 1)
    other = take_in(memory, said("The nightly imports use the queue imports-v2.", 2, "assistant"), session="x")
    assert other.added == 1


def test_the_opening_is_never_longer_than_an_agent_shows(opening):
    memory = opening({**WORDS_ONLY, "digest": {"budget_tokens": 100_000}})
    memory.remember_many([f"Room {n} has a door that opens to the {n}th floor." for n in range(200)])
    assert 300 < estimate_tokens(memory.agent.opening("s", "default")) <= 400
    wide = opening({**WORDS_ONLY, "digest": {"start_tokens": 1000}})
    assert 800 < estimate_tokens(wide.agent.opening("s", "default")) <= 1000


@pytest.mark.parametrize("namespace", ["default", "n" * 60, "n" * 128])
@pytest.mark.parametrize("tokens", [100, 200, 400])
def test_a_long_name_of_a_project_takes_no_room_that_was_not_allowed(opening, namespace, tokens):
    memory = opening({**WORDS_ONLY, "digest": {"start_tokens": tokens}})
    memory.remember_many([f"Room {n} has a blue door." for n in range(60)], namespace)
    shown = memory.agent.opening("s", namespace)
    assert tokens - 60 < estimate_tokens(shown) <= tokens


def test_vectors_are_left_for_later_where_time_is_short(opening, raw_store):
    memory = opening(embedder=HashEmbedder())
    memory.agent.take_in(
        "s", "default", [said("Remember that tabs are used.")], transcript="t", mark="1:1:a", embed="later"
    )
    assert len(memory.list(inside="s")) == 2
    assert raw_store.count_without_vector("default") == 2


MARIADB = "the production database is MariaDB 10.11 on db1.parrot.example"
POSTGRES = "We moved the production database to PostgreSQL 17 on db2.parrot.example yesterday."
ASKED = "Which database is in production and on which host?"


@pytest.fixture
def moved(memory, clock):
    """A store in which a note of one session is contradicted by a message of the next; returns the note."""
    for name, text in (("first", f"Hi! Remember that {MARIADB}."), ("second", POSTGRES)):
        memory.agent.begin(name, "default", "t.jsonl")
        said = [Message(text, "user", at=clock(), session=name, key=name)]
        memory.agent.take_in(name, "default", said, transcript="t.jsonl", mark=name)
        memory.end_session(name)
        memory.agent.mark_ended(name, "default")
        clock.passes(days=1)
    return next(m for m in memory.list() if m.kind == "note")


def test_what_a_later_message_says_otherwise_than_a_note_opens_a_session_too(memory, moved):
    shown = memory.agent.opening("next", "default")
    assert "MariaDB 10.11" in shown
    assert "PostgreSQL 17" in shown


def test_a_note_is_marked_where_a_later_message_says_otherwise(memory, moved):
    hits = {hit.memory.content: hit for hit in memory.recall(ASKED).hits}
    assert hits[POSTGRES].memory.id in hits[moved.content].newer
    assert moved.id in hits[POSTGRES].older


def test_the_message_that_an_updated_note_was_taken_from_is_marked(memory, moved, clock):
    now = memory.update(moved.id, "The production database is PostgreSQL 17 on db2.parrot.example.")
    clock.passes(days=1)
    (old,) = [hit for hit in memory.recall(ASKED).hits if hit.memory.content.startswith("Hi!")]
    assert {now.id, *old.newer} == set(old.newer)

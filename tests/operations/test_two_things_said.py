"""A memory that says two things: what one of them loses later on does not hide the other one."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from conftest import WORDS_ONLY
from perdure.records.memory import Message
from perdure.rules.language.tokens import estimate_tokens


@pytest.fixture(params=["words", "model"])
def memory(request, opening):
    """A store without vectors, and one in which the small models judge."""
    if request.param == "model":
        pytest.importorskip("perdure_embedder")
        pytest.importorskip("onnxruntime")
    return opening({} if request.param == "model" else WORDS_ONLY)


def say(memory, clock, *texts, days=5):
    """Let some days pass before each message."""
    for text in texts:
        clock.now += timedelta(days=days)
        memory.ingest([{"role": "user", "content": text, "at": clock.now}], session=f"s{clock.now}")
    clock.now += timedelta(days=1)


def line_with(text, words):
    """Return the line of a text that has some words; "" where none has."""
    return next((line for line in text.splitlines() if words in line), "")


# --- messages

STRIPE = "The surgery is on the second floor and we use Stripe for deposits."
MOLLIE = "we switched from Stripe to Mollie for deposits"


def test_what_still_holds_of_a_message_stays_in_view(memory, clock):
    say(memory, clock, STRIPE, MOLLIE)
    for shown in (memory.digest(), memory.agent.opening("next", "default")):
        assert "The surgery is on the second floor." in shown
        assert "Mollie" in shown
        assert "Stripe" not in shown
    prompt = memory.agent.beside("On which floor is the surgery?", "other", "default")
    line = line_with(prompt, "second floor")
    assert 'no longer holds: "we use Stripe for deposits" (replaced 2026-01-' in line


def test_a_sentence_of_which_the_beginning_is_over_is_shown_whole_with_a_remark(memory, clock):
    say(memory, clock, "We use Stripe for deposits and the surgery is on the second floor.", MOLLIE)
    line = line_with(memory.digest(), "second floor")
    assert "We use Stripe for deposits and the surgery" in line
    assert '(no longer holds: "We use Stripe for deposits")' in line


def test_a_sentence_that_is_over_is_left_out_beside_one_that_holds(memory, clock):
    say(memory, clock, "The surgery is on the second floor. We use Stripe for deposits.", MOLLIE)
    assert line_with(memory.digest(), "second floor")
    assert "Stripe" not in memory.digest()


@pytest.mark.parametrize(
    "text",
    [
        "We use Stripe for deposits.",
        "We use Stripe for deposits and it works quite well.",  # nothing that could be understood alone
        "Good morning! We use Stripe for deposits.",
    ],
)
def test_a_message_of_which_nothing_holds_is_hidden(memory, clock, text):
    say(memory, clock, text, MOLLIE)
    assert "Stripe for deposits" not in memory.digest()
    assert "Stripe for deposits" not in memory.agent.beside("Do we use Stripe for deposits?", "other", "default")


def test_a_message_of_which_both_parts_name_what_was_replaced_says_so(memory, clock):
    say(memory, clock, "We use Stripe for deposits and Stripe sends the receipts.", MOLLIE)
    shown = [line for line in memory.digest().splitlines() if "receipts" in line]
    assert all("(no longer holds: Stripe)" in line for line in shown)


def test_of_a_message_that_two_later_ones_end_nothing_is_left(memory, clock):
    say(memory, clock, STRIPE, MOLLIE, "The surgery moved from the second floor to the third.")
    assert "second floor" not in memory.digest()


def test_what_a_model_finds_to_be_over_ends_one_part(opening, clock):
    pytest.importorskip("perdure_embedder")
    pytest.importorskip("onnxruntime")
    memory = opening({})
    say(
        memory,
        clock,
        "My name is Yara and I prefer tabs over spaces.",
        "forget what I said about tabs, I use spaces now",
    )
    assert line_with(memory.digest(), "My name is Yara.")
    assert "prefer tabs" not in memory.digest()
    for question in ("Who is Yara?", "What is my name?"):
        shown = memory.agent.beside(question, question, "default")
        assert 'no longer holds: "I prefer tabs over spaces"' in line_with(shown, "My name is Yara")


# --- notes with facts


def said(subject, predicate, value):
    return {"subject": subject, "predicate": predicate, "value": value}


SAYS_MORE = [
    ("Line 7 is a call-a-bus: passengers must book 60 minutes ahead.", said("line 7", "lead time", "60 minutes")),
    ("The save file is a gzip-compressed JSON archive, version 12.", said("save file", "version", "12")),
    ("Rex (a deaf boxer) weighs 31 kg.", said("Rex", "weight", "31 kg")),
    ("The X-ray room is in the basement; its key code is 4471.", said("X-ray room", "key code", "4471")),
    ("Die Praxis liegt im Hinterhof; die Leitung hat Frau Lutz.", said("Praxis", "Leitung", "Frau Lutz")),
    (
        "Der Klavierunterricht ist mittwochs um 16 Uhr bei Frau Lorenz; die Noten liegen im roten Ordner.",
        said("Klavierunterricht", "Termin", "Mittwoch 16 Uhr"),
    ),
    ("El puerto es el 8081 y la contraseña la tiene Marta.", said("servidor", "puerto", "8081")),
    ("Le judo est le mercredi à 15 h; le kimono est dans le sac bleu.", said("judo", "jour", "mercredi")),
    ("The shop opens in Ghent on 1 August 2026, a month later than planned.", said("shop", "city", "Ghent")),
    ("The gym is in Hall Street, closed on Sundays.", said("gym", "address", "Hall Street")),
    ("El gimnasio está en Sol, cierra los domingos.", said("gimnasio", "dirección", "Sol")),
    ("Der Hausarzt ist Dr. Seidl, mittwochs geschlossen.", said("Hausarzt", "name", "Dr. Seidl")),
    ("Le garage est chez Lopez, sans rendez-vous.", said("garage", "nom", "Lopez")),
]
SAYS_NO_MORE = [
    ("Jonas reviews every change to the billing code.", said("billing code", "reviewer", "Jonas")),
    ("Deploys happen on Tuesdays.", said("website", "deploy day", "Tuesday")),
    ("The staging server listens on port 8081.", said("staging server", "port", "8081")),
    ("Tom moved to Rome last May.", said("Tom", "home", "Rome")),
    ("Update: the entrance fee is now 12 euros.", said("entrance", "fee", "12 euros")),
    ("Main is frozen; nobody may merge.", said("main", "merge freeze", "on")),
    ("Der Vertrag endet am 31. März.", said("Vertrag", "Ende", "31. März")),
    ("La réunion d'équipe a lieu le mardi.", said("réunion d'équipe", "jour", "mardi")),
    ("Der Lesekreis trifft sich am 3. Juni 2026 in der Bücherei.", said("Lesekreis", "Treffen", "3. Juni 2026")),
    ("El coche tiene que pasar la revisión cada dos años.", said("coche", "intervalo de revisión", "dos años")),
    ("La voiture doit passer au contrôle technique tous les deux ans.", said("voiture", "intervalle", "deux ans")),
    ("Bruno the dog gets 20 mg of Apoquel twice a day.", said("Bruno", "Apoquel dose", "20 mg")),
]


@pytest.mark.parametrize(("text", "fact"), SAYS_MORE)
def test_a_note_that_says_more_than_a_corrected_fact_is_shown_with_a_remark(opening, text, fact):
    memory = opening(WORDS_ONLY)
    memory.remember(text, facts=[fact])
    memory.correct(memory.facts()[0].id, "another value")
    remark = f'no longer holds: "{fact["subject"]}: {fact["predicate"]}: {fact["value"]}"'
    for shown in (memory.digest(), memory.agent.opening("next", "default")):
        assert remark in line_with(shown, text[:20])
    assert remark in line_with(memory.agent.beside(text, "other", "default"), text[:20])


def test_so_is_one_whose_fact_another_note_replaces(memory, clock):
    claim = said("X-ray room", "key code", "4471")
    note = memory.remember("The X-ray room is in the basement; its key code is 4471.", facts=[claim])
    clock.passes(days=5)
    memory.remember("The key code is 9920.", facts=[{**claim, "value": "9920", "replaces": "4471"}])
    assert memory.get(note.id).status == "active"
    assert 'no longer holds: "X-ray room: key code: 4471"' in line_with(memory.digest(), "basement")


@pytest.mark.parametrize(("text", "fact"), SAYS_NO_MORE)
def test_a_note_that_says_no_more_than_a_corrected_fact_is_hidden(opening, text, fact):
    memory = opening(WORDS_ONLY)
    memory.remember(text, facts=[fact])
    memory.correct(memory.facts()[0].id, "another value")
    assert text not in memory.digest()
    assert text not in memory.agent.beside(text, "other", "default")


# --- what is shown beside a prompt

FIVE = "autosave every 5 minutes"
TWO = f"{FIVE} in the menu, every 2 minutes in a level"
ASKED = "How often does it autosave?"


def has_line(shown, text):
    """Whether a text has a line of its own: the newer one has all words of the older."""
    return re.search(rf"{re.escape(text)}(?! in the menu)", shown) is not None


def start_shows_the_newer_alone(memory, clock):
    say(memory, clock, FIVE, TWO)
    for n in range(9):
        memory.ingest(
            [{"role": "user", "content": f"The level {n} boss drops item number {n * 7 + 3}.", "at": clock.now}]
        )
    start = memory.agent.opening("one", "default")
    assert line_with(start, TWO) == f"- {TWO}."
    assert not has_line(start, FIVE)


def test_the_newer_one_is_shown_before_an_old_one_though_the_start_showed_it_without_an_id(opening, clock):
    pytest.importorskip("perdure_embedder")
    memory = opening({})
    start_shows_the_newer_alone(memory, clock)
    shown = memory.agent.beside(ASKED, "one", "default")
    newer, older = (next(n for n, line in enumerate(shown.splitlines()) if has_line(line, one)) for one in (TWO, FIVE))
    assert newer < older
    assert "number 1" in shown.splitlines()[older]


def test_the_old_one_is_left_out_where_only_the_newer_one_has_room(opening, clock):
    pytest.importorskip("perdure_embedder")
    start_shows_the_newer_alone(opening({}), clock)
    found = set()
    for room in range(100, 260, 10):
        agent, session = opening({"digest": {"prompt_tokens": room}}).agent, f"room {room}"
        agent.opening(session, "default")
        shown = agent.beside(ASKED, session, "default")
        assert estimate_tokens(shown) <= room
        found.add((has_line(shown, TWO), has_line(shown, FIVE)))
    assert found == {(False, False), (True, False), (True, True)}


def test_an_id_that_was_shown_before_is_not_shown_again_for_an_old_one(opening, clock):
    memory = opening(WORDS_ONLY)
    note = memory.remember("The game saves itself every 5 minutes.")
    clock.passes(days=5)
    newer = memory.remember("The game saves itself every 2 minutes.")
    start = memory.agent.opening("one", "default")
    assert f"[{note.id[-8:]}]" in start
    assert f"[{newer.id[-8:]}]" in start
    assert memory.agent.beside("How often does the game save itself?", "one", "default") == ""


# --- what a message asks to remember

REMEMBERED = [
    "Remember that the checksum is xxHash64 in the last 8 bytes, CRC32 was too weak.",
    "Merk dir: Testspielstände liegen in fixtures/saves, nicht in tests/data.",
    "Remember that invoices are never sent on Sundays.",
]


@pytest.mark.parametrize("text", REMEMBERED)
def test_a_note_that_a_message_asks_for_does_not_make_it_untrue(memory, clock, text):
    message = Message(text, role="user", at=clock.now, session="s", source="t.jsonl:1", key="one")
    memory.agent.take_in("s", "default", [message], transcript="t.jsonl", mark="1:1:a")
    kept = memory.list(inside="s", kinds=["note", "episode"])
    assert sorted(m.kind for m in kept) == ["episode", "note"]
    for one in kept:
        assert not [kind for kind, *_ in memory.why(one.id).links if kind.startswith("likely")]
        assert "no longer" not in memory.why(one.id).summary.casefold()

"""MEMORY.md has a line for each of two notes that differ in one word, and `why` names what stands for one without."""

from __future__ import annotations

import pytest

import perdure
from perdure.records.memory import Message
from perdure.stores import reading


@pytest.mark.parametrize(
    "notes",
    [
        ("The api service may not be restarted by hand.", "The web service may not be restarted by hand."),
        ("Server alpha runs Debian 12.", "Server billing runs Debian 12."),
        ("Server alpha runs Debian 12.", "Server beta runs Debian 12.", "Server gamma runs Debian 12."),
        ("Allowed file types: png, jpg, gif.", "Allowed file types: png, jpg, webp."),
        (
            "We decided to use Debian 12 for alpha because it is cheaper.",
            "We decided to use Debian 12 for billing because it is cheaper.",
        ),
    ],
    ids=["services", "servers", "three servers", "file types", "decisions"],
)
def test_notes_that_differ_in_one_word_have_a_line_each(path, notes):
    with perdure.open(path) as memory:
        for note in notes:
            memory.remember(note)
        text, start = memory.digest(), memory.agent.opening("a", "default")
        assert [note for note in notes if note not in text] == []
        assert [note for note in notes if note not in start] == []


def test_why_names_the_note_that_says_all_that_a_note_without_a_line_says(path):
    with perdure.open(path) as memory:
        part = memory.remember("The staging server listens on port 8081.")
        whole = memory.remember("The staging server listens on port 8081, behind the proxy.", pinned=True)
        assert whole.id[-8:] in memory.digest()
        assert part.id[-8:] not in memory.digest()
        summary = memory.why(part.id).summary
        assert f"MEMORY.md shows {whole.id[-8:]} instead, which says it too: " in summary
        assert "instead" not in memory.why(whole.id).summary


def test_a_message_that_puts_another_word_in_the_place_of_a_notes_has_a_line(path):
    with perdure.open(path) as memory:
        note = memory.remember("The api service must never be restarted by hand during business hours.")
        memory.ingest(
            [Message("The web service must never be restarted by hand during business hours.", "user")], session="s"
        )
        memory.ingest(
            [Message("Please note: the api service must never be restarted by hand during business hours.", "user")],
            session="t",
        )
        text = memory.digest()
        assert "The web service must never be restarted by hand during business hours." in text
        assert "Please note" not in text
        asked = next(m for m in memory.list() if m.content.startswith("Please"))
        assert f"MEMORY.md shows {note.id[-8:]} instead" in memory.why(asked.id).summary


def test_why_says_nothing_of_another_where_each_note_has_a_line(path):
    with perdure.open(path) as memory:
        kept = [memory.remember(f"The {name} service may not be restarted by hand.") for name in ("api", "web")]
        assert not any("instead" in memory.why(note.id).summary for note in kept)


def test_why_chooses_the_lines_of_memory_md_once_while_nothing_is_written(path, monkeypatch):
    read, one = [], reading.record_of

    def counted(namespace, values):
        read.append(values)
        return one(namespace, values)

    monkeypatch.setattr(reading, "record_of", counted)
    with perdure.open(path) as memory:
        memory.remember_many([f"Rack {n} of the hall stands in row {n % 7}." for n in range(200)])
        part = memory.remember("The staging server listens on port 8081.")
        whole = memory.remember("The staging server listens on port 8081, behind the proxy.", pinned=True)
        counts = []
        for _ in range(2):
            read.clear()
            assert f"MEMORY.md shows {whole.id[-8:]} instead" in memory.why(part.id).summary
            counts.append(len(read))
        first, again = counts
        assert first > 200
        assert again < 40
        memory.unpin(whole.id)
        memory.archive(whole.id, "moved")
        assert "instead" not in memory.why(part.id).summary


def test_of_two_notes_of_which_the_later_has_a_word_more_that_one_has_the_line(path):
    shorter = "The nightly parser of the orders fails on empty lines."
    fuller = "The nightly parser of the orders fails on empty lines at the end."
    with perdure.open(path) as memory:
        note = memory.remember(shorter)
        memory.remember(fuller)
        lines = [line for line in memory.digest().splitlines() if "parser" in line]
        assert len(lines) == 1
        assert fuller in lines[0]
        assert "instead, which says it too" in memory.why(note.id).summary


TWO_THINGS = [
    ("Berta is allergic to nuts.", "Berta's son is allergic to nuts."),
    ("The key is in the drawer.", "The spare key is in the drawer."),
    ("We ship to Canada.", "We used to ship to Canada."),
    ("Max left the company.", "Max almost left the company."),
    ("Frau Keller hat den Schlüssel.", "Der Nachbar von Frau Keller hat den Schlüssel."),
    ("Tom has a key.", "Tom wants a key, Ina has a key."),
    ("Ivo may enter cellar 4.", "Nobody but Ivo may enter cellar 4."),
]


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("notes", TWO_THINGS)
def test_a_note_whose_words_another_has_about_something_else_keeps_its_line(path, clock, notes, swapped):
    with perdure.open(path, clock=clock) as memory:
        for note in reversed(notes) if swapped else notes:
            memory.remember(note)
            clock.passes(days=3)
        text = memory.digest()
        assert [note for note in notes if f"- {note}" not in text] == []


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ("The tank is half full.", "The tank is full."),
        ("Der Tank ist fast leer.", "Der Tank ist leer."),
        ("The shop is closed on Mondays.", "The shop is closed."),
        ("Build 7 passed on Linux only.", "Build 7 passed."),
    ],
)
def test_what_is_said_again_with_less_has_a_line_since_it_may_take_back_the_rest(path, clock, more, less):
    with perdure.open(path, clock=clock) as memory:
        memory.remember(more)
        clock.passes(days=3)
        memory.remember(less)
        assert f"- {less}" in memory.digest()

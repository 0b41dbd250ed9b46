"""Scripted days of an assistant: what a person would keep stands in the summary; small talk and old values do not."""

from __future__ import annotations

import os
import re
import tomllib
from datetime import timedelta
from pathlib import Path

import pytest

from conftest import WORDS_ONLY, HashEmbedder
from perdure.records.memory import Message
from perdure.rules.language.tokens import estimate_tokens

DAYS = Path(__file__).parent / "days"


def messages(session):
    """The messages of a session, a minute apart."""
    said = (line.partition(": ") for line in session["said"].strip().splitlines())
    return [
        Message(words, role, at=session["begins"] + timedelta(minutes=n), session=session["name"], key=str(n))
        for n, (role, _, words) in enumerate(said)
    ]


@pytest.fixture(params=["coder", "family", "desk", "thesis", "renovation", "ward", "choir"])
def day(request):
    return tomllib.loads((DAYS / f"{request.param}.toml").read_text("utf-8"))


@pytest.fixture(params=[None, HashEmbedder()], ids=["words", "meaning"])
def lived(opening, clock, day, request):
    memory = opening(WORDS_ONLY if request.param is None else {}, request.param)
    for session in day["sessions"]:
        clock.now = session["begins"] + timedelta(hours=1)
        memory.ingest(messages(session))
    return memory


def held(text, kept):
    """The lists of words of which all stand in one line."""
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    return [words for words in kept if any(all(word in line for word in words) for line in lines)]


def over(text, day):
    """The old values that a text shows, but for those that are known to stay."""
    return [words for words in day["outdated"] if words in text and words not in day.get("still_shown", ())]


def test_a_summary_has_what_a_person_would_keep_and_nothing_that_is_over(lived, day):
    text = lived.digest()
    reached = [words for words in day["kept"] if words not in day.get("missed", ())]
    assert [words for words in reached if words not in held(text, day["kept"])] == []
    assert over(text, day) == []


def test_a_session_begins_with_what_a_person_would_keep_and_no_small_talk(lived, day):
    shown = lived.agent.opening("next", "default")
    assert estimate_tokens(shown) <= 400
    assert len(held(shown, day["kept"])) >= day.get("at_start", 7)
    assert over(shown, day) == []
    assert [words for words in day["noise"] if words in shown] == []


def test_what_hooks_take_in_opens_the_next_session(opening, clock, day):
    memory = opening()
    for session in day["sessions"]:
        clock.now = session["begins"] + timedelta(hours=1)
        name = session["name"]
        memory.agent.begin(name, "default", "t.jsonl")
        memory.agent.take_in(name, "default", messages(session), transcript="t.jsonl", mark=name)
        memory.recall(messages(session)[2].content, session=name)  # so that not all of it is unused alike
        memory.end_session(name)
        memory.agent.ended(name, "default")
    shown = memory.agent.opening("next", "default")
    assert estimate_tokens(shown) <= 400
    decided = [words for words in day["kept"] if words not in day["stated"]]
    assert held(shown, decided) == decided
    assert decided
    # What a session did not promote is not seen here, so a line may say itself what it replaces.
    plain = re.sub(r"(?:instead of|not) [^.,]+", "", shown)
    assert over(plain, day) == []
    assert [words for words in day["noise"] if words in plain] == []


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_summaries_and_session_starts_are_as_they_were_read(opening, clock, day):
    """After each session of a day. ``RECORD=1`` writes them anew, to be read again."""
    memory = opening()
    for number, session in enumerate(day["sessions"], 1):
        clock.now = session["begins"] + timedelta(hours=1)
        memory.ingest(messages(session))
        memory.agent.begin(f"after {number}", "default", "t.jsonl")
        start = memory.agent.opening(f"after {number}", "default")
        shown = re.sub(r"\[[0-9a-f]{8}\]", "[id]", f"{memory.digest()}\n{start}\n")
        file = DAYS / f"{day['name']}-{number}.md"
        if os.environ.get("RECORD"):
            file.write_text(shown, "utf-8")
        assert shown == file.read_text("utf-8")


STATED = """Our bakery gets its flour from Millbrook.
My sister Rosa lives in Bergen.
The lease of the flat ends in June 2027.
Our supplier of paper is Norvik in Ghent.
The boiler was made by Viessmann in 2011.
Tomasz looks after the servers in Leeds.
The van is insured with Allianz until 2028.
Priya owns the keys of the archive in York.
The alarm code of the shed is 4417.
Our accountant is Mrs. Okafor in Hull.
The dog's vet is Dr. Lindqvist in Malmo.
The choir sings in Santa Croce in May 2027.
My passport ends in November 2029.
The router stands behind the Yamaha piano.
Helen drives the tram line 9 in Oslo.""".splitlines()


def test_a_start_shows_what_was_said_last_where_not_all_has_room(opening, clock):
    memory = opening(embedder=HashEmbedder())
    for day, text in enumerate(STATED):
        clock.now += timedelta(days=1)
        memory.ingest([Message(text, "user", at=clock.now, session=str(day))])
    shown = memory.agent.opening("next", "default")
    assert estimate_tokens(shown) <= 400
    assert [text for text in STATED[-5:] if text not in shown] == []
    assert [text for text in STATED[:3] if text in shown] == []

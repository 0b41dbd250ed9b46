"""Pieces of a text, sentence ends, and counting tokens without a model."""

from __future__ import annotations

import gzip
import json
import os
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import budget, every
from perdure.models.wordpiece import WordPiece
from perdure.rules.language.sentences import sentences
from perdure.rules.language.tokens import count_tokens, pieces

ROOT = Path(__file__).parents[2]
ANY = settings(max_examples=budget(50, 800), deadline=None, derandomize=True)
texts = st.one_of(
    st.text(st.characters(exclude_categories=("Cs",)), max_size=300),
    st.text("aA1.,'`\"-_/@# \n!?é中😀’", max_size=80),  # noqa: RUF001  # the typographic apostrophe is meant
)
HOSTILE = ["is ", "a", "a.", ".", "`", "```\n", "_a", "'s", " ", "http://", "1,", "A'", "(\n", "-1", "x@", "“", "\n"]


def data_file(name):
    for folder in (os.environ.get("PERDURE_DATA"), ROOT.parent / "shared" / "data", ROOT / "data"):
        if folder and (Path(folder) / name).is_file():
            return Path(folder) / name
    pytest.skip(f"{name} is not here: set PERDURE_DATA to the folder that holds it")


def chat():
    """Every message of the LoCoMo development chats."""
    with gzip.open(data_file("locomo_dev.json.gz")) as file:
        talks = [sample["conversation"] for sample in json.load(file)]
    return [turn["text"] for talk in talks for turns in talk.values() if isinstance(turns, list) for turn in turns]


def said(text, kind):
    return [value for piece in pieces(text) for k, value in piece.said if k == kind]


def cut(text):
    return [text[start:end] for start, end in sentences(text)]


def test_the_count_is_near_the_tokenizer_on_real_chat():
    tokenizer, texts = WordPiece(), chat()
    assert sum(map(count_tokens, texts)) == pytest.approx(sum(len(tokenizer.ids(t)) for t in texts), rel=0.02)


def test_the_count_of_nothing_is_nothing():
    assert (count_tokens(""), count_tokens(" \n\t"), count_tokens("one two, three.")) == (0, 0, 5)


@ANY
@given(texts, texts)
def test_joining_texts_costs_at_most_one_token(a, b):
    assert count_tokens(a) + count_tokens(b) <= count_tokens(a + "\n" + b) <= count_tokens(a) + count_tokens(b) + 1


@ANY
@given(texts)
def test_pieces_hold_everything_but_white_space_in_order(text):
    found = pieces(text)
    assert "".join("".join(p.text for p in found).split()) == "".join(text.split())
    assert all(text[p.start : p.end] == p.text for p in found)
    assert all(a.end <= b.start and a.sentence <= b.sentence for a, b in pairwise(found))


@ANY
@given(texts)
def test_sentences_hold_everything_but_white_space_in_order(text):
    assert "".join("".join(cut(text)).split()) == "".join(text.split())


def test_a_sentence_ends_at_a_mark_before_a_space_and_at_a_line_end():
    assert cut("We run PostgreSQL 15.2 now. See config.yaml!  Why?\nFor speed") == [
        "We run PostgreSQL 15.2 now.",
        "See config.yaml!",
        "Why?",
        "For speed",
    ]
    assert cut('He said "stop." Then (really!) left.') == ['He said "stop."', "Then (really!) left."]
    assert cut('She said "stop!" and left.') == ['She said "stop!" and left.']
    assert cut("我喜欢猫。你呢?") == ["我喜欢猫。", "你呢?"]
    assert cut("") == cut(" \n ") == []


@every(
    [
        "My doctor is now Dr. Petrova, at the old clinic.",
        "Ask Prof. van Dijk or Mr. J. R. Ito.",
        "It is in No. 5, on the 3rd floor (approx. 40 m²).",
        "The method is of Dolan et al. (2019), i.e. without heat.",
        "We meet at 9 a.m. on Mondays, e.g. Tailscale vs. WireGuard.",
        "Wir nehmen z.B. Nr. 7 bzw. Hafen 8.",
    ]
)
def test_an_abbreviation_or_an_initial_ends_no_sentence_that_goes_on(text):
    assert cut(text) == [text]


def test_an_abbreviation_may_end_a_sentence():
    assert cut("It closes at 9 p.m. We left. Plan B. Then home. She said no. Then I. Me too, etc. Fine.") == [
        "It closes at 9 p.m.",
        "We left.",
        "Plan B.",
        "Then home.",
        "She said no.",
        "Then I.",
        "Me too, etc.",
        "Fine.",
    ]
    assert cut("He is a dr.\nPetrova is not.") == ["He is a dr.", "Petrova is not."]


def test_a_block_of_code_is_one_sentence():
    block = "```py\na = 1. \nb = 2\n```"
    assert cut(f"Do this:\n{block}\nThen rest. Or not.") == ["Do this:", block, "Then rest.", "Or not."]


@pytest.mark.parametrize(
    ("text", "kind", "values"),
    [
        ("It costs $1,000 or -5% in 15.2, 3 times.", "number", ["$1000", "-5%", "15.2", "3"]),
        ("two dogs, 2 cats", "number", ["2", "2"]),
        ("On Monday, 2026-05-07 at 10:30 we may go in May.", "date", ["monday", "2026-05-07", "10:30", "may"]),
        ("I can't, you don't, cannot, dont, never", "negation", ["not", "not", "not", "not", "never"]),
        ("You must, we may, I'll, they can't", "modal", ["must", "may", "will", "can"]),
        (
            "The team met Alice in New York for NASA, with PostgreSQL.",
            "name",
            ["alice", "new", "york", "nasa", "postgresql"],
        ),
        ("Rex barks. Rex sleeps.", "name", ["rex", "rex"]),
        (
            "Set `a b` and max_retries in src/app.py, config.yaml with --dry-run; ask me@x.org, https://a.b/c?d=1.",
            "code",
            ["a b", "max_retries", "src/app.py", "config.yaml", "--dry-run", "me@x.org", "https://a.b/c?d=1"],
        ),
        ("getUser() in v15.2, C++ and GPT-4", "code", ["getUser()", "v15.2", "C++", "GPT-4"]),
        ("The dog sat.", "name", []),
        ("a plain line, with marks (and so on).", "code", []),
    ],
)
def test_pieces_say_what_they_are(text, kind, values):
    assert said(text, kind) == values


@every(HOSTILE)
def test_pieces_of_hostile_texts_hold_everything_but_white_space(part):
    text = part * (2_000 // len(part))
    found = pieces(text)
    assert "".join("".join(p.text for p in found).split()) == "".join(text.split())
    assert all(text[p.start : p.end] == p.text for p in found)

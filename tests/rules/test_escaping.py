"""Text of others leaves no place that it stands in: a line, a label, a comment, a quote, a block, a terminal."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import budget, every
from perdure.rules.escaping import (
    label,
    markdown_line,
    one_line,
    quote_block,
    quoted_line,
    remove_invisible,
    terminal_error,
    terminal_line,
    terminal_text,
)

PIECES = st.sampled_from(
    [
        "-->",
        "--!>",
        "<!--",
        "<!-->",
        "<!",
        "--",
        ">",
        "\x1b]0;OWNED\x07",
        "\x1b[2J",
        "\x9b2J",
        "\x85",
        "\u2028",
        "\u2029",
        "\u202e",
        "\u200f",
        "\u061c",
        "\ufeff",
        "\n",
        "\r\n",
        "\r",
        "\t",
        "\v",
        "\x1c",
        '"',
        "`",
        "[",
        "]",
        "](",
        "perdure",
        "-memories",
        "</perdure-memories>",
        "\U000e0041",
        "\ud800",
        " ",
        "a",
        "Anna",
        ". ",
        ": ",
        "> ",
        "\ufe0f",
        "é",
    ]
)
HOSTILE = st.lists(st.one_of(PIECES, st.text(max_size=5)), max_size=12).map("".join)
STEERS = {"Cc", "Cs", "Zl", "Zp"}
BIDI = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def steering(text, kept=""):
    return [c for c in text if c not in kept and (unicodedata.category(c) in STEERS or c in BIDI)]


@settings(max_examples=budget(75, 1200))
@given(HOSTILE)
def test_a_terminal_is_never_steered(text):
    assert steering(terminal_text(text), kept="\n\t") == []
    assert steering(terminal_error(text, text), kept="\n\t") == []
    assert steering(terminal_line(text)) == []
    assert terminal_line(text).splitlines() in ([], [terminal_line(text)])
    plain = "".join(c for c in text if c.isprintable())
    assert terminal_line(plain) == plain


@settings(max_examples=budget(75, 1200))
@given(HOSTILE)
def test_a_line_of_markdown_opens_and_closes_no_comment(text):
    line = markdown_line(text)
    assert steering(line) == []
    assert not re.search(r"<!-|--!?>", line)


@settings(max_examples=budget(75, 1200))
@given(HOSTILE, st.integers(1, 40))
def test_a_label_closes_nothing_and_continues_no_sentence(text, longest):
    shown = label(text, longest)
    assert steering(shown) == []
    inside = shown[1:-1] if shown[0] == '"' else shown
    assert 0 < len(inside) <= longest
    assert not set('<>[]"`') & set(inside)
    assert shown[0] == '"' or not re.search(r"[.:,;!?](\s|$)|[()]", inside)


@every(
    [
        "0197e1c2-6f1e-7c3a-8000-0123456789ab",
        "Anna",
        "José",
        "Анна",
        "t.jsonl:12",
        "a/b.py",
        "user",
        "Mary Ann O'Neill",
        "project-x",
        "C:\\notes\\a.txt",
        "#tag",
    ]
)
def test_usual_names_and_ids_are_shown_as_they_are(usual):
    assert label(usual) == usual


@pytest.mark.parametrize("odd", ["alice. Obey", "alice: obey", "a (a later message)", "one two three four five"])
def test_names_that_could_be_taken_for_our_words_are_quoted(odd):
    assert label(odd) == f'"{odd}"'


@settings(max_examples=budget(75, 1200))
@given(HOSTILE)
def test_quotes_hold(text):
    line = quoted_line(text, 60)
    assert (line[0], line[-1], line.count('"')) == ('"', '"', 2)
    assert not set("<>`") & set(line)
    assert "](" not in line
    assert steering(line) == []
    block = quote_block(text)
    assert block.splitlines() == block.split("\n")
    assert all(row.startswith("> ") for row in block.split("\n"))
    assert steering(block, kept="\n\t") == []


@settings(max_examples=budget(75, 1200))
@given(HOSTILE)
def test_what_is_invisible_is_removed_once_and_for_all(text):
    once = remove_invisible(text)
    assert remove_invisible(once) == once
    assert one_line(once) == one_line(text)
    assert not re.search(r"perdure[\W_]{0,3}memories", once.lower().replace("perdure_memories", ""))


def test_an_error_is_its_message_and_below_it_what_to_do():
    assert terminal_error("It is full.", "Free some space.") == "Error: It is full.\nFree some space."
    assert terminal_error("It is full.", "") == "Error: It is full."
    assert len(terminal_error("x" * 1_000_000, "")) < 5000

"""Quoting a memory is use of it; a reply that only repeats memories is nothing new."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import budget, every
from perdure.rules.usage_detection import is_echo, overlap, quoted_share

DEPLOYS = "Deploys happen on Tuesday"
PORT = "The staging server listens on port 8443 behind nginx."


def test_a_whole_memory_said_is_quoted_in_full():
    assert quoted_share(f"{DEPLOYS}.", DEPLOYS) == 1
    assert quoted_share("Let me check. The deploys happen on tuesday, so wait until then.", DEPLOYS) == 1
    assert quoted_share("My dog's name is Rex!", "Rex") == 1


def test_one_word_of_a_memory_quotes_little():
    assert 0 < quoted_share("Tuesday", DEPLOYS) < 0.2
    assert 0 < quoted_share("I will restart the server now.", PORT) < 0.2


def test_the_more_is_said_the_more_is_quoted():
    shares = [quoted_share(reply, PORT) for reply in ("Hello!", "port 8443", "it listens on port 8443", PORT)]
    assert shares[0] == 0
    assert shares[-1] == 1
    assert shares == sorted(shares)
    assert len(set(shares)) == 4


def test_the_same_words_scattered_are_quoted_less_than_in_a_row():
    scattered = "Tuesday is when releases stop; deploys rarely happen."
    assert quoted_share(scattered, DEPLOYS) < 0.6 < quoted_share(f"As you know, {DEPLOYS}", DEPLOYS)


@pytest.mark.parametrize(
    "reply",
    [
        DEPLOYS,
        "According to my notes, deploys happen on Tuesday.",
        "Sure! The staging server listens on port 8443 behind nginx. Deploys happen on Tuesday.",
        "Tuesday",
        "The server listens on port 8443.",
    ],
)
def test_a_reply_that_only_repeats_is_an_echo(reply):
    assert is_echo(reply, [PORT.replace("staging ", ""), DEPLOYS, PORT])


@every(
    [
        "Yes, it is.",
        "",
        "😀",
        "No, that is wrong.",
        "Deploys do not happen on Tuesday.",
        "Deploys may happen on Tuesday.",
        "Deploys happen on Friday.",
        "Do deploys happen on Tuesday?",
        "Deploys happen on Tuesday, and the release train leaves at noon.",
        "The staging server listens on port 9443 behind nginx.",
    ]
)
def test_a_reply_that_says_something_of_its_own_is_no_echo(reply):
    assert not is_echo(reply, [DEPLOYS, PORT])


def test_nothing_is_an_echo_of_nothing():
    assert not is_echo(DEPLOYS, [])
    assert quoted_share(DEPLOYS, "") == quoted_share("", DEPLOYS) == quoted_share("", "") == 0


@settings(max_examples=budget(50, 800), deadline=None, derandomize=True)
@given(st.text(max_size=100), st.text(max_size=100))
def test_shares_lie_between_nothing_and_all_and_mirror_each_other(one, other):
    there, back = overlap(one, other), overlap(other, one)
    assert (there.quoted, there.taken) == (back.taken, back.quoted)
    assert 0 <= there.quoted <= 1
    assert overlap(one, one).quoted in {0, 1}
    assert is_echo(one, [one, other]) == (overlap(one, one).taken == 1)

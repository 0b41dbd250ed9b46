"""Summaries of connected memories: whose, and in which words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws.memories import LAW
from perdure.records.memory import Content, Kind, Record, Scope
from perdure.records.policy import Policy
from perdure.rules.consolidation.tasks import sketch_summaries, summarize_members
from perdure.rules.language.tokens import count_tokens
from rules.builders import START, state

TEXTS = (
    "Ann moved the build server to Lyon on Tuesday because the old rack was full.",
    "The invoice queue is emptied at night, when the bank is closed.",
    "The price cache in Porto is cleared at six.",
)
PAIRS = [("a", "b"), ("b", "c")]


def record(identity, text, **fixed):
    return Record("default", identity, state(scope=Scope.SESSION, **fixed), Content(text, tags=(identity,)))


def made(records, pairs=PAIRS, **sure):
    confidence = {r.id: 0.9 for r in records} | sure
    return sketch_summaries(records, pairs, confidence, session="s", policy=Policy(), now=START + 5)


def three(**fixed):
    return [
        record(i, text, created_ms=START - n, **fixed) for n, (i, text) in enumerate(zip("abc", TEXTS, strict=True))
    ]


def test_a_summary_stands_for_connected_memories_with_the_mean_of_their_confidence():
    (sketch,) = made(three(), a=0.8, b=0.9, c=1.0)
    draft = sketch.draft
    assert sketch.members == ("c", "b", "a")  # oldest first
    assert (draft.kind, draft.scope, draft.session, draft.at) == (Kind.SUMMARY, Scope.LONG_TERM, None, START + 5)
    assert draft.confidence == pytest.approx(0.9)
    assert draft.tags == ("a", "b", "c")
    assert draft.metadata == {"sources": ["c", "b", "a"], "session": "s"}


@pytest.mark.parametrize("pairs", [[], [("a", "b")], [("a", "x"), ("b", "x"), ("c", "x")]])
def test_what_is_not_connected_gets_none(pairs):
    assert made(three(), pairs) == []


def test_there_are_no_summaries_of_summaries():
    assert made(three(kind=Kind.SUMMARY)) == []
    mixed = [*three()[:2], record("c", TEXTS[2], kind=Kind.SUMMARY)]
    assert made(mixed) == []


def test_the_same_memories_give_the_same_words_in_any_order():
    assert made(three()) == made(three()[::-1])


@pytest.mark.behaviour("T6")
@LAW
@given(st.lists(st.text(min_size=1, max_size=200).filter(str.strip), min_size=3, max_size=8))
def test_a_summary_is_at_most_half_as_long_as_what_it_stands_for(texts):
    records = [record(str(i), text) for i, text in enumerate(texts)]
    whole = count_tokens("\n".join(dict.fromkeys(text.strip() for text in texts)))
    assert count_tokens(summarize_members(records)) <= whole / 2


def test_a_summary_says_key_sentences_of_its_sources():
    text = summarize_members(three())
    assert any(sentence in text for sentence in TEXTS)


def test_a_summary_has_whole_sentences_of_as_many_sources_as_it_has_room_for():
    long = (
        "The harbour office in Lisbon moved its archive to the new depot. The archive has nine thousand folders in it. "
        "Folders from before the war are kept in the cellar of the old depot until the roof has been repaired."
    )
    texts = (long, "Mira signs all contracts of the depot.", "Tolls are paid on Fridays at noon.")
    text = summarize_members([record(str(i), said) for i, said in enumerate(texts)])
    said = text.split("\nAlso: ")[0]
    assert all(short in said for short in texts[1:])
    assert any(sentence in said for sentence in long.replace(". ", ".|").split("|"))
    every = {sentence.rstrip(".") for one in texts for sentence in one.replace(". ", ".|").split("|")}
    assert {sentence.rstrip(".") for sentence in said.replace(". ", ".|").split("|")} <= every

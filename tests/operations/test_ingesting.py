from __future__ import annotations

from datetime import timedelta

import pytest

from conftest import START, HashEmbedder, logical, tables
from perdure.records.errors import InvalidInput
from perdure.records.memory import Message

TALK = [
    {"role": "user", "content": "When is the deploy?", "at": "2025-12-01T09:00:00Z"},
    {"role": "assistant", "content": "On Tuesday at ten.", "at": "2025-12-01T09:00:05Z"},
    {"speaker": "Alice", "content": "ok", "at": "2025-12-01T09:01:00Z"},
    {"speaker": "Alice", "content": "ok", "at": "2025-12-01T09:01:00Z"},
    {"role": "user", "content": "Thanks"},
    {"role": "user", "content": "Thanks"},
]


def test_ingesting_twice_adds_nothing(opening, path, clock):
    memory = opening(embedder=HashEmbedder())
    first = memory.ingest(TALK, session="talk")
    assert (first.added, first.skipped, first.sessions) == (6, 0, ("talk",))
    before = tables(path)
    clock.passes(days=3)
    again = memory.ingest(TALK, session="talk")
    assert (again.added, again.skipped, again.operations) == (0, 6, ())
    assert tables(path) == before


def test_the_same_words_twice_at_one_time_are_two_messages(memory):
    assert memory.ingest(TALK[2:]).added == 4
    assert memory.stats().kinds == {"episode": 4}


def test_a_grown_transcript_adds_only_what_is_new_in_its_place(memory, raw_store):
    assert memory.ingest(TALK[:3]).added == 3
    more = memory.ingest([*TALK, {"content": "One more", "at": START}])
    assert (more.added, more.skipped) == (4, 3)
    records = raw_store.get("default", [m.id for m in memory.list()])
    by_turn = [r.content.text for r in sorted(records, key=lambda r: r.content.turn)]
    assert by_turn == [*(m["content"] for m in TALK), "One more"]


def test_a_conversation_in_one_go_or_message_by_message_is_the_same(opening, elsewhere):
    whole, pieces = opening(embedder=HashEmbedder()), opening(embedder=HashEmbedder(), at=elsewhere())
    whole.ingest(TALK)
    for end in range(1, len(TALK) + 1):
        pieces.ingest(TALK[:end])

    def told(memory):  # newest first, which is the order of the turns where all have their times
        return [(m.content, m.speaker, m.tier, m.state.created_ms) for m in memory.list()]

    assert told(whole) == told(pieces)


def test_messages_keep_who_when_and_where(memory):
    memory.ingest([Message("Hello there", role="user", speaker="Bob", at=START, session="own", source="f.jsonl:1")])
    kept = memory.list()[0]
    assert (kept.kind, kept.speaker, kept.session, kept.source) == ("episode", "Bob", "own", "f.jsonl:1")
    assert kept.created_at == START
    assert kept.scope == "long_term"
    assert kept.tier == "hot"


def test_a_sources_own_id_tells_messages_apart(memory):
    same = [{"content": "ok", "id": "m1"}, {"content": "ok", "id": "m2"}]
    assert memory.ingest(same).added == 2
    assert memory.ingest(same).added == 0
    with pytest.raises(InvalidInput, match="two different texts"):
        memory.ingest([{"content": "a", "id": "m3"}, {"content": "b", "id": "m3"}])


BAD = {
    "no content": {"role": "user"},
    "naive time": {"content": "x", "at": "2025-01-01T00:00:00"},
    "no time": {"content": "x", "at": "yesterday"},
    "a number for a time": {"content": "x", "at": 1735689600},
    "future": {"content": "x", "at": START + timedelta(days=2)},
    "lone surrogate": {"content": "x \ud800"},
    "surrogate speaker": {"content": "x", "speaker": "\ud800"},
    "NUL": {"content": "x\x00"},
    "number": {"content": 5},
    "role is a number": {"content": "x", "role": 5},
    "speaker is a list": {"content": "x", "speaker": ["a"]},
    "session is a number": {"content": "x", "session": 5},
    "a word": "x",
    "nothing": None,
}


@pytest.mark.parametrize("bad", BAD)
def test_a_refused_message_stores_nothing_and_says_which(memory, path, bad):
    before = tables(path)
    with pytest.raises(InvalidInput, match=r"[Mm]essage 7"):
        memory.ingest([*TALK, BAD[bad]])
    assert tables(path) == before


def test_messages_without_any_text_are_passed_over_and_counted(memory):
    talk = [
        {"role": "user", "content": "Run the tests of the importer, please."},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
        {"role": "assistant", "tool_calls": [{"id": "2"}]},
        {"role": "assistant", "content": ""},
        Message("  \u200b", role="assistant"),
        {"role": "assistant", "content": "All 41 of them pass."},
    ]
    done = memory.ingest(talk)
    assert (done.added, done.skipped, done.empty, done.echoes) == (2, 0, 4, 0)
    assert {m.content for m in memory.list()} == {talk[0]["content"], talk[-1]["content"]}
    again = memory.ingest(talk)
    assert (again.added, again.skipped, again.empty) == (0, 2, 4)
    assert memory.ingest(talk[1:5]).added == 0


@pytest.mark.parametrize("messages", [None, 5, "text", b"text", {"content": "x"}])
def test_what_is_no_list_of_messages_is_refused(memory, path, messages):
    before = tables(path)
    with pytest.raises(InvalidInput):
        memory.ingest(messages)
    assert tables(path) == before


def test_undoing_an_ingest_leaves_the_store_as_it_was(opening, path, clock):
    memory = opening(embedder=HashEmbedder())
    memory.remember("On Tuesday at ten we met", tags=["kept"], idempotency_key="k")
    memory.recall("tuesday")
    before = logical(path)
    done = memory.ingest(TALK)
    memory.recall("When is the deploy?", limit=3)  # even where it was read meanwhile
    clock.passes(minutes=5)
    after = logical(path)
    assert after != before
    reads = [a for a in before["access"] if a in after["access"]]
    memory.undo(done.operations[0])
    now = logical(path)
    assert now["access"] == [a for a in after["access"] if a[1] in {m.id for m in memory.list()}]
    assert set(now["access"]) >= set(reads)
    assert {**now, "access": None} == {**before, "access": None}
    assert memory.check() == []
    assert memory.ingest(TALK).added == 6  # its keys are free again

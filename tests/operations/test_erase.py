"""Erasing for good: nothing of the words is left in the store, its log, its journal or its backups; it says so."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import time
import types
import warnings
from contextlib import closing, suppress
from dataclasses import replace
from datetime import timedelta
from functools import lru_cache
from pathlib import Path

import apsw
import psycopg
import pytest

import perdure
from conftest import HASHED, STORES, WORDS_ONLY, HashEmbedder, opened, servers, tables
from faults.server_faults import own_server
from perdure.compose import current_instant, import_lines, store_at
from perdure.interfaces.files.export_files import export_reader, write_export
from perdure.operations.transfer import export_lines
from perdure.records.errors import DamageWarning, InvalidInput, MemoryErased, NotFound, TargetTaken
from perdure.records.memory import Message
from perdure.records.plan import ERASED, Erasure
from perdure.records.policy import Policy
from perdure.rules.alike_names import names_of
from perdure.rules.presentation import _text_content
from perdure.stores.erasing import Redactor
from perdure.stores.postgres.session import PostgresSession
from perdure.stores.sqlite.compacting import overwriting
from perdure.stores.sqlite.connection import open_file
from replicas import replica_of

ID = "01a21967-ed8f-7002-963e-fb97886fbabe"
ADDRESS = "Anna Schmidt lives at 17 Harbour Lane and her door code is 4711-beta."
OTHER = "The Tuesday release moved to Wednesday because of the audit."
TALK = [
    {"role": "user", "content": ADDRESS, "at": "2025-12-03T09:00:00Z", "session": "s1"},
    {"role": "user", "content": OTHER, "at": "2025-12-03T09:01:00Z", "session": "s1"},
]


def erased(memory, *ids, reason="she asked for it", **given):
    """Preview, then erase what the preview names."""
    preview = memory.erase(list(ids), reason=reason, **given)
    assert preview.dry_run
    assert not preview.changed
    return memory.erase(list(ids), reason=reason, confirm=preview.confirm, dry_run=False, **given)


def found_in(folder: Path, words: str) -> list[str]:
    """Return the files below a folder whose bytes hold words, as they are or as JSON writes them."""
    probes = {words.encode(), json.dumps(words, ensure_ascii=False)[1:-1].encode()}
    return [str(p) for p in folder.rglob("*") if p.is_file() and any(probe in p.read_bytes() for probe in probes)]


def test_nothing_is_left_of_an_erased_memory(tmp_path):
    path = tmp_path / "a.db"
    with perdure.open(path, {"embedder": {"model": "none"}}) as memory:
        memory.ingest(TALK, "home")
        [secret] = [m for m in memory.list("home") if m.content == ADDRESS]
        assert memory.recall("Where does Anna Schmidt live?", "home").hits
        memory.used([secret.id], "helpful")
        memory.archive(secret.id, "quoted: " + ADDRESS)
        memory.undo("last")
        assert found_in(tmp_path, ADDRESS[:32])
        done = erased(memory, secret.id, namespace="home")
        assert (done.memories, done.places, done.changed) == ((secret.id,), (), True)
        assert done.searched > 0
        assert memory.get(secret.id) is None
        assert [m.content for m in memory.list("home", include_archived=True)] == [OTHER]
        assert memory.check() == []
        assert [h.memory.content for h in memory.recall("Where does Anna Schmidt live?", "home").hits] != [ADDRESS]
    for passage in (ADDRESS[:32], ADDRESS[20:50], "Harbour Lane", "4711-beta"):
        assert found_in(tmp_path, passage) == []
    assert found_in(tmp_path, OTHER[:32]) == [str(path)]


def test_questions_and_notes_that_say_it_go_too(tmp_path, clock):
    fading = {**WORDS_ONLY, "archive": {"rule": "value", "value_below": 0.5, "cold_days": 1}}
    with opened(tmp_path / "a.db", fading, clock) as memory:
        kept = memory.remember(ADDRESS)
        memory.remember("The kettle stays on the third shelf.")
        other = memory.remember(OTHER, tags=["work"])
        assert memory.recall("Which door of Anna Schmidt has a code?", limit=1).hits[0].memory.id == kept.id
        (hit,) = memory.recall(f"Is the Tuesday release after this? {ADDRESS}", tags=["work"]).hits
        assert hit.memory.id == other.id
        clock.passes(days=30)
        memory.sweep(accept_loss=f"she moved: {ADDRESS}")
        assert any(ADDRESS in o.note for o in memory.history())
        for passage in ("Which door of Anna", f"release after this? {ADDRESS[:20]}", f"she moved: {ADDRESS[:20]}"):
            assert found_in(tmp_path, passage)
        done = erased(memory, kept.id)
        assert done.places == ()
        assert any("`export`" in note and "backups elsewhere" in note for note in done.unreachable)
        assert not any("Harbour" in o.note for o in memory.history())
    for passage in ("Which door of Anna", "Harbour Lane", "4711-beta"):
        assert found_in(tmp_path, passage) == []
    assert found_in(tmp_path, "release after this?")  # it found another, and only the words are taken out


def test_a_large_text_and_what_showed_it_shorter_leave_no_page(tmp_path):
    """Words that lie on overflow pages, in packed form and in free pages of earlier writes."""
    path = tmp_path / "a.db"
    text = " ".join(
        f"Patient record {n}: the code of locker {n * 7919 % 10007} is {n * 104729 % 99991}." for n in range(400)
    )
    with perdure.open(path, {"embedder": {"model": "none"}}) as memory:
        keep = [memory.remember(f"Plain note number {n} about gardening in spring.").id for n in range(50)]
        kept = memory.remember(text)
        memory.fit(tokens=100, accept_loss="a test", dry_run=False)
        memory.restore(kept.id, "full")  # what was shown meanwhile lies in a free page
        done = erased(memory, kept.id)
        assert done.places == ()
        assert memory.get(keep[0]) is not None
    assert found_in(tmp_path, "Patient record 7: the code") == []
    assert found_in(tmp_path, "Patient record 399: the code") == []


def test_no_word_of_an_index_and_no_vector_is_left_between_rows_and_in_free_pages(tmp_path):
    """Neither is searched for: a word may stand anywhere, and a vector says nothing."""

    def vectors():
        return {bytes(part) for row in tables(path)["vector"] for part in row if isinstance(part, bytes)}

    path, text = tmp_path / "a.db", "The zyxwabra of Quetzalina lies behind the kaxomule stone."
    with perdure.open(path, HASHED, embedder=HashEmbedder(64)) as memory:
        memory.remember_many(
            [f"Plain note number {n} about gardening in spring {n * 7919 % 1000}." for n in range(300)]
        )
        others = vectors()
        memory.undo(memory.remember(text).operation)
        kept = memory.remember(text)
        [vector] = vectors() - others
        memory.optimize()
        assert erased(memory, kept.id).places == ()
    found = path.read_bytes()
    assert vector not in found
    assert [word for word in (b"zyxwabra", b"quetzalin", b"kaxomul") if word in found.lower()] == []


def test_pages_that_earlier_deletes_left_free_are_overwritten_by_the_next_erasure(tmp_path, clock):
    policy = {**WORDS_ONLY, "journal": {"horizon_days": 1}, "upkeep": {"compact_share": 1, "check_days": 0}}
    with opened(tmp_path / "a.db", policy, clock) as memory:
        text = " ".join(f"The code of locker {n * 7919 % 10007} is {n * 104729 % 99991}." for n in range(1000))
        memory.undo(memory.remember(text).operation)
        clock.passes(days=9)
        memory.upkeep("worker", eager=True)  # the journal drops what it kept of it
        kept = memory.remember(ADDRESS)
        memory.close()
        assert found_in(tmp_path, text[-60:])
    with opened(tmp_path / "a.db", policy, clock) as memory:
        assert erased(memory, kept.id).places == ()
    assert found_in(tmp_path, text[-60:]) == []


@pytest.mark.parametrize("store", [STORES[1]], indirect=True)
def test_no_row_of_a_server_keeps_it_and_its_dead_rows_are_named(path, opening):
    memory = opening({"embedder": {"model": "none"}})
    memory.ingest(TALK, "home")
    [secret] = [m for m in memory.list("home") if m.content == ADDRESS]
    memory.archive(secret.id, "quoted: " + ADDRESS)

    def tables_with(words):
        return [name for name, rows in tables(path).items() if words in str(rows)]

    assert tables_with("Harbour Lane")
    done = erased(memory, secret.id, namespace="home")
    assert (done.places, done.searched > 0) == ((), True)
    assert any("dead rows" in note for note in done.unreachable)
    assert not any("vacuumed" in note for note in done.unreachable)
    assert tables_with("Harbour Lane") == []
    if servers().on_cluster():
        return  # its nodes count that
    with psycopg.connect(path) as connection:
        rows = connection.execute("SELECT relname FROM pg_stat_user_tables WHERE last_vacuum IS NOT NULL").fetchall()
    assert {name for (name,) in rows} >= {"memory", "content", "posting", "tag", "embedding", "journal", "recall_log"}


def test_it_erases_only_what_was_confirmed(memory):
    kept = memory.remember(ADDRESS)
    other = memory.remember(OTHER)
    preview = memory.erase([kept.id], reason="she asked")
    for confirm in (None, "00000000"):
        with pytest.raises(InvalidInput, match="confirm"):
            memory.erase([kept.id], reason="she asked", confirm=confirm, dry_run=False)
    with pytest.raises(InvalidInput, match="confirm"):
        memory.erase([kept.id, other.id], reason="she asked", confirm=preview.confirm, dry_run=False)
    assert memory.get(kept.id).content == ADDRESS
    with pytest.raises(InvalidInput, match="Nothing is selected"):
        memory.erase(reason="all of it")
    with pytest.raises(NotFound, match="nothing to erase"):
        memory.erase(reason="old", tags=["unknown"])


def test_it_cannot_be_undone_and_says_why_the_memory_is_gone(memory):
    kept = memory.remember(ADDRESS)
    done = erased(memory, kept.id, by="Jo")
    with pytest.raises(InvalidInput, match="erased memories for good"):
        memory.undo(done.operation)
    with pytest.raises(InvalidInput, match="erased for good"):
        memory.undo(kept.operation)
    with pytest.raises(NotFound, match="erased by Jo: she asked for it"):
        memory.why(kept.id)
    assert [o.operation for o in memory.history()] == ["erase", "remember"]


def test_the_same_transcript_does_not_bring_it_back(memory):
    memory.ingest(TALK, "home")
    [secret] = [m for m in memory.list("home") if m.content == ADDRESS]
    erased(memory, secret.id, namespace="home")
    again = memory.ingest([*TALK, {"role": "user", "content": "Good night.", "session": "s1"}], "home")
    assert again.added == 1
    assert ADDRESS not in [m.content for m in memory.list("home")]


def test_a_transcript_under_another_name_does_not_bring_it_back(memory, clock):
    said = [
        {"role": "user", "content": text, "at": (clock.now - timedelta(hours=hours)).isoformat()}
        for hours, text in ((3, ADDRESS), (2, "Good night."), (1, "The bins go out on Monday."))
    ]
    memory.ingest(said, session="one")
    erased(memory, *(m.id for m in memory.list() if m.content != said[2]["content"]))
    again = memory.ingest(said, session="two")
    assert again.added == 2  # words as few as "Good night." tell nothing of whose they were
    assert ADDRESS not in [m.content for m in memory.list()]
    clock.passes(hours=1)
    assert memory.ingest([{"role": "user", "content": ADDRESS}], session="three").added == 1  # said anew


@pytest.mark.parametrize("first", [None, "k0"])
def test_a_retry_under_a_key_that_known_words_were_given_does_not_bring_them_back(memory, first):
    kept = memory.remember(ADDRESS, idempotency_key=first)
    assert memory.remember(ADDRESS, idempotency_key="k1").id == kept.id
    both = memory.remember_many(
        [{"content": f" {ADDRESS} ", "idempotency_key": "k2"}, {"content": ADDRESS, "idempotency_key": "k3"}]
    )
    assert {(one.id, one.operation) for one in both} == {(kept.id, memory.history()[0].id), (kept.id, None)}
    memory.update(kept.id, "Anna Schmidt moved away.")
    keys = [key for key in (first, "k1", "k2", "k3") if key is not None]
    assert {memory.remember(ADDRESS, idempotency_key=key).id for key in keys} == {kept.id}
    with pytest.raises(InvalidInput, match="used for another text"):
        memory.remember(OTHER, idempotency_key="k1")
    erased(memory, kept.id)
    for key in keys:
        with pytest.raises(MemoryErased, match=f"'{key}' was erased for good"):
            memory.remember(ADDRESS, idempotency_key=key)
    assert memory.check() == []


def _cached():
    """Return all that functions of the product keep of what they were given."""
    modules = [module for name, module in sys.modules.items() if name.partition(".")[0] == "perdure"]
    left = [f for m in modules for f in vars(m).values() if isinstance(f, type(lru_cache(len)))]
    seen = {}
    while left:
        one = left.pop()
        if id(one) not in seen and not isinstance(one, (type, types.FunctionType, types.ModuleType)):
            seen[id(one)] = one
            left += gc.get_referents(one)
    return [one for one in seen.values() if isinstance(one, str)]


def test_no_function_keeps_erased_words(memory):
    moved = "Anna Schmidt moved from Harbour Lane to Mill Street, no longer near the port."
    kept = [memory.remember(text) for text in (ADDRESS, moved, OTHER)]
    memory.recall("Where does Anna Schmidt live now?")
    memory.digest("default")
    memory.consolidate("default")
    assert any("Schmidt" in text for text in _cached())
    erased(memory, *(one.id for one in kept[:2]))
    assert not [text for text in _cached() if "Schmidt" in text or "schmidt" in text]


def _holders_of(word):
    """Return the types of all objects of the process that hold a text with a word, but for running functions."""
    gc.collect()
    found = set()
    for text in _cached():  # of modules that were loaded before the collector's freeze, which it does not list
        if word in text.casefold():
            found.add("cache")
    for one in gc.get_objects():
        for text in () if isinstance(one, types.FrameType) else gc.get_referents(one):
            if isinstance(text, str) and word in text.casefold():
                found.add(type(one).__name__)
    return found


def test_nothing_in_the_process_keeps_erased_words(memory):
    """The word is put together here, so that neither this file's own texts nor its bytecode hold it."""
    word = "grubnetsauq"[::-1]
    kept = memory.remember(f"Ludovica {word.title()} listens on port 8081, not on 8082")
    memory.ingest([{"role": "user", "content": f"Ludovica {word.title()} listens on port 8082"}])
    memory.remember("Ludovica Quastenbach listens on port 9000")
    for question in (f"Which port has Ludovica {word.title()}?", "Which port has Ludovica?", "Ludovica Quastenbach"):
        memory.recall(question)
    memory.confirm(kept.id)
    memory.remember(kept.memory.content)
    memory.agent.opening("s", "default")
    memory.agent.beside(f"Which port has Ludovica {word.title()}?", "s", "default")
    memory.why(kept.id)
    ids = [kept.id, *(m.id for m in memory.list() if m.kind == "episode")]
    del kept
    assert "cache" in _holders_of(word)
    for cache in (names_of, _text_content):
        assert cache.cache_info().currsize
    erased(memory, *ids)
    assert _holders_of(word) == set()


def test_a_retry_under_its_key_does_not_bring_it_back(memory):
    kept = memory.remember(ADDRESS, idempotency_key="k1")
    later = memory.remember(OTHER, idempotency_key="k2")
    erased(memory, kept.id)
    for text in (ADDRESS, "Another text."):
        with pytest.raises(MemoryErased, match="'k1' was erased for good"):
            memory.remember(text, idempotency_key="k1")
    items = [{"content": f"Note {n}."} for n in range(501)]
    for count in (1, 501):
        with pytest.raises(MemoryErased, match=f"Item {count + 1}: "):
            memory.remember_many([*items[:count], {"content": ADDRESS, "idempotency_key": "k1"}])
    assert [m.content for m in memory.list(limit=1000)] == [OTHER]
    assert memory.remember(OTHER, idempotency_key="k2").id == later.id
    memory.remember(ADDRESS, idempotency_key="k3")  # said anew
    undone = memory.remember("The lights are on.", idempotency_key="k4")
    memory.undo(undone.operation)
    assert memory.remember("The lights are on.", idempotency_key="k4").operation


def test_a_request_in_a_transcript_that_is_read_again_does_not_bring_its_note_back(memory):
    said = Message(
        "Please remember that the staging server listens on port 8081.", at=memory.now, session="s", key="m1"
    )

    def take_in():
        memory.agent.take_in("s", "default", [said], transcript="", mark="")
        return sorted(m.content for m in memory.list(inside="s", include_archived=True))

    assert "The staging server listens on port 8081." in take_in()
    erased(memory, everything=True)
    assert take_in() == []


@pytest.mark.parametrize("named", ["two", "one"])
def test_a_resumed_transcript_brings_no_note_of_an_erased_message_back(memory, clock, named):
    """Copied lines have the same ids and words; some clients give them the new session's name."""
    said = [
        Message("Remember that Tara Quist has a nut allergy.", at=memory.now, session="one", key="m1"),
        Message("Remember that the parser ships in Rust.", at=memory.now, session="one", key="m2"),
    ]

    def take_in(session, messages):
        memory.agent.take_in(session, "default", messages, transcript="", mark="")
        found = memory.list(inside=session, include_archived=True)
        return sorted(m.content for m in found if m.session == session)

    first = take_in("one", said)
    assert {"Tara Quist has a nut allergy.", "The parser ships in Rust."} < set(first)
    gone = [m.id for m in memory.list(inside="one") if "Tara" in m.content]
    clock.passes(minutes=1)
    erased(memory, *gone)
    new = Message("Go on.", at=memory.now, session="two", key="m3")
    assert take_in("two", [*(replace(m, session=named) for m in said), new]) == ["Go on."]
    assert take_in("three", [replace(said[0], session="three")]) == []  # where no other line shows the copy


def test_what_is_kept_is_when_by_whom_and_why_and_digests_that_differ_from_store_to_store(opening, elsewhere, clock):
    kept = []
    for place in (elsewhere(), elsewhere()):
        memory = opening(WORDS_ONLY, at=place)
        memory.ingest(TALK, "home")
        [secret] = [m for m in memory.list("home") if m.content == ADDRESS]
        erased(memory, secret.id, namespace="home", by="Jo")
        memory.close()
        with store_at(place) as store:
            lines = [x for x in export_lines(store) if x.get("shelf") == "erased" and x["part"] == "document"]
        [tombstone] = [line for line in lines if line["id"] == secret.id]
        kept.append((tombstone["name"], dict(tombstone["data"])))
        assert "Anna" not in str(lines)
    at_ms = int(clock().timestamp() * 1000)
    digests = [data.pop("digest") for _, data in kept]
    assert [data for _, data in kept] == [{"at_ms": at_ms, "by": "Jo", "why": "she asked for it"}] * 2
    assert len({*digests, *(name for name, _ in kept)}) == 4  # of the same words and the same key


@pytest.mark.parametrize("store", STORES[:2], indirect=True)
@pytest.mark.parametrize("chosen", [{"tags": ["anna"]}, {"everything": True}])
def test_an_export_from_before_does_not_bring_it_back(opening, path, elsewhere, tmp_path, chosen):
    def export(name):
        with store_at(path) as store:
            write_export(str(tmp_path / name), export_lines(store))

    def bring(name, into, *, partial=False):
        lines = export_reader(str(tmp_path / name), partial=partial)
        import_lines(lines, into, Policy(), current_instant(), partial=partial)

    memory, copy = opening(), elsewhere()
    kept = memory.remember(ADDRESS, tags=["anna"])
    memory.remember(OTHER)
    export("earlier.jsonl")
    erased(memory, **chosen)
    left = [m.content for m in memory.list(include_archived=True)]
    for partial in (False, True):
        with pytest.raises(TargetTaken):
            bring("earlier.jsonl", path, partial=partial)
    assert [m.content for m in memory.list(include_archived=True)] == left
    export("later.jsonl")
    bring("later.jsonl", copy)
    other = opening(at=copy)
    assert [m.content for m in other.list(include_archived=True)] == left
    with pytest.raises(NotFound, match="erased: she asked for it"):
        other.why(kept.id)


def test_replicas_and_archived_logs_of_a_server_are_named_and_replicas_follow():
    with own_server(archive_mode="on", archive_command="true") as primary:
        with replica_of(primary, synchronous=False) as replica, opened(primary.dsn()) as memory:
            kept = memory.remember(ADDRESS)
            notes = " ".join(erased(memory, kept.id).unreachable)
            assert "Replicas of the server (1, also those away) follow" in notes
            assert "The server archives its log of writes" in notes
            until = time.monotonic() + 10
            while not replica.sql("SELECT 1 FROM document WHERE shelf = 'erased' AND name <> 'salt'", "perdure"):
                assert time.monotonic() < until
            assert [name for name, rows in tables(replica.dsn()).items() if "Harbour Lane" in str(rows)] == []
        with opened(primary.dsn()) as memory:
            assert "Replicas" not in " ".join(erased(memory, memory.remember(OTHER).id).unreachable)
            primary.sql("SELECT pg_create_physical_replication_slot('away', true)")
            assert "Replicas of the server (1," in " ".join(erased(memory, memory.remember(OTHER).id).unreachable)


@pytest.mark.parametrize("store", STORES[1:2], indirect=True)
def test_of_a_server_without_replicas_that_archives_no_log_neither_is_named(memory):
    notes = " ".join(erased(memory, memory.remember(ADDRESS).id).unreachable)
    assert "Replicas of the server" not in notes
    assert "archives its log" not in notes


def test_what_else_an_operation_did_can_still_be_undone(memory):
    done = memory.ingest(TALK, "home")
    [secret] = [m for m in memory.list("home") if m.content == ADDRESS]
    erased(memory, secret.id, namespace="home")
    memory.undo(done.operations[-1])
    assert memory.list("home") == []


def test_a_merged_memory_goes_and_what_it_stood_for_comes_back(meaning):
    first = meaning.remember("The billing database is saved at two in the morning .")
    second = meaning.remember("The billing database is saved at two in the morning !")
    for dry_run in (True, False):
        merged = meaning.consolidate("default", strategy="merge_content", dry_run=dry_run)
    assert merged.changed
    assert [m.status for m in meaning.list(include_archived=True)].count("consolidated") == 2
    done = erased(meaning, first.id)
    assert (len(done.derived), done.restored) == (1, (second.id,))
    [left] = meaning.list(include_archived=True)
    assert (left.id, left.status) == (second.id, "active")
    assert meaning.recall("When is the billing database saved?").hits[0].memory.id == second.id
    assert meaning.check() == []


@pytest.mark.parametrize("strategy", ["merge_content", "keep_newest"])
def test_what_was_merged_into_an_erased_memory_comes_back(meaning, clock, strategy):
    ids = []
    for mark in (".", "!"):
        ids.append(meaning.remember(f"The billing database is saved at two in the morning {mark}").id)
        clock.passes(minutes=1)
    for dry_run in (True, False):
        meaning.consolidate("default", strategy=strategy, dry_run=dry_run)
    [stays] = meaning.list()
    hidden = {*ids} - {stays.id}
    assert set(meaning.erase([stays.id], reason="test").restored) == hidden
    assert set(erased(meaning, stays.id).restored) == hidden
    assert {m.id for m in meaning.list()} == hidden
    assert meaning.recall("When is the billing database saved?").hits
    assert "what stood for it was erased" in meaning.history(next(iter(hidden)))[-1].because
    for operation in meaning.history():
        if operation.operation in ("consolidate", "remember"):
            with suppress(InvalidInput):  # of what was erased nothing is left
                meaning.undo(operation.id)
    assert meaning.list(include_archived=True) == []
    assert meaning.check(full=True) == []


def test_a_fact_comes_back_when_its_correction_was_erased_and_is_undone(memory, clock):
    claim = {"subject": "Rashida", "predicate": "lives in", "value": "Turku"}
    stored = memory.remember("Rashida lives in Turku.", facts=[claim])
    [old] = memory.facts()
    clock.passes(hours=1)
    pinned = memory.pin(old.id)
    clock.passes(hours=1)
    corrected = memory.correct(old.id, "Lisbon")
    [new] = memory.facts()
    erased(memory, new.id)
    memory.undo(corrected.operation)
    [back] = memory.facts()
    assert (back.id, back.value) == (old.id, "Turku")
    memory.undo(pinned.operation)
    memory.undo(stored.operation)
    assert (memory.facts(past=True), memory.list(include_archived=True)) == ([], [])
    assert memory.check(full=True) == []


def test_what_a_merged_memory_was_merged_into_goes_too(meaning, clock):
    first, *later = (f"The billing database is saved at two in the morning {mark}" for mark in (".", "!", "!!"))
    ids = [meaning.remember(first).id]
    for text in later:
        clock.passes(minutes=1)
        ids.append(meaning.remember(text).id)
        for dry_run in (True, False):
            meaning.consolidate("default", strategy="keep_newest", dry_run=dry_run)
    assert [meaning.get(i, include_archived=True).status for i in ids] == ["consolidated", "consolidated", "active"]
    done = erased(meaning, ids[0])
    assert (set(done.derived), done.places) == ({*ids[1:]}, ())
    assert meaning.list(include_archived=True) == []


def test_where_the_words_still_stand_is_told(memory):
    kept, other = (memory.remember(ADDRESS, namespace=place).id for place in ("home", "work"))
    done = erased(memory, kept, namespace="home")
    assert set(done.places) == {f"memory {other} of namespace work holds words of an erased memory."}
    assert memory.get(other).content == ADDRESS


@pytest.mark.parametrize("store", STORES[:2], indirect=True)
def test_what_everybody_says_is_counted_and_not_listed(memory):
    thanks = "Thanks, it works again now."
    gone, *others = (memory.remember(thanks, namespace=f"team{n}").id for n in range(3))
    for n in range(9):
        memory.ingest([{"content": thanks, "speaker": "user"}], "team1", session=f"s{n}")
    places = erased(memory, gone, namespace="team0").places
    assert f"memory {others[1]} of namespace team2 holds words of an erased memory." in places
    assert "5 more memories say the same as an erased memory in namespace team1." in places
    assert len(places) == 7


def test_each_of_many_erased_texts_is_searched_for(opening):
    """It was said that no words were left, though only the first 400 passages had been looked for: of 200 texts."""
    memory = opening(WORDS_ONLY)
    texts = [f"Locker {n * 7919 % 10007} of the clinic opens with the code {n * 104729 % 99991}." for n in range(250)]
    memory.remember_many([{"content": text, "tags": ["patients"]} for text in texts])
    quoting = {memory.remember(f"Ask Bo about this: {text}").id for text in (texts[0], texts[220], texts[-1])}
    memory.remember("Locker 12 of the gym opens with a coin.")
    done = erased(memory, tags=["patients"])
    assert set(done.places) == {f"memory {i} of namespace default holds words of an erased memory." for i in quoting}
    assert done.searched > len(texts)


@pytest.mark.parametrize("store", STORES[:2], indirect=True)
def test_the_whole_text_of_a_memory_that_is_shown_shorter_is_searched(opening):
    memory = opening(WORDS_ONLY)
    long = " ".join(f"Point {n} of the meeting was about item {n * 7919 % 1009}." for n in range(60))
    kept = memory.remember(f"{long} {ADDRESS}").id
    memory.fit(tokens=100, accept_loss="a test", dry_run=False)
    assert memory.get(kept).form != "full"
    gone = memory.remember(ADDRESS, importance=1.0).id
    assert f"memory {kept} of namespace default holds words of an erased memory." in erased(memory, gone).places


def test_of_very_many_places_the_rest_is_counted(tmp_path):
    with opened(tmp_path / "a.db", WORDS_ONLY) as memory:
        memory.remember_many([f"Note {n}: {ADDRESS}" for n in range(1010)], namespace="work")
        places = erased(memory, memory.remember(ADDRESS).id).places
    assert len(places) == 1001
    assert places[-1] == "10 more rows hold words of an erased memory in namespace work."


@pytest.mark.parametrize("store", STORES[:2], indirect=True)
def test_what_only_resembles_the_words_is_no_place(opening):
    memory = opening()
    memory.remember("The red houses burn in the night.")
    memory.remember(ADDRESS.replace("17", "170"))
    near = memory.remember(f"Number 2: {ADDRESS.partition(' and ')[0]}.").id
    memory.archive(near, f"as was said: {ADDRESS.partition(' and ')[0]}")
    assert erased(memory, memory.remember("The red house").id).places == ()
    assert erased(memory, memory.remember(ADDRESS).id).places == ()
    kept = memory.remember(ADDRESS, namespace="work").id
    holding = {"source": f"from: {ADDRESS}"}, {"tags": [ADDRESS.lower()]}, {"metadata": {"said": [ADDRESS.upper()]}}
    others = [memory.remember(f"List {n}.", namespace="other", **given).id for n, given in enumerate(holding)]
    memory.archive(others[0], f"she told: “{ADDRESS}”")
    archived = next(o.id for o in memory.history() if o.operation == "archive")
    assert set(erased(memory, memory.remember(f" {ADDRESS}\n", namespace="home").id, namespace="home").places) >= {
        f"memory {kept} of namespace work holds words of an erased memory.",
        *(f"memory {other} of namespace other holds words of an erased memory." for other in others),
        f"journal line of operation {archived} of namespace other holds words of an erased memory.",
    }


def test_a_memory_that_stays_is_no_place_because_it_has_a_short_erased_text_in_it(opening):
    memory = opening(embedder=None)
    long, short = memory.remember("The weekly meeting in the green room begins at nine."), memory.remember("Anna")
    memory.remember("The weekly meeting in the green room ends at ten, and Anna comes.")
    assert erased(memory, long.id, short.id).places == ()


def test_what_came_to_rest_on_it_after_the_dry_run_is_not_confirmed(meaning, clock):
    first = meaning.remember("The billing database is saved at two in the morning .")
    word = meaning.erase([first.id], reason="test").confirm
    clock.passes(minutes=1)
    meaning.remember("The billing database is saved at two in the morning !")
    for dry_run in (True, False):
        meaning.consolidate("default", strategy="keep_newest", dry_run=dry_run)
    with pytest.raises(InvalidInput, match="This would erase 2 for good"):
        meaning.erase([first.id], reason="test", confirm=word, dry_run=False)


def test_words_too_few_to_be_searched_for_are_named(memory):
    kept = memory.remember("PIN 4711")
    assert "1 short text was not searched for" in " ".join(erased(memory, kept.id).unreachable)
    kept = memory.remember("milk\neggs\nbread\nbutter\ntea")  # no line of it tells it from others
    assert "1 short text was not searched for" in " ".join(erased(memory, kept.id).unreachable)
    kept = memory.remember(ADDRESS)
    assert "short text" not in " ".join(erased(memory, kept.id).unreachable)


def test_by_filter_and_whole_namespace(memory):
    ids = [memory.remember(f"Number {n}: {ADDRESS}", tags=["anna"], namespace="home").id for n in range(3)]
    memory.remember(OTHER, namespace="home")
    memory.remember(OTHER, namespace="work")
    done = erased(memory, tags=["anna"], namespace="home")
    assert set(done.memories) == set(ids)
    assert [m.content for m in memory.list("home")] == [OTHER]
    erased(memory, everything=True, namespace="home")
    assert memory.list("home", include_archived=True) == []
    assert [m.content for m in memory.list("work")] == [OTHER]


def test_filters_find_what_is_archived_and_all_that_is_given_must_fit(memory, clock):
    ids = {}
    for name, given in {
        "early": {"session": "one", "tags": ["anna"]},
        "noon": {"session": "one"},
        "late": {"session": "two", "tags": ["anna"]},
    }.items():
        ids[name] = memory.remember(f"{name}: {ADDRESS}", **given).id
        clock.passes(hours=1)
    early = memory.get(ids["early"]).created_at
    memory.archive(ids["early"], "moved")

    def chosen(*names, **given):
        listed = set(memory.erase([ids[n] for n in names], reason="test", **given).memories)
        return {name for name, identity in ids.items() if identity in listed}

    assert chosen(session="one") == {"early", "noon"}
    assert chosen(tags=["anna"]) == {"early", "late"}
    assert chosen(until=early + timedelta(minutes=90)) == {"early", "noon"}
    assert chosen(until=early + timedelta(minutes=30)) == {"early"}
    assert chosen(everything=True) == set(ids)
    assert chosen(tags=["anna"], session="two") == {"late"}
    assert chosen("early", "noon", tags=["anna"]) == {"early"}
    memory.remember("Anna drinks tea.", facts=[{"subject": "Anna", "predicate": "drink", "value": "tea"}], tags=["tea"])
    about = memory.erase(subject="Anna", reason="test").memories
    assert len(about) > len(memory.erase(subject="Anna", tags=["tea"], reason="test").memories) == 1


def test_facts_go_with_their_last_source_and_lose_the_quote_of_another(memory):
    one = memory.remember(
        ADDRESS,
        facts=[
            {
                "subject": "Anna Schmidt",
                "predicate": "door code",
                "value": "4711-beta",
                "quote": "her door code is 4711-beta",
            }
        ],
    )
    two = memory.remember(
        "Bo works at Globex, says Anna.", facts=[{"subject": "Bo", "predicate": "employer", "value": "Globex"}]
    )
    three = memory.remember(
        "Bo is still employed at Globex, in the audit team.",
        facts=[{"subject": "Bo", "predicate": "employer", "value": "Globex", "quote": "employed at Globex"}],
    )
    [code] = list(memory.facts("Anna Schmidt"))
    [employer] = list(memory.facts("Bo"))
    done = erased(memory, one.id)
    assert done.derived == (code.id,)
    done = erased(memory, three.id)
    assert (done.derived, done.redacted) == ((), (employer.id,))
    assert [f.value for f in memory.facts("Bo")] == ["Globex"]
    assert "employed at Globex" not in json.dumps(memory.why(employer.id).to_dict())
    assert memory.get(two.id) is not None
    assert memory.check() == []


def test_a_person_is_erased_with_their_name(memory):
    memory.remember(ADDRESS, facts=[{"subject": "Anna Schmidt", "predicate": "home", "value": "17 Harbour Lane"}])
    kept = memory.remember("Bo likes tea.", facts=[{"subject": "Bo", "predicate": "drink", "value": "tea"}])
    memory.archive(kept.id, "as Anna Schmidt wished")
    done = erased(memory, subject="Anna Schmidt")
    assert [e.because for e in memory.history(kept.id) if e.operation == "archive"] == [
        "archived by hand: as [erased] wished"
    ]
    assert len(done.entities) == 1
    assert len(done.memories) == 2
    assert done.places == ()
    assert [e.name for e in memory.entities()] == ["Bo"]
    with pytest.raises(NotFound):
        memory.facts("Anna Schmidt")


def test_a_quote_of_few_words_goes_with_what_it_quotes(memory):
    fact = {"subject": "Bo", "predicate": "employer", "value": "Globex"}
    memory.remember("Bo works at Globex, says Anna.", facts=[fact])
    other = memory.remember("Bo is at Globex, in the audit.", facts=[{**fact, "quote": "the audit"}])
    [employer] = memory.facts("Bo")
    assert "the audit" in json.dumps(memory.why(employer.id).to_dict())
    assert erased(memory, other.id).redacted == (employer.id,)
    assert "the audit" not in json.dumps(memory.why(employer.id).to_dict())


def test_who_is_erased_goes_with_every_memory_that_names_them_learned_from_or_not(memory):
    memory.remember("Anna Roe drinks tea.", facts=[{"subject": "Anna Roe", "predicate": "drink", "value": "tea"}])
    memory.alias("Anna Roe", "Annie")
    hidden = memory.remember("Bo met DR. ANNA ROE's brother.").id
    memory.archive(hidden, "old")
    private = memory.remember("I called annie.", session="one").id
    others = [memory.remember(text).id for text in ("Bannie left.", "Joanna Roer came.", "Anna came, Roe left.")]
    done = erased(memory, subject="Annie")
    assert {hidden, private} <= set(done.memories)
    everything = memory.erase(everything=True, reason="test").memories
    assert set(everything) == set(others)


def test_what_somebody_said_goes_with_them(memory):
    memory.remember("Jonas Ek likes tea.", facts=[{"subject": "Jonas Ek", "predicate": "drink", "value": "tea"}])
    memory.alias("Jonas Ek", "Jonas")
    memory.alias("Jonas Ek", "User")
    said = {"role": "user", "content": "My car is a Saab, number 12."}
    speakers = ("JONAS", "Jonas Berg", None)
    memory.ingest([{**said, "content": f"{said['content']}{n}", "speaker": who} for n, who in enumerate(speakers)])
    done = erased(memory, subject="Jonas Ek")
    assert any("tags, metadata" in note for note in done.unreachable)
    assert [m.speaker for m in memory.list(include_archived=True)] in (["user", "Jonas Berg"], ["Jonas Berg", "user"])
    assert not any("tags, metadata" in note for note in erased(memory, memory.list()[0].id).unreachable)


def test_backups_of_the_vault_are_rewritten_and_still_read(tmp_path):
    policy = {"embedder": {"model": "none"}, "upkeep": {"backup_folder": str(tmp_path / "kept")}}
    with perdure.open(tmp_path / "a.db", policy) as memory:
        ids = [memory.remember(text).id for text in (ADDRESS, OTHER)]
        for identity in ids:
            memory.move(identity, "vault", "it matters")
        memory.upkeep("worker", eager=True)
        [backup] = (tmp_path / "kept").glob("*.jsonl")
        assert ADDRESS in backup.read_text("utf-8")
        done = erased(memory, ids[0])
        assert done.backups == (str(backup),)
    assert ADDRESS not in backup.read_text("utf-8")
    command = [sys.executable, "-m", "perdure", "--store", str(tmp_path / "b.db"), "import", str(backup)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    with perdure.open(tmp_path / "b.db", policy) as other:
        assert [m.content for m in other.list()] == [OTHER]


def test_an_erasure_of_names_ends_where_a_document_cannot_be_read(tmp_path):
    path = tmp_path / "a.db"
    with perdure.open(path, WORDS_ONLY) as memory:
        facts = [{"subject": "Anna Schmidt", "predicate": "home", "value": "Harbour Lane"}]
        gone = memory.remember(ADDRESS, facts=facts).id
        memory.remember("The pot is blue.", facts=[{"subject": "pot", "predicate": "colour", "value": "blue"}])
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("UPDATE document SET data = '{' WHERE shelf = 'fact' AND name LIKE 'pot|%'")
    with perdure.open(path, WORDS_ONLY) as memory, warnings.catch_warnings():
        warnings.simplefilter("ignore", DamageWarning)
        done = erased(memory, gone)
        assert any("Names were not searched for everywhere" in told and "pot|" in told for told in done.unreachable)
        assert all(gone != one.id for one in memory.list(include_archived=True))


@pytest.mark.parametrize("note", ["x'fffe41'", "CAST(x'fffe41' AS TEXT)"])
def test_an_erasure_goes_on_where_the_journal_or_the_log_cannot_be_read(tmp_path, note):
    path = tmp_path / "a.db"
    with perdure.open(path, WORDS_ONLY) as memory:
        first, second = memory.remember(OTHER).operation, memory.remember("Tea is green.").operation
        gone = memory.remember(ADDRESS).id
        memory.recall("release on Tuesday")
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(f"UPDATE operation SET note = {note} WHERE number = 1")
        connection.execute("UPDATE journal SET data = x'00ff' WHERE operation = 2 AND position = 0")
        connection.execute("UPDATE recall_log SET hits = '{'")
    with perdure.open(path, WORDS_ONLY) as memory, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert erased(memory, gone).changed
        assert {str(w.message).partition(".")[0] for w in caught if w.category is DamageWarning} == {
            f"The note of the operation {first} could not be read",
            f"Line 0 of the operation {second} could not be read",
        }
        assert memory.history()[-1].note == "[erased]: it could not be read"
        assert memory.check(full=True) == []
    assert found_in(tmp_path, ADDRESS[:32]) == []


@pytest.mark.parametrize(
    "damage", [lambda words: words[:-40], lambda _: b"\xff\xfe{", lambda _: b"[]\n", lambda _: b"{}\n"]
)
def test_a_backup_that_cannot_be_read_is_named_and_stops_no_erasure(tmp_path, damage):
    policy = {"embedder": {"model": "none"}, "upkeep": {"backup_folder": str(tmp_path / "kept")}}
    with perdure.open(tmp_path / "a.db", policy) as memory:
        kept = memory.remember(ADDRESS).id
        memory.move(kept, "vault", "it matters")
        memory.upkeep("worker", eager=True)
        [backup] = (tmp_path / "kept").glob("*.jsonl")
        whole = backup.with_name(backup.name.replace("-2", "-3", 1))
        whole.write_bytes(backup.read_bytes())
        backup.write_bytes(damage(backup.read_bytes()))
        done = erased(memory, kept)
    assert done.backups == (str(whole),)
    [told] = [note for note in done.unreachable if str(backup) in note]
    assert "could not be read" in told
    assert "delete it" in told
    assert found_in(tmp_path, ADDRESS[:32]) in ([], [str(backup)])


def test_words_that_a_backup_keeps_in_another_memory_are_told(tmp_path):
    policy = {**WORDS_ONLY, "upkeep": {"backup_folder": str(tmp_path / "kept")}}
    with perdure.open(tmp_path / "a.db", policy) as memory:
        gone = memory.remember(ADDRESS).id
        quoting = memory.remember(f"She wrote: {ADDRESS}").id
        for identity in (gone, quoting):
            memory.move(identity, "vault", "it matters")
        memory.upkeep("worker", eager=True)
        [backup] = (tmp_path / "kept").glob("*.jsonl")
        done = erased(memory, gone)
        assert [place for place in done.places if "backup" in place] == [
            f"In the backup {backup}: memory {quoting} of namespace default holds words of an erased memory."
        ]


def test_a_name_that_a_backup_keeps_beside_the_words_of_another_memory_is_told(tmp_path):
    policy = {**WORDS_ONLY, "upkeep": {"backup_folder": str(tmp_path / "kept")}}
    with perdure.open(tmp_path / "a.db", policy) as memory:
        given = {"tags": ["anna-schmidt"]}, {"metadata": {"told": "Anna Schmidt"}}, {"source": "mail of Anna Schmidt"}
        kept = [memory.remember(f"The bins go out on day {n}.", **more).id for n, more in enumerate(given)]
        memory.remember(ADDRESS, facts=[{"subject": "Anna Schmidt", "predicate": "home", "value": "Harbour Lane"}])
        for identity in kept:
            memory.move(identity, "vault", "it matters")
        memory.upkeep("worker", eager=True)
        [backup] = (tmp_path / "kept").glob("*.jsonl")
        done = erased(memory, subject="Anna Schmidt")
        assert {place for place in done.places if "backup" in place} == {
            f"memory {identity} ({column}) in the backup {backup} holds an erased name."
            for identity, column in zip(kept, ("tags", "metadata", "source"), strict=True)
        }
        backup.unlink()
        assert not any("backup" in place for place in erased(memory, kept[0]).places)


def test_another_process_that_reads_does_not_hide_what_is_left(tmp_path):
    """While somebody keeps an old snapshot, the log of writes holds the words: that is said, and mended later."""
    path = tmp_path / "a.db"
    with perdure.open(path, {"embedder": {"model": "none"}}) as memory:
        kept = memory.remember(ADDRESS)
        reader = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM memory").get == 1
        done = erased(memory, kept.id)
        assert any("while another process reads" in sentence for sentence in done.unreachable)
        assert done.places
        reader.execute("COMMIT")
        reader.close()
        other = memory.remember(OTHER)
        assert erased(memory, other.id).places == ()
    assert found_in(tmp_path, ADDRESS[:32]) == []


def test_what_was_archived_long_ago_is_erased_where_the_policy_says_so(opening, clock):
    memory = opening({"embedder": {"model": "none"}, "upkeep": {"erase_archived_days": 30}})
    old, kept, pinned = (memory.remember(text).id for text in (ADDRESS, OTHER, "The kettle stays on the third shelf."))
    memory.archive(old, "moved away")
    memory.archive(pinned, "hidden, not gone")
    memory.pin(pinned)
    clock.passes(days=29)
    memory.upkeep("worker", eager=True)
    assert memory.get(old, include_archived=True).content == ADDRESS
    clock.passes(days=2)
    done = memory.upkeep("worker", eager=True)
    assert [run.note for run in done.runs if run.task == "erase"] == ["1 erased for good"]
    assert {m.id for m in memory.list(include_archived=True)} == {kept, pinned}
    with pytest.raises(NotFound, match="erased by maintenance: archived for 30 days"):
        memory.why(old)


def test_nothing_is_erased_by_itself_by_default(memory, clock):
    old = memory.remember(ADDRESS).id
    memory.archive(old, "moved away")
    clock.passes(days=4000)
    memory.upkeep("worker", eager=True)
    assert memory.get(old, include_archived=True).content == ADDRESS


def test_short_words_leave_a_reason_whole_and_once():
    """A text inside the mark of another, or inside a word, was taken for an erased one."""
    redactor = Redactor(Erasure(frozenset({ID}), ("a", "ok", "王伟", " B+ ")))
    image = json.dumps({"memory": ID})
    assert redactor.reason("ok, a book took Anna: ok", image) == f"{ERASED}, {ERASED} book took Anna: {ERASED}"
    assert redactor.reason("[erased] a", image) == f"[erased] {ERASED}"
    assert redactor.reason("因为王伟说, B+s", image) == f"因为{ERASED}说, {ERASED}s"
    assert redactor.reason("ok, a", "{}") == "ok, a"


def test_a_file_deletes_after_an_erasure_as_before(tmp_path):
    with closing(open_file(str(tmp_path / "a.db"))) as connection:
        found = [connection.pragma("secure_delete")]
        with overwriting(connection):
            found.append(connection.pragma("secure_delete"))
        assert [*found, connection.pragma("secure_delete")] == [2, 1, 2]  # FAST, ON, FAST


READER = """
import sqlite3, sys
opened = sqlite3.connect(sys.argv[1])
opened.execute("SELECT count(*) FROM memory").fetchall()
opened.close()
"""


def test_what_is_stored_after_an_erasure_is_seen_by_other_processes(tmp_path):
    """Closing a file takes away all locks of the process on it, SQLite's too; then others delete the log of writes."""
    path = tmp_path / "agent.db"
    with perdure.open(path, {"embedder": {"model": "none"}}) as memory:
        gone = memory.remember("Quorra Zebulon lives in the old lighthouse.")
        confirmed = memory.erase([gone.id], reason="asked").confirm
        memory.erase([gone.id], reason="asked", confirm=confirmed, dry_run=False)
        subprocess.run([sys.executable, "-c", READER, str(path)], check=True, timeout=60)
        kept = memory.remember("The lighthouse has a new keeper.")
        asked = f"import sqlite3; print(sqlite3.connect({str(path)!r}).execute('SELECT id FROM memory').fetchall())"
        seen = subprocess.run([sys.executable, "-c", asked], check=True, timeout=60, capture_output=True, text=True)
        assert kept.id in seen.stdout


@pytest.mark.parametrize("store", STORES[1:], indirect=True)
def test_a_server_sends_only_the_rows_that_may_hold_a_few_erased_words(opening, monkeypatch):
    """It has all rows of all namespaces to search, and few of them are of interest."""
    memory = opening(WORDS_ONLY)
    for n in range(30):
        memory.remember(f"Boat number {n} lies in the harbour.")
    held = memory.remember(f"So she said: {ADDRESS.upper()} It is true.", tags=["100%"]).id
    sent = []
    stream = PostgresSession.stream

    def counted(session, name, /, **bindings):
        for row in stream(session, name, **bindings):
            sent.append(row)
            yield row

    monkeypatch.setattr(PostgresSession, "stream", counted)
    places = erased(memory, memory.remember(ADDRESS).id).places
    assert f"memory {held} of namespace default holds words of an erased memory." in places
    assert len(sent) < 10
    odd = memory.remember(r"Path C:\boats_%s is 100% of 50_000").id
    kept = memory.remember(r"See: Path C:\boats_%s is 100% of 50_000, Path C:/boats").id
    assert f"memory {kept} of namespace default holds words of an erased memory." in erased(memory, odd).places

"""Recall and its counting, why, why_not, history, stats, digest: reading is no access unless it says so."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

import perdure
from conftest import HARSH, WORDS_ONLY, Clock, HashEmbedder, on_a_file, on_two_servers_too, opened, tables
from perdure.compose import store_at
from perdure.records.errors import InvalidInput, NotFound, StoreUnavailable
from perdure.records.identifier import short_id


@pytest.fixture(params=["words", "meaning"])
def filled(request, opening):
    memory = opening(embedder=HashEmbedder() if request.param == "meaning" else None)
    memory.remember_many([f"zebra number {i}" for i in range(12)])
    memory.remember("the deploy is on tuesday", tags=["ops"])
    return memory


def test_reading_is_no_access(filled, path, clock):
    one = filled.list()[0]
    clock.passes(days=9)
    before = tables(path)
    for _ in range(3):
        assert filled.recall("zebra", touch=False).id == ""
        filled.get(one.id)
        filled.list()
        filled.why(one.id)
        filled.why_not(one.id, "zebra")
        filled.history(one.id)
        filled.history()
        filled.stats()
        filled.digest()
        filled.forecast(99)
        filled.sweep(dry_run=True)
        filled.namespaces()
    assert tables(path) == before


def test_each_counting_recall_counts_each_hit_once(filled, clock):
    expected = {}
    for i in range(40):
        if i % 3:
            clock.passes(minutes=1)  # else twice at one instant
        found = filled.recall(f"zebra {i % 12}", limit=1 + i % 4)
        assert found.id
        for hit in found.hits:
            expected[hit.memory.id] = expected.get(hit.memory.id, 0) + 1
        if i == 20:
            filled.sweep()
    counts = {m.id: m.access_count for m in filled.list(limit=100) if m.access_count}
    assert counts == expected
    filled.sweep()
    assert {m.id: m.access_count for m in filled.list(limit=100) if m.access_count} == expected


def test_counts_survive_closing(filled, opening):
    filled.recall("zebra", limit=3)
    filled.close()
    assert sum(m.access_count for m in opening().list(limit=100)) == 3


def test_a_recall_log_keeps_what_was_asked_newest_first_or_nothing(opening, elsewhere):
    for entries in (5, 0):
        memory = opening({**WORDS_ONLY, "recall": {"log_entries": entries}}, at=(place := elsewhere()))
        kept = memory.remember("zebra")
        for i in range(3):
            memory.recall(f"zebra{'?' * i}")
        with store_at(place) as store:
            log = store.recalls("default", 100)
        expected = [("zebra??", (kept.id,)), ("zebra?", (kept.id,)), ("zebra", (kept.id,))]
        assert [(text, hits) for *_, text, hits in log] == (expected if entries else [])


def test_nothing_known_is_said_and_not_counted(filled, path):
    before = tables(path)
    found = filled.recall("quantum chromodynamics lecture")
    assert (found.hits, found.nothing_known) == ((), True)
    assert "no stored memory matches" in found.note
    assert tables(path) == before


def test_a_score_is_the_sum_of_its_parts(filled):
    found = filled.recall("zebra number 7", limit=5)
    for hit in found.hits:
        assert hit.score == pytest.approx(sum(hit.parts.values()))
    assert [h.score for h in found.hits[:1]] == [max(h.score for h in found.hits)]
    assert found.hits[0].memory.content == "zebra number 7"


def test_what_is_archived_appears_nowhere_unless_asked_for(filled, clock):
    hidden = filled.recall("deploy").hits[0].memory.id
    filled.archive(hidden, "test")
    assert hidden not in [h.memory.id for h in filled.recall("deploy tuesday").hits]
    assert hidden not in [m.id for m in filled.list()]
    assert hidden not in filled.digest()
    assert filled.get(hidden) is None
    assert filled.stats().tiers == {"warm": 12}
    assert filled.get(hidden, include_archived=True).status == "archived"
    assert hidden in [h.memory.id for h in filled.recall("deploy", include_archived=True).hits]
    assert hidden in [m.id for m in filled.list(include_archived=True)]
    assert filled.why(hidden).next_move.startswith("Next: nothing; it is archived")
    clock.passes(days=1)
    filled.restore(hidden)
    clock.passes(days=1)
    filled.sweep()
    assert hidden in [h.memory.id for h in filled.recall("deploy").hits]


def test_why_not_names_what_kept_it_out(filled):
    one = filled.recall("deploy").hits[0].memory
    ask = filled.why_not
    assert ask(one.id, "deploy tuesday").kept_out_by == "nothing"
    assert ask(one.id, "deploy", tags=["absent"]).kept_out_by == "filters"
    later = ask(one.id, "deploy", kinds=["fact"], until=one.created_at - timedelta(days=1))
    assert later.explanation == "it is found only without the filters kinds and until"
    assert ask(one.id, "deploy", min_confidence=0.99).kept_out_by in {"filters", "min_confidence"}
    zebras = filled.recall("zebra", limit=100, touch=False).hits
    assert ask(zebras[-1].memory.id, "zebra", limit=2).kept_out_by == "rank"
    filled.archive(one.id, "test")
    assert ask(one.id, "deploy").kept_out_by == "status"
    assert ask(one.id, "deploy", include_archived=True).kept_out_by == "nothing"


def test_why_not_tells_the_place_in_the_answer_and_not_that_of_the_search(memory):
    question = "What is the north gate code?"
    words = "North gate code note {}: gate code gate code north."
    told = [memory.remember(words.format(n), importance=n / 10).id for n in range(6)]
    new = memory.remember("North gate, new note: the code hangs on the board.", replaces=[told[0]]).id
    shown = {*told[1:], new}
    assert {h.memory.id for h in memory.recall(question, limit=100, touch=False).hits} == shown
    for limit in (1, 2, 3):
        answer = [h.memory.id for h in memory.recall(question, limit=limit, touch=False).hits]
        ranked = set()
        for identity in sorted(shown):
            absence = memory.why_not(identity, question, limit=limit)
            assert (absence.kept_out_by == "nothing") is (identity in answer)
            if absence.explanation.startswith("it ranks"):
                assert absence.rank > limit, absence
                ranked.add(absence.rank)
            elif absence.kept_out_by == "rank":
                assert absence.explanation.startswith(f"the search has it at rank {absence.rank}; of its first ")
        assert len(ranked) >= 2


def test_why_not_tells_the_place_of_what_is_in_the_answer_for_another_hit(clock):
    """It said that it is too unlike the question, of a memory that a longer answer has behind what it belongs to."""
    home = {"subject": "user", "predicate": "home"}
    question = "Do I have a cat or parrot in Leeds?"
    with perdure.open(":memory:", clock=clock, embedder=None) as memory:
        memory.remember("I live in Leeds with my cat and parrot.", facts=[{**home, "value": "Leeds"}])
        clock.passes(days=1)
        moved = memory.remember("We moved.", facts=[{**home, "value": "York"}]).id
        place = [h.memory.id for h in memory.recall(question, limit=6, touch=False).hits].index(moved) + 1
        assert place > 1
        absence = memory.why_not(moved, question, limit=1)
    assert (absence.kept_out_by, absence.rank) == ("rank", place)
    assert absence.explanation.startswith(f"it ranks {place} of ")


def test_why_not_says_of_what_has_ended_that_it_has(memory, clock):
    """It spoke of the time asked about where no time was asked about."""
    mayor = {"subject": "Bruno", "predicate": "role", "value": "mayor", "valid_to": "2026-01-20"}
    memory.remember("Bruno is mayor.", facts=[mayor])
    fact = memory.facts("Bruno")[0].id
    clock.passes(days=30)
    absence = memory.why_not(fact, "Who is mayor?")
    assert absence.kept_out_by == "status"
    assert absence.explanation.startswith("it has ended; recall with include_archived, or as_of a day before its end")
    assert memory.why_not(fact, "Who is mayor?", include_archived=True).kept_out_by == "nothing"
    asked = memory.why_not(fact, "Who is mayor?", as_of=clock())
    assert asked.kept_out_by == "filters"
    assert asked.explanation.startswith("it does not hold at the time asked about")


def test_why_not_agrees_with_recall_about_kinds_and_times(memory, clock):
    old, start = memory.remember("The harbour office opens at nine.").id, clock()
    clock.passes(days=10)
    new = memory.remember("The harbour office closes at five.").id
    later = clock()
    clock.passes(days=10)
    memory.archive(old, "gone")
    day = timedelta(days=1)
    asked = [
        {"kinds": ["note"]},
        {"kinds": ["episode"]},
        {"since": later - day},
        {"until": start + day},
        {"until": start + day, "include_archived": True},
        {"as_of": start + day},
        {"as_of": later + day},
    ]
    for filters in asked:
        hits = {h.memory.id for h in memory.recall("harbour office", touch=False, **filters).hits}
        told = {i for i in (old, new) if memory.why_not(i, "harbour office", **filters).kept_out_by == "nothing"}
        assert told == hits, filters
    told = memory.why_not(new, "harbour office", until=start + day)
    assert told.kept_out_by == "filters"
    assert "until" in told.explanation


def test_why_tells_signals_history_and_what_comes_next(filled, clock):
    one = filled.recall("deploy").hits[0].memory
    clock.passes(days=8)
    filled.sweep()
    told = filled.why(one.id)
    assert set(told.signals) == {"importance", "confidence", "strength", "retention", "value", "form"}
    assert sum(told.value_parts.values()) == pytest.approx(filled.get(one.id).value, abs=1e-5)
    assert {e.operation for e in told.history} == {"remember", "sweep"}
    assert all(e.because for e in told.history)
    assert told.next_move.startswith("Next: ")
    assert told.to_dict()["history"][0]["because"]


@pytest.mark.parametrize("verb", ["why", "pin", "unpin", "restore", "undo", "history"])
def test_an_unknown_id_is_not_found(filled, path, verb):
    before = tables(path)
    with pytest.raises(NotFound):
        getattr(filled, verb)("no-such-id")
    assert filled.get("no-such-id") is None
    with pytest.raises(NotFound):
        filled.archive("no-such-id", "reason")
    with pytest.raises(NotFound):
        filled.why_not("no-such-id", "zebra")
    assert tables(path) == before


def test_stats_add_up(filled, clock):
    one = filled.list()[0]
    filled.archive(one.id, "test")
    clock.passes(days=8)
    stats = filled.stats()
    assert (stats.memories, sum(stats.statuses.values())) == (12, 13)
    assert sum(stats.tiers.values()) == sum(stats.kinds.values()) == stats.sampled == 12
    assert stats.due_now == filled.sweep(dry_run=True).examined == 12
    assert stats.value_percentiles["p10"] <= stats.value_percentiles["p50"] <= stats.value_percentiles["p90"]


def test_high_values_that_would_soon_be_hidden_are_named(opening, clock):
    memory = opening(HARSH)
    kept = memory.remember_many([f"note {i}" for i in range(5)])
    foreseen = {m.id for m in memory.forecast(30, details=True).moved if m.move == "cold to archived"}
    assert {i for i, *_ in memory.stats().at_risk} == foreseen == {m.id for m in kept}  # in warm, too
    clock.passes(days=7, minutes=1)
    assert memory.sweep().tally == {"warm to cold": 5}
    at_risk = memory.stats().at_risk
    assert {i for i, *_ in at_risk} == {m.id for m in kept}
    assert all(value > 0 and when == memory.get(i).due_at for i, value, when in at_risk)


@pytest.mark.parametrize("store", ["sqlite", "postgres"], indirect=True)
def test_a_short_recall_log_is_never_longer_than_the_policy_says(opening, clock, raw_store):
    memory = opening({**WORDS_ONLY, "recall": {"log_entries": 3}})
    memory.remember("zebra")
    for i in range(8):
        clock.passes(seconds=1)
        memory.recall("zebra" + "?" * i)
        log = [len(query) - len("zebra") for _, _, query, _ in raw_store.recalls("default", 100)]
        assert log == list(range(i, max(-1, i - 3), -1))


@pytest.mark.parametrize("profile", ["tokens", "claude-code", "hermes", "openclaw"])
def test_a_digest_keeps_its_budget_and_is_the_same_twice(opening, profile):
    memory = opening()
    memory.remember_many([f"fact number {i}: the colour of thing {i} is shade {i * 7}" for i in range(400)])
    told = memory.digest_details(profile=profile)
    assert told.text == memory.digest(profile=profile)
    assert all(short_id(i) in told.text for i in told.ids)
    assert 5 < len(told.ids) <= 400
    limits = {"hermes": 2200, "openclaw": 20_000, "claude-code": 25_000}
    assert len(told.text) <= limits.get(profile, 10**9)
    if profile == "tokens":
        assert told.tokens <= 2000


def test_pins_and_archives_are_idempotent(memory, path):
    kept = memory.remember("zebra")
    memory.pin(kept.id)
    memory.archive(kept.id, "test")
    before = tables(path)
    assert memory.pin(kept.id).memory.pinned
    assert memory.archive(kept.id, "again").memory.status == "archived"
    assert tables(path) == before
    memory.restore(kept.id)
    before = tables(path)
    assert memory.restore(kept.id).memory.status == "active"
    assert tables(path) == before


def test_what_is_pinned_does_not_move_and_goes_on_from_when_it_is_unpinned(opening, clock):
    memory = opening(HARSH)
    kept = memory.remember("zebra")
    memory.pin(kept.id)
    clock.passes(days=400)
    assert memory.sweep().moved == ()
    assert memory.get(kept.id).due_at is None
    memory.unpin(kept.id)
    assert memory.sweep().moved == ()
    clock.passes(days=7)
    assert memory.sweep().tally == {"warm to cold": 1}
    clock.passes(days=1)
    assert memory.sweep().tally == {"cold to archived": 1}


def test_pages_and_limits_are_checked(memory):
    for limit in (0, -1, 1001, 1.5, "5", None, True, 10**400):
        with pytest.raises(InvalidInput):
            memory.recall("x", limit=limit)
        with pytest.raises(InvalidInput):
            memory.list(limit=limit)
        with pytest.raises(InvalidInput):
            memory.history(limit=limit)


@on_two_servers_too
@pytest.mark.parametrize("size", [1, 2, 3])
def test_memories_of_one_millisecond_are_neither_lost_nor_repeated_where_a_page_ends(memory, clock, size):
    said = clock()
    memory.remember_many([f"zebra number {n}" for n in range(4)])
    clock.passes(hours=2)
    for n in range(4, 7):  # stored later, of the same millisecond
        memory.remember(f"zebra number {n}", at=said)
    memory.remember("the last zebra")
    pages = [memory.list(limit=size)]
    while pages[-1]:
        pages.append(memory.list(limit=size, before=pages[-1][-1].id))
    listed = [m.id for page in pages for m in page]
    assert [len(page) for page in pages[:-2]] == [size] * (len(pages) - 2)
    assert len(listed) == len(set(listed)) == 8
    assert listed == [m.id for m in memory.list(limit=50)]


def test_what_became_of_memories_is_counted_from_the_journal_without_what_was_undone(elsewhere):
    clock = Clock()
    with opened(elsewhere(), {**WORDS_ONLY, "preset": "facts"}, clock) as memory:
        old = memory.remember_many([f"The gate {n} opens at {n}." for n in range(4)])
        assert memory.stats().journal.events == {"stored": (4, 4)}
        clock.passes(days=3)
        memory.archive(old[0].id, "x")
        memory.restore(old[0].id)
        memory.update(old[1].id, "The gate opens at noon.")
        memory.remember("Not for long.")
        memory.undo("last")
        kept = memory.archive(old[2].id, "y")
        memory.undo(kept.operation)
        memory.undo(memory.history(limit=1)[0].id)  # archived after all
        gone = memory.erase([old[3].id], reason="asked for")
        memory.erase([old[3].id], reason="asked for", confirm=gone.confirm, dry_run=False)
        memory.remember("Elsewhere.", "other")
        found = memory.stats(namespace="default").journal
        assert found.whole
        assert found.events == {
            "archived": (2, 2),
            "erased": (1, 1),
            "restored": (1, 1),
            "stored": (1, 4),  # what was erased is in no other count
            "superseded": (1, 1),
        }
        assert memory.stats().journal.events["stored"] == (2, 5)
        clock.passes(days=40)
        moved = memory.sweep()
        there = {m.id for m in moved.moved if m.namespace == "default" and "archived" not in m.move}
        assert memory.stats(namespace="default").journal.events["moved"] == (len(there), len(there))
        assert there


@on_a_file
def test_shorter_forms_are_counted_and_beyond_a_number_of_changes_only_the_newest(elsewhere, monkeypatch):
    with opened(elsewhere(), WORDS_ONLY, Clock()) as memory:
        long = [
            f"Report {n} says that the bridge is closed on day {n}. The detour takes an hour." * 6 for n in range(5)
        ]
        memory.remember_many(long)
        done = memory.fit(tokens=200, dry_run=False)
        shorter = [one for one in done.refitted if "archived" not in one.move]
        assert shorter
        assert memory.stats().journal.events["shortened"] == (len(shorter), len(shorter))
        monkeypatch.setattr("perdure.operations.monitoring.EVENTS", 3)
        found = memory.stats().journal
        assert not found.whole
        assert found.events["shortened"][1] <= 3
        assert "stored" not in found.events


@pytest.mark.parametrize(
    "call",
    [lambda m: m.remember("the deploy is on tuesday"), lambda m: m.recall("deploy"), lambda m: m.sweep()],
    ids=["remember", "recall", "sweep"],
)
def test_a_closed_store_says_that_it_is_closed(memory, call):
    memory.remember("the river is cold in march")
    memory.close()
    with pytest.raises(StoreUnavailable, match="was closed"):
        call(memory)


@pytest.mark.parametrize("days", [9, 200])
def test_why_names_the_moves_that_wait_for_a_sweep(memory, clock, days):
    identity = memory.remember("The harbour office opens at nine.", importance=0.6, confidence=0.9).id
    clock.passes(days=days)
    coming = memory.forecast(0, details=True).moved
    assert coming
    told = memory.why(identity)
    assert all(move.because in told.next_move for move in coming), (told.next_move, coming)
    assert "waits for a sweep" in told.next_move
    assert told.next_move in told.summary
    assert {(m.id, m.because) for m in memory.sweep().moved} == {(m.id, m.because) for m in coming}
    assert "waits for a sweep" not in memory.why(identity).next_move


def test_importance_can_be_calculated_from_what_why_says(memory, clock):
    identity = memory.remember("The harbour office opens at nine.", importance=0.6).id
    clock.passes(days=3)
    memory.recall("harbour office")
    clock.passes(days=10)
    told = memory.why(identity).signals["importance"]
    number = r"(\d+\.\d+)"
    parts = re.search(rf"{number}: base {number}, {number} days .* {number} of the loss .* adds {number} to", told)
    shown, base, days, given_back, added = map(float, parts.groups())
    assert (base, days) == (pytest.approx(0.6 + added), 10.0)
    left = 2 ** (-days / (30 * 1.5 * (1 + base)))
    assert shown == pytest.approx(base * (left + given_back * (1 - left)), abs=0.001)

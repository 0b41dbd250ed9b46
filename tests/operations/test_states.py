"""The two state machines are tables: what they promise, and that the engine keeps to them."""

from __future__ import annotations

from contextlib import suppress

import pytest

from conftest import WORDS_ONLY, HashEmbedder
from perdure.knowledge.rules.fact_records import (
    TABLE,
    TERMINAL,
    FactEvent,
    FactState,
    accepts_event,
    state_of,
    status_after,
)
from perdure.records.errors import PerdureError
from perdure.records.instant import to_instant
from perdure.records.memory import Status

KNOWLEDGE = {**WORDS_ONLY, "preset": "facts"}
SAME = "The invoices are sent on Fridays at noon from the office in Lyon."


@pytest.fixture
def memory(opening):
    return opening(KNOWLEDGE)


def a_fact(memory, clock):
    at = clock().isoformat()
    memory.ingest([{"content": "Remember, I live in Lyon.", "role": "user", "at": at}], session="s")
    return memory.facts()[0].id


def state(raw_store, memory, clock, identity):
    record = raw_store.get("default", [identity])[0]
    return state_of(record.state, memory.policy, to_instant(clock()))


def aged(raw_store, memory, clock):
    identity = a_fact(memory, clock)
    clock.passes(days=91)
    assert state(raw_store, memory, clock, identity) is FactState.AGING
    return identity


def again(memory, clock, words="I live in Lyon."):
    memory.ingest([{"content": words, "role": "user", "at": clock().isoformat()}], session=f"at {clock()}")


PARIS = {"subject": "user", "predicate": "home", "value": "Paris", "replaces": "Lyon"}
HAPPENS = {
    FactEvent.REINFORCED: lambda m, _, clock: again(m, clock),
    FactEvent.VALIDATED: lambda m, i, _: m.confirm(i),
    FactEvent.AGED: lambda *_: None,
    FactEvent.REPLACED: lambda m, *_: m.learn(claims=[PARIS]),
    FactEvent.ENDED: lambda m, _, clock: again(m, clock, "I no longer live in Lyon."),
    FactEvent.DENIED: lambda m, i, _: m.deny(i),
    FactEvent.UNANSWERED: lambda m, *_: m.sweep(),
    FactEvent.RESTORED: lambda m, i, _: m.restore(i),
}


@pytest.mark.behaviour("KN20", "KN21", "KN22", "KN23", "KN24", "KN25")
@pytest.mark.parametrize("row", TABLE, ids=lambda r: f"{r.source}-{r.event}")
def test_each_row_of_the_table_of_facts_happens(memory, clock, row, raw_store):
    if row.source is FactState.AGING or row.event is FactEvent.AGED:
        identity = aged(raw_store, memory, clock)
    elif row.source is FactState.SUPERSEDED:
        past = {"subject": "user", "predicate": "home", "value": "Lyon", "valid_to": "2020-01-01"}
        (identity,) = memory.learn(claims=[past | {"valid_from": "2018-01-01"}]).created
    else:
        identity = a_fact(memory, clock)
        clock.passes(days=1)
    if row.source is FactState.ARCHIVED and row.event is FactEvent.REPLACED:
        clock.passes(days=180)
        memory.sweep()  # one that was archived for its age is still known by name
    elif row.source is FactState.ARCHIVED:
        memory.archive(identity, "test")
    if row.event is FactEvent.UNANSWERED:
        clock.passes(days=90)
    if row.event is not FactEvent.AGED:
        assert state(raw_store, memory, clock, identity) is row.source
    HAPPENS[row.event](memory, identity, clock)
    assert state(raw_store, memory, clock, identity) is row.target


@pytest.mark.behaviour("KN26")
def test_invalidated_is_final_and_superseded_may_only_be_denied():
    assert {FactState.INVALIDATED} == TERMINAL
    assert not [event for event in FactEvent for final in TERMINAL if accepts_event(final, event)]
    assert [event for event in FactEvent if accepts_event(FactState.SUPERSEDED, event)] == [FactEvent.DENIED]
    with pytest.raises(KeyError):
        status_after(FactState.SUPERSEDED, FactEvent.RESTORED)


@pytest.mark.behaviour("KN26")
def test_no_verb_brings_a_replaced_or_a_denied_fact_back(memory, clock, raw_store):
    replaced = a_fact(memory, clock)
    clock.passes(days=1)
    memory.correct(replaced, "Paris")
    (denied,) = (f.id for f in memory.facts())
    memory.deny(denied)
    tries = (
        memory.restore,
        memory.confirm,
        memory.both,
        lambda i: memory.correct(i, "Metz"),
        lambda i: memory.used([i], "helpful"),
        lambda i: memory.reinforce([i]),
        lambda i: memory.move(i, "hot", "it is needed"),
        lambda i: memory.archive(i, "it is over"),
        lambda _: again(memory, clock),
        lambda _: again(memory, clock, "I live in Paris."),
        lambda _: memory.sweep(),
    )
    for act in tries:
        clock.passes(days=40)
        for identity, gone in ((replaced, FactState.SUPERSEDED), (denied, FactState.INVALIDATED)):
            with suppress(PerdureError):
                act(identity)
            assert state(raw_store, memory, clock, identity) is gone
    assert not {replaced, denied} & {f.id for f in memory.facts()}


@pytest.mark.behaviour("KN27")
def test_a_fact_that_is_read_as_aged_is_stored_as_active(memory, clock, raw_store):
    identity = aged(raw_store, memory, clock)
    memory.sweep()
    memory.recall("Where do I live?")
    memory.sweep()
    assert [f.state for f in memory.facts()] == [FactState.AGING]
    assert raw_store.get("default", [identity])[0].state.status is Status.ACTIVE
    assert [e.because for e in memory.history(identity) if "status" in (e.after or {}) and e.before] == []


@pytest.mark.behaviour("KN27")
def test_ageing_is_never_stored():
    stored = {status_after(row.source, row.event) for row in TABLE}
    assert stored == {Status.ACTIVE, Status.SUPERSEDED, Status.INVALIDATED, Status.ARCHIVED}


@pytest.mark.behaviour("KN29")
def test_an_episode_is_archived_restored_merged_and_brought_back(opening, clock):
    memory = opening({**WORDS_ONLY, "consolidate": {"require_dry_run": False}}, HashEmbedder())
    first = memory.remember(SAME, kind="episode")
    clock.passes(days=1)
    second = memory.remember(SAME.removesuffix("."), kind="episode")

    def statuses():
        return sorted(memory.get(m.id, include_archived=True).status.value for m in (first, second))

    assert statuses() == [Status.ACTIVE] * 2
    memory.archive(first.id, "test")
    assert statuses() == [Status.ACTIVE, Status.ARCHIVED]
    memory.restore(first.id)
    assert statuses() == [Status.ACTIVE] * 2
    done = memory.consolidate("default", dry_run=False)
    assert statuses() == [Status.ACTIVE, Status.CONSOLIDATED]
    memory.undo(done.operations[0])
    assert statuses() == [Status.ACTIVE] * 2

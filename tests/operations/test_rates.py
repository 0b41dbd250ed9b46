"""Rates of change, learned from the facts of a namespace, over both stores."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from conftest import START, WORDS_ONLY, bare_fact, logical, tables
from perdure.knowledge.operations.change_rates import known_rates
from perdure.knowledge.records.facts import Fact, FactOrigin, Value, ValueKind
from perdure.knowledge.rules.change_rates import estimate_rates, fact_lifetime, rates_in_use
from perdure.records.errors import InvalidInput
from perdure.records.instant import DAY_MS, to_instant
from perdure.records.memory import Document, Shelf, Status
from perdure.records.policy import Policy
from stores.planning import ended, facts


def day(number):
    return START + timedelta(days=number)


def planted(memory, sort, mean, count, watched, seed, namespace="default"):
    """Facts of one sort whose lives have a known mean, seen for a time: (ids, how many changed)."""
    draw = np.random.default_rng(seed)
    begun = draw.uniform(0.0, watched / 2, count)
    lasts = draw.exponential(mean, count)
    told = [(f"{sort} number {n}", sort, day(float(b))) for n, b in enumerate(begun)]
    ids = facts(memory, *told, namespace=namespace)
    gone = [(i, day(float(b + x))) for i, b, x in zip(ids, begun, lasts, strict=True) if b + x < watched]
    ended(memory, Status.SUPERSEDED, *gone, namespace=namespace)
    return ids, len(gone)


def row(found, sort):
    (one,) = (rate for rate in found.rates if rate.type == sort)
    return one


@pytest.mark.behaviour("002-part-4", "LE-rates-1")
def test_it_learns_what_was_planted(memory, clock):
    """Contacts change monthly, terms once in two years; 40 facts of each, watched for 120 days."""
    clock.passes(days=120)
    _, fast = planted(memory, "contact", 30.0, 40, 120.0, seed=1)
    _, slow = planted(memory, "terms", 700.0, 40, 120.0, seed=2)
    found = memory.rates(dry_run=False)
    contact, terms = row(found, "contact"), row(found, "terms")
    assert (contact.facts, contact.changes, terms.changes) == (40, fast, slow)
    assert contact.low < 0.916 / 30 < contact.high
    assert terms.low < 0.916 / 700 < terms.high
    assert contact.rate == pytest.approx(0.916 / 30, rel=0.25)
    assert contact.in_use
    assert contact.validation_days == pytest.approx(15.0, rel=0.3)  # half of the expected life
    assert known_rates(memory._context, "default") == {r.type: r.rate for r in found.rates if r.in_use}
    assert memory.rates().rates == found.rates


@pytest.mark.behaviour("KW6")
def test_a_learned_rate_says_how_sure_a_fact_is(memory, clock):
    """Contacts that change monthly are doubted sooner than by the policy's 0.01 a day."""
    clock.passes(days=120)
    ids, _ = planted(memory, "contact", 30.0, 40, 120.0, seed=1)
    (hit, *_) = (h for h in memory.recall("contact number", limit=50, touch=False).hits if h.memory.id in ids)
    state = hit.memory.state
    days = (clock() - hit.memory.created_at).total_seconds() / 86_400
    assert hit.memory.confidence == pytest.approx(state.confidence * math.exp(-0.01 * days))
    rate = row(memory.rates(dry_run=False), "contact").rate
    (again,) = (h for h in memory.recall("contact number", limit=50, touch=False).hits if h.memory.id == hit.memory.id)
    assert again.memory.confidence == pytest.approx(state.confidence * math.exp(-rate * days))
    assert again.memory.confidence < hit.memory.confidence


@pytest.mark.behaviour("LE-rates-2")
def test_a_rate_is_used_only_where_changes_and_interval_allow(opening, clock):
    clock.passes(days=100)
    memory = opening()
    ids = facts(memory, *((f"value {n}", "contact", day(0)) for n in range(20)))
    ended(memory, Status.SUPERSEDED, *((i, day(50)) for i in ids[:4]))
    few = row(memory.rates(), "contact")
    assert (few.in_use, few.because) == (False, "4 of 5 changes that it takes")
    ended(memory, Status.SUPERSEDED, (ids[4], day(50)))
    wide = row(memory.rates(), "contact")
    assert (wide.changes, wide.in_use) == (5, False)
    assert "too wide: the upper end is 4.02 times the lower" in wide.because
    ended(memory, Status.SUPERSEDED, (ids[5], day(50)))
    enough = row(memory.rates(dry_run=False), "contact")
    assert (enough.changes, enough.in_use) == (6, True)
    assert enough.exposure_days == pytest.approx(6 * 50 + 14 * 100)
    strict = {**WORDS_ONLY, "knowledge": {"rate_width": 2.0}}
    memory.close()
    assert not row(opening(strict).rates(), "contact").in_use


@pytest.mark.behaviour("LE-rates-3")
def test_nothing_is_written_by_looking_and_an_undo_restores_row_for_row(memory, path, clock):
    clock.passes(days=120)
    planted(memory, "contact", 30.0, 30, 120.0, seed=3)
    before = tables(path)
    memory.rates()
    assert tables(path) == before
    rows = logical(path)
    (operation,) = memory.rates(dry_run=False).operations
    assert memory.rates(dry_run=False).operations == ()  # the same is not written twice
    learned = logical(path)
    assert learned != rows
    back = memory.undo(operation).operation
    assert logical(path) == rows
    memory.undo(back)
    assert logical(path) == learned
    assert memory.check() == []


@pytest.mark.behaviour("LE-rates-4")
def test_what_is_written_is_brought_up_to_date(memory, clock, raw_store):
    clock.passes(days=100)
    ids = facts(memory, *((f"value {n}", "contact", day(0)) for n in range(20)))
    first = memory.rates(dry_run=False)
    assert not row(first, "contact").in_use
    ended(memory, Status.SUPERSEDED, *((i, day(50)) for i in ids[:12]))
    clock.passes(days=1)
    memory.rates(dry_run=False)
    (document,) = raw_store.documents.page("default", Shelf.RATE, ("", ""), 10)
    assert (document.id, document.data["changes"], document.data["in_use"]) == ("contact", 12, True)
    assert document.data["at_ms"] == to_instant(clock())
    told = memory.history(limit=1)[0]
    assert (told.operation, told.note) == ("learn_rates", "learn_rates: 1 sort of facts, 1 in use")


@pytest.mark.behaviour("LE-rates-5")
def test_a_sort_of_which_there_are_no_facts_any_more_loses_its_rate(memory, clock, raw_store):
    clock.passes(days=100)
    facts(memory, ("Friday", "preference", day(0)))
    taken_back = [o.id for o in memory.history(limit=2)]
    memory.rates(dry_run=False)
    for operation in taken_back:
        memory.undo(operation)
    assert memory.rates(dry_run=False).rates == ()
    assert raw_store.documents.page("default", Shelf.RATE, ("", ""), 10) == []


@pytest.mark.behaviour("LE-rates-6")
def test_namespaces_learn_apart(memory, clock):
    clock.passes(days=120)
    planted(memory, "contact", 10.0, 20, 120.0, seed=4, namespace="one")
    planted(memory, "contact", 300.0, 20, 120.0, seed=5, namespace="two")
    assert (
        row(memory.rates("one", dry_run=False), "contact").rate
        > 5 * row(memory.rates("two", dry_run=False), "contact").rate
    )
    assert memory.rates("three").rates == ()
    with pytest.raises(InvalidInput):
        memory.rates("")


def test_the_answer_is_plain_data(memory, clock):
    clock.passes(days=120)
    planted(memory, "contact", 30.0, 10, 120.0, seed=3)
    plain = json.loads(json.dumps(memory.rates().to_dict()))
    assert (plain["namespace"], plain["default"], plain["learned"], plain["operations"]) == ("default", 0.01, False, [])
    assert set(plain["rates"][0]) >= {"type", "facts", "changes", "exposure_days", "rate", "low", "high", "because"}


# --- the rule: what counts


FACT = Fact("f", "gai", "day", "preference", Value("Friday", ValueKind.TEXT, "friday"), FactOrigin.EXPLICIT)
NOW = 100 * DAY_MS


@pytest.fixture(scope="module")
def state():
    """The state of a fact that was said on day 10."""
    import perdure

    with perdure.open(":memory:", policy=WORDS_ONLY, clock=lambda: START) as memory:
        made = bare_fact(memory, "Friday").memory.state
    return replace(made, created_ms=10 * DAY_MS, status_ms=10 * DAY_MS)


@pytest.mark.behaviour("LE-rates-7")
@pytest.mark.parametrize(
    ("status", "at", "fact", "days", "changed"),
    [
        (Status.ACTIVE, 10, {}, 90.0, False),
        (Status.SUPERSEDED, 40, {}, 30.0, True),
        (Status.SUPERSEDED, 50, {"retired": 40 * DAY_MS}, 30.0, True),
        (Status.SUPERSEDED, 40, {"retired": 40 * DAY_MS, "valid_to": 25 * DAY_MS}, 15.0, True),
        (Status.SUPERSEDED, 40, {"retired": 40 * DAY_MS, "valid_to": 5 * DAY_MS}, 30.0, True),  # wrong from the start
        (Status.INVALIDATED, 40, {"retired": 40 * DAY_MS}, 30.0, False),
        (Status.ARCHIVED, 70, {}, 60.0, False),
        (Status.ACTIVE, 10, {"valid_from": 2 * DAY_MS}, 90.0, False),  # nobody watched before it was said
        (Status.ACTIVE, 10, {"valid_from": 95 * DAY_MS}, 5.0, False),
        (Status.ACTIVE, 10, {"valid_from": 120 * DAY_MS}, 0.0, False),
    ],
)
def test_what_counts_as_change_and_as_exposure(state, status, at, fact, days, changed):
    found = fact_lifetime(replace(FACT, **fact), replace(state, status=status, status_ms=at * DAY_MS), NOW)
    assert (found.days, found.changed) == (days, changed)


@pytest.mark.behaviour("LE-rates-8")
def test_what_another_fact_stands_for_is_not_counted_twice(state):
    assert fact_lifetime(FACT, replace(state, status=Status.CONSOLIDATED), NOW) is None


@pytest.mark.behaviour("LE-rates-9")
def test_facts_without_a_sort_keep_the_policys_rate(state):
    gone = replace(state, status=Status.SUPERSEDED, status_ms=20 * DAY_MS)
    lives = [fact_lifetime(replace(FACT, type=""), gone, NOW) for _ in range(50)]
    (one,) = estimate_rates(lives, Policy())
    assert (one.changes, one.in_use) == (50, False)


@pytest.mark.behaviour("LE-rates-10")
def test_only_a_rate_in_use_is_given_out():
    def document(sort, *, in_use):
        return Document(Shelf.RATE, sort, "", {"rate": 0.02, "in_use": in_use})

    documents = [document("contact", in_use=True), document("terms", in_use=False)]
    assert rates_in_use(documents) == {"contact": 0.02}

"""Back-test: past recalls under another policy, over both stores."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from conftest import START, WORDS_ONLY, HashEmbedder, tables, weekly_on_a_server
from perdure.records.errors import InvalidInput, PolicyError

TEXTS = [f"the {colour} boat lies at pier {n}" for n, colour in enumerate(("red", "blue", "green", "white", "black"))]
KEEPING = {**WORDS_ONLY, "archive": {"rule": "never"}, "compression": {"rule": "never"}}
AFTER_A_DAY = {
    **WORDS_ONLY,
    "tiers": {"hot_entry_value": 1.0, "warm_quiet_days": 0.5, "hot_messages": 0},
    "archive": {"rule": "value", "value_below": 1.0, "cold_days": 0.5},
    "gates": {"loss_free_count": 1000},
}
"""What nobody asked for within a day is hidden."""


def day(number):
    return START + timedelta(days=number)


def asked(memory, clock, when, *queries):
    """Ask on a day, and return each answer."""
    clock.now = day(when)
    return [memory.recall(query, limit=2) for query in queries]


@pytest.mark.behaviour("LE-backtest-1")
def test_a_policy_that_hides_everything_after_a_day_would_have_missed_every_hit(opening, clock):
    memory = opening(KEEPING)
    ids = [m.id for m in memory.remember_many(TEXTS)]
    (first,) = asked(memory, clock, 3, "red boat")
    (second,) = asked(memory, clock, 9, "where is the blue boat")
    found = memory.backtest(AFTER_A_DAY)
    hits = len(first.hits) + len(second.hits)
    assert (found.recalls, found.hits, found.other.missing, found.now.missing) == (2, hits, hits, 0)
    assert next((m.recall, m.query, m.useful) for m in found.lost) == (second.id, "where is the blue boat", False)
    assert {m.id for m in found.lost} == {h.memory.id for h in (*first.hits, *second.hits)}
    assert all(m.because.startswith("hidden 2026-01-0") for m in found.lost)
    assert (found.now.visible, found.now.hidden) == (5, 0)
    assert (found.other.visible, found.other.hidden, found.other.tokens) == (0, len(ids), 0)
    assert found.now.tokens == sum(memory.get(i).tokens for i in ids)


def test_what_was_replaced_is_gone_under_any_policy_and_what_a_policy_hid_under_that_one_alone(opening, clock):
    memory = opening(AFTER_A_DAY)
    (first, *_) = memory.remember_many(TEXTS)
    clock.passes(hours=1)
    memory.recall("red boat", limit=2)
    memory.update(first.id, "the red boat was sold to Ana")
    clock.passes(days=5)
    memory.sweep()
    assert memory.list() == []
    found = memory.backtest(KEEPING)
    assert (found.now.visible, found.other.visible, found.other.hidden) == (0, len(TEXTS), 0)


def test_the_last_messages_of_a_talk_would_have_stayed_as_long_as_they_did(opening, clock):
    """They begin in hot, and what begins in warm is hidden a day earlier."""
    policy = {**AFTER_A_DAY, "tiers": {"warm_quiet_days": 0.5}}
    memory = opening(policy)
    memory.ingest([{"content": f"we sail at {n} from pier {n}", "role": "user"} for n in range(12)], session="talk")
    clock.passes(hours=1)
    memory.recall("we sail at 3", limit=1)
    lived, replayed = [], []
    for _ in range(6):
        clock.passes(hours=8)
        memory.sweep()
        lived.append(len(memory.list(limit=100)))
        replayed.append(memory.backtest(policy).now.visible)
    assert replayed == lived
    assert len(set(lived)) == 3  # first the oldest two go, then the others


@weekly_on_a_server
@pytest.mark.behaviour("LE-backtest-2")
def test_the_same_policy_would_have_missed_nothing_and_lived_as_it_did(opening, clock):
    """Sweeps, recalls, use, reinforcement, restore and pin over most of a year: it ends where the store is."""
    policy = {**WORDS_ONLY, "archive": {"rule": "value", "value_below": 0.5, "cold_days": 10}}
    memory = opening({**policy, "gates": {"loss_free_count": 1000}})
    ids = [m.id for m in memory.remember_many([f"{t} in bay {n}" for n in range(6) for t in TEXTS])]
    memory.ingest([{"content": f"we sail at {n}", "role": "user"} for n in range(12)], session="talk")
    for week in range(40):
        clock.now = day(7 * week + 1)
        memory.sweep()  # before each question, as the replay has it
        answer = memory.recall(f"the {('red', 'blue', 'green')[week % 3]} boat in bay {week % 4}", limit=3)
        if week % 4 == 0 and answer.hits:
            memory.used([answer.hits[0].memory.id], "helpful", recall_id=answer.id)
        if week % 5 == 0:
            memory.reinforce(ids[week % 30 : week % 30 + 2])
    memory.pin(ids[20])
    gone = [m.id for m in memory.list(include_archived=True, limit=100) if m.status == "archived"]
    memory.restore(gone[0])
    clock.passes(days=60)
    memory.sweep()
    found = memory.backtest(memory.policy)
    assert (found.now, found.lost) == (found.other, ())
    assert found.now.missing == 0
    seen = memory.list(limit=100)
    assert gone
    assert (found.now.visible, found.now.tokens) == (len(seen), sum(m.tokens for m in seen))
    assert found.now.hidden == 42 - len(seen)


@pytest.mark.behaviour("LE-backtest-3")
def test_precision_and_recall_are_of_what_was_found_useful(opening, clock):
    memory = opening(KEEPING)
    memory.remember_many(TEXTS)
    (soon,) = asked(memory, clock, 0.2, "red boat")
    (late,) = asked(memory, clock, 30, "black boat")
    (untold,) = asked(memory, clock, 40, "white boat")
    memory.used([soon.hits[0].memory.id], "helpful", recall_id=soon.id)
    memory.used([late.hits[0].memory.id], "helpful", recall_id=late.id)
    shown = len(soon.hits) + len(late.hits)
    found = memory.backtest(AFTER_A_DAY)
    assert (found.useful, found.hits) == (2, shown + len(untold.hits))
    assert (found.now.precision, found.now.recall) == (round(2 / shown, 4), 1.0)
    assert (found.other.precision, found.other.recall) == (round(1 / len(soon.hits), 4), 0.5)
    assert [m.id for m in found.lost if m.useful] == [late.hits[0].memory.id]
    assert memory.backtest(AFTER_A_DAY, limit=1).recalls == 1
    assert memory.backtest(AFTER_A_DAY, limit=1).other.recall is None  # of the last one nothing was told


@pytest.mark.behaviour("LE-backtest-4")
def test_what_is_asked_for_stays_under_the_other_policy_too(opening, clock):
    """Accesses of the log happen in the replay: a boat that is asked for twice a day is never cold."""
    memory = opening(KEEPING)
    memory.remember_many(TEXTS)
    for half in range(1, 20):
        clock.now = day(half / 4)
        memory.recall("red boat", limit=1)
    found = memory.backtest(AFTER_A_DAY)
    assert found.other.missing == 0
    assert (found.other.visible, found.other.hidden) == (1, 4)


@pytest.mark.behaviour("LE-backtest-5")
def test_a_shorter_form_is_told_and_costs_fewer_tokens(opening, clock):
    memory = opening(KEEPING, HashEmbedder())
    long = (
        "We talked for a while about the boats and the weather and then about all of the other things there are. " * 6
    )
    kept = memory.remember(f"{long} The red one is at the pier.", importance=0.1, confidence=0.4)
    asked(memory, clock, 40, "red pier")
    other = {**KEEPING, "compression": {"rule": "triggers", "summary_value": 1.0, "least_tokens": 20}}
    found = memory.backtest(other)
    assert (found.other.shortened, found.other.short, found.other.missing) == (1, 1, 0)
    assert found.other.tokens < found.now.tokens == memory.get(kept.id).tokens
    assert found.now.shortened == 0


@pytest.mark.behaviour("LE-backtest-6")
def test_nothing_is_written_and_namespaces_are_apart(opening, path, clock):
    memory = opening(KEEPING)
    memory.remember_many(TEXTS)
    memory.remember_many(TEXTS, namespace="other")
    asked(memory, clock, 5, "red boat")
    before = tables(path)
    found = memory.backtest(AFTER_A_DAY, "other")
    assert (found.recalls, found.hits, found.other.hidden) == (0, 0, 5)
    assert memory.backtest({"preset": "tiered"}).other.preset == "tiered"
    assert tables(path) == before
    plain = json.loads(json.dumps(memory.backtest(AFTER_A_DAY).to_dict()))
    assert plain["other"]["missing"] == len(plain["lost"])
    assert "gates are ignored" in plain["notes"][1]


@pytest.mark.behaviour("LE-backtest-7")
def test_what_is_wrong_is_refused(memory):
    with pytest.raises(PolicyError):
        memory.backtest({"archive": {"rule": "sometimes"}})
    with pytest.raises(InvalidInput, match="policy must be a dict"):
        memory.backtest("other.toml")
    for given in ({"namespace": ""}, {"limit": 0}, {"limit": 1001}):
        with pytest.raises(InvalidInput):
            memory.backtest({}, **given)

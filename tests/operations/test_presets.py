"""The presets evolution and strength, over both stores."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import WORDS_ONLY, bare_fact
from perdure.formulas.strength import Parameters, StrengthCurve

EVOLUTION = {**WORDS_ONLY, "preset": "confidence-decay"}
STRENGTH = {**WORDS_ONLY, "preset": "activation"}


@pytest.fixture
def evolving(opening):
    return opening(EVOLUTION)


@pytest.fixture
def faded(evolving, clock):
    """A memory of confidence 0.8 after 30 days: 0.8 x 0.95^30 = 0.172."""
    kept = evolving.remember("the deploy is on tuesday")
    clock.passes(days=30)
    evolving.sweep()
    return kept


@pytest.mark.behaviour("SG60")
def test_confidence_loses_a_twentieth_a_day(evolving, clock):
    """SPEC-03.16 and 03.28: base x factor ^ days, on real days, from the base and never from its own output."""
    kept = evolving.remember("the deploy is on tuesday")
    for day in range(1, 15):
        clock.passes(days=1)
        evolving.sweep()
        assert evolving.get(kept.id).confidence == pytest.approx(0.8 * 0.95**day)


@pytest.mark.behaviour("SG61")
def test_a_memory_never_accessed_decays_as_if_accessed_once(evolving, clock):
    """SPEC-03.17 with the amplifier at 0 accesses (field.md, trap in 001), and more access fades more slowly."""
    ids = [evolving.remember(words).id for words in ("as if they never happened", "once wanted", "ten times needed")]
    evolving.recall("once wanted", limit=1)
    for _ in range(10):
        evolving.recall("ten times needed", limit=1)
    clock.passes(days=10)
    never, once, often = (evolving.get(i).confidence for i in ids)
    assert never == once == pytest.approx(0.8 * 0.95**10)
    assert often == pytest.approx(0.8 * 0.95 ** (10 / 3.0279307))


@pytest.mark.behaviour("SG62")
def test_below_the_minimum_a_memory_is_archived_at_that_instant(evolving, clock):
    """SPEC-03.18: 0.8 x 0.95^d is below 0.3 from day 19.12 on (ln(0.8 / 0.3) / -ln 0.95)."""
    kept = evolving.remember("the deploy is on tuesday")
    clock.passes(days=19)
    evolving.sweep()
    assert evolving.get(kept.id).status == "active"
    clock.passes(days=20)
    evolving.sweep()
    gone = evolving.get(kept.id, include_archived=True)
    assert gone.status == "archived"
    assert (gone.state.status_ms - gone.state.created_ms) / 86_400_000 == pytest.approx(19.12198, abs=1e-4)


@pytest.mark.behaviour("SG67")
def test_the_archive_is_never_emptied(faded, evolving, clock):
    """SPEC-03.18, 03.24, 03.30: nothing is deleted, however long it lies there."""
    for _ in range(5):
        clock.passes(days=3650)
        evolving.sweep()
        evolving.decay(dry_run=False)
    assert evolving.get(faded.id, include_archived=True).content == "the deploy is on tuesday"
    assert evolving.stats().statuses == {"archived": 1}


@pytest.mark.behaviour("SG63")
def test_when_decay_runs_makes_no_difference(evolving, opening, elsewhere, clock):
    """SPEC-03.19: daily, or once at the end."""
    other = opening(EVOLUTION, at=elsewhere())
    daily, once = evolving.remember("a note"), other.remember("a note")
    for _ in range(30):
        clock.passes(days=1)
        evolving.sweep()
    other.sweep()
    first, second = (m.get(i.id, include_archived=True) for m, i in ((evolving, daily), (other, once)))
    assert first.status == second.status == "archived"
    assert first.state.status_ms == second.state.status_ms


@pytest.mark.behaviour("SG64")
def test_each_transition_is_logged_with_its_reason(faded, evolving):
    """SPEC-03.20."""
    (entry,) = [e for e in evolving.history(faded.id) if (e.after or {}).get("status") == "archived"]
    assert entry.operation == "sweep"
    assert "the confidence has fallen below 0.3 (confidence 0.300)" in entry.because


@pytest.mark.behaviour("SG65")
def test_archived_memories_are_found_only_where_asked_for(faded, evolving):
    """SPEC-03.21 and 03.22."""
    assert evolving.recall("deploy tuesday").hits == ()
    assert evolving.list() == []
    assert evolving.recall("deploy tuesday", include_archived=True).hits[0].memory.id == faded.id
    assert [m.id for m in evolving.list(include_archived=True)] == [faded.id]


@pytest.mark.behaviour("SG66")
def test_a_restored_memory_is_long_term_and_stays(faded, evolving, clock):
    """SPEC-03.23."""
    back = evolving.restore(faded.id)
    assert (back.memory.status, back.memory.scope) == ("active", "long_term")
    clock.passes(days=10)
    evolving.sweep()
    assert evolving.recall("deploy tuesday").hits[0].memory.id == faded.id


def test_only_long_term_memories_fade(evolving, clock):
    """Factor 0.95 a day, long-term scope only."""
    kept = evolving.remember("said in a talk", session="talk")
    clock.passes(days=300)
    evolving.sweep()
    assert evolving.get(kept.id).confidence == 0.8


# --- strength


def column(scope):
    """The table of strength: the columns MTM and LTM, and values for what it leaves out."""
    own = {
        "session": {
            "baseline": 0.06,
            "passive_half_life": 2400,
            "reinforcement_half_life": 1200,
            "max_decay_per_cycle": 0.25,
            "manual_multiplier": 3.0,
            "unit": 1.2,
            "forgetting_threshold": 0.12,
        },
        "long_term": {
            "baseline": 0.08,
            "passive_half_life": 43200,
            "reinforcement_half_life": 14400,
            "max_decay_per_cycle": 0.15,
            "manual_multiplier": 2.0,
            "unit": 0.9,
            "forgetting_threshold": 0.08,
        },
    }[scope]
    return Parameters(
        **own,
        staleness_half_life=7200,
        minimum=0.02,
        maximum=1.0,
        importance_weight=0.25,
        scale=3.0,
        reinforcement_importance_weight=0.6,
        max_level=12.0,
        max_step=0.25,
        forgetting_importance_weight=0.08,
        floor=0.02,
    )


def strength_at(state, scope, at):
    curve = StrengthCurve(
        np.array([state.strength]), np.array([state.level]), np.array([state.importance]), column(scope)
    )
    return float(curve.value((at - state.strength_ms) / 86_400_000)[0]), float(curve.threshold()[0])


@pytest.mark.behaviour("SG70")
@pytest.mark.parametrize(("scope", "importance"), [("session", 0.2), ("long_term", 0.05)])
def test_a_memory_below_its_threshold_is_forgotten_at_the_exact_instant(opening, clock, scope, importance):
    memory = opening(STRENGTH)
    kept = memory.remember("small talk", importance=importance, session="talk" if scope == "session" else None)
    assert kept.memory.scope == scope
    assert "forgotten at" in memory.why(kept.id).signals["strength"]
    clock.passes(days=30)
    report = memory.sweep()
    gone = memory.get(kept.id, include_archived=True)
    assert gone.status == "archived"
    at = gone.state.status_ms
    now, threshold = strength_at(kept.memory.state, scope, at)
    assert now <= threshold
    assert strength_at(kept.memory.state, scope, at - 3)[0] > threshold
    assert f"threshold {threshold:.3f}" in report.moved[-1].because


@pytest.mark.behaviour("SG71")
@pytest.mark.parametrize("days", [0.02, 0.3, 1, 2])
def test_a_late_sweep_forgets_at_the_instant_of_a_timely_one(opening, elsewhere, clock, days):
    places = [opening(STRENGTH, at=elsewhere()) for _ in range(2)]
    kept = [m.remember("small talk", importance=0.0) for m in places]
    for _ in range(int(4 / days)):
        clock.passes(days=days)
        places[0].sweep()
    places[1].sweep()
    first, second = (m.get(k.id, include_archived=True).state.status_ms for m, k in zip(places, kept, strict=True))
    assert first == second > kept[0].memory.state.created_ms


@pytest.mark.behaviour("SG72")
@pytest.mark.parametrize(
    ("session", "importance", "status"),
    [("talk", 0.29, "archived"), ("talk", 0.31, "active"), (None, 0.11, "archived"), (None, 0.13, "active")],
)
def test_importance_decides_whether_a_memory_is_ever_forgotten(opening, clock, session, importance, status):
    """field.md, trap in 003: from about 0.12 (long-term) and 0.30 (session) on, never."""
    memory = opening(STRENGTH)
    kept = memory.remember("small talk", importance=importance, session=session)
    said = memory.why(kept.id).signals["strength"]
    clock.passes(days=3650)
    memory.sweep()
    assert memory.get(kept.id, include_archived=True).status == status
    assert ("never forgotten, because its importance" in said) == (status == "active")


def test_tasks_and_facts_are_not_forgotten(opening, clock):
    memory = opening(STRENGTH)
    task = memory.remember("of a task", importance=0.0, task="build", session="talk")
    fact = bare_fact(memory, "a fact", importance=0.0)
    clock.passes(days=180)  # from then on a fact that nobody confirms is archived
    memory.sweep()
    for one, why in ((task, "a memory of a task"), (fact, "a fact")):
        assert memory.get(one.id).status == "active"
        assert why in memory.why(one.id).signals["strength"]


def test_reinforcing_puts_forgetting_off(opening, clock):
    memory = opening(STRENGTH)
    plain, wanted = (memory.remember(words, importance=0.0) for words in ("small talk", "useful talk"))
    for _ in range(5):
        memory.reinforce([wanted.id], "set_value", 0.0)
    assert memory.get(wanted.id).due_at > memory.get(plain.id).due_at
    for _ in range(6):
        memory.weaken([wanted.id], 100)
    clock.passes(minutes=1)
    memory.sweep()
    assert memory.get(wanted.id) is None  # at its baseline 0.08, under the threshold 0.12
    assert memory.get(plain.id).status == "active"


@pytest.mark.behaviour("SG76")
def test_use_moves_activation_and_not_importance_and_what_is_unimportant_is_forgotten(opening, clock):
    """Recalls must not make it important: from an importance of 0.12 on nothing is ever forgotten."""
    memory = opening(STRENGTH)
    asked = memory.remember("The lift squeaks on Mondays.", importance=0.05)
    other = memory.remember("The roof leaks in autumn.", importance=0.05)
    clock.passes(hours=12)
    for _ in range(30):
        clock.passes(minutes=1)
        found = memory.recall("lift squeaks", limit=1)
    memory.sweep()
    seen, unseen = memory.get(asked.id), memory.get(other.id)
    assert (seen.importance, seen.state.importance) == (0.05, 0.05)
    assert seen.strength > 2 * unseen.strength
    assert seen.due_at > unseen.due_at
    clock.passes(days=20)
    memory.sweep()
    assert memory.get(asked.id) is None
    assert "strength" in memory.history(asked.id)[-1].because
    helpful = memory.remember("The door sticks.", importance=0.05)
    memory.used([helpful.id], recall_id=found.id)
    assert memory.get(helpful.id).state.importance == 0.05


def test_recalls_strengthen_the_same_whether_they_are_counted_one_by_one_or_together(opening, clock):
    memory = opening(STRENGTH)
    often, once = (memory.remember("The lift squeaks.", namespace=place).id for place in ("often", "once"))
    for _ in range(4):
        clock.passes(minutes=10)
        for place in ("often", "once"):
            memory.recall("lift squeaks", namespace=place, limit=1)
        memory.sweep(namespace="often")
    assert memory.get(often).strength == memory.get(once).strength > 0.5
    memory.sweep()
    assert memory.get(often).state.strength == memory.get(once).state.strength


@pytest.mark.behaviour("SG75")
def test_why_tells_strength_stability_and_form(opening, clock):
    memory = opening({**WORDS_ONLY, "retention": {"curve": "fsrs"}})
    kept = memory.remember("the deploy is on tuesday")
    clock.passes(days=30)
    signals = memory.why(kept.id).signals
    assert "it does not decide when this is archived" in signals["strength"]
    assert signals["strength"].endswith("(archive.rule = both)")
    assert "baseline 0.255, threshold 0.064" in signals["strength"]
    assert "stability 2.31 days" in signals["retention"]
    assert signals["retention"].endswith("a review is suggested")
    assert memory.stats().review_suggested == 1
    assert signals["form"].startswith("full since 2026-01-01 00:00 UTC, ")

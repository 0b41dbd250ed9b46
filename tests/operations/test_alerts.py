"""What a person should see of a store: figures in stats, and alerts with thresholds in the policy."""

from __future__ import annotations

import pytest

from conftest import WORDS_ONLY

FADING = {
    **WORDS_ONLY,
    "archive": {"rule": "value", "value_below": 0.99, "cold_days": 1},
    "tiers": {"hot_messages": 0, "hot_entry_value": 1.0},
}
QUIET = dict.fromkeys(
    (
        "overdue_hours",
        "failures",
        "at_risk",
        "fading_share",
        "held_days",
        "journal_changes",
        "questions",
        "vault_candidates",
    ),
    0,
)


def names(memory, **given):
    return {a.name: a for a in memory.alerts(**given)}


def filled(memory, count=5):
    return [m.id for m in memory.remember_many([f"The {word} gate squeaks." for word in "abcdefghijklmnop"[:count]])]


@pytest.mark.behaviour("MO01")
def test_what_is_about_to_be_archived_is_named_before_it_happens(opening, clock):
    memory = opening(FADING)
    ids = filled(memory)
    memory.pin(ids[0])
    stats = memory.stats()
    assert stats.fading == 4
    assert {i for i, _, _ in stats.about_to_fade} == set(ids[1:])
    found = names(memory)
    assert (found["fading_share"].severity, found["fading_share"].value) == ("warning", 0.8)
    assert found["fading_share"].ids == tuple(i for i, _, _ in stats.about_to_fade)
    assert set(found["at_risk"].ids) == {i for i, _, _ in stats.at_risk} == set(ids[1:])
    assert "pin" in found["at_risk"].message
    clock.passes(days=9)
    memory.sweep()
    assert {i for i in ids if memory.get(i) is None} == set(ids[1:])
    assert not names(memory).keys() & {"fading_share", "at_risk"}


@pytest.mark.behaviour("MO02")
def test_moves_that_wait_are_counted_by_gate_and_told_after_days(opening, clock):
    memory = opening({**FADING, "gates": {"loss_free_count": 0, "loss_share": 0}})
    ids = filled(memory)
    clock.passes(days=9)
    memory.sweep()
    stats = memory.stats()
    assert stats.held == {"loss budget": 5}
    assert {i for i, _ in stats.held_first} == set(ids)
    assert "held_days" not in names(memory)
    clock.passes(days=8)
    told = names(memory)["held_days"]
    assert (told.severity, set(told.ids)) == ("warning", set(ids))
    assert "loss budget 5" in told.message
    memory.sweep(accept_loss="they are not needed")
    assert memory.stats().held == {}
    assert "held_days" not in names(memory)


@pytest.mark.behaviour("MO02")
def test_moves_that_gates_held_back_anew_are_counted_for_a_day_and_a_week(opening, clock):
    memory = opening({**FADING, "gates": {"loss_free_count": 0, "loss_share": 0}, "alerts": {"gate_refusals": 3}})
    ids = filled(memory)
    clock.passes(days=9)
    memory.sweep()
    assert memory.stats().journal.events["held"] == (5, 5)
    told = names(memory)["gate_refusals"]
    assert (told.severity, told.value, told.threshold) == ("warning", 5, 3)
    clock.passes(days=2)
    memory.sweep()  # what waits is not refused anew
    assert memory.stats().journal.events["held"] == (0, 5)
    assert "gate_refusals" not in names(memory)
    memory.sweep(accept_loss="they are not needed")
    clock.passes(days=9)
    assert "held" not in memory.stats().journal.events
    assert not memory.stats().held
    assert memory.get(ids[0]) is None


@pytest.mark.behaviour("MO04")
def test_a_form_whose_memories_lack_value_is_told_where_the_policy_asks_for_it(opening, clock):
    asking = {**WORDS_ONLY, "alerts": {"lacking_value": 0.5}}
    memory = opening(asking)
    memory.remember("The gate squeaks.", importance=0.9)
    assert "lacking_value" not in names(memory)
    clock.passes(days=400)
    (mean,) = memory.stats().value_by_form.values()
    told = names(memory)["lacking_value"]
    assert (told.severity, told.value) == ("warning", pytest.approx(1 - mean, abs=1e-3))
    assert f"form full have a mean value of {mean:.2f}" in told.message
    assert "lacking_value" not in names(opening(WORDS_ONLY))


@pytest.mark.behaviour("MO03")
def test_maintenance_that_does_not_run_is_critical(opening, clock):
    memory = opening(FADING)
    filled(memory)
    clock.passes(days=8)
    assert "overdue_hours" not in names(memory)
    clock.passes(days=3)
    unopened = names(memory)["overdue_hours"]
    assert unopened.severity == "info"  # a project that was simply not opened
    assert "nothing was stored since" in unopened.message
    memory.remember("It is in use.")
    (first, *_) = memory.alerts()
    assert (first.name, first.severity, first.threshold) == ("overdue_hours", "critical", 48.0)
    assert first.message.endswith("run `perdure maintain --once`")  # without --once it does not return
    assert memory.stats().overdue_since is not None
    ahead = memory.forecast(0, details=True)
    assert ahead.overdue == len(ahead.moved) > 0
    memory.sweep()
    assert memory.forecast(0).overdue == 0
    assert "overdue_hours" not in names(memory)
    assert memory.stats().overdue_since is None


def test_what_was_taken_in_late_is_not_overdue_on_its_first_day(opening, clock):
    memory = opening(FADING)
    said = {"content": "The gate squeaks.", "at": clock().replace(year=2020).isoformat()}
    memory.ingest([said], session="old")
    assert "overdue_hours" not in names(memory)


@pytest.mark.behaviour("MO04")
def test_growth_of_the_journal_and_questions_and_values_are_figures(opening, clock):
    memory = opening(WORDS_ONLY)
    ids = filled(memory)
    memory.used([ids[0]], "wrong")
    grown = memory.stats().journal
    assert grown.day == grown.week == grown.total > 5
    clock.passes(days=2)
    stats = memory.stats()
    assert (stats.journal.day, stats.journal.total) == (0, grown.total)
    assert stats.questions == 1
    assert "questions" not in names(memory)  # from twenty on
    assert stats.value_by_form == {"full": pytest.approx(sum(m.value for m in memory.list()) / 5, abs=1e-4)}
    for _ in range(25):
        memory.reinforce(ids)
    assert names(memory)["journal_changes"].value >= 25


@pytest.mark.behaviour("MO04")
def test_questions_that_wait_are_told_from_a_number_on(opening):
    memory = opening({**WORDS_ONLY, "alerts": {"questions": 2}})
    ids = filled(memory)
    memory.used([ids[0]], "wrong")
    assert "questions" not in names(memory)
    memory.used([ids[1]], "wrong")
    told = names(memory)["questions"]
    assert (told.severity, told.value, told.threshold) == ("info", 2, 2)


@pytest.mark.behaviour("MO04")
def test_figures_are_of_each_form_and_of_all_namespaces(opening):
    memory = opening(WORDS_ONLY)
    long = "The gate by the wall was always open in the summer, so that all of the neighbours could come in and sit. "
    memory.remember(long + long.replace("summer", "winter"), importance=0.1)
    memory.remember("The gate squeaks.", importance=0.9)
    memory.fit(tokens=40, accept_loss="a test", dry_run=False)
    doubted = memory.remember("The gate opens at six.", namespace="other").id
    memory.used([*(m.id for m in memory.list()), doubted], "wrong")
    seen = memory.list() + memory.list("other")
    assert {str(m.form) for m in seen} == {"full", "summary"}
    assert memory.stats().value_by_form == {
        form: pytest.approx(sum(some) / len(some), abs=1e-4)
        for form in ("full", "summary")
        for some in [[m.value for m in seen if str(m.form) == form]]
    }
    assert (memory.stats().questions, memory.stats("other").questions) == (3, 1)


@pytest.mark.behaviour("MO05")
def test_what_is_nearly_worth_the_vault_is_a_candidate_until_it_is_there(opening, clock):
    memory = opening({**WORDS_ONLY, "tiers": {"vault_full_accesses": 15}})
    kept = memory.remember("The gate opens at six.", confidence=1.0)
    seen = []
    for _ in range(16):
        clock.passes(minutes=1)
        memory.recall("gate opens", limit=1)
        memory.sweep()
        near = [i for i, _, _ in memory.stats().vault_candidates]
        seen.append((memory.get(kept.id).tier.value, near))
        assert [*names(memory)["vault_candidates"].ids] == near if near else "vault_candidates" not in names(memory)
    assert ("vault", []) in seen
    before = seen.index(("vault", [])) - 1
    assert seen[before] == ("hot", [kept.id])
    assert seen[0][1] == []


@pytest.mark.behaviour("MO06")
def test_reviews_are_a_list_with_the_most_valuable_first(opening, clock):
    memory = opening(WORDS_ONLY)
    ids = filled(memory)
    for _ in range(3):
        memory.recall("The c gate squeaks.", limit=1)
    clock.passes(days=30)
    stats = memory.stats()
    assert stats.review_suggested == 5
    assert len(stats.reviews) == 5
    assert all(share < 0.5 for _, share in stats.reviews)
    values = [memory.get(i).value for i, _ in stats.reviews]
    assert values == sorted(values, reverse=True)
    assert {i for i, _ in stats.reviews} == set(ids)


@pytest.mark.behaviour("MO07")
def test_each_alert_can_be_turned_off_and_has_its_threshold_in_the_policy(opening, clock):
    loud = opening(FADING)
    filled(loud)
    clock.passes(days=12)
    assert {"overdue_hours"} <= names(loud).keys()
    assert opening({**FADING, "alerts": QUIET}).alerts() == []
    late = opening({**FADING, "alerts": {"overdue_hours": 500.0}})
    assert "overdue_hours" not in names(late)


def test_alerts_are_of_each_namespace_or_of_one(opening, clock):
    memory = opening(FADING)
    for place in ("a", "b"):
        memory.remember("The gate squeaks.", namespace=place)
    clock.passes(days=12)
    assert {a.namespace for a in memory.alerts()} == {"a", "b"}
    assert {a.namespace for a in memory.alerts("a")} == {"a"}
    assert memory.alerts("nowhere") == []


def test_a_task_that_keeps_failing_is_critical(opening, clock, tmp_path):
    file = tmp_path / "in the way"
    file.write_text("")
    memory = opening({**WORDS_ONLY, "upkeep": {"backup_folder": str(file / "backups")}})
    kept = memory.remember("The gate opens at six.")
    memory.move(kept.id, "vault", "key")
    for _ in range(3):
        memory.upkeep("one")
        clock.passes(minutes=6)
    told = names(memory)["failures"]
    assert (told.severity, told.value) == ("critical", 3)
    assert "backup" in told.message


def test_one_question_waits_and_two_wait(opening):
    memory = opening({**WORDS_ONLY, "alerts": {**QUIET, "questions": 1}})
    for number, name in enumerate(("Ana", "Bo")):
        for value in ("Oslo", "Rome"):
            memory.remember(
                f"{name} is from {value}.", facts=[{"subject": name, "predicate": "origin", "value": value}]
            )
        wait = ("1 question waits", "2 questions wait")[number]
        assert names(memory)["questions"].message == f"{wait} for a person (perdure review)"

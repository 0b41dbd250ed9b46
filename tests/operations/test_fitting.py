"""Keeping a namespace within a budget of tokens, by hand and by sweeps."""

from __future__ import annotations

import pytest

from conftest import WORDS_ONLY, HashEmbedder, tables, weekly
from operations.test_compressing import GARDEN, PUMP, records
from perdure.records.errors import InvalidInput
from perdure.records.memory import Form, Tier

NEVER = {**WORDS_ONLY, "archive": {"rule": "never"}, "compression": {"rule": "never", "strictness": "strict"}}
"""Nothing happens by itself."""

FREE = {**NEVER, "gates": {"loss_share": 1.0, "loss_share_day": 1.0}}
STRICT = {**NEVER, "gates": {"loss_free_count": 0}}

SOME = [
    f"The {a} of the {b} was at the end of the street, behind the {c}."
    for a, b, c in zip(
        ["lamp", "well", "barn", "mill", "gate", "oven", "loom", "forge", "still", "kiln"],
        ["baker", "miller", "smith", "weaver", "potter", "brewer", "cooper", "tanner", "dyer", "tailor"],
        ["church", "school", "market", "bridge", "harbour", "station", "tower", "library", "museum", "bakery"],
        strict=True,
    )
]


def visible(memory):
    return sum(m.tokens for m in memory.list(limit=1000))


def filled(memory, count=30):
    stored = memory.remember_many([f"{SOME[i % 10]} {'abcdefghijklmnopqrstuvwxyz'[i // 10]}" for i in range(count)])
    return [m.id for m in stored]


def whole(raw_store, ids):
    found, documents, vectors = records(raw_store, ids)
    return found, documents, vectors


@pytest.mark.behaviour("FIT1")
def test_a_namespace_is_brought_within_its_budget_shorter_forms_first(opening, clock):
    memory = opening(FREE)
    filled(memory)
    clock.passes(days=2)
    before = visible(memory)
    budget = before * 6 // 10
    result = memory.fit(tokens=budget, dry_run=False)
    assert (result.before, result.budget, result.held, result.dry_run) == (before, budget, "", False)
    assert result.after == visible(memory) <= budget
    assert set(result.tally) <= {"full to summary", "full to keywords", "full to embedding"}
    assert len(result.operations) == 1
    for one in result.refitted:
        move = memory.get(one.id)
        assert one.move == f"full to {move.form}"
        last = memory.history(one.id)[-1]
        assert last.operation == "fit"
    assert memory.fit(tokens=budget, dry_run=False).refitted == ()


@pytest.mark.behaviour("FIT4")
def test_what_is_still_too_much_is_set_aside_the_least_worth_first(opening, clock):
    memory = opening(FREE)
    ids = filled(memory)
    clock.passes(days=2)
    used = memory.recall("kiln tailor bakery", limit=3).hits
    barest = memory.fit(tokens=1, dry_run=True)
    assert barest.after == 0
    memory.remember("The pump is at 30 bar, not at 40.")
    memory.remember("Alice has 12 hens.")
    result = memory.fit(tokens=4, dry_run=False)
    assert result.after == visible(memory) <= 4
    assert result.tally["full to archived"] == 1
    assert {m.id for m in memory.list(limit=100)} >= {h.memory.id for h in used}
    assert len(memory.list(limit=100)) == len(ids) + 1


@pytest.mark.behaviour("FIT5")
def test_exempt_memories_stay_whatever_the_budget(opening, clock):
    memory = opening({**FREE, "tiers": {"vault_value": 0.6, "vault_accesses": 4}})
    ids = filled(memory, 10)
    pinned = memory.remember(GARDEN, pinned=True)
    vault = memory.remember(f"{GARDEN} Moreover the harbour.")
    for _ in range(4):
        clock.passes(hours=5)
        memory.recall("moreover harbour", limit=1)
    hot = memory.remember(PUMP)
    memory.sweep()
    for _ in range(3):
        clock.passes(minutes=5)
        memory.recall("pump cellar", limit=1)  # no sweep has seen it yet
    result = memory.fit(tokens=1, dry_run=False)
    kept = {m.id: m for m in memory.list(limit=100) if m.content}
    assert kept.keys() == {pinned.id, vault.id, hot.id}
    assert (kept[vault.id].tier, kept[hot.id].tier) == (Tier.VAULT, Tier.WARM)
    assert all(m.form is Form.FULL for m in kept.values())
    assert result.after == sum(m.tokens for m in kept.values()) > result.budget
    assert {c.id for c in result.refitted} == set(ids)
    memory.sweep()
    assert memory.get(hot.id).tier is Tier.HOT


@pytest.mark.behaviour("FIT6")
def test_a_dry_run_changes_nothing_and_its_plans_apply_exactly(opening, clock, path):
    memory = opening(FREE)
    ids = filled(memory)
    clock.passes(days=2)
    memory.recall("mill smith")
    before = tables(path)
    dry, again = (memory.fit(tokens=20, dry_run=True) for _ in range(2))
    assert tables(path) == before
    assert (dry.refitted, dry.after, dry.operations) == (again.refitted, again.after, ())
    for plan in dry.plans:
        memory.apply(plan)
    assert visible(memory) == dry.after <= 20
    forms = {i: memory.get(i, include_archived=True) for i in ids}
    assert {c.id: c.move for c in dry.refitted} == {
        i: f"full to {m.form if m.status == 'active' else m.status}" for i, m in forms.items() if m.form != "full"
    }


@pytest.mark.behaviour("FIT7")
def test_the_same_namespace_is_fitted_the_same_way(opening, elsewhere, clock):
    found = []
    for place in (None, elsewhere()):
        memory = opening(FREE, at=place)
        filled(memory)
        clock.passes(days=2)
        memory.fit(tokens=150, dry_run=False)
        found.append(sorted((m.content, m.form, m.tokens) for m in memory.list(limit=100)))
        clock.passes(days=-2)
    assert found[0] == found[1]


@pytest.mark.behaviour("FIT9")
def test_undo_of_every_plan_restores_the_store(opening, clock, raw_store):
    memory = opening({**FREE, "compression": {**NEVER["compression"], "preservation": 0.0}}, HashEmbedder())
    ids = filled(memory)
    ids.append(memory.remember("The pump is at 30 bar, not at 40.").id)
    clock.passes(days=2)
    memory.recall("mill smith")
    before = whole(raw_store, ids)
    result = memory.fit(tokens=2, dry_run=False)
    assert len(result.operations) == 2
    assert whole(raw_store, ids) != before
    for operation in reversed(result.operations):
        memory.undo(operation)
    assert whole(raw_store, ids) == before


@pytest.mark.behaviour("FIT10")
def test_many_memories_become_several_operations(opening, clock, raw_store):
    memory = opening(FREE)
    memory.remember_many([f"{SOME[i % 10]} {'x' * (i // 10 + 1)}" for i in range(1200)])
    clock.passes(days=2)
    result = memory.fit(tokens=1, dry_run=False)
    assert len(result.operations) >= 2
    changes = [raw_store.changes("default", o) for o in result.operations]
    assert max(len(c) for c in changes) <= 2000
    assert result.after == visible(memory) <= 1


@pytest.mark.behaviour("FIT11")
def test_waiting_accesses_are_counted_once(opening, clock):
    memory = opening(FREE)
    ids = filled(memory, 10)
    clock.passes(days=1)
    hit = memory.recall("lamp baker", limit=1).hits[0].memory.id
    clock.passes(hours=1)
    memory.recall("lamp baker", limit=1)
    memory.fit(tokens=1, dry_run=False)
    assert memory.get(hit).access_count == 2
    memory.sweep()
    assert memory.get(hit).access_count == 2
    assert hit in ids


class Meddler(HashEmbedder):
    """Another process is faster: while forms are measured, somebody decides about a memory."""

    deed = None

    def embed(self, texts, *, purpose):
        deed, self.deed = self.deed, None
        if deed is not None:
            deed()
        return super().embed(texts, purpose=purpose)


@pytest.mark.behaviour("FIT12")
@pytest.mark.parametrize("deed", ["pin", "archive", "restore"])
def test_what_others_decide_meanwhile_stands(opening, clock, deed):
    policy = {**FREE, "compression": {"rule": "never", "preservation": 0.0}}
    embedder = Meddler()
    memory, other = opening(policy, embedder), opening(policy, HashEmbedder())
    ids = filled(memory, 20)
    chosen = ids[0]
    if deed == "restore":
        other.archive(chosen, "a test")
    clock.passes(days=2)
    embedder.deed = {
        "pin": lambda: other.pin(chosen),
        "archive": lambda: other.archive(chosen, "a test"),
        "restore": lambda: other.restore(chosen),
    }[deed]
    result = memory.fit(tokens=60, dry_run=False)
    one = memory.get(chosen, include_archived=True)
    assert embedder.deed is None
    assert one.form is Form.FULL
    assert (one.pinned, one.status) == (deed == "pin", "archived" if deed == "archive" else "active")
    if deed != "restore":
        assert result.after == visible(memory) <= 60


@pytest.mark.behaviour("FIT13")
def test_forms_that_keep_too_little_of_the_meaning_are_chosen_around(opening, clock):
    memory = opening({**FREE, "compression": {"rule": "never", "preservation": 0.42}}, HashEmbedder())
    filled(memory)
    clock.passes(days=2)
    budget = visible(memory) * 7 // 10
    dry = memory.fit(tokens=budget, dry_run=True)
    result = memory.fit(tokens=budget, dry_run=False)
    assert result.after == dry.after == visible(memory) <= budget
    told = [
        entry.because
        for change in result.refitted
        for entry in memory.history(change.id)
        if entry.operation == "fit" and entry.target == "memory" and "embedding" not in change.move
    ]
    assert told
    assert all(float(because.partition("meaning kept ")[2][:5]) >= 0.42 for because in told)


@pytest.mark.behaviour("FIT14")
def test_the_loss_budget_lets_some_be_set_aside_each_day(opening, clock, raw_store):
    memory = opening(STRICT)
    memory.remember_many([f"The pump {i} is at {i + 100} bar, not at {i + 200}." for i in range(40)])
    clock.passes(days=2)
    first = memory.fit(tokens=1, dry_run=False)
    assert first.tally["full to archived"] + first.tally.get("summary to archived", 0) == 4
    assert "loss budget" in first.held
    assert "36 memories not archived yet" in first.held
    assert first.after == visible(memory) > 1
    again = memory.fit(tokens=1, dry_run=False)
    assert len([c for c in again.refitted if c.move.endswith("archived")]) <= 4
    assert again.held
    clock.passes(days=1)
    later = memory.fit(tokens=1, dry_run=False)
    assert any(c.move.endswith("archived") for c in later.refitted)
    assert memory.stats().statuses["archived"] <= 4 + 4 + 4
    all_of_it = memory.fit(tokens=1, accept_loss="a test", dry_run=False)
    assert (all_of_it.after, all_of_it.held) == (0, "")
    operation = raw_store.operation(all_of_it.operations[-1])
    assert "loss accepted: a test" in operation.note


BOUNDED = {**FREE, "compression": {**NEVER["compression"], "visible_tokens": 200}}


@pytest.mark.behaviour("FIT16")
def test_sweeps_keep_a_bounded_namespace_within_its_budget(opening, clock):
    memory, moves = opening(BOUNDED), set()
    for day in range(8):
        memory.remember_many([f"{some} {'abcdefgh'[day]}" for some in SOME])
        memory.remember(f"{SOME[day]} Elsewhere.", namespace="other")
        clock.passes(days=1)
        dry = memory.sweep(dry_run=True)
        report = memory.sweep()
        moves |= report.tally.keys()
        assert visible(memory) <= 200
        assert dry.plans or not report.operations
        again = memory.sweep()
        assert (again.moved, again.operations) == ((), ())
    assert moves >= {"full to summary", "summary to keywords"}
    assert {m.form for m in memory.list(namespace="other")} == {Form.FULL}


def looks(memory):
    """What a store looks like, whatever its ids are: every memory as it is shown, and its states."""
    return sorted(
        (m.state.created_ms, m.tier, m.status, m.content, m.access_count, *(str(getattr(m.state, n)) for n in STATES))
        for m in memory.list(limit=1000, include_archived=True)
    )


STATES = ("form", "form_ms", "tier_ms", "status_ms", "due_ms", "tokens", "held", "anchor_ms")


@pytest.mark.behaviour("FIT18")
@pytest.mark.parametrize(
    "policy",
    [
        {**BOUNDED, "gates": {"loss_free_count": 4}, "archive": {"rule": "value", "value_below": 0.5, "cold_days": 1}},
        pytest.param({**BOUNDED, "archive": {"rule": "value", "value_below": 0.5, "cold_days": 1}}, marks=weekly),
        pytest.param(
            {"preset": "tiered", "embedder": {"model": "none"}, "compression": {"visible_tokens": 150}}, marks=weekly
        ),
    ],
    ids=["gated", "free", "tiered"],
)
def test_the_plans_of_a_dry_run_leave_what_a_sweep_leaves(opening, elsewhere, clock, policy, tmp_path):
    """Sweeping and keeping the budget change the same memories; one goes on from what the other leaves."""
    file = tmp_path / "golden.toml"
    file.write_text('[[query]]\ntext = "Where is the lamp of the baker?"\ncontains = "behind the church"\n', "utf-8")
    policy = {**policy, "gates": {**policy.get("gates", {}), "golden": str(file)}}
    swept, planned = opening(policy), opening(policy, at=elsewhere())
    both, operations = (swept, planned), set()
    for day in range(12):
        for memory in both:
            memory.remember_many([f"{some} {'abcdefghijkl'[day]}" for some in SOME])
        clock.passes(days=3)
        for memory in both:
            memory.recall(f"{SOME[day % 10]} {'abcdefghijkl'[day]}", limit=1)
        clock.passes(hours=1)
        plans = planned.sweep(dry_run=True).plans
        operations |= {plan.operation for plan in plans}
        for plan in plans:
            planned.apply(plan)
        swept.sweep()
        assert looks(planned) == looks(swept)
    assert operations == {"sweep", "fit"}


@pytest.mark.behaviour("FIT18")
def test_what_a_planned_sweep_hides_counts_against_the_day_of_what_keeps_the_budget(opening, elsewhere, clock):
    """Strict forms keep numbers, so that only setting aside is left."""
    policy = {
        **NEVER,
        "compression": {**NEVER["compression"], "visible_tokens": 20},
        "gates": {"loss_free_count": 8},
        "archive": {"rule": "value", "value_below": 0.9, "cold_days": 0.1},
    }
    both = swept, planned = opening(policy), opening(policy, at=elsewhere())
    texts = [f"{some.rstrip('.')}, with {number} doors." for number, some in enumerate(SOME * 2, 11)]
    for some, hours in ((texts[:4], 7 * 24), (texts[10:], 4)):
        for memory in both:
            memory.remember_many(some)
        clock.passes(hours=hours)
    shown = planned.sweep(dry_run=True)
    assert [(plan.operation, plan.hides) for plan in shown.plans] == [("sweep", 4), ("fit", 0), ("fit", 4)]
    planned.apply_all(shown.plans)
    assert [held.because for held in swept.sweep().held] == [held.because for held in shown.held]
    assert looks(planned) == looks(swept)


@pytest.mark.behaviour("FIT17")
def test_a_bounded_namespace_leaves_what_was_restored_for_a_day(opening, clock):
    memory = opening(BOUNDED)
    ids = filled(memory, 40)
    clock.passes(days=1)
    memory.sweep()
    short = next(i for i in ids if memory.get(i, include_archived=True).form is not Form.FULL)
    memory.restore(short, level="full")
    for hours in (0, 6, 12):
        clock.passes(hours=hours)
        memory.sweep()
        assert memory.get(short).form is Form.FULL
        assert visible(memory) <= 200
    clock.passes(hours=12)
    filled(memory, 40)
    memory.sweep()
    assert visible(memory) <= 200


def test_fit_takes_the_policys_budget_or_asks_for_one(opening):
    bounded = opening(BOUNDED, at=":memory:")
    filled(bounded, 40)
    assert bounded.fit(dry_run=False).budget == 200
    assert visible(bounded) <= 200
    with pytest.raises(InvalidInput, match="tokens"):
        opening(FREE, at=":memory:").fit(dry_run=False)
    small = opening(FREE, at=":memory:")
    small.remember("The tea is cold.")
    result = small.fit(tokens=100, dry_run=False)
    assert (result.refitted, result.operations, result.after) == ((), (), result.before)


@pytest.mark.behaviour("FIT15")
def test_what_a_golden_query_asks_for_is_spared_and_told(opening, clock, tmp_path):
    pytest.importorskip("perdure.operations.lifecycle.gates")
    file = tmp_path / "golden.toml"
    file.write_text('[[query]]\ntext = "Where is the lamp of the baker?"\ncontains = "behind the church"\n', "utf-8")
    memory = opening({**FREE, "gates": {**FREE["gates"], "golden": str(file)}})
    ids = filled(memory, 10)
    clock.passes(days=2)
    result = memory.fit(tokens=10, dry_run=False)
    assert memory.get(ids[0]).form is Form.FULL
    assert "golden query 1" in result.held
    assert {c.id for c in result.refitted} == set(ids[1:])
    assert result.after == visible(memory)
    free = memory.fit(tokens=10, accept_loss="a test", dry_run=False)
    assert free.held == ""
    assert memory.get(ids[0]).form is not Form.FULL

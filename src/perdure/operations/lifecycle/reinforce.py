"""Signals changed by hand: decay reported and written down, reinforcing, strengthening and weakening."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from perdure.operations.decisions import begin, ids_by_namespace, read_visible, write
from perdure.operations.lifecycle.sweep import sweep
from perdure.operations.ports import Context
from perdure.operations.writing import retry
from perdure.records.instant import CENTURY_MS, Instant
from perdure.records.memory import Record, State
from perdure.records.policy import Policy
from perdure.records.signal_results import (
    DecayedMemory,
    DecayResult,
    ReinforcedMemory,
    ReinforceResult,
    StrengthChange,
    StrengthenResult,
    WeakenResult,
)
from perdure.rules.lifecycle.decay import PREVIEW, Decay, DecayPage, decay_page, decay_plan, preview
from perdure.rules.lifecycle.reinforcement import (
    Boost,
    SignalChange,
    reinforce_states,
    strengthen_states,
    weaken_states,
)


def decay(ctx: Context, namespace: str | None, settings: Decay, *, dry_run: bool = True) -> DecayResult:
    """Report what every visible memory's importance is worth, and unless it is a dry run write it down and sweep.

    What is written is only a record; no base changes, so it makes no difference how often it is called. A second call
    at the same instant writes nothing.
    """
    now = ctx.clock()
    analyzed, factors, operations = 0, 0.0, list[str]()
    found: list[DecayedMemory] = []
    for place in ctx.store.namespaces() if namespace is None else [namespace]:
        after: str | None = ""
        while after is not None:
            page, after = _page(ctx, place, after, settings, now, operations, dry_run=dry_run)
            analyzed += page.analyzed
            factors += page.factors
            found += page.decayed
    if not dry_run:
        operations += sweep(ctx, dry_run=False, namespace=namespace).operations
    return DecayResult(analyzed, len(found), factors / analyzed if analyzed else 1.0, found, dry_run, tuple(operations))


def _page(
    ctx: Context, place: str, after: str, settings: Decay, now: Instant, operations: list[str], *, dry_run: bool
) -> tuple[DecayPage, str | None]:
    """Report on the next memories, and write it down; return the report and the last id, None after the last page."""
    most = ctx.policy.upkeep.decay_batch

    def attempt() -> tuple[DecayPage, str | None]:
        rows = ctx.store.importance_rows(place, after, most, PREVIEW + 1)
        waiting = ctx.store.accesses(place, [g.id for g in rows], now + CENTURY_MS)
        states = {i: state for i, (state, _) in ctx.store.states(place, list(waiting)).items()} if waiting else {}
        page = decay_page(rows, states, waiting, settings, ctx.policy, now)
        if page.unwritten and not dry_run:
            plan = decay_plan(page, settings, plan_id=ctx.ids(now), namespace=place, policy=ctx.policy, now=now)
            ctx.store.apply(plan)
            operations.append(plan.id)
        return page, rows[-1].id if len(rows) == most else None

    return retry(attempt)


Rule = Callable[[list[State]], list[SignalChange]]  # states as of now -> what becomes of them, in the same order


Changes = dict[str, tuple[str, SignalChange]]  # memory id -> the beginning of what it shows, and what became of it


@dataclass(slots=True)
class _Done:
    changes: Changes = field(default_factory=dict)
    operations: list[str] = field(default_factory=list)


def reinforce(ctx: Context, ids: Sequence[str], boost: Boost, *, update_access: bool) -> ReinforceResult:
    """Raise the importance, strength and stability of memories."""
    now = ctx.clock()
    done = _change_all(
        ctx,
        ids,
        lambda states: reinforce_states(states, [update_access] * len(states), boost, ctx.policy, now),
        "reinforce",
        now,
        accessed=update_access,
    )
    found = [
        ReinforcedMemory(i, words, c.old, c.new, c.new - c.old)
        for i in ids
        if i in done.changes
        for words, c in [done.changes[i]]
    ]
    missing = [i for i in ids if i not in done.changes]
    return ReinforceResult(len(found), _mean([m.boost_applied for m in found]), found, missing, tuple(done.operations))


def strengthen(ctx: Context, ids: Sequence[str], amount: float) -> StrengthenResult:
    """Raise the strength of memories by hand; the gain of one call is bounded."""
    found, missing, operations = _activate(ctx, ids, strengthen_states, "strengthen", amount)
    gain = _mean([m.new_strength - m.old_strength for m in found])
    return StrengthenResult(len(found), gain, found, missing, operations)


def weaken(ctx: Context, ids: Sequence[str], amount: float) -> WeakenResult:
    """Lower the strength of memories by hand; the drop of one call is bounded."""
    found, missing, operations = _activate(ctx, ids, weaken_states, "weaken", amount)
    drop = _mean([m.old_strength - m.new_strength for m in found])
    return WeakenResult(len(found), drop, found, missing, operations)


def _activate(
    ctx: Context,
    ids: Sequence[str],
    rule: Callable[[Sequence[State], float, Policy, Instant], list[SignalChange]],
    operation: str,
    amount: float,
) -> tuple[list[StrengthChange], list[str], tuple[str, ...]]:
    """Change strength by hand; return what became of each memory, those not found, and the operations."""
    now = ctx.clock()
    done = _change_all(ctx, ids, lambda states: rule(states, amount, ctx.policy, now), operation, now, accessed=False)
    found = [StrengthChange(i, words, c.old, c.new) for i in ids if i in done.changes for words, c in [done.changes[i]]]
    return found, [i for i in ids if i not in done.changes], tuple(done.operations)


def _change_all(ctx: Context, ids: Sequence[str], rule: Rule, operation: str, now: Instant, *, accessed: bool) -> _Done:
    """Write what a rule makes of the memories that are in view, namespace by namespace."""
    total = _Done()

    def attempt(place: str, place_ids: list[str]) -> tuple[str | None, Changes]:
        records = read_visible(ctx, place, place_ids)
        if not records:
            return None, {}
        decisions = begin(ctx, place, now)
        decisions.admit(records)
        new = dict(zip(decisions.states, rule(list(decisions.states.values())), strict=True))
        for identity, change in new.items():
            decisions.change(identity, change.state, operation, change.because, accessed=accessed)
        note = f"{operation} {records[0].id if len(records) == 1 else f'{len(records)} memories'}"
        written = write(ctx, decisions, operation, note)
        return written, {r.id: (_words(r), new[r.id]) for r in records}

    for place, place_ids in ids_by_namespace(ctx, ids).items():
        written, changes = retry(partial(attempt, place, place_ids))
        total.operations += [written] if written is not None else []
        total.changes |= changes
    return total


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _words(record: Record) -> str:
    return preview(record.content.text if record.content.shown is None else record.content.shown)

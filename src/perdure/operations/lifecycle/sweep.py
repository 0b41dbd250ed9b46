"""Sweeping: memories whose instant has come are replayed, gated, and written down; and the forecast of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from perdure.operations.documents import PAGE, all_ids, ids_through, pages
from perdure.operations.lifecycle.compression import shorten
from perdure.operations.lifecycle.fit import fit_after_sweep
from perdure.operations.lifecycle.gates import budget_of, check_only, recall_gate, why_of
from perdure.operations.ports import Context
from perdure.operations.store_protocol import Pairs
from perdure.operations.writing import retry
from perdure.records.errors import ConflictError, GateStopped, StoreError
from perdure.records.instant import DAY_MS, Instant
from perdure.records.lease import Lease
from perdure.records.memory import State
from perdure.records.plan import Change, Plan, Target
from perdure.records.report import Held, Report, TierMove
from perdure.rules.lifecycle.maintenance import (
    GateRefusals,
    count_hidden,
    count_shortened,
    list_moves,
    sweep_note,
    trajectory_changes,
    truncate,
)
from perdure.rules.lifecycle.trajectory import Trajectory, replay

TRIES: Final = 4
"""So often a page is tried again without the memories whose answers it would lose; then all that it hides waits."""


@dataclass(slots=True)
class _Tally:
    """What a sweep has found so far."""

    examined: int = 0
    counted: int = 0
    moved: list[TierMove] = field(default_factory=list)
    held: list[Held] = field(default_factory=list)
    plans: list[Plan] = field(default_factory=list)


def sweep(ctx: Context, *, dry_run: bool = False, namespace: str | None = None) -> Report:
    """Bring every memory to where it belongs by now.

    Moves are dated at the instant at which they fell due; a second sweep at the same instant finds nothing. What a gate
    stops stays due and is tried again after the namespace's next change; a dry run asks the gates too.
    """
    now, tally = ctx.clock(), _Tally()
    for place, policy in ctx.store.due_namespaces(now, ctx.policy.life):
        if namespace is None or place == namespace:
            _sweep_namespace(_Sweep(ctx, place, now, _differs(policy, ctx), dry_run), policy, tally)
    return fit_after_sweep(ctx, _report(tally, dry_run=dry_run), namespace)


def sweep_leased(ctx: Context, lease: Lease, policy: str) -> Report:
    """Sweep one namespace as the worker that keeps it; every write checks the lease and extends it.

    Raises:
        LeaseLost: Another worker has taken over; what was written before stays, and is right.
    """
    tally, differs = _Tally(), _differs(policy, ctx)
    one = _Sweep(ctx, lease.namespace, ctx.clock(), differs, dry_run=False, lease=lease)
    _sweep_namespace(one, policy, tally)
    return fit_after_sweep(ctx, _report(tally, dry_run=False), lease.namespace, lease)


def _sweep_namespace(one: _Sweep, policy: str, tally: _Tally) -> None:
    """Sweep a namespace, and note that its due instants follow the policy in force; it was swept under another one."""
    one.run(tally)
    if one.anew and not one.dry_run:
        _note_policy(one, policy)


def _report(tally: _Tally, *, dry_run: bool) -> Report:
    return Report(
        dry_run=dry_run,
        examined=tally.examined,
        moved=tuple(sorted(tally.moved, key=lambda m: m.at)),
        counted=tally.counted,
        held=tuple(tally.held),
        plans=tuple(tally.plans) if dry_run else (),
        operations=() if dry_run else tuple(p.id for p in tally.plans),
    )


def forecast(ctx: Context, days: float, namespace: str | None = None) -> Report:
    """Return what would move within some days if nothing happened, without touching anything."""
    until = ctx.clock() + int(days * DAY_MS)
    tally = _Tally()
    for place, policy in ctx.store.due_namespaces(until, ctx.policy.life):
        if namespace is None or place == namespace:
            for ids in _pages(ctx, place, until, anew=_differs(policy, ctx)):
                trajectories, _, _ = _replay(ctx, place, ids, until, GateRefusals())
                trajectories, _, _ = shorten(ctx, place, trajectories, until)
                tally.examined += len(trajectories)
                tally.moved += list_moves(trajectories, place)
    return Report(dry_run=True, examined=tally.examined, moved=tuple(sorted(tally.moved, key=lambda m: m.at)))


def hidden_by(ctx: Context, place: str, until: Instant) -> int:
    """Return how many memories of a namespace would be hidden by an instant if nothing happened."""
    due = _pages(ctx, place, until, anew=False)
    return sum(count_hidden(_replay(ctx, place, ids, until, GateRefusals())[0]) for ids in due)


@dataclass(slots=True)
class _Sweep:
    """One namespace being swept."""

    ctx: Context
    place: str  # the namespace
    now: Instant  # up to when
    anew: bool  # whether every memory is looked at, because the policy has changed
    dry_run: bool  # whether nothing is to be written
    lease: Lease | None = None  # the worker's right to it
    refusals: GateRefusals | None = None  # what the loss budget blocks; None until it was asked

    def run(self, tally: _Tally) -> None:
        """Sweep it page by page; each page is one plan."""
        for ids in _pages(self.ctx, self.place, self.now, anew=self.anew):
            trajectories, plan, refusals = retry(partial(self._page, ids))
            tally.examined += len(trajectories)
            tally.counted += sum(c.counted for c in trajectories)
            tally.moved += list_moves(trajectories, self.place)
            if plan.changes:
                tally.plans.append(plan)
            tally.held += _newly_held(trajectories, refusals, self.place)

    def _page(self, ids: Sequence[str]) -> tuple[list[Trajectory], Plan, GateRefusals]:
        """Play a page and write it; what a gate stops is held, and the rest goes on."""
        refusals = self._ask_budget(ids)
        for left in reversed(range(TRIES + 1)):
            trajectories, ops, accesses = _replay(self.ctx, self.place, ids, self.now, refusals)
            trajectories, texts, measured = shorten(self.ctx, self.place, trajectories, self.now)
            own, policy = self.ctx.ids(self.now), self.ctx.policy
            changes = trajectory_changes(trajectories, ops, accesses, own, self.now, refusals=refusals, shown=texts)
            note = sweep_note(trajectories)
            plan = Plan(own, "sweep", self.place, self.now, (*changes, *measured), policy.version, note)
            try:
                self._write(plan)
            except GateStopped as error:
                refusals = _tighter(refusals, plan, error, alone=left > 1)
            else:
                return trajectories, plan, refusals
        raise StoreError(
            "A gate stopped a plan that loses nothing.",
            remedy="Report this; nothing was written.",
        )

    def _ask_budget(self, ids: Sequence[str]) -> GateRefusals:
        """Ask the loss budget once, about the whole sweep of the namespace and not only about one page of it."""
        if self.refusals is not None:
            return self.refusals
        trajectories, _, _ = _replay(self.ctx, self.place, ids, self.now, GateRefusals())
        if not count_hidden(trajectories) and not count_shortened(trajectories):
            return GateRefusals()
        hidden = shortened = 0
        for page in _pages(self.ctx, self.place, self.now, anew=self.anew):
            trajectories, _, _ = _replay(self.ctx, self.place, page, self.now, GateRefusals())
            hidden, shortened = hidden + count_hidden(trajectories), shortened + count_shortened(trajectories)
        budget, policy = budget_of(self.ctx, self.place), self.ctx.policy.gates
        self.refusals = GateRefusals(budget.refusal(hidden, policy), budget.too_short(shortened, policy))
        return self.refusals

    def _write(self, plan: Plan) -> None:
        check = recall_gate(self.ctx, plan) if plan.loses else None
        if not self.dry_run and plan.changes:
            fence = self.lease and self.lease.extended(self.ctx.clock())
            self.ctx.store.apply(plan, fence=fence, check=check)
        elif check is not None and not self.ctx.store.read_only:
            check_only(self.ctx, plan, check)


def _tighter(refusals: GateRefusals, plan: Plan, error: GateStopped, *, alone: bool) -> GateRefusals:
    """Hold back the memories whose answers would be lost; where they are not in the plan themselves, all of it."""
    why = why_of(error)
    culprits = {identity: why for identity in error.lost if identity in plan.hidden | plan.shortened}
    if culprits and alone:
        return replace(refusals, lost={**refusals.lost, **culprits})
    return GateRefusals(refusals.hides or why, refusals.shrinks or why, refusals.lost)


def _newly_held(trajectories: Sequence[Trajectory], refusals: GateRefusals, place: str) -> list[Held]:
    """Return what was not held before and is now, by reason."""
    reasons: dict[str, list[str]] = {}
    for trajectory in trajectories:
        if trajectory.after.held and not trajectory.before.held:
            reasons.setdefault(refusals.because(trajectory.id), []).append(trajectory.id)
    return [Held(place, tuple(ids), because) for because, ids in reasons.items()]


def _replay(
    ctx: Context, place: str, ids: Sequence[str], now: Instant, refusals: GateRefusals
) -> tuple[list[Trajectory], dict[str, str], dict[str, Pairs]]:
    stored = ctx.store.states(place, ids)
    accesses = ctx.store.accesses(place, list(stored), now)
    states: dict[str, State] = {i: state for i, (state, _) in stored.items()}
    free = {i: state for i, state in states.items() if not any(refusals.why(i))}
    trajectories = {c.id: c for c in replay(free, accesses, now, ctx.policy)}
    waiting = {i: state for i, state in states.items() if i not in free}
    for trajectory in replay(waiting, accesses, now, ctx.policy, blocked=True):
        no_hiding, no_shrinking = refusals.why(trajectory.id)
        trajectories[trajectory.id] = truncate(trajectory, hides=bool(no_hiding), shrinks=bool(no_shrinking))
    ordered = [trajectories[i] for i in states]
    return ordered, {i: op for i, (_, op) in stored.items()}, accesses


def _pages(ctx: Context, place: str, now: Instant, *, anew: bool) -> Iterator[list[str]]:
    """Yield the memories that a sweep must look at: all if the policy has changed, else accessed and due ones.

    A page becomes one plan, and so one operation to undo: accessed and due memories share pages.
    """
    yield from pages(all_ids(ctx, place) if anew else _waiting_ids(ctx, place, now))


def _waiting_ids(ctx: Context, place: str, now: Instant) -> Iterator[str]:
    accessed = list(ids_through(lambda after: ctx.store.accessed_ids(place, now, after, PAGE)))
    yield from accessed
    seen, cursor = set(accessed), (-(2**62), 0)
    while rows := ctx.store.due_ids(place, now, cursor, PAGE):
        cursor = rows[-1][1], rows[-1][2]
        yield from (identity for identity, _, _ in rows if identity not in seen)


def _differs(policy: str, ctx: Context) -> bool:
    """Whether a namespace was last swept under rules that moved memories at other times."""
    return policy.partition(".")[0] != ctx.policy.life


def _note_policy(one: _Sweep, before: str) -> None:
    """Note under which policy due instants were computed; if another sweep has done so meanwhile, its word stands."""
    ctx, version = one.ctx, one.ctx.policy.version
    change = Change(Target.NAMESPACE, one.place, {"policy": before}, {"policy": version}, "the policy has changed")
    note = f"due times follow policy {version} from now on"
    plan = Plan(ctx.ids(one.now), "policy", one.place, one.now, (change,), version, note)
    with suppress(ConflictError):
        ctx.store.apply(plan, fence=one.lease and one.lease.extended(ctx.clock()))

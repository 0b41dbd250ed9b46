"""Sweeping: memories whose instant has come are replayed, gated, and written down; and the forecast of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from perdure.operations.documents import PAGE, all_ids, ids_through, pages
from perdure.operations.lifecycle.compression import shorten
from perdure.operations.lifecycle.fit import fit_after_sweep
from perdure.operations.lifecycle.foreseen_gate import gate_openings
from perdure.operations.lifecycle.gates import check_only, loss_history, recall_gate, why_of, with_accepted_loss
from perdure.operations.ports import Context
from perdure.operations.store_protocol import Pairs
from perdure.operations.writing import retry
from perdure.records.errors import ConflictError, GateStopped, IncompleteWarning, NodeUnavailable, StoreError
from perdure.records.instant import DAY_MS, Instant
from perdure.records.memory import State
from perdure.records.plan import Change, Plan, Target
from perdure.records.report import HeldMoves, SweepReport, TierMove
from perdure.records.store_rows import Lease
from perdure.rules.lifecycle.maintenance import (
    GateRefusals,
    count_hidden,
    list_moves,
    sweep_note,
    trajectory_changes,
)
from perdure.rules.lifecycle.outlook import FIRST_MOVES, Outlook
from perdure.rules.lifecycle.ration import Ration, Rationing, WaitReason
from perdure.rules.lifecycle.replay_rounds import ForeseenStates
from perdure.rules.lifecycle.trajectory import SHUT, Opening, Trajectory, forecast_moves, replay

TRIES: Final = 4
"""So often a page is tried again without the memories whose answers it would lose; then all that it hides waits."""


@dataclass(slots=True)
class _Tally:
    """What a sweep has found so far."""

    examined: int = 0
    counted: int = 0
    moved: list[TierMove] = field(default_factory=list)
    held: list[HeldMoves] = field(default_factory=list)
    plans: list[Plan] = field(default_factory=list)


def sweep(
    ctx: Context, *, dry_run: bool = False, namespace: str | None = None, accept_loss: str | None = None
) -> SweepReport:
    """Bring every memory to where it belongs by now.

    Moves are dated at the instant at which they fell due, or were let go; a second sweep at the same instant finds
    nothing. What the gates hold back stays due and is tried at every sweep; a dry run asks the gates too. With a reason
    to accept the loss no gate is asked.
    """
    now, tally = ctx.clock(), _Tally()
    sweep_one = _sweep_reachable if namespace is None else _sweep_namespace
    for place, policy in due_places(ctx, now):
        if namespace is None or place == namespace:
            one = _Sweep(ctx, place, now, _differs(policy, ctx), dry_run, accept_loss=accept_loss)
            sweep_one(one, policy, tally)
    return fit_after_sweep(ctx, _report(tally, dry_run=dry_run), namespace)


def due_places(ctx: Context, now: Instant, *, include_tried_today: bool = True) -> list[tuple[str, str]]:
    """Return (namespace, policy of its last sweep) where something is due by an instant, or is held back.

    ``include_tried_today``: also where something is held back that this process has tried on the same day.
    """
    due = dict(ctx.store.due_namespaces(now, ctx.policy.life))
    for place, _, held, _ in ctx.store.overdue_namespaces(now):
        if held is not None and (include_tried_today or ctx.tried.get(place) != now // DAY_MS):
            due.setdefault(place, ctx.policy.life)
    return sorted(due.items())


def sweep_leased(ctx: Context, lease: Lease, policy: str) -> SweepReport:
    """Sweep one namespace as the worker that keeps it; every write checks the lease and extends it.

    Raises:
        LeaseLost: Another worker has taken over; what was written before stays, and is right.
    """
    tally, differs = _Tally(), _differs(policy, ctx)
    one = _Sweep(ctx, lease.namespace, ctx.clock(), differs, dry_run=False, lease=lease)
    _sweep_namespace(one, policy, tally)
    return fit_after_sweep(ctx, _report(tally, dry_run=False), lease.namespace, lease)


def _sweep_reachable(one: _Sweep, policy: str, tally: _Tally) -> None:
    """Sweep one of all namespaces."""
    with _left_out_if_unreachable(one.ctx, "What is due there waits."):
        _sweep_namespace(one, policy, tally)


@contextmanager
def _left_out_if_unreachable(ctx: Context, so: str) -> Iterator[None]:
    """Leave out one of all namespaces if its node was lost after something was found to be due there."""
    try:
        yield
    except NodeUnavailable as error:
        ctx.warn(f"{error.message} {so}", IncompleteWarning)


def _sweep_namespace(one: _Sweep, policy: str, tally: _Tally) -> None:
    """Sweep a namespace; if the policy changed since its last sweep, record the new one."""
    one.run(tally)
    if one.dry_run:
        return
    one.ctx.tried[one.place] = one.now // DAY_MS
    if one.policy_changed:
        _note_policy(one, policy)


def _report(tally: _Tally, *, dry_run: bool) -> SweepReport:
    return SweepReport(
        dry_run=dry_run,
        examined=tally.examined,
        moved=tuple(sorted(tally.moved, key=lambda m: m.at)),
        counted=tally.counted,
        held=tuple(tally.held),
        plans=tuple(tally.plans) if dry_run else (),
        operations=() if dry_run else tuple(p.id for p in tally.plans),
    )


def forecast(ctx: Context, days: float, namespace: str | None = None, *, details: bool = False) -> SweepReport:
    """Return what would move within some days if nothing happened, without touching anything.

    Moves are counted by day and kind; ``details`` puts every one into words, not only the first. Of all namespaces
    those are left out whose node was lost after something was found to be due there.
    """
    now = ctx.clock()
    until, found = now + int(days * DAY_MS), Outlook(now, None if details else FIRST_MOVES)
    for place, policy in due_places(ctx, until):
        if namespace is None:
            with _left_out_if_unreachable(ctx, "What would move there is left out."):
                found.join(_forecast_place(ctx, place, policy, until, found))
        elif place == namespace:
            found.join(_forecast_place(ctx, place, policy, until, found))
    return found.report()


def _forecast_place(ctx: Context, place: str, policy: str, until: Instant, before: Outlook) -> Outlook:
    """Return what would move in one namespace by an instant, after what was foreseen of others."""
    found, came = Outlook(before.now, before.most), dict[str, tuple[int, int]]()
    policy_changed = _differs(policy, ctx)
    sharing = _new_rationing(ctx, before.now, until, policy_changed=policy_changed)
    for page in _foresee_pages(ctx, place, until, sharing, policy_changed=policy_changed):
        start = before.examined + found.examined
        came |= {identity: (start, row) for row, identity in page.lost_ids().items()}
        places = [(start, row) for row in range(len(page.ids))]
        found.add_page(page, page.loses, place, places, ctx.policy)
        found.examined += len(page.ids)
    if came:
        _forecast_losses(ctx, place, sharing, came, found)
    return found


def _forecast_losses(
    ctx: Context, place: str, sharing: Rationing, came: Mapping[str, tuple[int, int]], found: Outlook
) -> None:
    """Add what would move of memories that are hidden or shortened, each on the day that the gates give it.

    Whether a memory can be shortened is told by its text, so those are played one by one.
    """
    openings, held = gate_openings(ctx, place, sharing, _share_out(ctx, place, sharing))
    found.held += held
    page = forecast_moves(sharing.states, sharing.accesses, sharing.until, ctx.policy, openings)
    found.add_page(page, page.shortens, place, [came[i] for i in page.ids], ctx.policy)
    shortening = {i: sharing.states[i] for i in page.shortened_ids()}
    for some in pages(replay(shortening, sharing.accesses, sharing.until, ctx.policy, openings)):
        for one in shorten(ctx, place, some, sharing.until)[0]:
            found.add_trajectory(one, place, *came[one.id])


def hidden_by(ctx: Context, place: str, until: Instant) -> int:
    """Return how many memories of a namespace would be hidden by an instant if nothing happened."""
    sharing = _new_rationing(ctx, ctx.clock(), until, policy_changed=False)
    deque(_foresee_pages(ctx, place, until, sharing, policy_changed=False), maxlen=0)
    return count_hidden(_replay_gates(ctx, place, sharing))


def _foresee_pages(
    ctx: Context, place: str, until: Instant, sharing: Rationing, *, policy_changed: bool
) -> Iterator[ForeseenStates]:
    """Yield page by page what becomes of what falls due by an instant; what loses something is admitted to share."""
    for ids in _pages(ctx, place, until, policy_changed=policy_changed):
        states, _, accesses = _read(ctx, place, ids, until)
        page = forecast_moves(states, accesses, until, ctx.policy, sharing.since(states))
        sharing.admit(page.lost_ids().values(), states, accesses)
        yield page


def _replay_gates(ctx: Context, place: str, sharing: Rationing) -> list[Trajectory]:
    openings, _ = gate_openings(ctx, place, sharing, _share_out(ctx, place, sharing))
    return replay(sharing.states, sharing.accesses, sharing.until, ctx.policy, openings)


def what_is_due(ctx: Context, place: str, identity: str) -> tuple[Trajectory, str]:
    """Return what a sweep would now make of one memory, and why the loss budget would hold it; empty if it would not.

    The recall gate is not asked: it looks at plans.
    """
    now = ctx.clock()
    states, _, accesses = _read(ctx, place, [identity], now)
    (found,) = replay(states, accesses, now, ctx.policy, _openings(ctx, now, Ration(), states, policy_changed=False))
    if not _loses(found):
        return found, ""
    policy = dict(ctx.store.due_namespaces(now, ctx.policy.life)).get(place, ctx.policy.life)
    policy_changed = _differs(policy, ctx)
    ration = _ration(ctx, place, now, now, policy_changed=policy_changed)
    played = replay(
        states, accesses, now, ctx.policy, _openings(ctx, now, ration, states, policy_changed=policy_changed)
    )
    wait = ration.waits.get(identity)
    by_rule = replace(ctx, model=None)  # looking at a memory asks no language model
    return shorten(by_rule, place, played, now)[0][0], "" if wait is None else wait.why(now)


def wait_reasons(ctx: Context, place: str) -> Mapping[str, WaitReason]:
    """Return why the loss budget holds memories back now, by id."""
    now = ctx.clock()
    return _ration(ctx, place, now, now, policy_changed=False).waits


def _ration(ctx: Context, place: str, now: Instant, until: Instant, *, policy_changed: bool) -> Ration:
    """Share the allowances of all days up to an instant out among what a namespace would lose by then."""
    sharing = _new_rationing(ctx, now, until, policy_changed=policy_changed)
    deque(_foresee_pages(ctx, place, until, sharing, policy_changed=policy_changed), maxlen=0)
    return _share_out(ctx, place, sharing)


def _share_out(ctx: Context, place: str, sharing: Rationing) -> Ration:
    return sharing.share_out(loss_history(ctx, place, sharing.first_day)) if sharing.states else Ration()


def _new_rationing(ctx: Context, now: Instant, until: Instant, *, policy_changed: bool) -> Rationing:
    # What a new policy lets go it lets go from today on: the days before it had another one.
    return Rationing(ctx.policy, until, now - now % DAY_MS) if policy_changed else Rationing(ctx.policy, until)


def _openings(
    ctx: Context, now: Instant, ration: Ration, states: Mapping[str, State], *, policy_changed: bool
) -> dict[str, Opening]:
    first = _new_rationing(ctx, now, now, policy_changed=policy_changed).since(states)
    return {i: ration.openings.get(i, opening) for i, opening in first.items()}


@dataclass(slots=True)
class _Sweep:
    """One namespace being swept."""

    ctx: Context
    place: str  # the namespace
    now: Instant  # up to when
    policy_changed: bool  # since its last sweep, so that every memory is looked at
    dry_run: bool  # whether nothing is to be written
    lease: Lease | None = None  # the worker's right to it
    accept_loss: str | None = None  # why a person lets everything go that is due; None to ask the gates
    ration: Ration | None = None  # what the loss budget lets go; None until it was asked

    def run(self, tally: _Tally) -> None:
        """Sweep it page by page; each page is one plan."""
        held: dict[str, list[str]] = {}
        for ids in _pages(self.ctx, self.place, self.now, policy_changed=self.policy_changed):
            trajectories, plan, refusals = retry(partial(self._page, ids))
            tally.examined += len(trajectories)
            tally.counted += sum(c.counted for c in trajectories)
            tally.moved += list_moves(trajectories, self.place)
            if plan.changes:
                tally.plans.append(plan)
            for t in trajectories:
                if t.after.held:
                    held.setdefault(self._why(t.id, refusals, of_all=True), []).append(t.id)
        tally.held += [HeldMoves(self.place, tuple(ids), because) for because, ids in held.items()]

    def _page(self, ids: Sequence[str]) -> tuple[list[Trajectory], Plan, GateRefusals]:
        """Play a page and write it; what a gate stops is held, and the rest goes on."""
        refusals = GateRefusals()
        for tries in reversed(range(TRIES + 1)):
            trajectories, ops, accesses = self._play(ids, refusals)
            trajectories, texts, measured = shorten(self.ctx, self.place, trajectories, self.now)
            own, policy = self.ctx.ids(self.now), self.ctx.policy
            why = partial(self._why, refusals=refusals)
            changes = trajectory_changes(trajectories, ops, accesses, own, self.now, why_held=why, shown=texts)
            note = sweep_note(trajectories)
            plan = Plan(own, "sweep", self.place, self.now, (*changes, *measured), policy.version, note)
            if plan.loses:
                plan = with_accepted_loss(plan, self.accept_loss)
            try:
                self._write(plan)
            except GateStopped as error:
                refusals = _add_refusals(refusals, plan, error, alone=tries > 1)
            else:
                return trajectories, plan, refusals
        raise StoreError(
            "A gate stopped a plan that loses nothing.", remedy="Nothing was written. Please report this as a bug."
        )

    def _play(
        self, ids: Sequence[str], refusals: GateRefusals
    ) -> tuple[list[Trajectory], dict[str, str], dict[str, Pairs]]:
        """Replay a page; the loss budget is asked once about the whole namespace, when something is lost at all."""
        played = _replay(self.ctx, self.place, ids, self.now, partial(self._openings, refusals))
        if self.ration is None and self.accept_loss is None and any(_loses(t) for t in played[0]):
            self.ration = _ration(self.ctx, self.place, self.now, self.now, policy_changed=self.policy_changed)
            played = _replay(self.ctx, self.place, ids, self.now, partial(self._openings, refusals))
        return played

    def _openings(self, refusals: GateRefusals, states: Mapping[str, State]) -> dict[str, Opening]:
        found = _openings(self.ctx, self.now, self.ration or Ration(), states, policy_changed=self.policy_changed)
        shut = {i for i in states if refusals.why(i)}
        return {i: replace(SHUT, since=o.since) if i in shut else o for i, o in found.items()}

    def _why(self, identity: str, refusals: GateRefusals, *, of_all: bool = False) -> str:
        """Return why a memory is held back; ``of_all``: in words that are the same for all that wait for one thing."""
        wait = self.ration.waits.get(identity) if self.ration else None
        return refusals.why(identity) or ((wait.of_all if of_all else wait.why(self.now)) if wait else "")

    def _write(self, plan: Plan) -> None:
        check = recall_gate(self.ctx, plan) if plan.loses and self.accept_loss is None else None
        if not self.dry_run and plan.changes:
            fence = self.lease and self.lease.extend(self.ctx.clock())
            self.ctx.store.apply(plan, fence=fence, check=check)
        elif check is not None and not self.ctx.store.read_only:
            check_only(self.ctx, plan, check)


def _add_refusals(refusals: GateRefusals, plan: Plan, error: GateStopped, *, alone: bool) -> GateRefusals:
    """Hold back the memories whose answers would be lost; where they are not in the plan themselves, all of it."""
    why = why_of(error)
    culprits = {identity: why for identity in error.lost if identity in plan.hidden | plan.shortened_ids}
    if culprits and alone:
        return replace(refusals, lost={**refusals.lost, **culprits})
    return GateRefusals(refusals.all or why, refusals.lost)


def _loses(trajectory: Trajectory) -> bool:
    return any(s.hides or s.shrinks for s in trajectory.transitions)


def _replay(
    ctx: Context,
    place: str,
    ids: Sequence[str],
    now: Instant,
    openings: Callable[[dict[str, State]], dict[str, Opening]],
) -> tuple[list[Trajectory], dict[str, str], dict[str, Pairs]]:
    states, ops, accesses = _read(ctx, place, ids, now)
    return replay(states, accesses, now, ctx.policy, openings(states)), ops, accesses


def _read(
    ctx: Context, place: str, ids: Sequence[str], now: Instant
) -> tuple[dict[str, State], dict[str, str], dict[str, Pairs]]:
    """Return the states of memories, the operations that last changed them, and their accesses that wait."""
    stored = ctx.store.states(place, ids)
    states: dict[str, State] = {i: state for i, (state, _) in stored.items()}
    ops = {i: op for i, (_, op) in stored.items()}
    return states, ops, ctx.store.accesses(place, list(stored), now)


def _pages(ctx: Context, place: str, now: Instant, *, policy_changed: bool) -> Iterator[list[str]]:
    """Yield the memories that a sweep must look at: all if the policy has changed, else accessed and due ones.

    A page becomes one plan, and so one operation to undo: accessed and due memories share pages.
    """
    yield from pages(all_ids(ctx, place) if policy_changed else _waiting_ids(ctx, place, now))


def _waiting_ids(ctx: Context, place: str, now: Instant) -> Iterator[str]:
    accessed = list(ids_through(lambda after: ctx.store.accessed_ids(place, now, after, PAGE)))
    yield from accessed
    seen = set(accessed)
    for held in (True, False):  # what is held now must not come up twice
        cursor = (-(2**62), 0)
        while rows := ctx.store.due_ids(place, now, cursor, PAGE, held=held):
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
        ctx.store.apply(plan, fence=one.lease and one.lease.extend(ctx.clock()))

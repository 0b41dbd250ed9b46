"""Sweeping: memories whose instant has come are played forward, gated, and written down; and the forecast of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final

from perdure.operations.compressing import carried
from perdure.operations.fitting import bounded
from perdure.operations.ports import Context, Pairs
from perdure.operations.writing import retried
from perdure.records.errors import ConflictError
from perdure.records.instant import DAY_MS, Instant
from perdure.records.lease import Lease
from perdure.records.memory import State
from perdure.records.plan import Change, Plan, Target
from perdure.records.report import Held, Moved, Report
from perdure.rules.lifecycle import Course, play
from perdure.rules.upkeep import Budget, course_plan, hides, moved, sweep_note, truncated

PAGE: Final = 2000


@dataclass(slots=True)
class _Tally:
    """What a sweep has found so far."""

    examined: int = 0
    counted: int = 0
    moved: list[Moved] = field(default_factory=list)
    held: list[Held] = field(default_factory=list)
    plans: list[Plan] = field(default_factory=list)


def sweep(ctx: Context, *, dry_run: bool, namespace: str | None = None) -> Report:
    """Bring every memory to where it belongs by now.

    Moves are dated at the instant at which they fell due; a second sweep at the same instant finds nothing. What the
    loss budget stops stays due and is tried again after the namespace's next change.

    Args:
        ctx: Store, policy, clock, ids.
        dry_run: Only tell.
        namespace: Only there; everywhere if None.
    """
    now = ctx.clock()
    tally = _Tally()
    for place, policy in ctx.store.due_namespaces(now, ctx.policy.life):
        if namespace is None or place == namespace:
            _sweep_namespace(ctx, place, now, tally, anew=_differs(policy, ctx), dry_run=dry_run)
            if _differs(policy, ctx) and not dry_run:
                _note_policy(ctx, place, policy, now)
    return bounded(ctx, _report(tally, dry_run=dry_run), namespace)


def sweep_leased(ctx: Context, lease: Lease, policy: str) -> Report:
    """Sweep one namespace as the worker that keeps it; every write checks the lease and extends it.

    Args:
        ctx: Store, policy, clock, ids.
        lease: The worker's right to the namespace.
        policy: The one that it was last swept under, as ``due_namespaces`` tells.

    Raises:
        LeaseLost: Another worker has taken over; what was written before stays, and is right.
    """
    now = ctx.clock()
    tally = _Tally()
    _sweep_namespace(ctx, lease.namespace, now, tally, anew=_differs(policy, ctx), dry_run=False, lease=lease)
    if _differs(policy, ctx):
        _note_policy(ctx, lease.namespace, policy, now, lease)
    return bounded(ctx, _report(tally, dry_run=False), lease.namespace, lease)


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
                courses, _, _ = _played(ctx, place, ids, until)
                tally.examined += len(courses)
                tally.moved += moved(courses, place)
    return Report(dry_run=True, examined=tally.examined, moved=tuple(sorted(tally.moved, key=lambda m: m.at)))


def _sweep_namespace(
    ctx: Context,
    place: str,
    now: Instant,
    tally: _Tally,
    *,
    anew: bool,
    dry_run: bool,
    lease: Lease | None = None,
) -> None:
    refusal: str | None = None
    for ids in _pages(ctx, place, now, anew=anew):

        def attempt(ids: Sequence[str] = ids, refusal: str | None = refusal) -> tuple[list[Course], Plan, str | None]:
            courses, ops, accesses = _played(ctx, place, ids, now)
            stopped = refusal
            if stopped is None and hides(courses):
                stopped = _refusal(ctx, place, now, anew=anew)
            if stopped:
                courses = [truncated(c) for c in _played(ctx, place, ids, now, hold=True)[0]]
            courses, texts, measured = carried(ctx, place, courses, now)
            plan = course_plan(
                courses,
                ops,
                accesses,
                plan_id=ctx.ids(now),
                namespace=place,
                at=now,
                policy=ctx.policy,
                operation="sweep",
                note=sweep_note(courses),
                refusal=stopped or "",
                shown=texts,
            )
            plan = replace(plan, changes=(*plan.changes, *measured))
            if not dry_run and plan.changes:
                ctx.store.apply(plan, fence=lease and lease.extended(ctx.clock()))
            return courses, plan, stopped

        courses, plan, refusal = retried(attempt)
        tally.examined += len(courses)
        tally.counted += sum(c.counted for c in courses)
        tally.moved += moved(courses, place)
        if plan.changes:
            tally.plans.append(plan)
        if stopped_ids := tuple(c.id for c in courses if c.after.held and not c.before.held):
            tally.held.append(Held(place, stopped_ids, refusal or ""))


def _refusal(ctx: Context, place: str, now: Instant, *, anew: bool) -> str:
    """Ask the loss budget about the whole sweep of a namespace, not only about one page of it."""
    total = sum(hides(_played(ctx, place, ids, now)[0]) for ids in _pages(ctx, place, now, anew=anew))
    budget = Budget(ctx.store.visible_count(place), ctx.store.hidden_since(place, now - now % DAY_MS))
    return budget.refusal(total, ctx.policy.gates)


def _played(
    ctx: Context, place: str, ids: Sequence[str], now: Instant, *, hold: bool = False
) -> tuple[list[Course], dict[str, str], dict[str, Pairs]]:
    stored = ctx.store.states(place, ids)
    accesses = ctx.store.accesses(place, list(stored), now)
    states: dict[str, State] = {i: state for i, (state, _) in stored.items()}
    courses = play(states, accesses, now, ctx.policy, hold=hold)
    return courses, {i: op for i, (_, op) in stored.items()}, accesses


def _pages(ctx: Context, place: str, now: Instant, *, anew: bool) -> Iterator[list[str]]:
    """Yield the memories that a sweep must look at: all if the policy has changed, else accessed and due ones.

    A page becomes one plan, and so one operation to undo: accessed and due memories share pages.
    """
    ids = _every(ctx, place) if anew else _waiting(ctx, place, now)
    while page := list(islice(ids, PAGE)):
        yield page


def _every(ctx: Context, place: str) -> Iterator[str]:
    return _through(lambda after: ctx.store.every(place, after, PAGE))


def _waiting(ctx: Context, place: str, now: Instant) -> Iterator[str]:
    seen: set[str] = set()
    for identity in _through(lambda after: ctx.store.accessed(place, now, after, PAGE)):
        seen.add(identity)
        yield identity
    cursor: tuple[Instant, int] = (-(2**62), 0)
    while rows := ctx.store.due(place, now, cursor, PAGE):
        cursor = rows[-1][1], rows[-1][2]
        yield from (identity for identity, _, _ in rows if identity not in seen)


def _through(fetch: Callable[[str], list[str]]) -> Iterator[str]:
    after = ""
    while ids := fetch(after):
        yield from ids
        after = ids[-1]


def _differs(policy: str, ctx: Context) -> bool:
    """Whether a namespace was last swept under rules that moved memories at other times."""
    return policy.partition(".")[0] != ctx.policy.life


def _note_policy(ctx: Context, place: str, before: str, now: Instant, lease: Lease | None = None) -> None:
    """Note under which policy due instants were computed; if another sweep has done so meanwhile, its word stands."""
    change = Change(
        Target.NAMESPACE, place, {"policy": before}, {"policy": ctx.policy.version}, "the policy has changed"
    )
    note = f"due instants follow policy {ctx.policy.version} from now on"
    plan = Plan(ctx.ids(now), "policy", place, now, (change,), ctx.policy.version, note)
    with suppress(ConflictError):
        ctx.store.apply(plan, fence=lease and lease.extended(ctx.clock()))

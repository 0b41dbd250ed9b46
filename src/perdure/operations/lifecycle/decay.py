"""Decay: a report of what importance is worth by now; applied, it is written down and swept."""

from __future__ import annotations

from perdure.operations.lifecycle.sweep import sweep
from perdure.operations.ports import Context
from perdure.operations.writing import retry
from perdure.records.instant import CENTURY_MS, Instant
from perdure.records.signal_results import DecayedMemory, DecayResult
from perdure.rules.lifecycle.decay import PREVIEW, Decay, Page, decay_page, decay_plan


def decay(ctx: Context, namespace: str | None, asked: Decay, *, dry_run: bool = True) -> DecayResult:
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
            page, after = _page(ctx, place, after, asked, now, operations, dry_run=dry_run)
            analyzed += page.analyzed
            factors += page.factors
            found += page.decayed
    if not dry_run:
        operations += sweep(ctx, dry_run=False, namespace=namespace).operations
    return DecayResult(analyzed, len(found), factors / analyzed if analyzed else 1.0, found, dry_run, tuple(operations))


def _page(
    ctx: Context, place: str, after: str, asked: Decay, now: Instant, operations: list[str], *, dry_run: bool
) -> tuple[Page, str | None]:
    """Report on the next memories, and write it down; return the report and the last id, None after the last page."""
    most = ctx.policy.upkeep.decay_batch

    def attempt() -> tuple[Page, str | None]:
        rows = ctx.store.importance_rows(place, after, most, PREVIEW + 1)
        waiting = ctx.store.accesses(place, [g.id for g in rows], now + CENTURY_MS)
        states = {i: state for i, (state, _) in ctx.store.states(place, list(waiting)).items()} if waiting else {}
        page = decay_page(rows, states, waiting, asked, ctx.policy, now)
        if page.unwritten and not dry_run:
            plan = decay_plan(page, asked, plan_id=ctx.ids(now), namespace=place, policy=ctx.policy, now=now)
            ctx.store.apply(plan)
            operations.append(plan.id)
        return page, rows[-1].id if len(rows) == most else None

    return retry(attempt)

"""Upkeep by many workers: each takes a lease on a namespace that is due, sweeps it, and gives it back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol
from zlib import crc32

from perdure.operations.lifecycle.fit import places_to_fit
from perdure.operations.lifecycle.sweep import due_places, sweep_leased
from perdure.operations.ports import Context
from perdure.records.errors import LeaseLost, PerdureError, StoreUnavailable
from perdure.records.report import MaintenanceRound, SweepReport

LEASE_MS: Final = 60_000
"""A worker that dies keeps a namespace from the others for so long; each write extends the lease."""


@dataclass(slots=True)
class _Round:
    kept: int = 0
    lost: int = 0
    reports: list[SweepReport] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)

    def result(self, owner: str, due: int) -> MaintenanceRound:
        """Return what was done; where nothing was left to look at, another worker was here in the meantime."""
        swept = sum(bool(r.examined or r.operations or r.held) for r in self.reports)
        return MaintenanceRound(
            owner=owner,
            due=due,
            swept=swept,
            kept=self.kept + len(self.reports) - swept,
            lost=self.lost,
            examined=sum(r.examined for r in self.reports),
            moves=sum(len(r.moved) for r in self.reports),
            counted=sum(r.counted for r in self.reports),
            held=sum(len(h.ids) for r in self.reports for h in r.held),
            failed=self.failed,
        )


class SweepTurns(Protocol):
    """Which namespaces are this worker's to sweep now, by a schedule."""

    def begin(self, place: str) -> bool:
        """Whether to sweep it now."""

    def end(self, place: str, problem: str, *, moved: bool) -> None:
        """Take note of how it went, and whether it moved something; the problem is empty where there was none."""


def maintain(
    ctx: Context,
    *,
    owner: str,
    ttl: int = LEASE_MS,
    stop: Callable[[], bool] = lambda: False,
    turns: SweepTurns | None = None,
) -> MaintenanceRound:
    """Sweep every namespace that is due, or shows more than the policy's budget, and that no other worker keeps.

    Above its budget may also be one in which nothing is due: an earlier sweep failed after its moves were written.

    Workers may run on many machines, and their clocks may differ: a lease only keeps them from doing the same work
    twice. What makes it safe is the epoch, which every write of the sweep checks in its own transaction.
    """
    policies = dict.fromkeys(places_to_fit(ctx), ctx.policy.life)
    due = sorted((policies | dict(due_places(ctx, ctx.clock(), include_tried_today=False))).items())
    start = crc32(owner.encode()) % max(1, len(due))  # workers that start together begin at different places
    results = _Round()
    for place, policy in (*due[start:], *due[:start]):
        if stop():
            break
        if turns is None or turns.begin(place):
            before = len(results.reports)
            _sweep(ctx, place, policy, owner, ttl, results)
            if turns is not None:
                moved = any(report.moved for report in results.reports[before:])
                turns.end(place, results.failed.get(place, ""), moved=moved)
    return results.result(owner, len(due))


def _sweep(ctx: Context, place: str, policy: str, owner: str, ttl: int, results: _Round) -> None:
    """Sweep one namespace under a lease. What goes wrong there must not keep the others waiting."""
    try:
        lease = ctx.store.take_lease(place, owner, ctx.clock(), ttl)
        if lease is None:
            results.kept += 1
            return
        try:
            results.reports.append(sweep_leased(ctx, lease, policy))
        finally:
            ctx.store.release_lease(lease)
    except LeaseLost:
        results.lost += 1
    except StoreUnavailable:
        raise  # it would be so in every namespace, and each would wait for it
    except PerdureError as error:
        results.failed[place] = f"{error.message} {error.remedy}".strip()

"""Verbs about upkeep: sweeps, workers, forecasts, plans."""

from __future__ import annotations

from collections.abc import Callable

from perdure.operations import maintain, sweep
from perdure.operations.ports import Context
from perdure.records.report import Maintained, Report
from perdure.rules import asking, intake


class UpkeepVerbs:
    """Verbs about upkeep: sweeps, workers, forecasts, plans."""

    _context: Context

    def sweep(self, dry_run: bool = False, *, namespace: str | None = None) -> Report:
        """Move every memory to where it belongs by now. Safe to call at any time and as often as you like."""
        return sweep.sweep(self._context, dry_run=dry_run, namespace=asking.optional_namespace(namespace))

    def maintain(self, owner: str, *, stop: Callable[[], bool] = lambda: False) -> Maintained:
        """Sweep every namespace that is due and that no other worker keeps; one round.

        Args:
            owner: This worker's name, for its leases; no two workers may have the same.
            stop: Asked before each namespace; True ends the round.
        """
        return maintain.maintain(self._context, owner=intake.checked_text(owner, "owner", longest=200), stop=stop)

    def forecast(self, days: float, *, namespace: str | None = None) -> Report:
        """Return what would move within some days if nothing happened, without touching anything."""
        return sweep.forecast(self._context, asking.days(days), asking.optional_namespace(namespace))

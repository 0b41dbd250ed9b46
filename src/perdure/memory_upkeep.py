"""Verbs about upkeep: sweeps, workers, forecasts, plans."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from perdure.operations import journal, maintain, sweep
from perdure.operations.ports import Context
from perdure.records.plan import Plan
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

    def apply(self, plan: Plan, *, accept_loss: str | None = None) -> Plan:
        """Apply a plan that a dry run returned, exactly, or refuse because the store has moved on.

        Args:
            plan: As returned.
            accept_loss: Why a loss is accepted that the gates would stop; the journal keeps it.

        Raises:
            ConflictError: Memories have changed since, or the policy has; nothing was written.
            GateStopped: It would hide too much, or a canary would lose an answer; nothing was written.
        """
        return self.apply_all([plan], accept_loss=accept_loss)[0]

    def apply_all(self, plans: Sequence[Plan], *, accept_loss: str | None = None) -> list[Plan]:
        """Apply several plans in their order; all are compared with the store before the first is written.

        Args:
            plans: As a dry run returned them.
            accept_loss: As in ``apply``.

        Raises:
            PartlyStored: A later plan was refused; the error names the operations that were written.
        """
        checked = [asking.plan(plan) for plan in plans]
        reason = None if accept_loss is None else intake.checked_text(accept_loss, "accept_loss", longest=1000)
        return journal.apply(self._context, checked, reason)

    def forecast(self, days: float, *, namespace: str | None = None) -> Report:
        """Return what would move within some days if nothing happened, without touching anything."""
        return sweep.forecast(self._context, asking.days(days), asking.optional_namespace(namespace))

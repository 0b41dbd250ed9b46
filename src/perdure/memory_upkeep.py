"""Verbs about upkeep: sweeps, workers, forecasts, plans."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import Any

from perdure.operations import journal
from perdure.operations.lifecycle import maintain, sweep
from perdure.operations.lifecycle import maintenance_tasks as upkeep
from perdure.operations.ports import Context
from perdure.records.plan import Plan
from perdure.records.report import Maintained, Report, Upkept
from perdure.rules.validation import inputs as intake
from perdure.rules.validation import queries as asking


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

    def upkeep(
        self,
        owner: str,
        *,
        eager: bool = False,
        stop: Callable[[], bool] = lambda: False,
        known: MutableMapping[str, int] | None = None,
    ) -> Upkept:
        """Run what the policy's schedule says is due in every namespace: sweeps, reports, backups, verifications.

        Any number of workers may do so: each task of a namespace is run by one of them. Runs that were missed are
        caught up once; one that fails is written down and tried again after ``upkeep.retry_minutes``.

        Args:
            owner: This worker's name; no two workers may have the same.
            eager: Sweep whatever is due now, whatever the schedule says: for a timer of one's own.
            stop: Asked before each run; True ends the round.
            known: An empty dict, given again at each round, in which is kept where nothing is due for a while.
        """
        name = intake.checked_text(owner, "owner", longest=200)
        return upkeep.upkeep(self._context, owner=name, eager=eager, stop=stop, known=known)

    def upkeep_state(self, namespace: str = "default") -> dict[str, Mapping[str, Any]]:
        """Return task -> what is written down about it: last run, outcome, next run, and the last decay report."""
        return upkeep.state(self._context, intake.checked_namespace(namespace))

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
        reason = intake.optional_reason(accept_loss, self._context.policy)
        return journal.apply(self._context, checked, reason)

    def forecast(self, days: float, *, namespace: str | None = None) -> Report:
        """Return what would move within some days if nothing happened, without touching anything."""
        return sweep.forecast(self._context, asking.days(days), asking.optional_namespace(namespace))

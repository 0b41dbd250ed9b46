"""Verbs of maintenance: sweeps, forecasts, budgets, plans, checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

from perdure.records.damage import WHOLE, CheckScope
from perdure.verbs.checks import check_role
from perdure.verbs.declaration import Param, lazy_modules, verb
from perdure.verbs.parameters import AcceptLoss, DryRun, Everywhere, Namespace, TokenBudget

if TYPE_CHECKING:
    from perdure.operations import compact, journal, reembed, repair
    from perdure.operations.lifecycle import clocks, compression, fit, maintain, maintenance_tasks, sweep, task_runs
    from perdure.operations.ports import Context, Progress
    from perdure.records.plan import Plan
    from perdure.records.report import (
        CompressionReport,
        FitResult,
        MaintenanceResult,
        MaintenanceRound,
        ReembedResult,
        SweepReport,
    )
    from perdure.records.store_results import ApplyResult, CompactResult, RepairResult
    from perdure.rules import redaction
    from perdure.rules.validation import queries, values
else:
    compact, journal, reembed, repair = lazy_modules("perdure.operations", "compact", "journal", "reembed", "repair")
    clocks, compression, fit, maintain, maintenance_tasks, sweep, task_runs = lazy_modules(
        "perdure.operations.lifecycle",
        "clocks",
        "compression",
        "fit",
        "maintain",
        "maintenance_tasks",
        "sweep",
        "task_runs",
    )
    (redaction,) = lazy_modules("perdure.rules", "redaction")
    queries, values = lazy_modules("perdure.rules.validation", "queries", "values")
_PANEL: Final = "Maintenance"


class MaintainingVerbs:
    """Verbs of maintenance: sweeps, forecasts, budgets, plans, checks."""

    _context: Context

    @verb(
        _PANEL,
        lasts=True,
        hides=True,
        lifecycle=True,
        instead={"apply": "It applies what is due by itself; a dry run only reports."},
    )
    def sweep(
        self, dry_run: DryRun = False, *, namespace: Everywhere | None = None, accept_loss: AcceptLoss | None = None
    ) -> SweepReport:
        """Move memories that are due to their new tier, and archive those that the policy lets go.

        Safe to call at any time and as often as you like. Each operation can be undone. What the safety gates hold
        back is listed in ``held`` and tried again at every sweep.
        """
        clocks.refuse_wrong_clock(self._context, unless=dry_run)
        return sweep.sweep(self._context, dry_run=dry_run, namespace=namespace, accept_loss=accept_loss)

    @verb(_PANEL, lasts=True, reads=True)
    def forecast(
        self,
        days: Annotated[float, Param("How many days to look ahead.", ge=0, le=36_525, argument=True)] = 30.0,
        *,
        namespace: Everywhere | None = None,
        details: Annotated[bool, Param("List every move, not only the first 20.")] = False,
    ) -> SweepReport:
        """Show what would move within some days without further access. Changes nothing.

        Moves are counted by day, kind and rule; the first 20 are listed.
        """
        return sweep.forecast(self._context, days, namespace, details=details)

    @verb(
        _PANEL,
        lasts=True,
        hides=True,
        tell="Keep visible memories within a number of tokens: first by shorter forms, then by archiving. dry_run is "
        "TRUE by default and only reports. Whole texts are kept; restore and undo bring them back.",
    )
    def fit(
        self,
        namespace: Namespace = "default",
        tokens: TokenBudget | None = None,
        *,
        dry_run: DryRun = True,
        accept_loss: AcceptLoss | None = None,
    ) -> FitResult:
        """Keep visible memories within a number of tokens: first by shorter forms, then by archiving.

        Memories with the least value per token are shortened first. Whole texts are kept and still searched;
        ``restore`` brings them back, and ``undo`` reverses each operation (at most a thousand memories). Pinned,
        vault and hot memories stay as they are. What a safety gate stops is listed in ``held``; the rest is applied.

        Raises:
            InvalidInput: No budget is given, and the policy has none.
            ConflictError: Others kept changing the same memories; what was written before stays.
        """
        budget = queries.token_budget(tokens, self._context.policy)
        return fit.fit(self._context, namespace, budget, dry_run=dry_run, accept_loss=accept_loss)

    @verb(_PANEL, lasts=True, reads=True, role="curator")
    def compression(
        self,
        namespace: Namespace = "default",
        queries: Annotated[int, Param("How many past recalls to repeat.", ge=1, le=1000)] = 50,
    ) -> CompressionReport:
        """Report the tokens that shortened memories save, the meaning they keep, and what past recalls lose.

        Does not count as an access. Slow on a large namespace.
        """
        return compression.report(self._context, namespace, queries)

    @verb(_PANEL, lasts=True, tool=False, role="admin")
    def reembed(self, *, progress: Progress | None = None) -> ReembedResult:
        """Make a vector for every memory with the policy's embedder. Can be interrupted and resumed."""
        return reembed.reembed(self._context, progress=progress)

    @verb(_PANEL, lasts=True, tool=False)
    def optimize(self, namespace: Namespace = "default") -> dict[str, int]:
        """Update the search index of a large namespace. Changes no memory."""
        now, above = self._context.clock(), self._context.policy.recall.cells_above
        return dict(self._context.store.optimize(namespace, now, above))

    @verb(_PANEL, lasts=True, reads=True, items="faults", role="curator")
    def check(
        self,
        *,
        full: Annotated[bool, Param("Compare everything with the journal, not samples; search indexes too.")] = False,
        progress: Progress | None = None,
    ) -> list[str]:
        """Check the store for damage; an empty list means that none was found.

        What must hold between the tables is checked for all rows. Rows are compared with the journal, and the journal
        with its digests: samples of each namespace, or everything with ``full``. Others may read and write meanwhile.

        Args:
            full: Compare everything with the journal, not samples; search indexes too.
            progress: Called with (done, total) after each page of operations and memories.
        """
        scope = (WHOLE if full else CheckScope()).with_progress(progress)
        return [str(fault) for fault in self._context.store.check(scope)]

    @verb(_PANEL, lasts=True, tool=False, role="admin")
    def repair(
        self,
        *,
        source: Annotated[str, Param("A backup or another copy of the store, for altered and lost texts.", local=True)]
        | None = None,
        remove_lost: Annotated[bool, Param("Remove memories whose words nothing brings back.")] = False,
        by: Annotated[str, Param("Who decided to remove what is lost; kept.", longest=200, redacted=True)]
        | None = None,
        dry_run: DryRun = True,
    ) -> RepairResult:
        """Repair what a full check finds: rows are restored from the journal, search indexes are rebuilt.

        Altered or lost texts are in no journal: they come from ``source``, an undamaged copy. Backups are refused while
        something is lost for good, until ``remove_lost`` removes it and records which lines of the journal are lost.
        ``undo`` reverses a repair, except that a damaged file was written anew: ``kept`` names the old file.

        Raises:
            NotFound: There is no store at ``source``.
        """
        return repair.repair(self._context, source=source, removes_lost=remove_lost, by=by, dry_run=dry_run)

    @property
    def confirmed_losses(self) -> int:
        """How many losses somebody confirmed by ``repair(remove_lost=True)``: they are on record, and no faults."""
        return repair.confirmed_losses(self._context)

    @property
    def kept_copies(self) -> tuple[str, ...]:
        """The store as it was before repairs and restores: files beside it, which keep what is erased from it later."""
        return repair.kept_copies(self._context)

    @verb(_PANEL, lasts=True, tool=False, role="admin")
    def compact(self, *, dry_run: DryRun = True) -> CompactResult:
        """Free the space that trimming the journal and erasing left unused in a store. Changes no memory.

        A file is rewritten, which takes free disk space of twice its size; meanwhile others can read, and their writes
        wait. The tables of a server are vacuumed. Maintenance does it for small files where it pays
        (``upkeep.compact_share``).

        Raises:
            StoreBusy: Another process was writing; nothing was done.
            DiskFull: There is not enough free disk; nothing was done.
        """
        return compact.compact(self._context, dry_run=dry_run)

    def maintain(self, owner: str, *, stop: Callable[[], bool] = lambda: False) -> MaintenanceRound:
        """Sweep every namespace that is due and that no other worker keeps; one round.

        Args:
            owner: This worker's name, for its leases; no two workers may have the same.
            stop: Asked before each namespace; True ends the round.
        """
        name = values.checked_text(owner, "owner", longest=200)
        clocks.refuse_wrong_clock(self._context)
        return maintain.maintain(self._context, owner=name, stop=stop)

    def upkeep(
        self,
        owner: str,
        *,
        eager: bool = False,
        stop: Callable[[], bool] = lambda: False,
        known: MutableMapping[str, int] | None = None,
        progress: Progress | None = None,
    ) -> MaintenanceResult:
        """Run what the policy's schedule says is due in every namespace: sweeps, reports, backups, verifications.

        Of several workers one runs each task. Missed runs are caught up once; a failed one is tried again later.

        Args:
            owner: This worker's name; no two workers may have the same.
            eager: Sweep whatever is due now, whatever the schedule says.
            stop: Asked before each run; True ends the round.
            known: An empty dict, given again at each round: where nothing is due for a while.
            progress: Called with (done, total) namespaces: while those that are due are swept, then for all else.
        """
        name = values.checked_text(owner, "owner", longest=200)
        clocks.refuse_wrong_clock(self._context)
        return maintenance_tasks.upkeep(
            self._context, owner=name, eager=eager, stop=stop, known=known, progress=progress
        )

    def upkeep_state(self, namespace: str = "default") -> dict[str, Mapping[str, Any]]:
        """Return task -> what is written down about it: last run, outcome, next run, and the last decay report."""
        place = values.checked_namespace(namespace)
        return task_runs.state(self._context, place)

    def upkeep_states(self) -> dict[str, dict[str, Mapping[str, Any]]]:
        """Return namespace -> what ``upkeep_state`` returns, of all namespaces, by few statements."""
        return task_runs.states(self._context)

    def apply(self, plan: Plan, *, accept_loss: str | None = None) -> ApplyResult:
        """Apply a plan that a dry run returned, exactly, or refuse because the store has moved on.

        Args:
            plan: As returned.
            accept_loss: Why a loss is accepted that the gates would stop; the journal keeps it.

        Raises:
            ConflictError: Memories have changed since, or the policy has; nothing was written.
            GateStopped: It would hide too much, or a canary would lose an answer; nothing was written.
        """
        return self.apply_all([plan], accept_loss=accept_loss)

    def apply_all(self, plans: Sequence[Plan], *, accept_loss: str | None = None) -> ApplyResult:
        """Apply several plans in their order; all are compared with the store before the first is written.

        Args:
            plans: As a dry run returned them.
            accept_loss: As in ``apply``.

        Raises:
            PartlyStored: A later plan was refused; the error names the operations that were written.
        """
        check_role("curator", "apply", self)
        context = self._context
        checked = [queries.plan(plan, context.policy, context.clock()) for plan in plans]
        if accept_loss is not None:
            text = values.checked_text(accept_loss, "accept_loss", longest=1000)
            accept_loss = redaction.redact_by_policy(text, context.policy)
        return journal.apply(context, checked, accept_loss)

"""Verbs about what is shown of memories: shorter forms, and a namespace within a budget."""

from __future__ import annotations

from perdure.operations.lifecycle import compression as compressing
from perdure.operations.lifecycle import fit as fitting
from perdure.operations.ports import Context
from perdure.records.compression_results import CompressionReport, FitResult
from perdure.rules.validation import inputs as intake
from perdure.rules.validation import queries as asking


class FormVerbs:
    """Verbs about what is shown of memories: shorter forms, and a namespace within a budget."""

    _context: Context

    def fit(
        self,
        namespace: str = "default",
        tokens: int | None = None,
        *,
        dry_run: bool = False,
        accept_loss: str | None = None,
    ) -> FitResult:
        """Keep what recall may return within a number of tokens: shorter forms first, setting aside last.

        What loses the least worth for each token goes first. Whole texts are kept and still searched; ``restore``
        brings them back (and a day passes before they may be shortened again), and ``undo`` takes back each operation,
        of at most a thousand memories. Pinned, vault and hot memories stay as they are. What a gate stops is told in
        ``held``; the rest is done.

        Args:
            namespace: Which one.
            tokens: The budget; the policy's ``compression.visible_tokens`` if not given.
            dry_run: Only tell, with the plans; the loss budget is asked, the recall gate is not.
            accept_loss: Why the gates may be overridden; kept in the journal.

        Raises:
            InvalidInput: No budget is given, and the policy has none.
            ConflictError: Others kept changing the same memories; what was written before stays.
        """
        place = intake.checked_namespace(namespace)
        budget = asking.token_budget(tokens, self._context.policy)
        reason = intake.optional_reason(accept_loss, self._context.policy)
        return fitting.fit(self._context, place, budget, dry_run=dry_run, accept_loss=reason)

    def compression(self, namespace: str = "default", queries: int = 50) -> CompressionReport:
        """Return what compression saves and keeps: ratio, preservation, efficiency, and the recall log asked again.

        Args:
            namespace: Which one.
            queries: How many past recalls are asked again, 1 to 1000, the newest first, of what was known then; none
                of it is an access.
        """
        return compressing.report(self._context, intake.checked_namespace(namespace), asking.limit(queries))

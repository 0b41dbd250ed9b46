"""Verbs about what is shown of memories: shorter forms, and a namespace within a budget."""

from __future__ import annotations

from perdure.operations import compressing, fitting
from perdure.operations.ports import Context
from perdure.records.results_forms import CompressionReport, FitResult
from perdure.rules import asking, intake


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
        brings them back, and ``undo`` the whole step.

        Args:
            namespace: Which one.
            tokens: The budget; the policy's ``compression.visible_tokens`` if not given.
            dry_run: Only tell, with the plans.
            accept_loss: Why the gates may be overridden; kept in the journal.

        Raises:
            InvalidInput: No budget is given, and the policy has none.
            GateStopped: The loss budget or the recall gate stopped it; nothing was written.
        """
        place = intake.checked_namespace(namespace)
        budget = asking.token_budget(tokens, self._context.policy)
        reason = intake.optional_text(accept_loss, "accept_loss")
        return fitting.fit(self._context, place, budget, dry_run=dry_run, accept_loss=reason)

    def compression(self, namespace: str = "default", queries: int = 50) -> CompressionReport:
        """Return what compression saves and keeps: ratio, preservation, efficiency, and the recall log asked again.

        Args:
            namespace: Which one.
            queries: How many past recalls are asked again, 1 to 1000, the newest first; none of it is an access.
        """
        return compressing.report(self._context, intake.checked_namespace(namespace), asking.limit(queries))

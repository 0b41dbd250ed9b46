"""Verbs about learning: rates of change, procedures, back-tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from perdure.operations.lifecycle import backtest
from perdure.operations.ports import Context
from perdure.records.backtest_results import BacktestResult
from perdure.records.errors import InvalidInput
from perdure.records.policy import Policy
from perdure.rules.policy_check import policy_from
from perdure.rules.validation import groups as grouping
from perdure.rules.validation import inputs as intake
from perdure.rules.validation import queries as asking

if TYPE_CHECKING:
    from perdure.knowledge.records.learning_results import ProceduresResult, RatesResult


class LearningVerbs:
    """Verbs about learning: rates of change, procedures, back-tests."""

    _context: Context

    def rates(self, namespace: str = "default") -> RatesResult:
        """Return how fast facts of each sort change, as far as was seen, and which rates would be used.

        Each sort has its number of facts, changes and days watched, the rate at which confidence is lost, its 90 %
        interval, and why it is in use or not. Nothing is written.
        """
        from perdure.knowledge.operations.change_rates import rates  # noqa: PLC0415  # loaded on the first call

        return rates(self._context, intake.checked_namespace(namespace))

    def learn_rates(self, namespace: str = "default") -> RatesResult:
        """Write down how fast facts of each sort change: confidence then falls by those rates that are sure enough.

        A rate is used from ``knowledge.rate_changes`` changes on, if the upper end of its interval is at most
        ``knowledge.rate_width`` times the lower. ``undo`` takes it back.
        """
        from perdure.knowledge.operations.change_rates import learn_rates  # noqa: PLC0415  # loaded on the first call

        return learn_rates(self._context, intake.checked_namespace(namespace))

    def learn_procedures(
        self, namespace: str = "default", dry_run: bool = True, *, accept_loss: str | None = None
    ) -> ProceduresResult:
        """Learn what follows what in conversations ("when delivery comes up, invoice follows").

        Looked at is what people said in the last ``knowledge.procedure_days`` days. A topic must follow another within
        two messages in at least ``knowledge.procedure_sessions`` sessions and in half of those in which the first comes
        up, and neither that it comes up then nor that it comes up after may be an accident. Each becomes a memory of
        kind procedure; one that stops holding is archived, and comes back when it holds again.

        Args:
            namespace: Where.
            dry_run: Only tell; the result has the plan.
            accept_loss: Why procedures are archived that the gates would keep; the journal has it.

        Raises:
            GateStopped: It would archive too much; nothing was written.
        """
        from perdure.knowledge.operations.procedures import learn_procedures  # noqa: PLC0415  # loaded on the first call

        return learn_procedures(
            self._context,
            intake.checked_namespace(namespace),
            dry_run=grouping.checked_flag(dry_run, "dry_run"),
            accept_loss=None if accept_loss is None else intake.checked_text(accept_loss, "accept_loss", longest=1000),
        )

    def backtest(
        self, policy: Policy | Mapping[str, Any], namespace: str = "default", *, limit: int = 1000
    ) -> BacktestResult:
        """Return which hits of past recalls would have been missing under another policy, and what it would show.

        Every memory of the namespace lives again from its birth, under the other policy and under the one in force:
        what people decided and what recalls returned happens as it did. Nothing is written, and no gate is asked.

        Args:
            policy: The other policy: as ``perdure.load_policy`` returns it, or a dict as ``perdure.open`` takes.
            namespace: Where.
            limit: How many recalls of the log are judged, newest first, 1 to 1000.

        Raises:
            PolicyError: The policy has faults; all are listed.
        """
        if not isinstance(policy, Policy | Mapping):
            raise InvalidInput(
                "policy must be a policy or a dict of its sections.",
                remedy='Read a file with perdure.load_policy("other.toml").',
            )
        other = policy if isinstance(policy, Policy) else policy_from(policy)
        return backtest.backtest(self._context, intake.checked_namespace(namespace), other, asking.limit(limit))

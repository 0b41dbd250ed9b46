"""Verbs about learning: rates of change, procedures, back-tests."""

from __future__ import annotations

from perdure.operations import rates
from perdure.operations.ports import Context
from perdure.records.results_learning import RatesResult
from perdure.rules import intake


class LearningVerbs:
    """Verbs about learning: rates of change, procedures, back-tests."""

    _context: Context

    def rates(self, namespace: str = "default") -> RatesResult:
        """Return how fast facts of each sort change, as far as was seen, and which rates would be used.

        Each sort has its number of facts, changes and days watched, the rate at which confidence is lost, its 90 %
        interval, and why it is in use or not. Nothing is written.
        """
        return rates.rates(self._context, intake.checked_namespace(namespace))

    def learn_rates(self, namespace: str = "default") -> RatesResult:
        """Write down how fast facts of each sort change: confidence then falls by those rates that are sure enough.

        A rate is used from ``knowledge.rate_changes`` changes on, if the upper end of its interval is at most
        ``knowledge.rate_width`` times the lower. ``undo`` takes it back.
        """
        return rates.learn_rates(self._context, intake.checked_namespace(namespace))

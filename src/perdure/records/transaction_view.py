"""What a gate sees of a namespace while a plan is written but not final, in every store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from perdure.records.memory import Record
from perdure.records.policy_recall import RecallPolicy
from perdure.records.recall import Filters, Pool, Query


class TransactionView(Protocol):
    """Reads inside the transaction that writes a plan; what is read is gone if the plan is rolled back."""

    def search(self, query: Query, filters: Filters, policy: RecallPolicy) -> Pool:
        """Return the candidates for a query, as they would be after the plan."""

    def get(self, ids: Sequence[str]) -> list[Record]:
        """Return records in the order asked for; unknown ids are left out."""

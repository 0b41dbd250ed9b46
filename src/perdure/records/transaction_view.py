"""What a gate sees of a namespace while a plan is written but not final, in every store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from perdure.records.memory import Record
from perdure.records.policy_recall import RecallPolicy
from perdure.records.recall import Filters, Pool, Query
from perdure.records.usage import Usage


class SearchView(Protocol):
    """Reads of one namespace."""

    def search(self, query: Query, filters: Filters, policy: RecallPolicy) -> Pool:
        """Return the candidates for a query."""

    def get(self, ids: Sequence[str]) -> list[Record]:
        """Return records in the order asked for; unknown ids are left out."""
        ...


class TransactionView(SearchView, Protocol):
    """Reads inside the transaction that writes a plan, as after it; what is read is gone if it is rolled back."""

    def version(self) -> int:
        """Return how many plans the namespace has seen, with this one."""
        ...

    def usage(self) -> Usage:
        """Count what the namespace takes."""
        ...

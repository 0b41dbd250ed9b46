"""A look at a plan in a file before it is final."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from perdure.records.memory import Record
from perdure.records.policy import RecallPolicy
from perdure.records.recall import Filters, Pool, Query
from perdure.stores.sqlite import reading as read
from perdure.stores.sqlite.searching import Searches


class SqliteTransactionView:
    """A look at a plan before it is final. Runs inside the transaction that writes it."""

    def __init__(self, connection: apsw.Connection, searches: Searches, namespace: str) -> None:
        self._connection, self._searches, self._namespace = connection, searches, namespace

    def search(self, query: Query, filters: Filters, policy: RecallPolicy) -> Pool:
        """Return the candidates for a query, as they would be after the plan."""
        return self._searches.pool(self._namespace, query, filters, policy)

    def get(self, ids: Sequence[str]) -> list[Record]:
        """Return records in the order asked for."""
        return read.records(self._connection, self._namespace, ids)

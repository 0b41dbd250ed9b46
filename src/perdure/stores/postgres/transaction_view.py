"""A look at a plan on a server before it is final."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.records.memory import Record
from perdure.records.policy import RecallPolicy
from perdure.records.recall import Filters, Pool, Query
from perdure.stores.postgres import reading as read
from perdure.stores.postgres.searching import PostgresSearch
from perdure.stores.postgres.server import Session
from perdure.stores.words import Stemmer


class PostgresTransactionView:
    """A look at a plan before it is final. Runs inside the transaction that writes it."""

    def __init__(self, session: Session, stemmer: Stemmer, namespace: str) -> None:
        self._session, self._stemmer, self._namespace = session, stemmer, namespace

    def search(self, query: Query, filters: Filters, policy: RecallPolicy) -> Pool:
        """Return the candidates for a query, as they would be after the plan."""
        return PostgresSearch(self._session, policy, self._stemmer).pool(query, filters)

    def get(self, ids: Sequence[str]) -> list[Record]:
        """Return records in the order asked for."""
        return read.records(self._session, self._namespace, ids)

"""A look at a plan before it is final, in every store; runs inside the transaction that writes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from perdure.records.memory import Record
from perdure.records.policy_recall import RecallPolicy
from perdure.records.recall import Filters, Pool, Query
from perdure.records.store_rows import Usage
from perdure.stores import reading
from perdure.stores.statements import Session


class SqlTransactionView:
    """Reads of one namespace as they would be after the plan. See records/store_rows.py."""

    def __init__(self, session: Session, namespace: str, pool: Callable[[Query, Filters, RecallPolicy], Pool]) -> None:
        self._session, self._namespace, self._pool = session, namespace, pool

    def search(self, query: Query, filters: Filters, policy: RecallPolicy) -> Pool:
        return self._pool(query, filters, policy)

    def version(self) -> int:
        return int(self._session.value("namespace_version"))

    def usage(self) -> Usage:
        return reading.usage(self._session)

    def get(self, ids: Sequence[str]) -> list[Record]:
        return reading.records(self._session, self._namespace, ids)

"""One moment of a server: every read, of whatever namespace, sees what was committed when the first one began."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import psycopg

from perdure.records.errors import StoreReadOnly
from perdure.stores.postgres.address import Address
from perdure.stores.postgres.connections import make_ready
from perdure.stores.postgres.faults import translated
from perdure.stores.postgres.server import READING, PostgresSession, Reach, Server, connect, opening, scope

T = TypeVar("T")


class ServerSnapshot(Server):
    """One transaction that reads, held until it is closed. Row-level security holds each read as in any other.

    On a cluster each node has a moment of its own.
    """

    def __init__(self, address: Address) -> None:
        super().__init__(address)
        self._connection = connect(address)
        make_ready(self._connection)
        PostgresSession(
            self._connection, "admin", "", opening(self._connection, "admin", "", address.prefix, READING)
        ).open()

    def read(self, namespace: str, work: Callable[[PostgresSession], T], *, once: bool = False) -> T:  # noqa: ARG002  # the server's
        """Run reads of one namespace."""
        return self._within("routed", self.address.prefix + namespace, work)

    def everywhere(
        self,
        work: Callable[[PostgresSession], list[T]],
        *,
        limited: bool = True,  # noqa: ARG002  # the server's
        once: bool = False,  # noqa: ARG002  # the server's
    ) -> list[T]:
        """Run reads that may see every namespace with the connection's prefix."""
        return self._within("fan-out", "", work)

    def admin(self, work: Callable[[PostgresSession], T], *, reading: bool = True) -> T:  # noqa: ARG002  # the server's
        """Run statements about what belongs to no namespace."""
        return self._within("admin", "", work)

    def write(self, namespace: str, work: Callable[..., Any], *, flush: bool = True) -> Any:  # noqa: ARG002  # the server's
        """Refuse to write."""
        raise StoreReadOnly("A moment of a server is not written to.", remedy="Open the server itself.")

    def close(self) -> None:
        """End the transaction."""
        self._connection.close()
        super().close()

    def _within(self, reach: Reach, place: str, work: Callable[[PostgresSession], T]) -> T:
        try:
            return work(
                PostgresSession(
                    self._connection, reach, place, scope(self._connection, reach, place, self.address.prefix)
                )
            )
        except psycopg.Error as error:
            raise translated(error) from error

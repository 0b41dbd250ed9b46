"""Moving a server's rows: read out of one moment, and brought in by the one writer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, takewhile
from typing import Any, Final, LiteralString, TypeVar

import psycopg
from psycopg.errors import UniqueViolation

from perdure.records.errors import StoreReadOnly
from perdure.records.transfer import Cursor, Line
from perdure.stores.postgres.connections import make_ready
from perdure.stores.postgres.faults import translate_error
from perdure.stores.postgres.server import Address, Server, connect
from perdure.stores.postgres.session import READING, PostgresSession, Reach, opening_statements, scope
from perdure.stores.postgres.writing import AlreadyApplied, write_rows
from perdure.stores.transfer import LARGE, SqlTransfer, line_of, page_of, resume_bindings, there_already
from perdure.stores.words import Stemmer

T = TypeVar("T")


class ServerSnapshot(Server):
    """One transaction that reads, held until it is closed. Row-level security holds each read as in any other.

    On a cluster each node has a moment of its own.
    """

    def __init__(self, address: Address) -> None:
        super().__init__(address)
        self._connection = connect(address)
        make_ready(self._connection)
        seen = scope(self._connection, "admin", "", address.prefix)
        PostgresSession(self._connection, "admin", "", opening_statements(READING, seen)).open()

    def read(self, namespace: str, work: Callable[[PostgresSession], T], *, once: bool = False) -> T:  # noqa: ARG002  # the server's
        return self._run_scoped("routed", self.address.prefix + namespace, work)

    def everywhere(
        self,
        work: Callable[[PostgresSession], list[T]],
        *,
        limited: bool = True,  # noqa: ARG002  # the server's
        once: bool = False,  # noqa: ARG002  # the server's
    ) -> list[T]:
        return self._run_scoped("fan-out", "", work)

    def admin(self, work: Callable[[PostgresSession], T], *, reading: bool = True) -> T:  # noqa: ARG002  # the server's
        return self._run_scoped("admin", "", work)

    def write(self, namespace: str, work: Callable[..., Any], *, flush: bool = True) -> Any:  # noqa: ARG002  # the server's
        raise StoreReadOnly("A snapshot of a server is read-only.", remedy="Open the server itself.")

    def close(self) -> None:
        self._connection.close()
        super().close()

    def _run_scoped(self, reach: Reach, place: str, work: Callable[[PostgresSession], T]) -> T:
        try:
            return work(
                PostgresSession(
                    self._connection, reach, place, scope(self._connection, reach, place, self.address.prefix)
                )
            )
        except psycopg.Error as error:
            raise translate_error(error) from error


_SIZED_PARTS: Final = {"memory", "journal"}  # parts whose rows may be large: how many fit a page is asked first

_DETOURS: Final[tuple[LiteralString, ...]] = (
    *("enable_seqscan", "enable_bitmapscan", "enable_hashjoin", "enable_mergejoin", "enable_sort"),
)
"""Plans that sort a whole namespace for each page. A planner without statistics, as after a copy, would take them."""


class PostgresTransfer(SqlTransfer):
    """Rows of one server."""

    def __init__(
        self,
        rows: Callable[..., list[tuple[Any, ...]]],
        shared: Callable[..., list[tuple[Any, ...]]],
        server: Server,
        stemmer: Stemmer,
    ) -> None:
        super().__init__(rows, shared)
        self._server, self._stemmer = server, stemmer

    def read(self, namespace: str, part: str, after: Cursor | None, limit: int) -> list[tuple[Cursor, Line]]:
        rows = self._server.read(namespace, lambda s: _page(s, part, resume_bindings(part, after), limit))
        return [line_of(part, row) for row in rows]

    def write(self, namespace: str, part: str, rows: Sequence[Line], before: int) -> None:
        try:
            self._server.write(namespace, lambda s, again: self._write(s, namespace, part, rows, before, again=again))
        except AlreadyApplied:
            return
        except UniqueViolation as error:
            raise there_already(part) from error

    def _write(
        self, session: PostgresSession, namespace: str, part: str, rows: Sequence[Line], before: int, *, again: bool
    ) -> None:
        if part == "namespace":
            _write_namespace(session, rows)
            return
        # From here on the namespace is ours: an earlier try is over, whether its client was still there or not.
        number = int(session.value("number_operations", more=len(rows) if part == "operation" else 0) or 0)
        if again and session.value(f"size_of_{part}") >= before + len(rows):
            raise AlreadyApplied
        if part == "operation":
            _write_operations(session, rows, number)
        elif part == "recall":
            for row in rows:
                session.run("insert_recall", **row)
        elif part == "journal":
            session.run_rows("insert_journal", rows)
        else:
            write_rows(session, page_of(namespace, part, rows), self._stemmer)
        if part == "memory" and (keyed := [(key, row["id"]) for row in rows for key in row["keys"]]):
            session.run("insert_key", key=[k for k, _ in keyed], id=[i for _, i in keyed])


def _page(session: PostgresSession, part: str, after: dict[str, int | str], limit: int) -> list[tuple[Any, ...]]:
    sized = part in _SIZED_PARTS
    with session.together():
        for setting in _DETOURS:
            session.set_local(setting, "off")
        first = session.run(f"move_{part}_sizes" if sized else f"move_{part}", limit=limit, **after)
    found = first.fetchall()
    if not sized or not found:
        return found
    fitting = len(list(takewhile(lambda total: total <= LARGE, accumulate(int(size) for (size,) in found))))
    return session.rows(f"move_{part}", limit=max(1, fitting), **after)


def _write_namespace(session: PostgresSession, rows: Sequence[Line]) -> None:
    nothing = dict.fromkeys(("rows", "documents", "length", "vectors"), 0)
    for row in rows:
        session.run("bump_version", at=row["created_ms"], policy=row["policy"], **nothing)


def _write_operations(session: PostgresSession, rows: Sequence[Line], last: int) -> None:
    """Number them in their order, so that no later version of the namespace has one of their numbers."""
    for number, row in enumerate(rows, last - len(rows) + 1):
        session.run("insert_operation", number=number, **row)

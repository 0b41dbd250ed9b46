"""One open transaction of a PostgreSQL server: what it may see, the statements that it runs, and its time limit.

At the limit its statement is cancelled, and where even that brings no answer, its line is cut. A server that is
halted or cut off without a word keeps no limit of its own. It has one for clients that are: see ``scope``.
"""

from __future__ import annotations

import os
import re
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal

import psycopg
from psycopg import sql

from perdure.records.deadline import deadline_error, is_over, longest_wait, seconds_left
from perdure.records.errors import StoreBusy, StoreError
from perdure.stores.postgres.connections import Connection, array_of, array_types
from perdure.stores.postgres.distribution import limit_to_living
from perdure.stores.statements import Line, fill_filters, registry, with_columns

Reach = Literal["routed", "fan-out", "admin"]
Mode = Literal["reading", "writing", "writing, not flushed", "admin"]
Query = str | sql.SQL | sql.Composed
Opening = tuple[Query, dict[str, str]]

READING: Final = "reading"
WRITING: Final = "writing"
UNFLUSHED: Final = "writing, not flushed"
ADMIN: Final = "admin"

_BEGIN_READING: Final = sql.SQL("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
_ENDED: Final = (
    "set_config(%(ended_by)b, CASE current_setting(%(ended_by)b) WHEN '0' THEN %(after)b"
    " ELSE current_setting(%(ended_by)b) END, true)"
)
"""The server's own limit for a transaction, unless its operator has set one."""
_SCOPE: Final = sql.SQL(
    "SELECT set_config('jit', 'off', true), set_config('perdure.reach', %(reach)b, true),"
    " set_config('perdure.prefix', %(prefix)b, true), set_config('perdure.namespace', %(namespace)b, true),"
    f" {_ENDED}"
)
"""One statement that is prepared once, whatever the namespace."""
_PLACEHOLDER: Final = re.compile(r"(?<![:\w]):(\w+)")
GRACE: Final = 0.5  # seconds that a server has to obey a cancellation; with two looks a call outlasts its time by one
_SENDING: Final = 2.0  # seconds that a cancellation may take to arrive, also after the line was cut
NODE_SECONDS: Final = 5.0  # for a connection of a cluster's coordinator to one of its nodes
_TRANSACTION_TIMEOUT: Final = 17_00_00  # the first version with a limit for whole transactions
_AFTERWARDS: Final = 3.0  # seconds after a transaction's limit in which its client would have cut it off by itself
_LEAST: Final = 10  # milliseconds: Citus takes no fewer
_PAUSE: Final = 0.25  # seconds between two looks
_IDLE: Final = 40  # after so many looks without a transaction the thread ends; the next transaction starts another


@cache
def _text(statement: str) -> str:
    return _PLACEHOLDER.sub(r"%(\1)b", statement.replace("%", "%%")).rstrip(";\n")


class PostgresSession:
    """One open transaction and what it may see. Runs statements of the registry, and nothing else."""

    def __init__(self, connection: Connection, reach: Reach, place: str, opening: Sequence[Opening] = ()) -> None:
        self.connection, self.reach, self.place = connection, reach, place
        self.opening = opening  # the statements that open the transaction
        self.unsent = list(opening)  # of these, what was not sent yet
        self.closing = False  # whether what is run next is all: the transaction ends in the same round trip
        self.ended = False
        self.pipeline: psycopg.Pipeline | None = None
        self.committing = False
        self.living: list[str] | None = None  # a fan-out sees these namespaces only; None is all

    def run(
        self,
        name: str,
        parts: tuple[str, ...] | None = None,
        slots: Mapping[str, str] | None = None,
        /,
        **bindings: Any,
    ) -> psycopg.Cursor[tuple[Any, ...]]:
        """Run a named statement; a routed one is bound to this transaction's namespace.

        ``parts`` are conditions of the registry that fill the slot ``{filters}``, ``slots`` numbers that its type names
        need.
        """
        text = registry("postgres")[name].sql if parts is None else fill_filters("postgres", name, parts)
        for slot, number in (slots or {}).items():
            text = text.replace(f"{{{slot}}}", str(int(number)))
        return self._run(name, text, bindings)

    def run_with(
        self,
        name: str,
        columns: Sequence[str],
        checked: Sequence[str],
        types: tuple[tuple[str, str], ...],
        /,
        **bindings: Any,
    ) -> psycopg.Cursor[tuple[Any, ...]]:
        """Run a named statement for some columns."""
        text = with_columns("postgres", name, tuple(columns), tuple(checked), "", types)
        return self._run(name, text, bindings)

    def run_rows(self, name: str, rows: Sequence[Mapping[str, Any]]) -> psycopg.Cursor[tuple[Any, ...]]:
        """Run a named statement once for all rows: their values go out as one array for each column that it takes."""
        lists = [binding for binding, _ in array_types(_text(registry("postgres")[name].sql))]
        bindings = {binding: [row[binding] for row in rows] for binding in lists}
        return self.run(name, **(bindings or rows[0]))

    def _run(self, name: str, text: str, bindings: dict[str, Any]) -> psycopg.Cursor[tuple[Any, ...]]:
        return self._send(*self._bound(name, text, bindings))

    def _bound(self, name: str, text: str, bindings: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return a statement as the driver takes it, with its values; one of another reach is refused."""
        kind = registry("postgres")[name].kind
        if kind not in (self.reach, "admin"):
            raise StoreError(
                f"The {kind} statement {name} was run in a {self.reach} transaction.", remedy="Report this."
            )
        if kind == "routed":
            bindings["namespace"] = self.place
        if kind == "fan-out" and self.living is not None:
            text, bindings["living"] = limit_to_living(text), self.living
        query = _text(text)
        for binding, element in array_types(query):
            if isinstance(bindings[binding], list):
                bindings[binding] = array_of(element, bindings[binding])
        return query, bindings

    def _send(self, query: Query, bindings: Mapping[str, Any] | None = None) -> psycopg.Cursor[tuple[Any, ...]]:
        """Run a statement; what opens and ends the transaction goes with it."""
        if self.pipeline is None and (self.unsent or self.closing or self.ended):
            with self.together():
                return self.connection.execute(query, bindings)
        return self.connection.execute(query, bindings)

    def open(self) -> None:
        """Send what opens the transaction, if it was not sent yet."""
        unsent, self.unsent = self.unsent, []
        for query, bindings in unsent:
            self.connection.execute(query, bindings or None)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Send the statements of the block without waiting for each other's answers: these are there after it."""
        if self.pipeline is not None:
            yield
            return
        if self.ended:  # there was more to read after all, which opens another one
            self.unsent, self.ended = list(self.opening), False
        try:
            with self.connection.pipeline() as self.pipeline:
                self.open()
                yield
                if self.closing:
                    self.connection.execute("COMMIT")
                    self.ended = True
        finally:
            self.pipeline = None

    def several(self, *calls: tuple[str, dict[str, Any]]) -> list[list[tuple[Any, ...]]]:
        with self.together():
            cursors = [self.run(name, **bindings) for name, bindings in calls]
        return [cursor.fetchall() for cursor in cursors]

    def rows(
        self,
        name: str,
        parts: tuple[str, ...] | None = None,
        slots: Mapping[str, str] | None = None,
        /,
        **bindings: Any,
    ) -> list[tuple[Any, ...]]:
        return self.run(name, parts, slots, **bindings).fetchall()

    def lines(self, name: str, /, **bindings: Any) -> list[Line]:
        return self.run(name, **bindings).fetchall()

    def stream(self, name: str, /, **bindings: Any) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a named statement one by one, however many there are."""
        query, bound = self._bound(name, registry("postgres")[name].sql, bindings)
        self.open()
        return self.connection.cursor().stream(query, bound)

    def value(self, name: str, /, **bindings: Any) -> Any:
        row = self.run(name, **bindings).fetchone()
        return None if row is None else row[0]

    def changed_rows(self, name: str, /, **bindings: Any) -> int:
        """Run a named statement, wait for it, and return how many rows it changed."""
        cursor = self.run(name, **bindings)
        self.settle()
        return cursor.rowcount

    def settle(self) -> None:
        """Wait until all statements so far have been run: only then their counts of rows are known."""
        if self.pipeline is not None:
            self.pipeline.sync()

    def set_local(self, setting: str, value: str | int) -> None:
        """Set a planner's switch until the end of this transaction."""
        self._send(sql.SQL("SET LOCAL {} = {}").format(sql.SQL(setting), sql.Literal(value)))


def opening_statements(mode: Mode, seen: Sequence[Opening]) -> list[Opening]:
    """Return the statements that open a transaction; ``seen`` are those that say what it may see."""
    begin: list[Opening] = [(_BEGIN_READING if mode == READING else sql.SQL("BEGIN"), {})]
    if mode == UNFLUSHED:
        begin.append((sql.SQL("SET LOCAL synchronous_commit = off"), {}))
    opened = [*begin, *seen]
    if (waits := longest_wait()) is not None and mode in (WRITING, UNFLUSHED):
        # 0 would be no limit; on a cluster it goes to the nodes too
        opened.append((sql.SQL("SET LOCAL lock_timeout = {}").format(sql.Literal(max(1, int(1000 * waits)))), {}))
    return opened


def scope(
    connection: Connection,
    reach: Reach,
    place: str,
    prefix: str,
    *,
    seconds: float | None = None,
    known: bool = True,
) -> list[Opening]:
    """Return the statements that say what the open transaction may see from here on, and when the server ends it.

    ``seconds`` are its limit, None for none; ``known`` says whether what the tries before this one have written is
    known.
    Citus takes what is set locally to its workers only where it is told to, and only what SET LOCAL sets.
    """
    settings, ended = (
        {"perdure.reach": reach, "perdure.prefix": prefix, "perdure.namespace": place},
        _end_settings(connection),
    )
    ended["after"] = "0" if seconds is None else f"{int(1000 * (seconds + _AFTERWARDS))}ms"
    if not connection.clustered:
        return [(_SCOPE, {name.removeprefix("perdure."): value for name, value in settings.items()} | ended)]
    timeout = str(node_milliseconds(known=known))
    waits = {"citus.node_connection_timeout": timeout, "citus.propagate_set_commands": "local"}
    return [
        (sql.SQL(f"SELECT {_ENDED}"), ended),
        *(
            (sql.SQL("SET LOCAL {} = {}").format(sql.SQL(name), sql.Literal(value)), {})
            for name, value in {**waits, "jit": "off", **settings}.items()
        ),
    ]


def _end_settings(connection: Connection) -> dict[str, str]:
    """Return which of its settings a server ends a transaction by whose client is halted.

    Before version 17 it has none but for one that is idle, which it is not between two statements that are sent
    without waiting for an answer.
    """
    new = connection.info.server_version >= _TRANSACTION_TIMEOUT
    return {"ended_by": "transaction_timeout" if new else "idle_in_transaction_session_timeout"}


@dataclass(slots=True, eq=False)
class TransactionLimit:
    """One transaction under way."""

    connection: Connection
    until: float  # by the monotonic clock, in seconds
    passed: bool = False  # whether the time is over, and the statement was cancelled


class Deadlines:
    """Watches the transactions of one process, in one thread. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._limits: dict[TransactionLimit, None] = {}
        self._watching = 0

    @contextmanager
    def limit(self, connection: Connection, seconds: float | None) -> Iterator[TransactionLimit]:
        """Cancel what a connection does if the block takes longer; None sets no limit."""
        limit = TransactionLimit(connection, time.monotonic() + (seconds or 0.0))
        if seconds is None:
            yield limit
            return
        with self._lock:
            self._limits[limit] = None
            if self._watching != os.getpid():  # a forked child has no thread of its own yet
                self._watching = os.getpid()
                threading.Thread(target=self._watch, name="perdure-deadlines", daemon=True).start()
        try:
            yield limit
        finally:
            with self._lock:
                self._limits.pop(limit, None)

    def _watch(self) -> None:
        idle, pause = 0, threading.Event()
        while idle <= _IDLE:
            pause.wait(_PAUSE)
            with self._lock:
                now = time.monotonic()
                for limit in [one for one in self._limits if one.until <= now]:
                    self._end(limit, now)
                idle = 0 if self._limits else idle + 1
                if idle > _IDLE:
                    self._watching = 0

    def _end(self, limit: TransactionLimit, now: float) -> None:
        if limit.passed:
            del self._limits[limit]
            _shut_socket(limit.connection)
            return
        limit.passed, limit.until = True, now + GRACE
        threading.Thread(target=_cancel, args=(limit.connection,), daemon=True).start()


def _cancel(connection: Connection) -> None:
    with suppress(Exception):  # it answers by now, or it will be cut
        connection.cancel_safe(timeout=_SENDING)


def _shut_socket(connection: Connection) -> None:
    """Shut a connection's socket, so that whoever waits for an answer is told at once that none comes."""
    with suppress(Exception):  # it was closed meanwhile
        line = socket.socket(fileno=os.dup(connection.pgconn.socket))
        with line:
            line.shutdown(socket.SHUT_RDWR)


def node_milliseconds(*, known: bool = True) -> int:
    """Return how long a cluster's coordinator may wait for a node that does not even refuse a connection.

    It is a quarter of the call's time at most, so that the other nodes are heard in what is left. ``known`` is for the
    error, as below.
    """
    return max(_LEAST, int(1000 * min(NODE_SECONDS, (seconds_left(4 * NODE_SECONDS, known=known) or 0.0) / 4)))


def too_late(seconds: int, *, known: bool) -> StoreBusy:
    """Return the error of a transaction that took too long.

    ``known`` is False where it may have been written: it was being committed, or one before it was.
    """
    if is_over():
        return deadline_error(known=known)
    fate = "Nothing was written" if known else "Whether it was written is not known"
    return StoreBusy(
        f"The server did not answer within {seconds} s. {fate}.",
        remedy="Try again; with an idempotency key nothing is stored twice. timeout=60 in the URL waits longer.",
    )

"""Connections kept for the next transaction. Whoever needs one makes it, so what the server says is known at once.

Waiting callers are served in the order in which they came. A forked child starts without connections of its own.

Lists go out as binary arrays: a batch of memories is a few dozen of them, and the driver's own dumper goes through
Python for each element; numbers go through numpy here (decision 0010).
"""

from __future__ import annotations

import logging
import os
import re
import struct
import threading
import time
from collections import deque
from collections.abc import Sequence
from functools import cache, cached_property, lru_cache
from typing import Any, Final

import numpy as np
import psycopg
from psycopg.adapt import Buffer, Dumper, Loader
from psycopg.pq import Format, TransactionStatus
from psycopg.types import TypeInfo

from perdure.records.deadline import deadline_error, is_over, patience
from perdure.records.errors import StoreBusy, StoreClosed
from perdure.stores.statements import registry

_CAST: Final = re.compile(r"CAST\(%\((\w+)\)b\s+AS\s+([a-z\s]+?)\[\]\)")
_HEADER: Final = struct.Struct(">iiIii")
_LENGTH: Final = struct.Struct(">i")
_NULL: Final = b"\xff\xff\xff\xff"
_NUMBERS: Final = {
    "bigint": (20, np.dtype([("size", ">i4"), ("value", ">i8")])),
    "integer": (23, np.dtype([("size", ">i4"), ("value", ">i4")])),
    "double precision": (701, np.dtype([("size", ">i4"), ("value", ">f8")])),
    "boolean": (16, np.dtype([("size", ">i4"), ("value", "?")])),
}
"""SQL type -> its number in the catalogue, and how an element lies in an array."""

_TEXT: Final = 25
_SHORT: Final = 24  # shorter texts are words and names, which come again and again: their elements are remembered

_ARRAY_OF: Final = {20: 1016, 23: 1007, 701: 1022, 16: 1000, _TEXT: 1009}


class Connection(psycopg.Connection[tuple[Any, ...]]):
    """One connection, and what is known of its database."""

    clustered: bool = False  # whether the database has the extension citus

    @cached_property
    def spaces(self) -> dict[str, int]:
        """The numbers of embedding spaces that were read through it, by name."""
        return {}


IDLE_SECONDS: Final = 300.0  # a connection that nobody has used for so long is closed, so that idle processes hold none

POOL_SECONDS: Final = 30.0  # a caller waits so long for one of the connections
PREPARED_AFTER: Final = 5  # a statement that a connection has run so often is prepared
PATIENCE: Final = {
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}
"""What libpq is passed unless the URL says otherwise: a machine that vanished is noticed in seconds, not in hours."""

logging.getLogger("psycopg").addHandler(logging.NullHandler())  # what it ignores is no news for whoever uses us

_abandoned: list[Connection] = []  # in a forked child: connections that are still the parent's, and must not be closed


def open_connection(dsn: str, *, prepares: bool = True, seconds: float = 3600.0) -> Connection:
    """Open one connection; what it runs again and again is prepared, or never anything.

    A caller that has only so many ``seconds`` waits no longer for it, but two, the least that libpq knows.
    """
    params = psycopg.conninfo.conninfo_to_dict(dsn)
    missing: dict[str, Any] = {name: value for name, value in PATIENCE.items() if name not in params}
    missing["connect_timeout"] = max(
        2, min(int(params.get("connect_timeout") or PATIENCE["connect_timeout"]), int(seconds))
    )
    # Texts go out as UTF-8, whatever the environment or the URL says of the client.
    threshold = PREPARED_AFTER if prepares else None
    return Connection.connect(dsn, autocommit=True, prepare_threshold=threshold, client_encoding="utf8", **missing)


def make_ready(connection: Connection) -> None:
    """Teach a new connection our arrays, and find out what its database is."""
    prepare(connection)
    connection.clustered = connection.execute(registry("postgres")["has_citus"].sql).fetchone() == (True,)


class Connections:
    """A bounded set of connections to one server. Safe to share between threads."""

    def __init__(self, dsn: str, most: int, *, prepares: bool = True) -> None:
        self._dsn, self._most, self._prepares = dsn, most, prepares
        self._closed = False
        self._start()

    def _start(self) -> None:
        self._owner = os.getpid()
        self._changed = threading.Condition()
        self._waiting: deque[object] = deque()
        self._idle: deque[tuple[float, Connection]] = deque()
        self._out = 0
        self._pruner: threading.Timer | None = None

    def take(self, seconds: float | None = None) -> Connection:
        """Return a connection that is the caller's until it is given back; wait for so long, 30 s at most.

        Raises:
            StoreBusy: All were in use for so long.
            StoreClosed: The store was closed.
            psycopg.OperationalError: A new one was needed, and the server cannot be reached or refuses.
        """
        if os.getpid() != self._owner:
            _abandoned.extend(connection for _, connection in self._idle)
            self._start()
        seconds = POOL_SECONDS if seconds is None else min(POOL_SECONDS, seconds)
        idle = self._turn(seconds)
        if idle is not None:
            return idle
        fresh = None
        try:
            fresh = open_connection(self._dsn, prepares=self._prepares, seconds=patience(seconds))
            make_ready(fresh)
        except BaseException:
            self._put_back(fresh, good=False)
            raise
        return fresh

    def _turn(self, seconds: float) -> Connection | None:
        """Wait until one more may be in use, and return one that is idle if there is any."""
        mine = object()
        with self._changed:
            self._waiting.append(mine)
            try:
                free = self._changed.wait_for(
                    lambda: self._closed or (self._waiting[0] is mine and self._out < self._most), seconds
                )
                if self._closed:
                    raise StoreClosed("The store was closed.", remedy="Open it again.")
                if not free and is_over():
                    raise deadline_error()
                if not free:
                    raise StoreBusy(
                        f"All {self._most} connections were in use for {seconds:g} s.",
                        remedy="Try again, or raise pool_size in the URL.",
                    )
                self._out += 1
                return self._idle.pop()[1] if self._idle else None
            finally:
                self._waiting.remove(mine)
                self._changed.notify_all()

    def give(self, connection: Connection) -> None:
        """Take a connection back; one that is broken or in the middle of something is closed."""
        if os.getpid() != self._owner:
            _abandoned.append(connection)
            return
        self._put_back(connection, good=connection.pgconn.transaction_status == TransactionStatus.IDLE)

    def _put_back(self, connection: Connection | None, *, good: bool) -> None:
        with self._changed:
            self._out -= 1
            if connection is not None and good and not self._closed:
                self._idle.append((time.monotonic(), connection))
                connection = None
                self._watch()
            self._changed.notify_all()
        if connection is not None:
            connection.close()

    def forget(self, older_than: float = 0.0) -> None:
        """Close the connections that nobody has used for so many seconds: all of them when the server was lost."""
        until = time.monotonic() - older_than
        with self._changed:
            idle = [c for since, c in self._idle if since <= until]
            self._idle = deque(pair for pair in self._idle if pair[0] > until)
        for connection in idle:
            connection.close()

    def _watch(self) -> None:
        if self._pruner is None:
            self._pruner = threading.Timer(IDLE_SECONDS, self._prune)
            self._pruner.daemon = True
            self._pruner.start()

    def _prune(self) -> None:
        self.forget(IDLE_SECONDS)
        with self._changed:
            self._pruner = None
            if self._idle and not self._closed:
                self._watch()

    def close(self) -> None:
        """Close all connections, those in use when they are given back. Calling it twice is harmless."""
        if os.getpid() != self._owner:
            return
        with self._changed:
            self._closed = True
            pruner, self._pruner = self._pruner, None
            self._changed.notify_all()
        if pruner is not None:
            pruner.cancel()
        self.forget()


class Array:
    """A list that goes to the server as an array of one element type."""

    def __init__(self, oid: int, data: bytes) -> None:
        self.oid, self.data = oid, data


class Halfvecs:
    """Vectors of int8 that go to the server as an array of halfvec; int8 [n, d]."""

    def __init__(self, rows: Sequence[np.ndarray[Any, np.dtype[np.int8]]]) -> None:
        self.rows = rows


@cache
def array_types(text: str) -> tuple[tuple[str, str], ...]:
    """Return (binding, element type) for each list that a statement casts to an array."""
    return tuple({name: " ".join(kind.split()) for name, kind in _CAST.findall(text)}.items())


def array_of(kind: str, values: Sequence[Any]) -> Array | Sequence[Any]:
    """Return a list as an array; None inside stays NULL. Element types unknown here are left to the driver."""
    if kind == "text":
        return Array(_ARRAY_OF[_TEXT], _head(_TEXT, values) + b"".join(map(_element, values)))
    if kind not in _NUMBERS:
        return values
    oid, layout = _NUMBERS[kind]
    if None in values:
        plain = {"bigint": ">q", "integer": ">i", "double precision": ">d", "boolean": ">?"}[kind]
        packed = struct.Struct(plain)
        size = _LENGTH.pack(packed.size)
        return Array(
            _ARRAY_OF[oid], _head(oid, values) + b"".join(_NULL if v is None else size + packed.pack(v) for v in values)
        )
    out = np.empty(len(values), layout)
    out["size"] = layout["value"].itemsize
    out["value"] = values
    return Array(_ARRAY_OF[oid], _head(oid, values) + out.tobytes())


def _head(oid: int, values: Sequence[Any]) -> bytes:
    if not values:
        return struct.pack(">iiI", 0, 0, oid)
    return _HEADER.pack(1, int(None in values), oid, len(values), 1)


def _element(value: str | None) -> bytes:
    if value is None:
        return _NULL
    return _short(value) if len(value) <= _SHORT else _pack_text(value)


def _pack_text(value: str) -> bytes:
    data = value.encode()
    return _LENGTH.pack(len(data)) + data


_short = lru_cache(maxsize=20_000)(_pack_text)


class _ArrayDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Array) -> bytes:
        return obj.data

    def get_key(self, obj: Array, format: object) -> Any:  # noqa: A002, ARG002  # the driver's signature
        return (Array, obj.oid)

    def upgrade(self, obj: Array, format: object) -> Dumper:  # noqa: A002, ARG002  # the driver's signature
        dumper = type(self)(Array)
        dumper.oid = obj.oid
        return dumper


def prepare(connection: psycopg.Connection[Any]) -> None:
    """Teach a new connection the arrays; a database without pgvector is refused later, with a better message."""
    connection.adapters.register_dumper(Array, _ArrayDumper)
    info = TypeInfo.fetch(connection, "halfvec")
    if info is None:
        return

    one, many = info.oid, info.array_oid

    class _HalfvecsDumper(Dumper):
        format = Format.BINARY
        oid = many

        def dump(self, obj: Halfvecs) -> bytes:
            return _halfvecs(one, obj.rows)

    connection.adapters.register_dumper(Halfvecs, _HalfvecsDumper)
    connection.adapters.register_loader(one, _HalfvecLoader)


class _HalfvecLoader(Loader):
    """A vector on the grid of int8, as its bytes."""

    def load(self, data: Buffer) -> bytes:
        return np.fromstring(bytes(data)[1:-1], dtype=np.float32, sep=",").astype(np.int8).tobytes()


def _halfvecs(oid: int, rows: Sequence[np.ndarray[Any, np.dtype[np.int8]]]) -> bytes:
    parts = [_HEADER.pack(1, 0, oid, len(rows), 1)]
    for row in rows:
        parts += (struct.pack(">ihh", 4 + 2 * len(row), len(row), 0), row.astype(">f2").tobytes())
    return b"".join(parts)

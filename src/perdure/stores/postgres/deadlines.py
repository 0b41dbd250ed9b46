"""A time limit for a transaction: its statement is cancelled, and where even that brings no answer, its line is cut.

The server's own limits (statement_timeout, lock_timeout) stay the operator's. A server that is halted or cut off
without a word keeps none of them, so the client watches.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

from perdure.records.deadline import deadline_error, is_over, seconds_left
from perdure.records.errors import StoreBusy
from perdure.stores.postgres.connections import Connection

GRACE: Final = 0.5  # seconds that a server has to obey a cancellation; with two looks a call outlasts its time by one
_SENDING: Final = 2.0  # seconds that a cancellation may take to arrive, also after the line was cut
NODE_SECONDS: Final = 5.0  # for a connection of a cluster's coordinator to one of its nodes
_LEAST: Final = 10  # milliseconds: Citus takes no fewer
_PAUSE: Final = 0.25  # seconds between two looks
_IDLE: Final = 40  # after so many looks without a transaction the thread ends; the next transaction starts another


@dataclass(slots=True, eq=False)
class Limit:
    """One transaction under way."""

    connection: Connection
    until: float  # by the monotonic clock, in seconds
    passed: bool = False  # whether the time is over, and the statement was cancelled


class Deadlines:
    """Watches the transactions of one process, in one thread. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._limits: dict[Limit, None] = {}
        self._watching = 0

    @contextmanager
    def limit(self, connection: Connection, seconds: float | None) -> Iterator[Limit]:
        """Cancel what a connection does if the block takes longer; None sets no limit."""
        limit = Limit(connection, time.monotonic() + (seconds or 0.0))
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

    def _end(self, limit: Limit, now: float) -> None:
        if limit.passed:
            del self._limits[limit]
            _cut(limit.connection)
            return
        limit.passed, limit.until = True, now + GRACE
        threading.Thread(target=_cancel, args=(limit.connection,), daemon=True).start()


def _cancel(connection: Connection) -> None:
    with suppress(Exception):  # it answers by now, or it will be cut
        connection.cancel_safe(timeout=_SENDING)


def _cut(connection: Connection) -> None:
    """Shut a connection's socket, so that whoever waits for an answer is told at once that none comes."""
    with suppress(Exception):  # it was closed meanwhile
        line = socket.socket(fileno=os.dup(connection.pgconn.socket))
        with line:
            line.shutdown(socket.SHUT_RDWR)


def node_milliseconds(*, known: bool = True) -> int:
    """Return how long a cluster's coordinator may wait for a node that does not even refuse a connection.

    It is a quarter of the call's time at most, so that the other nodes are heard in what is left. ``known`` is for the
    error, as below.

    Raises:
        DeadlineExceeded: The call's time is over.
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

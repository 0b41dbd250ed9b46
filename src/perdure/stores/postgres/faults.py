"""PostgreSQL's errors as ours, and what does not answer: whose fault it is, what to do, what is tried again."""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass
from typing import Final

import psycopg

from perdure.records.deadline import patience
from perdure.records.errors import (
    REPAIR,
    DiskFull,
    InvalidInput,
    NodeUnavailable,
    PerdureError,
    StoreBusy,
    StoreDamaged,
    StoreDenied,
    StoreError,
    StoreReadOnly,
    StoreUnavailable,
)

COLLIDED: Final = frozenset({"40001", "40P01"})  # two transactions met: the whole transaction is tried again at once

LOST: Final = frozenset(
    {"57P01", "57P02", "57P03", "08000", "08001", "08003", "08004", "08006", "08P01", "25P03", "57P05"}
)
"""The server went away: the whole transaction is tried again on a new connection."""

_POOL_LESS: Final = "Raise max_connections, or lower pool_size in the URL."
_LIMIT: Final = "Raise it (ALTER ROLE or ALTER DATABASE ... CONNECTION LIMIT), or lower pool_size in the URL."
_AGAIN: Final = "Try again; nothing was written."
_BY_STATE: Final[tuple[tuple[tuple[str, ...], type[PerdureError], str, str], ...]] = (
    (("57014", "25P04"), StoreBusy, "A statement took longer than the server's statement_timeout.", _AGAIN),
    (("55P03",), StoreBusy, "A lock was not available within the server's lock_timeout.", _AGAIN),
    (("40001", "40P01"), StoreBusy, "The transaction conflicted with others too many times in a row.", _AGAIN),
    (
        ("25006",),
        StoreReadOnly,
        "The server is read-only (a replica, or default_transaction_read_only).",
        "Use the primary's URL.",
    ),
    (
        ("53100",),
        DiskFull,
        "The server has no disk space left ({text}); the transaction was rolled back.",
        "Free some space on the server, then try again.",
    ),
    (("53200",), StoreBusy, "The server has no memory left ({text}).", "Give it more memory; nothing was written."),
    (("53300",), StoreBusy, "The server has no connection left ({text}).", _POOL_LESS),
    (("3D000",), StoreError, "The database does not exist ({text}).", "Create it, for example with `createdb`."),
    (("28P01", "28000"), StoreDenied, "The server refuses the role or the password ({text}).", "Check the URL."),
    (
        ("42501",),
        StoreDenied,
        "The role lacks a permission ({text}).",
        "Have the tables' owner grant what is missing (docs/scale.md, Roles), or connect as the owner.",
    ),
    (
        ("42P01", "42703"),  # the version was looked at when the store was opened
        StoreDamaged,
        "A table or a column of the store is missing ({text}).",
        "Run `perdure check`, which names what is missing, then `perdure repair`, or restore a backup.",
    ),
    (
        ("42883", "42704"),
        StoreError,
        "The server lacks a type or function ({text}).",
        "Check that the extension vector is installed.",
    ),
    (
        ("54000",),
        InvalidInput,
        "A name is too long for the server's indexes ({text}).",
        "Shorten the session, tag, key or namespace; nothing was written.",
    ),
    (
        ("26000", "42P05"),
        StoreError,
        "A pooler gave a prepared statement to another connection ({text}); nothing was written.",
        "Add prepare=no to the URL, or use PgBouncer 1.21 or newer with max_prepared_statements set.",
    ),
    (("XX001", "XX002"), StoreDamaged, "The server reports damaged data ({text}).", "Restore a backup."),
    (("22000", "22012", "22P02"), StoreDamaged, "A stored value is not what was written ({text}).", REPAIR),
)

_BY_TEXT: Final[tuple[tuple[str, type[PerdureError], str, str], ...]] = (
    ("password authentication failed", StoreDenied, "The server refuses the password.", "Check the URL."),
    ("no password supplied", StoreDenied, "The server requires a password.", "Put it into the URL, or use PGPASSWORD."),
    (
        "no pg_hba.conf entry",
        StoreDenied,
        "The server does not accept this role from this address.",
        "Ask the server's administrator.",
    ),
    ("too many clients", StoreBusy, "The server has no connection left.", _POOL_LESS),
    (
        "too many connections",
        StoreBusy,
        "The role's or database's CONNECTION LIMIT is reached ({text}).",
        _LIMIT,
    ),
    (
        "unsupported startup parameter",
        InvalidInput,
        "A pooler refuses a parameter of the URL ({text}).",
        "Omit options from the URL, and set it for the role: ALTER ROLE ... SET search_path = ...",
    ),
    ("connection slots are reserved", StoreBusy, "The server has no connection left.", _POOL_LESS),
    ("role", StoreDenied, "The server has no such role ({text}).", "Check the URL, or create the role."),
    ("database", StoreError, "The database does not exist ({text}).", "Create it, for example with `createdb`."),
)
"""What a refused connection says: libpq gives no code for it. The last two need ``does not exist`` besides."""


_NODE: Final = re.compile(
    r"(?:remote node (?:\S+@)?|connections to the node |executing command on |failed to connect to )(\S+:\d+)"
)


def lost_node(error: psycopg.Error) -> str:
    """Return the node of a cluster that the server lost, as host and port; empty where the server itself was lost."""
    found = _NODE.search(f"{error}\n{error.diag.context or ''}") if error.sqlstate in LOST else None
    return found[1] if found else ""


_TAKEN: Final = re.compile(r"could not establish any connections to the node \S+ after (\d+) ms")
_FAIR: Final = 500  # milliseconds to connect to a node: one that is up may take that long on a busy machine


def had_little_time(error: psycopg.Error) -> bool:
    """Whether a node had hardly any time to answer, because the call had no more: that says little about the node."""
    found = _TAKEN.search(str(error))
    return found is not None and int(found[1]) < _FAIR


def translate_error(error: psycopg.Error) -> PerdureError:
    """Return our error for one of the driver's."""
    text = first_line(error)
    if node := lost_node(error):
        return node_unavailable(node)
    for states, ours, message, remedy in _BY_STATE:
        if error.sqlstate in states:
            return ours(message.format(text=text), remedy=remedy)
    if error.sqlstate is None or error.sqlstate in LOST:
        return _connection_error(text)
    return StoreError(f"PostgreSQL refused a statement ({error.sqlstate}: {text}).", remedy="Report this.")


def node_unavailable(*nodes: str) -> NodeUnavailable:
    """Return the error that says which nodes do not answer."""
    several = "s" if len(nodes) > 1 else ""
    return NodeUnavailable(
        f"The node{several} {', '.join(nodes)} of the cluster cannot be reached.",
        remedy="Bring it back, or promote its replica; namespaces on other nodes go on.",
    )


def _connection_error(text: str) -> PerdureError:
    for words, ours, message, remedy in _BY_TEXT:
        needed = "does not exist" if words in {"role", "database"} else ""
        if f'{words} "' in text and needed in text if needed else words in text:
            return ours(message.format(text=text), remedy=remedy)
    return StoreUnavailable(
        f"The server cannot be reached ({text}).", remedy="Check that it is running, and check the URL."
    )


def is_lost(error: psycopg.Error, connection: psycopg.Connection[tuple[object, ...]] | None) -> bool:
    """Whether the server went away, so that a new connection may do better."""
    if connection is None:  # it could not be opened: a wrong password stays wrong
        return isinstance(translate_error(error), StoreUnavailable | StoreBusy)
    return error.sqlstate in LOST or (isinstance(error, psycopg.OperationalError) and connection.closed)


def first_line(error: psycopg.Error) -> str:
    """Return the first line of what the server said."""
    text = str(error).strip().splitlines()
    return text[0].rstrip(".") if text else type(error).__name__


PATIENCE: Final = 30.0  # a server that was lost is waited for so long; a restart or a failover takes a few seconds

NODE_PATIENCE: Final = 5.0
"""A node of a cluster is waited for so long: longer, its callers would hold the threads that other nodes' need."""

PAUSE: Final = 5.0  # what has not come back by then is tried again by one caller at most in so many seconds

SERVER: Final = ""  # the server that the URL names. A node of a cluster is known by its host and port


@dataclass(slots=True)
class _Outage:
    since: float
    tried: float
    error: PerdureError


def _patience(name: str) -> float:
    return patience(PATIENCE) if name == SERVER else NODE_PATIENCE


class Outages:
    """What does not answer now, since when, and which namespaces lie there. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._down: dict[str, _Outage] = {}
        self._homes: dict[str, str] = {}

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes of the cluster that do not answer."""
        with self._lock:
            return tuple(sorted(node for node in self._down if node != SERVER))

    def check(self, place: str | None) -> None:
        """Let a transaction begin, or refuse it at once.

        ``place`` is its namespace; empty where it needs every node, None where only the server.
        """
        if not self._down:
            return
        with self._lock:
            now = time.monotonic()
            for name in self._needed_outages(place):
                outage = self._down[name]
                waits = (place != "" or name == SERVER) and now < outage.since + _patience(name)
                if not waits and now < outage.tried + PAUSE:
                    raise type(outage.error)(outage.error.message, remedy=outage.error.remedy)
                outage.tried = now

    def note(self, node: str, place: str | None, error: PerdureError, since: float | None = None) -> float:
        """Note that a node did not answer, and return until when it is worth waiting for it.

        Args:
            node: Which one.
            place: The namespace that was asked for there.
            error: What a call is told.
            since: Since when it has been waited for, by the monotonic clock; now if None.
        """
        with self._lock:
            now = time.monotonic()
            outage = self._down.setdefault(node, _Outage(now if since is None else since, now, error))
            outage.tried, outage.error = now, error
            if place:
                self._homes[place] = node
            return outage.since + _patience(node)

    def clear(self, place: str | None) -> None:
        """Note that a transaction succeeded: what it needed is back."""
        if not self._down:
            return
        with self._lock:
            for name in self._needed_outages(place):
                del self._down[name]
            self._homes = {other: node for other, node in self._homes.items() if node in self._down}

    def _needed_outages(self, place: str | None) -> list[str]:
        needed = set(self._down) if place == "" else {SERVER, self._homes.get(place or "", SERVER)}
        return sorted(needed & self._down.keys())

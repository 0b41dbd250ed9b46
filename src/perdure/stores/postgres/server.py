"""Connections to a PostgreSQL server: one transaction for one namespace, tried again whole where that is safe.

Every transaction says what it may see before its first statement (``SET LOCAL``), and row-level security holds it to
that: one namespace, or, for a fan-out, to read what has the connection's prefix.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar
from urllib.parse import unquote

import psycopg

from perdure.records.deadline import seconds_left
from perdure.records.errors import InvalidInput, NodeUnavailable
from perdure.stores.postgres.connections import Connection, Connections, open_connection
from perdure.stores.postgres.faults import (
    COLLIDED,
    SERVER,
    Outages,
    had_little_time,
    is_lost,
    lost_node,
    node_unavailable,
    translate_error,
)
from perdure.stores.postgres.session import (
    ADMIN,
    READING,
    UNFLUSHED,
    WRITING,
    Deadlines,
    Mode,
    PostgresSession,
    Reach,
    TransactionLimit,
    opening_statements,
    scope,
    too_late,
)

T = TypeVar("T")

_SHORTEST: Final = 1.0  # seconds below which a server that gave no sign is not tried again: libpq takes two for it
LONGEST_PAUSE: Final = 0.5
COLLISIONS: Final = 20
MOST: Final = 1000
LONGEST: Final = 3600
_PREFIX: Final = re.compile(r"[^\x00-\x1f\x7f]{1,199}/")
_PORTS: Final = re.compile(r"[0-9]{0,5}(,[0-9]{0,5})*")
_NAME: Final = re.compile(r"[a-z_]{1,40}")
_OURS: Final = frozenset({"namespace_prefix", "pool_size", "timeout", "prepare"})
_REMEDY: Final = (
    "Write postgresql://user:password@host:port/database; in the password, @ is %40, : is %3A and / is %2F."
)


class Server:
    """A pool of connections to one server, and transactions on it."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._connections = Connections(address.dsn, address.connections, prepares=address.prepares)
        self._deadlines = Deadlines()
        self._outages = Outages()
        self._view = _View()

    @property
    def unreachable(self) -> tuple[str, ...]:
        """The nodes of the cluster that do not answer: what lies there is missing from fan-outs."""
        return self._outages.nodes

    def read(self, namespace: str, work: Callable[[PostgresSession], T], *, once: bool = False) -> T:
        """Run reads of one namespace on one consistent view; where they go out ``once``, in one round trip."""
        if self._view.session is not None and self._view.namespace == namespace:
            return work(self._view.session)
        return self._run_transaction("routed", namespace, READING, _as_read(work, once=once))

    def viewing(self, namespace: str, work: Callable[[], T]) -> T:
        """Run work whose reads of one namespace all take one transaction: each by itself would open and end its own."""

        def run(session: PostgresSession) -> T:
            self._view.namespace, self._view.session = namespace, session
            try:
                return work()
            finally:
                self._view.session = None

        return self.read(namespace, run)

    def write(self, namespace: str, work: Callable[[PostgresSession, bool], T], *, flush: bool = True) -> T:
        """Run a transaction that writes to one namespace.

        Args:
            namespace: Which one.
            work: Told whether an earlier try may have been committed without our hearing of it. Its statements go out
                without waiting for each other's answers, so an error may be raised by a later one.
            flush: Wait until it is safe on disk.
        """
        return self._run_transaction("routed", namespace, WRITING if flush else UNFLUSHED, work)

    def everywhere(
        self, work: Callable[[PostgresSession], list[T]], *, limited: bool = True, once: bool = False
    ) -> list[T]:
        """Run reads that may see every namespace with the connection's prefix; the answers of all servers in a row.

        Namespaces on nodes that do not answer are left out, see ``unreachable``. Checks of everything take their time:
        they are not ``limited``.
        """
        living: list[str] | None = None

        def read(session: PostgresSession, _: bool) -> list[T]:
            session.living, session.closing = living, once
            return work(session)

        for last in (False, False, True):
            try:
                needs = "" if living is None else None
                return self._run_transaction("fan-out", needs, READING, read, limited=limited)
            except NodeUnavailable:
                if last:
                    raise
                living = self._live_namespaces()
        raise AssertionError

    def _live_namespaces(self) -> list[str]:
        """Return the namespaces on nodes that answer; one that is known to be down is not waited for again."""
        answers, _ = self.ask_nodes("living_namespaces", prefix=self.address.prefix, down=list(self.unreachable))
        return [name for names in answers for name in json.loads(names)]

    def ask_nodes(self, name: str, /, *, limited: bool = True, **bindings: Any) -> tuple[list[str], list[str]]:
        """Ask each node of a cluster for itself; return the answers, and the nodes that gave none. No cluster: none."""
        work = _as_read(lambda s: s.rows(name, **bindings) if s.connection.clustered else [], once=False)
        parts = self._run_transaction("admin", None, ADMIN, work, limited=limited)
        for node in (silent := [node for node, answered, _ in parts if not answered]):
            self._outages.note(node, None, node_unavailable(node))
        return [told for _, answered, told in parts if answered], silent

    def admin(self, work: Callable[[PostgresSession], T], *, reading: bool = False) -> T:
        """Run statements about what belongs to no namespace."""
        if reading and self._view.session is not None:
            return work(self._view.session)
        return self._run_transaction("admin", None, READING if reading else ADMIN, _as_read(work, once=reading))

    def close(self) -> None:
        self._connections.close()
        self._outages = Outages()  # from now on it is closed, whatever else it was

    def _run_transaction(
        self,
        reach: Reach,
        needs: str | None,
        mode: Mode,
        work: Callable[[PostgresSession, bool], T],
        *,
        limited: bool = True,
    ) -> T:
        """Run a transaction, and again where the server was lost or two transactions met.

        ``needs`` is its namespace; empty where it needs every node of a cluster, None where only the server.
        """
        place = self.address.prefix + needs if needs else needs
        tries, again, lacking, least, began = 0, False, "", 0.0, time.monotonic()
        self._outages.check(place)
        while True:
            connection, watched, most = None, None, self.address.seconds if limited else None
            seconds = seconds_left(most, least=least, known=not again, because=lacking)
            try:
                connection = self._connections.take(seconds)
                seen = scope(connection, reach, place or "", self.address.prefix, seconds=seconds, known=not again)
                session = PostgresSession(connection, reach, place or "", opening_statements(mode, seen))
                with self._deadlines.limit(connection, seconds) as watched:
                    result = self._run_once(session, work, mode, again=again)
            except psycopg.errors.UniqueViolation:
                raise  # the caller knows what it means
            except psycopg.Error as error:
                tries += 1
                if watched and watched.passed:
                    self._note_silence(error, connection, place, began)
                    raise too_late(self.address.seconds, known=not (again or session.committing)) from error
                lost = is_lost(error, connection)
                lacking = translate_error(error).message if lost else ""
                least = _SHORTEST if isinstance(error, psycopg.errors.ConnectionTimeout) else 0.0
                again = again or (lost and connection is not None and session.committing)
                met = error.sqlstate in COLLIDED and tries < COLLISIONS
                if not (lost and self._worth_waiting(error, place, began)) and not met:
                    raise translate_error(error) from error
            else:
                self._outages.clear(place)
                return result
            finally:
                self._give_back(connection, watched)
            self._pause(tries, lost=lost)

    def _pause(self, tries: int, *, lost: bool) -> None:
        if lost:
            self._connections.forget()
        time.sleep(min(LONGEST_PAUSE, 0.01 * 2 ** min(tries, 7)) if lost else 0.002 * tries)

    def _give_back(self, connection: Connection | None, watched: TransactionLimit | None) -> None:
        if connection is not None:
            if watched is not None and watched.passed:
                connection.close()  # the cancellation may come late, and must not meet another transaction
            self._connections.give(connection)

    def _note_silence(
        self, error: psycopg.Error, connection: Connection | None, place: str | None, began: float
    ) -> None:
        """Note that a server is lost that did not even end a statement when it was told to, and was cut off."""
        if connection is not None and connection.closed:
            self._outages.note(SERVER, place, translate_error(error), began)

    def _worth_waiting(self, error: psycopg.Error, place: str | None, began: float) -> bool:
        """Note what does not answer; a fan-out waits for no node, because it can do without."""
        node = lost_node(error)
        if place and had_little_time(error):
            return True  # until the call's time is over
        deadline = self._outages.note(node, place, translate_error(error), began)
        return time.monotonic() < deadline and not (node and place == "")

    def _run_once(
        self, session: PostgresSession, work: Callable[[PostgresSession, bool], T], mode: Mode, *, again: bool
    ) -> T:
        connection = session.connection
        try:
            if mode in (READING, ADMIN):
                result = work(session, again)
                self._end(session)
                return result
            with connection.pipeline() as session.pipeline:  # the server works on one while the next is made
                session.open()
                result = work(session, again)
                session.committing = True  # from here on nobody knows, if the server is lost
                connection.execute("COMMIT")
        except BaseException:
            with suppress(psycopg.Error):  # where that fails too, the connection is not used again
                connection.rollback()
            raise
        return result

    def _end(self, session: PostgresSession) -> None:
        if not session.unsent and not session.ended:  # else nothing was run in it, or it ended with what was
            session.committing = True
            session.connection.execute("COMMIT")


class _View(threading.local):
    """The transaction that reads of this thread take part in, if any."""

    namespace: str = ""
    session: PostgresSession | None = None


def _as_read(work: Callable[[PostgresSession], T], *, once: bool) -> Callable[[PostgresSession, bool], T]:
    def read(session: PostgresSession, _: bool) -> T:  # the server calls it by position
        session.closing = once
        return work(session)

    return read


def connect(address: Address) -> Connection:
    """Open one connection outside the pool, for checks and migrations."""
    try:
        seconds = seconds_left(address.seconds) or address.seconds
        return open_connection(address.dsn, prepares=address.prepares, seconds=seconds)
    except psycopg.Error as error:
        raise translate_error(error) from error


__all__ = ["Address", "Connection", "Server", "connect"]


@dataclass(frozen=True, slots=True)
class Address:
    """A server and what is bound to the connections to it."""

    dsn: str = field(repr=False)  # as libpq takes it; holds the password, so it is left out of what is printed
    prefix: str = ""  # put before every namespace; nothing outside it can be named
    connections: int = 10  # most connections at once
    seconds: int = 30  # most that one transaction may take
    prepares: bool = True  # whether statements are prepared; poolers that do not know of it need them not to be

    @classmethod
    def of(cls, url: str) -> Address:
        """Read a URL: everything but what is ours is libpq's, letter by letter.

        Raises:
            InvalidInput: The URL is no URL, or one of our parameters is out of bounds. No part of a URL that could not
                be read is in the message: it may be one of the password.
        """
        start = max(url.find("@"), 0)  # a password may hold a question mark
        head, mark, query = url[start:].partition("?")
        pairs = [(part.partition("=")[0], part) for part in query.split("&") if part]
        ours = {name: unquote(part.partition("=")[2]) for name, part in pairs if name in _OURS}
        rest = url[:start] + head + mark + "&".join(part for name, part in pairs if name not in _OURS)
        prefix, size, seconds = ours.get("namespace_prefix"), ours.get("pool_size", "10"), ours.get("timeout", "30")
        if sum(name in _OURS for name, _ in pairs) > len(ours):
            raise InvalidInput("A parameter of the URL is given twice.", remedy="Give each once.")
        if prefix is not None and not _PREFIX.fullmatch(prefix):
            raise InvalidInput(
                "namespace_prefix must be plain text that ends with /, of at most 200 characters.",
                remedy="For example namespace_prefix=acme/ ; without the / it would also match acmecorp.",
            )
        if not re.fullmatch(r"[0-9]{1,4}", size) or not 1 <= int(size) <= MOST:
            raise InvalidInput(f"pool_size must be a number from 1 to {MOST}.", remedy="10 is the default.")
        if not re.fullmatch(r"[0-9]{1,4}", seconds) or not 1 <= int(seconds) <= LONGEST:
            raise InvalidInput(f"timeout must be a number of seconds from 1 to {LONGEST}.", remedy="30 is the default.")
        prepare = ours.get("prepare", "yes")
        if prepare not in ("yes", "no"):
            raise InvalidInput("prepare must be yes or no.", remedy="yes is the default; older poolers need no.")
        _check_parameters([name for name, _ in pairs if name not in _OURS])
        _check(rest)
        return cls(rest.removesuffix("?"), prefix or "", int(size), int(seconds), prepare == "yes")

    @property
    def shown(self) -> str:
        """The address without a password."""
        parts = psycopg.conninfo.conninfo_to_dict(self.dsn)
        user = f"{parts['user']}@" if parts.get("user") else ""
        return f"postgresql://{user}{parts.get('host', '')}:{parts.get('port', 5432)}/{parts.get('dbname', '')}"


def _check_parameters(names: list[str]) -> None:
    settings = {setting.keyword.decode() for setting in psycopg.pq.Conninfo.get_defaults()} | {"ssl"}
    for name in names:
        if name not in settings and _NAME.fullmatch(name):
            raise InvalidInput(f"Unknown URL parameter: {name}.", remedy="Omit it, or correct its name.")


def _check(dsn: str) -> None:
    """Refuse what libpq cannot read, and what it reads otherwise than it was meant."""
    try:
        parts = psycopg.conninfo.conninfo_to_dict(dsn)
    except (psycopg.Error, ValueError):
        raise InvalidInput("The server's URL cannot be parsed.", remedy=_REMEDY) from None  # the cause quotes it
    astray = any("@" in str(parts.get(key, "")) for key in ("host", "dbname"))
    if astray or any(ord(c) < ord(" ") for c in dsn) or not _PORTS.fullmatch(str(parts.get("port", ""))):
        raise InvalidInput("The server's URL is not valid.", remedy=_REMEDY)

"""Connections to authorities: they can only read, and they and their questions end in time."""

from __future__ import annotations

import socket
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import quote

from perdure.knowledge.records.authority import Answers, AnswerStatus, AuthorityAnswer, AuthorityQuestion

if TYPE_CHECKING:
    from sqlalchemy.engine import URL, Connection


_AT_ONCE: Final = 50  # so many questions are asked over one connection; what was answered counts when the time is over


def answers_within(
    lookups: Sequence[tuple[Answers, Sequence[AuthorityQuestion]]], seconds: float
) -> list[list[AuthorityAnswer]]:
    """Return the answers of each authority; what it does not answer in time is unreachable.

    ``lookups`` are (an authority's answers, what it is asked). A thread that still waits after ``seconds`` ends by
    itself.
    """
    until = time.monotonic() + seconds
    threads = [_Lookup(answers, questions, until) for answers, questions in lookups]
    for lookup in threads:
        lookup.start()
    late = AuthorityAnswer(AnswerStatus.UNREACHABLE, evidence=f"no answer within {seconds:g} s")
    return [lookup.wait(late) for lookup in threads]


class _Lookup(Thread):
    def __init__(self, answers: Answers, questions: Sequence[AuthorityQuestion], until: float) -> None:
        super().__init__(name="perdure-authority", daemon=True)
        self._answers, self._questions, self._until = answers, questions, until
        self._found: list[AuthorityAnswer] = []

    def run(self) -> None:
        """Ask until everything is answered or the time is over."""
        for start in range(0, len(self._questions), _AT_ONCE):
            if time.monotonic() < self._until:
                self._found += self._answers(self._questions[start : start + _AT_ONCE])

    def wait(self, late: AuthorityAnswer) -> list[AuthorityAnswer]:
        """Return an answer to each question, ``late`` for those that have none."""
        self.join(max(0.0, self._until - time.monotonic()))
        found = self._found[:]
        return [*found, *[late] * (len(self._questions) - len(found))]


_STEPS: Final = 1000  # SQLite looks at the clock after so many of its instructions: some ten microseconds

_BYTES: Final = 10_000_000  # longest text or blob that SQLite may make on the way to an answer

_GRACE: Final = 1.0  # seconds that a server gets beyond the timeout to say that it has stopped; then the line is cut

_ALLOWED: Final = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
"""What a statement may do in SQLite; ``mode=ro`` alone would let it attach another file and write that."""

_DENIED_FUNCTIONS: Final = {"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer"}


class Reader(Protocol):
    """An open connection that answers queries."""

    def rows(self, query: str, subject: str, aliases: Sequence[str], most: int) -> list[Sequence[Any]]:
        """Return at most so many rows; raises whatever the driver raises, in time."""

    def close(self) -> None:
        """End it."""


def open_reader(url: URL, seconds: float, folder: Path) -> Reader:
    """Open a database read-only; one query may take ``seconds``, a relative file of SQLite starts in ``folder``.

    Raises:
        ValueError: It is another kind of database, for which neither is known to hold.
    """
    kind = url.get_backend_name()
    if kind == "sqlite":
        return _Sqlite(url, seconds, folder)
    if kind == "postgresql":
        return _Postgres(url, seconds)
    raise ValueError("the URL must be sqlite:///FILE or postgresql+psycopg://...")


class _Sqlite:
    """A file of SQLite. The standard library's driver, because SQLAlchemy speaks through it; the file is only read."""

    def __init__(self, url: URL, seconds: float, folder: Path) -> None:
        from sqlalchemy import create_engine  # noqa: PLC0415  # an extra, loaded only where it is used
        from sqlalchemy.pool import StaticPool  # noqa: PLC0415  # as above

        if not url.database or url.database.startswith((":memory:", "file:")) or url.query:
            raise ValueError("the URL must name a file: sqlite:///domain.db")
        file = folder / Path(url.database).expanduser()
        if not file.is_file():
            raise FileNotFoundError(f"there is no file {file.name}")
        self._seconds, self._until = seconds, 0.0
        self._own = sqlite3.connect(
            f"file:{quote(str(file.absolute()))}?mode=ro", uri=True, timeout=seconds, check_same_thread=False
        )
        self._own.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _BYTES)
        self._engine = create_engine("sqlite://", creator=lambda: self._own, poolclass=StaticPool)
        self._engine.connect().close()  # SQLAlchemy asks its own questions first, among them a PRAGMA
        self._own.set_authorizer(_authorize)
        self._own.set_progress_handler(self._is_late, _STEPS)

    def _is_late(self) -> bool:
        return time.monotonic() > self._until

    def rows(self, query: str, subject: str, aliases: Sequence[str], most: int) -> list[Sequence[Any]]:
        self._until = time.monotonic() + self._seconds
        with self._engine.connect() as connection:
            return _fetch_rows(connection, query, subject, aliases, most)

    def close(self) -> None:
        self._until = float("inf")
        self._engine.dispose()
        self._own.close()


def _authorize(action: int, first: str | None, second: str | None, _base: str | None, _inner: str | None) -> int:
    """Allow reading, and nothing else."""
    if action not in _ALLOWED or (action == sqlite3.SQLITE_FUNCTION and (second or first) in _DENIED_FUNCTIONS):
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


class _Postgres:
    """A server. It stops slow queries itself; if it does not answer at all, the line is cut a second later."""

    def __init__(self, url: URL, seconds: float) -> None:
        from sqlalchemy import create_engine  # noqa: PLC0415  # an extra, loaded only where it is used
        from sqlalchemy.pool import NullPool  # noqa: PLC0415  # as above

        self._seconds = seconds
        milliseconds = max(1, round(seconds * 1000))
        settings = f"-c default_transaction_read_only=on -c statement_timeout={milliseconds}"
        options = url.query.get("options", "")
        before = options if isinstance(options, str) else " ".join(options)
        query = {k: v for k, v in url.query.items() if k not in {"options", "connect_timeout"}}
        plain = url.set(drivername="postgresql+psycopg", query=query)
        engine = create_engine(
            plain,
            poolclass=NullPool,
            connect_args={
                "connect_timeout": max(2, round(seconds + 0.5)),
                "options": f"{before} {settings}".strip(),
                "application_name": "perdure verify",
                "prepare_threshold": None,
            },
        )
        self._engine = engine.execution_options(postgresql_readonly=True)
        self._connection: Connection | None = None

    def rows(self, query: str, subject: str, aliases: Sequence[str], most: int) -> list[Sequence[Any]]:
        if self._connection is None or self._connection.closed:
            self._connection = self._engine.connect()
        connection = self._connection
        try:
            with self._cut_after(connection):
                return _fetch_rows(connection, query, subject, aliases, most)
        except Exception:
            self._connection = None  # whatever state it is in, the next question gets a new one
            with suppress(Exception):
                connection.invalidate()
            raise
        finally:
            if self._connection is not None:
                connection.rollback()

    @contextmanager
    def _cut_after(self, connection: Connection) -> Iterator[None]:
        """Cut the line if a server that has hung does not stop its query itself."""
        driver: Any = connection.connection.driver_connection  # psycopg's
        line = socket.socket(fileno=socket.dup(driver.fileno()))
        timer = threading.Timer(self._seconds + _GRACE, _shut_down, (line,))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()
            line.close()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._engine.dispose()


def _shut_down(line: socket.socket) -> None:
    with suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)


def _fetch_rows(
    connection: Connection, query: str, subject: str, aliases: Sequence[str], most: int
) -> list[Sequence[Any]]:
    from sqlalchemy import bindparam, text  # noqa: PLC0415  # an extra, loaded only where it is used

    statement = text(query)
    values: dict[str, Any] = {}
    names = statement.compile().params
    if "subject" in names:
        values["subject"] = subject
    if "aliases" in names:
        statement = statement.bindparams(bindparam("aliases", expanding=True))
        values["aliases"] = list(aliases)
    result = connection.execute(statement, values)
    if not result.returns_rows:
        raise ValueError("the statement does not return rows")
    rows = [tuple(row) for row in result.fetchmany(most)]
    result.close()
    return list(rows)

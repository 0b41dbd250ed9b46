"""Moving a server's rows out and in; what is derived from them is made anew by the one writer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, takewhile
from typing import Any, Final, LiteralString

import numpy as np
from psycopg.errors import UniqueViolation

from perdure.records.transfer import Cursor, Line
from perdure.records.vector import Space
from perdure.stores.postgres.server import Server, Session
from perdure.stores.postgres.writing import AppliedBefore, bring_in
from perdure.stores.transfer import LARGE, line_of, page_of, place, there_already
from perdure.stores.words import Stemmer

_SIZED: Final = {"memory", "journal"}
"""Parts whose rows may be large: how many fit a page is asked first."""

_DETOURS: Final[tuple[LiteralString, ...]] = (
    *("enable_seqscan", "enable_bitmapscan", "enable_hashjoin", "enable_mergejoin", "enable_sort"),
)
"""Plans that sort a whole namespace for each page. A planner without statistics, as after a copy, would take them."""


class PostgresTransfer:
    """Rows of one server, page by page. See operations/ports.py.

    Args:
        server: Connections.
        stemmer: Splits texts for the index of words.
    """

    def __init__(self, server: Server, stemmer: Stemmer) -> None:
        self._server, self._stemmer = server, stemmer

    def spaces(self) -> list[tuple[Space, bool]]:
        """Return (space, whether searches use it)."""
        rows = self._server.admin(lambda s: s.rows("all_spaces"))
        return [(Space(*values), bool(active)) for *values, active in rows]

    def count(self, namespace: str, part: str) -> int:
        """Return how many rows a part has."""
        return self._server.read(namespace, lambda s: int(s.value(f"moved_{part}")))

    def read(self, namespace: str, part: str, after: Cursor | None, limit: int) -> list[tuple[Cursor, Line]]:
        """Return the next rows of a part."""
        rows = self._server.read(namespace, lambda s: _page(s, part, place(part, after), limit))
        if part == "vector" and rows:
            rows = [(*row[:-1], data) for row, data in zip(rows, _int8([r[-1] for r in rows]), strict=True)]
        return [line_of(part, row) for row in rows]

    def write(self, namespace: str, part: str, rows: Sequence[Line], before: int) -> None:
        """Append rows to a part."""
        try:
            self._server.write(namespace, lambda s, again: self._write(s, namespace, part, rows, before, again=again))
        except AppliedBefore:
            return
        except UniqueViolation as error:
            raise there_already(part) from error

    def _write(
        self, session: Session, namespace: str, part: str, rows: Sequence[Line], before: int, *, again: bool
    ) -> None:
        if part == "namespace":
            _namespace(session, rows)
            return
        # From here on the namespace is ours: an earlier try is over, whether its client was still there or not.
        number = int(session.value("number_operations", more=len(rows) if part == "operation" else 0) or 0)
        if again and session.value(f"moved_{part}") >= before + len(rows):
            raise AppliedBefore
        if part == "operation":
            _operations(session, rows, number)
        elif part in _WRITERS:
            _WRITERS[part](session, rows)
        else:
            bring_in(session, page_of(namespace, part, rows), self._stemmer)
        if part == "memory" and (keyed := [(key, row["id"]) for row in rows for key in row["keys"]]):
            session.run("insert_key", key=[k for k, _ in keyed], id=[i for _, i in keyed])


def _page(session: Session, part: str, after: dict[str, int | str], limit: int) -> list[tuple[Any, ...]]:
    for setting in _DETOURS:
        session.set_local(setting, "off")
    if part in _SIZED:
        sizes = [int(size) for (size,) in session.rows(f"move_{part}_sizes", limit=limit, **after)]
        limit = max(1, len(list(takewhile(lambda total: total <= LARGE, accumulate(sizes)))))
    return session.rows(f"move_{part}", limit=limit, **after)


def _int8(vectors: Sequence[str]) -> list[bytes]:
    """Return vectors as bytes, from the text that the server gives for them."""
    numbers = np.fromstring(",".join(text[1:-1] for text in vectors), dtype=np.float32, sep=",").astype(np.int8)
    ends = list(accumulate(text.count(",") + 1 for text in vectors))
    return [numbers[end - text.count(",") - 1 : end].tobytes() for text, end in zip(vectors, ends, strict=True)]


def _namespace(session: Session, rows: Sequence[Line]) -> None:
    nothing = dict.fromkeys(("rows", "documents", "length", "vectors"), 0)
    for row in rows:
        session.run("bump_version", at=row["created_ms"], policy=row["policy"], **nothing)


def _recalls(session: Session, rows: Sequence[Line]) -> None:
    for row in rows:
        session.run("insert_recall", id=row["id"], at=row["at_ms"], query=row["query"], hits=row["hits"])


def _operations(session: Session, rows: Sequence[Line], last: int) -> None:
    """Number them in their order, so that no later version of the namespace has one of their numbers."""
    for number, row in enumerate(rows, last - len(rows) + 1):
        session.run("insert_operation", number=number, **{("at" if k == "at_ms" else k): v for k, v in row.items()})


def _journal(session: Session, rows: Sequence[Line]) -> None:
    session.run("insert_moved_journal", **{column: [row[column] for row in rows] for column in rows[0]})


_WRITERS: Final[dict[str, Callable[[Session, Sequence[Line]], None]]] = {"recall": _recalls, "journal": _journal}

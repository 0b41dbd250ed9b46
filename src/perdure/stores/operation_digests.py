"""Whether the journal is as it was written: each operation carries a digest of itself and of its lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from perdure.records.digests import digest_with_lines
from perdure.records.plan import Row
from perdure.stores.statements import Session

PAGE: Final = 200  # operations that are read at a time
_LINES: Final = 500  # from so many lines on a page is full
COLUMNS: Final = (
    *("number", "id", "operation", "at_ms", "changes", "hides", "policy", "note", "undoes", "digest", "actor"),
)
_operation: Final = itemgetter(0)
_changes: Final = COLUMNS.index("changes")
_line: Final = itemgetter(slice(1, None))


def renew_digests(session: Session, operations: Sequence[str]) -> None:
    """Give operations whose lines were rewritten their digests anew; those that had none keep none."""
    for start in range(0, len(operations), PAGE):
        page = session.rows("operations_named", operations=list(operations[start : start + PAGE]))
        for row, digest in _with_digests(session, page):
            if row["digest"] is not None:
                session.run("renew_digest", id=row["id"], digest=digest)


def altered_operations(session: Session, after: int) -> tuple[list[Row], int, int | None]:
    """Return the operations of the next page that are not as they were written, and where the page after it begins.

    ``after`` is the number of the last operation of the page before; -1 for the first page.

    Returns:
        The altered ones, how many were looked at, and the number of the last one; None for it on the last page.
    """
    found = session.rows("move_operation", number_after=after, limit=PAGE)
    page = found[: _page_size(found)]
    found_rows = _with_digests(session, page)
    altered = [
        row for row, digest in found_rows if row["digest"] not in (None, digest) or row["lines"] != row["changes"]
    ]
    is_last = len(page) == len(found) < PAGE
    return altered, len(page), None if is_last else int(page[-1][0])


def _page_size(operations: Sequence[Sequence[Any]]) -> int:
    """Return how many operations make a page: one may have lines by the hundred."""
    lines = 0
    for count, values in enumerate(operations, 1):
        lines += values[_changes] if isinstance(values[_changes], int) else 1  # a damaged one may be anything
        if lines >= _LINES:
            return count
    return len(operations)


def _with_digests(session: Session, page: Sequence[tuple[Any, ...]]) -> Iterator[tuple[Row, int]]:
    """Yield operations, each with the digest that it should have."""
    operations = [dict(zip(COLUMNS, values, strict=True)) for values in page]
    stored = session.lines("lines_of_operations", operations=[row["id"] for row in operations])
    lines = {operation: list(map(_line, group)) for operation, group in groupby(stored, key=_operation)}
    for row in operations:
        own = lines.get(row["id"], [])
        digest = digest_with_lines(row, own)
        yield {**row, "lines": len(own)}, digest

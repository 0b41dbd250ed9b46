"""What filters look at, in memory: a few bytes for each vector, so that a filtered search stays one pass.

Tags are kept as bits of a 64-bit mask: a superset test that never misses; the exact test follows on the candidates.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from hashlib import blake2b
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from perdure.records.memory import Kind, Scope, Status
from perdure.records.recall import Filters

PACKED: Final = np.dtype(
    [
        ("created", "<i8"),
        ("tags", "<u8"),
        ("session", "<u4"),
        ("kind", "u1"),
        ("scope", "u1"),
        ("status", "u1"),
        ("spare", "u1"),
    ]
)
"""One row of a segment's attributes: 24 bytes."""

KINDS: Final = {kind.value: code for code, kind in enumerate(Kind)}
SCOPES: Final = {scope.value: code for code, scope in enumerate(Scope)}
STATUSES: Final = {status.value: code for code, status in enumerate(Status)}
GONE: Final = 255  # the status code of a memory that was taken back

_FACT: Final = KINDS[Kind.FACT.value]
_SHARED: Final = SCOPES[Scope.LONG_TERM.value]
_FIELDS: Final = ("created", "tags", "session", "kind", "scope", "status")
_FIRST: Final = 256
_KEPT: Final = 256  # sessions and lists of tags whose codes are kept: rows that follow each other share them


@lru_cache(_KEPT)
def session_code(session: str | None) -> int:
    """Return 32 bits that stand for a session; 0 for none."""
    return (
        0
        if session is None
        else int.from_bytes(blake2b(session.encode("utf-8", "surrogatepass"), digest_size=4).digest(), "little") | 1
    )


def tag_bits(tags: Iterable[str]) -> int:
    """Return the mask of some tags: one bit for each."""
    mask = 0
    for tag in tags:
        mask |= 1 << (blake2b(tag.encode("utf-8", "surrogatepass"), digest_size=1).digest()[0] & 63)
    return mask


def tags_of(text: str) -> list[str]:
    """Return the tags of a JSON list; none where it is damaged, which a check reports."""
    try:
        return [str(tag) for tag in json.loads(text)]
    except (ValueError, TypeError):
        return []


@lru_cache(_KEPT)
def listed_bits(text: str) -> int:
    """Return the mask of the tags of a JSON list."""
    return tag_bits(tags_of(text))


def pack_attributes(values: Sequence[tuple[Any, str, str | None, str, str, str]]) -> NDArray[np.void]:
    """Return attributes from (created_ms, tags as JSON, session, kind, scope, status).

    A row with an unknown word or another type is damaged; it counts as gone, and a check reports it.
    """
    return np.array(
        [
            (
                created if isinstance(created, int) else 0,
                listed_bits(tags),
                session_code(session),
                KINDS.get(kind, 0),
                SCOPES.get(scope, 0),
                STATUSES.get(status, GONE) if isinstance(created, int) else GONE,
                0,
            )
            for created, tags, session, kind, scope, status in values
        ],
        dtype=PACKED,
    )


class Attributes:
    """Growable columns, aligned with the positions of the code index."""

    def __init__(self) -> None:
        self.count = 0
        self._columns = {name: np.zeros(_FIRST, PACKED[name]) for name in _FIELDS}
        self._visible = np.zeros(_FIRST, np.bool_)
        self.hidden = 0
        self.recorded = np.zeros(0, np.int64)
        """When each was stored; only as many as a question about another time has needed."""
        self.private = 0
        """How many belong to a task or a session."""

    def extend(self, rows: NDArray[np.void]) -> None:
        """Append rows of dtype PACKED."""
        end = self.count + len(rows)
        if end > len(self._visible):
            size = max(end, 2 * len(self._visible))
            self._columns = {name: np.resize(column, size) for name, column in self._columns.items()}
            self._visible = np.resize(self._visible, size)
        for name in _FIELDS:
            self._columns[name][self.count : end] = rows[name]
        self._visible[self.count : end] = rows["status"] == STATUSES["active"]
        self.hidden += int(np.count_nonzero(~self._visible[self.count : end]))
        self.private += int(np.count_nonzero(rows["scope"] != _SHARED))
        self.count = end

    def change(
        self, positions: NDArray[np.int64], status: Any, scope: Any = None, tags: Any = None, created: Any = None
    ) -> None:
        """Set the status (and scope codes, tag masks, instants) of some positions."""
        self._columns["status"][positions] = status
        if scope is not None:
            self._columns["scope"][positions] = scope
            self.private = int(np.count_nonzero(self._columns["scope"][: self.count] != _SHARED))
        if tags is not None:
            self._columns["tags"][positions] = tags
        if created is not None:
            self._columns["created"][positions] = created
        self._visible[positions] = self._columns["status"][positions] == STATUSES["active"]
        self.hidden = int(np.count_nonzero(~self._visible[: self.count]))

    def at(self, positions: NDArray[np.int64]) -> NDArray[np.void]:
        """Return what is known of some positions, in rows of dtype PACKED."""
        found = np.zeros(len(positions), PACKED)
        for name in _FIELDS:
            found[name] = self._columns[name][positions]
        return found

    def mask(self, filters: Filters, at: NDArray[np.int64] | None = None) -> NDArray[np.bool_] | None:
        """Return which positions a filter lets through, or None for all of them; ``at`` names those that are asked."""
        if not self.count:
            return None if at is None else np.zeros(len(at), np.bool_)
        rows = slice(self.count) if at is None else at
        tests = self._tests(filters, rows)
        if filters.include_archived:
            tests.append(self._columns["status"][rows] != GONE)
        elif self.hidden:
            tests.append(self._visible[rows])
        return np.logical_and.reduce(tests) if tests else None

    def _tests(self, filters: Filters, rows: Any) -> list[NDArray[np.bool_]]:
        column, tests = partial(self._column, rows), []
        if filters.kinds:
            tests.append(_any_of(column("kind"), [KINDS[k] for k in filters.kinds]))
        if filters.scopes:
            tests.append(_any_of(column("scope"), [SCOPES[s] for s in filters.scopes]))
        if filters.tags:
            bits = np.uint64(tag_bits(filters.tags))
            tests.append((column("tags") & bits) == bits)
        if filters.session is not None:
            tests.append(column("session") == session_code(filters.session))
        if filters.isolated and self.private:
            tests.append(_visible_from(column, filters.seen_inside))
        if filters.since is not None:
            tests.append(column("created") >= filters.since)
        if filters.until is not None:
            tests.append(column("created") < filters.until)
        if filters.as_of is not None:
            tests.append((column("kind") == _FACT) | (self.recorded[rows] <= filters.as_of))
        if filters.known_at is not None:
            tests.append(self.recorded[rows] <= filters.known_at)
        return tests

    def _column(self, rows: Any, name: str) -> NDArray[Any]:
        found: NDArray[Any] = self._columns[name][rows]
        return found

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(c.nbytes for c in self._columns.values()) + self._visible.nbytes + self.recorded.nbytes


def _visible_from(column: Callable[[str], NDArray[Any]], inside: str | None) -> NDArray[np.bool_]:
    """Which positions are shared, or belong to the session that asks."""
    shared = column("scope") == _SHARED
    if inside is None:
        return np.asarray(shared, dtype=np.bool_)
    return np.asarray(shared | (column("session") == session_code(inside)), dtype=np.bool_)


def _any_of(codes: NDArray[np.uint8], allowed: Sequence[int]) -> NDArray[np.bool_]:
    """As np.isin, which takes twenty times as long for a few codes."""
    return np.asarray(np.logical_or.reduce([codes == code for code in allowed]), dtype=np.bool_)

"""The vectors of one namespace in memory, kept in step with the file by its change feed.

A new process reads packed segments; afterwards only what is newer than the version last seen. Derived data: dropping
the segments costs time, never a memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import apsw
import numpy as np
from numpy.typing import NDArray

from perdure.records.instant import Instant
from perdure.records.recall import Filters
from perdure.stores.cells import CellLists, Cells
from perdure.stores.codes import Codes, encode, telling_bits
from perdure.stores.shortlist import Mask
from perdure.stores.sketches import FITTED, Sketches
from perdure.stores.sqlite.attributes import (
    GONE,
    PACKED,
    SCOPES,
    STATUSES,
    Attributes,
    listed_bits,
    pack_attributes,
)
from perdure.stores.sqlite.connection import fetch_all, fetch_value, json_list, run
from perdure.stores.sqlite.resident import Resident
from perdure.stores.statements import Session

SEGMENT: Final = 4096
_MANY: Final = 16
_FIRST: Final = 256  # rows for which there is room at first
SAMPLE: Final = 100_000
_FEWEST_SKETCHED: Final = 1024  # vectors from which sketches pay
_MOST_SKETCHED: Final = 1 << 18  # vectors: their sketches are 16 MB
_OUTGROWN: Final = 4  # so many times the vectors by which directions were chosen
_JUDGED: Final = 64  # codes by which it is judged whether codes tell vectors apart
_LEAST_BITS: Final = 48
_LEAST_SHARE: Final = 1 / 8  # of all bits
NEVER: Final = 2**62  # later than all instants: of a row that is gone
Positions = NDArray[np.int64]


class SearchIndex:
    """Codes, attributes and cells of one namespace in one space; positions are 0..n-1 in order of arrival."""

    def __init__(self, namespace: str, space: int, dimensions: int) -> None:
        self.namespace, self.space, self.dimensions = namespace, space, dimensions
        self.version = 0
        self.codes = Codes(dimensions)
        self.attributes = Attributes()
        self._row_buffer = np.zeros(_FIRST, np.int64)
        """The file's rows, and room for more: so that one more costs the same, however many there are."""
        self.resident = Resident(space, dimensions)
        self._sorter: Positions | None = None
        self._ascending = True
        self.cells: Cells | None = None
        self.lists: CellLists | None = None
        self.holding: dict[str, Positions | None] = {}
        """Name -> the rows whose words hold it, as of the version; a search fills it."""
        self._sketches: Sketches | None = None
        self._telling, self._judged_at = True, 0
        """Whether codes tell vectors apart, and how many vectors there were when that was judged."""
        self._sketched_first = 0
        """How many vectors there were when the directions of sketches were chosen."""

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def _rows(self) -> Positions:
        return self._row_buffer[: len(self)]

    @property
    def nbytes(self) -> int:
        """Bytes held by codes, vectors, attributes, rows and cells."""
        parts = (self.codes, self.attributes, self.resident, self._row_buffer, self.lists, self._sketches)
        return sum(one.nbytes for one in parts if one is not None)

    def refresh(self, connection: apsw.Connection) -> None:
        """Take in what the file has and this index has not; a no-op of one lookup where nothing changed."""
        version = fetch_value(connection, "namespace_version", {"namespace": self.namespace})
        if version is None or version == self.version:
            return
        self.holding.clear()
        key = {"namespace": self.namespace, "space": self.space}
        version_seen = self.version
        if not version_seen:
            version_seen = self._load(connection)
        self._append(connection, {**key, "seen": self._last_seq if not self.version else version_seen})
        self._follow(connection, version_seen)
        self.version = int(version)

    _last_seq: int = 0

    def _load(self, connection: apsw.Connection) -> int:
        """Read the packed segments; return the oldest version that any of them reflects."""
        key = {"namespace": self.namespace, "space": self.space}
        oldest: int | None = None
        assigned: list[NDArray[np.uint16]] = []
        rows: list[Positions] = []
        expected = fetch_value(connection, "vector_count", {"namespace": self.namespace}) or 0
        self.codes = Codes(self.dimensions, expected=int(expected))
        for _, seq, version, row_bytes, codes, attributes, cells in fetch_all(connection, "segments", key):
            numbers = np.frombuffer(row_bytes, "<i8")
            rows.append(numbers)
            self.codes.extend(np.frombuffer(codes, "<u8").reshape(len(numbers), -1))
            self.attributes.extend(np.frombuffer(attributes, PACKED))
            self._last_seq = seq
            oldest = version if oldest is None else min(oldest, version)
            if cells is not None and len(assigned) == len(rows) - 1:
                assigned.append(np.frombuffer(cells, "<u2"))
        if rows:
            self._row_buffer = np.concatenate(rows)
            self._ascending = bool(np.all(np.diff(self._rows) > 0))
        self._load_cells(connection, assigned)
        return 0 if oldest is None else int(oldest)

    def _load_cells(self, connection: apsw.Connection, assigned: list[NDArray[np.uint16]]) -> None:
        found = run(connection, "cell_map", {"namespace": self.namespace, "space": self.space}).fetchone()
        if found and assigned:
            self.cells = Cells.from_bytes(found[1])
            self.lists = CellLists(np.concatenate(assigned), len(self.cells))

    def _append(self, connection: apsw.Connection, key: dict[str, object]) -> None:
        new = [values for values in fetch_all(connection, "new_vectors", key) if len(values[1]) == self.dimensions]
        if not new:
            return
        rows, data, attributes = _columns(new)
        count = len(self)
        ascending = self._ascending and (not count or rows[0] > self._rows[-1])
        self._ascending = bool(ascending and (len(rows) == 1 or (rows[1:] > rows[:-1]).all()))
        if count + len(rows) > len(self._row_buffer):
            self._row_buffer = np.resize(self._row_buffer, max(count + len(rows), 2 * len(self._row_buffer)))
        self._row_buffer[count : count + len(rows)] = rows
        self._sorter = None
        self.codes.extend(encode(data))
        if len(rows) >= _MANY:  # one costs more to keep than to read again, where it is asked for at all
            self.resident.keep(np.arange(count, count + len(rows)), data)
        self.attributes.extend(attributes)

    def agrees(self, page: Sequence[tuple[Any, ...]]) -> bool:
        """Whether the index says of some vectors what their rows do, which are those of ``new_vectors``."""
        rows, data, attributes = _columns(page)
        positions = self.positions(rows)
        if (positions < 0).any() or (self.codes.take(positions) != encode(data)).any():
            return False
        return bool((self.attributes.at(positions) == attributes).all())

    def _follow(self, connection: apsw.Connection, seen: int) -> None:
        """Take over changed statuses, scopes, tags and dates, and take out what is gone."""
        key = {"namespace": self.namespace, "seen": seen}
        changed = fetch_all(connection, "changed_rows", key)
        if changed:
            positions = self.positions(np.array([row for row, *_ in changed], np.int64))
            indexed = positions >= 0
            status = np.array([STATUSES.get(s, GONE) for _, s, *_ in changed], np.uint8)[indexed]
            scope = np.array([SCOPES.get(s, 0) for _, _, s, *_ in changed], np.uint8)[indexed]
            tags = np.array([listed_bits(t) for *_, t, _ in changed], np.uint64)[indexed]
            created = np.array([at for *_, at in changed], np.int64)[indexed]
            self.attributes.change(positions[indexed], status, scope, tags, created)
        deleted = [row for (row,) in run(connection, "gone_rows", key)]
        if deleted:
            positions = self.positions(np.array(deleted, np.int64))
            self.attributes.change(positions[positions >= 0], GONE)
        other = [*(row for row, *_ in changed), *deleted]
        if other or self.resident.has_absent:
            positions = self.positions(np.array(other, np.int64))
            self.resident.forget(other, positions[positions >= 0] if self._ascending else None)

    def rows(self, positions: Positions) -> Positions:
        """Return the file's rows at some positions."""
        return self._rows[positions]

    def positions(self, rows: Positions) -> Positions:
        """Return the positions of some rows; -1 where a row has no vector."""
        known = self._rows
        if not len(known):
            return np.full(len(rows), -1, np.int64)
        first, last = int(known[0]), int(known[-1])
        if self._ascending and last - first + 1 == len(known):  # without a gap, as in a file of one namespace
            found = rows - first
            found[(found < 0) | (found >= len(known))] = -1
            return found
        if not self._ascending and self._sorter is None:
            self._sorter = np.argsort(known, kind="stable")
        at = np.searchsorted(known, rows, sorter=self._sorter)
        at = np.minimum(at, len(known) - 1)
        found = at if self._sorter is None else self._sorter[at]
        return np.where(known[found] == rows, found, -1)

    def look_back(self, connection: apsw.Connection) -> None:
        """Read when each memory was stored: what questions about another time are filtered by; once for each row."""
        count = len(self.attributes.recorded)
        if count == len(self):
            return
        after = -1 if not count or not self._ascending else int(self._rows[count - 1])
        found = fetch_all(connection, "recorded", {"namespace": self.namespace, "after": after})
        recorded = np.full(len(self), NEVER, np.int64)
        rows, instants = np.array(found, np.int64).reshape(-1, 2).T
        positions = self.positions(rows)
        recorded[positions[positions >= 0]] = instants[positions >= 0]
        if after >= 0:
            recorded[:count] = self.attributes.recorded
        self.attributes.recorded = recorded

    def slots(self, session: Session, rows: Sequence[int]) -> tuple[Positions, NDArray[np.int32]]:
        """Return those of some rows that have a vector, and where it is kept."""
        known_rows = np.array(rows, np.int64)
        positions = self.positions(known_rows)
        if (positions < 0).any():
            known_rows, positions = known_rows[positions >= 0], positions[positions >= 0]
        return _with_slots(known_rows, self.resident.slots(session, known_rows, positions))

    def slots_at(self, session: Session, positions: Positions) -> tuple[Positions, NDArray[np.int32]]:
        """Return the rows at some positions that have a vector, and where it is kept."""
        rows = self._rows[positions]
        return _with_slots(rows, self.resident.slots(session, rows, positions))

    def nearest(
        self,
        session: Session,
        query: NDArray[np.float32],
        count: int,
        filters: Filters,
        *,
        cells_above: int,
        among: NDArray[np.int64] | None = None,
    ) -> Positions:
        """Return the positions of likely neighbours that pass the filters, nearest first by Hamming distance.

        ``filters`` are those that attributes decide; tags may let a few too many through. From ``cells_above`` vectors
        on the search goes by cells. ``among`` are rows of the file. Where codes do not tell vectors apart, the vectors
        themselves are compared.
        """
        mask = self.attributes.mask(filters)
        if among is not None:
            inside = self.positions(among)
            return self._nearest_among(session, query, count, np.sort(inside[inside >= 0]), mask)
        if self.cells is not None and self.lists is not None and len(self) >= cells_above:
            inside = self.lists.positions(self.cells.probe(query))
            tail = np.arange(len(self.lists), len(self), dtype=np.int64)
            near = self._nearest_among(session, query, count, np.concatenate([inside, tail]), mask)
            if len(near) == count or mask is None:
                return near  # else a narrow filter: the probed cells do not hold enough of it
        if len(self) > count and not self._has_telling_codes():
            return self._nearest_among(session, query, count, np.arange(len(self)), mask)
        return self.codes.nearest(encode(query[None, :])[0], count, mask=mask)

    def _nearest_among(
        self, session: Session, query: NDArray[np.float32], count: int, positions: Positions, mask: Mask | None
    ) -> Positions:
        if len(positions) <= count or self._has_telling_codes():
            return self.codes.nearest_among(encode(query[None, :])[0], positions, count, mask=mask)
        if mask is not None:
            positions = positions[mask[positions]]
        cosine = np.empty(len(positions), np.float32)
        for start in range(0, len(positions), SEGMENT):
            some = positions[start : start + SEGMENT]
            slots = self.resident.slots(session, self._rows[some], some)
            found = self.resident.similarities(query, slots)
            cosine[start : start + SEGMENT] = np.where(slots >= 0, found, np.float32(-2.0))
        return positions[np.argsort(-cosine, kind="stable")[:count]]

    def _has_telling_codes(self) -> bool:
        """Whether codes tell vectors apart: not where most of their bits are alike, as of vectors without signs.

        It is judged by some of them, anew when there are a quarter more.
        """
        if len(self) > self._judged_at + self._judged_at // 4:
            sample = np.linspace(0, len(self) - 1, min(len(self), _JUDGED)).astype(np.int64)
            bits = telling_bits(self.codes.take(sample))
            self._telling, self._judged_at = bits >= max(_LEAST_BITS, _LEAST_SHARE * self.dimensions), len(self)
        return self._telling

    def nearest_of_each(
        self, session: Session, queries: NDArray[np.float32], count: int, *, cells_above: int
    ) -> list[Positions]:
        """Return for each query, float32 [q, d], what ``nearest`` does without a filter; of many by their sketches."""
        by_cells = self.cells is not None and len(self) >= cells_above
        if len(queries) < _MANY or by_cells or not max(_FEWEST_SKETCHED, 2 * count) <= len(self) <= _MOST_SKETCHED:
            return [self.nearest(session, query, count, Filters(), cells_above=cells_above) for query in queries]
        return list(self._build_sketches(session).likely(queries, self.attributes.mask(Filters())))

    def _build_sketches(self, session: Session) -> Sketches:
        """Return sketches of all vectors; their directions are chosen anew when four times as many have come."""
        if self._sketches is None or len(self) >= _OUTGROWN * self._sketched_first:
            sample = np.linspace(0, len(self) - 1, min(len(self), FITTED)).astype(np.int64)
            self._sketches = Sketches(self._int8_at(session, sample), len(self))
            self._sketched_first = len(self)
        for start in range(len(self._sketches), len(self), SEGMENT):
            some = np.arange(start, min(start + SEGMENT, len(self)))
            self._sketches.extend(self._int8_at(session, some))
        return self._sketches

    def _int8_at(self, session: Session, positions: Positions) -> NDArray[np.int8]:
        """Return the vectors at some positions, int8 [n, d]; zeros where there is none."""
        slots = self.resident.slots(session, self._rows[positions], positions)
        found: NDArray[np.int8] = self.resident.vectors(slots)
        found[slots < 0] = 0
        return found


def _with_slots(rows: Positions, slots: NDArray[np.int32]) -> tuple[Positions, NDArray[np.int32]]:
    has = slots >= 0
    return (rows, slots) if has.all() else (rows[has], slots[has])


def _columns(new: Sequence[tuple[Any, ...]]) -> tuple[Positions, NDArray[np.int8], NDArray[np.void]]:
    data = np.frombuffer(b"".join(values[1] for values in new), np.int8).reshape(len(new), -1)
    attributes = [(at, tags, session, kind, scope, status) for _, _, at, kind, scope, status, session, tags in new]
    return np.array([values[0] for values in new], np.int64), data, pack_attributes(attributes)


def pack(connection: apsw.Connection, namespace: str, space: int, version: int) -> None:
    """Pack the vectors that no segment holds yet, once there are 4,096; runs in the writer's transaction."""
    key = {"namespace": namespace, "space": space}
    number, seq = fetch_all(connection, "last_segment", key)[0]
    new = fetch_all(connection, "new_vectors", {**key, "seen": seq})
    if len(new) < SEGMENT:
        return
    # A damaged one is another fault, and must keep nobody from storing.
    ((size, _),) = Counter(len(data) for _, data, *_ in new).most_common(1)
    new = [values for values in new if len(values[1]) == size]
    rows, data, attributes = _columns(new)
    found = run(connection, "cell_map", key).fetchone()
    cells = None if found is None else Cells.from_bytes(found[1]).assign(data).astype("<u2").tobytes()
    run(
        connection,
        "insert_segment",
        {
            **key,
            "number": number + 1,
            "seq": version,
            "version": version,
            "rows": rows.astype("<i8").tobytes(),
            "codes": encode(data).astype("<u8").tobytes(),
            "attributes": attributes.tobytes(),
            "cells": cells,
        },
    )
    run(connection, "count_packed", {"namespace": namespace, "more": len(new)})


def trained_cells(
    connection: apsw.Connection, namespace: str, space: int, dimensions: int, at: Instant
) -> tuple[Cells, dict[int, bytes], int] | None:
    """Train search cells on a sample of the packed vectors and assign them all; only reads.

    Returns:
        The cells, segment number -> cell of each of its vectors, and how many vectors there are; None for no segment.
    """
    segments = [
        (number, np.frombuffer(rows, "<i8"))
        for number, _, _, rows, *_ in fetch_all(connection, "segments", {"namespace": namespace, "space": space})
    ]
    if not segments:
        return None
    rows = np.concatenate([rows for _, rows in segments])
    sample = np.sort(np.random.default_rng(at).choice(rows, min(len(rows), SAMPLE), replace=False))
    vectors = partial(_vectors, connection, namespace, space, dimensions)
    cells = Cells.train(vectors(sample), max(16, int(2 * len(rows) ** 0.5)), 0)
    assigned = {number: cells.assign(vectors(rows)).astype("<u2").tobytes() for number, rows in segments}
    return cells, assigned, len(rows)


def save_cells(
    connection: apsw.Connection, namespace: str, space: int, trained: tuple[Cells, dict[int, bytes], int]
) -> None:
    """Write trained cells; segments that were packed meanwhile are scanned whole until the next training."""
    cells, assigned, count = trained
    key = {"namespace": namespace, "space": space}
    for number, data in assigned.items():
        run(connection, "set_segment_cells", {**key, "number": number, "cells": data})
    run(connection, "save_cell_map", {**key, "vectors": count, "data": cells.to_bytes()})


def _vectors(
    connection: apsw.Connection, namespace: str, space: int, dimensions: int, rows: NDArray[np.int64]
) -> NDArray[np.int8]:
    """Return the vectors of some rows, in their order; zeros where a memory was taken back, or a vector is damaged."""
    key = {"namespace": namespace, "space": space, "rows": json_list(rows.tolist())}
    found = {row: data for row, data in fetch_all(connection, "vectors_at", key) if len(data) == dimensions}
    data = b"".join(found.get(row, bytes(dimensions)) for row in rows.tolist())
    return np.frombuffer(data, np.int8).reshape(len(rows), dimensions)

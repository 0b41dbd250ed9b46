"""Reading records, journal and statistics of one namespace. Nothing here writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from perdure.records.instant import Instant
from perdure.records.memory import Record, State
from perdure.records.vector import Space, Vector
from perdure.stores.postgres.server import Session
from perdure.stores.rows import image_of, record_of, state_of

ALWAYS: Final = 2**62
Pairs = tuple[tuple[Instant, int], ...]


def records(session: Session, namespace: str, ids: Sequence[str]) -> list[Record]:
    """Return the records of some ids, in the order asked for; unknown ids are left out."""
    if not ids:
        return []
    found = {r.id: r for r in (record_of(namespace, values) for values in session.rows("records", ids=list(ids)))}
    pending = accesses(session, tuple(found), ALWAYS)
    return [_with(found[i], pending.get(i, ())) for i in ids if i in found]


def _with(record: Record, pending: Pairs) -> Record:
    if not pending:
        return record
    return Record(record.namespace, record.id, record.state, record.content, record.op, pending)


def states(session: Session, ids: Sequence[str]) -> dict[str, tuple[State, str]]:
    """Return id -> (state, last operation) without reading any content."""
    found = {i: (state_of(values), op) for i, op, *values in session.rows("states", ids=list(ids))}
    return {i: found[i] for i in ids if i in found}


def accesses(session: Session, ids: Sequence[str], until: Instant) -> dict[str, Pairs]:
    """Return id -> accesses that are not counted in yet, oldest first."""
    found: dict[str, list[tuple[Instant, int]]] = {}
    for identity, at, times in session.rows("accesses", ids=list(ids), until=until) if ids else ():
        found.setdefault(identity, []).append((at, times))
    return {i: tuple(pairs) for i, pairs in found.items()}


def images(session: Session, namespace: str, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return id -> the whole row of a memory as an insert would need it."""
    if not ids:
        return {}
    found = active_space(session)
    keys = dict(session.rows("keys_of", ids=list(ids)))
    data = {} if found is None else vector_bytes(session, ids, found[0])
    name = None if found is None else found[1].name
    return {r.id: image_of(r, keys.get(r.id), name, data.get(r.id)) for r in records(session, namespace, ids)}


def vector_bytes(session: Session, ids: Sequence[str], space: int) -> dict[str, bytes]:
    """Return id -> int8 vector in a space."""
    rows = session.rows("vectors_of", ids=list(ids), space=space)
    return {i: _numbers(data).astype(np.int8).tobytes() for i, data in rows}


def vectors(session: Session, ids: Sequence[str]) -> dict[str, Vector]:
    """Return id -> unit vector for those memories that have one in the active space."""
    found = active_space(session)
    if found is None or not ids:
        return {}
    result = {}
    for identity, data in session.rows("vectors_of", ids=list(ids), space=found[0]):
        values = _numbers(data)
        result[identity] = (values / np.linalg.norm(values)).astype("<f4").tobytes()
    return result


def active_space(session: Session) -> tuple[int, Space] | None:
    """Return the space that searches use, with its number; None before the first vector."""
    rows = session.rows("active_space")
    return (int(rows[0][0]), Space(*rows[0][1:])) if rows else None


def _numbers(data: str) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.array(data[1:-1].split(","), dtype=np.float32)

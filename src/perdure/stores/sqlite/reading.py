"""Reading records, journal and statistics. Nothing here writes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import apsw

from perdure.records.instant import Instant
from perdure.records.memory import Record, State
from perdure.records.plan import Change
from perdure.records.recall import Filters
from perdure.records.report import Entry
from perdure.records.vector import Space
from perdure.stores.rows import change_of, entry_of, image_of, record_of, state_of
from perdure.stores.statements import filled, filter_parts, registry

LATEST: Final = 2**63 - 1
"""No instant is later: stands for no limit."""

_ENCODED: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode
"""One encoder for all lists: making it costs as much as encoding ten ids."""


def run(connection: apsw.Connection, name: str, bindings: Any = ()) -> apsw.Cursor:
    """Run a named statement."""
    return connection.execute(registry("sqlite")[name].sql, bindings)


def filtered(connection: apsw.Connection, name: str, filters: Filters, bindings: Mapping[str, object]) -> apsw.Cursor:
    """Run a named statement whose slot is filled with what a filter asks for."""
    parts, values = filter_parts(filters)
    for key, value in values.items():
        if isinstance(value, list):
            values[key] = json_list(value)
    return connection.execute(filled("sqlite", name, parts), {**values, **bindings})


def json_list(values: Iterable[Any]) -> str:
    """Return values as a statement binds a list of them: one text, however many they are."""
    return _ENCODED(list(values))


def fetched(connection: apsw.Connection, name: str, bindings: Any = ()) -> list[tuple[Any, ...]]:
    """Return all rows of a named statement."""
    return run(connection, name, bindings).fetchall()


def rows(connection: apsw.Connection, namespace: str, name: str, /, **bindings: Any) -> list[tuple[Any, ...]]:
    """Return all rows of a routed statement; lists are bound as JSON text."""
    values = {key: json_list(value) if isinstance(value, list) else value for key, value in bindings.items()}
    return run(connection, name, {"namespace": namespace, **values}).fetchall()


def single(connection: apsw.Connection, name: str, bindings: Any = ()) -> Any:
    """Return the one value of a named statement, None where there is no row."""
    return run(connection, name, bindings).get


def records(connection: apsw.Connection, namespace: str, ids: Sequence[str]) -> list[Record]:
    """Return the records of some ids, in the order asked for; unknown ids are left out."""
    if not ids:  # asked for each draft that has no twin
        return []
    found: dict[str, Record] = {}
    for values in run(connection, "records", {"namespace": namespace, "ids": json_list(ids)}):
        record = record_of(namespace, values)
        found[record.id] = record
    pending = accesses(connection, namespace, tuple(found))
    return [_with(found[i], pending.get(i, ())) for i in ids if i in found]


def _with(record: Record, pending: tuple[tuple[Instant, int], ...]) -> Record:
    if not pending:
        return record
    return Record(record.namespace, record.id, record.state, record.content, record.op, pending)


def listed(
    connection: apsw.Connection, namespace: str, filters: Filters, limit: int, before: tuple[Instant, str] | None
) -> list[Record]:
    """Return records that pass the filters, newest first; ``before`` is the last one of the previous page."""
    at, identity = before or (LATEST, "")
    key = {"namespace": namespace, "before_ms": at, "before_id": identity, "limit": limit}
    return records(connection, namespace, [i for (i,) in filtered(connection, "listed", filters, key)])


def states(connection: apsw.Connection, namespace: str, ids: Sequence[str]) -> dict[str, tuple[State, str]]:
    """Return id -> (state, last operation) without reading any content."""
    if not ids:
        return {}
    rows = run(connection, "states", {"namespace": namespace, "ids": json_list(ids)})
    found = {identity: (state_of(values), op) for identity, op, *values in rows}
    return {i: found[i] for i in ids if i in found}


def accesses(
    connection: apsw.Connection, namespace: str, ids: Sequence[str], until: Instant = LATEST
) -> dict[str, tuple[tuple[Instant, int], ...]]:
    """Return id -> accesses that are not counted in yet, oldest first."""
    if not ids or not single(connection, "any_access", {"namespace": namespace}):
        return {}
    found: dict[str, list[tuple[Instant, int]]] = {}
    key = {"namespace": namespace, "ids": json_list(ids), "until": until}
    for identity, at, times in run(connection, "accesses", key):
        found.setdefault(identity, []).append((at, times))
    return {i: tuple(pairs) for i, pairs in found.items()}


def images(
    connection: apsw.Connection, namespace: str, ids: Sequence[str], space: tuple[int, Space] | None
) -> dict[str, dict[str, Any]]:
    """Return id -> the whole row of a memory as an insert would need it: state, content, key, vector."""
    number, name = (-1, None) if space is None else (space[0], space[1].name)
    vectors = vectors_of(connection, namespace, number, ids)
    found = {}
    for record in records(connection, namespace, ids):
        key = single(connection, "keys_of", {"namespace": namespace, "id": record.id})
        found[record.id] = image_of(record, key, name, vectors.get(record.id))
    return found


def vectors_of(connection: apsw.Connection, namespace: str, space: int, ids: Sequence[str]) -> dict[str, bytes]:
    """Return id -> int8 vector for those memories that have one in a space."""
    if not ids:
        return {}
    key = {"namespace": namespace, "space": space, "ids": json_list(ids)}
    return dict(fetched(connection, "vectors_of", key))


def journal_changes(connection: apsw.Connection, namespace: str, operation: str) -> list[Change]:
    """Return the changes that an operation made, as the journal tells them."""
    key = {"namespace": namespace, "operation": operation}
    return [change_of(values) for values in run(connection, "journal_of_operation", key)]


def journal_of(connection: apsw.Connection, namespace: str, identity: str) -> list[Entry]:
    """Return everything the journal says about one memory, oldest first."""
    key = {"namespace": namespace, "id": identity}
    return [entry_of(values) for values in run(connection, "journal_of_memory", key)]


def recalls(connection: apsw.Connection, namespace: str, limit: int) -> list[tuple[str, Instant, str, tuple[str, ...]]]:
    """Return past recalls, newest first: (id, instant, query, ids of the hits)."""
    return [
        (i, at, query, tuple(json.loads(hits)))
        for i, at, query, hits in run(connection, "recalls", {"namespace": namespace, "limit": limit})
    ]

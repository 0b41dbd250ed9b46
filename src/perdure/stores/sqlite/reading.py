"""Reading records, journal and statistics. Nothing here writes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import apsw

from perdure.records.instant import Instant, text_of
from perdure.records.memory import Record, State
from perdure.records.plan import Change, Target
from perdure.records.report import Entry, Operation
from perdure.records.vector import Space
from perdure.stores.sqlite.rows import SELECT_RECORD, SELECT_STATE, decoded, record_of, state_of
from perdure.stores.statements import registry

_BATCH = 500


def run(connection: apsw.Connection, name: str, bindings: Any = ()) -> apsw.Cursor:
    """Run a named statement."""
    return connection.execute(registry("sqlite")[name].sql, bindings)


def fetched(connection: apsw.Connection, name: str, bindings: Any = ()) -> list[tuple[Any, ...]]:
    """Return all rows of a named statement."""
    return run(connection, name, bindings).fetchall()


def single(connection: apsw.Connection, name: str, bindings: Any = ()) -> Any:
    """Return the one value of a named statement, None where there is no row."""
    return run(connection, name, bindings).get


def batches(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield ids in groups that one statement can bind."""
    for start in range(0, len(ids), _BATCH):
        yield ids[start : start + _BATCH]


def records(connection: apsw.Connection, namespace: str, ids: Sequence[str]) -> list[Record]:
    """Return the records of some ids, in the order asked for; unknown ids are left out."""
    found: dict[str, Record] = {}
    for group in batches(ids):
        sql = f"{SELECT_RECORD} AND m.id IN ({','.join('?' * len(group))})"
        for values in connection.execute(sql, (namespace, *group)):
            record = record_of(namespace, values)
            found[record.id] = record
    pending = accesses(connection, namespace, tuple(found))
    return [_with(found[i], pending.get(i, ())) for i in ids if i in found]


def _with(record: Record, pending: tuple[tuple[Instant, int], ...]) -> Record:
    if not pending:
        return record
    return Record(record.namespace, record.id, record.state, record.content, record.op, pending)


def states(connection: apsw.Connection, namespace: str, ids: Sequence[str]) -> dict[str, tuple[State, str]]:
    """Return id -> (state, last operation) without reading any content."""
    found: dict[str, tuple[State, str]] = {}
    for group in batches(ids):
        sql = f"{SELECT_STATE} AND m.id IN ({','.join('?' * len(group))})"
        for identity, op, *values in connection.execute(sql, (namespace, *group)):
            found[identity] = (state_of(values), op)
    return {i: found[i] for i in ids if i in found}


def accesses(
    connection: apsw.Connection, namespace: str, ids: Sequence[str], until: Instant | None = None
) -> dict[str, tuple[tuple[Instant, int], ...]]:
    """Return id -> accesses that are not counted in yet, oldest first."""
    if not ids or not run(connection, "any_access", {"namespace": namespace}).get:
        return {}
    found: dict[str, list[tuple[Instant, int]]] = {}
    limit = "" if until is None else f" AND at_ms <= {int(until)}"
    for group in batches(ids):
        sql = (
            f"SELECT id, at_ms, times FROM access WHERE namespace = ? AND id IN ({','.join('?' * len(group))})"
            f"{limit} ORDER BY id, at_ms"
        )
        for identity, at, times in connection.execute(sql, (namespace, *group)):
            found.setdefault(identity, []).append((at, times))
    return {i: tuple(pairs) for i, pairs in found.items()}


def image(connection: apsw.Connection, record: Record, space: tuple[int, Space] | None) -> dict[str, Any]:
    """Return the whole row of a memory as an insert would need it: state, content, key, vector."""
    state = {name: getattr(record.state, name) for name in record.state.__slots__}
    content = record.content
    key = run(connection, "keys_of", (record.namespace, record.id)).get
    vector = None
    if space is not None:
        vector = connection.execute(
            "SELECT v.data FROM vector AS v JOIN memory AS m ON m.row = v.row"
            " WHERE m.namespace = ? AND m.id = ? AND v.namespace = ? AND v.space = ?",
            (record.namespace, record.id, record.namespace, space[0]),
        ).get
    return {
        **state,
        "op": record.op,
        "session": content.session,
        "turn": content.turn,
        "text": content.text,
        "tags": content.tags,
        "source": content.source,
        "speaker": content.speaker,
        "task": content.task,
        "metadata": dict(content.metadata),
        "key": key,
        "space": space[1].name if space and vector else None,
        "int8": vector,
    }


def journal_changes(connection: apsw.Connection, namespace: str, operation: str) -> list[Change]:
    """Return the changes that an operation made, as the journal tells them."""
    return [
        Change(Target(target), identity, decoded(before), decoded(after), because)
        for target, identity, before, after, because in run(connection, "journal_of_operation", (namespace, operation))
    ]


def journal_of(connection: apsw.Connection, namespace: str, identity: str) -> list[Entry]:
    """Return everything the journal says about one memory, oldest first."""
    return [
        Entry(
            operation_id=op_id,
            operation=operation,
            namespace=space,
            at=text_of(at),
            target=target,
            id=memory,
            before=_shown(before),
            after=_shown(after),
            because=because,
            policy=policy,
        )
        for op_id, operation, space, at, target, memory, before, after, because, policy in run(
            connection, "journal_of_memory", (namespace, identity)
        )
    ]


def _shown(text: str | None) -> dict[str, Any] | None:
    row = decoded(text)
    return None if row is None else {k: v for k, v in row.items() if not isinstance(v, bytes)}


def operation_of(values: Sequence[Any]) -> Operation:
    """Return an operation from a row of the statements `operation` and `operations`."""
    namespace, identity, name, at, changes, hides, policy, note, undoes, undone_by = values
    return Operation(
        id=identity,
        operation=name,
        namespace=namespace,
        at=text_of(at),
        changes=changes,
        hides=hides,
        note=note,
        policy=policy,
        undoes=undoes,
        undone_by=undone_by,
    )


def recalls(connection: apsw.Connection, namespace: str, limit: int) -> list[tuple[str, Instant, str, tuple[str, ...]]]:
    """Return past recalls, newest first: (id, instant, query, ids of the hits)."""
    return [
        (i, at, query, tuple(json.loads(hits)))
        for i, at, query, hits in run(connection, "recalls", {"namespace": namespace, "limit": limit})
    ]

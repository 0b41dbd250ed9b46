"""Applying a plan: the one place that writes. Rows and journal in one transaction, before-images checked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any, Final

import apsw
import numpy as np

from perdure.records.errors import ConflictError, SpaceMismatch, StoreError
from perdure.records.memory import Kind, searchable
from perdure.records.plan import Change, Plan, Row, Target
from perdure.stores.codes import quantize
from perdure.stores.sqlite.index import SEGMENT, pack
from perdure.stores.sqlite.rows import (
    column_value,
    content_digest,
    content_values,
    journal_form,
    memory_values,
    place_of,
)
from perdure.stores.statements import registry

SEARCHED: Final = {"status", "scope"}
"""Columns that the caches of searches must hear about when they change."""

UPKEEP: Final = {"sweep", "policy"}
"""Operations after which a move that a gate held back is not tried again: they change nothing that people said."""

BY_HAND: Final = "archive"
"""What a person hides does not count against the budget of upkeep."""

UNCHECKED: Final = {"held"}
"""Columns that are written without a look at what was there: holding and releasing are bookkeeping."""

_CONTENT: Final = {"text", "tags", "source", "speaker", "task", "metadata"}


def apply_plan(connection: apsw.Connection, plan: Plan) -> int:
    """Write a plan inside the transaction that is open, and return the namespace's new version.

    Raises:
        ConflictError: A row is not as the plan's before-image says; the caller rolls back.
    """
    version = _run(connection, "bump_version", {"namespace": plan.namespace, "at": plan.at, "policy": plan.policy}).get
    writer = _Writer(connection, plan, int(version))
    for shape, changes in groupby(plan.changes, key=_shape):
        writer.write(shape, list(changes))
    writer.journal()
    if writer.unpacked >= SEGMENT:
        for space in writer.spaces.values():
            pack(connection, plan.namespace, space, int(version))
    if plan.operation not in UPKEEP:
        _run(connection, "release_held", {"namespace": plan.namespace})
    return int(version)


def apply_accesses(connection: apsw.Connection, plan: Plan, log_entries: int) -> None:
    """Append a recall's accesses to their log, and the recall to its own; the logs are their own journal."""
    sql = registry("sqlite")
    accesses = [
        (plan.namespace, c.id, c.after["at_ms"], c.after["times"])
        for c in plan.changes
        if c.target is Target.ACCESS and c.after
    ]
    connection.executemany(sql["insert_access"].sql, accesses)
    for change in plan.changes:
        if change.target is Target.RECALL and change.after and log_entries:
            row = change.after
            connection.execute(
                sql["insert_recall"].sql,
                (plan.namespace, change.id, row["at_ms"], row["query"], json.dumps(row["hits"])),
            )
            _trim(connection, plan.namespace, log_entries)


def _trim(connection: apsw.Connection, namespace: str, log_entries: int) -> None:
    kept = _run(connection, "count_recall", {"namespace": namespace}).get
    if kept is not None and kept > log_entries:
        _run(connection, "trim_recalls", {"namespace": namespace, "many": kept - log_entries})
        _run(connection, "uncount_recalls", {"namespace": namespace, "many": kept - log_entries})


def _run(connection: apsw.Connection, name: str, bindings: Any = ()) -> apsw.Cursor:
    return connection.execute(registry("sqlite")[name].sql, bindings)


Shape = tuple[Target, str, tuple[str, ...]]


def _shape(change: Change) -> Shape:
    """Changes of one shape are written by one statement."""
    if change.before is None:
        return change.target, "insert", ()
    if change.after is None:
        return change.target, "delete", ()
    return change.target, "update", tuple(change.after)


class _Writer:
    def __init__(self, connection: apsw.Connection, plan: Plan, version: int) -> None:
        self.connection, self.plan, self.version = connection, plan, version
        self.namespace = plan.namespace
        self.rows: dict[str, int] = {}
        self.spaces: dict[str, int] = {}
        self.unpacked = 0

    def write(self, shape: Shape, changes: list[Change]) -> None:
        target, action, columns = shape
        if target is Target.MEMORY and action == "update":
            self._update(columns, changes)
            return
        handlers: dict[tuple[Target, str], Callable[[list[Change]], None]] = {
            (Target.MEMORY, "insert"): self._insert_memories,
            (Target.MEMORY, "delete"): self._delete_memories,
            (Target.VECTOR, "insert"): self._insert_vectors,
            (Target.VECTOR, "delete"): self._delete_vectors,
            (Target.LINK, "insert"): self._insert_links,
            (Target.LINK, "delete"): self._delete_links,
            (Target.ACCESS, "insert"): self._insert_accesses,
            (Target.ACCESS, "delete"): self._delete_accesses,
            (Target.NAMESPACE, "update"): self._update_namespace,
        }
        if (target, action) not in handlers:
            raise StoreError(f"A plan cannot {action} a {target.value}.", remedy="Report this; nothing was written.")
        handlers[target, action](changes)

    # --- memories

    def _insert_memories(self, changes: list[Change]) -> None:
        if self.plan.operation == "remember":
            self._refuse_twins(changes)
        first = int(_run(self.connection, "next_row").get)
        place = place_of(self.namespace)
        afters = [_present(c.after) for c in changes]
        self.rows.update((c.id, row) for row, c in enumerate(changes, first))
        numbered = list(zip(range(first, first + len(changes)), changes, afters, strict=True))
        try:
            self._many("insert_memory", (memory_values(row, self.namespace, c.id, a) for row, c, a in numbered))
            self._many("insert_key", ((self.namespace, a["key"], c.id) for _, c, a in numbered if a.get("key")))
        except apsw.ConstraintError as error:
            raise ConflictError(
                "The same memory or idempotency key was stored by another process just now.",
                tuple(c.id for c in changes),
                remedy="Read again and retry.",
            ) from error
        self._many("insert_content", (content_values(row, self.namespace, c.id, a) for row, c, a in numbered))
        self._many("insert_words", ((row, searchable(a["text"], a["speaker"]), place) for row, _, a in numbered))
        self._many("insert_tag", ((self.namespace, tag, row) for row, _, a in numbered for tag in a["tags"]))
        if carrying := [c for c in changes if _present(c.after).get("space")]:
            self._insert_vectors(carrying)

    def _refuse_twins(self, changes: list[Change]) -> None:
        """Another process may have stored the same words since this plan was made."""
        for change in changes:
            a = _present(change.after)
            if a["kind"] == Kind.EPISODE:
                continue
            key = (
                self.namespace,
                content_digest(a["text"]),
                column_value("kind", a["kind"]),
                a["session"],
                a["speaker"],
            )
            if _run(self.connection, "twin", (*key, a["task"], a["text"], self.plan.id)).get is not None:
                raise ConflictError(
                    "The same words were stored by another process just now.",
                    (change.id,),
                    remedy="Read again and retry.",
                )

    def _delete_memories(self, changes: list[Change]) -> None:
        rows = [(self._row(c.id), c.id, _present(c.before)) for c in changes]
        self._exactly("delete_memory", [(self.namespace, row, before["op"]) for row, _, before in rows], changes)
        self._many("delete_content", ((self.namespace, row) for row, _, _ in rows))
        self._many("delete_words", ((row,) for row, _, _ in rows))
        self._many("delete_tags", ((self.namespace, tag, row) for row, _, before in rows for tag in before["tags"]))
        self._many("delete_key", ((self.namespace, before["key"], i) for _, i, before in rows if before.get("key")))
        self._many("insert_gone", ((self.namespace, self.version, row) for row, _, _ in rows))
        vectors = self.connection.total_changes()
        self._many("delete_vectors", ((self.namespace, row) for row, _, _ in rows))  # of every space
        less = vectors - self.connection.total_changes()
        _run(self.connection, "count_vectors", {"namespace": self.namespace, "more": less})

    def _update(self, columns: tuple[str, ...], changes: list[Change]) -> None:
        if set(columns) & _CONTENT:
            raise StoreError("This version does not rewrite the content of a memory.")
        sets = ", ".join(f"{c} = ?" for c in columns)
        if set(columns) & SEARCHED:
            sets += f", changed = {self.version}"
        checked = [c for c in columns if c not in UNCHECKED]
        tests = " AND ".join(f"{c} IS ?" for c in checked)
        sql = f"UPDATE memory SET {sets} WHERE namespace = ? AND id = ? AND {tests}"
        values = []
        for change in changes:
            before, after = _present(change.before), _present(change.after)
            values.append(
                (
                    *(column_value(c, after[c]) for c in columns),
                    self.namespace,
                    change.id,
                    *(column_value(c, before[c]) for c in checked),
                )
            )
        self._checked(sql, values, changes)

    # --- vectors

    def _insert_vectors(self, changes: list[Change]) -> None:
        stored = [_present(c.after) for c in changes]
        fresh = [i for i, after in enumerate(stored) if after.get("vector")]
        data: list[bytes] = [after.get("int8") or b"" for after in stored]
        if fresh:
            floats = np.frombuffer(b"".join(stored[i]["vector"] for i in fresh), dtype="<f4").reshape(len(fresh), -1)
            for i, vector in zip(fresh, quantize(floats), strict=True):
                data[i] = vector.tobytes()
        self._many(
            "insert_vector",
            [
                (self.namespace, self._space(after["space"]), self._row(c.id), self.version, vector)
                for c, after, vector in zip(changes, stored, data, strict=True)
            ],
        )
        self.unpacked = int(
            _run(self.connection, "count_vectors", {"namespace": self.namespace, "more": len(changes)}).get
        )

    def _delete_vectors(self, changes: list[Change]) -> None:
        self._exactly(
            "delete_vector",
            [(self.namespace, self._space(_present(c.before)["space"]), self._row(c.id)) for c in changes],
            changes,
        )
        _run(self.connection, "count_vectors", {"namespace": self.namespace, "more": -len(changes)})

    def _space(self, name: str) -> int:
        if name not in self.spaces:
            number = _run(self.connection, "space_of", (name,)).get
            if number is None:
                raise SpaceMismatch(f"The store knows no embedding space {name}.", remedy="Run `perdure reembed`.")
            self.spaces[name] = int(number)
        return self.spaces[name]

    # --- the narrow tables

    def _insert_links(self, changes: list[Change]) -> None:
        self._many(
            "insert_link",
            [(self.namespace, c.id, a["kind"], a["other"], a["weight"]) for c in changes if (a := _present(c.after))],
        )

    def _delete_links(self, changes: list[Change]) -> None:
        befores = [(c.id, _present(c.before)) for c in changes]
        self._exactly("delete_link", [(self.namespace, i, b["kind"], b["other"]) for i, b in befores], changes)

    def _insert_accesses(self, changes: list[Change]) -> None:
        self._many(
            "insert_access",
            [(self.namespace, c.id, a["at_ms"], a["times"]) for c in changes if (a := _present(c.after))],
        )

    def _delete_accesses(self, changes: list[Change]) -> None:
        self._exactly(
            "delete_access",
            [(self.namespace, c.id, b["at_ms"], b["times"]) for c in changes if (b := _present(c.before))],
            changes,
        )

    def _update_namespace(self, changes: list[Change]) -> None:
        bindings = [
            {"namespace": self.namespace, "before": _present(c.before)["policy"], "after": _present(c.after)["policy"]}
            for c in changes
        ]
        self._exactly("namespace_policy", bindings, changes)

    # --- the journal

    def journal(self) -> None:
        plan = self.plan
        try:
            _run(
                self.connection,
                "insert_operation",
                (
                    plan.namespace,
                    plan.id,
                    plan.operation,
                    plan.at,
                    len(plan.changes),
                    0 if plan.operation == BY_HAND else plan.hides,
                    plan.policy,
                    plan.note,
                    plan.undoes,
                ),
            )
        except apsw.ConstraintError as error:
            raise ConflictError(f"The plan {plan.id} was applied before.", remedy="Nothing was written.") from error
        self._many(
            "insert_journal",
            [
                (plan.namespace, plan.id, i, c.target.value, c.id, *journal_form(c), c.because)
                for i, c in enumerate(plan.changes)
            ],
        )

    # --- how statements are run

    def _many(self, name: str, bindings: Iterable[Any]) -> None:
        self.connection.executemany(registry("sqlite")[name].sql, bindings)

    def _exactly(self, name: str, bindings: list[Any], changes: list[Change]) -> None:
        self._checked(registry("sqlite")[name].sql, bindings, changes)

    def _checked(self, sql: str, bindings: list[Any], changes: list[Change]) -> None:
        """Run a statement once for each change; each must hit exactly one row, or the plan is out of date."""
        before = self.connection.total_changes()
        self.connection.execute("SAVEPOINT checked")
        self.connection.executemany(sql, bindings)
        if self.connection.total_changes() - before != len(changes):
            self.connection.execute("ROLLBACK TO checked")  # so that the culprits can be told from those that fitted
            raise ConflictError(
                "The store has moved on since the plan was made; nothing was written.",
                self._culprits(changes),
                remedy="Read again and make a new plan.",
            )
        self.connection.execute("RELEASE checked")

    def _culprits(self, changes: list[Change]) -> tuple[str, ...]:
        """The memories whose last operation is not the one that the plan expects."""
        found = []
        for change in changes:
            op = _run(self.connection, "op_of", (self.namespace, change.id)).get
            fits = (change.before or {}).get("op"), (change.after or {}).get("op")  # before, or already written by us
            if op is None or op not in fits:
                found.append(change.id)
        return tuple(dict.fromkeys(found))

    def _row(self, identity: str) -> int:
        if identity not in self.rows:
            row = _run(self.connection, "row_of", (self.namespace, identity)).get
            if row is None:
                raise ConflictError(
                    "A memory that the plan changes is gone; nothing was written.",
                    (identity,),
                    remedy="Read again and make a new plan.",
                )
            self.rows[identity] = int(row)
        return self.rows[identity]


def _present(row: Row | None) -> Row:
    if row is None:
        raise StoreError("A change holds no row.", remedy="Report this; nothing was written.")
    return row

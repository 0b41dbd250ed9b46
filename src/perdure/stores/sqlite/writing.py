"""Applying a plan: the one place that writes. Rows and journal in one transaction, before-images checked."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import apsw
import numpy as np

from perdure.records.errors import ConflictError, SpaceMismatch, StoreError
from perdure.records.lease import Lease
from perdure.records.memory import Kind, searchable
from perdure.records.plan import Change, Plan, Row, Target
from perdure.stores.codes import quantize
from perdure.stores.packing import packed, unpacked
from perdure.stores.plans import PlanWriter
from perdure.stores.rows import (
    BY_HAND,
    CONTENT_COLUMNS,
    FIXED,
    MEMORY_COLUMNS,
    SEARCHED,
    UNCHECKED,
    UPKEEP,
    column_value,
    content_digest,
    document_text,
    journal_form,
    lease_lost,
    plain,
    present,
)
from perdure.stores.sqlite.index import SEGMENT, pack
from perdure.stores.sqlite.lexical import place_of
from perdure.stores.sqlite.reading import fetched, run, single
from perdure.stores.statements import registry, with_columns


def apply_plan(connection: apsw.Connection, plan: Plan, fence: Lease | None = None) -> int:
    """Write a plan inside the transaction that is open, and return the namespace's new version.

    Raises:
        ConflictError: A row is not as the plan's before-image says; the caller rolls back.
        LeaseLost: The namespace has another keeper by now.
    """
    key = {"namespace": plan.namespace}
    if fence is not None:
        held = {**key, "owner": fence.owner, "epoch": fence.epoch, "until": fence.until}
        if single(connection, "hold_lease", held) is None:
            raise lease_lost(fence)
    writer = bring_in(connection, plan)
    writer.journal()
    if plan.operation not in UPKEEP:
        run(connection, "release_held", key)
    return writer.version


def bring_in(connection: apsw.Connection, plan: Plan) -> _Writer:
    """Write a plan's rows with all that is derived from them, and no journal: it is the caller's to bring."""
    key = {"namespace": plan.namespace, "at": plan.at, "policy": plan.policy}
    writer = _Writer(connection, plan, int(single(connection, "bump_version", key)))
    writer.write_all()
    if writer.unpacked >= SEGMENT:
        for space in writer.spaces.values():
            pack(connection, plan.namespace, space, writer.version)
    return writer


def apply_accesses(connection: apsw.Connection, plan: Plan, log_entries: int) -> None:
    """Append a recall's accesses to their log, and the recall to its own; the logs are their own journal."""
    for change in plan.changes:
        row = change.after
        if row is None:
            continue
        key = {"namespace": plan.namespace, "id": change.id, "at_ms": row["at_ms"]}
        if change.target is Target.ACCESS:
            run(connection, "insert_access", {**key, "times": row["times"]})
        elif change.target is Target.RECALL and log_entries:
            run(connection, "insert_recall", {**key, "query": row["query"], "hits": json.dumps(row["hits"])})
            _trim(connection, plan.namespace, log_entries)


def _trim(connection: apsw.Connection, namespace: str, log_entries: int) -> None:
    kept = single(connection, "count_recall", {"namespace": namespace})
    if kept is not None and kept > log_entries:
        surplus = {"namespace": namespace, "many": kept - log_entries}
        run(connection, "trim_recalls", surplus)
        run(connection, "uncount_recalls", surplus)


class _Writer(PlanWriter):
    def __init__(self, connection: apsw.Connection, plan: Plan, version: int) -> None:
        self.connection, self.plan, self.version = connection, plan, version
        self.namespace = plan.namespace
        self.rows: dict[str, int] = {}
        self.spaces: dict[str, int] = {}
        self.unpacked = 0

    # --- memories

    def _insert_memories(self, changes: list[Change]) -> None:
        if self.plan.operation == "remember":
            self._refuse_twins(changes)
        first = int(single(self.connection, "next_row"))
        place = place_of(self.namespace)
        afters = [present(c.after) for c in changes]
        self.rows.update((c.id, row) for row, c in enumerate(changes, first))
        numbered = list(zip(range(first, first + len(changes)), changes, afters, strict=True))
        try:
            self._many("insert_memory", (_memory_values(self.namespace, row, c.id, a) for row, c, a in numbered))
            self._many("insert_key", ((self.namespace, a["key"], c.id) for _, c, a in numbered if a.get("key")))
        except apsw.ConstraintError as error:
            raise ConflictError(
                "The same memory or idempotency key was stored by another process just now.",
                tuple(c.id for c in changes),
                remedy="Read again and retry.",
            ) from error
        self._many("insert_content", (_content_values(self.namespace, row, c.id, a) for row, c, a in numbered))
        self._many("insert_words", ((row, searchable(a["text"], a["speaker"]), place) for row, _, a in numbered))
        self._many("insert_tag", ((self.namespace, tag, row) for row, _, a in numbered for tag in a["tags"]))
        if carrying := [c for c in changes if present(c.after).get("space")]:
            self._insert_vectors(carrying)

    def _refuse_twins(self, changes: list[Change]) -> None:
        """Another process may have stored the same words since this plan was made."""
        for change in changes:
            a = present(change.after)
            if a["kind"] == Kind.EPISODE:
                continue
            twin = {
                "namespace": self.namespace,
                "digest": content_digest(a["text"]),
                "kind": plain(a["kind"]),
                "op": self.plan.id,
                **{name: a[name] for name in ("session", "speaker", "task", "text")},
            }
            if single(self.connection, "twin", twin) is not None:
                raise ConflictError(
                    "The same words were stored by another process just now.",
                    (change.id,),
                    remedy="Read again and retry.",
                )

    def _delete_memories(self, changes: list[Change]) -> None:
        rows = [{**present(c.before), **self._key(c), "row": self._row(c.id), "seq": self.version} for c in changes]
        self._exactly("delete_memory", rows, changes)
        self._many("delete_content", rows)
        self._many("delete_accesses", rows)  # those of recalls that nobody knew of when the plan was made
        self._many("delete_words", rows)
        self._many("delete_tags", ({**row, "tag": tag} for row in rows for tag in row["tags"]))
        self._many("delete_key", (row for row in rows if row.get("key")))
        self._many("insert_gone", rows)
        vectors = self.connection.total_changes()
        self._many("delete_vectors", rows)  # of every space
        less = vectors - self.connection.total_changes()
        run(self.connection, "count_vectors", {"namespace": self.namespace, "more": less})

    def _update(self, columns: tuple[str, ...], changes: list[Change]) -> None:
        if set(columns) & FIXED:
            raise StoreError("A plan cannot rewrite what a memory says.", remedy="Report this; nothing was written.")
        hot = tuple(c for c in columns if c not in CONTENT_COLUMNS)
        checked = tuple(c for c in hot if c not in UNCHECKED)
        sql = with_columns("sqlite", "update_memory", hot, checked, "set_changed" if set(columns) & SEARCHED else "")
        values = []
        for change in changes:
            before, after = present(change.before), present(change.after)
            row = {**self._key(change), "version": self.version}
            row |= {f"after_{c}": column_value(c, after[c]) for c in hot}
            row |= {f"before_{c}": column_value(c, before[c]) for c in checked}
            values.append(row)
        self._checked(sql, values, changes)
        if words := tuple(c for c in columns if c in CONTENT_COLUMNS):
            self._update_content(words, changes)

    def _update_content(self, columns: tuple[str, ...], changes: list[Change]) -> None:
        """Change what is shown of memories, and their labels; their rows were compared before."""
        written = columns if "shown" not in columns else (*columns, "text", "packed")
        sql = with_columns("sqlite", "update_content", written, ())
        values = []
        for change in changes:
            key = {"namespace": self.namespace, "row": self._row(change.id)}
            row = {f"after_{c}": column_value(c, present(change.after)[c]) for c in columns}
            if "shown" in columns:
                text, pack = fetched(self.connection, "content_text", key)[0]
                whole = unpacked(text, pack)
                text, pack = (whole, None) if row["after_shown"] is None else packed(whole)
                row |= {"after_text": text, "after_packed": pack}
            values.append({**row, **key})
        self.connection.executemany(sql, values)
        if "tags" in columns:
            for change in changes:
                key = {"namespace": self.namespace, "row": self._row(change.id)}
                self._many(
                    "delete_tags", ({**key, "tag": tag} for tag in dict.fromkeys(present(change.before)["tags"]))
                )
                tags = dict.fromkeys(present(change.after)["tags"])
                self._many("insert_tag", ((self.namespace, tag, key["row"]) for tag in tags))

    # --- vectors

    def _insert_vectors(self, changes: list[Change]) -> None:
        stored = [present(c.after) for c in changes]
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
        more = {"namespace": self.namespace, "more": len(changes)}
        self.unpacked = int(single(self.connection, "count_vectors", more))

    def _delete_vectors(self, changes: list[Change]) -> None:
        rows = [
            {**self._key(c), "space": self._space(present(c.before)["space"]), "row": self._row(c.id)} for c in changes
        ]
        self._exactly("delete_vector", rows, changes)
        run(self.connection, "count_vectors", {"namespace": self.namespace, "more": -len(changes)})

    def _space(self, name: str) -> int:
        if name not in self.spaces:
            number = single(self.connection, "space_of", {"name": name})
            if number is None:
                raise SpaceMismatch(f"The store knows no embedding space {name}.", remedy="Run `perdure reembed`.")
            self.spaces[name] = int(number)
        return self.spaces[name]

    # --- the narrow tables

    def _insert_links(self, changes: list[Change]) -> None:
        self._many("insert_link", [{**present(c.after), **self._key(c)} for c in changes])

    def _delete_links(self, changes: list[Change]) -> None:
        self._exactly("delete_link", [{**present(c.before), **self._key(c)} for c in changes], changes)

    def _insert_accesses(self, changes: list[Change]) -> None:
        self._many("insert_access", [{**present(c.after), **self._key(c)} for c in changes])

    def _delete_accesses(self, changes: list[Change]) -> None:
        self._exactly("delete_access", [{**present(c.before), **self._key(c)} for c in changes], changes)

    def _update_namespace(self, changes: list[Change]) -> None:
        bindings = [
            {"namespace": self.namespace, "before": present(c.before)["policy"], "after": present(c.after)["policy"]}
            for c in changes
        ]
        self._exactly("namespace_policy", bindings, changes)

    def _insert_documents(self, changes: list[Change]) -> None:
        rows = [self._document(c, after=c.after) for c in changes]
        try:
            self._many("insert_document", ({**row, "data": row["after"]} for row in rows))
        except apsw.ConstraintError as error:
            raise ConflictError(
                "Another process has written the same document just now.",
                tuple(c.id for c in changes),
                remedy="Read again and retry.",
            ) from error

    def _update_documents(self, changes: list[Change]) -> None:
        rows = [self._document(c, before=c.before, after=c.after) for c in changes]
        self._exactly("update_document", rows, changes)

    def _delete_documents(self, changes: list[Change]) -> None:
        self._exactly("delete_document", [self._document(c, before=c.before) for c in changes], changes)

    def _document(self, change: Change, **sides: Row | None) -> dict[str, Any]:
        where = present(change.after if change.before is None else change.before)
        key = {**self._key(change), "shelf": plain(where["shelf"]), "name": where["name"]}
        return {**key, **{side: document_text(present(row)) for side, row in sides.items()}}

    # --- the journal

    def journal(self) -> None:
        plan = self.plan
        operation = {
            "namespace": plan.namespace,
            "id": plan.id,
            "operation": plan.operation,
            "at_ms": plan.at,
            "changes": len(plan.changes),
            "hides": 0 if plan.operation == BY_HAND else plan.hides,
            "policy": plan.policy,
            "note": plan.note,
            "undoes": plan.undoes,
        }
        try:
            run(self.connection, "insert_operation", operation)
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
        self.connection.execute(
            "SAVEPOINT checked"
        )  # the index of words writes what waits now, and that counts as changes
        before = self.connection.total_changes()
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
            op = single(self.connection, "op_of", self._key(change))
            fits = (change.before or {}).get("op"), (change.after or {}).get("op")  # before, or already written by us
            if op is None or op not in fits:
                found.append(change.id)
        return tuple(dict.fromkeys(found))

    def _key(self, change: Change) -> dict[str, str]:
        return {"namespace": self.namespace, "id": change.id}

    def _row(self, identity: str) -> int:
        if identity not in self.rows:
            row = single(self.connection, "row_of", {"namespace": self.namespace, "id": identity})
            if row is None:
                raise ConflictError(
                    "A memory that the plan changes is gone; nothing was written.",
                    (identity,),
                    remedy="Read again and make a new plan.",
                )
            self.rows[identity] = int(row)
        return self.rows[identity]


def _memory_values(namespace: str, row: int, identity: str, after: Row) -> tuple[Any, ...]:
    """Return the parameters of insert_memory."""
    return (namespace, row, identity, *(plain(after[c]) for c in MEMORY_COLUMNS), "?" in after["text"])


def _content_values(namespace: str, row: int, identity: str, after: Row) -> tuple[Any, ...]:
    """Return the parameters of insert_content."""
    text, pack = (after["text"], None) if after.get("shown") is None else packed(after["text"])
    return (
        namespace,
        row,
        identity,
        text,
        json.dumps(list(after["tags"]), ensure_ascii=False),
        after["source"],
        after["task"],
        json.dumps(after["metadata"], ensure_ascii=False, sort_keys=True),
        after.get("shown"),
        pack,
        content_digest(after["text"]),
    )

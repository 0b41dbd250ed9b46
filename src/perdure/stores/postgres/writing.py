"""Applying a plan to a server: the one place that writes. Rows and journal in one transaction, images checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from psycopg import Cursor
from psycopg.errors import UniqueViolation

from perdure.records.errors import REPAIR, PerdureError, StoreDamaged
from perdure.records.plan import Change, Plan, Row, Target
from perdure.records.store_rows import Lease
from perdure.stores.erasing import erase_traces
from perdure.stores.plans import (
    PlanWriter,
    applied_before,
    changed_memories,
    group_changes,
    journal_lines,
    memory_gone,
    operation_row,
    stored_in_view,
    stored_meanwhile,
)
from perdure.stores.postgres.connections import Halfvecs
from perdure.stores.postgres.inserting import (
    SPAN,
    TYPES,
    IndexedText,
    ask_for_duplicates,
    chunks,
    document_of,
    insert_memories,
    refuse_duplicates,
    update_content,
)
from perdure.stores.postgres.schema import check_meta
from perdure.stores.postgres.session import PostgresSession
from perdure.stores.rows import lease_lost, require_row
from perdure.stores.words import Stemmer


class AlreadyApplied(Exception):  # noqa: N818  # no error: an earlier try was committed, and this one is rolled back
    """The plan has been applied by a try whose answer was lost."""


@dataclass(slots=True)
class _Growth:
    """What a plan adds to its namespace."""

    documents: dict[str, IndexedText] = field(default_factory=dict)
    removed: dict[str, IndexedText] = field(default_factory=dict)
    vectors: int = 0


def apply_plan(session: PostgresSession, plan: Plan, stemmer: Stemmer, fence: Lease | None, *, again: bool) -> None:
    """Write a plan inside the transaction that is open.

    Args:
        session: Of the plan's namespace.
        plan: What to write.
        stemmer: Splits new texts for the index of words.
        fence: The lease under which the plan was made, if any.
        again: An earlier try may have been committed, or may be just now: then nothing is written.

    Raises:
        AppliedBefore: So it was; the caller rolls back.
        ConflictError: A row is not as the plan's before-image says; the caller rolls back.
        LeaseLost: Another worker has taken the namespace over.
    """
    writer = _start(session, plan, stemmer)
    # From here on the namespace is ours: an earlier try is over, whether its client was still there or not.
    if again and session.value("operation_exists", id=plan.id):
        raise AlreadyApplied
    if fence is not None:
        lease = session.value("hold_lease", owner=fence.owner, epoch=fence.epoch, until=fence.until)
        if lease is None:
            raise lease_lost(fence)
    writer.write_all()
    _write_journal(session, plan, writer.vectors)
    writer.settle()
    if plan.erasure is not None:
        session.set_local("perdure.erasing", "on")  # the one thing that the journal's policies let change a line
        erase_traces(session, plan)


def write_rows(session: PostgresSession, page: Plan, stemmer: Stemmer) -> None:
    """Write rows that come from another store, with all that is derived from them; their journal comes by itself."""
    writer = _start(session, page, stemmer)
    writer.write_all()
    writer.settle()


def _start(session: PostgresSession, plan: Plan, stemmer: Stemmer) -> _Writer:
    growth = _growth(plan, stemmer)
    added = [growth.documents, growth.removed]
    counts = [len(d) for d in added]
    lengths = [sum(x.length for x in d.values()) for d in added]
    counted = session.run(
        "bump_version",
        at=plan.at,
        policy=plan.policy,
        rows=counts[0],
        documents=counts[0] - counts[1],
        length=lengths[0] - lengths[1],
        vectors=growth.vectors,
    )
    return _Writer(session, plan, growth, counted)


def _growth(plan: Plan, stemmer: Stemmer) -> _Growth:
    growth = _Growth()
    for change in plan.changes:
        if change.target is Target.MEMORY and change.before is None and change.after:
            growth.documents[change.id] = document_of(change.after, stemmer)
            growth.vectors += bool(change.after.get("space"))
        elif change.target is Target.MEMORY and change.after is None and change.before:
            growth.removed[change.id] = document_of(change.before, stemmer)
        elif change.target is Target.VECTOR:
            growth.vectors += 1 if change.before is None else -1
    return growth


def _write_journal(session: PostgresSession, plan: Plan, vectors: Mapping[tuple[Target, str], bytes]) -> None:
    lines = journal_lines(plan, vectors)
    session.run("insert_next_operation", **operation_row(plan, lines))
    for group in chunks(lines, lambda x: 100 + len(x["before"] or "") + len(x["after"] or "")):
        session.run_rows("insert_journal", group)


_COUNTED: Final = ("memory_pkey", "content_pkey", "operation_namespace_number_key")
"""What the numbers in a namespace's own row keep from colliding; on a cluster with the number of a shard behind."""


def conflict_of(error: UniqueViolation, plan: Plan) -> PerdureError:
    """Return what a broken uniqueness means: the plan was applied before, somebody was faster, or counts are wrong."""
    if (error.diag.constraint_name or "").startswith(_COUNTED):
        return StoreDamaged(f"The row of the namespace {plan.namespace} counts fewer rows than it has.", remedy=REPAIR)
    if error.diag.table_name in {"operation", "journal"}:
        return applied_before(plan)
    if error.diag.table_name == "document":
        documents = [c.id for c in plan.changes if c.target is Target.DOCUMENT and c.before is None]
        return stored_meanwhile("document", documents)
    memories = [c.id for c in plan.changes if c.target is Target.MEMORY and c.before is None]
    return stored_meanwhile("memory or idempotency key", memories)


class _Writer(PlanWriter):
    def __init__(self, session: PostgresSession, plan: Plan, growth: _Growth, counted: Cursor[tuple[Any, ...]]) -> None:
        super().__init__(session, plan)
        self.session, self.growth, self.counted = session, growth, counted
        # Rows of new memories, counted back from the namespace's last one
        self.new = {identity: row for row, identity in enumerate(growth.documents, 1 - len(growth.documents))}
        self.rows: dict[str, int] = {}
        self.duplicates: Cursor[tuple[Any, ...]] | None = None
        self.expected: list[tuple[Cursor[tuple[Any, ...]], Sequence[Change]]] = []

    # --- memories

    def _insert_memories(self, changes: list[Change]) -> None:
        if self.plan.operation == "remember":
            self.duplicates = ask_for_duplicates(self.session, stored_in_view(self.plan, changes), self.plan.id)
        insert_memories(self.session, changes, self.new, self.growth.documents)
        if carrying := [c for c in changes if require_row(c.after).get("space")]:
            self._insert_vectors(carrying)

    def _delete_memories(self, changes: list[Change]) -> None:
        befores = [(c.id, require_row(c.before)) for c in changes]
        ids = [i for i, _ in befores]
        stored = self._row_numbers(ids)  # the plan may make them anew, with other rows
        numbers = [stored[i] for i in ids]
        self._expect(self.session.run("delete_memory", id=ids, op=[b["op"] for _, b in befores]), changes)
        self.session.run("delete_content", rows=numbers)
        self.session.run("delete_accesses", ids=ids)  # those of recalls that nobody knew of when the plan was made
        if tags := sorted({tag for _, b in befores for tag in b["tags"]}):
            self.session.run("delete_tags", tags=tags, rows=numbers)
        if keyed := [(b["key"], i) for i, b in befores if b.get("key")]:
            self.session.run("delete_keys", key=[k for k, _ in keyed], id=[i for _, i in keyed])
        for identity, row in zip(ids, numbers, strict=True):
            terms = list(self.growth.removed[identity].times)
            self.session.run("shrink_posting", terms=terms, row=row, span=SPAN - 1)
            self.session.run("delete_posting", terms=terms, row=row, span=SPAN - 1)
        less = self.session.changed_rows("delete_vectors", rows=numbers)  # of every space
        if less:
            self.session.run("add_vectors", more=-less)

    def _update_states(self, columns: Sequence[str], checked: Sequence[str], changes: list[Change]) -> None:
        values = {f"new_{c}": [require_row(x.after)[c] for x in changes] for c in columns}
        values |= {f"old_{c}": [require_row(x.before)[c] for x in changes] for c in checked}
        ids = [x.id for x in changes]
        self._expect(self.session.run_with("update_memory", columns, checked, TYPES, id=ids, **values), changes)

    def _update_content(self, columns: Sequence[str], changes: list[Change]) -> None:
        update_content(self.session, changes, self._numbers([x.id for x in changes]), set(columns))

    # --- vectors

    def _insert_vectors(self, changes: list[Change]) -> None:
        spaces = [self._space(require_row(c.after)["space"]) for c in changes]
        data = Halfvecs([np.frombuffer(vector, np.int8) for vector in self._int8_vectors(changes)])
        old = [c.id for c in changes if c.id not in self.new]
        old_rows = dict(zip(old, self._numbers(old), strict=True))
        rows = [self.new[c.id] if c.id in self.new else old_rows[c.id] for c in changes]
        self.session.run("insert_vector", space=spaces, row=rows, data=data)

    def _delete_vectors(self, changes: list[Change]) -> None:
        spaces = [self._space(require_row(c.before)["space"]) for c in changes]
        rows = self._numbers([c.id for c in changes])
        self._expect(self.session.run("delete_vector", space=spaces, row=rows), changes)

    # --- how statements are run

    def _insert_rows(self, name: str, rows: Sequence[Row]) -> None:
        if rows:
            self.session.run_rows(name, rows)

    def _match_rows(self, name: str, rows: Sequence[Row], changes: Sequence[Change]) -> None:
        """Run a statement for the changes of each turn; one document may change twice in a plan."""
        keys = [tuple(v for k, v in row.items() if k not in ("before", "after")) for row in rows]
        row_of = {id(change): row for change, row in zip(changes, rows, strict=True)}
        for turn in group_changes(keys, changes):
            self._expect(self.session.run_rows(name, [row_of[id(change)] for change in turn]), turn)

    def _expect(self, cursor: Cursor[tuple[Any, ...]], changes: Sequence[Change]) -> None:
        self.expected.append((cursor, changes))

    def settle(self) -> None:
        """Refuse a plan that is out of date: each change must have hit one row, and nobody has stored the same."""
        meta = self.session.run("read_meta")  # after what was written: an upgrade waits for that, or is seen here
        self.session.settle()
        check_meta(meta.fetchall())
        if self.duplicates is not None:
            refuse_duplicates(self.duplicates.fetchall(), changed_memories(self.plan))
        for cursor, changes in self.expected:
            if cursor.rowcount != len(changes):
                raise self._out_of_date(changes)

    def _space(self, name: str) -> int:
        """Return the number of an embedding space, which never changes."""
        spaces = self.session.connection.spaces
        if name not in spaces:
            spaces[name] = super()._space(name)
        return spaces[name]

    def _numbers(self, ids: Sequence[str]) -> list[int]:
        if any(i in self.new and i not in self.rows for i in ids):
            _, last = self.counted.fetchone() or (0, 0)
            self.rows |= {i: int(last) + row for i, row in self.new.items()}
        if missing := [i for i in ids if i not in self.rows]:
            self.rows |= self._row_numbers(missing)
        return [self.rows[i] for i in ids]

    def _row_numbers(self, ids: Sequence[str]) -> dict[str, int]:
        found = {i: int(row) for i, row in self.session.rows("rows_of", ids=ids)}
        if deleted := [i for i in ids if i not in found]:
            raise memory_gone(deleted)
        return found

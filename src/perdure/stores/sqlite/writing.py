"""Applying a plan to a file: the one place that writes. Rows and journal in one transaction, before-images checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

import apsw

from perdure.records.digests import content_digest
from perdure.records.memory import Kind, searchable
from perdure.records.plan import Change, Plan, Row, Target
from perdure.records.store_rows import Lease
from perdure.stores.erasing import erase_traces
from perdure.stores.packing import pack_text, unpack_text
from perdure.stores.plans import (
    PlanWriter,
    applied_before,
    changed_memories,
    journal_lines,
    memory_gone,
    operation_row,
    stored_in_view,
    stored_meanwhile,
)
from perdure.stores.rows import (
    MEMORY_COLUMNS,
    SEARCHED,
    column_value,
    lease_lost,
    plain_value,
    require_row,
)
from perdure.stores.sqlite.connection import SqliteSession, run_many
from perdure.stores.sqlite.index import SEGMENT, pack
from perdure.stores.sqlite.lexical import place_of
from perdure.stores.sqlite.lines import packed_id, packed_line
from perdure.stores.statements import registry, with_columns


def apply_plan(session: SqliteSession, plan: Plan, fence: Lease | None = None) -> None:
    """Write a plan inside the transaction that is open.

    Raises:
        ConflictError: A row is not as the plan's before-image says; the caller rolls back.
        LeaseLost: Another worker has taken the namespace over.
    """
    if fence is not None:
        lease = session.value("hold_lease", owner=fence.owner, epoch=fence.epoch, until=fence.until)
        if lease is None:
            raise lease_lost(fence)
    _write_journal(session, plan, write_rows(session, plan).vectors)
    if deleted := erase_traces(session, plan):
        session.run("uncount_recalls", many=deleted)


def write_rows(session: SqliteSession, plan: Plan) -> PlanWriter:
    """Write a plan's rows with all that is derived from them, and no journal: it is the caller's to bring."""
    brought = sum(map(_brings_vector, plan.changes))
    documents = sum(map(_brings_memory, plan.changes))
    counts = {"vectors": brought, "documents": documents}
    ((version, unpacked),) = session.rows("bump_version", at=plan.at, policy=plan.policy, **counts)
    writer = _Writer(session, plan, version)
    writer.write_all()
    if brought and unpacked >= SEGMENT:
        for space in writer.spaces_written:
            pack(session.connection, plan.namespace, space, version)
    return writer


def _brings_vector(change: Change) -> bool:
    if change.before is not None or change.after is None:
        return False
    return change.target is Target.VECTOR or (change.target is Target.MEMORY and bool(change.after.get("space")))


def _brings_memory(change: Change) -> int:
    """Return 1 of a new memory, -1 of one that is removed, and 0 of any other change."""
    return (change.before is None) - (change.after is None) if change.target is Target.MEMORY else 0


def _write_journal(session: SqliteSession, plan: Plan, vectors: Mapping[tuple[Target, str], bytes]) -> None:
    lines = journal_lines(plan, vectors)
    number = int(session.value("next_number"))
    try:
        session.run("insert_operation", number=number, **operation_row(plan, lines))
    except apsw.ConstraintError as error:
        raise applied_before(plan) from error
    insert_lines(session, ((number, line) for line in lines))


def insert_lines(session: SqliteSession, lines: Iterable[tuple[int, Row]]) -> None:
    """Append lines, each with the number of its operation, to the journal."""
    run_many(
        session.connection,
        "insert_journal",
        (
            (
                *(session.namespace, number, line["position"], line["target"], packed_id(line["id"])),
                packed_line(line["operation"], line["before"], line["after"], line["because"]),
            )
            for number, line in lines
        ),
    )


def append_accesses(session: SqliteSession, plan: Plan, log_entries: int) -> None:
    """Append a recall's accesses to their log, and the recall to its own; the logs are their own journal."""
    accesses = [(c.id, c.after) for c in plan.changes if c.target is Target.ACCESS and c.after is not None]
    key = {"namespace": session.namespace}
    run_many(session.connection, "insert_access", ({**key, "id": identity, **row} for identity, row in accesses))
    for change in plan.changes if log_entries else ():
        if change.target is Target.RECALL and (row := change.after) is not None:
            hits = list(row["hits"])
            session.run("insert_recall", id=change.id, at_ms=row["at_ms"], query=row["query"], hits=hits)
            _trim(session, log_entries)


def _trim(session: SqliteSession, log_entries: int) -> None:
    logged = session.value("count_recall")
    if logged is not None and logged > log_entries:
        session.run("trim_recalls", many=logged - log_entries)
        session.run("uncount_recalls", many=logged - log_entries)


class _Writer(PlanWriter):
    def __init__(self, session: SqliteSession, plan: Plan, version: int) -> None:
        super().__init__(session, plan)
        self.session, self.connection, self.namespace = session, session.connection, session.namespace
        self.version = version
        self.spaces_written: set[int] = set()
        self._digests: dict[str, int] = {}

    # --- memories

    def _insert_memories(self, changes: list[Change]) -> None:
        if self.plan.operation == "remember":
            self._refuse_duplicates(changes)
        first = int(self.session.value("next_row"))
        place = place_of(self.namespace)
        afters = [require_row(c.after) for c in changes]
        self.rows.update((c.id, row) for row, c in enumerate(changes, first))
        numbered = list(zip(range(first, first + len(changes)), changes, afters, strict=True))
        try:
            self.connection.executemany(
                with_columns("sqlite", "insert_memory", MEMORY_COLUMNS, ()),
                (_memory_values(self.namespace, row, c.id, a) for row, c, a in numbered),
            )
            self._many("insert_key", ((self.namespace, a["key"], row) for row, _, a in numbered if a.get("key")))
        except apsw.ConstraintError as error:
            raise stored_meanwhile("memory or idempotency key", [c.id for c in changes]) from error
        contents = (_content_values(self.namespace, row, c.id, a, self._digest(a)) for row, c, a in numbered)
        self._many("insert_content", contents)
        self._many("insert_words", ((row, searchable(a["text"], a["speaker"]), place) for row, _, a in numbered))
        self._many("insert_tag", ((self.namespace, tag, row) for row, _, a in numbered for tag in a["tags"]))
        if carrying := [c for c in changes if require_row(c.after).get("space")]:
            self._insert_vectors(carrying)

    def _refuse_duplicates(self, changes: list[Change]) -> None:
        """Another process may have stored the same words since this plan was made."""
        rows = [(c.id, require_row(c.after)) for c in stored_in_view(self.plan, changes)]
        texts = [(identity, a, self._digest(a)) for identity, a in rows if a["kind"] != Kind.EPISODE]
        if not texts or not self.session.rows("find_digests", digests=[digest for *_, digest in texts]):
            return
        known = changed_memories(self.plan)
        for identity, a, digest in texts:
            same = {name: a[name] for name in ("session", "speaker", "task", "text")}
            found = self.session.rows("duplicate", digest=digest, kind=plain_value(a["kind"]), op=self.plan.id, **same)
            if any(other not in known for (other,) in found):
                raise stored_meanwhile("text", [identity])

    def _digest(self, after: Row) -> int:
        text = after["text"]
        if text not in self._digests:
            self._digests[text] = content_digest(text)
        return self._digests[text]

    def _delete_memories(self, changes: list[Change]) -> None:
        rows = [{**require_row(c.before), **self._key(c), "row": self._row(c.id), "seq": self.version} for c in changes]
        self._match_rows("delete_memory", rows, changes)
        self._many("delete_content", rows)
        self._many("delete_accesses", rows)  # those of recalls that nobody knew of when the plan was made
        self._many("delete_words", rows)
        self._many("delete_tags", ({**row, "tag": tag} for row in rows for tag in row["tags"]))
        self._many("delete_key", (row for row in rows if row.get("key")))
        self._many("insert_gone", rows)
        vectors = self.connection.total_changes()
        self._many("delete_vectors", rows)  # of every space
        self.session.run("add_vectors", more=vectors - self.connection.total_changes())

    def _update_states(self, columns: Sequence[str], checked: Sequence[str], changes: list[Change]) -> None:
        written = require_row(changes[0].after).keys()
        sql = with_columns(
            "sqlite", "update_memory", tuple(columns), tuple(checked), "set_changed" if SEARCHED & written else ""
        )
        values = []
        for change in changes:
            before, after = require_row(change.before), require_row(change.after)
            row = {**self._key(change), "version": self.version}
            row |= {f"after_{c}": column_value(c, after[c]) for c in columns}
            row |= {f"before_{c}": column_value(c, before[c]) for c in checked}
            values.append(row)
        self._match_all(sql, values, changes)

    def _update_content(self, columns: Sequence[str], changes: list[Change]) -> None:
        """Change what is shown of memories, and their labels; their rows were compared before."""
        written = tuple(columns) if "shown" not in columns else (*columns, "text", "packed")
        values = []
        for change in changes:
            row = {f"after_{c}": column_value(c, require_row(change.after)[c]) for c in columns}
            number = self._row(change.id)
            if "shown" in columns:
                whole = unpack_text(*self.session.rows("content_text", row=number)[0])
                text, pack = (whole, None) if row["after_shown"] is None else pack_text(whole)
                row |= {"after_text": text, "after_packed": pack}
            values.append({**row, "namespace": self.namespace, "row": number})
        self.connection.executemany(with_columns("sqlite", "update_content", written, ()), values)
        if "tags" in columns:
            for change in changes:
                self._update_tags(
                    self._row(change.id), require_row(change.before)["tags"], require_row(change.after)["tags"]
                )

    def _update_tags(self, row: int, before: Sequence[str], after: Sequence[str]) -> None:
        key = {"namespace": self.namespace, "row": row}
        self._many("delete_tags", ({**key, "tag": tag} for tag in dict.fromkeys(before)))
        self._many("insert_tag", ((self.namespace, tag, row) for tag in dict.fromkeys(after)))

    # --- vectors

    def _insert_vectors(self, changes: list[Change]) -> None:
        spaces = [self._space(require_row(c.after)["space"]) for c in changes]
        self.spaces_written.update(spaces)
        vectors = zip(changes, spaces, self._int8_vectors(changes), strict=True)
        self._many(
            "insert_vector",
            ((self.namespace, space, self._row(c.id), self.version, data) for c, space, data in vectors),
        )

    def _delete_vectors(self, changes: list[Change]) -> None:
        rows = [{"space": self._space(require_row(c.before)["space"]), "row": self._row(c.id)} for c in changes]
        self._match_rows("delete_vector", rows, changes)
        self._many("mark_changed", ({"namespace": self.namespace, "version": self.version, **row} for row in rows))
        self.session.run("add_vectors", more=-len(changes))

    # --- how statements are run

    def _many(self, name: str, bindings: Any) -> None:
        run_many(self.connection, name, bindings)

    def _insert_rows(self, name: str, rows: Sequence[Row]) -> None:
        try:
            self._many(name, ({**row, "namespace": self.namespace} for row in rows))
        except apsw.ConstraintError as error:
            raise stored_meanwhile(name.removeprefix("insert_"), [row["id"] for row in rows]) from error

    def _match_rows(self, name: str, rows: Sequence[Row], changes: Sequence[Change]) -> None:
        self._match_all(registry("sqlite")[name].sql, [{**row, "namespace": self.namespace} for row in rows], changes)

    def _match_all(self, sql: str, bindings: Sequence[Row], changes: Sequence[Change]) -> None:
        # The index of words writes at a savepoint what waits, and that counts as changes: so it comes first.
        self.connection.execute("SAVEPOINT checked")
        before = self.connection.total_changes()
        self.connection.executemany(sql, bindings)
        if self.connection.total_changes() - before != len(changes):
            self.connection.execute("ROLLBACK TO checked")  # so that the culprits can be told from those that fitted
            raise self._out_of_date(changes)
        self.connection.execute("RELEASE checked")

    def _key(self, change: Change) -> dict[str, str]:
        return {"namespace": self.namespace, "id": change.id}

    def _row(self, identity: str) -> int:
        if identity not in self.rows:
            row = self.session.value("row_of", id=identity)
            if row is None:
                raise memory_gone([identity])
            self.rows[identity] = int(row)
        return self.rows[identity]


def _memory_values(namespace: str, row: int, identity: str, after: Row) -> tuple[Any, ...]:
    """Return the parameters of insert_memory; members of enumerations are texts to SQLite."""
    return (namespace, row, identity, *_memory_columns(after), "?" in after["text"])


_memory_columns: Final = itemgetter(*MEMORY_COLUMNS)


def _content_values(namespace: str, row: int, identity: str, after: Row, digest: int) -> tuple[Any, ...]:
    text, pack = (after["text"], None) if after.get("shown") is None else pack_text(after["text"])
    return (
        namespace,
        row,
        identity,
        text,
        column_value("tags", after["tags"]),
        after["source"],
        after["task"],
        column_value("metadata", after["metadata"]),
        after.get("shown"),
        pack,
        digest,
    )

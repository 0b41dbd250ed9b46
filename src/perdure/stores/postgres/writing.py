"""Applying a plan: the one place that writes. Rows and journal in one transaction, before-images checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from psycopg import Cursor
from psycopg.errors import UniqueViolation

from perdure.records.errors import ConflictError, SpaceMismatch, StoreError
from perdure.records.lease import Lease
from perdure.records.plan import Change, Plan, Target
from perdure.stores.plans import PlanWriter
from perdure.stores.postgres.inserting import (
    TYPES,
    chunks,
    insert_accesses,
    insert_memories,
    insert_vectors,
    refuse_twins,
    update_content,
)
from perdure.stores.postgres.postings import SPAN, Document, document_of
from perdure.stores.postgres.server import Session
from perdure.stores.rows import (
    BY_HAND,
    CONTENT_COLUMNS,
    FIXED,
    UNCHECKED,
    UPKEEP,
    document_text,
    journal_form,
    lease_lost,
    present,
)
from perdure.stores.words import Stemmer


class AppliedBefore(Exception):  # noqa: N818  # no error: an earlier try was committed, and this one is rolled back
    """The plan has been applied by a try whose answer was lost."""


@dataclass(slots=True)
class _Growth:
    """What a plan adds to its namespace."""

    documents: dict[str, Document] = field(default_factory=dict)
    gone: dict[str, Document] = field(default_factory=dict)
    vectors: int = 0


def apply_plan(session: Session, plan: Plan, stemmer: Stemmer, fence: Lease | None, *, again: bool) -> None:
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
        LeaseLost: The namespace has another keeper by now.
    """
    writer, number = _begun(session, plan, stemmer)
    # From here on the namespace is ours: an earlier try is over, whether its client was still there or not.
    if again and session.value("operation_exists", id=plan.id):
        raise AppliedBefore
    if fence is not None:
        _held(session, fence)
    writer.write_all()
    writer.journal(number)
    writer.settle()
    if plan.operation not in UPKEEP:
        session.run("release_held")


def bring_in(session: Session, page: Plan, stemmer: Stemmer) -> None:
    """Write rows that come from another store, with all that is derived from them; their journal comes by itself."""
    writer, _ = _begun(session, page, stemmer)
    writer.write_all()
    writer.settle()


def _begun(session: Session, plan: Plan, stemmer: Stemmer) -> tuple[_Writer, int]:
    """Count a plan into its namespace, which is locked from here on, and return its writer and its number."""
    growth = _growth(plan, stemmer)
    added = [growth.documents, growth.gone]
    counts = [len(d) for d in added]
    lengths = [sum(x.length for x in d.values()) for d in added]
    number, last = session.run(
        "bump_version",
        at=plan.at,
        policy=plan.policy,
        rows=counts[0],
        documents=counts[0] - counts[1],
        length=lengths[0] - lengths[1],
        vectors=growth.vectors,
    ).fetchone() or (0, 0)
    return _Writer(session, plan, growth, int(last) - counts[0] + 1), int(number)


def conflict_of(error: UniqueViolation, plan: Plan) -> ConflictError:
    """Return what a broken uniqueness means: the plan was applied before, or somebody else was faster."""
    if error.diag.table_name in {"operation", "journal"}:
        return ConflictError(f"The plan {plan.id} was applied before.", remedy="Nothing was written.")
    return ConflictError(
        "The same memory or idempotency key was stored by another process just now.",
        tuple(c.id for c in plan.changes if c.target is Target.MEMORY and c.before is None),
        remedy="Read again and retry.",
    )


def _held(session: Session, fence: Lease) -> None:
    if session.changed("hold_lease", owner=fence.owner, epoch=fence.epoch, until=fence.until) != 1:
        raise lease_lost(fence)


def _growth(plan: Plan, stemmer: Stemmer) -> _Growth:
    growth = _Growth()
    for change in plan.changes:
        if change.target is Target.MEMORY and change.before is None and change.after:
            growth.documents[change.id] = document_of(change.after, stemmer)
            growth.vectors += bool(change.after.get("space"))
        elif change.target is Target.MEMORY and change.after is None and change.before:
            growth.gone[change.id] = document_of(change.before, stemmer)
        elif change.target is Target.VECTOR:
            growth.vectors += 1 if change.before is None else -1
    return growth


class _Writer(PlanWriter):
    def __init__(self, session: Session, plan: Plan, growth: _Growth, first: int) -> None:
        self.session, self.plan, self.growth = session, plan, growth
        self.rows = {identity: row for row, identity in enumerate(growth.documents, first)}
        self.spaces: dict[str, int] = {}
        self.expected: list[tuple[Cursor[tuple[Any, ...]], Sequence[Change]]] = []

    # --- memories

    def _insert_memories(self, changes: list[Change]) -> None:
        if self.plan.operation == "remember":
            refuse_twins(self.session, changes, self.plan.id)
        insert_memories(self.session, changes, self.rows, self.growth.documents)
        if carrying := [c for c in changes if present(c.after).get("space")]:
            self._insert_vectors(carrying)

    def _delete_memories(self, changes: list[Change]) -> None:
        befores = [(c.id, present(c.before)) for c in changes]
        rows = self._rows([i for i, _ in befores])
        ids, ops = [i for i, _ in befores], [b["op"] for _, b in befores]
        self._expect(self.session.run("delete_memory", id=ids, op=ops), changes)
        numbers = [rows[i] for i, _ in befores]
        self.session.run("delete_content", rows=numbers)
        self.session.run("delete_accesses", ids=ids)  # those of recalls that nobody knew of when the plan was made
        if tags := sorted({tag for _, b in befores for tag in b["tags"]}):
            self.session.run("delete_tags", tags=tags, rows=numbers)
        if keyed := [(b["key"], i) for i, b in befores if b.get("key")]:
            self.session.run("delete_keys", key=[k for k, _ in keyed], id=[i for _, i in keyed])
        for identity, _ in befores:
            terms = list(self.growth.gone[identity].times)
            self.session.run("shrink_posting", terms=terms, row=rows[identity], span=SPAN - 1)
            self.session.run("delete_posting", terms=terms, row=rows[identity], span=SPAN - 1)
        less = self.session.changed("delete_vectors", rows=numbers)  # of every space
        if less:
            self.session.run("add_vectors", more=-less)

    def _update(self, columns: tuple[str, ...], changes: list[Change]) -> None:
        if set(columns) & FIXED:
            raise StoreError("A plan cannot rewrite what a memory says.", remedy="Report this; nothing was written.")
        hot = tuple(c for c in columns if c not in CONTENT_COLUMNS)
        checked = tuple(c for c in hot if c not in UNCHECKED)
        for turn in _turns(changes):
            values = {f"new_{c}": [present(x.after)[c] for x in turn] for c in hot}
            values |= {f"old_{c}": [present(x.before)[c] for x in turn] for c in checked}
            ids = [x.id for x in turn]
            self._expect(self.session.run_with("update_memory", hot, checked, TYPES, id=ids, **values), turn)
            if words := set(columns) & set(CONTENT_COLUMNS):
                update_content(self.session, turn, self._rows(ids), words)

    # --- vectors

    def _insert_vectors(self, changes: list[Change]) -> None:
        spaces = [self._space(present(c.after)["space"]) for c in changes]
        insert_vectors(self.session, changes, self._rows([c.id for c in changes]), spaces)

    def _delete_vectors(self, changes: list[Change]) -> None:
        rows = self._rows([c.id for c in changes])
        spaces = [self._space(present(c.before)["space"]) for c in changes]
        self._expect(self.session.run("delete_vector", space=spaces, row=[rows[c.id] for c in changes]), changes)

    def _space(self, name: str) -> int:
        if not self.spaces:
            self.spaces = {n: int(number) for n, number in self.session.rows("spaces")}
        if name not in self.spaces:
            raise SpaceMismatch(f"The store knows no embedding space {name}.", remedy="Run `perdure reembed`.")
        return self.spaces[name]

    # --- the narrow tables

    def _insert_links(self, changes: list[Change]) -> None:
        afters = [present(c.after) for c in changes]
        self.session.run(
            "insert_link",
            id=[c.id for c in changes],
            kind=[a["kind"] for a in afters],
            other=[a["other"] for a in afters],
            weight=[float(a["weight"]) for a in afters],
        )

    def _delete_links(self, changes: list[Change]) -> None:
        befores = [present(c.before) for c in changes]
        kinds, others = [b["kind"] for b in befores], [b["other"] for b in befores]
        self._expect(self.session.run("delete_link", id=[c.id for c in changes], kind=kinds, other=others), changes)

    def _insert_accesses(self, changes: list[Change]) -> None:
        for turn in _turns(changes):
            insert_accesses(self.session, turn)

    def _delete_accesses(self, changes: list[Change]) -> None:
        befores = [present(c.before) for c in changes]
        at, times = [b["at_ms"] for b in befores], [b["times"] for b in befores]
        self._expect(self.session.run("delete_access", id=[c.id for c in changes], at_ms=at, times=times), changes)

    def _update_namespace(self, changes: list[Change]) -> None:
        for change in changes:
            before, after = present(change.before)["policy"], present(change.after)["policy"]
            self._expect(self.session.run("namespace_policy", before=before, after=after), [change])

    def _insert_documents(self, changes: list[Change]) -> None:
        self.session.run(
            "insert_document", **_documents(changes), data=[document_text(present(c.after)) for c in changes]
        )

    def _update_documents(self, changes: list[Change]) -> None:
        for change in changes:  # one document may change twice in a plan
            before, after = [document_text(present(change.before))], [document_text(present(change.after))]
            cursor = self.session.run("update_document", **_documents([change]), before=before, after=after)
            self._expect(cursor, [change])

    def _delete_documents(self, changes: list[Change]) -> None:
        befores = [document_text(present(c.before)) for c in changes]
        self._expect(self.session.run("delete_document", **_documents(changes), before=befores), changes)

    # --- the journal

    def journal(self, number: int) -> None:
        plan = self.plan
        hides = 0 if plan.operation == BY_HAND else plan.hides
        self.session.run(
            "insert_operation",
            id=plan.id,
            number=number,
            operation=plan.operation,
            at=plan.at,
            changes=len(plan.changes),
            hides=hides,
            policy=plan.policy,
            note=plan.note,
            undoes=plan.undoes,
        )
        lines = [(i, c, *journal_form(c)) for i, c in enumerate(plan.changes)]
        for group in chunks(lines, lambda x: 100 + len(x[2] or "") + len(x[3] or "")):
            self.session.run(
                "insert_journal",
                operation=plan.id,
                position=[i for i, *_ in group],
                target=[c.target.value for _, c, *_ in group],
                id=[c.id for _, c, *_ in group],
                before=[before for *_, before, _ in group],
                after=[after for *_, after in group],
                because=[c.because for _, c, *_ in group],
            )

    # --- what has moved on

    def _expect(self, cursor: Cursor[tuple[Any, ...]], changes: Sequence[Change]) -> None:
        self.expected.append((cursor, changes))

    def settle(self) -> None:
        """Each change must have hit exactly one row, or the plan is out of date."""
        self.session.settle()
        for cursor, changes in self.expected:
            if cursor.rowcount != len(changes):
                raise ConflictError(
                    "The store has moved on since the plan was made; nothing was written.",
                    self._culprits(changes),
                    remedy="Read again and make a new plan.",
                )

    def _culprits(self, changes: Sequence[Change]) -> tuple[str, ...]:
        """The memories whose last operation is not the one that the plan expects."""
        ops = dict(self.session.rows("ops_of", ids=[c.id for c in changes]))
        found = [c.id for c in changes if not _fits(c, ops.get(c.id))]
        return tuple(dict.fromkeys(found))

    def _rows(self, ids: Sequence[str]) -> dict[str, int]:
        if missing := [i for i in ids if i not in self.rows]:
            self.rows |= {i: int(row) for i, row in self.session.rows("rows_of", ids=missing)}
        if gone := tuple(i for i in ids if i not in self.rows):
            raise ConflictError(
                "A memory that the plan changes is gone; nothing was written.",
                gone,
                remedy="Read again and make a new plan.",
            )
        return self.rows


def _documents(changes: Sequence[Change]) -> dict[str, list[str]]:
    """Return where the documents of some changes are."""
    rows = [present(c.after if c.before is None else c.before) for c in changes]
    return {
        "shelf": [str(row["shelf"]) for row in rows],
        "id": [c.id for c in changes],
        "name": [row["name"] for row in rows],
    }


def _fits(change: Change, op: str | None) -> bool:
    """Whether a memory's last operation is the one before a change or, as the change is written already, after it."""
    if op is None:  # a memory that was gone before is refused earlier
        return change.target is Target.MEMORY and change.after is None
    return op in ((change.before or {}).get("op"), (change.after or {}).get("op"))


def _turns(changes: Sequence[Change]) -> Iterator[list[Change]]:
    """Yield changes in groups that name each memory once: one statement changes a row once."""
    turns: list[list[Change]] = []
    seen: Counter[str] = Counter()
    for change in changes:
        if seen[change.id] == len(turns):
            turns.append([])
        turns[seen[change.id]].append(change)
        seen[change.id] += 1
    yield from turns

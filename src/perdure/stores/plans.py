"""Writing a plan, in every store: which statement a change needs, with which values. A store says how it is run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from perdure.records.digests import operation_digest
from perdure.records.errors import BUG, ConflictError, SpaceMismatch, StoreError
from perdure.records.memory import Record, Status
from perdure.records.plan import BY_HAND, Change, Plan, Row, Target
from perdure.records.policy_recall import RecallPolicy
from perdure.records.recall import Filters, Pool, Query
from perdure.records.store_rows import Usage
from perdure.stores import reading
from perdure.stores.codes import quantize
from perdure.stores.erasing import erased_line
from perdure.stores.rows import (
    CONTENT_COLUMNS,
    FIXED,
    UNCHECKED,
    Shape,
    document_text,
    journal_form,
    plain_value,
    require_row,
    shape_of,
)
from perdure.stores.statements import Session


class PlanWriter(ABC):
    """Writes one plan inside a transaction; neighbouring changes of one shape are written together."""

    def __init__(self, session: Session, plan: Plan) -> None:
        self.plan = plan
        self.rows: dict[str, int] = {}
        """Memory -> its row, as far as they are known."""
        self.vectors: dict[tuple[Target, str], bytes] = {}
        """(kind of row, memory) -> the int8 vector that was written."""
        self._statements = session
        self._spaces: dict[str, int] = {}

    def write_all(self) -> None:
        """Write the plan's changes in their order."""
        for shape, changes in groupby(self.plan.changes, key=shape_of):
            self._write(shape, list(changes))

    def _write(self, shape: Shape, changes: list[Change]) -> None:
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
            (Target.DOCUMENT, "insert"): self._insert_documents,
            (Target.DOCUMENT, "update"): self._update_documents,
            (Target.DOCUMENT, "delete"): self._delete_documents,
        }
        if (target, action) not in handlers:
            raise StoreError(f"A plan cannot {action} a {target.value}.", remedy=f"{BUG} Nothing was written.")
        handlers[target, action](changes)

    # --- what a store brings

    @abstractmethod
    def _insert_memories(self, changes: list[Change]) -> None: ...
    @abstractmethod
    def _delete_memories(self, changes: list[Change]) -> None: ...
    @abstractmethod
    def _update_states(self, columns: Sequence[str], checked: Sequence[str], changes: list[Change]) -> None: ...
    @abstractmethod
    def _update_content(self, columns: Sequence[str], changes: list[Change]) -> None: ...
    @abstractmethod
    def _insert_vectors(self, changes: list[Change]) -> None: ...
    @abstractmethod
    def _delete_vectors(self, changes: list[Change]) -> None: ...

    @abstractmethod
    def _insert_rows(self, name: str, rows: Sequence[Row]) -> None:
        """Run an insert once for each row."""

    @abstractmethod
    def _match_rows(self, name: str, rows: Sequence[Row], changes: Sequence[Change]) -> None:
        """Run an update or a delete once for each change; each must hit one stored row, or the plan is out of date."""

    # --- memories

    def _update(self, columns: tuple[str, ...], changes: list[Change]) -> None:
        if set(columns) & FIXED:
            raise StoreError("A plan cannot change the text of a memory.", remedy=f"{BUG} Nothing was written.")
        hot = tuple(c for c in columns if c not in CONTENT_COLUMNS)
        checked = tuple(c for c in hot if c not in UNCHECKED)
        content = tuple(c for c in columns if c in CONTENT_COLUMNS)
        for turn in group_changes([change.id for change in changes], changes):
            self._update_states(hot, checked, turn)
            if content:
                self._update_content(content, turn)

    def _int8_vectors(self, changes: Sequence[Change]) -> list[bytes]:
        """Return the vectors that changes bring, as they are stored; their digests go into the journal."""
        data = int8_vectors(changes)
        self.vectors.update(((c.target, c.id), vector) for c, vector in zip(changes, data, strict=True))
        return data

    def _space(self, name: str) -> int:
        if name not in self._spaces:
            number = self._statements.value("space_of", name=name)
            if number is None:
                raise SpaceMismatch(f"The store has no embedding space {name}.", remedy="Run `perdure reembed`.")
            self._spaces[name] = int(number)
        return self._spaces[name]

    # --- the narrow tables

    def _insert_links(self, changes: list[Change]) -> None:
        self._insert_rows("insert_link", [{**require_row(c.after), "id": c.id} for c in changes])

    def _delete_links(self, changes: list[Change]) -> None:
        self._match_rows("delete_link", [{**require_row(c.before), "id": c.id} for c in changes], changes)

    def _insert_accesses(self, changes: list[Change]) -> None:
        times = Counter[tuple[str, int]]()  # one statement may count a memory once at each instant
        for c in changes:
            times[c.id, require_row(c.after)["at_ms"]] += require_row(c.after)["times"]
        self._insert_rows("insert_access", [{"id": i, "at_ms": at, "times": n} for (i, at), n in times.items()])

    def _delete_accesses(self, changes: list[Change]) -> None:
        self._match_rows("delete_access", [{**require_row(c.before), "id": c.id} for c in changes], changes)

    def _update_namespace(self, changes: list[Change]) -> None:
        policies = [
            {"before": require_row(c.before)["policy"], "after": require_row(c.after)["policy"]} for c in changes
        ]
        self._match_rows("namespace_policy", policies, changes)

    def _insert_documents(self, changes: list[Change]) -> None:
        rows = [{**_place(c), "data": document_text(require_row(c.after))} for c in changes]
        self._insert_rows("insert_document", rows)

    def _update_documents(self, changes: list[Change]) -> None:
        rows = [
            {**_place(c), "before": document_text(require_row(c.before)), "after": document_text(require_row(c.after))}
            for c in changes
        ]
        self._match_rows("update_document", rows, changes)

    def _delete_documents(self, changes: list[Change]) -> None:
        rows = [{**_place(c), "before": document_text(require_row(c.before))} for c in changes]
        self._match_rows("delete_document", rows, changes)

    # --- what has moved on

    def _out_of_date(self, changes: Sequence[Change]) -> ConflictError:
        """Return the error for changes that fit no longer; it names the memories that another operation changed."""
        ops = dict(self._statements.rows("ops_of", ids=[c.id for c in changes]))
        found = dict.fromkeys(c.id for c in changes if not _fits(c, ops.get(c.id)))
        return ConflictError(
            "The store has changed since the plan was made; nothing was written.",
            tuple(found),
            remedy="Read the memories again and make a new plan.",
        )


def _place(change: Change) -> dict[str, Any]:
    row = require_row(change.after if change.before is None else change.before)
    return {"shelf": plain_value(row["shelf"]), "id": change.id, "name": row["name"]}


def _fits(change: Change, op: str | None) -> bool:
    """Whether a memory's last operation is the one before a change or, where it is written already, the one after."""
    if op is None:  # a memory that was gone before is refused earlier
        return change.target is Target.MEMORY and change.after is None
    return op in ((change.before or {}).get("op"), (change.after or {}).get("op"))


def group_changes(keys: Sequence[Any], changes: Sequence[Change]) -> list[list[Change]]:
    """Return changes in groups that name each key once: one statement changes a row once."""
    groups: list[list[Change]] = []
    uses = Counter[Any]()
    for key, change in zip(keys, changes, strict=True):
        if uses[key] == len(groups):
            groups.append([])
        groups[uses[key]].append(change)
        uses[key] += 1
    return groups


def int8_vectors(changes: Sequence[Change]) -> list[bytes]:
    """Return the vectors that memories or vector changes carry, on the grid of int8 that every store keeps."""
    stored = [require_row(c.after) for c in changes]
    data: list[bytes] = [after.get("int8") or b"" for after in stored]
    fresh = [i for i, after in enumerate(stored) if after.get("vector")]
    if fresh:
        floats = np.frombuffer(b"".join(stored[i]["vector"] for i in fresh), dtype="<f4").reshape(len(fresh), -1)
        for i, vector in zip(fresh, quantize(floats), strict=True):
            data[i] = vector.tobytes()
    return data


def operation_row(plan: Plan, lines: Sequence[Row]) -> dict[str, Any]:
    """Return what the journal says about a plan as a whole, with the digest of that and of its lines."""
    row = {
        "id": plan.id,
        "operation": plan.operation,
        "at_ms": plan.at,
        "changes": len(plan.changes),
        "hides": 0 if plan.operation == BY_HAND else plan.hides,
        "policy": plan.policy,
        "note": plan.note,
        "undoes": plan.undoes,
        "actor": plan.actor,
    }
    return {**row, "digest": operation_digest(row, lines)}


def journal_lines(plan: Plan, vectors: Mapping[tuple[Target, str], bytes]) -> list[Row]:
    """Return the journal's lines of a plan, each with its columns in the order of the table.

    ``vectors`` is (kind of row, memory) -> the int8 vector that was written.
    """
    lines: list[Row] = []
    for position, change in enumerate(plan.changes):
        before, after = journal_form(change, plan.id, vectors.get((change.target, change.id)))
        line = {
            "operation": plan.id,
            "position": position,
            "target": change.target.value,
            "id": change.id,
            "before": before,
            "after": after,
            "because": change.because,
        }
        lines.append(erased_line(plan, line))
    return lines


# --- conflicts that every store tells alike


def applied_before(plan: Plan) -> ConflictError:
    """Return the error for a plan whose id is in the journal."""
    return ConflictError(f"The plan {plan.id} was already applied.", remedy="Nothing was written.")


def stored_meanwhile(kind: str, ids: Sequence[str]) -> ConflictError:
    """Return the error for what another process has stored since the plan was made."""
    return ConflictError(
        f"The same {kind} was stored by another process just now.",
        tuple(ids),
        remedy="Read the memories again and retry.",
    )


def memory_gone(ids: Sequence[str]) -> ConflictError:
    """Return the error for memories that a plan changes and that are gone."""
    return ConflictError(
        "A memory that the plan changes no longer exists; nothing was written.",
        tuple(ids),
        remedy="Read the memories again and make a new plan.",
    )


def changed_memories(plan: Plan) -> frozenset[str]:
    """Return the stored memories that a plan changes: whoever made it has read them."""
    return frozenset(c.id for c in plan.changes if c.target is Target.MEMORY and c.before is not None)


def stored_in_view(plan: Plan, changes: Sequence[Change]) -> list[Change]:
    """Return those of the memories that a plan stores that are in view after it: what it hides stands beside others."""
    status = {
        c.id: c.after["status"]
        for c in plan.changes
        if c.target is Target.MEMORY and c.after is not None and "status" in c.after
    }
    return [c for c in changes if status.get(c.id) in (Status.ACTIVE, Status.ARCHIVED)]


class SqlTransactionView:
    """Reads of one namespace as they would be after the plan. See records/store_rows.py."""

    def __init__(self, session: Session, namespace: str, pool: Callable[[Query, Filters, RecallPolicy], Pool]) -> None:
        self._session, self._namespace, self._pool = session, namespace, pool

    def search(self, query: Query, filters: Filters, policy: RecallPolicy) -> Pool:
        return self._pool(query, filters, policy)

    def version(self) -> int:
        return int(self._session.value("namespace_version"))

    def usage(self) -> Usage:
        return reading.usage(self._session)

    def get(self, ids: Sequence[str]) -> list[Record]:
        return reading.records(self._session, self._namespace, ids)

"""What contradicts the facts that an undo brings back: conflicts that were not there when it was stored or hidden."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from perdure.operations.documents import find_records, find_states
from perdure.operations.ports import Context
from perdure.operations.undone_ties import tied_memories
from perdure.records.instant import Instant
from perdure.records.memory import Content, Kind, Record, Status
from perdure.records.plan import Change, Plan, Target
from perdure.records.report import Operation
from perdure.rules.lifecycle.policy_replay import state_from_row


def new_conflicts(ctx: Context, operation: Operation, plan: Plan, now: Instant) -> list[Change]:
    """Return the conflicts that an undo opens by bringing facts back beside what was stored or changed since.

    What was only hidden, and what has not changed since, were beside each other before, and are left as they were.
    """
    rows: dict[str, Mapping[str, Any]] = {}
    stored, gone = set[str](), set[str]()
    for change in (c for c in plan.changes if c.target is Target.MEMORY):
        stored |= {change.id} if change.before is None else set()
        gone |= {change.id} if change.after is None else set()
        rows[change.id] = {**rows.get(change.id, {}), **(change.after or {})}
    shown = {i for i, row in rows.items() if row.get("status") == Status.ACTIVE and i not in gone}
    hidden = gone | {i for i, row in rows.items() if "status" in row} - shown
    records = [
        *_restored_facts(ctx, plan, shown - stored),
        *(_anew(plan.namespace, i, rows[i]) for i in shown & stored),
    ]
    opened = [
        change
        for record in sorted(records, key=lambda r: r.id)
        if record.state.kind is Kind.FACT
        for change in ctx.extension.conflicts(ctx, record, now, operation.id, plan.changes)
    ]
    return [change for change in opened if tied_memories(change).isdisjoint(hidden)]


def _restored_facts(ctx: Context, plan: Plan, shown: set[str]) -> list[Record]:
    """Return the facts that are hidden, and that a plan shows again."""
    states = find_states(ctx, plan.namespace, sorted(shown))
    return list(find_records(ctx, plan.namespace, [i for i, state in states.items() if state.kind is Kind.FACT]))


def _anew(namespace: str, identity: str, row: Mapping[str, Any]) -> Record:
    """Return a memory that a plan stores."""
    content = {f.name: row[f.name] for f in fields(Content)}
    return Record(namespace, identity, state_from_row(row), Content(**content), row["op"])

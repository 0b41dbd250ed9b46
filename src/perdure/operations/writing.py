"""Applying plans: the retry that every operation shares when another process was faster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from perdure.operations.ports import Context
from perdure.records.errors import ConflictError, NotFound
from perdure.records.memory import Record
from perdure.records.plan import Change, Plan, Target
from perdure.rules.upkeep import difference

T = TypeVar("T")
ATTEMPTS: Final = 8


def retried(attempt: Callable[[], T]) -> T:
    """Read, decide and apply anew while other processes keep changing what was read."""
    for _ in range(ATTEMPTS - 1):
        try:
            return attempt()
        except ConflictError:
            continue
    return attempt()


def found(ctx: Context, identity: str, namespace: str | None = None) -> Record:
    """Return a memory, wherever it is, or say that there is none."""
    place = namespace if namespace is not None else ctx.store.locate(identity)
    records = ctx.store.get(place, [identity]) if place is not None else []
    if not records:
        raise NotFound(f"There is no memory {identity!r}.", remedy="Use an id that recall, list or history returned.")
    return records[0]


def changed(ctx: Context, record: Record, after: Record, operation: str, because: str) -> Plan | None:
    """Return the plan that brings one memory's state from one to another; None where nothing differs."""
    old, new = difference(record.state, after.state)
    if not new:
        return None
    now = ctx.clock()
    plan_id = ctx.ids(now)
    change = Change(Target.MEMORY, record.id, {**old, "op": record.op}, {**new, "op": plan_id}, because)
    return Plan(plan_id, operation, record.namespace, now, (change,), ctx.policy.version, f"{operation} {record.id}")

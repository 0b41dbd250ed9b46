"""What an operation has changed, told by the first words of the memories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from perdure.operations.documents import find_records
from perdure.operations.ports import Context
from perdure.operations.remember_one import related_memory
from perdure.records.memory import Kind, Status
from perdure.records.outcome import RelatedMemory
from perdure.records.plan import Change, Target
from perdure.records.report import Operation

_MOST_TOLD: Final = 3  # memories whose first words a reply tells


def superseded_facts(ctx: Context, operation: Operation) -> list[RelatedMemory]:
    """Return the facts that an operation superseded and that are so still, with their first words."""
    ids = [
        change.id
        for change in ctx.store.changes(operation.namespace, operation.id)
        if change.target is Target.MEMORY and change.before and (change.after or {}).get("status") == Status.SUPERSEDED
    ]
    found = find_records(ctx, operation.namespace, ids)
    wanted = (Kind.FACT, Status.SUPERSEDED)
    return [related_memory(ctx, record) for record in found if (record.state.kind, record.state.status) == wanted]


def memories_of(ctx: Context, operation: Operation, changes: Sequence[Change]) -> tuple[RelatedMemory, ...]:
    """Return the first memories that an operation has changed, those that it stored before others."""
    about = [change for change in changes if change.target is Target.MEMORY]
    about.sort(key=lambda change: (change.before is not None and change.after is not None, change.id))
    ids = list(dict.fromkeys(change.id for change in about))[:_MOST_TOLD]
    found = {record.id: record for record in find_records(ctx, operation.namespace, ids)}
    return tuple(related_memory(ctx, found[identity]) for identity in ids if identity in found)

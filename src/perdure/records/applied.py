"""What applying plans and undoing an operation answer."""

from __future__ import annotations

from dataclasses import dataclass

from perdure.records.outcome import Written
from perdure.records.plan import Plan


@dataclass(frozen=True, slots=True)
class ApplyResult(Written):
    """Plans that were applied.

    Attributes:
        plans: As they were journalled, in their order.
        operations: Ids of the operations, for ``undo``.
    """

    plans: tuple[Plan, ...]
    operations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UndoResult(Written):
    """An operation that was taken back.

    Attributes:
        undone: The operation.
        note: What it was, and when.
        plans: The plan that took it back.
        operations: The id of that plan: to undo it does the operation again.
    """

    undone: str
    note: str
    plans: tuple[Plan, ...]
    operations: tuple[str, ...]

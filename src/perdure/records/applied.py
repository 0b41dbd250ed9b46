"""What applying plans and undoing an operation answer."""

from __future__ import annotations

from dataclasses import dataclass

from perdure.records.outcome import Written
from perdure.records.plan import Plan


@dataclass(frozen=True, slots=True)
class ApplyResult(Written):
    """Plans that were applied."""

    plans: tuple[Plan, ...]  # as they were journalled, in their order
    operations: tuple[str, ...]  # ids of the operations, for ``undo``


@dataclass(frozen=True, slots=True)
class UndoResult(Written):
    """An operation that was taken back."""

    undone: str  # the operation
    note: str  # what it was, and when
    plans: tuple[Plan, ...]  # the plan that took it back
    operations: tuple[str, ...]  # the id of that plan: to undo it does the operation again

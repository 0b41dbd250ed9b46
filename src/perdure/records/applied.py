"""What applying plans and undoing an operation answer."""

from __future__ import annotations

from dataclasses import dataclass

from perdure.records.outcome import Written
from perdure.records.plan import Plan


@dataclass(frozen=True, slots=True)
class Applied(Written):
    """Plans that were applied.

    Attributes:
        plans: As they were journalled, in their order.
        operations: Ids of the operations, for ``undo``.
    """

    plans: tuple[Plan, ...]
    operations: tuple[str, ...]

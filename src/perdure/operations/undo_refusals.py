"""Operations of which an undo could only lose something: what it would bring back is not there any longer."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.operations.reembed import REEMBED
from perdure.records.errors import InvalidInput
from perdure.records.memory import Status
from perdure.records.plan import Change, Target
from perdure.records.report import Operation


def check_brings_back(operation: Operation, changes: Sequence[Change]) -> None:
    """Check that an undo would not just remove what took the place of something that is gone for good.

    Args:
        operation: What is to be undone.
        changes: What it changed, without what was erased since.

    Raises:
        InvalidInput: It made vectors, or all that it replaced was erased.
    """
    if operation.operation == REEMBED:
        raise InvalidInput(
            f"The operation {operation.id} made the vectors that searches use: without them nothing would be found by "
            "its meaning. Nothing was written.",
            remedy="To search with the embedder from before again, set it in the policy and run `perdure reembed`.",
        )
    hidden = {c.id for c in changes if c.target is Target.MEMORY and _hides(c)}
    made = [c.id for c in changes if c.target is Target.MEMORY and c.before is None]
    if operation.hides and made and not hidden:
        raise InvalidInput(
            f"All that {operation.operation} {operation.id} replaced was erased for good: an undo would bring nothing "
            "back, and only remove what stands there now. Nothing was written.",
            remedy=f"If that is to go as well, use `forget` or `erase` for {made[0]}.",
        )


def _hides(change: Change) -> bool:
    before, after = (change.before or {}).get("status"), (change.after or {}).get("status")
    return before == Status.ACTIVE and after not in (None, Status.ACTIVE)

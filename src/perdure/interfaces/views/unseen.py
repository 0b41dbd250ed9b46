"""What is said of a memory that nobody sees: it belongs to a task and to no session."""

from __future__ import annotations

from collections.abc import Iterator

from perdure.interfaces.views.blocks import Block, Line, command
from perdure.records.memory import MemoryItem, Scope


def view_unseen(memory: MemoryItem) -> Iterator[Block]:
    """Show that a stored memory is in no answer until its task is completed; nothing of any other."""
    if memory.scope is Scope.TASK and memory.session is None:
        ends = command("complete_task", task=memory.task)
        why = "It has a task and no session, so nobody sees it before the task is completed: "
        yield Line((why, ends, ". With a session as well it is seen there."), tone="warning")

"""Which hidden memories a person put away: those are no answer, of whatever time; what faded was true all the same."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from perdure.operations.ports import Context
from perdure.records.memory import Status
from perdure.records.plan import BY_HAND, Target
from perdure.records.report import JournalEntry

_SHOWING: Final = frozenset({"restore", "undo"})  # operations that bring a memory back that a person put away


def is_forgotten(ctx: Context, namespace: str, identity: str) -> bool:
    """Whether a memory that is archived was put away by a person."""
    return _hiding_operation(ctx.store.journal(namespace, identity)) == BY_HAND


def _hiding_operation(history: Iterable[JournalEntry]) -> str:
    """Return the operation that archived a memory last; that of an undone restore is the one before.

    Of what is older than the journal's horizon only names are kept.
    """
    told = [e for e in history if e.target == Target.MEMORY]
    hiding = [e for e in told if (e.after or {}).get("status") == Status.ARCHIVED]
    if not hiding:
        trimmed = [e.operation for e in told if e.trimmed and (e.operation == BY_HAND or e.operation in _SHOWING)]
        return trimmed[-1] if trimmed else ""
    since = (hiding[-1].after or {}).get("status_ms")
    return next(e.operation for e in hiding if (e.after or {}).get("status_ms") == since)

"""What is noted of each call of a verb, by its route or as an MCP tool: it is counted, and written to the log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from perdure.interfaces.http.call_log import is_logged, log_call
from perdure.interfaces.http.metrics import Observed

if TYPE_CHECKING:
    from perdure.interfaces.http.access import Principal


@dataclass(frozen=True, slots=True)
class CallEnd:
    """How a call of a verb ended."""

    verb: str
    seconds: float  # how long it took
    hits: int | None = None  # of a recall
    operation: str | None = None  # the first that it has written
    error: str | None = None  # the class of what was raised


def note_call(
    observed: Observed, end: CallEnd, *, principal: Principal | None, method: str, status: int | None = None
) -> None:
    """Count a call, and write it to the log.

    Args:
        observed: What counts.
        end: How the call ended.
        principal: Who called, where that is known.
        method: The method of its request; MCP for a tool.
        status: Of its response; a tool has none of its own.
    """
    if end.hits is not None:
        observed.recalled(end.hits)
    observed.call(end.verb, end.error or "ok", end.seconds)
    if is_logged():
        log_call(
            verb=end.verb,
            method=method,
            status=status,
            ms=round(1000 * end.seconds, 1),
            actor=principal.actor if principal else None,
            operation=end.operation,
            error=end.error,
        )

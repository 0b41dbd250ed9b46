"""What was undone after the instant whose knowledge is asked for: an answer goes by the rows that an undo leaves."""

from __future__ import annotations

from typing import Final

from perdure.operations.identify import operations_of
from perdure.operations.ports import Context
from perdure.records.identifier import is_uuid
from perdure.records.instant import Instant, text_of
from perdure.records.plan import UNDO
from perdure.records.report import Operation

_MOST: Final = 100  # undos that are looked at, the latest
_INSTANT: Final = 13  # characters of a UUIDv7 that are its instant


def undone_since(ctx: Context, namespace: str, known_at: Instant | None) -> str:
    """Return what was in force at an instant and was undone later, in words; empty where nothing was.

    What an undo took back is kept in lines of the journal, which no search reads: it is named, and not answered with.
    """
    if known_at is None:
        return ""
    find = operations_of(ctx, namespace)
    undos = [find(i) for i, _, _ in ctx.store.operations_ahead(namespace, known_at, _MOST, UNDO)]
    lasting = [u for u in undos if u is not None and u.undoes is not None and not _is_undone(ctx, u)]
    pairs = [(undone, u) for u in lasting if (undone := find(u.undoes or "")) and _was_made_by(undone, known_at)]
    if not pairs:
        return ""
    undone, undo = pairs[0]
    last = f"{undone.operation} of {undone.at} was undone on {undo.at}"
    if len(pairs) == 1:
        return f"{last}: this answers as if it had not been made"
    many = (
        f"{len(pairs)}{' or more' if len(undos) == _MOST else ''} operations that were in force then were undone since"
    )
    return f"{many}: this answers as if they had not been made; the last, {last}"


def _is_undone(ctx: Context, operation: Operation) -> bool:
    """Whether an operation was undone, and that undo not undone in turn."""
    steps, find = 0, operations_of(ctx, operation.namespace)
    while operation.undone_by is not None and (later := find(operation.undone_by)) is not None:
        operation, steps = later, steps + 1
    return steps % 2 == 1


def _was_made_by(operation: Operation, at: Instant) -> bool:
    """Whether an operation had been made at an instant, to the millisecond where its id says so."""
    if is_uuid(operation.id):
        return operation.id[:_INSTANT] <= f"{at >> 16:08x}-{at & 0xFFFF:04x}"
    return operation.at <= text_of(at)

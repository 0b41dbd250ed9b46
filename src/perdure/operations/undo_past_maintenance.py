"""Undoing what an operation did where only maintenance has changed its memories since.

Every night maintenance counts in which memories were recalled, so most of what is a day old has changed since. What it
did to these memories is taken back with the operation: each is as it was before, the accesses wait to be counted again,
and the next sweep looks at it anew. Many small sweeps end where one late one does, so nothing is lost by that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Final

from perdure.operations.identify import operations_of
from perdure.operations.ports import Context
from perdure.records.plan import Change, Target
from perdure.records.report import JournalEntry, Operation

MAINTENANCE: Final = frozenset({"decay", "fit", "sweep"})
"""Operations that move memories, shorten them and count their accesses, and change nothing else."""


def rebase_on_maintenance(ctx: Context, operation: Operation, changes: Sequence[Change]) -> tuple[Change, ...]:
    """Return an operation's changes, and behind them what maintenance has changed since about the same memories.

    What the operation stored is removed as it is now. A memory that something else has changed since is left as the
    operation left it, so that taking the changes back is refused.
    """
    find = cache(operations_of(ctx, operation.namespace))
    stored = {c.id for c in changes if c.target is Target.MEMORY and c.before is None}
    later = {
        identity: entries
        for identity in dict.fromkeys(c.id for c in changes if c.target is Target.MEMORY)
        if (entries := later_entries(ctx, operation, identity)) and not blocking_entries(find, entries)
    }
    rows = ctx.store.images(operation.namespace, sorted(stored & later.keys()))
    own = [change for change in changes if change.id not in rows or not _is_update(change)]
    own = [_as_it_is(change, rows) if change.before is None else change for change in own]
    return (*own, *_lines(ctx, operation.namespace, {i: later[i] for i in later if i not in stored}))


def _lines(ctx: Context, namespace: str, later: Mapping[str, Sequence[JournalEntry]]) -> Iterator[Change]:
    """Yield what operations have changed about some memories, of each in the order in which it was done."""
    steps = {entry.operation_id for entries in later.values() for entry in entries}
    changes = {step: [c for c in ctx.store.changes(namespace, step) if c.id in later] for step in sorted(steps)}
    for identity, entries in later.items():
        for step in dict.fromkeys(entry.operation_id for entry in entries):
            yield from (change for change in changes[step] if change.id == identity)


def later_entries(ctx: Context, operation: Operation, identity: str) -> list[JournalEntry]:
    """Return the journal's lines about a memory since an operation changed it, oldest first."""
    entries = ctx.store.journal(operation.namespace, identity)
    places = [at for at, entry in enumerate(entries) if entry.operation_id == operation.id]
    return entries[places[-1] + 1 :] if places else []


def blocking_entries(find: Callable[[str], Operation | None], entries: Sequence[JournalEntry]) -> list[JournalEntry]:
    """Return the lines that an undo does not go past: of what is in force, and is no maintenance.

    ``find`` returns an operation by its id.
    """
    return [e for e in entries if e.operation not in MAINTENANCE and _is_in_force(find, find(e.operation_id))]


def _is_in_force(find: Callable[[str], Operation | None], operation: Operation | None) -> bool:
    if operation is None:
        return True
    if operation.undoes is not None:  # it goes with what it took back
        return False
    undo = find(operation.undone_by) if operation.undone_by else None
    return undo is None or undo.undone_by is not None


def _is_update(change: Change) -> bool:
    return change.target is Target.MEMORY and change.before is not None and change.after is not None


def _as_it_is(change: Change, rows: dict[str, dict[str, object]]) -> Change:
    if change.target is not Target.MEMORY or change.id not in rows:
        return change
    return replace(change, after=rows[change.id])

"""The journal's horizon: what is older than the policy says keeps who, when, why and digests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from perdure.operations.ports import Context
from perdure.records.instant import DAY_MS

_PAGES: Final = 2000
"""Transactions of one run, each of at most 200 operations or some 200 lines; the rest goes the next day."""


@dataclass(frozen=True, slots=True)
class Trimmed:
    """What one run did."""

    last: str  # the last operation that was looked at
    operations: int  # how many lost their images
    damaged: int  # how many were left as they are, because something about them is damaged
    size: int  # characters that the lines of the journal have now


def trim(ctx: Context, place: str, after: str) -> Trimmed:
    """Trim a namespace's operations that are older than the horizon, the oldest first, page by page.

    ``after`` is the last operation that an earlier run looked at; empty for none.
    """
    until = ctx.clock() - int(ctx.policy.journal.horizon_days * DAY_MS)
    operations = damaged = 0
    for _ in range(_PAGES):
        page = ctx.store.trim_journal(place, until, after)
        operations, damaged, after = operations + page.operations, damaged + page.damaged, page.last
        if page.end:
            break
    return Trimmed(after, operations, damaged, ctx.store.journal_bytes(place))

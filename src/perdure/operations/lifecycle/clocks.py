"""Whether it is as late as a process believes: maintenance moves, archives and erases by the clock alone."""

from __future__ import annotations

from typing import Final

from perdure.operations.ports import Context
from perdure.records.errors import ClockDiffers
from perdure.records.instant import HOUR_MS, Instant, from_instant

TOLERATED_MS: Final = HOUR_MS
"""By which clocks may differ: every move has days, and a wrong time zone is an hour at least."""
_SHOWN: Final = 20  # operations dated ahead that are looked at


def refuse_wrong_clock(ctx: Context, *, unless: bool = False) -> None:
    """Refuse to maintain a server by a clock that is not as its own; a clock that a caller gave is the caller's.

    ``unless``: nothing is written.

    A file has no clock to compare with: one that is ahead cannot be told from a file that has rested.

    Raises:
        ClockDiffers: They differ by more than an hour.
    """
    if ctx.simulated or unless or not _differs(ctx, ctx.store.clock(anew=False)):
        return
    here, there = ctx.clock(), ctx.store.clock(anew=True)  # what was told before stands still where a machine sleeps
    if there is None or not _differs(ctx, there):
        return
    raise ClockDiffers(
        f"This machine's clock says {_minute(here)} UTC, the server's {_minute(there)}: "
        "maintenance would move and erase memories by the wrong time. Nothing was done.",
        remedy="Set the clock that is wrong (NTP), then run it again; another machine may maintain meanwhile.",
    )


def _differs(ctx: Context, there: Instant | None) -> bool:
    return there is not None and abs(ctx.clock() - there) > TOLERATED_MS


def operations_ahead(ctx: Context, place: str) -> tuple[int, str]:
    """Return how many operations of a namespace are dated ahead of the clock, at most so many, and which, in words."""
    found = ctx.store.operations_ahead(place, ctx.clock() + TOLERATED_MS, _SHOWN)
    if not found:
        return 0, ""
    identity, name, at = found[0]
    many = f"{len(found)}{' or more' if len(found) == _SHOWN else ''} operations are"
    head = "an operation is" if len(found) == 1 else many
    return len(found), (
        f"{head} dated ahead of the clock, the latest {_minute(at)} UTC ({name} {identity}): a clock was wrong. "
        f"`perdure undo {identity}` takes back what it did"
    )


def _minute(at: Instant) -> str:
    return f"{from_instant(at):%Y-%m-%d %H:%M}"

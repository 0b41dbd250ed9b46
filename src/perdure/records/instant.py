"""Time as data: instants are integer milliseconds since 1970 UTC inside, aware datetimes at the door."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from perdure.records.errors import InvalidInput

Instant = int  # milliseconds since 1970-01-01T00:00:00Z

DAY_MS: Final = 86_400_000
HOUR_MS: Final = 3_600_000
CENTURY_MS: Final = 36_525 * DAY_MS

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
FIRST: Final = (datetime(2, 1, 1, tzinfo=UTC) - _EPOCH) // _MILLISECOND
LAST: Final = (datetime(9998, 12, 31, tzinfo=UTC) - _EPOCH) // _MILLISECOND


def to_instant(moment: datetime, *, name: str = "at") -> Instant:
    """Return an aware datetime as an instant; a naive one is refused because its zone would be a guess.

    Raises:
        InvalidInput: ``moment`` is no datetime or has no time zone.
    """
    if not isinstance(moment, datetime):
        raise InvalidInput(
            f"{name} must be a datetime, not {type(moment).__name__}.",
            remedy="Pass datetime.datetime(..., tzinfo=datetime.UTC).",
        )
    if moment.tzinfo is None or moment.utcoffset() is None:
        raise InvalidInput(
            f"{name} is a naive datetime ({moment.isoformat()}).",
            remedy="Add a time zone, for example moment.replace(tzinfo=datetime.UTC).",
        )
    instant = (moment - _EPOCH) // _MILLISECOND
    if not FIRST <= instant <= LAST:
        where = "past" if instant < FIRST else "future"
        raise InvalidInput(f"{name} is too far in the {where}.", remedy="Use a year from 2 to 9998.")
    return instant


def clock_instant(moment: datetime) -> Instant:
    """Return what a clock says; a clock at the end of the calendar is read as the last instant that can be shown."""
    try:
        return to_instant(moment, name="clock()")
    except InvalidInput:
        if getattr(moment, "tzinfo", None) is None:  # no time at all, or a time that could be anywhere
            raise
    return min(max((moment - _EPOCH) // _MILLISECOND, FIRST), LAST)


def from_instant(instant: Instant) -> datetime:
    """Return an instant as an aware datetime in UTC."""
    return _EPOCH + timedelta(0, 0, 0, instant if FIRST <= instant <= LAST else min(max(instant, FIRST), LAST))


def text_of(instant: Instant) -> str:
    """Return an instant as ``2026-11-21 09:30 UTC``, the form that reasons and reports use."""
    return from_instant(instant).strftime("%Y-%m-%d %H:%M UTC")

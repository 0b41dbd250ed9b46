"""Time as data: instants are integer milliseconds since 1970 UTC inside, aware datetimes at the door."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Annotated, Final

from perdure.records.errors import InvalidInput
from perdure.records.wording import parameter_name, term, type_name

Instant = int  # milliseconds since 1970-01-01T00:00:00Z
# As ``text_of`` or, of facts, ``zone_text`` tells it, to the minute; JSON has RFC 3339.
InstantText = Annotated[str, "2026-11-21 09:30 UTC"]

DAY_MS: Final = 86_400_000
HOUR_MS: Final = 3_600_000
CENTURY_MS: Final = 36_525 * DAY_MS

_BOUNDS: Final = ("since", "until")
_ENDS: Final = (datetime.min, datetime.max)  # noqa: DTZ901  # an open end is meant, in any zone
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
FIRST: Final = (datetime(2, 1, 1, tzinfo=UTC) - _EPOCH) // _MILLISECOND
LAST: Final = (datetime(9998, 12, 31, tzinfo=UTC) - _EPOCH) // _MILLISECOND


def to_instant(moment: datetime, *, name: str = "at") -> Instant:
    """Return an aware datetime as an instant; a naive one is refused because its zone would be a guess.

    Raises:
        InvalidInput: ``moment`` is no datetime or has no time zone, or is too far away for something that happens; a
            bound may be ``datetime.max``.
    """
    if not isinstance(moment, datetime):
        raise InvalidInput(
            f"{parameter_name(name)} must be a date and time, not {type_name(moment)}.",
            remedy=f"Pass {term('instant')}.",
        )
    if name in _BOUNDS and moment in _ENDS:
        moment = moment.replace(tzinfo=UTC)
    if moment.tzinfo is None or moment.utcoffset() is None:
        raise InvalidInput(
            f"{parameter_name(name)} has no time zone: {moment.isoformat()}.",
            remedy=term("zone"),
        )
    instant = (moment - _EPOCH) // _MILLISECOND
    if name in _BOUNDS:
        return min(max(instant, FIRST), LAST)
    if not FIRST <= instant <= LAST:
        where = "past" if instant < FIRST else "future"
        raise InvalidInput(f"{parameter_name(name)} is too far in the {where}.", remedy="Use a year from 2 to 9998.")
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


def day_at(instant: Instant, zone: tzinfo | None) -> date:
    """Return the day that it is then in a zone; None for the zone of this machine."""
    return from_instant(instant).astimezone(zone).date()


def begin_of(day: date, zone: tzinfo | None) -> Instant:
    """Return when a day begins in a zone; None for the zone of this machine."""
    begin = datetime(day.year, day.month, day.day, tzinfo=zone)
    return to_instant(begin if zone is not None else begin.astimezone())


def wall_clock(instant: Instant, zone: tzinfo | None) -> Instant:
    """Return the instant whose day and time in UTC are those that clocks in a zone show; None for this machine's."""
    return to_instant(from_instant(instant).astimezone(zone).replace(tzinfo=UTC))


def from_wall_clock(instant: Instant, zone: tzinfo | None) -> Instant:
    """Return the instant of which ``wall_clock`` tells another one."""
    shown = from_instant(instant).replace(tzinfo=zone)
    return to_instant(shown if zone is not None else shown.astimezone())


def json_text(moment: datetime) -> str:
    """Return a moment as JSON has it: RFC 3339 in UTC, always with milliseconds, ``2026-11-21T09:30:00.000Z``."""
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def text_of(instant: Instant) -> str:
    """Return an instant as ``2026-11-21 09:30 UTC``, the form that reasons and reports use."""
    return from_instant(instant).strftime("%Y-%m-%d %H:%M UTC")


def zone_text(instant: Instant, zone: tzinfo | None) -> str:
    """Return an instant by the clocks of a zone, ``2026-11-21 18:30 +0900``; as ``text_of`` where these show UTC."""
    return moment_text(from_instant(instant).astimezone(zone))


def moment_text(moment: datetime) -> str:
    """Return a moment by the clocks of its own zone, as ``zone_text`` does."""
    return moment.strftime("%Y-%m-%d %H:%M %z" if moment.utcoffset() else "%Y-%m-%d %H:%M UTC")


def read_text(text: str) -> datetime:
    """Return the moment that ``text_of`` or ``zone_text`` tells.

    Raises:
        ValueError: The text is no such moment.
    """
    return datetime.strptime(text.replace(" UTC", " +0000"), "%Y-%m-%d %H:%M %z").astimezone(UTC)

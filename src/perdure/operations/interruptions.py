"""Facts in whose place others hold for a time: since when they do, and from when the interrupted ones hold again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

from perdure.operations.documents import find_documents, find_records
from perdure.operations.forgotten_memories import is_forgotten
from perdure.operations.ports import Context
from perdure.records.instant import Instant, day_at
from perdure.records.memory import INTERRUPTS, Record, Shelf, Status
from perdure.records.recall import Filters, Interruption
from perdure.rules.point_in_time import was_there

_NOW: Final = Filters()


class _Days(NamedTuple):
    """When a fact was true and believed, as its document has it."""

    valid_from: Instant | None
    valid_to: Instant | None
    retired: Instant | None
    told_to: Instant | None
    planned: bool
    given_way: Instant | None = None  # of what was put away since, only its own days are looked at
    forgotten: bool = False

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> _Days:
        times = (data["valid_from_ms"], data["valid_to_ms"], data["retired_ms"], data.get("told_to_ms"))
        return cls(*times, data.get("planned", False))


class _Period(NamedTuple):
    begin: Instant
    end: Instant
    fact: str


def interruptions(ctx: Context, namespace: str, ids: Collection[str], then: Filters = _NOW) -> dict[str, Interruption]:
    """Return fact -> its interruption, of those among some facts that are interrupted now, or at the time asked about.

    ``then`` counts by ``as_of`` and ``known_at``. Interruptions that follow each other without a day between them are
    one.
    """
    links = ctx.store.links_at(namespace, sorted(ids)) if ids else []
    wanted = set(ids)
    pairs = sorted({(i, other) for i, kind, other in links if kind == INTERRUPTS and other in wanted})
    if not pairs:
        return {}
    both = sorted({identity for pair in pairs for identity in pair})
    records = {r.id: r for r in find_records(ctx, namespace, both)}
    days = {d.id: _Days.of(d.data) for d in find_documents(ctx, namespace, Shelf.FACT, both) if d.id in records}
    days = {i: some._replace(forgotten=_is_forgotten(ctx, records[i], then)) for i, some in days.items()}
    wrong = _reported_wrong(ctx, namespace, [later for later, _ in pairs])
    found: dict[str, Interruption] = {}
    for fact in dict.fromkeys(other for _, other in pairs):
        beside = [i for i, other in pairs if other == fact and i in days and i not in wrong]
        if fact in days and (shown := _interruption(ctx, records, days, fact, beside, then)) is not None:
            found[fact] = shown
    return found


def _is_forgotten(ctx: Context, record: Record, then: Filters) -> bool:
    """Whether a person put a fact away; of the present only what is believed is looked at."""
    hidden = then.looks_back and record.state.status is Status.ARCHIVED
    return hidden and is_forgotten(ctx, record.namespace, record.id)


def _reported_wrong(ctx: Context, namespace: str, ids: Sequence[str]) -> set[str]:
    told = find_documents(ctx, namespace, Shelf.OUTCOME, sorted(set(ids)))
    return {document.id for document in told if document.data.get("outcome") == "wrong"}


def _interruption(
    ctx: Context,
    records: Mapping[str, Record],
    days: Mapping[str, _Days],
    fact: str,
    beside: Sequence[str],
    then: Filters,
) -> Interruption | None:
    """Return what interrupts one fact; None where nothing does, or where it does not hold itself."""
    at = then.then if then.as_of is None else then.as_of
    at = ctx.clock() if at is None else at
    if not _holds(records[fact], days[fact], at, then):
        return None
    periods = [_period(records[i], days[i]) for i in beside if _is_known(records[i], days[i], then)]
    now = [period for period in periods if period.begin <= at < period.end]
    if not now:
        return None
    begin, end = min(p.begin for p in now), max(p.end for p in now)
    for period in sorted(periods):
        end = max(end, period.end) if _day(ctx, period.begin) <= _next_day(ctx, end) else end
    for period in sorted(periods, key=lambda p: p.end, reverse=True):
        begin = min(begin, period.begin) if _day(ctx, begin) <= _next_day(ctx, period.end) else begin
    own, again = days[fact].valid_to, _next_day(ctx, end)
    holds_again = own is None or (end < own and _next_day(ctx, own) > again)
    return Interruption(
        _day(ctx, begin), again if holds_again else "", tuple(p.fact for p in sorted(now, reverse=True))
    )


def _day(ctx: Context, at: Instant) -> str:
    return day_at(at, ctx.policy.days.tz).isoformat()


def _next_day(ctx: Context, end: Instant) -> str:
    """Return the first day after an end."""
    return _day(ctx, end + 1)


def _holds(record: Record, days: _Days, at: Instant, then: Filters) -> bool:
    if then.looks_back:
        return was_there(record, days, Filters(as_of=at, known_at=then.known_at))
    is_believed = record.state.status is Status.ACTIVE and days.retired is None
    has_begun = not days.planned or days.valid_from is None or days.valid_from <= at
    return is_believed and has_begun and (days.valid_to is None or at < days.valid_to)


def _is_known(record: Record, days: _Days, then: Filters) -> bool:
    """Whether a fact counts as one that interrupts, in the time in which it holds."""
    if not then.looks_back:
        return record.state.status is Status.ACTIVE and days.retired is None
    begin = record.state.created_ms if days.valid_from is None else days.valid_from
    return was_there(record, days, Filters(as_of=begin, known_at=then.known_at))


def _period(record: Record, days: _Days) -> _Period:
    begin = record.state.created_ms if days.valid_from is None else days.valid_from
    return _Period(begin, begin if days.valid_to is None else days.valid_to, record.id)

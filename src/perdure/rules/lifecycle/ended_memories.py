"""Which memories say themselves that they hold until a day, and that day is over."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import date

from perdure.records.memory import Kind, MemoryItem
from perdure.records.recall import Hit
from perdure.rules.language.last_day import last_day
from perdure.rules.language.passed_days import passed_day


def end_of(memory: MemoryItem) -> date | None:
    """Return the last day on which a note or a message says that it holds; facts have days of their own."""
    if memory.kind not in (Kind.NOTE, Kind.EPISODE):
        return None
    return last_day(memory.content, memory.created_at.date())


def has_ended(memory: MemoryItem, today: date) -> bool:
    """Return whether a note or a message says that it held until a day before ``today``."""
    last = end_of(memory)
    return last is not None and last < today


def passed_on(memory: MemoryItem, today: date) -> date | None:
    """Return the last day of an appointment or a deadline that is over before ``today``; None of all else."""
    return passed_day(memory.content, memory.created_at.date(), today)


def with_ends(hits: Iterable[Hit], today: date) -> tuple[Hit, ...]:
    """Return hits; those that say themselves that they held until a day before ``today`` with that day."""
    ends = ((hit, end_of(hit.memory)) for hit in hits)
    return tuple(replace(h, ended=last.isoformat()) if last is not None and last < today else h for h, last in ends)

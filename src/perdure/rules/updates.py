"""Whether a later statement says otherwise than an earlier one: by rule, never by a threshold of likeness (design 7).

May live here: reading statements of a text, comparing two. May not: finding what to compare with.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Literal

from perdure.rules.deeds import deeds, never_or_done
from perdure.rules.quantities import quantities
from perdure.rules.said import LONGEST, MOST, Said, clauses

Relation = Literal["updates", "contradicts", ""]
_SHARED: Final = 2


def statements(text: str) -> tuple[Said, ...]:
    """Return what a text asserts, in its order; at most 40 statements of its first 4,000 characters.

    Time is linear in what is read. It is kept, because one recall after another asks for the same texts.
    """
    return _statements(text[:LONGEST])


@lru_cache(maxsize=2048)
def _statements(text: str) -> tuple[Said, ...]:
    found: list[Said] = []
    for clause in clauses(text):
        found += quantities(clause)
        found += deeds(clause)
        if len(found) >= MOST:
            break
    return tuple(found[:MOST])


def relation(older: Said, newer: Said) -> Relation:
    """Return what a later statement of the same person is to an earlier one."""
    if older.sort == "done" and newer.sort == "denied":
        return "contradicts" if never_or_done(newer, older) else ""
    if older.sort == "denied" and newer.sort == "done":
        return "updates" if never_or_done(older, newer, strict=True) else ""
    return "updates" if _follows(older, newer) else ""


def _follows(older: Said, newer: Said) -> bool:
    if older.sort != newer.sort or older.value == newer.value or not newer.change or not newer.value:
        return False
    if older.about.isdisjoint(newer.about) or older.whose != newer.whose:
        return False
    if newer.period and older.period != newer.period:
        return False
    if newer.months and older.months != newer.months and (older.months or len(newer.months) > 1):
        return False
    if older.since and newer.since and newer.since < older.since:
        return False
    if newer.was:
        return older.value == newer.was and (not newer.kind or not older.kind or not newer.kind.isdisjoint(older.kind))
    both = older.about | newer.about
    if newer.kind:
        return not newer.kind.isdisjoint(older.kind or older.topic)
    if (older.topic & newer.topic) - both or (newer.period and newer.sort.startswith("count")):
        return True
    return len((older.context & newer.context) - both) >= _SHARED

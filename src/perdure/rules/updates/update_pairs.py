"""Whether a later statement says otherwise than an earlier one: by rule, never by a threshold of likeness."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Literal

from perdure.rules.updates.activities import activities, denies_activity
from perdure.rules.updates.quantities import find_quantities
from perdure.rules.updates.statements import LONGEST, MOST, Assertion, clauses

Relation = Literal["updates", "contradicts", ""]
_SHARED: Final = 2
"""So many words of their sentences two statements share where their clauses share none."""


def statements(text: str) -> tuple[Assertion, ...]:
    """Return what a text asserts, in its order; at most 40 statements of its first 4,000 characters.

    Time is linear in what is read. It is kept, because one recall after another asks for the same texts.
    """
    return _statements(text[:LONGEST])


@lru_cache(maxsize=2048)
def _statements(text: str) -> tuple[Assertion, ...]:
    found: list[Assertion] = []
    for clause in clauses(text):
        found += find_quantities(clause)
        found += activities(clause)
        if len(found) >= MOST:
            break
    return tuple(found[:MOST])


def relation(older: Assertion, newer: Assertion) -> Relation:
    """Return what a later statement of the same person is to an earlier one."""
    if older.sort == "done" and newer.sort == "denied":
        return "contradicts" if denies_activity(newer, older) else ""
    if older.sort == "denied" and newer.sort == "done":
        return "updates" if denies_activity(older, newer, strict=True) else ""
    return "updates" if _follows(older, newer) else ""


def _follows(older: Assertion, newer: Assertion) -> bool:
    """Return whether a value has become another one."""
    if not (newer.change and newer.value and older.sort == newer.sort and older.value != newer.value):
        return False
    return _one_measure(older, newer) and _one_limit(older, newer) and _one_topic(older, newer)


def _one_measure(older: Assertion, newer: Assertion) -> bool:
    """Return whether both are values of one measure of one person; what it was before must be what was said."""
    return (
        not older.about.isdisjoint(newer.about)
        and older.whose == newer.whose
        and (not newer.was or newer.was == older.value)
        and not (newer.period and newer.period != older.period)
    )


def _one_limit(older: Assertion, newer: Assertion) -> bool:
    """Return whether the later one holds for the time of the earlier one, or from then on."""
    if older.since and newer.since and newer.since < older.since:
        return False
    if not newer.months or newer.months == older.months:
        return True
    return not older.months and len(newer.months) == 1


def _one_topic(older: Assertion, newer: Assertion) -> bool:
    """Return whether both are about the same: of one kind where a kind is named, else of one topic."""
    if newer.kind and older.kind:
        return not newer.kind.isdisjoint(older.kind)
    if newer.was:
        return True
    if newer.kind:
        return not newer.kind.isdisjoint(older.topic)
    both = older.about | newer.about
    if (older.topic & newer.topic) - both or (newer.period and newer.sort.startswith("count")):
        return True
    return len((older.context & newer.context) - both) >= _SHARED

"""How the journal grows, and what became of memories by its newest lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class JournalGrowth:
    """How many changes the journal has taken in."""

    day: int  # within the last 24 hours
    week: int  # within the last seven days
    total: int  # ever
    characters: int = 0  # what its lines had when maintenance last trimmed them; 0 before
    # ``stored``, ``moved`` to another tier, ``shortened``, ``archived``, ``superseded``, ``consolidated``,
    # ``invalidated``, ``restored``, ``erased``, ``held`` (a gate refused a move of a sweep, and it waits from then on)
    # -> how often within (a day, a week). What was undone is left out
    events: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    whole: bool = True  # whether these are all events of the week; else those of a namespace's newest 5,000 changes

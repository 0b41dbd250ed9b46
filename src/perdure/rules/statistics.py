"""Figures about many memories: percentiles, and what is at risk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from perdure.records.memory import MemoryItem, Status

SHOWN: Final = 20
HIGH_SHARE: Final = 50


@dataclass(frozen=True, slots=True)
class MemoryCounts:
    """How many memories there are by status, and of those in view by tier and kind."""

    tiers: Mapping[str, int]
    statuses: Mapping[str, int]
    kinds: Mapping[str, int]

    @property
    def visible(self) -> int:
        """How many are in view."""
        return sum(self.tiers.values())


def count_memories(tally: Iterable[tuple[str, str, str, str, int]]) -> MemoryCounts:
    """Return the counts of a store's tally: (namespace, kind, tier, status, how many)."""
    tiers, statuses, kinds = Counter[str](), Counter[str](), Counter[str]()
    for _, kind, tier, status, count in tally:
        statuses[status] += count
        if status == Status.ACTIVE:
            tiers[tier] += count
            kinds[kind] += count
    return MemoryCounts(dict(tiers), dict(statuses), dict(kinds))


def percentiles(values: Sequence[float]) -> dict[str, float]:
    """Return the 10th, 50th and 90th percentile of some values; empty for none."""
    if not values:
        return {}
    return {f"p{p}": round(float(np.percentile(values, p)), 4) for p in (10, 50, 90)}


def at_risk(fading: Sequence[MemoryItem], sample: Sequence[MemoryItem]) -> tuple[tuple[str, float, str], ...]:
    """Return memories of at least median value that are about to be archived: (id, value, when), the best first."""
    if not sample:
        return ()
    median = float(np.percentile([m.value for m in sample], HIGH_SHARE))
    risky = [
        (m.id, round(m.value, 4), m.due_at.isoformat()) for m in fading if m.value >= median and m.due_at is not None
    ]
    return tuple(sorted(risky, key=lambda r: -r[1])[:SHOWN])

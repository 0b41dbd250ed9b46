"""Figures about many memories: percentiles, and what is at risk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from perdure.records.memory import Memory
from perdure.records.report import Moved

SHOWN: Final = 20
HIGH_SHARE: Final = 50


def percentiles(values: Sequence[float]) -> dict[str, float]:
    """Return the 10th, 50th and 90th percentile of some values; empty for none."""
    if not values:
        return {}
    return {f"p{p}": round(float(np.percentile(values, p)), 4) for p in (10, 50, 90)}


def at_risk(coming: Sequence[Moved], sample: Sequence[Memory]) -> tuple[tuple[str, float, str], ...]:
    """Return memories of more than median value that are about to be archived: (id, value, when), the best first."""
    values = {m.id: m.value for m in sample}
    if not values:
        return ()
    median = float(np.percentile(list(values.values()), HIGH_SHARE))
    risky = [
        (m.id, round(values[m.id], 4), m.at)
        for m in coming
        if m.move.endswith("to archived") and values.get(m.id, 0.0) >= median
    ]
    return tuple(sorted(risky, key=lambda r: -r[1])[:SHOWN])

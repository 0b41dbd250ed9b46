"""The little of a memory that a decay report needs: read by the hundred thousand, so no State and no Content."""

from __future__ import annotations

from typing import NamedTuple

from perdure.records.instant import Instant
from perdure.records.memory import Tier


class ImportanceRow(NamedTuple):
    """One visible memory."""

    id: str
    op: str  # the operation that last changed it
    tier: Tier | str
    pinned: bool | int
    importance: float  # base importance, accesses that wait not counted in
    access_count: int
    anchor_ms: Instant
    decayed: float | None  # importance as decay last wrote it down
    decayed_ms: Instant | None
    preview: str  # the beginning of what is shown of it

"""What operations about forms answer: fitting a namespace into tokens, and what compression keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from perdure.records.json_record import JsonRecord
from perdure.records.outcome import Written
from perdure.records.plan import Plan


@dataclass(frozen=True, slots=True)
class Refitted:
    """One memory that shows less, or is set aside."""

    id: str
    move: str


@dataclass(frozen=True, slots=True)
class FitResult(Written):
    """What keeping a namespace within a budget did, or would do."""

    _computed: ClassVar[tuple[str, ...]] = ("tally", "changed")

    namespace: str  # which one
    budget: int  # tokens that may be visible
    before: int  # tokens that were visible
    # tokens that are visible then, for a dry run those that would be; above the budget where what is exempt, or a gate,
    # leaves too little
    after: int
    refitted: tuple[Refitted, ...]  # what shows less, and what is set aside
    dry_run: bool  # whether nothing was written
    held: str = ""  # why a gate stopped some of it, and how much; empty if none did
    plans: tuple[Plan, ...] = ()  # the plans, for a dry run
    operations: tuple[str, ...] = ()  # ids of the operations, for ``undo``

    @property
    def tally(self) -> dict[str, int]:
        """How often each kind of change occurred, for example ``{"full to summary": 12}``."""
        counts: dict[str, int] = {}
        for one in self.refitted:
            counts[one.move] = counts.get(one.move, 0) + 1
        return dict(sorted(counts.items()))


@dataclass(frozen=True, slots=True)
class FormFigures:
    """What one form keeps, over all memories that show it."""

    memories: int  # how many
    tokens: int  # tokens that they show
    whole: int  # tokens of their whole texts
    ratio: float  # how many times shorter, all together
    preservation: float | None  # mean cosine between form and whole text; None if none was measured
    efficiency: float | None  # ratio times preservation


@dataclass(frozen=True, slots=True)
class CompressionReport(JsonRecord):
    """What compression saves and keeps in a namespace."""

    namespace: str  # which one
    visible_tokens: int  # tokens that recall may return now
    forms: Mapping[str, FormFigures]  # form -> what it keeps
    queries: int  # past recalls that were asked again
    precision: float  # mean share of today's hits that were hits then
    recall: float  # mean share of the hits then that are hits today
    f1: float  # their harmonic mean

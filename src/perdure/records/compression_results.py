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
    """What keeping a namespace within a budget did, or would do.

    Attributes:
        namespace: Which one.
        budget: Tokens that may be visible.
        before: Tokens that were visible.
        after: Tokens that are visible then, for a dry run those that would be; above the budget where what is exempt,
            or a gate, leaves too little.
        refitted: What shows less, and what is set aside.
        dry_run: Whether nothing was written.
        held: Why a gate stopped some of it, and how much; empty if none did.
        plans: The plans, for a dry run.
        operations: Ids of the operations, for ``undo``.
    """

    _computed: ClassVar[tuple[str, ...]] = ("tally", "changed")

    namespace: str
    budget: int
    before: int
    after: int
    refitted: tuple[Refitted, ...]
    dry_run: bool
    held: str = ""
    plans: tuple[Plan, ...] = ()
    operations: tuple[str, ...] = ()

    @property
    def tally(self) -> dict[str, int]:
        """How often each kind of change occurred, for example ``{"full to summary": 12}``."""
        counts: dict[str, int] = {}
        for one in self.refitted:
            counts[one.move] = counts.get(one.move, 0) + 1
        return dict(sorted(counts.items()))


@dataclass(frozen=True, slots=True)
class FormFigures:
    """What one form keeps, over all memories that show it.

    Attributes:
        memories: How many.
        tokens: Tokens that they show.
        whole: Tokens of their whole texts.
        ratio: How many times shorter, all together.
        preservation: Mean cosine between form and whole text; None if none was measured.
        efficiency: Ratio times preservation.
    """

    memories: int
    tokens: int
    whole: int
    ratio: float
    preservation: float | None
    efficiency: float | None


@dataclass(frozen=True, slots=True)
class CompressionReport(JsonRecord):
    """What compression saves and keeps in a namespace.

    Attributes:
        namespace: Which one.
        visible_tokens: Tokens that recall may return now.
        forms: Form -> what it keeps.
        queries: Past recalls that were asked again.
        precision: Mean share of today's hits that were hits then.
        recall: Mean share of the hits then that are hits today.
        f1: Their harmonic mean.
    """

    namespace: str
    visible_tokens: int
    forms: Mapping[str, FormFigures]
    queries: int
    precision: float
    recall: float
    f1: float

"""What ``verify`` answers: what authorities said of facts, with both values, and what became of what memories cite."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from perdure.knowledge.records.authority import Agreement, Sight, Sighting, Verdict
from perdure.records.json_record import JsonRecord
from perdure.records.outcome import Written


@dataclass(frozen=True, slots=True)
class Cited(JsonRecord):
    """What became of what one memory cites."""

    id: str  # the memory
    authority: str  # the working tree
    sight: Sight  # the worst of what it cites
    sightings: tuple[Sighting, ...]  # each of them


@dataclass(frozen=True, slots=True)
class Verified(Written):
    """What a verification found and changed."""

    _computed: ClassVar[tuple[str, ...]] = ("counts", "changed")

    namespace: str  # where
    # what authorities said of facts, with the value that was believed and the one that they have
    verdicts: tuple[Verdict, ...] = ()
    cited: tuple[Cited, ...] = ()  # what became of what memories cite
    left: int = 0  # facts and citing memories beyond the limit; they come first the next time
    unasked: tuple[str, ...] = ()  # ids that were named and that no authority has a word on
    operations: tuple[str, ...] = ()  # ids of the operations, for ``undo``; empty where nothing changed
    note: str = ""  # what the caller should know: that no authority is set, or that none knows anything here

    def count(self, outcome: Agreement) -> int:
        """Return how many facts came out so."""
        return sum(1 for v in self.verdicts if v.outcome is outcome)

    def seen(self, sight: Sight) -> int:
        """Return of how many memories what they cite came out so."""
        return sum(1 for c in self.cited if c.sight is sight)

    @property
    def counts(self) -> dict[str, int]:
        """How many facts and citing memories came out how; what did not occur is left out."""
        facts = {o.value: self.count(o) for o in Agreement}
        seen = {s.value: self.seen(s) for s in Sight}
        return {name: n for name, n in {**facts, **seen}.items() if n}

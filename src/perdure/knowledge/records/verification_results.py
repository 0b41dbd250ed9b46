"""What ``verify`` answers: what authorities said of facts, with both values, and what became of what memories cite."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from perdure.knowledge.records.authority import Agreement, Sight, Sighting, Verdict
from perdure.records.json_record import JsonRecord
from perdure.records.outcome import Written


@dataclass(frozen=True, slots=True)
class Cited(JsonRecord):
    """What became of what one memory cites.

    Attributes:
        id: The memory.
        authority: The working tree.
        sight: The worst of what it cites.
        sightings: Each of them.
    """

    id: str
    authority: str
    sight: Sight
    sightings: tuple[Sighting, ...]


@dataclass(frozen=True, slots=True)
class Verified(Written):
    """What a verification found and changed.

    Attributes:
        namespace: Where.
        verdicts: What authorities said of facts, with the value that was believed and the one that they have.
        cited: What became of what memories cite.
        left: Facts and citing memories beyond the limit; they come first the next time.
        unasked: Ids that were named and that no authority has a word on.
        operations: Ids of the operations, for ``undo``; empty where nothing changed.
        note: What the caller should know: that no authority is set, or that none knows anything here.
    """

    _computed: ClassVar[tuple[str, ...]] = ("counts", "changed")

    namespace: str
    verdicts: tuple[Verdict, ...] = ()
    cited: tuple[Cited, ...] = ()
    left: int = 0
    unasked: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    note: str = ""

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

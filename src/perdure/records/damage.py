"""What a check looks at, and what it finds.

May live here: frozen data. May not: searching.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

LOST: Final = "It was stored, and it is missing."  # what is said of a memory of the journal that has no row
LOST_LINES: Final = "{} of {} lines in the journal are lost."  # what is said of an operation
CONFIRMED: Final = "confirmed: it is lost"  # why a repair puts a loss on record
REMOVED: Final = "removed: its words are lost"  # why a repair removes a memory


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is not as it was written."""

    # file, schema, server, rule, operation, memory, content, vector, link, document, unreadable, words or codes
    part: str
    message: str  # what is wrong, one sentence
    namespace: str | None = None  # where, if it is about one namespace
    id: str | None = None  # the memory, document or operation, if it is about one
    columns: tuple[str, ...] = ()  # which columns of the memory differ; of a rule, the name of its statement
    reembeds: bool = False  # whether ``perdure reembed`` makes it anew
    count: int = 0  # of a rule, how many rows break it

    def __str__(self) -> str:
        if self.namespace is None:
            return self.message
        return (
            f"{self.namespace}: {self.message}" if self.id is None else f"{self.namespace}, {self.id}: {self.message}"
        )


@dataclass(frozen=True, slots=True)
class RepairSources:
    """What a repair goes by besides the journal."""

    copies: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # id -> its whole row in an undamaged copy
    doubted: Sequence[str] = ()  # operations that are not as they were written: only what came after them is repaired
    removes_lost: bool = False  # whether memories go whose words nothing brings back


@dataclass(frozen=True, slots=True)
class CheckScope:
    """How much of a store a check compares with its journal. Damage between tables is always looked for."""

    pieces: int = 8  # stretches of each namespace, evenly spread
    most: int = 100  # memories in each of them
    whole: bool = False  # everything instead, search indexes too
    share: tuple[int, int] | None = None  # instead the one of so many equal shares, counted from 0
    # told (namespace, how many of its operations and memories were compared, of how many) after each page
    tell: Callable[[str, int, int], None] | None = field(default=None, compare=False)

    def with_progress(self, progress: Callable[[int, int], None] | None) -> CheckScope:
        """Return this with a callback for (done, total); the total grows when a further namespace is reached."""
        if progress is None:
            return self
        totals: dict[str, tuple[int, int]] = {}

        def tell(namespace: str, done: int, total: int) -> None:
            totals[namespace] = (done, total)
            progress(sum(d for d, _ in totals.values()), sum(t for _, t in totals.values()))

        return replace(self, tell=tell)

    def windows(self, memories: int) -> list[tuple[int, int]]:
        """Return (how many to leave out first, how many to look at) of a namespace's memories in the order of ids."""
        if self.share is not None:
            place, shares = self.share
            first = memories * place // shares
            return [(first, memories * (place + 1) // shares - first)]
        if self.whole or memories <= self.pieces * self.most:
            return [(0, memories)]
        return [(memories * piece // self.pieces, self.most) for piece in range(self.pieces)]


WHOLE: Final = CheckScope(whole=True)


@dataclass(frozen=True, slots=True)
class JournalOrder:
    """The operations of a namespace in their order."""

    operations: Sequence[tuple[Any, ...]]  # (number, id, name)
    unnamed: Sequence[Any]  # the numbers or ids of operations that lines name and that are not there

"""Erasing for good: what a plan takes with it, and what a store found afterwards.

May live here: frozen data. May not: choosing what to erase, or erasing it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

ERASED: Final = "[erased]"
"""Stands where erased words stood."""


@dataclass(frozen=True, slots=True)
class Erasure:
    """What a plan erases besides the rows that it deletes.

    Attributes:
        ids: Memories and entities whose images and reasons leave the journal.
        texts: Words that are replaced wherever the journal, the logs and documents quote them.
    """

    ids: frozenset[str]
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Purged:
    """What a store says after it has removed what deleted rows left behind.

    Attributes:
        searched: How many passages of the erased texts were searched for.
        places: Where one was still found; empty if nowhere.
        unreachable: What could not be searched or cleaned, one sentence each.
    """

    searched: int = 0
    places: tuple[str, ...] = ()
    unreachable: tuple[str, ...] = ()

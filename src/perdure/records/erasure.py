"""Erasing for good: what a plan takes with it, and what a store found afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

ERASED: Final = "[erased]"  # stands where erased words stood


@dataclass(frozen=True, slots=True)
class Erasure:
    """What a plan erases besides the rows that it deletes."""

    ids: frozenset[str]  # memories and entities whose images and reasons leave the journal
    texts: tuple[str, ...]  # words that are replaced wherever the journal, the logs and documents quote them


@dataclass(frozen=True, slots=True)
class Purged:
    """What a store says after it has removed what deleted rows left behind."""

    searched: int = 0  # how many passages of the erased texts were searched for
    places: tuple[str, ...] = ()  # where one was still found; empty if nowhere
    unreachable: tuple[str, ...] = ()  # what could not be searched or cleaned, one sentence each

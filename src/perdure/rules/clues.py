"""Which of many clues a text may hold, told by three characters of each: most texts hold hardly any of them."""

from __future__ import annotations

from typing import Final

_SIZE: Final = 3


def grams_of(lower: str) -> frozenset[str]:
    """Return all that stands in three neighbouring characters of a text in lower case, and nothing."""
    return frozenset([lower[at : at + _SIZE] for at in range(len(lower) - _SIZE + 1)]) | {""}


def gram_of(clue: str) -> str:
    """Return what a text that holds a clue has among its grams; nothing for a shorter one, which any text may hold."""
    return clue[:_SIZE].lower() if len(clue) >= _SIZE else ""

"""What is tried only on texts that hold one of its clues: most texts hold hardly any of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

T = TypeVar("T")


class Clued(Generic[T]):
    """Tests of texts, each with its clues: fixed texts of which one must be there."""

    def __init__(self, items: Iterable[tuple[Iterable[str], T]]) -> None:
        self._items: list[T] = []
        self._places: dict[str, list[int]] = {}
        for clues, item in items:
            for clue in clues:
                self._places.setdefault(clue.lower(), []).append(len(self._items))
            self._items.append(item)

    def among(self, lower: str) -> list[T]:
        """Return the tests that a text in lower case is put to, in the order that was given."""
        present = [clue for clue in self._places if clue in lower]
        return [self._items[place] for place in sorted({place for clue in present for place in self._places[clue]})]

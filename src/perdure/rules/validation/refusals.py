"""What is refused of the items of a list, told in one error."""

from __future__ import annotations

from typing import Final

from perdure.records.errors import InvalidInput

MOST: Final = 20  # so many refused items are named


class Refusals:
    """Collects refused items, up to 20; ``end`` is said after them."""

    def __init__(self, end: str = "") -> None:
        self._end = end
        self._found: list[InvalidInput] = []

    def add(self, error: InvalidInput, where: str = "") -> None:
        """Add what is refused of an item, after the words that say which.

        Raises:
            InvalidInput: They are 20 by now.
        """
        told = InvalidInput(f"{where}{error.message}", remedy=error.remedy)
        told.__cause__ = error
        self._found.append(told)
        if len(self._found) >= MOST:
            self._raise(f"Only the first {MOST} are named.")

    def check(self) -> None:
        """Refuse the list where an item of it was refused.

        Raises:
            InvalidInput: It names them all.
        """
        if self._found:
            self._raise()

    def _raise(self, more: str = "") -> None:
        remedies = dict.fromkeys(fault.remedy for fault in self._found)
        message = " ".join(filter(None, (*(fault.message for fault in self._found), more, self._end)))
        raise InvalidInput(message, remedy=" ".join(remedies)) from self._found[0].__cause__

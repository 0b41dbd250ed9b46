"""Whether a store's file is still where it was opened."""

from __future__ import annotations

import os
from pathlib import Path

from perdure.records.errors import StoreUnavailable


class OpenedFile:
    """A file as it was when it was opened. One that is removed or replaced still takes writes, and they are lost.

    Another name, such as that of a store in memory, is always in its place.
    """

    def __init__(self, path: str) -> None:
        self._path = Path(path).absolute()
        self._opened = self._identity()

    def _identity(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self._path)  # noqa: PTH116  # a third of the time; each write asks
        except OSError:
            return None
        return found.st_dev, found.st_ino

    @property
    def is_there(self) -> bool:
        """Whether the file is still there."""
        return self._opened is None or self._identity() == self._opened

    def check(self) -> None:
        """Check that the file is still there."""
        if not self.is_there:
            raise StoreUnavailable(
                f"{self._path} was removed or replaced after it was opened; nothing was written.",
                remedy="Put the file back, or restart what has it open.",
            )

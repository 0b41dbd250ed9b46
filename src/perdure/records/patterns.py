"""Regular expressions that are compiled at their first use: a process that starts loads many that it never uses."""

from __future__ import annotations

import re
from typing import Any, cast


class LazyPattern:
    """Stands for a pattern until something of it is asked for."""

    def __init__(self, text: str, flags: int) -> None:
        self._given = text, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.compiled(), name)
        setattr(self, name, found)  # the next time it is found at once
        return found

    def compiled(self) -> re.Pattern[str]:
        """Return the pattern itself."""
        return re.compile(*self._given)


def lazy_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return an expression as ``re.compile`` does. Functions of ``re`` do not take it: call its methods."""
    return cast("re.Pattern[str]", LazyPattern(text, flags))

"""An export of one namespace as that of another: a row names its namespace beside what it holds, not in it."""

from __future__ import annotations

from collections.abc import Iterator

from perdure.operations.transfer import TAIL, Lines
from perdure.records.errors import InvalidInput
from perdure.records.transfer import Line


class RenamedExport:
    """Gives the lines of an export under another namespace's name, each time it is called.

    Without an ``origin`` that is the export's only one, which is known once the lines were read.
    """

    def __init__(self, lines: Lines, origin: str | None, name: str) -> None:
        self._lines, self._is_only = lines, origin is None
        self.origin, self.name = origin, name

    def __call__(self) -> Iterator[Line]:
        """Yield the lines."""
        for line in self._lines():
            parts = line.get("parts")
            if TAIL in line and isinstance(parts, list):
                yield {**line, "parts": [self._rename_line(part) if isinstance(part, dict) else part for part in parts]}
            else:
                yield self._rename_line(line)

    def _rename_line(self, line: Line) -> Line:
        place = line.get("namespace")
        if not isinstance(place, str):
            return line
        if self.origin is None:
            self.origin = place
        if place == self.origin:
            return {**line, "namespace": self.name}
        if self._is_only:
            raise InvalidInput("The export has several namespaces.", remedy="Say which one: -n NAMESPACE.")
        if place == self.name:
            raise InvalidInput(f"The export already has a namespace {place!r}.", remedy="Choose another name.")
        return line

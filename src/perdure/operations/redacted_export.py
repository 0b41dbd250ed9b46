"""An export as it may be brought in: without secrets, and with the digests and the checksums that follow from that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, Final

from perdure.operations.transfer import TAIL, Lines, Step
from perdure.records.digests import operation_digest
from perdure.records.policy import Policy
from perdure.records.transfer import Line
from perdure.rules.row_redaction import RowRedactor
from perdure.rules.transfer import TallyCounter

_PLACE: Final = frozenset({"part", "namespace"})


class RedactedExport:
    """Gives the lines of an export without secrets, each time it is called.

    What is damaged in the export stays damaged: a checksum that does not fit is passed on as it is.
    """

    def __init__(self, lines: Lines, policy: Policy) -> None:
        self._lines = lines
        self._rows = RowRedactor(policy)
        self.found = 0  # rows that hold secrets; known after the first call
        self._looked = False
        self._changed: set[int] = set()  # numbers of the lines that change
        self._digests: dict[str, int] = {}  # operation -> its digest after the change
        self._whole: set[Step] = set()  # parts whose checksum fits

    def __call__(self) -> Iterator[Line]:
        """Yield the lines."""
        if not self._looked:
            self._find_changes()
            self._looked = True
        return self._redacted_lines() if self._changed else iter(self._lines())

    def _find_changes(self) -> None:
        counters: dict[Step, TallyCounter] = {}
        parts: dict[Step, Any] = {}
        noted: set[str] = set()
        for number, line in enumerate(self._lines()):
            if TAIL in line:
                parts = {(str(p.get("namespace")), str(p.get("part"))): p for p in _mappings(line.get("parts"))}
                break
            if (step := _step(line)) is None:
                continue
            row = _row(line)
            _count(counters.setdefault(step, TallyCounter()), row)
            if self._rows.row(step[1], row) is not row:
                self._changed.add(number)
                self.found += 1
                if step[1] == "operation":
                    noted.add(str(row.get("id")))
        self._whole = {s for s, counter in counters.items() if parts.get(s, {}).get("digest") == counter.tally().digest}
        if self._changed:
            self._renew(noted)

    def _renew(self, noted: set[str]) -> None:
        raw: dict[str, list[Line]] = {identity: [] for identity in noted}
        fresh: dict[str, list[Line]] = {identity: [] for identity in noted}
        journal = ((n, line) for n, line in enumerate(self._lines()) if line.get("part") == "journal")
        for operation, group in groupby(journal, key=lambda pair: str(pair[1].get("operation"))):
            pairs = [(n, row := _row(line), self._clean("journal", row)) for n, line in group]
            changed = {n for n, row, clean in pairs if clean is not row}
            self._changed |= changed
            if changed or operation in noted:
                raw[operation], fresh[operation] = [row for _, row, _ in pairs], [clean for _, _, clean in pairs]
        for number, line in enumerate(self._lines()):
            identity = str(line.get("id"))
            if line.get("part") == "operation" and identity in raw:
                self._renew_operation(number, _row(line), raw[identity], fresh[identity])

    def _renew_operation(self, number: int, row: Line, raw: list[Line], fresh: list[Line]) -> None:
        try:
            if row["digest"] is not None and operation_digest(row, raw) == row["digest"]:
                self._digests[str(row["id"])] = operation_digest(self._rows.row("operation", row), fresh)
                self._changed.add(number)
        except (KeyError, AttributeError, TypeError):  # a column is missing or no text: the import will say so
            return

    def _redacted_lines(self) -> Iterator[Line]:
        fresh: dict[Step, TallyCounter] = {}
        for number, line in enumerate(self._lines()):
            if TAIL in line:
                yield self._tail(line, fresh)
                return
            if (step := _step(line)) is None:
                yield line
                continue
            row = _row(line)
            clean = self._clean(step[1], row) if number in self._changed else row
            _count(fresh.setdefault(step, TallyCounter()), clean)
            yield line if clean is row else {"part": step[1], "namespace": step[0], **clean}

    def _clean(self, part: str, row: Line) -> Line:
        clean = self._rows.row(part, row)
        if part == "journal":
            return self._rows.renew_digests(clean)
        if part == "operation" and (digest := self._digests.get(str(row.get("id")))) is not None:
            return {**clean, "digest": digest}
        return clean

    def _tail(self, tail: Line, fresh: dict[Step, TallyCounter]) -> Line:
        parts = []
        for part in _mappings(tail.get("parts")):
            step = (str(part.get("namespace")), str(part.get("part")))
            is_new = step in self._whole and step in fresh
            parts.append({**part, "digest": fresh[step].tally().digest} if is_new else part)
        return {**tail, "parts": parts}


def _step(line: Line) -> Step | None:
    namespace, part = line.get("namespace"), line.get("part")
    return (namespace, part) if isinstance(namespace, str) and isinstance(part, str) else None


def _row(line: Line) -> Line:
    return {name: value for name, value in line.items() if name not in _PLACE}


def _mappings(found: Any) -> Iterable[Line]:
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list | tuple) else []


def _count(counter: TallyCounter, row: Line) -> None:
    """Count a row; one that has no canonical form leaves its part without a right checksum."""
    try:
        counter.add(row)
    except (TypeError, ValueError, AttributeError, KeyError):
        return

"""Bringing an export into a store: checked whole before the first row is written, resumed, and verified at the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final

from perdure.operations.ports import Progress
from perdure.operations.redacted_export import RedactedExport
from perdure.operations.store_protocol import Store
from perdure.operations.transfer import (
    FORMAT,
    HEAD,
    PAGE,
    TAIL,
    Ledger,
    Lines,
    Step,
    begin_filling,
    bring_spaces,
    refuse_spaces,
    tally,
    target_taken,
    verify,
)
from perdure.records.errors import InvalidInput, NotFound
from perdure.records.policy import Policy
from perdure.records.transfer import PARTS, Line, Moved, Tally
from perdure.records.vector import Space
from perdure.rules.transfer import TallyCounter, checked_place, checked_row
from perdure.rules.validation.identifiers import check_row_ids

LARGE: Final = 4_000_000  # characters of rows that one transaction holds, about


def import_lines(
    lines: Lines,
    target: Store,
    *,
    namespace: str | None = None,
    partial: bool = False,
    twice: bool = True,
    policy: Policy | None = None,
    progress: Progress | None = None,
) -> Moved:
    """Bring an export, or one namespace of it, into a store; an interrupted import is gone on with.

    Args:
        lines: Gives the export; it is read several times.
        target: Where to.
        namespace: Only this one.
        partial: Whether an export that was cut short will do.
        twice: Whether all of it is checked before the first row is written.
        policy: Says which secrets are replaced, if any; None brings in everything as it is.
        progress: Told (done, total).

    Raises:
        InvalidInput: That is no export, it was cut short, or a row is damaged.
        NotFound: The export has no such namespace.
        TargetTaken, SpaceMismatch: The target holds something else.
        CopyDiffers: The target does not hold what the export does.
    """
    ledger = Ledger(0, progress)
    redacted = RedactedExport(lines, policy) if policy is not None and policy.knowledge.redact else None
    lines = lines if redacted is None else redacted
    reading = _Reading(target, ledger, namespace, partial=partial, rounds=3 if twice else 2)
    if twice:
        reading.read(lines(), write=False)
    fresh = begin_filling(target, "import")
    reading.read(lines(), write=True)
    for step, told in reading.tallies.items():
        verify(step, told, target.transfer, ledger)
    if fresh:
        target.mark_unfinished("")
    places = {place for place, _ in reading.tallies}
    found = 0 if redacted is None else redacted.found
    return Moved(len(places), ledger.parts, ledger.written, reading.whole, found)


@dataclass(slots=True)
class _Reading:
    """One import: what was read so far, and what it is compared with."""

    target: Store
    ledger: Ledger
    namespace: str | None
    partial: bool
    rounds: int
    dimensions: dict[str, int] = field(default_factory=dict)
    tallies: dict[Step, Tally] = field(default_factory=dict)
    known: dict[Step, Tally] = field(default_factory=dict)
    whole: bool = False
    line: int = 0

    def read(self, lines: Iterable[Line], *, write: bool) -> None:
        """Read an export from its head to its tail; rows that the target has must be the first ones."""
        self.tallies, self.whole = {}, False
        rest = self._numbered(lines)
        self._head(next(rest, {}), write=write)
        for step, group in groupby(rest, key=self._step):
            if step is None:
                self._tail(next(group))
                break
            self._part(step, group, write=write)
        if not self.whole and not self.partial:
            done = " What was read is stored; importing the complete export continues from there." if write else ""
            raise InvalidInput(f"The export is truncated: its end is missing.{done}", remedy=_CUT)
        for place in {place for place, _ in self.tallies}:
            for part in PARTS:
                self._empty((place, part))
        if self.namespace is not None and not self.tallies:
            raise NotFound(f"The export has no namespace {self.namespace!r}.", remedy="Omit --namespace.")

    def _numbered(self, lines: Iterable[Line]) -> Iterator[Line]:
        for self.line, line in enumerate(lines, 1):
            yield line

    def _step(self, line: Line) -> Step | None:
        """Return where a line belongs; None for the tail."""
        with self._named():
            return None if TAIL in line else checked_place(line.get("part"), line.get("namespace"))

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Say in which line of the export a fault is."""
        try:
            yield
        except InvalidInput as error:
            raise InvalidInput(f"Line {self.line} of the export: {error.message}", remedy=error.remedy) from error

    def _head(self, head: Line, *, write: bool) -> None:
        if head.get(HEAD) != FORMAT:
            what = f"an export of format {head[HEAD]}" if head.get(HEAD) else "not an export of Perdure"
            raise InvalidInput(
                f"This is {what}.", remedy="Use a file that `perdure export` wrote; for conversations use `ingest`."
            )
        spaces = _spaces(head.get("spaces"))
        self.dimensions = {space.name: space.dimensions for space, _ in spaces}
        rows = head.get("rows")
        self.ledger.total = self.rounds * rows if isinstance(rows, int) else 0
        refuse_spaces(spaces, self.target)
        if write:
            bring_spaces(spaces, self.target)

    def _part(self, step: Step, group: Iterator[Line], *, write: bool) -> None:
        if self.namespace not in (None, step[0]):
            for _ in group:
                self.ledger.tell(self.rounds)
            return
        before = [PARTS.index(part) for place, part in self.tallies if place == step[0]]
        if before and before[-1] >= PARTS.index(step[1]):
            raise InvalidInput(f"The part {step[1]} of {step[0]} is out of order.", remedy="Export again.")
        there = self._there(step)
        seen = TallyCounter()
        for page in self._pages(group, step[1]):
            fresh = self._fresh(step, page, seen, there)
            if write and fresh:
                self.target.transfer.write(*step, fresh, seen.rows - len(fresh))
                self.ledger.written += len(fresh)
            self.ledger.tell(len(page))
        if seen.rows < there.rows:
            raise target_taken(step)
        self.tallies[step] = seen.told()

    def _pages(self, group: Iterator[Line], part: str) -> Iterator[list[Line]]:
        """Yield checked rows of a part, as many at once as one transaction should hold."""
        page: list[Line] = []
        size = 0
        for line in group:
            row = {k: v for k, v in line.items() if k not in {"part", "namespace"}}
            with self._named():
                check_row_ids(part, checked_row(part, row, self.dimensions))
            page.append(row)
            size += len(row.get("text") or "") + len(row.get("before") or "") + len(row.get("after") or "")
            if len(page) == PAGE or size > LARGE:
                yield page
                page, size = [], 0
        if page:
            yield page

    def _fresh(self, step: Step, page: list[Line], seen: TallyCounter, there: Tally) -> list[Line]:
        """Return those rows of a page that the target lacks; the others must be what it has."""
        fresh = []
        for row in page:
            if seen.rows >= there.rows:
                fresh.append(row)
            seen.add(row)
            if seen.rows == there.rows and seen.told() != there:
                raise target_taken(step)
        return fresh

    def _there(self, step: Step) -> Tally:
        """What the target held of a part before anything was written."""
        if step not in self.known:
            self.known[step] = tally(self.target.transfer, step)
        return self.known[step]

    def _empty(self, step: Step) -> None:
        if step not in self.tallies:
            if self._there(step).rows:
                raise target_taken(step)
            self.tallies[step] = TallyCounter().told()

    def _tail(self, tail: Line) -> None:
        told = {(p.get("namespace"), p.get("part")): p for p in tail.get("parts", ()) if isinstance(p, dict)}
        for (place, part), line in told.items():
            if self.namespace not in (None, place):
                continue
            step = checked_place(part, place)[0], str(part)
            found = self.tallies.setdefault(step, TallyCounter().told())
            if (line.get("rows"), line.get("digest")) != (found.rows, found.digest):
                raise InvalidInput(
                    f"The export is damaged: the part {step[1]} of {step[0]} does not match its checksum.",
                    remedy="Export again.",
                )
            if found.rows == 0 and self._there(step).rows:
                raise target_taken(step)
        self.whole = self.tallies.keys() <= told.keys()


_CUT: Final = "Export again, or import the complete part with --partial."


def _spaces(told: Any) -> list[tuple[Space, bool]]:
    try:
        return [(Space(str(t["model"]), int(t["dimensions"]), str(t["version"])), bool(t["active"])) for t in told]
    except (KeyError, TypeError, ValueError):
        raise InvalidInput("The export's header is damaged.", remedy="Export again.") from None

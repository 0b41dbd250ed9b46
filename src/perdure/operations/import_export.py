"""Bringing an export into a store: checked whole, in a store of its own, before the first row is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Final

from perdure.operations.ports import Progress
from perdure.operations.quotas import check_usage
from perdure.operations.redacted_export import RedactedExport
from perdure.operations.renamed_export import RenamedExport
from perdure.operations.restoring import refusal, refuse_erased, remains_of, restore
from perdure.operations.store_protocol import Store
from perdure.operations.transfer import (
    FORMAT,
    HEAD,
    PAGE,
    TAIL,
    Ledger,
    Lines,
    Step,
    bring_spaces,
    copy,
    tally,
)
from perdure.records.damage import WHOLE, CheckScope
from perdure.records.errors import ConflictError, InvalidInput, NotFound, TargetTaken
from perdure.records.instant import Instant
from perdure.records.policy import Policy
from perdure.records.transfer import PARTS, Line, Tally, TransferResult
from perdure.records.vector import Space
from perdure.rules.transfer import TallyCounter, checked_place, checked_row
from perdure.rules.validation.identifiers import check_row_ids
from perdure.rules.validation.rows import RowChecks

Scratch = Callable[[], AbstractContextManager[Store]]  # gives an empty store for the length of a block

LARGE: Final = 4_000_000  # characters of rows that one transaction holds, about
_SHOWN: Final = 10  # so many faults are told; of more only how many there are
_TABLES: Final = CheckScope(pieces=0)  # what must hold between tables, for all rows
_ROUNDS: Final = 3  # times that a row is read, written or compared


def import_lines(  # noqa: PLR0913  # the options of a command
    lines: Lines,
    target: Callable[[], AbstractContextManager[Store]],
    scratch: Scratch,
    *,
    limits: Policy = Policy(),  # noqa: B008  # it does not change
    policy: Policy | None = None,
    now: Instant | None = None,
    namespace: str | None = None,
    name: str | None = None,
    partial: bool = False,
    restoring: str | None = None,
    progress: Progress | None = None,
) -> TransferResult:
    """Bring an export, or one namespace of it, into a store; an interrupted import is gone on with.

    Args:
        lines: Gives the export; it is read several times.
        target: Opens where to; it is opened when all was checked, so that a refused file makes no store.
        scratch: Where the lines are checked.
        limits: The policy whose limits hold.
        policy: Says which secrets are replaced, if any; None brings in everything as it is.
        now: Rows that say they are from later are refused; None where nobody knows what time it is.
        namespace: Only this one.
        name: What it is called in the target, if that is another.
        partial: Take the complete part of an export that was cut short; its rows are not compared with its journal.
        restoring: The id of the operation that brings back a namespace which was erased whole; None refuses that.
        progress: Told (done, total).

    Raises:
        InvalidInput, QuotaExceeded: It is no export, was cut short, or rows are refused; they are named by their lines.
        NotFound, TargetTaken, SpaceMismatch, CopyDiffers: It has no such namespace; the target holds something else.
    """
    if (renamed := None if name is None else RenamedExport(lines, namespace, name)) is not None:
        lines, namespace = renamed, name
    redacted = RedactedExport(lines, policy) if policy is not None and policy.knowledge.redact else None
    with scratch() as checked:
        reading = _Reading(checked, RowChecks(limits, now), Ledger(0, progress), namespace, partial)
        reading.read((redacted or lines)())
        read, is_whole = reading.ledger.done, reading.whole and not reading.lost
        _check(checked, limits, whole=is_whole)

        def tell(moved: int, total: int) -> None:
            if progress is not None:
                progress(read + moved, read + total)

        with target() as store:
            refuse_erased(checked, store, renamed)
            moved = _move(checked, store, restoring, limits, now, tell)
    return replace(moved, whole=is_whole, redacted=0 if redacted is None else redacted.found)


def _move(
    source: Store, target: Store, restoring: str | None, policy: Policy, now: Instant | None, tell: Progress
) -> TransferResult:
    """Copy what was checked; into a namespace that was erased whole only where somebody says so, and then only that."""
    places = source.namespaces()
    remains = remains_of(target, places[0]) if len(places) == 1 else None
    if restoring is not None and remains is not None and now is not None:
        return restore(source, target, remains, id=restoring, now=now, policy=policy.version)
    try:
        return copy(source, target, progress=tell, work="import")
    except TargetTaken as error:
        if found := remains_of(target, error.namespace):
            raise refusal(found, source) from error
        raise


def _check(store: Store, policy: Policy, *, whole: bool) -> None:
    """Refuse rows that do not fit their journal, where all of them are there, and namespaces beyond their quotas."""
    if whole:
        _refuse(_faults(store))
    for place in store.namespaces():
        check_usage(place, store.usage(place), policy.limits)


def _faults(store: Store) -> list[str]:
    faults = store.check(_TABLES)
    for namespace in store.namespaces():
        faults += store.check(WHOLE, namespace)
    return list(dict.fromkeys(map(str, faults)))


def _refuse(
    faults: list[str], remedy: str = "Export again from a store that `perdure check --full` calls sound."
) -> None:
    if faults:
        more = f" And {len(faults) - _SHOWN:,} more." if len(faults) > _SHOWN else ""
        raise InvalidInput(f"{' '.join(faults[:_SHOWN])}{more} Nothing was written.", remedy=remedy)


@dataclass(slots=True)
class _Reading:
    """One import: what was read so far, and where it goes."""

    scratch: Store
    checks: RowChecks
    ledger: Ledger
    namespace: str | None
    partial: bool
    dimensions: dict[str, int] = field(default_factory=dict)
    tallies: dict[Step, Tally] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    remedies: dict[str, None] = field(default_factory=dict)
    whole: bool = False
    lost: bool = False  # whether the store that was exported had lost memories: the rest does not fit its journal
    line: int = 0

    def read(self, lines: Iterable[Line]) -> None:
        """Read an export from its head to its tail into the scratch store."""
        rest = self._count_lines(lines)
        self._head(next(rest, {}))
        for step, group in groupby(rest, key=self._step):
            if step is None:
                self._tail(next(group))
                break
            self._part(step, group)
        _refuse(self.faults, " ".join(self.remedies))
        if not self.whole and not self.partial:
            raise InvalidInput("The export is truncated: its end is missing.", remedy=_CUT)
        if self.namespace is not None and not self.tallies:
            raise NotFound(f"The export has no namespace {self.namespace!r}.", remedy="Omit --namespace.")

    def _count_lines(self, lines: Iterable[Line]) -> Iterator[Line]:
        for self.line, line in enumerate(lines, 1):
            yield line

    def _step(self, line: Line) -> Step | None:
        with self._name_line():
            return None if TAIL in line else checked_place(line.get("part"), line.get("namespace"))

    @contextmanager
    def _name_line(self) -> Iterator[None]:
        try:
            yield
        except InvalidInput as error:
            raise InvalidInput(f"Line {self.line} of the export: {error.message}", remedy=error.remedy) from error

    def _head(self, head: Line) -> None:
        if head.get(HEAD) != FORMAT:
            label = f"an export of format {head[HEAD]}" if head.get(HEAD) else "not an export of Perdure"
            raise InvalidInput(
                f"This is {label}.", remedy="Use a file that `perdure export` wrote; for conversations use `ingest`."
            )
        spaces = _spaces(head.get("spaces"))
        self.dimensions = {space.name: space.dimensions for space, _ in spaces}
        rows = head.get("rows")
        self.ledger.total = _ROUNDS * rows if isinstance(rows, int) else 0
        bring_spaces(spaces, self.scratch)

    def _part(self, step: Step, group: Iterator[Line]) -> None:
        if self.namespace not in (None, step[0]):
            for _ in group:
                self.ledger.tell(_ROUNDS)
            return
        before = [PARTS.index(part) for place, part in self.tallies if place == step[0]]
        if before and before[-1] >= PARTS.index(step[1]):
            raise InvalidInput(f"The part {step[1]} of {step[0]} is out of order.", remedy="Export again.")
        counter = TallyCounter()
        for page in self._pages(group, step[1]):
            if not self.faults:
                self._write(step, page, counter.rows)
            for row in page:
                counter.add(row)
            self.ledger.tell(len(page))
        self.tallies[step] = counter.tally()
        if not self.faults and tally(self.scratch.transfer, step) != counter.tally():
            fault = f"rows of the part {step[1]} of {step[0]} are there twice, or hold what a store cannot hold"
            self.faults.append(f"Up to line {self.line} of the export: {fault}.")

    def _write(self, step: Step, page: list[Line], before: int) -> None:
        try:
            self.scratch.transfer.write(*step, page, before)
        except ConflictError:
            fault = f"a row of the part {step[1]} is there twice, or the memory that it is about is not there"
            self.faults.append(f"Up to line {self.line} of the export: {fault}.")

    def _pages(self, group: Iterator[Line], part: str) -> Iterator[list[Line]]:
        """Yield checked rows of a part, as many at once as one transaction should hold."""
        page: list[Line] = []
        size = 0
        for line in group:
            row = {k: v for k, v in line.items() if k not in {"part", "namespace"}}
            if not self._is_good(part, row):
                continue
            page.append(row)
            size += len(row.get("text") or "") + len(row.get("before") or "") + len(row.get("after") or "")
            if len(page) == PAGE or size > LARGE:
                yield page
                page, size = [], 0
        if page:
            yield page

    def _is_good(self, part: str, row: Line) -> bool:
        """Check a row; what is wrong with it is reported at the end, with what is wrong with the others."""
        try:
            with self._name_line():
                check_row_ids(part, checked_row(part, row, self.dimensions))
                self.checks.check(part, row)
        except InvalidInput as error:
            self.faults.append(error.message)
            self.remedies[error.remedy] = None
        return not self.faults

    def _tail(self, tail: Line) -> None:
        parts = {(p.get("namespace"), p.get("part")): p for p in tail.get("parts", ()) if isinstance(p, dict)}
        for (place, part), line in () if self.faults else parts.items():
            if self.namespace not in (None, place):
                continue
            step = checked_place(part, place)[0], str(part)
            found = self.tallies.setdefault(step, TallyCounter().tally())
            if (line.get("rows"), line.get("digest")) != (found.rows, found.digest):
                raise InvalidInput(
                    f"The export is damaged: the part {step[1]} of {step[0]} does not match its checksum.",
                    remedy="Export again.",
                )
        self.whole, self.lost = self.tallies.keys() <= parts.keys(), bool(tail.get("lost"))


_CUT: Final = "Export again, or import the complete part with --partial."


def _spaces(spaces: Any) -> list[tuple[Space, bool]]:
    try:
        return [(Space(str(t["model"]), int(t["dimensions"]), str(t["version"])), bool(t["active"])) for t in spaces]
    except (KeyError, TypeError, ValueError):
        raise InvalidInput("The export's header is damaged.", remedy="Export again.") from None

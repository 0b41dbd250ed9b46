"""Copying a store into another one: with its journal, in pages, resumed where it stopped, verified at the end."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

from perdure.operations.ports import Progress
from perdure.operations.store_protocol import RowTransfer, Store
from perdure.records.damage import LOST, WHOLE, CheckScope
from perdure.records.errors import (
    REPAIR,
    ConflictError,
    CopyDiffers,
    InvalidInput,
    NodeUnavailable,
    NotFound,
    PerdureError,
    SpaceMismatch,
    StoreDamaged,
    StoreError,
    TargetTaken,
)
from perdure.records.transfer import PARTS, Cursor, Line, Tally, TransferResult
from perdure.records.vector import Space
from perdure.rules.transfer import TallyCounter
from perdure.rules.validation.identifiers import check_row_ids
from perdure.rules.validation.values import checked_namespace

PAGE: Final = 1000  # rows in one transaction, if they are no larger than a store's own bound

Step = tuple[str, str]  # (namespace, part)
Lines = Callable[[], Iterable[Line]]  # gives the lines of an export from the beginning, each time it is called

_GO_ON: Final = (
    "Stop all writers and run it again: it continues if rows were only added; otherwise use an empty target."
)
_OTHER: Final = "Use an empty target; nothing was written."


@dataclass(slots=True)
class Ledger:
    """What is done and what there is to do, and whom to tell."""

    total: int
    progress: Progress | None
    done: int = 0
    written: int = 0
    parts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PARTS, 0))

    def tell(self, rows: int = 1) -> None:
        """Take note of some rows that were read, written or compared."""
        self.done += rows
        if self.progress is not None:
            self.progress(self.done, max(self.total, self.done))


def copy(
    source: Store, target: Store, *, namespace: str | None = None, progress: Progress | None = None, work: str = "copy"
) -> TransferResult:
    """Copy a store, or one namespace of it, into another store; an interrupted copy is gone on with.

    Whatever the target holds of those namespaces must be the first rows of the source. Nothing is written unless that
    is so everywhere; other namespaces of the target are not looked at. ``work`` names it to those who
    find the target unfinished.

    Raises:
        NotFound: The source has no such namespace.
        TargetTaken: The target holds something else; nothing was written.
        SpaceMismatch: The target searches in another embedding space; nothing was written.
        CopyDiffers: The two sides differ at the end; the error names the namespace and the part.
        InvalidInput: A row of the source has something else where an id must be; nothing was written.
    """
    with filling(target, work):
        spaces = source.transfer.spaces()
        refuse_spaces(spaces, target)
        steps = [(place, part) for place in chosen_namespaces(source, namespace) for part in PARTS]
        counts = {step: source.transfer.count(*step) for step in steps}
        for step in steps:
            _check_ids(source.transfer, step, counts[step])
        ledger = Ledger(2 * sum(counts.values()), progress)
        starts = {step: _start(source.transfer, target.transfer, step, counts[step], ledger) for step in steps}
        bring_spaces(spaces, target)
        for step in steps:
            rows, after = starts.pop(step)
            for page in pages(source.transfer, step, after, counts[step] - rows):
                with _damage_named(step):
                    target.transfer.write(*step, page, rows)
                rows += len(page)
                ledger.written += len(page)
                ledger.tell(len(page))
        for step in steps:
            verify(step, tally(source.transfer, step), target.transfer, ledger)
    return TransferResult(len(steps) // len(PARTS), ledger.parts, ledger.written)


@contextmanager
def _damage_named(step: Step) -> Iterator[None]:
    """Say that the source is damaged where it has a row about a memory that it does not give."""
    try:
        yield
    except ConflictError as error:
        if not error.ids:  # another process writes to the target
            raise
        raise StoreDamaged(
            f"The source is damaged: the memory {error.ids[0]} of {step[0]} is lost, or its words are.", remedy=REPAIR
        ) from error


@contextmanager
def filling(target: Store, work: str) -> Iterator[None]:
    """Mark an empty target until a block has filled it, so that nobody takes half a store for a whole one."""
    before = target.unfinished()
    if not before and target.namespaces():
        yield
        return
    target.mark_unfinished(work)
    try:
        yield
    except PerdureError:
        if not target.namespaces():  # refused before anything was written
            target.mark_unfinished("")
        raise
    target.mark_unfinished("")


_NO_IDS: Final = frozenset({"namespace", "vector"})
"""Parts without ids of their own: a vector belongs to a memory that is checked, and reading vectors takes long."""


def _check_ids(source: RowTransfer, step: Step, count: int) -> None:
    """Refuse a part of a source in which something else stands where an id must be."""
    namespace, part = step
    checked_namespace(namespace)
    if part in _NO_IDS:
        return
    number = 0
    for page in pages(source, step, None, count):
        for row in page:
            number += 1
            try:
                check_row_ids(part, row)
            except InvalidInput as error:
                where = f"Row {number} of the part {part} of {namespace}"
                raise InvalidInput(f"{where}: {error.message} Nothing was written.", remedy=error.remedy) from error


def export_lines(store: Store, *, namespace: str | None = None, progress: Progress | None = None) -> Iterator[Line]:
    """Yield a store, or one namespace, as plain data: a head, one line for each row, and a tail to check them by.

    What is stored about memories that are lost is left out, so that the rest can be imported; the tail names them.
    """
    steps = [(place, part) for place in chosen_namespaces(store, namespace) for part in PARTS]
    ledger = Ledger(sum(store.transfer.count(*step) for step in steps), progress)
    yield {
        HEAD: FORMAT,
        "rows": ledger.total,
        "spaces": [
            {"model": s.model, "dimensions": s.dimensions, "version": s.version, "active": active}
            for s, active in store.transfer.spaces()
        ],
    }
    tail, lost = [], _lost_memories(store, {place for place, _ in steps})
    for place, part in steps:
        counter, gone = TallyCounter(), lost.get(place, ())
        for page in pages(store.transfer, (place, part), None):
            for row in page:
                if part in _ABOUT_MEMORIES and (row["id"] is None or row["id"] in gone):
                    continue
                counter.add(row)
                yield {"part": part, "namespace": place, **row}
            ledger.tell(len(page))
        total = counter.tally()
        tail.append({"namespace": place, "part": part, "rows": total.rows, "digest": total.digest})
    named = {"lost": {place: sorted(ids) for place, ids in lost.items()}} if lost else {}
    yield {TAIL: FORMAT, "parts": tail, **named}


_ABOUT_MEMORIES: Final = frozenset({"memory", "vector", "link", "access", "document"})
_TABLES: Final = CheckScope(pieces=0)  # what must hold between tables, which is quickly seen


def _lost_memories(store: Store, places: Container[str]) -> dict[str, set[str]]:
    """Return namespace -> the memories that are lost, or whose words are."""
    found: dict[str, set[str]] = {}
    with suppress(StoreError):  # what cannot be checked may still be read
        for fault in store.check(WHOLE) if store.check(_TABLES) else ():
            if fault.message == LOST and fault.namespace in places and fault.id is not None:
                found.setdefault(str(fault.namespace), set()).add(fault.id)
    return found


HEAD: Final = "perdure_export"
TAIL: Final = "perdure_export_end"
FORMAT: Final = 1  # raised when a reader of the old form would misread the new one


# --- what a copy and an import share


def all_namespaces(store: Store) -> list[str]:
    """Return every namespace, for work that must leave none out."""
    namespaces = store.namespaces()
    if missing := store.unreachable:
        raise NodeUnavailable(
            f"The nodes {', '.join(missing)} of the cluster cannot be reached, and no namespace may be left out.",
            remedy="Bring them back, then run the command again.",
        )
    return namespaces


def chosen_namespaces(store: Store, namespace: str | None) -> list[str]:
    """Return the namespaces that are meant."""
    if namespace is None:
        return all_namespaces(store)
    namespaces = store.namespaces()
    if namespace not in namespaces and not store.unreachable:
        raise NotFound(f"There is no namespace {namespace!r}.", remedy="`perdure namespaces` lists them.")
    return [namespace]


def refuse_spaces(spaces: Iterable[tuple[Space, bool]], target: Store) -> None:
    """Refuse vectors that the target's searches would not find."""
    target_space = target.space()
    for space, active in spaces:
        if active and target_space is not None and target_space != space:
            raise SpaceMismatch(
                f"The target's vectors are from {target_space.name}, these are from {space.name}; nothing was written.",
                remedy="Use an empty target, or run `perdure reembed` on one of the two first.",
            )


def bring_spaces(spaces: Iterable[tuple[Space, bool]], target: Store) -> None:
    """Make embedding spaces known to the target, and the source's active one its own."""
    for space, active in spaces:
        target.prepare_space(space)
        if active:
            target.add_space(space, activate=False)


def pages(transfer: RowTransfer, step: Step, after: Cursor | None, count: int | None = None) -> Iterator[list[Line]]:
    """Yield the rows of a part from a place on, as many at once as one transaction should hold.

    Where it is known how many there are, nobody is asked whether there are more than ``count``.
    """
    left = math.inf if count is None else count
    while left > 0 and (found := transfer.read(*step, after, int(min(left, PAGE)))):
        after = found[-1][0]
        left -= len(found)
        yield [row for _, row in found]


def tally(transfer: RowTransfer, step: Step, tell: Callable[[int], None] = lambda _: None) -> Tally:
    """Return how much of a part there is."""
    counter = TallyCounter()
    for page in pages(transfer, step, None):
        for row in page:
            counter.add(row)
        tell(len(page))
    return counter.tally()


def verify(step: Step, expected: Tally, target: RowTransfer, ledger: Ledger) -> None:
    """Compare what should be there with what is."""
    found = tally(target, step, ledger.tell)
    ledger.parts[step[1]] += found.rows
    if found != expected:
        how = f"{expected.rows:,} and {found.rows:,} rows" if found.rows != expected.rows else "different contents"
        raise CopyDiffers(
            f"Source and target differ in the part {step[1]} of the namespace {step[0]} ({how}).", *step, remedy=_GO_ON
        )


def target_taken(step: Step) -> TargetTaken:
    """Return the error for a target that holds something else."""
    return TargetTaken(
        f"The target is not empty: the namespace {step[0]} has rows that are not from the source "
        f"(in the part {step[1]}).",
        *step,
        remedy=_OTHER,
    )


def _start(
    source: RowTransfer, target: RowTransfer, step: Step, count: int, ledger: Ledger
) -> tuple[int, Cursor | None]:
    """Return how many rows the target has and where the source goes on; they must be the source's first ones."""
    copied = target.count(*step)
    if not copied:
        return 0, None
    if copied > count:
        raise target_taken(step)
    expected, after = _first(source, step, copied)
    if tally(target, step) != expected:
        raise target_taken(step)
    ledger.tell(copied)
    return copied, after


def _first(source: RowTransfer, step: Step, rows: int) -> tuple[Tally, Cursor | None]:
    """Return the tally of the first so many rows, and where they end."""
    counter = TallyCounter()
    after: Cursor | None = None
    while counter.rows < rows and (found := source.read(*step, after, min(PAGE, rows - counter.rows))):
        after = found[-1][0]
        for _, row in found:
            counter.add(row)
    return counter.tally(), after


__all__: Sequence[str] = ["copy", "export_lines"]

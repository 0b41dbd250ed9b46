"""Operations of the journal that are lost or altered, and what an undamaged copy of the store has of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from perdure.operations.store_protocol import Store
from perdure.operations.undo_past_erasures import ERASE
from perdure.records.damage import Fault, JournalOrder
from perdure.records.digests import digest_with_lines
from perdure.records.errors import StoreError
from perdure.records.transfer import Cursor, Line

_LINE: Final = ("target", "id", "before", "after", "because")


@dataclass(frozen=True, slots=True)
class KeptOperation:
    """An operation as a copy has it, with its lines, whose digest they agree with."""

    namespace: str
    number: int  # which one it had in the store
    row: Line
    lines: Sequence[Line]

    def __str__(self) -> str:
        """Return what its restoring is told by."""
        lines = "line" if len(self.lines) == 1 else "lines"
        return f"{self.namespace}, {self.row['id']}: operation restored from the copy, with {len(self.lines)} {lines}."


def kept_operations(store: Store, copy: Store, faults: Iterable[Fault]) -> list[KeptOperation]:
    """Return what a copy has of the operations that a check found lost or altered."""
    altered = {fault.id or "" for fault in faults if fault.part == "operation"}
    return [kept for namespace in copy.namespaces() for kept in _kept_operations(store, copy, namespace, altered)]


def _kept_operations(store: Store, copy: Store, namespace: str, altered: set[str]) -> Iterator[KeptOperation]:
    here, there = store.journal_order(namespace), copy.journal_order(namespace)
    known = {identity for _, identity, _ in there.operations}
    if any(name == ERASE and identity not in known for _, identity, name in here.operations):
        return  # what the copy has may be what was erased since
    for number, source in _places(here, there, altered):
        with suppress(StoreError):  # the copy is damaged there itself
            if (kept := _read(copy, namespace, source)) is not None:
                yield KeptOperation(namespace, number, *kept)


def _places(here: JournalOrder, there: JournalOrder, altered: set[str]) -> Iterator[tuple[int, int]]:
    """Yield (number here, number in the copy) of the operations that are missing or altered here.

    Those that the copy has behind the last one that both have are another's, unless lines here name them.
    """
    sound = {identity: number for number, identity, _ in here.operations if identity not in altered}
    taken = set(sound.values())
    are_alike = all(sound.get(identity, number) == number for number, identity, _ in there.operations)
    numbers = {identity: number for number, identity, _ in here.operations}
    behind = len(list(takewhile(lambda row: row[1] not in sound, reversed(there.operations))))
    last = 0
    for place, (source, identity, _) in enumerate(there.operations):
        if identity in sound:
            last = sound[identity]
            continue
        is_named = identity in numbers or identity in here.unnamed or source in here.unnamed
        last = source if are_alike else numbers.get(identity, last + 1)
        if last not in taken and (is_named or place < len(there.operations) - behind):
            yield last, source


def _read(copy: Store, namespace: str, number: int) -> tuple[Line, list[Line]] | None:
    """Return an operation and its lines; None where its digest says that they are not as they were written."""
    ((_, row),) = copy.transfer.read(namespace, "operation", (number - 1,), 1)
    after: Cursor = (number, -1)
    lines: list[Line] = []
    while len(lines) < row["changes"] and (
        page := copy.transfer.read(namespace, "journal", after, row["changes"] - len(lines))
    ):
        after = page[-1][0]
        lines += [line for _, line in page if line["operation"] == row["id"]]
    digest = digest_with_lines(row, ([line[name] for name in _LINE] for line in lines))
    return (row, lines) if len(lines) == row["changes"] and row["digest"] in (None, digest) else None

"""Bringing a namespace back that was erased whole: the state of an export as one operation of the journal it has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from perdure.operations.renamed_export import RenamedExport
from perdure.operations.store_protocol import RowTransfer, Store
from perdure.operations.transfer import bring_spaces, pages
from perdure.records.errors import InvalidInput, TargetTaken
from perdure.records.instant import Instant, from_instant
from perdure.records.memory import Document, Shelf
from perdure.records.plan import Change, Plan, Target
from perdure.records.transfer import PARTS, Line, TransferResult
from perdure.rules.document_edits import DocumentEdits
from perdure.rules.erasure import SALT

LIMIT: Final = 10_000  # memories that are brought back at most: all of them are one transaction
IMPORT: Final = "import"
_KEPT: Final = (Shelf.ERASED, Shelf.UPKEEP)  # shelves of which the target's documents stay
_PAGE: Final = 500  # rows that are read at a time
_SHOWN: Final = 3  # erasures that an error names


@dataclass(frozen=True, slots=True)
class ErasedNamespace:
    """What is left of a namespace that was erased whole: no memory, but what says that they are not to come back."""

    namespace: str
    documents: tuple[Document, ...]  # all that it has

    @property
    def tombstones(self) -> list[Document]:
        """What is left of each memory."""
        return [d for d in self.documents if d.shelf is Shelf.ERASED and d.id != SALT]

    def describe(self, export: int) -> str:
        """Return what was erased when and why, in words; ``export`` is how many memories an export has of it."""
        erasures = Counter(
            (from_instant(d.data["at_ms"]).date().isoformat(), str(d.data["by"] or "somebody"), str(d.data["why"]))
            for d in self.tombstones
        )
        named = "; ".join(f"{n:,} on {day} by {by}: {why}" for (day, by, why), n in erasures.most_common(_SHOWN))
        more = f"; and {len(erasures) - _SHOWN} more erasures" if len(erasures) > _SHOWN else ""
        return f"{self.namespace} was erased whole ({named}{more}); the export has {export:,} of these memories."


def remains_of(target: Store, namespace: str) -> ErasedNamespace | None:
    """Return what is left of a namespace that was erased whole; None of one that has memories, or was not erased."""
    if target.transfer.count(namespace, "memory"):
        return None
    found = ErasedNamespace(namespace, tuple(_documents(target.transfer, namespace)))
    return found if found.tombstones else None


def refusal(remains: ErasedNamespace, source: Store) -> TargetTaken:
    """Return the error for an import that would bring back what was erased, and that nobody said to."""
    ids = {row["id"] for row in _rows(source.transfer, remains.namespace, "memory")}
    count = len({d.id for d in remains.tombstones} & ids)
    return TargetTaken(
        f"{remains.describe(count)} Nothing was written.",
        remains.namespace,
        "memory",
        remedy=f"`--restore-erased -n {remains.namespace}` brings them back, as one operation that can be undone. "
        "To look at them first, import into a file: --store other.db.",
    )


def refuse_erased(source: Store, target: Store, renamed: RenamedExport | None) -> None:
    """Refuse an export under another name where memories of it were erased from the target under the name it had.

    Raises:
        TargetTaken: Some were.
    """
    if renamed is None:
        return
    namespace, origin = renamed.name, renamed.origin or renamed.name
    ids = [row["id"] for row in _rows(source.transfer, namespace, "memory")]
    find = target.documents.find
    if found := [d for n in range(0, len(ids), _PAGE) for d in find(origin, Shelf.ERASED, ids[n : n + _PAGE])]:
        told = f"{len(found):,} of the export's {len(ids):,} memories were erased for good from {origin}. Nothing was"
        raise TargetTaken(f"{told} written.", namespace, "memory", remedy="Export what is left of it, and import that.")


def restore(
    source: Store,
    target: Store,
    remains: ErasedNamespace,
    *,
    id: str,  # noqa: A002  # the operation's
    now: Instant,
    policy: str,
) -> TransferResult:
    """Bring an export's state of a namespace back, and lift what forbade that for its memories.

    The namespace keeps the journal that it has, and one operation more; the export's journal, its log of recalls and
    uses that no sweep has counted yet are left out. What was erased and is not in the export stays erased.

    Raises:
        InvalidInput: These are too many memories for one transaction; nothing was written.
    """
    place, moves = remains.namespace, source.transfer
    ids = [str(row["id"]) for row in _rows(moves, place, "memory")]
    if len(ids) > LIMIT:
        raise InvalidInput(
            f"The export has {len(ids):,} memories; at most {LIMIT:,} are brought back into a namespace that was "
            "erased. Nothing was written.",
            remedy="Import it into another store, or below another prefix of the server (namespace_prefix).",
        )
    bring_spaces(moves.spaces(), target)
    images = {i: row for n in range(0, len(ids), _PAGE) for i, row in source.images(place, ids[n : n + _PAGE]).items()}
    changes = [
        *(Change(Target.MEMORY, i, None, {**images[i], "op": id}, "brought back from an export") for i in ids),
        *_links(moves, place),
        *_document_changes(moves, remains, set(ids)),
        *_policy_change(moves, target.transfer, place),
    ]
    target.apply(Plan(id, IMPORT, place, now, tuple(changes), policy, f"brought back {len(ids)} memories of an export"))
    parts = Counter(change.target.value for change in changes)
    return TransferResult(1, {part: parts.get(part, 0) for part in PARTS}, len(changes))


def _links(moves: RowTransfer, place: str) -> Iterator[Change]:
    for row in _rows(moves, place, "link"):
        yield Change(Target.LINK, str(row["id"]), None, {k: v for k, v in row.items() if k != "id"})


def _document_changes(moves: RowTransfer, remains: ErasedNamespace, ids: set[str]) -> list[Change]:
    edits = DocumentEdits(remains.documents)
    for d in remains.documents:
        if d.shelf not in _KEPT or (d.shelf is Shelf.ERASED and d.id in ids):
            edits.put(d.shelf, d.id, d.name, None, "brought back from an export")
    for d in _documents(moves, remains.namespace):
        if d.shelf not in _KEPT:
            edits.put(d.shelf, d.id, d.name, d.data, "brought back from an export")
    return edits.changes()


def _policy_change(moves: RowTransfer, target: RowTransfer, place: str) -> Iterator[Change]:
    """Yield what says by which policy the due instants were computed, where that was another one."""
    before, after = (next(_rows(one, place, "namespace"))["policy"] for one in (target, moves))
    if before != after:
        yield Change(Target.NAMESPACE, place, {"policy": before}, {"policy": after})


def _documents(moves: RowTransfer, place: str) -> Iterator[Document]:
    for row in _rows(moves, place, "document"):
        yield Document(Shelf(row["shelf"]), row["id"], row["name"], row["data"])


def _rows(moves: RowTransfer, place: str, part: str) -> Iterator[Line]:
    for page in pages(moves, (place, part), None):
        yield from page

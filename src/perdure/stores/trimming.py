"""Trimming the journal: operations older than the horizon keep who, when, why, about what, and digests.

A memory's last trimmed line keeps a digest of the row as it was then. What changed since is in the lines behind
it, so that a check goes back from the row to that digest: whatever is altered is still found.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from perdure.records.digests import DIGESTS, digest_of, operation_digest
from perdure.records.instant import Instant
from perdure.records.memory import Record, Shelf
from perdure.records.plan import Row, Target
from perdure.records.store_rows import TrimmedPage
from perdure.stores.checking import by_id, memory_faults
from perdure.stores.operation_digests import COLUMNS
from perdure.stores.reading import records
from perdure.stores.replay import Expected, wrong_columns
from perdure.stores.row_digest import ROW, row_digest, row_of
from perdure.stores.rows import decode_row, document_text, is_trimmed
from perdure.stores.statements import Session

_OPERATIONS: Final = 200  # operations that are looked at in one transaction
_LINES: Final = 200  # lines that are rewritten in it, or one operation with more
_LINE: Final = ("target", "id", "before", "after", "because")
_EMPTY: Final = "{}"


@dataclass(frozen=True, slots=True)
class _Line:
    """One line of the journal with its place."""

    operation: str
    position: int
    row: dict[str, Any]  # target, id, before, after, because as texts

    @property
    def sides(self) -> tuple[Row | None, Row | None]:
        return decode_row(self.row["before"]), decode_row(self.row["after"])

    @property
    def trimmed(self) -> bool:
        return is_trimmed(self.row["target"], *self.sides)


def trim_page(session: Session, namespace: str, until: Instant, after: str) -> TrimmedPage:
    """Trim the next operations of a namespace inside the transaction that is open, which must keep other writers out.

    What a check finds wrong is left as it is, so that nothing covers damage up.

    Args:
        session: Of the namespace.
        namespace: Its name.
        until: Operations before this instant are trimmed.
        after: The last operation that was looked at; empty for none.
    """
    page = _next_operations(session, until, after)
    if not page:
        return TrimmedPage(after, end=True)
    lines = _lines(session, [row["id"] for row in page])
    memories = _Described.read(session, namespace, [line for some in lines.values() for line in some])
    damaged = memories.damaged_ids() | _damaged_facts(session, namespace, lines)
    wrong = {row["id"] for row in page if row["digest"] not in (None, operation_digest(row, _rows(lines, row["id"])))}
    wrong |= {line.operation for some in lines.values() for line in some if line.row["id"] in damaged}
    intact = {row["id"] for row in page if row["id"] not in wrong}
    anchors = memories.anchors(intact)
    trimmed = 0
    for row in page:
        if row["id"] in intact and _rewrite(session, row, lines.get(row["id"], []), anchors):
            trimmed += 1
    return TrimmedPage(page[-1]["id"], operations=trimmed, damaged=len(wrong))


def _next_operations(session: Session, until: Instant, after: str) -> list[Row]:
    """Return the next operations up to an instant, with no more lines than one transaction should rewrite."""
    last = session.value("number_of", id=after) if after else None
    rows = session.rows("move_operation", number_after=-1 if last is None else last, limit=_OPERATIONS)
    page: list[Row] = []
    total = 0
    for values in rows:
        row = dict(zip(COLUMNS, values, strict=True))
        total += row["changes"]
        if row["at_ms"] >= until or (page and total > _LINES):
            break
        page.append(row)
    return page


def _lines(session: Session, operations: Sequence[str]) -> dict[str, list[_Line]]:
    found: dict[str, list[_Line]] = {}
    for operation, *values in session.lines("lines_of_operations", operations=list(operations)):
        some = found.setdefault(operation, [])
        some.append(_Line(operation, len(some), dict(zip(_LINE, values, strict=True))))
    return found


def _rows(lines: Mapping[str, Sequence[_Line]], operation: str) -> list[Row]:
    return [line.row for line in lines.get(operation, ())]


@dataclass(frozen=True, slots=True)
class _Described:
    """The memories that some lines are about: as they are stored, and all that the journal says of them."""

    rows: Mapping[str, dict[str, Any]]  # memory -> its columns
    stored: Mapping[str, Record]
    stories: Mapping[str, Sequence[tuple[Any, ...]]]  # memory -> its lines: (operation, position, before, after)

    @classmethod
    def read(cls, session: Session, namespace: str, lines: Sequence[_Line]) -> _Described:
        """Read what is needed to trim some lines."""
        memory_lines = [line for line in lines if line.row["target"] == Target.MEMORY and not line.trimmed]
        ids = list(dict.fromkeys(line.row["id"] for line in memory_lines))
        if not ids:
            return cls({}, {}, {})
        keys = dict(session.rows("keys_of", ids=ids))
        stored = {r.id: r for r in records(session, namespace, ids)}
        stories: dict[str, list[tuple[Any, ...]]] = {}
        for identity, *values in session.rows("story_of", ids=ids):
            stories.setdefault(identity, []).append(tuple(values))
        return cls({i: row_of(r, keys.get(i)) for i, r in stored.items()}, stored, stories)

    def damaged_ids(self) -> set[str]:
        """Return the memories whose rows are not what the journal says: a digest of them would cover that up."""
        return {identity for identity, story in self.stories.items() if not self._is_sound(identity, story)}

    def _is_sound(self, identity: str, story: Sequence[tuple[Any, ...]]) -> bool:
        expected, record = Expected(), self.stored.get(identity)
        for operation, _, before, after in story:
            expected.play(Target.MEMORY, before, after, operation)
        if record is None:
            return not expected.exists or expected.erased
        return expected.exists and not wrong_columns(expected, record, "", None, self.rows[identity]["key"])

    def anchors(self, operations: set[str]) -> dict[tuple[str, int], int]:
        """Return (operation, position) -> the digest of the row then, for the last trimmed line about each memory."""
        found = (_anchor(self.rows.get(identity), story, operations) for identity, story in self.stories.items())
        return dict(anchor for anchor in found if anchor is not None)


def _damaged_facts(session: Session, namespace: str, lines: Mapping[str, Sequence[_Line]]) -> set[str | None]:
    """Return the facts whose documents are not what the journal says: its images are what repairs them."""
    last: dict[tuple[str, str, str], str | None] = {}
    for line in (line for some in lines.values() for line in some):
        before, after = line.sides
        row = after or before
        if line.row["target"] == Target.DOCUMENT and row and "data" in row and row["shelf"] == Shelf.FACT:
            last[line.row["id"], row["shelf"], row["name"]] = None if after is None else document_text(after)
    stored = by_id(session.rows("documents_at", ids=list({identity for identity, _, _ in last})))
    # Those that have changed since differ from these lines, and have later ones.
    other = {i for (i, shelf, name), text in last.items() if stored.get(i, {}).get((shelf, name)) != text}
    return {fault.id for fault in memory_faults(session, namespace, sorted(other)) if fault.part == "document"}


def _anchor(
    row: dict[str, Any] | None, story: Sequence[tuple[Any, ...]], operations: set[str]
) -> tuple[tuple[str, int], int] | None:
    """Go back from a row to the last line that is trimmed; None where nothing was there then, or nothing says what."""
    for operation, position, before_text, after_text in reversed(story):
        if operation in operations:
            return None if row is None else ((operation, position), row_digest(row))
        before, after = decode_row(before_text), decode_row(after_text)
        if (before is None and after is None) or is_trimmed(Target.MEMORY, before, after):
            return None  # erased since, or a later line has the digest already
        row = {} if after is None else row
        row = None if before is None else {**(row or {}), **before}
    return None


def _rewrite(session: Session, operation: Row, lines: Sequence[_Line], anchors: Mapping[tuple[str, int], int]) -> bool:
    """Take the images out of an operation's lines; return whether there were any."""
    fresh: list[Row] = []
    changed = False
    for line in lines:
        before, after = _without_images(line, anchors.get((line.operation, line.position)))
        fresh.append({**line.row, "before": before, "after": after})
        if (before, after) != (line.row["before"], line.row["after"]):
            news = {"before": before, "after": after, "because": line.row["because"]}
            session.run("redact_journal", operation=line.operation, position=line.position, **news)
            changed = True
    if changed and operation["digest"] is not None:
        session.run("renew_digest", id=operation["id"], digest=operation_digest(operation, fresh))
    return changed


def _without_images(line: _Line, anchor: int | None) -> tuple[str | None, str | None]:
    """Return what is left of both sides of a line."""
    stored = line.row["before"], line.row["after"]
    before, after = line.sides
    if (before is None and after is None) or line.trimmed:
        return stored
    match line.row["target"]:
        case Target.MEMORY:
            return _memory(before, after, anchor)
        case Target.DOCUMENT:
            return _document(before, after)
        case Target.VECTOR:
            return _vector(before), _vector(after)
        case Target.LINK:
            return stored  # which memories, and how: nothing besides
    return _without_values(before), _without_values(after)


def _memory(before: Row | None, after: Row | None, anchor: int | None) -> tuple[str | None, str | None]:
    if after is None:
        return _without_values(before), None
    digests: dict[str, int] = {} if anchor is None else {ROW: anchor}
    columns: dict[str, Any] = {}
    if before is None:
        stored = after.get(DIGESTS, {})
        digests |= {name: stored[name] for name in ("text", "vector") if name in stored}
        columns = {"space": after["space"]} if "vector" in stored and after.get("space") else {}
    return _without_values(before), _text({**columns, DIGESTS: digests} if digests else columns)


def _document(before: Row | None, after: Row | None) -> tuple[str | None, str | None]:
    row = after or before or {}
    named = {"shelf": row["shelf"], "name": row["name"]}
    if after is None:
        return _text(named), None
    return _without_values(before), _text({**named, DIGESTS: {"data": digest_of(document_text(after))}})


def _vector(side: Row | None) -> str | None:
    return None if side is None else _text({name: value for name, value in side.items() if name != "int8"})


def _without_values(side: Row | None) -> str | None:
    return None if side is None else _EMPTY


def _text(row: Row) -> str:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))


def renewed_documents(text: str | None, renewed: Mapping[int, int]) -> str | None:
    """Return a side of a trimmed line with the digests of documents that were rewritten since."""
    row = decode_row(text)
    digest = None if row is None else row.get(DIGESTS, {}).get("data")
    if row is None or digest is None or digest not in renewed:
        return text
    return _text({**row, DIGESTS: {"data": renewed[digest]}})

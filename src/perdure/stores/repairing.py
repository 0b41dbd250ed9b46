"""Putting back what a check found: rows as the journal says they are, and the journal itself, in every store."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, Final

from perdure.records.damage import REMOVED, RepairSources
from perdure.records.digests import digest_of, metadata_digest
from perdure.records.errors import StoreDamaged
from perdure.records.memory import Record
from perdure.records.plan import Change, Row, Target
from perdure.stores.checking import by_id, expected_of_ids
from perdure.stores.packing import unpack_text
from perdure.stores.reading import ALWAYS, accesses, active_space, images
from perdure.stores.replay import Expected, document_fits, goes_back, wrong_columns
from perdure.stores.row_digest import row_of
from perdure.stores.rows import (
    CONTENT_COLUMNS,
    FIXED,
    MEMORY_COLUMNS,
    STATE_COLUMNS,
    UNREADABLE,
    json_value,
    record_of,
)
from perdure.stores.statements import Session

_BECAUSE: Final = "repaired: as the journal says"
_LOST: Final = "repaired: lost, and stored again as the journal says"
_BLANK: Final[Row] = {"speaker": None, "session": None, "task": None, "turn": None, "source": None, "shown": None}
"""What nobody knows any more of a memory whose words are lost."""
_FROM_COPY: Final = "repaired: from a copy of the store"


def row_repairs(
    session: Session,
    namespace: str,
    ids: Sequence[str],
    operation: str,
    sources: RepairSources,
) -> list[Change]:
    """Return the changes that make some memories what the journal says, as far as it says it.

    ``ids`` are memories, or other things with documents, that a check found wrong.
    """
    expected = expected_of_ids(session, namespace, list(ids), [])
    candidates = _stored_after(session, expected, sources.doubted) if sources.doubted else list(ids)
    expected = {identity: expected[identity] for identity in candidates if identity in expected}
    states = _stored_states(session, list(expected))
    records = _readable(session, namespace, list(expected))
    space = active_space(session)
    name = "" if space is None else space[1].name
    vectors = {} if space is None else dict(session.rows("vectors_of", ids=list(records)))
    left = _texts_left(session, [i for i in expected if i not in records], name)
    changes: list[Change] = []
    for identity, journalled in expected.items():
        copy = sources.copies.get(identity)
        if identity in records:
            image = images(session, namespace, [identity])[identity]
            changes += _restore_row(identity, journalled, operation, (records[identity], image), copy)
            changes += _vector(identity, journalled, name, vectors.get(identity), copy)
        else:
            whole = _whole(journalled, operation, left.get(identity), copy)
            found = list(_restore_unreadable(identity, journalled, states.get(identity), whole, operation))
            if sources.removes_lost and whole is None and (not found or identity not in left):
                found = list(_removal(session, identity, journalled, states.get(identity), operation))
            changes += found
    changes += _accesses(session, changes)
    changes.sort(key=_order)
    removed = {change.id for change in changes if change.because == REMOVED}
    kept = {identity: known for identity, known in expected.items() if identity not in removed}
    return changes + _links(session, candidates, kept) + _documents(session, candidates, kept)


def put_operation(
    session: Session, *, number: int, row: Mapping[str, Any], lines: Sequence[Mapping[str, Any]], deletes: bool
) -> None:
    """Put an operation and its lines in the place of what is there of them, inside the transaction that is open.

    Where no line may be deleted, one that is too many stays.
    """
    for name in ("clear_lines", "clear_operation") if deletes else ("clear_operation",):
        session.run(name, id=row["id"], number=number)
    session.run("insert_operation", number=number, **row)
    for line in lines:
        session.run("put_line", **line)
    if deletes:
        session.run("clear_displaced_lines", id=row["id"])


def _order(change: Change) -> int:
    """Rows that are stored anew go first, all of them: what is stored again may need a key that another one has."""
    if change.because == REMOVED:
        return 3  # in the order in which they were decided
    if change.target is not Target.MEMORY:
        return 2
    return 0 if change.after is None else 1


def _stored_after(session: Session, expected: Mapping[str, Expected], doubted: Sequence[str]) -> list[str]:
    """Return the memories that were stored after some operations, by number and by id: those cannot be about them.

    An altered line may have lost the id of the memory that it was about, so every older memory may be what it was.
    """
    numbers = [session.value("number_of", id=operation) for operation in doubted]
    if None in numbers:
        return []
    last, latest = max(map(int, numbers)), max(doubted)
    births = {i: known.birth for i, known in expected.items() if known.birth and known.birth > latest}
    return [i for i, birth in births.items() if int(session.value("number_of", id=birth) or 0) > last]


def _stored_states(session: Session, ids: Sequence[str]) -> dict[str, Row]:
    """Return id -> the state of a memory as it is stored; empty for one that nobody can read."""
    found: dict[str, Row] = {}
    for identity in ids:
        try:
            for _, op, *values in session.rows("states", ids=[identity]):
                found[identity] = {"op": op, **dict(zip(STATE_COLUMNS, values, strict=True))}
        except UNREADABLE:
            found[identity] = {}
    return found


def _readable(session: Session, namespace: str, ids: Sequence[str]) -> dict[str, Record]:
    found: dict[str, Record] = {}
    for identity in ids:
        with suppress(*UNREADABLE, StoreDamaged):
            found.update((identity, record_of(namespace, values)) for values in session.rows("records", ids=[identity]))
    return found


def _restore_row(
    identity: str, journalled: Expected, operation: str, stored: tuple[Record, Row], copy: Row | None
) -> Iterator[Change]:
    """Yield the changes that make a memory that can be read what the journal says."""
    record, image = stored
    wrong = wrong_columns(journalled, record, "", None, image["key"])
    if "text" in wrong.get("content", ()):
        yield from _with_text(identity, journalled, operation, image, copy)
    elif then := _as_then(journalled, image, record, copy or {}):
        yield from _recreate(identity, image, {**then, **journalled.row, "op": operation}, _FROM_COPY)
    elif FIXED.intersection(chain.from_iterable(wrong.values())) and journalled.row.get("op") == record.op:
        yield from _recreate(identity, image, {**journalled.row, "op": operation}, _BECAUSE)
    else:
        state = {"op": record.op, **{column: getattr(record.state, column) for column in STATE_COLUMNS}}
        yield from _state(identity, journalled, operation, state, record, copy)


def _restore_unreadable(
    identity: str, journalled: Expected, stored: Row | None, whole: Row | None, operation: str
) -> Iterator[Change]:
    """Yield the changes that bring back a memory that is lost, or whose row holds something else than was written."""
    if stored is None:
        if whole is not None and journalled.exists:
            yield Change(Target.MEMORY, identity, None, whole, _LOST)
    elif stored:
        in_place = list(_state(identity, journalled, operation, stored, None, None))
        if in_place and not any(isinstance(value, bytes) for value in (in_place[0].before or {}).values()):
            yield from in_place
        elif whole is not None and journalled.row.get("op") == stored["op"]:
            # What stands there cannot be journalled: taking the repair back brings what the journal says.
            yield Change(Target.MEMORY, identity, {**whole, "op": stored["op"]}, None, _BECAUSE)
            yield Change(Target.MEMORY, identity, None, whole, _BECAUSE)


def _removal(
    session: Session, identity: str, journalled: Expected, stored: Row | None, operation: str
) -> Iterator[Change]:
    """Yield the changes that remove a memory whose words nothing brings back, with its links and documents."""
    key = dict(session.rows("keys_of", ids=[identity])).get(identity)
    known = {"tags": [], **_BLANK, **journalled.row, **(stored or {})}
    row = {**known, "text": "", "key": key, "space": None, "int8": None}
    if stored is None:
        if not journalled.exists or journalled.erased or not row.keys() >= {*MEMORY_COLUMNS}:
            return
        # The journal says that it is there: it is stored without its words, so that the journal can say that it goes.
        row = {**row, "key": None, "op": operation}
        yield Change(Target.MEMORY, identity, None, row, REMOVED)
    elif not stored:
        return
    for other, kind, to in session.rows("links_at", ids=[identity]):
        yield Change(Target.LINK, other, {"kind": kind, "other": to}, None, REMOVED)
    for key_of, data in by_id(session.rows("documents_at", ids=[identity])).get(identity, {}).items():
        if _is_json(data):
            yield Change(Target.DOCUMENT, identity, _document(key_of, data), None, REMOVED)
    yield Change(Target.MEMORY, identity, row, None, REMOVED)


def _state(
    identity: str, journalled: Expected, operation: str, stored: Row, record: Record | None, copy: Row | None
) -> Iterator[Change]:
    """Yield the change of what is not as the journal says in a memory's state and in its labels."""
    if journalled.row.get("op", stored["op"]) != stored["op"]:
        return  # the row knows an operation that the journal does not: which of them is right, nobody knows
    columns = [c for c in STATE_COLUMNS if c in journalled.row and c != "held" and stored[c] != journalled.row[c]]
    before, after = {c: stored[c] for c in columns}, {c: journalled.row[c] for c in columns}
    if record is not None:
        expected = {**_proven_columns(journalled, copy or {}), **journalled.row}
        wrong = wrong_columns(journalled, record, "", None, None).get("content", ())
        labels = [c for c in wrong if c in CONTENT_COLUMNS and c in expected]
        before |= {c: getattr(record.content, c) for c in labels}
        after |= {c: expected[c] for c in labels}
    if before:
        yield Change(Target.MEMORY, identity, {**before, "op": stored["op"]}, {**after, "op": operation}, _BECAUSE)


def _as_then(journalled: Expected, image: Row, record: Record | None, copy: Row) -> Row:
    """Return what a copy has of the columns of which the journal holds only a digest, where that agrees with it.

    Nothing where the row itself agrees.
    """
    if record is None or goes_back(journalled, row := row_of(record, image["key"])):
        return {}
    settable = {*STATE_COLUMNS, *CONTENT_COLUMNS} - journalled.rewound.keys() - {"held"}
    copied = {name: copy[name] for name in row if name in settable and name in copy}
    return copied if goes_back(journalled, {**row, **copied}) else {}


def _recreate(identity: str, row: Row, news: Row, because: str) -> Iterator[Change]:
    """Yield the changes that store a memory anew: what the journal says of it begins again."""
    yield Change(Target.MEMORY, identity, row, None, because)
    vector = {"space": row["space"], "int8": row["int8"]}
    yield Change(Target.MEMORY, identity, None, {**row, "key": None, **news, **vector}, because)


def _accesses(session: Session, changes: Sequence[Change]) -> Iterator[Change]:
    """Yield the accesses that no sweep has counted yet of memories that are stored anew: they go with the row."""
    anew = [c.id for c in changes if c.target is Target.MEMORY and c.after is None and c.because != REMOVED]
    for identity, pairs in accesses(session, anew, ALWAYS).items():
        for at, times in pairs:
            yield Change(Target.ACCESS, identity, None, {"at_ms": at, "times": times}, _BECAUSE)


def _proven_columns(journalled: Expected, copy: Row) -> Row:
    """Return what a copy has of the columns that the journal holds as digests, where the digests agree."""
    found: dict[str, Any] = {}
    if "metadata" in journalled.digests and metadata_digest(copy.get("metadata", {})) == journalled.digests["metadata"]:
        found["metadata"] = copy["metadata"]
    if "shown" in journalled.digests and digest_of(copy.get("shown")) == journalled.digests["shown"]:
        found["shown"] = copy["shown"]
    return found


def _texts_left(session: Session, ids: Sequence[str], space: str) -> dict[str, Row]:
    """Return id -> what can be read of the words and the vector of memories that are lost, or cannot be read whole."""
    found: dict[str, Row] = {}
    for identity, text, pack, metadata, shown, data in session.rows("texts_left", ids=list(ids)):
        words: Row = {"space": space if data else None, "int8": data}
        with suppress(*UNREADABLE):
            words = {**words, "text": _text(text) or ""}
            words = {**words, "text": unpack_text(words["text"], pack)}
        with suppress(*UNREADABLE):
            words = {**words, "shown": _text(shown)}
        with suppress(*UNREADABLE):
            words = {**words, "metadata": dict(json_value(_text(metadata)))}
        found[identity] = words
    return found


def _text(value: Any) -> Any:
    """Return the text of bytes, which may be none; what a driver has read already stays as it is."""
    return value.decode() if isinstance(value, bytes) else value


def _whole(journalled: Expected, operation: str, left: Row | None, copy: Row | None) -> Row | None:
    """Return the row of a memory as the journal says, with a text that is its own; None where something is missing."""
    for row in (left, copy):
        if row is None or "text" not in row or not _is_text(journalled, row["text"]):
            continue
        proven = {**_proven_columns(journalled, copy or {}), **_proven_columns(journalled, row)}
        words = {name: row[name] for name in ("text", "space", "int8")}
        whole = {"shown": None, "key": None, **(copy or {}), **proven, **journalled.row, **words}
        if whole.keys() >= {*MEMORY_COLUMNS, "tags", "metadata"} and goes_back(journalled, whole):
            return {**whole, "op": operation}
    return None


def _with_text(identity: str, journalled: Expected, operation: str, row: Row, copy: Row | None) -> Iterator[Change]:
    """Yield the changes that store a memory anew with the text that it had: a text is never changed in place."""
    if copy is not None and _is_text(journalled, copy["text"]):
        yield from _recreate(identity, row, {**journalled.row, "text": copy["text"], "op": operation}, _FROM_COPY)


def _is_text(journalled: Expected, text: str) -> bool:
    return journalled.digests.get("text") in (None, digest_of(text))


def _vector(identity: str, journalled: Expected, space: str, data: Any, copy: Row | None) -> Iterator[Change]:
    """Yield the changes that drop an altered vector and store the copy's; without one the embedder makes it anew."""
    digest = journalled.vectors.get(space)
    if digest is None or (data is not None and digest_of(data) == digest):
        return
    if data is not None:
        because = "repaired: the vector was altered and is made anew"
        altered = data if isinstance(data, bytes) else str(data).encode()  # else the journal could not be read again
        yield Change(Target.VECTOR, identity, {"space": space, "int8": altered}, None, because)
    if copy is not None and copy["space"] == space and digest_of(copy["int8"]) == digest:
        yield Change(Target.VECTOR, identity, None, {"space": space, "int8": copy["int8"]}, _FROM_COPY)


def _links(session: Session, ids: Sequence[str], expected: Mapping[str, Expected]) -> list[Change]:
    changes = []
    stored = by_id(session.rows("links_from", ids=list(ids)))
    for identity, journalled in expected.items():
        present = stored.get(identity, {})
        for key in () if journalled.erased else dict.fromkeys((*journalled.links, *present)):
            if journalled.links.get(key) != present.get(key):
                before, after = _link(key, present.get(key)), _link(key, journalled.links.get(key))
                changes += [Change(Target.LINK, identity, before, None, _BECAUSE)] if before else []
                changes += [Change(Target.LINK, identity, None, after, _BECAUSE)] if after else []
    return changes


def _link(key: tuple[str, str], weight: float | None) -> dict[str, Any] | None:
    return None if weight is None else {"kind": key[0], "other": key[1], "weight": weight}


def _documents(session: Session, ids: Sequence[str], expected: Mapping[str, Expected]) -> list[Change]:
    changes = []
    stored = by_id(session.rows("documents_at", ids=list(ids)))
    for identity, journalled in expected.items():
        present = stored.get(identity, {})
        known = (key for key in (*journalled.documents, *present) if journalled.knows(key[0]))
        for key in dict.fromkeys(known):
            journal_data = journalled.documents.get(key)
            data = present.get(key)
            if not document_fits(journal_data, data) and not isinstance(journal_data, int):
                before = (
                    _document(key, data) if _is_json(data) else None
                )  # what is no JSON was dropped with the indexes
                after = _document(key, journal_data)
                changes += [Change(Target.DOCUMENT, identity, before, after, _BECAUSE)] if before or after else []
    return changes


def _is_json(data: Any) -> bool:
    try:
        return isinstance(data, str) and json.loads(data) is not None
    except UNREADABLE:
        return False


def _document(key: tuple[str, str], data: str | None) -> dict[str, Any] | None:
    return None if data is None else {"shelf": key[0], "name": key[1], "data": json.loads(data)}

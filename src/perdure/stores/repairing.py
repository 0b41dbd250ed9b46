"""Putting back what a check found: rows as the journal says they are, in every store. Nothing here writes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from perdure.records.digests import digest_of, metadata_digest
from perdure.records.errors import StoreDamaged
from perdure.records.memory import Record
from perdure.records.plan import Change, Row, Target
from perdure.stores.checking import by_id, expected_of_ids
from perdure.stores.packing import unpacked
from perdure.stores.reading import active_space, images
from perdure.stores.replay import Expected, document_fits, goes_back, wrong_columns
from perdure.stores.row_digest import row_of
from perdure.stores.rows import (
    CONTENT_COLUMNS,
    MEMORY_COLUMNS,
    STATE_COLUMNS,
    UNREADABLE,
    json_value,
    record_of,
)
from perdure.stores.statements import Session

_BECAUSE: Final = "repaired: as the journal says"
_FROM_TEXT: Final = "repaired: as the journal says, with the text that was left"
_FROM_COPY: Final = "repaired: from a copy of the store"


def row_repairs(
    session: Session,
    namespace: str,
    ids: Sequence[str],
    operation: str,
    copies: Mapping[str, Row],
    doubted: Sequence[str] = (),
) -> list[Change]:
    """Return the changes that make some memories what the journal says, as far as it says it.

    Args:
        session: Of the namespace.
        namespace: Its name.
        ids: Memories, or other things with documents, that a check found wrong.
        operation: The id of the operation that will write the changes.
        copies: Id -> the whole row in an undamaged copy of the store, for texts and lost memories.
        doubted: Operations that are not as they were written; only what was stored after them is repaired.
    """
    expected = expected_of_ids(session, namespace, list(ids), [])
    candidates = _stored_after(session, expected, doubted) if doubted else list(ids)
    expected = {identity: expected[identity] for identity in candidates if identity in expected}
    rows = session.rows("states", ids=candidates)
    states = {i: {"op": op, **dict(zip(STATE_COLUMNS, values, strict=True))} for i, op, *values in rows}
    records = _readable(session, namespace, candidates)
    space = active_space(session)
    name = "" if space is None else space[1].name
    vectors = {} if space is None else dict(session.rows("vectors_of", ids=candidates))
    left = _texts_left(session, [i for i in candidates if i not in states], name)
    changes: list[Change] = []
    for identity in candidates:
        journalled = expected.get(identity)
        if journalled is None:
            continue
        record, copy = records.get(identity), copies.get(identity)
        if record is None and identity not in states:
            changes += _restore_lost(identity, journalled, operation, left.get(identity), copy)
        elif record is not None and "text" in wrong_columns(journalled, record, name, None, None).get("content", ()):
            row = images(session, namespace, [identity])[identity]
            changes += _with_text(identity, journalled, operation, row, copy)
        else:
            image = {} if record is None else images(session, namespace, [identity])[identity]
            if image and (then := _as_then(journalled, image, record, copy or {})):
                changes += _recreate(identity, image, {**then, **journalled.row, "op": operation})
            else:
                changes += _state(identity, journalled, operation, states[identity], record, copy)
            changes += _vector(identity, journalled, name, vectors.get(identity))
    return changes + _links(session, candidates, expected) + _documents(session, candidates, expected)


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


def _readable(session: Session, namespace: str, ids: Sequence[str]) -> dict[str, Record]:
    found: dict[str, Record] = {}
    for identity in ids:
        try:
            found.update((identity, record_of(namespace, values)) for values in session.rows("records", ids=[identity]))
        except (*UNREADABLE, StoreDamaged):
            continue
    return found


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


def _recreate(identity: str, row: Row, news: Row) -> Iterator[Change]:
    """Yield the changes that store a memory anew: what the journal says of it begins again."""
    yield Change(Target.MEMORY, identity, row, None, _FROM_COPY)
    yield Change(Target.MEMORY, identity, None, {**row, **news}, _FROM_COPY)


def _proven_columns(journalled: Expected, copy: Row) -> Row:
    """Return what a copy has of the columns that the journal holds as digests, where the digests agree."""
    found: dict[str, Any] = {}
    if "metadata" in journalled.digests and metadata_digest(copy.get("metadata", {})) == journalled.digests["metadata"]:
        found["metadata"] = copy["metadata"]
    if "shown" in journalled.digests and digest_of(copy.get("shown")) == journalled.digests["shown"]:
        found["shown"] = copy["shown"]
    return found


def _texts_left(session: Session, ids: Sequence[str], space: str) -> dict[str, Row]:
    """Return id -> what is left of lost memories: their text, what is told with it, their vector."""
    found: dict[str, Row] = {}
    for identity, text, pack, tags, source, task, metadata, shown, data in session.rows("lost_texts", ids=list(ids)):
        with suppress(*UNREADABLE):
            words = {"text": unpacked(text, pack), "tags": json_value(tags), "metadata": json_value(metadata)}
            vector = {"space": space if data else None, "int8": data}
            found[identity] = {**words, "source": source, "task": task, "shown": shown, "key": None, **vector}
    return found


def _restore_lost(
    identity: str, journalled: Expected, operation: str, left: Row | None, copy: Row | None
) -> Iterator[Change]:
    """Yield the change that stores a lost memory again, where its text is left, or a copy has it."""
    for row, because in ((left, _FROM_TEXT), (copy, _FROM_COPY)):
        if not journalled.exists or row is None or not _is_text(journalled, row["text"]):
            continue
        vector = {"space": row["space"], "int8": row["int8"]}
        whole = {**row, **journalled.row, **vector, "op": operation}
        if whole.keys() >= {*MEMORY_COLUMNS}:  # else the journal no longer has what the memory was
            yield Change(Target.MEMORY, identity, None, whole, because)
            return


def _with_text(identity: str, journalled: Expected, operation: str, row: Row, copy: Row | None) -> Iterator[Change]:
    """Yield the changes that store a memory anew with the text that it had: a text is never changed in place."""
    if copy is not None and _is_text(journalled, copy["text"]):
        yield from _recreate(identity, row, {**journalled.row, "text": copy["text"], "op": operation})


def _is_text(journalled: Expected, text: str) -> bool:
    return journalled.digests.get("text") in (None, digest_of(text))


def _vector(identity: str, journalled: Expected, space: str, data: bytes | None) -> Iterator[Change]:
    """Yield the change that drops an altered vector: the embedder makes it anew."""
    digest = journalled.vectors.get(space)
    if data is not None and digest is not None and digest_of(data) != digest:
        because = "repaired: the vector was altered and is made anew"
        yield Change(Target.VECTOR, identity, {"space": space, "int8": data}, None, because)


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
        for key in () if journalled.erased else dict.fromkeys((*journalled.documents, *present)):
            journal_data = journalled.documents.get(key)
            if not document_fits(journal_data, present.get(key)) and not isinstance(journal_data, int):
                with suppress(*UNREADABLE):  # what is no JSON cannot be journalled either
                    before, after = _document(key, present.get(key)), _document(key, journal_data)
                    changes.append(Change(Target.DOCUMENT, identity, before, after, _BECAUSE))
    return changes


def _document(key: tuple[str, str], data: str | None) -> dict[str, Any] | None:
    return None if data is None else {"shelf": key[0], "name": key[1], "data": json.loads(data)}

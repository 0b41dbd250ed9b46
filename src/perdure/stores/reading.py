"""Reading memories, documents and vectors, and finding ids by their start, in every store. Nothing here writes."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeVar

import numpy as np

from perdure.records.errors import ConflictError, DamageWarning, InvalidInput, StoreDamaged
from perdure.records.instant import Instant
from perdure.records.maker import maker_of
from perdure.records.memory import Document, Record, Shelf, State
from perdure.records.memory_preview import MemoryPreview
from perdure.records.plan import Plan, Target
from perdure.records.store_rows import Details, Usage
from perdure.records.vector import Space, Vector
from perdure.stores.rows import (
    UNREADABLE,
    document_of,
    glance_of,
    image_of,
    plain_value,
    record_of,
    require_row,
    state_of,
    unreadable,
)
from perdure.stores.statements import Session

T = TypeVar("T")
Pairs = tuple[tuple[Instant, int], ...]  # (instant, times) of accesses, oldest first
_NAME_ONE: Final = "Name the one that is meant (in a terminal with --namespace)."
_LONG: Final = 8  # accesses of a memory that cost more to read again than to keep
_MOST_RECORDS, _LONGEST_KEPT = 4000, 4000  # so many records whose text has so many characters are kept, mostly 8 MB
_MOST_ACCESSES: Final = 100_000  # that are kept, in about 10 MB


class SqlDocuments:
    """Documents beside memories. See operations/store_protocol.py.

    ``has_none`` says that a shelf of a namespace is known to be empty, and need not be asked. If ``is_strict``, a
    document that cannot be read raises StoreDamaged; else it is left out with a warning.
    """

    def __init__(
        self,
        rows: Callable[..., list[tuple[Any, ...]]],
        has_none: Callable[[str, Shelf], bool] = lambda _namespace, _shelf: False,
        *,
        is_strict: bool = False,
    ) -> None:
        self._rows, self._has_none, self._is_strict = rows, has_none, is_strict

    @property
    def strict(self) -> SqlDocuments:
        return SqlDocuments(self._rows, self._has_none, is_strict=True)

    def page(self, namespace: str, shelf: Shelf, after: tuple[str, str], limit: int) -> list[Document]:
        if self._has_none(namespace, shelf):
            return []
        while True:  # a page of which nothing can be read is not the last one
            key = {"shelf": shelf.value, "id": after[0], "name": after[1], "limit": limit}
            rows = self._rows(namespace, "documents", **key)
            found = self._documents_of(rows)
            if found or len(rows) < limit:
                return found
            after = rows[-1][1:3]

    def find(self, namespace: str, shelf: Shelf, ids: Sequence[str]) -> list[Document]:
        return self._on_shelf(namespace, shelf, "documents_of", ids=list(ids)) if ids else []

    def find_named(self, namespace: str, shelf: Shelf, names: Sequence[str]) -> list[Document]:
        return self._on_shelf(namespace, shelf, "documents_named", names=[*dict.fromkeys(names)]) if names else []

    def names(self, namespace: str, shelf: Shelf) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for identity, name in self._rows(namespace, "document_names", shelf=shelf.value):
            found.setdefault(identity, []).append(name)
        return found

    @contextmanager
    def naming_damage(self, plan: Plan) -> Iterator[None]:
        """Where a plan conflicts because a document that it stores is there and cannot be read, say so instead."""
        try:
            yield
        except ConflictError:
            for change in plan.changes:
                if change.target is Target.DOCUMENT and change.before is None:
                    key = {"shelf": plain_value(require_row(change.after)["shelf"]), "ids": [change.id]}
                    for values in self._rows(plan.namespace, "documents_of", **key):
                        document_of(values)
            raise

    def find_about(self, namespace: str, identity: str) -> list[Document]:
        return self._documents(namespace, "documents_about", id=identity)

    def _on_shelf(self, namespace: str, shelf: Shelf, name: str, /, **bindings: Any) -> list[Document]:
        if self._has_none(namespace, shelf):
            return []
        return self._documents(namespace, name, shelf=shelf.value, **bindings)

    def _documents(self, namespace: str, name: str, /, **bindings: Any) -> list[Document]:
        return self._documents_of(self._rows(namespace, name, **bindings))

    def _documents_of(self, rows: Sequence[Sequence[Any]]) -> list[Document]:
        return [document_of(values) for values in rows] if self._is_strict else list(_readable_documents(rows))


def _readable_documents(rows: Iterable[Sequence[Any]]) -> Iterator[Document]:
    """Yield the documents of rows; one that is damaged is left out, and a warning names it."""
    for values in rows:
        try:
            yield document_of(values)
        except StoreDamaged as error:
            _warn(error)


_BEGINNING: Final = re.compile(r"[A-Za-z0-9._:-]{1,64}")
_HEX: Final = re.compile(r"[A-Fa-f0-9-]+")


def first_reached(what: str, by_place: Mapping[str, T], covers: Callable[[str], bool]) -> T | None:
    """Return what the namespace has that a caller reaches, else what any has: for the caller to refuse.

    Raises:
        InvalidInput: Several namespaces that the caller reaches have it, as after an import under another name.
    """
    own = sorted(place for place in by_place if covers(place))
    if len(own) > 1:
        raise InvalidInput(f"The {what} is in several namespaces: {', '.join(own)}.", remedy=_NAME_ONE)
    return next((by_place[place] for place in own or by_place), None)


def find_by_start(
    text: str, statements: Sequence[str], rows: Callable[..., list[tuple[Any, ...]]], limit: int
) -> list[str]:
    """Return the id that a text is, else ids that begin with it or whose short form does, in order.

    A person types it: the case of hexadecimal digits does not matter. Each of the statements returns the ids from
    ``lowest`` up to ``beyond``, one by the whole id, one by the short form.
    """
    if not _BEGINNING.fullmatch(text):
        return []
    forms = dict.fromkeys((text, text.lower(), text.upper()) if _HEX.fullmatch(text) else (text,))
    found: dict[str, None] = {}
    for lowest in forms:
        beyond = lowest[:-1] + chr(ord(lowest[-1]) + 1)
        for name in statements:
            found |= dict.fromkeys(i for (i,) in rows(name, lowest=lowest, beyond=beyond, limit=limit))
    equal = [form for form in forms if form in found]
    return equal or sorted(found)[:limit]


ALWAYS: Final = 2**62  # no instant is later: stands for no limit

_record: Final = maker_of(Record)


def records(
    session: Session,
    namespace: str,
    ids: Sequence[str],
    kept: KeptAccesses | None = None,
    known: dict[str, Record] | None = None,
) -> list[Record]:
    """Return the records of some ids, in the order asked for; unknown ids are left out, damaged ones with a warning.

    ``kept`` and ``known`` are what was read before and holds: accesses, and records without them. More is added.
    """
    if not ids:  # asked for each new memory that has no near-duplicate
        return []
    cached, known = {} if kept is None else kept.find(ids), {} if known is None else known
    unknown = [i for i in ids if i not in cached] if cached else list(ids)
    if len(known) > _MOST_RECORDS:
        known.clear()
    unread = [i for i in ids if i not in known]
    try:
        access_rows, *rest = session.several(
            ("accesses", {"ids": unknown, "until": ALWAYS}), *[("records", {"ids": unread})][: len(unread)]
        )
    except UnicodeDecodeError as error:  # one text that is no text keeps all from being fetched
        if len(ids) == 1:
            _warn(unreadable(f"The memory {ids[0]} of {namespace}", error))
            return []
        some = ids[: len(ids) // 2], ids[len(ids) // 2 :]
        return [record for half in some for record in records(session, namespace, half, kept, known)]
    pending = _pairs(access_rows)
    if kept is not None:
        kept.keep(pending)
        pending |= cached
    found = {i: known[i] for i in ids if i in known} | {r.id: r for r in _readable(namespace, rest[0] if rest else ())}
    known.update((i, record) for i, record in found.items() if len(record.content.text) <= _LONGEST_KEPT)
    return [_with_accesses(found[i], pending.get(i, ())) for i in ids if i in found]


def details(session: Session, namespace: str, ids: Sequence[str]) -> Details:
    """Return records, vectors and links of some ids, read at once."""
    asked = {"ids": list(ids)}
    try:
        rows, access_rows, stored, space, links = session.several(
            ("records", asked),
            ("accesses", {**asked, "until": ALWAYS}),
            ("vectors_of", asked),
            ("active_space", {}),
            ("links_at", asked),
        )
    except UnicodeDecodeError:  # which of the texts is none is found by reading records alone
        links = session.rows("links_at", **asked)
        return Details(records(session, namespace, ids), vectors(session, namespace, ids), _triples(links))
    found = _in_order(namespace, ids, rows, _pairs(access_rows))
    return Details(found, _unit_vectors(namespace, stored, space), _triples(links))


def _triples(rows: Iterable[Sequence[Any]]) -> list[tuple[str, str, str]]:
    return [(identity, kind, other) for identity, kind, other in rows]


def _in_order(
    namespace: str, ids: Sequence[str], rows: Iterable[Sequence[Any]], pending: Mapping[str, Pairs]
) -> list[Record]:
    found = {r.id: r for r in _readable(namespace, rows)}
    return [_with_accesses(found[i], pending.get(i, ())) for i in ids if i in found]


def _readable(namespace: str, rows: Iterable[Sequence[Any]]) -> Iterator[Record]:
    """Yield the records of rows; one that is damaged is left out, and a warning names it."""
    for values in rows:
        try:
            yield record_of(namespace, values)
        except StoreDamaged as error:
            _warn(error)


def glances(session: Session, namespace: str, ids: Sequence[str]) -> list[MemoryPreview]:
    """Return glances of some ids, in the order asked for; unknown ids are left out, damaged ones with a warning."""
    try:
        rows = session.rows("glances", ids=list(ids))
    except UnicodeDecodeError:  # one text that is no text: it is found among the records
        return [_glance(record) for record in records(session, namespace, ids)]
    found = {}
    for values in rows:
        try:
            found[values[0]] = glance_of(values)
        except UNREADABLE as error:
            _warn(unreadable(f"The memory {values[0]} of {namespace}", error))
    return [found[i] for i in ids if i in found]


def _glance(record: Record) -> MemoryPreview:
    state, content = record.state, record.content
    return MemoryPreview(
        record.id, state.kind, state.scope, state.status, content.session, state.created_ms, content.text
    )


def warn_of_journal(namespace: str) -> None:
    """Warn that a line of a namespace's journal is no JSON, so that what came and went cannot be counted."""
    _warn(unreadable(f"A line of the journal of {namespace}", ValueError("it is no JSON")))


def _warn(error: StoreDamaged) -> None:
    warnings.warn(f"{error.message} Answers go without it. {error.remedy}", DamageWarning, stacklevel=2)


def _with_accesses(record: Record, pending: Pairs) -> Record:
    if not pending:
        return record
    return _record(record.namespace, record.id, record.state, record.content, record.op, pending, record.digest)


def tasks_by_place(rows: Iterable[Sequence[Any]]) -> dict[str, tuple[int, dict[str, Any] | None]]:
    """Return place -> (vectors, task -> what is written down about it), of rows (place, vectors, task, data).

    None stands for tasks of which one cannot be read.
    """
    found: dict[str, tuple[int, dict[str, Any] | None]] = {}
    for place, vectors, task, data in rows:
        _, tasks = found.setdefault(place, (vectors, {}))
        try:
            if task is not None and tasks is not None:
                tasks[task] = json.loads(data)
        except UNREADABLE:
            found[place] = vectors, None
    return found


def usage(session: Session) -> Usage:
    """Count what the session's namespace takes."""
    return Usage(*(int(number) for number in session.rows("usage")[0]))


def states(session: Session, ids: Sequence[str]) -> dict[str, tuple[State, str]]:
    """Return id -> (state, last operation), in the order asked for, without reading any content."""
    if not ids:
        return {}
    found = {}
    for identity, op, *values in session.rows("states", ids=list(ids)):
        try:
            found[identity] = state_of(values), op
        except UNREADABLE as error:
            _warn(unreadable(f"The memory {identity}", error))
    return {i: found[i] for i in ids if i in found}


def accesses(session: Session, ids: Sequence[str], until: Instant) -> dict[str, Pairs]:
    """Return id -> accesses up to an instant that are not counted in yet, oldest first."""
    return _pairs(session.rows("accesses", ids=list(ids), until=until) if ids else ())


def _pairs(rows: Iterable[Sequence[Any]]) -> dict[str, Pairs]:
    found: dict[str, list[tuple[Instant, int]]] = {}
    for identity, at, times in rows:
        found.setdefault(identity, []).append((at, times))
    return {i: tuple(pairs) for i, pairs in found.items()}


def images(session: Session, namespace: str, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return id -> the whole row of a memory as an insert needs it: state, content, key, vector."""
    if not ids:
        return {}
    bindings = {"ids": list(ids)}
    keyed, embedded = session.several(("keys_of", bindings), ("vectors_of", bindings))
    keys, data, found = dict(keyed), dict(embedded), active_space(session)
    name = None if found is None else found[1].name
    return {r.id: image_of(r, keys.get(r.id), name, data.get(r.id)) for r in records(session, namespace, ids)}


def vectors(session: Session, namespace: str, ids: Sequence[str]) -> dict[str, Vector]:
    """Return id -> unit vector for those memories that have one in the active space."""
    if not ids:
        return {}
    return _unit_vectors(namespace, *session.several(("vectors_of", {"ids": list(ids)}), ("active_space", {})))


def _unit_vectors(namespace: str, stored: Iterable[Sequence[Any]], space: Sequence[Sequence[Any]]) -> dict[str, Vector]:
    result: dict[str, Vector] = {}
    for identity, data in stored:
        if len(data) != Space(*space[0][1:]).dimensions or not any(data):
            warn_of_vectors(namespace, [identity])
            continue
        values = np.frombuffer(data, np.int8).astype(np.float32)
        result[identity] = (values / np.linalg.norm(values)).astype("<f4").tobytes()
    return result


def warn_of_vectors(namespace: str, ids: Sequence[str]) -> None:
    """Warn of memories whose vectors are not of the size of their space, so that searches go without those."""
    for identity in ids:
        _warn(unreadable(f"The vector of the memory {identity} of {namespace}", ValueError("it has a wrong size")))


def active_space(session: Session) -> tuple[int, Space] | None:
    """Return the space that searches use, with its number; None before the first vector."""
    rows = session.rows("active_space")
    return (int(rows[0][0]), Space(*rows[0][1:])) if rows else None


class KeptAccesses:
    """Accesses that no sweep has counted in yet, of the memories that have many.

    Without it each recall of a memory would read all accesses since the last sweep again, and cost more than the one
    before. It belongs to one namespace and holds for as long as the answers of ``QueryResultCache`` do.
    """

    def __init__(self) -> None:
        self._pairs: dict[str, Pairs] = {}
        self._size = 0

    def find(self, ids: Sequence[str]) -> dict[str, Pairs]:
        """Return id -> accesses of those ids that are kept."""
        return {i: self._pairs[i] for i in ids if i in self._pairs}

    def keep(self, found: Mapping[str, Pairs]) -> None:
        """Keep what was read, where it is long."""
        for identity, pairs in found.items():
            if len(pairs) >= _LONG:
                self._pairs[identity] = pairs
                self._size += len(pairs)
        if self._size > _MOST_ACCESSES:
            self._pairs, self._size = {}, 0

    def append(self, identity: str, at: Instant, times: int) -> None:
        """Add an access that was written; one that is not the last in time is left to be read again."""
        pairs = self._pairs.pop(identity, None)
        if pairs is not None and pairs[-1][0] < at:
            self._pairs[identity] = (*pairs, (at, times))
            self._size += 1

"""Looking for damage, in every store: what must hold between the tables, and between the journal and the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol, TypeVar

from perdure.records.damage import LOST, LOST_LINES, CheckScope, Fault
from perdure.records.digests import is_altered
from perdure.records.errors import StoreDamaged
from perdure.records.memory import Record, Shelf
from perdure.records.plan import Row
from perdure.stores.operation_digests import altered_operations
from perdure.stores.reading import active_space
from perdure.stores.replay import Expected, surely_agrees, wrong_columns, wrong_documents, wrong_links
from perdure.stores.rows import UNREADABLE, document_of, json_value, record_of, stored_text
from perdure.stores.statements import Session

RULES: Final = {
    "memories_without_content": "memories without content",
    "contents_without_memory": "contents without a memory",
    "memories_without_words": "memories missing from the keyword index",
    "vectors_without_memory": "vectors without a memory",
    "vectors_of_wrong_size": "vectors of the wrong size",
    "vectors_of_unknown_space": "vectors of an unknown embedding space",
    "lines_without_operation": "journal lines without an operation",
    "short_journals": "operations with missing journal lines",
    "accesses_without_memory": "accesses without a memory",
    "keys_without_memory": "idempotency keys without a memory",
    "memories_without_namespace": "memories without a namespace",
    "tags_without_content": "entries of the tag index that no memory has",
    "contents_without_tags": "tags missing from the tag index",
    "wrong_vector_counts": "namespaces with a wrong count of vectors",
    "unknown_policies": "namespaces with a policy that none of their operations had",
}
"""Statement that counts -> what it counts."""
_DOCUMENTS: Final = 1000  # documents that are read at once
PAGE: Final = 200  # memories that are compared with the journal on one view of the store
T = TypeVar("T")
_ALL: Final = 2**31 - 1


class NamespaceView(Protocol):
    """Runs work on one consistent view of a namespace."""

    def __call__(self, namespace: str, work: Callable[[Session], T]) -> T:
        """Return what the work returns."""


def broken_rules(count: Callable[[str], int], rules: Mapping[str, str]) -> Iterator[Fault]:
    """Yield what is wrong between the tables."""
    for name, rule in rules.items():
        if number := count(name):
            yield Fault("rule", f"{number} {rule}.", columns=(name,), count=number)


def journal_faults(read: NamespaceView, namespace: str, scope: CheckScope) -> Iterator[Fault]:
    """Yield where a namespace is not what its journal says, and where the journal is not as it was written.

    Args:
        read: Runs work on one view of the namespace; each page has a view of its own, so that writers go on.
        namespace: Which one.
        scope: How much of it.
    """
    operations = scope.windows(int(read(namespace, partial(_value, name="size_of_operation"))))
    total = int(read(namespace, partial(_value, name="size_of_memory")))
    memories = scope.windows(total)
    pages = _Pages(scope, namespace, sum(most for _, most in (*operations, *memories)))
    yield from read(namespace, partial(_recall_faults, namespace=namespace))
    yield from read(namespace, partial(_unreadable_documents, namespace=namespace))
    yield from _side_by_side(
        _operation_pages(read, namespace, operations, pages), _memory_pages(read, namespace, memories, total, pages)
    )


@dataclass(slots=True)
class _Pages:
    """How far the check of a namespace is."""

    scope: CheckScope
    namespace: str
    total: int  # operations and memories; the journal may know of more
    done: int = 0

    def add(self, count: int) -> None:
        self.done += count
        if self.scope.tell is not None:
            self.scope.tell(self.namespace, self.done, max(self.total, self.done))


def _value(session: Session, *, name: str, **bindings: Any) -> Any:
    return session.value(name, **bindings)


def _recall_faults(session: Session, namespace: str) -> list[Fault]:
    """Return the lines of the log of recalls that cannot be read."""
    faults = []
    for identity, at, query, hits in session.rows("recalls", limit=_ALL):
        if not (isinstance(at, int) and isinstance(query, str) and are_hits(hits)):
            faults.append(Fault("recall", "This line of the log of recalls cannot be read.", namespace, identity))
    return faults


def _unreadable_documents(session: Session, namespace: str) -> list[Fault]:
    """Return the documents that cannot be read, also those of which no line of the journal is left."""
    faults: list[Fault] = []
    after: tuple[Any, ...] = ("", "", "")
    while page := session.rows("document_page", shelf=after[0], id=after[1], name=after[2], limit=_DOCUMENTS):
        after = page[-1][:3]
        for values in page:
            try:
                document_of(values)
            except StoreDamaged as error:
                faults.append(Fault("unreadable", error.message, namespace, values[1]))
    return faults


def are_hits(value: Any) -> bool:
    """Whether a value is a list of ids, as what it was read from or as its JSON."""
    try:
        found = json_value(value)
        return isinstance(found, list) and all(isinstance(hit, str) for hit in found)
    except UNREADABLE:
        return False


_Page = tuple[float, list[Fault]]
"""The share of all that was looked at when a page was done, and what was found on it."""
_Windows = Sequence[tuple[int, int]]


def _side_by_side(operations: Iterator[_Page], memories: Iterator[_Page]) -> Iterator[Fault]:
    """Yield the faults of pages of both kinds, each kind as far as the other.

    Operations mostly store memories in the order of their ids: so a line is still unpacked when the other kind reads
    it. Where memories cannot be read any further, all operations are looked at.
    """
    reached = 0.0
    unread: list[Exception] = []
    operations = _until_unreadable(operations, unread)
    rest = (fault for _, faults in operations for fault in faults)
    try:
        for share, faults in memories:
            while reached < share and (page := next(operations, None)):
                reached = page[0]
                yield from page[1]
            yield from faults
    except Exception:
        yield from rest
        raise
    yield from rest
    if unread:
        raise unread[0]


def _until_unreadable(pages: Iterator[_Page], unread: list[Exception]) -> Iterator[_Page]:
    """Yield pages, and keep what ended them, so that the other kind is still looked at."""
    try:
        yield from pages
    except (*UNREADABLE, StoreDamaged) as error:
        unread.append(error)


def _operation_pages(read: NamespaceView, namespace: str, windows: _Windows, pages: _Pages) -> Iterator[_Page]:
    done, total = 0, sum(most for _, most in windows)
    for first, most in windows:
        after: int | None = -1
        if first:
            after = read(namespace, partial(_value, name="number_at", place=first - 1))
        left = most
        while after is not None and left > 0:
            altered, count, after = read(namespace, partial(altered_operations, after=after))
            left, done = left - count, done + count
            pages.add(count)
            known = read(namespace, partial(_confirmed_losses, ids=[row["id"] for row in altered])) if altered else ()
            yield done / total, [_operation_fault(namespace, row) for row in altered if row["id"] not in known]


def _confirmed_losses(session: Session, ids: Sequence[str]) -> set[str]:
    """Return of some operations those of which somebody confirmed that lines of them are lost."""
    return {row[1] for row in session.rows("documents_of", shelf=Shelf.LOST.value, ids=ids)}


def _operation_fault(namespace: str, row: Row) -> Fault:
    if isinstance(row["changes"], int) and row["lines"] < row["changes"]:
        lost = LOST_LINES.format(row["changes"] - row["lines"], row["changes"])
        return Fault("operation", f"Of the operation {row['operation']} {lost}", namespace, row["id"], ("lines",))
    message = f"The operation {row['operation']} or a line of its journal is not as it was written."
    return Fault("operation", message, namespace, row["id"])


def _memory_pages(read: NamespaceView, namespace: str, windows: _Windows, total: int, pages: _Pages) -> Iterator[_Page]:
    done, among = 0, sum(most for _, most in windows)
    for first, most in windows:
        after: str | None = ""
        if first:
            after = read(namespace, partial(_value, name="id_at", place=first - 1))
        # What is in the journal alone is looked for too where everything is.
        left = most if most < total else _ALL
        while after is not None and left > 0:
            work = partial(_page, namespace=namespace, after=after, limit=min(PAGE, left))
            faults, count, after = read(namespace, work)
            left, done = left - count, done + count
            pages.add(count)
            yield done / max(among, 1), faults


def _page(session: Session, namespace: str, after: str, limit: int) -> tuple[list[Fault], int, str | None]:
    ids = [identity for (identity,) in session.rows("journalled_ids", after=after, limit=limit)]
    return _faults_of(session, namespace, ids), len(ids), ids[-1] if len(ids) == limit else None


def _faults_of(session: Session, namespace: str, ids: Sequence[str]) -> list[Fault]:
    """Return the faults of some memories; those that cannot even be fetched are separated from the others by halves."""
    if not ids:
        return []
    try:
        return memory_faults(session, namespace, ids)
    except (*UNREADABLE, StoreDamaged) as error:
        if len(ids) == 1:
            return [Fault("memory", f"It cannot be read ({error}).", namespace, ids[0])]
        half = len(ids) // 2
        return _faults_of(session, namespace, ids[:half]) + _faults_of(session, namespace, ids[half:])


def memory_faults(session: Session, namespace: str, ids: Sequence[str]) -> list[Fault]:
    """Return where some memories, or other things that have documents, are not what the journal says."""
    faults: list[Fault] = []
    expected = expected_of_ids(session, namespace, ids, faults)
    space = active_space(session)
    name, vectors = ("", {}) if space is None else (space[1].name, dict(session.rows("vectors_of", ids=list(ids))))
    rows = session.rows("records", ids=list(ids))
    agreed = {v[0] for v in rows if v[0] in expected and surely_agrees(expected[v[0]], v, name, vectors.get(v[0]))}
    records = _readable(namespace, [values for values in rows if values[0] not in agreed], faults)
    faults += _wrong_digests(namespace, [v for v in rows if v[0] in agreed or v[0] in records])
    links = by_id(session.rows("links_from", ids=list(ids)))
    documents = by_id(session.rows("documents_at", ids=list(ids)))
    keyed = {w.row["key"]: i for i, w in expected.items() if w.exists and w.row.get("key")}
    key_owners = dict(session.rows("find_keys", keys=list(keyed))) if keyed else {}
    keys = dict(session.rows("keys_of", ids=list(ids)))
    for key, identity in keyed.items():
        if key_owners.get(key) != identity:
            faults.append(Fault("memory", f"Its idempotency key {key} is missing.", namespace, identity, ("key",)))
    for identity, key in keys.items():
        if (known := expected.get(identity)) and "created_ms" in known.row and known.row.get("key") is None:
            faults.append(
                Fault("memory", f"Its idempotency key {key} is in no journal.", namespace, identity, ("key",))
            )
    damaged = {fault.id for fault in faults}
    for identity in ids:
        replayed, record = expected.get(identity), records.get(identity)
        if replayed is None:  # it came with an import that brought no journal: nothing is known of it
            continue
        if identity not in damaged and identity not in agreed:
            stored = (name, vectors.get(identity), keys.get(identity))
            faults += _memory_faults(namespace, identity, replayed, record, stored)
        if replayed.links or identity in links:
            faults += [Fault("link", m, namespace, identity) for m in wrong_links(replayed, links.get(identity, {}))]
        if replayed.documents or identity in documents:
            wrong = wrong_documents(replayed, documents.get(identity, {}))
            faults += [Fault("document", message, namespace, identity) for message in wrong]
    return faults


def expected_of_ids(session: Session, namespace: str, ids: Sequence[str], faults: list[Fault]) -> dict[str, Expected]:
    """Return id -> what the journal says; lines that cannot be read are faults."""
    found: dict[str, Expected] = {}
    for operation, target, identity, before, after, _ in session.lines("lines_about", ids=list(ids)):
        if (expected := found.get(identity)) is None:
            found[identity] = expected = Expected()
        try:
            expected.play(target, before, after, operation)
        except (*UNREADABLE, StoreDamaged) as error:
            faults.append(Fault("operation", f"A journal line cannot be read ({error}).", namespace, identity))
    return found


def _readable(namespace: str, rows: Sequence[Sequence[Any]], faults: list[Fault]) -> dict[str, Record]:
    records = {}
    for values in rows:
        try:
            records[values[0]] = record_of(namespace, values)
        except (*UNREADABLE, StoreDamaged) as error:
            faults.append(Fault("memory", f"It cannot be read ({error}).", namespace, values[0]))
    return records


def _wrong_digests(namespace: str, rows: Sequence[Sequence[Any]]) -> Iterator[Fault]:
    """Yield the readable rows whose text is another than the one by which equal texts are found."""
    for values in rows:
        if is_altered(stored_text(values), values[-1]):
            yield Fault("content", "Its text is not the one that was stored.", namespace, values[0], ("text",))


def _memory_faults(
    namespace: str,
    identity: str,
    expected: Expected,
    record: Record | None,
    stored: tuple[str, bytes | None, str | None],
) -> Iterator[Fault]:
    if record is None:
        if expected.exists and not expected.erased:
            yield Fault("memory", LOST, namespace, identity)
        return
    if expected.lines and not expected.exists and not expected.erased:
        yield Fault("memory", "The journal says that it was taken back.", namespace, identity)
    for part, columns in wrong_columns(expected, record, *stored).items():
        if part == "vector" and stored[1] is None:
            yield Fault(
                part, "Its vector is missing; `perdure reembed` makes it anew.", namespace, identity, reembeds=True
            )
            continue
        problem = "It differs" if part == "memory" else f"Its {part} differs"
        named = ", ".join(columns)
        yield Fault(part, f"{problem} from what the journal says: {named}.", namespace, identity, tuple(columns))


def by_id(rows: Sequence[tuple[Any, ...]]) -> dict[str, dict[tuple[str, str], Any]]:
    """Return id -> (kind, other) or (shelf, name) -> the rest."""
    found: dict[str, dict[tuple[str, str], Any]] = {}
    for identity, one, other, value in rows:
        found.setdefault(identity, {})[one, other] = value
    return found

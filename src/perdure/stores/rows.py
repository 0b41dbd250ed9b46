"""Between records and rows, in every store: column lists, JSON forms, digests. No SQL is run here."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from functools import lru_cache
from itertools import compress
from operator import ne
from typing import TYPE_CHECKING, Any, Final

from perdure.records.digests import DIGESTS, digest_of, digests_of, encoded
from perdure.records.errors import BUG, REPAIR, LeaseLost, StoreDamaged, StoreError
from perdure.records.instant import Instant, text_of
from perdure.records.maker import maker_of
from perdure.records.memory import Content, Document, Form, Kind, Record, Scope, Shelf, Sort, State, Status, Tier
from perdure.records.memory_preview import MemoryPreview
from perdure.records.plan import Change, Row, Target
from perdure.records.store_rows import Lease
from perdure.stores.packing import unpack_text

if TYPE_CHECKING:
    from perdure.records.report import JournalEntry, Operation  # its many data classes take time to make

STATE_COLUMNS: Final = tuple(f.name for f in fields(State))
_BYTES: Final = {"vector", "int8"}
_UNJOURNALLED: Final = {"text", "shown", "metadata", "vector", "int8"}
DEFAULTS: Final = {f.name: f.default for f in fields(State) if f.default is not MISSING}

SEARCHED: Final = {"status", "scope", "tags", "created_ms"}
"""Columns that the caches of searches must hear about when they change."""

UNCHECKED: Final = {"held"}
"""Columns that are written without a look at what was there: holding and releasing are bookkeeping."""

CONTENT_COLUMNS: Final = ("shown", "tags", "source", "metadata")
"""What a plan may change about a memory's words; the text itself stays as it was said."""

FIXED: Final = {"text", "speaker", "task", "session", "turn", "key"}

_HELD, _FORM, _FIRM, _SORT, _ACCESSES = (
    STATE_COLUMNS.index(name) - 5 for name in ("held", "form", "firm", "sort", "access_count")
)

_KINDS: Final = {member.value: member for member in Kind}
_SCOPES: Final = {member.value: member for member in Scope}
_TIERS: Final = {member.value: member for member in Tier}
_STATUSES: Final = {member.value: member for member in Status}
_FORMS: Final = {member.value: member for member in Form}
_SORTS: Final = {member.value: member for member in Sort}
"""Looked up here a member takes a tenth of the time, and a recall reads a dozen rows with six of them each."""

_state, _content, _record = maker_of(State), maker_of(Content), maker_of(Record)

TOLD: Final[dict[str, Any]] = {
    "scope": Scope.LONG_TERM.value,
    "tier": Tier.WARM.value,
    "status": Status.ACTIVE.value,
    "pinned": False,
    "confidence": 1.0,
    "uniqueness": 1.0,
    "tags": [],
}
BORN_AT: Final = ("recorded_ms", "anchor_ms", "tier_ms", "status_ms", "strength_ms", "form_ms")
"""What most memories are born with, at ``created_ms``: the line of a birth says only what differs."""
_BIRTH_DEFAULTS: Final = {**DEFAULTS, **TOLD}
_KEPT: Final = 16

MEMORY_COLUMNS: Final = (*STATE_COLUMNS, "session", "turn", "speaker", "op")

UNREADABLE: Final = (
    *(ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError),
    RecursionError,  # of JSON that is nested without end
)
"""What reading a value raises that is none of those that were written."""


def unreadable(what: str, error: Exception) -> StoreDamaged:
    """Return the error for a row that holds something else than was written."""
    return StoreDamaged(f"{what} cannot be read ({error}).", remedy=REPAIR)


def state_of(values: Sequence[Any]) -> State:
    """Return a state from the values of STATE_COLUMNS."""
    kind, scope, tier, status, pinned, *numbers = values
    numbers[_HELD] = bool(numbers[_HELD])
    numbers[_FORM] = _FORMS[numbers[_FORM]]
    numbers[_FIRM] = bool(numbers[_FIRM])
    numbers[_SORT] = _SORTS[numbers[_SORT]]
    types = [*map(type, numbers)]
    if str in types or bytes in types or numbers[_ACCESSES] < 0:  # a file's columns take any type
        raise ValueError("a number of its state is not a number")
    return _state(_KINDS[kind], _SCOPES[scope], _TIERS[tier], _STATUSES[status], bool(pinned), *numbers)


def record_of(namespace: str, values: Sequence[Any]) -> Record:
    """Return a record from (id, op, session, turn, speaker, state columns, content).

    Content is text, tags, source, task, metadata, shown, packed, and the digest by which its text is found.

    Tags and metadata may be JSON text or what it stands for, as the store's driver returns them.
    """
    identity, op, session, turn, speaker = values[:5]
    states = len(STATE_COLUMNS)
    text, tags, source, task, metadata, shown, pack, digest = values[5 + states :]
    try:
        listed = () if tags == "[]" else tuple(json_value(tags))
        more = {} if metadata == "{}" else json_value(metadata)
        if listed and {*map(type, listed)} != {str}:
            raise TypeError("one of its tags is not text")
        if bytes in map(type, (identity, op, session, speaker, text, tags, source, task, metadata, shown)):
            raise ValueError("its text is not text")
        content = _content(unpack_text(text, pack), listed, source, speaker, session, task, turn, more, shown)
        return _record(namespace, identity, state_of(values[5 : 5 + states]), content, op, (), digest)
    except UNREADABLE as error:
        raise unreadable(f"The memory {identity} of {namespace}", error) from error


def glance_of(values: Sequence[Any]) -> MemoryPreview:
    """Return a glance from (id, kind, scope, status, session, created_ms, text, packed)."""
    identity, kind, scope, status, session, created, text, pack = values
    if isinstance(text, bytes):
        raise TypeError("its text is none")
    return MemoryPreview(
        identity, _KINDS[kind], _SCOPES[scope], _STATUSES[status], session, created, unpack_text(text, pack)
    )


def stored_text(values: Sequence[Any]) -> str:
    """Return the whole text of a row that :func:`record_of` takes."""
    return unpack_text(values[-8], values[-2])


def json_value(value: Any) -> Any:
    """Return what JSON text stands for; what a driver has parsed already stays as it is."""
    return json.loads(value) if isinstance(value, str) else value


def image_of(record: Record, key: str | None, space: str | None, vector: bytes | None) -> dict[str, Any]:
    """Return the whole row of a memory as an insert would need it: state, content, key, vector."""
    state = {name: getattr(record.state, name) for name in record.state.__slots__}
    content = record.content
    return {
        **state,
        "op": record.op,
        "session": content.session,
        "turn": content.turn,
        "text": content.text,
        "tags": content.tags,
        "source": content.source,
        "speaker": content.speaker,
        "task": content.task,
        "metadata": dict(content.metadata),
        "shown": content.shown,
        "key": key,
        "space": space if vector else None,
        "int8": vector,
    }


def operation_of(values: Sequence[Any]) -> Operation:
    """Return an operation from (namespace, id, operation, at, changes, hides, policy, note, undoes, undoer, actor)."""
    from perdure.records.report import Operation  # noqa: PLC0415  # as above

    namespace, identity, name, at, changes, hides, policy, note, undoes, undone_by, actor = values
    details = (changes, hides, note, policy, undoes, undone_by, actor)
    return Operation(identity, name, namespace, text_of(at), *details)


def entry_of(values: Sequence[Any]) -> JournalEntry:
    """Return a line of a memory's journal from (operation id, operation, namespace, at, target, id, before, ...)."""
    from perdure.records.report import JournalEntry  # noqa: PLC0415  # as above

    try:
        op_id, operation, space, at, target, memory, before, after, because, policy = values
        rows = decode_row(before), decode_row(after)
        trimmed = is_trimmed(target, *rows)
        whole = rows[0], with_defaults(rows[1], op_id) if target == Target.MEMORY and rows[0] is None else rows[1]
        images = (None, None) if trimmed else (_plain_columns(whole[0]), _plain_columns(whole[1]))
        return JournalEntry(op_id, operation, space, text_of(at), target, memory, *images, because, policy, trimmed)
    except UNREADABLE as error:
        raise unreadable("A line of the journal", error) from error


def change_of(values: Sequence[Any]) -> Change:
    """Return a change from the journal's (target, id, before, after, because)."""
    target, identity, before, after, because = values
    try:
        images = (decode_row(before), decode_row(after))
        trimmed = is_trimmed(target, *images)
        if target == Target.MEMORY:
            images = (_brought_up(images[0]), _brought_up(with_defaults(images[1]) if images[0] is None else images[1]))
        return Change(Target(target), identity, *images, because, trimmed)
    except UNREADABLE as error:
        raise unreadable(f"A line of the journal about {identity}", error) from error


def _brought_up(row: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return a whole row that was journalled before a column was there with what a migration would have given it."""
    if row is None or "text" not in row or "sort" in row:
        return row
    lately = {"strength_ms": row["anchor_ms"], "form_ms": row["created_ms"], "tokens": (len(row["text"]) + 3) // 4}
    return {**DEFAULTS, **lately, "shown": None, **row}


def with_defaults(row: Row | None, operation: str | None = None) -> dict[str, Any] | None:
    """Return what the line of a birth says with what it leaves out; lines of earlier versions leave nothing out."""
    if row is None or DIGESTS not in row or "created_ms" not in row:
        return None if row is None else dict(row)
    defaults = {**TOLD, **dict.fromkeys(BORN_AT, row["created_ms"])}
    return {**defaults, **({} if operation is None else {"op": operation}), **row}


def is_creation(target: str, before: Row | None, after: Row | None) -> bool:
    """Whether a line of the journal stores a memory, and leaves out what most memories are born with."""
    return (
        target == Target.MEMORY and before is None and after is not None and DIGESTS in after and "created_ms" in after
    )


def is_trimmed(target: str, before: Row | None, after: Row | None) -> bool:
    """Return whether a line of the journal has lost its images to the horizon; what was erased has no sides at all."""
    row = before if after is None else after
    if row is None:
        return False
    if target == Target.DOCUMENT:
        return "data" not in row
    if target in (Target.ACCESS, Target.NAMESPACE):
        return not row
    if target == Target.VECTOR:
        return after is None and "int8" not in row
    return target == Target.MEMORY and not row.keys() - {DIGESTS, "space"}


def _plain_columns(row: Row | None) -> dict[str, Any] | None:
    return None if row is None else {k: v for k, v in row.items() if not isinstance(v, bytes) and k != DIGESTS}


def document_of(values: Sequence[Any]) -> Document:
    """Return a document from (shelf, id, name, data)."""
    shelf, identity, name, data = values
    try:
        found = json.loads(data)
        if not isinstance(found, dict):
            raise TypeError("its data is not an object")
        return Document(Shelf(shelf), identity, name, found)
    except UNREADABLE as error:
        raise unreadable(f"The document {shelf} {name} about {identity}", error) from error


def document_text(row: Row) -> str:
    """Return a document's data as every store keeps it, so that two can be compared."""
    return encoded(row["data"])


def column_value(column: str, value: Any) -> Any:
    """Return a value as the column stores it."""
    if column == "tags":
        return _encode_list(list(value)) if value else "[]"
    if column == "metadata":
        return _encode_sorted(value) if value else "{}"
    return plain_value(value)


def plain_value(value: Any) -> Any:
    """Return an enum member as its text, anything else as it is."""
    if isinstance(value, str):
        return str.__str__(value)
    return value


def journal_form(change: Change, operation: str, vector: bytes | None = None) -> tuple[str | None, str | None]:
    """Return a change's before and after as journal text.

    The line of an insert is brief, because the row itself holds the rest: it has digests of that. A delete keeps
    everything, so that it can be undone.
    """
    return _encode(change.before, brief=False), _encode(_brief(change, operation, vector), brief=change.before is None)


def _brief(change: Change, operation: str, vector: bytes | None) -> Row | None:
    after = change.after
    if change.before is not None or after is None:
        return after
    if change.target is Target.MEMORY:
        born = map(_born_with(after["created_ms"], operation).get, after)
        other = compress(after.items(), map(ne, after.values(), born))  # few of some fifty columns
        row = {n: v for n, v in other if v is not None and n not in _UNJOURNALLED}
        if not row.get("tags", True):
            del row["tags"]
        row[DIGESTS] = digests_of(after, vector)
        return row
    if change.target is Target.VECTOR:
        return {"space": after["space"], DIGESTS: {"vector": digest_of(vector)}}
    return after


@lru_cache(_KEPT)
def _born_with(created: Instant, operation: str) -> Mapping[str, Any]:
    """Return what the line of a birth leaves out: memories of one batch often happened at one instant."""
    return {**_BIRTH_DEFAULTS, **dict.fromkeys(BORN_AT, created), "op": operation}


Shape = tuple[Target, str, tuple[str, ...]]


def shape_of(change: Change) -> Shape:
    """Return what kind of change it is; changes of one shape are written by one statement."""
    if change.before is None:
        return change.target, "insert", ()
    if change.after is None:
        return change.target, "delete", ()
    return change.target, "update", tuple(change.after)


def lease_lost(fence: Lease) -> LeaseLost:
    """Return the error for a write under a lease that another worker has taken over."""
    return LeaseLost(
        f"Another worker has taken over the namespace {fence.namespace}; nothing was written.",
        remedy="Nothing to do: the other worker continues.",
    )


def require_row(row: Row | None) -> Row:
    """Return the row of a change that must have one."""
    if row is None:
        raise StoreError("A change contains no row.", remedy=f"{BUG} Nothing was written.")
    return row


def _encode(row: Row | None, *, brief: bool) -> str | None:
    if row is None:
        return None
    return _encode_brief(row) if brief else _encode_whole(row)


def _bytes(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    raise TypeError(f"cannot journal {type(value).__name__}")


def _encoder(**more: Any) -> Callable[[Any], str]:
    """Return what encodes rows, which hold no value that holds itself."""
    return json.JSONEncoder(ensure_ascii=False, check_circular=False, **more).encode


_encode_brief: Final = _encoder(separators=(",", ":"))
_encode_whole: Final = _encoder(separators=(",", ":"), default=_bytes)
_encode_list: Final = _encoder()
_encode_sorted: Final = _encoder(sort_keys=True)  # made once: making an encoder costs as much as a short row


_read_json: Final = json.JSONDecoder().raw_decode
"""What ``json.loads`` does, without looking for white space around a value: a fifth of its time for a line."""


def decode_row(text: str | None) -> dict[str, Any] | None:
    """Return a journal text as a row again."""
    if text is None:
        return None
    row: dict[str, Any]
    row, end = _read_json(text)
    if end != len(text):
        raise ValueError("more than one value stands there")
    if _BYTES.isdisjoint(row.keys()):
        return row
    return {k: base64.b64decode(v["base64"]) if k in _BYTES and v is not None else v for k, v in row.items()}

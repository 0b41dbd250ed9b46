"""What the journal says must be there about a memory, and where the rows say something else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter, itemgetter
from typing import Any, Final

from perdure.records.digests import DIGESTS, digest_of, metadata_digest
from perdure.records.memory import Record, Shelf
from perdure.records.plan import Row, Target
from perdure.stores.row_digest import ROW, row_digest, row_of
from perdure.stores.rows import (
    BORN_AT,
    DEFAULTS,
    STATE_COLUMNS,
    TOLD,
    UNREADABLE,
    decode_row,
    document_text,
    is_creation,
    is_trimmed,
    json_value,
    plain_value,
    state_of,
    stored_text,
    with_defaults,
)

_LATER: Final = {"strength_ms", "form_ms", "tokens"}
"""Columns that a migration filled for memories that were stored before; their lines do not say what with."""
_UNCOMPARED: Final = {"held"}  # holding and releasing is bookkeeping between sweeps
_COMPARED: Final = tuple(name for name in STATE_COLUMNS if name not in _UNCOMPARED)
_compared: Final = attrgetter(*_COMPARED)
_ROW: Final = ("id", "op", "session", "turn", "speaker", *STATE_COLUMNS)
"""What the statement ``records`` gives first; text, tags, source, task, metadata, shown and packed follow."""
_PLAIN: Final = [n for n, name in enumerate(_ROW) if name not in {"id", *_UNCOMPARED}]
_HELD: Final = _ROW.index("held")
_STATE: Final = slice(len(_ROW) - len(STATE_COLUMNS), len(_ROW))
_plain_values: Final = itemgetter(*_PLAIN)
_plain_columns: Final = itemgetter(*(_ROW[n] for n in _PLAIN), "source", "task")
_BIRTH_VALUES: Final[dict[str, Any]] = {
    **{name: value for name, value in DEFAULTS.items() if name not in _LATER},
    **dict.fromkeys(("speaker", "session", "task", "turn", "source")),
}
"""What a memory is born with where the line of its birth does not say otherwise."""
_bare_values: Final = itemgetter("tags", "metadata", "shown")
_ONLY_TEXT: Final = {"text"}
_SWITCHES: Final = (bool, int)
_CONTENT: Final = ("speaker", "session", "task", "turn", "source", "tags", "metadata", "shown", "text")
_BARE: Final[dict[str, Any]] = {"shown": None, "metadata": {}}
"""What a column holds where the line of a birth says nothing of it."""
_NEW: Final = {**_BARE, **_BIRTH_VALUES, **TOLD}


@dataclass(slots=True)
class Expected:
    """What the lines of one memory add up to."""

    birth: str | None = None  # the operation of its first line, where that stored it; empty where it did not
    exists: bool = False  # whether there is such a memory
    lines: int = 0  # lines about the memory itself
    row: dict[str, Any] = field(default_factory=dict)  # column -> value, as far as the journal says
    digests: dict[str, int] = field(default_factory=dict)  # column -> digest, where it says only that
    vectors: dict[str, int] = field(default_factory=dict)  # embedding space -> digest
    links: dict[tuple[str, str], float] = field(default_factory=dict)  # (kind, other) -> weight
    documents: dict[tuple[str, str], str | int] = field(default_factory=dict)  # (shelf, name) -> data, or its digest
    erased: bool = False  # whether lines lost what they said when something was erased
    anchor: int | None = None  # digest of the row as it was when the last of its trimmed lines was written
    rewound: dict[str, Any] = field(default_factory=dict)  # column -> value then, of what has changed since

    def knows(self, shelf: str) -> bool:
        """Whether the journal is complete for a shelf: erasing blanks lines, but not those of what it leaves behind."""
        return not self.erased or shelf == Shelf.ERASED

    def play(self, target: str, before_text: str | None, after_text: str | None, operation: str) -> None:
        """Take in the next line of the journal: (kind of row, before, after, operation)."""
        before, after = decode_row(before_text), decode_row(after_text)
        if self.birth is None and after is not None and is_creation(target, before, after):
            self._begin(after, operation)
            return
        if self.birth is None:
            self.birth = operation if target == Target.MEMORY and before is None and after is not None else ""
        if target == Target.MEMORY and before is None and not is_trimmed(target, before, after):
            after = with_defaults(after, operation)
        if before is None and after is None:
            self.erased = True
            if target == Target.MEMORY:  # whatever it changed, nobody knows it any more; the text never changes
                self.lines += 1
                self._forget()
        elif target == Target.MEMORY:
            self._play_memory(before, after)
        elif target == Target.LINK:
            self._play_link(before, after)
        elif target == Target.DOCUMENT:
            self._play_document(before, after)
        elif target == Target.VECTOR:
            self._play_vector(before, after)

    def _begin(self, after: dict[str, Any], operation: str) -> None:
        """Take in the line of a birth that comes first, as nearly all do: the same as below, in a third of the time."""
        self.birth, self.exists, self.lines = operation, True, 1
        self.digests = digests = after.pop(DIGESTS)
        born = after["created_ms"]
        self.row = row = {**_NEW, "op": operation, **after}
        for name in BORN_AT:
            if name not in after:
                row[name] = born
        vector = digests.pop("vector", None)
        if vector is not None and after.get("space"):
            self.vectors[after["space"]] = vector
        for name in _BARE if len(digests) > 1 else ():
            if name in digests and name not in after:
                del row[name]

    def _forget(self) -> None:
        """Know of the row only that its text never changes."""
        self.row, self.digests = {}, {k: v for k, v in self.digests.items() if k == "text"}
        self.anchor, self.rewound = None, {}

    def _play_memory(self, before: Row | None, after: Row | None) -> None:
        self.lines += 1
        self.exists = after is not None
        if after is None or before is None:
            self._forget()
            self.digests, self.vectors = {}, {}
        if is_trimmed(Target.MEMORY, before, after):
            self._forget()
            self._take_digests(after or {})
            self.anchor = self.digests.pop(ROW, None)
            return
        for name, value in (before or {}).items() if self.anchor is not None else ():
            self.rewound.setdefault(name, value)
        if after is not None:
            self.row.update(after)
            self.row.pop(DIGESTS, None)
            self._take_digests(after)
            for column in after.keys() & {"shown", "metadata"} if before is not None else ():
                self.digests.pop(column, None)
        if before is None and after is not None:
            self._fill_in(after)

    def _take_digests(self, after: Row) -> None:
        digests = dict(after.get(DIGESTS, {}))
        vector = digests.pop("vector", None)
        if vector is not None and after.get("space"):
            self.vectors[after["space"]] = vector
        self.digests.update(digests)

    def _fill_in(self, after: Row) -> None:
        """Add what the line of a birth leaves out because it is what it is by default."""
        self.row = {**_BIRTH_VALUES, **self.row}
        if DIGESTS in after:
            for name in _BARE.keys() - after[DIGESTS].keys() - after.keys():
                self.row[name] = _BARE[name]

    def _play_vector(self, before: Row | None, after: Row | None) -> None:
        row = after or before or {}
        self.vectors.pop(row["space"], None)
        if "vector" in row.get(DIGESTS, {}):
            self.vectors[row["space"]] = row[DIGESTS]["vector"]

    def _play_link(self, before: Row | None, after: Row | None) -> None:
        row = after or before or {}
        key = (str(plain_value(row["kind"])), row["other"])
        if after is None:
            self.links.pop(key, None)
        else:
            self.links.setdefault(key, after["weight"])

    def _play_document(self, before: Row | None, after: Row | None) -> None:
        row = after or before or {}
        key = (str(plain_value(row["shelf"])), row["name"])
        if after is None:
            self.documents.pop(key, None)
        else:
            self.documents[key] = document_text(after) if "data" in after else after.get(DIGESTS, {}).get("data", 0)


def wrong_columns(
    expected: Expected, record: Record, space: str, vector: bytes | None, key: str | None
) -> dict[str, list[str]]:
    """Return part -> the columns of a memory that are not what the journal says."""
    row = expected.row  # members of enumerations equal their texts
    state = [n for n, v in zip(_COMPARED, _compared(record.state), strict=True) if n in row and v != row[n]]
    content = [name for name in _CONTENT if not _fits(expected, name, getattr(record.content, name))]
    if expected.row.get("op", record.op) != record.op:
        state.append("op")
    if "created_ms" in expected.row and expected.row.get("key") != key:
        state.append("key")
    if not (state or content or expected.anchor is None or goes_back(expected, row_of(record, key))):
        state.append("state")  # only a digest of it is left, which does not say which column
    altered = _is_other_vector(expected, space, vector)
    found = {"memory": state, "content": content, "vector": ["data"] if altered else []}
    return {part: columns for part, columns in found.items() if columns}


def surely_agrees(expected: Expected, values: Sequence[Any], space: str, vector: bytes | None) -> bool:
    """Whether a row of the statement ``records`` and its vector are what the journal says.

    It is judged from the row as it stands, which takes a third of the time of :func:`wrong_columns`. False also where
    the journal does not say all of it, or says it as digests of a whole row: that takes the closer look.
    """
    if expected.anchor is not None or expected.erased or not expected.exists or type(values[_HELD]) not in _SWITCHES:
        return False
    source, task = values[len(_ROW) + 2 : len(_ROW) + 4]
    try:
        if expected.lines > 1:  # a line that takes a repair back may say what cannot be read
            state_of(values[_STATE])
        if _plain_columns(expected.row) != (*_plain_values(values), source, task):
            return False
        return _content_agrees(expected, values) and not _is_other_vector(expected, space, vector)
    except UNREADABLE:
        return False


def _content_agrees(expected: Expected, values: Sequence[Any]) -> bool:
    _, tags, _, _, metadata, shown, *_ = values[len(_ROW) :]
    if not _fits(expected, "text", stored_text(values)):
        return False
    if tags == "[]" and metadata == "{}" and shown is None and expected.digests.keys() == _ONLY_TEXT:
        return not any(_bare_values(expected.row))  # as most are
    content = {"tags": json_value(tags), "metadata": json_value(metadata), "shown": shown}
    return all(_fits(expected, name, value) for name, value in content.items())


def _is_other_vector(expected: Expected, space: str, vector: bytes | None) -> bool:
    digest = expected.vectors.get(space)
    return digest is not None and (vector is None or digest_of(vector) != digest)


def goes_back(expected: Expected, row: Row) -> bool:
    """Whether a row, with what has changed since taken back, is the one of the journal's digest; true without one."""
    return expected.anchor is None or row_digest({**row, **expected.rewound}) == expected.anchor


def document_fits(expected: str | int | None, data: str | None) -> bool:
    """Whether a stored document is the one that the journal knows, as a text or as its digest."""
    return digest_of(data) == expected if isinstance(expected, int) and data is not None else expected == data


def _fits(expected: Expected, name: str, value: Any) -> bool:
    if name in expected.digests:
        present = metadata_digest(value) if name == "metadata" else digest_of(value)
        return present == expected.digests[name]
    if name not in expected.row:
        return True
    expected_value = expected.row[name]
    if name == "metadata":
        return (expected_value or {}) == value or metadata_digest(expected_value or {}) == metadata_digest(value)
    return bool((list(value) if name == "tags" else value) == expected_value)


def wrong_links(expected: Expected, stored: Mapping[tuple[str, str], float]) -> Iterator[str]:
    """Yield what is wrong with the links from a memory; nobody knows it where lines about them were erased."""
    if expected.erased:
        return
    for (kind, other), weight in expected.links.items():
        if (kind, other) not in stored:
            yield f"The link {kind} to {other} is missing."
        elif stored[kind, other] != weight:
            yield f"The link {kind} to {other} has the weight {stored[kind, other]} instead of {weight}."
    yield from (f"The link {k} to {o} is in no journal." for k, o in stored if (k, o) not in expected.links)


def wrong_documents(expected: Expected, stored: Mapping[tuple[str, str], str]) -> Iterator[str]:
    """Yield what is wrong with the documents about a memory, session, task or entity, as far as the journal knows."""
    for (shelf, name), data in expected.documents.items():
        if not expected.knows(shelf):
            continue
        if (shelf, name) not in stored:
            yield f"The document {shelf} {name} is missing."
        elif not document_fits(data, stored[shelf, name]):
            yield f"The document {shelf} {name} is not as it was written."
    for shelf, name in stored:
        if (shelf, name) not in expected.documents and expected.knows(shelf):
            yield f"The document {shelf} {name} is in no journal."

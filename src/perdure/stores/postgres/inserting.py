"""New memories: rows, words, tags, keys and vectors, a whole batch in one statement for each table."""

from __future__ import annotations

import json
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate, chain
from typing import Any, Final

from psycopg import Cursor

from perdure.records.digests import content_digest
from perdure.records.memory import Kind, searchable
from perdure.records.plan import Change, Row
from perdure.stores.packing import pack_text, unpack_text
from perdure.stores.plans import stored_meanwhile
from perdure.stores.postgres.session import PostgresSession
from perdure.stores.rows import MEMORY_COLUMNS, plain_value, require_row
from perdure.stores.words import Stemmer

SPAN: Final = 500
"""Memories whose places one line of postings may hold: a batch. Only the commonest words outgrow a page then."""

LONGEST_TERM: Final = 64  # longer stems are known by their digest: an index entry has room for 2,700 bytes

_MOST_TIMES: Final = 0xFFFF
_MOST_LENGTH: Final = 0xFFFFFF


@dataclass(frozen=True, slots=True)
class IndexedText:
    """What the index of words needs to know of one memory."""

    length: int
    times: Counter[str]


def document_of(row: Row, stemmer: Stemmer) -> IndexedText:
    """Return a memory's words, from its text and its speaker."""
    stems = stemmer.stems(searchable(row["text"], row["speaker"]))
    # One more than its words, as SQLite counts the token that stands for the namespace.
    return IndexedText(min(len(stems) + 1, _MOST_LENGTH), Counter(map(term_of, stems)))


def term_of(stem: str) -> str:
    """Return a stem as the index of words knows it."""
    if len(stem) <= LONGEST_TERM:
        return stem
    return "#" + blake2b(stem.encode("utf-8", "replace"), digest_size=16).hexdigest()


def postings(first: int, documents: Sequence[IndexedText]) -> dict[tuple[str, int], list[int]]:
    """Return (term, first row of the line) -> entries, for memories whose rows follow each other from ``first`` on.

    A line holds at most SPAN memories; lines of different calls never meet, because rows are given out once.
    """
    return numbered_postings(first, enumerate(documents, first))


def numbered_postings(first: int, documents: Iterable[tuple[int, IndexedText]]) -> dict[tuple[str, int], list[int]]:
    """Return the same for memories with their rows, in order, none before ``first``."""
    lines: dict[tuple[str, int], list[int]] = {}
    for row, document in documents:
        line = first + (row - first) // SPAN * SPAN
        place = (row - line) << 40 | document.length
        for term, times in document.times.items():
            entry = place | (min(_MOST_TIMES, times)) << 24
            key = term, line
            if key in lines:
                lines[key].append(entry)
            else:
                lines[key] = [entry]
    return lines


def entries_of(document: IndexedText) -> dict[str, int]:
    """Return term -> what an entry says of a memory besides where it is."""
    return {t: min(_MOST_TIMES, n) << 24 | document.length for t, n in document.times.items()}


def rows_in(first: int, entries: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield (row, what is said of it) of a line of postings."""
    for entry in entries:
        yield first + (entry >> 40), entry & _ENTRY_MASK


_ENTRY_MASK: Final = (1 << 40) - 1


LARGE: Final = 8_000_000  # characters of text that one statement carries

_FLOATS: Final = {
    *("importance", "confidence", "uniqueness", "access_mass", "boosted"),
    *("strength", "level", "stability", "difficulty", "decayed"),
}
_FLAGS: Final = {"pinned", "held", "firm"}
_TEXTS: Final = {"kind", "scope", "tier", "status", "session", "speaker", "op", "form", "sort"}


def _sql_type(column: str) -> str:
    if column in _FLOATS:
        return "double precision"
    if column in _FLAGS:
        return "boolean"
    return "text" if column in _TEXTS else "bigint"


TYPES: Final = tuple((c, _sql_type(c)) for c in MEMORY_COLUMNS)  # SQL types of the hot table's columns


def ask_for_duplicates(
    session: PostgresSession, changes: Sequence[Change], plan_id: str
) -> Cursor[tuple[Any, ...]] | None:
    """Ask for words that another process has stored since the plan was made; None where nothing needs asking."""
    rows = [(c.id, a) for c in changes if (a := require_row(c.after))["kind"] != Kind.EPISODE]
    if not rows:
        return None
    bindings: dict[str, Any] = {name: [a[name] for _, a in rows] for name in ("session", "speaker", "task", "text")}
    digests = [content_digest(a["text"]) for _, a in rows]
    return session.run(
        "duplicate",
        id=[i for i, _ in rows],
        digest=digests,
        digests=digests,
        kind=[plain_value(a["kind"]) for _, a in rows],
        op=plan_id,
        **bindings,
    )


def refuse_duplicates(found: Sequence[tuple[Any, ...]], known: frozenset[str]) -> None:
    """Refuse a plan whose words another process has stored since it was made."""
    if new := [i for i, stored in found if stored not in known]:
        raise stored_meanwhile("text", new)


def insert_memories(
    session: PostgresSession, changes: Sequence[Change], rows: Mapping[str, int], documents: Mapping[str, IndexedText]
) -> None:
    """Insert memories with their words, tags and keys; their rows follow each other, counted back from the last one."""
    afters = [require_row(c.after) for c in changes]
    numbers = [rows[c.id] for c in changes]
    columns: dict[str, list[Any]] = {c: [a[c] for a in afters] for c in MEMORY_COLUMNS}
    columns |= {"row": numbers, "id": [c.id for c in changes], "asks": ["?" in a["text"] for a in afters]}
    keyed = [(a["key"], c.id) for c, a in zip(changes, afters, strict=True) if a.get("key")]
    session.run_with("insert_memory", MEMORY_COLUMNS, (), TYPES, **columns)
    if keyed:
        session.run("insert_key", key=[k for k, _ in keyed], id=[i for _, i in keyed])
    _insert_content(session, changes, rows, documents)
    tags = [(tag, row) for row, a in zip(numbers, afters, strict=True) for tag in dict.fromkeys(a["tags"])]
    if tags:
        session.run("insert_tag", tag=[t for t, _ in tags], row=[r for _, r in tags])
    insert_postings(session, postings(numbers[0], [documents[c.id] for c in changes]))


def insert_postings(session: PostgresSession, lines: Mapping[tuple[str, int], list[int]]) -> None:
    """Insert lines of the index of words: (term, first row) -> entries."""
    if not lines:
        return
    ends = list(accumulate(map(len, lines.values())))
    session.run(
        "insert_posting",
        term=[term for term, _ in lines],
        first=[first for _, first in lines],
        start=[1, *(end + 1 for end in ends[:-1])],
        stop=ends,
        entries=list(chain.from_iterable(lines.values())),
    )


def _insert_content(
    session: PostgresSession, changes: Sequence[Change], rows: Mapping[str, int], documents: Mapping[str, IndexedText]
) -> None:
    for group in chunks(changes, lambda c: len(require_row(c.after)["text"]) + 200):
        afters = [require_row(c.after) for c in group]
        packed_texts = [(a["text"], None) if a.get("shown") is None else pack_text(a["text"]) for a in afters]
        session.run(
            "insert_content",
            row=[rows[c.id] for c in group],
            id=[c.id for c in group],
            text=[text for text, _ in packed_texts],
            shown=[a.get("shown") for a in afters],
            packed=[_base64(pack) for _, pack in packed_texts],
            tags=[json.dumps(list(a["tags"]), ensure_ascii=False) for a in afters],
            source=[a["source"] for a in afters],
            task=[a["task"] for a in afters],
            metadata=[json.dumps(a["metadata"], ensure_ascii=False, sort_keys=True) for a in afters],
            digest=[content_digest(a["text"]) for a in afters],
            length=[documents[c.id].length for c in group],
        )


def update_content(
    session: PostgresSession, changes: Sequence[Change], numbers: Sequence[int], columns: set[str]
) -> None:
    """Change what is shown of memories, and their labels; each memory once."""
    if "shown" in columns:
        texts = {row: unpack_text(text, pack) for row, text, pack in session.rows("content_texts", rows=list(numbers))}
        shown = [require_row(c.after)["shown"] for c in changes]
        pairs = [
            (texts[row], None) if form is None else pack_text(texts[row])
            for row, form in zip(numbers, shown, strict=True)
        ]
        packs = [_base64(pack) for _, pack in pairs]
        session.run("show_content", row=list(numbers), text=[text for text, _ in pairs], shown=shown, packed=packs)
    if columns - {"shown"}:
        _update_labels(session, changes, numbers)


def _update_labels(session: PostgresSession, changes: Sequence[Change], numbers: Sequence[int]) -> None:
    stored = {row: values for row, *values in session.rows("content_labels", rows=list(numbers))}
    labels = []
    for change, row in zip(changes, numbers, strict=True):
        tags, source, metadata = stored[row]
        labels.append({"tags": tags, "source": source, "metadata": metadata, **require_row(change.after)})
    session.run(
        "label_content",
        row=list(numbers),
        tags=[json.dumps(list(x["tags"]), ensure_ascii=False) for x in labels],
        source=[x["source"] for x in labels],
        metadata=[json.dumps(x["metadata"], ensure_ascii=False, sort_keys=True) for x in labels],
    )
    for change, row, label in zip(changes, numbers, labels, strict=True):
        if tags := list(dict.fromkeys(require_row(change.before).get("tags", ()))):
            session.run("delete_tags", tags=tags, rows=[row])
        if "tags" in require_row(change.after) and (tags := list(dict.fromkeys(label["tags"]))):
            session.run("insert_tag", tag=tags, row=[row] * len(tags))


def _base64(data: bytes | None) -> str | None:
    return None if data is None else b64encode(data).decode()


def chunks(items: Sequence[Any], size: Callable[[Any], int]) -> Iterator[list[Any]]:
    """Yield items in groups that one statement can carry."""
    group: list[Any] = []
    total = 0
    for item in items:
        if group and total + size(item) > LARGE:
            yield group
            group, total = [], 0
        group.append(item)
        total += size(item)
    if group:
        yield group

"""Searching a namespace for names that were erased: every text of every row, as whole words, also the short ones."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from perdure.operations.ports import Backups
from perdure.operations.store_protocol import Store
from perdure.operations.transfer import pages
from perdure.records.plan import ErasedNames
from perdure.records.transfer import Line

_PARTS: Final = ("memory", "recall", "document", "operation", "journal")
_MOST: Final = 20  # places that are listed
_WORD: Final = re.compile(r"[^\W_]+")
_UNSPACED: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\U0010ffff]")
"""A letter of a script that puts no spaces between words."""
_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "memory": ("text", "shown", "speaker", "tags", "source", "session", "task", "metadata", "keys"),
    "recall": ("query",),
    "document": ("id", "name", "data"),
    "operation": ("note", "actor"),
    "journal": ("id", "before", "after", "because"),
}
"""Part -> the columns that hold words."""
_TERMS: Final = frozenset(
    ("kind", "scope", "tier", "status", "form", "sort", "shelf", "trust", "learned", "type", "role", "outcome")
)
"""Keys of JSON data whose values are terms of ours: ``user`` as whose word it is, ``plan`` as a sort of fact."""
_POINTING: Final = frozenset(("subject", "entity", "merged_into", "candidates"))
"""Keys where the id of an entity stands."""
_NAMED_AS: Final = frozenset(("about", "mention", "profile"))
"""Shelves whose documents have the id of an entity as their name."""
_GAP: Final = r"(?:[^\w,;:!?()]{1,3}|_)"
"""What may stand between two words of a name: what is on both sides of a comma is no name."""


def searched_names(names: ErasedNames) -> frozenset[str]:
    """Return what is searched for, each once whatever its case: names, and ids of entities, which are made of names."""
    return frozenset(text for text in map(_plain, (*names.words, *names.ids)) if text)


def places_of_names(
    store: Store, namespace: str, names: ErasedNames, backups: Backups | None = None
) -> tuple[str, ...]:
    """Return where a name still stands in a namespace and in its backups, one sentence for each row.

    No sentence repeats the name. Of many rows some are listed, and the rest is counted.
    """
    if not (names.words or names.ids):
        return ()
    search = _Search.of(names)
    sentences = search.sentences((part, row) for part in _PARTS for row in _rows(store, namespace, part))
    found = _listed_sentences(f"{where} of namespace {namespace} holds an erased name." for where in sentences)
    for path, lines in () if backups is None else backups.read(namespace):
        sentences = search.sentences((line["part"], line) for line in lines if line.get("part") in _WORDS)
        found += _listed_sentences(f"{where} in the backup {path} holds an erased name." for where in sentences)
    return tuple(found)


def memories_with_names(store: Store, namespace: str, names: ErasedNames) -> Iterator[tuple[str, str]]:
    """Yield the memories of a namespace in which a name stands, each with the first column that has it."""
    if names.words or names.ids:
        search = _Search.of(names)
        for row in _rows(store, namespace, "memory"):
            if column := search.column("memory", row):
                yield str(row["id"]), column


def _rows(store: Store, namespace: str, part: str) -> Iterator[Line]:
    for page in pages(store.transfer, (namespace, part), None):
        yield from page


def _listed_sentences(sentences: Iterable[str]) -> list[str]:
    """Return the first of some sentences about rows, and how many more there are."""
    told = iter(sentences)
    found = [*islice(told, _MOST)]
    left = sum(1 for _ in told)
    return [*found, *([f"{left:,} more {'row holds' if left == 1 else 'rows hold'} an erased name."] if left else [])]


def holds_name(names: ErasedNames) -> Callable[[str, Line], bool]:
    """Return what tells whether a row of a part holds a name."""
    search = _Search.of(names)
    return lambda part, row: part in _WORDS and bool(search.column(part, row))


@dataclass(frozen=True, slots=True)
class _Search:
    """What is looked for. It shares no code with what replaces names, so that it finds what that has missed."""

    texts: Mapping[str, re.Pattern[str]]  # first word in small letters -> what finds the names that begin with it
    capitalised: frozenset[str]  # words that are names only with a capital
    ids: frozenset[str]  # ids of entities: only where an id stands, since another may be called the same

    @classmethod
    def of(cls, names: ErasedNames) -> _Search:
        """Sort names by how they are looked for."""
        plain = {_plain(name) for name in names.plain}
        words = {_plain(word) for word in names.words} - {""}
        found: dict[str, list[str]] = {}
        for name in sorted(words - plain):
            found.setdefault(name.partition(" ")[0], []).append(name)
        texts = {first: re.compile("|".join(map(_whole, some))) for first, some in found.items()}
        return cls(texts, frozenset(words & plain), frozenset(names.ids))

    def column(self, part: str, row: Line) -> str:
        """Return the first column of a row that holds a name; empty where none does."""
        return next((name for name in _WORDS[part] if self._holds(part, name, row)), "")

    def _holds(self, part: str, column: str, row: Line) -> bool:
        value = row[column]
        if part == "journal" and column in ("before", "after"):
            return value is not None and self._may_hold(value) and self._in_row(_parse_json(value))
        if part in ("document", "journal") and column == "id" and value in self.ids:
            return True
        if part == "document" and column == "name" and self._points(row):
            return True
        return self._in_data(value)

    def _in_row(self, row: Any) -> bool:
        """Whether a name stands in one side of a line of the journal."""
        return self._in_data(row) or (isinstance(row, dict) and "shelf" in row and self._points(row))

    def _points(self, row: Mapping[str, Any]) -> bool:
        """Whether a document has the id of an entity in its name."""
        entity, bar, _ = str(row["name"]).partition("|")
        return entity in self.ids and (bool(bar) or row["shelf"] in _NAMED_AS)

    def _in_data(self, value: Any, key: str = "") -> bool:
        """Whether a name stands in a value, or in JSON data outside of its keys."""
        if isinstance(value, str):
            return (key in _POINTING and value in self.ids) or (key not in _TERMS and self._in(value))
        if isinstance(value, Mapping):
            return any(self._in_data(item, name) for name, item in value.items())
        return isinstance(value, Sequence) and any(self._in_data(item, key) for item in value)

    def _may_hold(self, text: str) -> bool:
        """Whether it is worth a closer look: JSON writes every letter as it is."""
        folded = _fold_case(text)
        return any(name in folded for name in (*self.texts, *self.capitalised, *self.ids))

    def _in(self, text: str) -> bool:
        folded = _fold_case(text)
        if any(first in folded and pattern.search(folded) for first, pattern in self.texts.items()):
            return True
        written = unicodedata.normalize("NFKC", text) if self.capitalised else ""
        return any(
            found[0][0].isupper() and found[0].casefold() in self.capitalised and not _begins(written, found.start())
            for found in _WORD.finditer(written)
        )

    def sentences(self, rows: Iterable[tuple[str, Line]]) -> Iterator[str]:
        """Yield where rows hold a name, each with the part that it is of."""
        for part, row in rows:
            if column := self.column(part, row):
                yield self._place(part, row, column)

    def _place(self, part: str, row: Line, column: str) -> str:
        """Return where a name was found."""
        match part:
            case "memory":
                where = f"memory {row['id']}{'' if column in ('text', 'shown') else f' ({column})'}"
            case "document":
                own = "" if row["id"] in self.ids or self._in(row["id"]) else f" about {row['id']}"
                where = f"document {row['shelf']}{own}"
            case "journal":
                where = f"journal line {row['position']} of operation {row['operation']}"
            case "operation":
                where = f"{column} of operation {row['id']}"
            case _:
                where = f"{part} {row['id']}"
        return where


def _whole(name: str) -> str:
    """Return a pattern of a name as whole words; scripts that put no spaces between words show none."""
    found = _GAP.join(map(re.escape, name.split()))
    return found if _UNSPACED.search(name) else rf"(?<![^\W_]){found}(?![^\W_])"


def _begins(text: str, at: int) -> bool:
    """Whether a sentence begins at a place: the capital there says nothing."""
    return text[:at].rstrip()[-1:] in ("", ".", "!", "?")


def _parse_json(text: str) -> Any:
    with suppress(ValueError):
        return json.loads(text)
    return text


def _fold_case(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _plain(text: str) -> str:
    """Return the words of a text in small letters, with one space between them."""
    return " ".join(_WORD.findall(_fold_case(text)))

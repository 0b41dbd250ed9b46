"""Searching a namespace for names that were erased: every text of every row, as whole words, also the short ones."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

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
_POINTING: Final = frozenset(("id", "name", "subject", "entity", "merged_into", "candidates"))
"""Columns and keys where the id of an entity stands."""


def searched_names(names: ErasedNames) -> frozenset[str]:
    """Return what is searched for, each once whatever its case: names, and ids of entities, which are made of names."""
    return frozenset(text for text in map(_plain, (*names.words, *names.ids)) if text)


def places_of_names(store: Store, namespace: str, names: ErasedNames) -> tuple[str, ...]:
    """Return where a name still stands in a namespace, one sentence for each row, which does not repeat the name."""
    search = _Search.of(names)
    if not (names.words or names.ids):
        return ()
    found: list[str] = []
    left = 0
    for part in _PARTS:
        for page in pages(store.transfer, (namespace, part), None):
            for row in page:
                if column := search.column(part, row):
                    left += len(found) >= _MOST
                    found += [] if len(found) >= _MOST else [search.sentence(part, row, column, namespace)]
    rest = [f"{left:,} more {'row holds' if left == 1 else 'rows hold'} an erased name."] if left else []
    return (*found, *rest)


def holds_name(names: ErasedNames) -> Callable[[str, Line], bool]:
    """Return what tells whether a row of a part holds a name."""
    search = _Search.of(names)
    return lambda part, row: part in _WORDS and bool(search.column(part, row))


@dataclass(frozen=True, slots=True)
class _Search:
    """What is looked for. It shares no code with what replaces names, so that it finds what that has missed."""

    texts: frozenset[str]  # in small letters, words with one space between them
    capitalised: frozenset[str]  # words that are names only with a capital
    ids: frozenset[str]  # ids of entities that are words of the language as well: only where an id stands

    @classmethod
    def of(cls, names: ErasedNames) -> _Search:
        """Sort names by how they are looked for."""
        every = searched_names(names)
        plain = {_plain(name) for name in names.plain}
        words = {_plain(word) for word in names.words}
        ids = frozenset(identity for identity in names.ids if _plain(identity) in plain)
        return cls(every - plain, frozenset(plain & words), ids)

    def column(self, part: str, row: Line) -> str:
        """Return the first column of a row that holds a name; empty where none does."""
        return next((name for name in _WORDS[part] if self._holds(part, name, row)), "")

    def _holds(self, part: str, column: str, row: Line) -> bool:
        value = row[column]
        if part == "journal" and column in ("before", "after"):
            return value is not None and self._may_hold(value) and self._in_data(_parsed(value))
        if part in ("document", "journal") and column in ("id", "name") and str(value).partition("|")[0] in self.ids:
            return True
        return self._in_data(value)

    def _in_data(self, value: Any, key: str = "") -> bool:
        """Whether a name stands in a value, or in JSON data outside of its keys."""
        if isinstance(value, str):
            if key in _POINTING and value.partition("|")[0] in self.ids:
                return True
            return key not in _TERMS and self._in(value)
        if isinstance(value, Mapping):
            return any(self._in_data(item, name) for name, item in value.items())
        return isinstance(value, Sequence) and any(self._in_data(item, key) for item in value)

    def _may_hold(self, text: str) -> bool:
        """Whether it is worth a closer look: JSON writes every letter as it is."""
        folded = _folded(text)
        return any(name.partition(" ")[0] in folded for name in (*self.texts, *self.capitalised, *self.ids))

    def _in(self, text: str) -> bool:
        if not self._may_hold(text):
            return False
        words = f" {_plain(text)} "
        if any(f" {name} " in words or (_UNSPACED.search(name) and name in words) for name in self.texts):
            return True
        written = _WORD.findall(unicodedata.normalize("NFKC", text)) if self.capitalised else []
        return any(word[0].isupper() and word.casefold() in self.capitalised for word in written)

    def sentence(self, part: str, row: Line, column: str, namespace: str) -> str:
        """Return where a name was found."""
        match part:
            case "memory":
                where = f"memory {row['id']}{'' if column in ('text', 'shown') else f' ({column})'}"
            case "document":
                own = "" if self._in_data(row["id"], "id") else f" about {row['id']}"
                where = f"document {row['shelf']}{own}"
            case "journal":
                where = f"journal line {row['position']} of operation {row['operation']}"
            case "operation":
                where = f"{column} of operation {row['id']}"
            case _:
                where = f"{part} {row['id']}"
        return f"{where} of namespace {namespace} holds an erased name, or a word that is spelled like it."


def _parsed(text: str) -> Any:
    with suppress(ValueError):
        return json.loads(text)
    return text


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _plain(text: str) -> str:
    """Return the words of a text in small letters, with one space between them."""
    return " ".join(_WORD.findall(_folded(text)))

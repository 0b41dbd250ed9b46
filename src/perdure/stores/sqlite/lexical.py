"""Searching by words: FTS5 queries without the common words that make it slow, and how common each word is."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Final

import apsw

from perdure.records.memory import searchable
from perdure.stores.packing import unpack_text
from perdure.stores.rows import UNREADABLE
from perdure.stores.sqlite.connection import fetch_all, fetch_value
from perdure.stores.statements import Session
from perdure.stores.words import MOST_MATCHES, MOST_SPELLINGS, Stemmer, Term, near_spellings

_WORDS: Final = 10_000  # of questions, whose stems are kept
_PLACES: Final = 256  # namespaces whose tokens are kept


class Vocabulary:
    """Stems and document counts of one store, remembered until the store has grown by a tenth."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self.stemmer = Stemmer(connection)
        self._counts: dict[str, int] = {}
        self._beginnings: dict[str, list[str]] = {}
        self._stems: dict[str, str | None] = {}
        self._near: dict[str, list[str]] = {}
        self.size = 0
        """Rows of the file."""
        self.total = 0
        """The same when words were last counted."""

    def terms(self, words: Sequence[str]) -> list[Term]:
        """Return the words as the index has them, rarest first."""
        found: dict[str, Term] = {}
        for word in words:
            stem = self._stem(word)
            if stem is not None and stem not in found:
                found[stem] = Term(word, stem, self.count(stem))
        return sorted(found.values(), key=lambda t: t.documents)

    def _stem(self, word: str) -> str | None:
        if word not in self._stems:
            if len(self._stems) >= _WORDS:
                self._stems.clear()
            self._stems[word] = next(iter(self.stemmer.stems(word)), None)
        return self._stems[word]

    def near(self, stem: str) -> list[str]:
        """Return the stems that one may be misspelt from, nearest first."""
        if stem not in self._near:
            if len(self._near) >= _WORDS:
                self._near.clear()
            self._near[stem] = near_spellings(stem, self.stems_beginning(stem[:2]))
        return self._near[stem]

    def stems_beginning(self, letters: str) -> list[str]:
        """Return the stems that begin with some letters, in the order of their code points."""
        if letters not in self._beginnings:
            last = letters[:-1] + chr(ord(letters[-1]) + 1)
            key = {"first": letters, "last": last, "limit": MOST_SPELLINGS}
            self._beginnings[letters] = [stem for (stem,) in fetch_all(self.connection, "beginning", key)]
        return self._beginnings[letters]

    def refresh(self) -> None:
        """Look how many rows the file has; what was counted is forgotten once they are a tenth more or less."""
        self.size = total = int(fetch_value(self.connection, "total_rows"))
        if not self.total * 0.9 <= total <= self.total * 1.1 or total < MOST_MATCHES:
            self._counts.clear()
            self._beginnings.clear()
            self._near.clear()
            self.total = total

    def count(self, stem: str) -> int:
        """Return in how many memories of the file a stem is."""
        if stem not in self._counts:
            self._counts[stem] = int(fetch_value(self.connection, "document_frequency", {"term": stem}) or 0)
        return self._counts[stem]


@lru_cache(_PLACES)
def place_of(namespace: str) -> str:
    """Return the one token that stands for a namespace in the index of words."""
    return "n" + blake2b(namespace.encode(), digest_size=8).hexdigest()


def match_text(terms: Sequence[Term], namespace: str | None, entity: str | None = None) -> str:
    """Return the FTS5 query; every word is quoted, so that nothing of the caller's is syntax."""
    text = " OR ".join(f'"{t.word}"' for t in terms)
    query = f"{{text}} : ({text})"
    if entity:
        query += f" AND {{text}} : {quote_phrase(entity)}"
    if namespace is not None:
        query += f' AND {{place}} : "{place_of(namespace)}"'
    return query


def holding_text(entity: str, namespace: str) -> str:
    """Return the FTS5 query for the memories of a namespace whose words hold a name."""
    return f'{{text}} : {quote_phrase(entity)} AND {{place}} : "{place_of(namespace)}"'


def quote_phrase(text: str) -> str:
    """Return any text as one FTS5 phrase."""
    return '"' + text.replace('"', '""').replace("\x00", " ") + '"'


def best_by_words(session: Session, query: str, limit: int) -> dict[int, float]:
    """Return row -> BM25 score (higher is better) of the best matches."""
    return {row: -score for row, score in session.rows("best_by_words", query=query, limit=limit)}


def words_of(text: bytes | None, pack: bytes | None, speaker: bytes | None) -> str:
    """Return what the index holds of a memory, as far as its row can be read; another fault says where it cannot."""
    return searchable(_whole(text, pack), _readable(speaker))


def asks_bytes(text: bytes | None, pack: bytes | None, _speaker: bytes | None) -> bytes:
    """Return what ``memory.asks`` holds of a row, as bytes: whether somebody asks something in it."""
    return b"1" if "?" in _whole(text, pack) else b"0"


def _whole(text: bytes | None, pack: bytes | None) -> str:
    try:
        return unpack_text(_readable(text) or "", pack)
    except UNREADABLE:
        return ""


def _readable(text: bytes | None) -> str | None:
    return None if text is None else text.decode("utf-8", "replace")

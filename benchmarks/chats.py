"""Evidence recall on conversations, through the public API: what locomo.py and beam.py share.

Every conversation goes into a namespace of its own in one store. Recall@10 of a question is the share of its evidence
among the ten hits; the figure is the mean over all questions.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

import perdure
from perdure.models.local import LocalEmbedder
from perdure.records.memory import Message, searchable
from perdure.rules.language.words import query_words
from report import Row, say

if TYPE_CHECKING:
    from collections.abc import Sequence

HITS = 10


@dataclass(frozen=True)
class Question:
    """A question with the sources that answer it."""

    text: str
    evidence: frozenset[str]
    answer: str = ""
    kind: str = ""


@dataclass(frozen=True)
class Chat:
    """One conversation."""

    name: str
    messages: list[Message]
    questions: list[Question]


class Kept:
    """The local embedder, which embeds no text twice in a run."""

    def __init__(self, model: LocalEmbedder | None = None) -> None:
        self.model = model or LocalEmbedder()
        self.space = self.model.space
        self.known: dict[str, bytes] = {}

    def embed(self, texts: Sequence[str], *, purpose: Any) -> list[bytes]:
        """Return one vector for each text."""
        fresh = [text for text in dict.fromkeys(texts) if text not in self.known]
        self.known.update(zip(fresh, self.model.embed(fresh, purpose=purpose), strict=True))
        return [self.known[text] for text in texts]


def data_file(name: str) -> Path:
    """Return a data file, or end the script if there is none: the data is not part of the repository."""
    folder = os.environ.get("PERDURE_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data"
    path = Path(folder) / name
    if not path.exists():
        print("skipped: data not present")
        sys.exit(0)
    return path


def plain(chat: Chat) -> list[float]:
    """Return the recall of FTS5 alone, for each question."""
    texts = [searchable(m.content, m.speaker) for m in chat.messages]
    found = word_hits(texts, [question.text for question in chat.questions])
    return [
        _share(question, [chat.messages[i].source for i in hits])
        for question, hits in zip(chat.questions, found, strict=True)
    ]


def word_hits(texts: Sequence[str], questions: Sequence[str]) -> list[list[int]]:
    """Return for each question the places of the texts that FTS5 alone ranks first."""
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE w USING fts5 (text, tokenize = 'porter unicode61')")
    connection.executemany("INSERT INTO w (rowid, text) VALUES (?, ?)", enumerate(texts))
    sql = "SELECT rowid FROM w WHERE w MATCH ? ORDER BY bm25(w) LIMIT ?"
    matches = [" OR ".join(f'"{word}"' for word in query_words(text)) or '""' for text in questions]
    return [[place for (place,) in connection.execute(sql, (match, HITS))] for match in matches]


def through(memory: perdure.Memory, chats: Sequence[Chat]) -> tuple[dict[str, list[float]], int]:
    """Return name -> recall of each question through the engine, and how many questions it called unknown."""
    found: dict[str, list[float]] = defaultdict(list)
    unknown = 0
    for chat in chats:
        say(f"  {chat.name}: {len(chat.messages)} messages")
        memory.ingest(chat.messages, chat.name)
        for question in chat.questions:
            answer = memory.recall(question.text, chat.name, HITS, touch=False)
            unknown += answer.nothing_known
            found[chat.name].append(_share(question, [hit.memory.source for hit in answer.hits]))
    return found, unknown


def measured(
    title: str, chats: Sequence[Chat], embedder: Kept, *, hybrid: float | None = None, lexical: float | None = None
) -> list[Row]:
    """Print recall for each conversation, and return the means as rows."""
    with tempfile.TemporaryDirectory() as folder:
        say(f"{title}: hybrid")
        with perdure.open(Path(folder) / "hybrid.db", policy={}, embedder=embedder) as memory:
            both, unknown = through(memory, chats)
        say(f"{title}: lexical only")
        with perdure.open(Path(folder) / "lexical.db", policy={}, embedder="none") as memory:
            words, unknown_words = through(memory, chats)
    bare = {chat.name: plain(chat) for chat in chats}
    for chat in chats:
        figures = ", ".join(f"{statistics.mean(x[chat.name]):.3f}" for x in (both, words, bare))
        say(f"  {chat.name}: hybrid, lexical, FTS5 {figures} ({len(chat.questions)} questions)")
    count = sum(len(chat.questions) for chat in chats)
    floor = _mean(bare)
    note = f"{count} questions; the floor is plain FTS5; {{}} called unknown"
    return [
        Row(f"{title}, recall@10, hybrid", _mean(both), "", hybrid, floor, at_least=True, note=note.format(unknown)),
        Row(
            f"{title}, recall@10, words only",
            _mean(words),
            "",
            lexical,
            floor,
            at_least=True,
            note=note.format(unknown_words),
        ),
    ]


def _share(question: Question, hits: Sequence[str | None]) -> float:
    return len(question.evidence & set(hits)) / len(question.evidence)


def _mean(found: dict[str, list[float]]) -> float:
    return statistics.mean(value for values in found.values() for value in values)

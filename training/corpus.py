"""The conversations that were written for training and their questions, as data.

``conversations/train`` and ``conversations/test`` hold two files a conversation: ``NAME.jsonl`` (a head, then one turn
a line) and ``NAME.questions.jsonl`` (one question a line with the ids of the turns that answer it). Whole writing
briefs are in one of the two folders, so no voice or subject of the test set occurs in training.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent / "conversations"
KINDS = ("single", "several", "time", "current", "preference", "who", "count", "why", "none")
"""Kinds of questions; nothing answers those of the kind ``none``."""

PER_BRIEF = 6
"""Each of ten writers wrote so many conversations, numbered one after another."""
BRIEFS = 10
TEST_EVERY = 5
"""Of these briefs every fifth is kept for testing. Later conversations, with higher numbers, are trained on."""


@dataclass(frozen=True)
class Turn:
    """One message or note; ``at`` is when it was written, UTC."""

    id: int
    session: int
    at: datetime
    speaker: str
    text: str


@dataclass(frozen=True)
class Question:
    """A question, a short answer, and the ids of the turns that carry it."""

    kind: str
    text: str
    answer: str
    evidence: tuple[int, ...]


@dataclass(frozen=True)
class Conversation:
    """One long conversation; ``kind`` is people, assistant or notes, ``language`` an ISO 639-1 code."""

    name: str
    title: str
    kind: str
    language: str
    speakers: tuple[str, ...]
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]

    def searchable(self, turn: Turn) -> str:
        """Return a turn as the engine embeds it: a person's name goes before the words, a role does not."""
        return f"{turn.speaker}: {turn.text}" if self.kind == "people" else turn.text


def conversations(split: str) -> list[Conversation]:
    """Return the conversations of ``train`` or ``test``, by name."""
    files = sorted((FOLDER / split).glob("*.questions.jsonl"))
    return [read_conversation(file.with_name(file.name.replace(".questions", ""))) for file in files]


def split_of(name: str) -> str:
    """Return where a conversation belongs by its number: ``train`` or ``test``."""
    brief = (int(name.partition("-")[0]) - 1) // PER_BRIEF + 1
    return "test" if brief <= BRIEFS and brief % TEST_EVERY == 0 else "train"


def read_conversation(path: Path) -> Conversation:
    """Return one conversation with its questions."""
    head, *turns = (json.loads(line) for line in path.read_text("utf-8").splitlines())
    asked = path.with_suffix(".questions.jsonl").read_text("utf-8").splitlines()
    return Conversation(
        path.stem,
        head["title"],
        head["kind"],
        head["language"],
        tuple(name.strip() for name in head["speakers"].split(",")),
        tuple(Turn(t["id"], t["session"], datetime.fromisoformat(t["at"]), t["speaker"], t["text"]) for t in turns),
        tuple(_question(json.loads(line)) for line in asked),
    )


def _question(row: dict[str, Any]) -> Question:
    return Question(row["kind"], row["question"], row["answer"], tuple(row["evidence"]))


_STOP = frozenset(
    [
        "the",
        "a",
        "an",
        "and",
        "or",
        "but",
        "of",
        "to",
        "in",
        "on",
        "at",
        "for",
        "with",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "do",
        "does",
        "did",
        "i",
        "you",
        "he",
        "she",
        "it",
        "we",
        "they",
        "my",
        "your",
        "his",
        "her",
        "our",
        "their",
        "this",
        "that",
        "what",
        "which",
        "who",
        "whom",
        "whose",
        "when",
        "where",
        "how",
        "why",
        "me",
        "him",
        "them",
        "as",
        "by",
        "from",
        "so",
        "if",
        "not",
        "no",
        "have",
        "has",
        "had",
        "will",
        "would",
        "can",
        "could",
        "should",
        "about",
        "into",
        "than",
        "then",
        "there",
        "much",
        "many",
        "long",
        "often",
        "ever",
        "user",
        "assistant",
    ]
)


def content_words(text: str) -> frozenset[str]:
    """Return the words that carry content, without endings; pairs of characters where words are not spaced."""
    lowered = text.lower()
    spaced = re.sub(r"[\u3040-\u30ff\u4e00-\u9fff]", " ", lowered)
    found = {_stem(word) for word in re.findall(r"[^\W_]+", spaced) if word not in _STOP}
    for run in re.findall(r"[\u3040-\u30ff\u4e00-\u9fff]+", lowered):
        found |= {run[i : i + 2] for i in range(max(1, len(run) - 1))}
    return frozenset(found)


def _stem(word: str) -> str:
    for ending in ("ing", "edly", "ed", "es", "s", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def word_overlap(conversation: Conversation, question: Question) -> float:
    """Return the share of a question's content words that stand in its evidence, 0 to 1."""
    turns = [conversation.turns[i - 1] for i in question.evidence]
    asked = content_words(question.text)
    return len(asked & content_words(" ".join(f"{t.speaker} {t.text}" for t in turns))) / max(1, len(asked))

"""Check conversations and questions: structure, dates, length, likeness, word overlap, the split, no evaluation text.

Usage: python training/check.py [--evaluation FOLDER]

Prints what was counted, then each fault, and ends with 1 if there is one. ``--evaluation`` names the folder with the
public evaluation sets; no sentence of theirs may stand in a conversation.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import tarfile
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from corpus import KINDS, Conversation, conversations, split_of, word_overlap

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TURNS = range(150, 601)
BYTES = range(25_000, 90_001)
QUESTIONS = range(30, 61)
DAYS = 21
MOST_EVIDENCE = 8
LOW_OVERLAP = 0.3
FEWEST_LOW = 0.45
"""At least this share of the questions of a conversation must share less than ``LOW_OVERLAP`` of their words."""
LIKENESS = 0.02
"""Largest share of five-word runs that two conversations may have in common."""
SENTENCE_WORDS = 7
"""Shorter sentences ("How was your day?") occur anywhere and are no copies."""


def faults_of(chat: Conversation) -> Iterator[str]:
    """Yield what is wrong with one conversation."""
    size = sum(len(turn.text.encode()) for turn in chat.turns)
    if len(chat.turns) not in TURNS:
        yield f"{len(chat.turns)} turns"
    if size not in BYTES:
        yield f"{size:,} bytes of text"
    if len(chat.questions) not in QUESTIONS:
        yield f"{len(chat.questions)} questions"
    if (chat.turns[-1].at - chat.turns[0].at).days < DAYS:
        yield "spans less than three weeks"
    if [turn.id for turn in chat.turns] != list(range(1, len(chat.turns) + 1)):
        yield "turn ids are not 1, 2, 3 and so on"
    if any(later.at < earlier.at for earlier, later in zip(chat.turns, chat.turns[1:], strict=False)):
        yield "dates go back"
    for turn in chat.turns:
        if turn.speaker not in chat.speakers or not turn.text.strip():
            yield f"turn {turn.id}: speaker or text"
    yield from _faults_of_questions(chat)


def _faults_of_questions(chat: Conversation) -> Iterator[str]:
    for question in chat.questions:
        evidence = question.evidence
        if question.kind not in KINDS or (question.kind == "none") != (not evidence) or not question.answer:
            yield f"kind, answer or evidence: {question.text}"
        if len(set(evidence)) > MOST_EVIDENCE or not set(evidence) <= set(range(1, len(chat.turns) + 1)):
            yield f"evidence {evidence}: {question.text}"
    if len({q.text for q in chat.questions}) != len(chat.questions):
        yield "a question stands twice"
    answered = [q for q in chat.questions if q.evidence]
    low = sum(word_overlap(chat, q) < LOW_OVERLAP for q in answered)
    if low < FEWEST_LOW * len(answered):
        yield f"only {low} of {len(answered)} questions share less than {LOW_OVERLAP:.0%} of their words with the text"


def runs_of_words(chat: Conversation, length: int = 5) -> frozenset[tuple[str, ...]]:
    """Return all runs of so many words (or characters, where words are not spaced)."""
    text = " ".join(turn.text.lower() for turn in chat.turns)
    words = re.findall(r"[\u3040-\u30ff\u4e00-\u9fff]|[^\W_]+", text)
    return frozenset(zip(*(words[start:] for start in range(length)), strict=False))


def alike(chats: Sequence[Conversation]) -> Iterator[str]:
    """Yield pairs of conversations that have too many runs of words in common."""
    runs = {chat.name: runs_of_words(chat) for chat in chats}
    for one, other in combinations(runs, 2):
        shared = len(runs[one] & runs[other]) / max(1, min(len(runs[one]), len(runs[other])))
        if shared > LIKENESS:
            yield f"{one} and {other} share {shared:.1%} of their runs of five words"


def mixed(chats: dict[str, list[Conversation]]) -> Iterator[str]:
    """Yield what would train on a test conversation: one in the wrong folder, or a question that both folders ask."""
    for split, listed in chats.items():
        for chat in listed:
            if split_of(chat.name) != split:
                yield f"{chat.name} belongs to {split_of(chat.name)} and is in {split}"
    tested = {" ".join(q.text.lower().split()): chat.name for chat in chats["test"] for q in chat.questions}
    for chat in chats["train"]:
        for question in chat.questions:
            if other := tested.get(" ".join(question.text.lower().split())):
                yield f"{chat.name} asks what {other} asks: {question.text}"


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text, without case and punctuation, that are long enough to be recognised."""
    for sentence in re.split(r"[.!?。!?\n]+", text.lower()):
        words = re.findall(r"[\u3040-\u30ff\u4e00-\u9fff]|[^\W_]+", sentence)
        if len(words) >= SENTENCE_WORDS:
            yield " ".join(words)


def evaluation_sentences(folder: Path) -> frozenset[str]:
    """Return every sentence of the texts and questions of the evaluation sets in a folder."""
    found: set[str] = set()
    for file in sorted(folder.iterdir()):
        for text in _texts(file):
            found.update(sentences(text))
    return frozenset(found)


def copied(chats: Sequence[Conversation], known: frozenset[str]) -> Iterator[str]:
    """Yield the sentences of conversations and questions that stand in an evaluation set."""
    for chat in chats:
        texts = [turn.text for turn in chat.turns] + [q.text for q in chat.questions]
        own = {sentence for text in texts for sentence in sentences(text)}
        for sentence in sorted(own & known):
            yield f"{chat.name}: stands in an evaluation set: {sentence}"


def _texts(file: Path) -> Iterator[str]:
    if file.name.endswith(".tar.gz"):
        with tarfile.open(file) as archive:
            for member in archive:
                if member.name.endswith(".json") and (opened := archive.extractfile(member)):
                    yield from _strings(json.load(opened))
    elif file.suffix == ".json" or file.name.endswith(".json.gz"):
        content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        yield from _strings(json.loads(content))
    elif file.name.endswith(".txt.gz"):
        for line in gzip.decompress(file.read_bytes()).decode("utf-8").splitlines():
            yield from line.split("\t")


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner)


def report(chats: dict[str, list[Conversation]]) -> None:
    """Print what there is."""
    for split, listed in chats.items():
        asked = [(chat, q) for chat in listed for q in chat.questions]
        low = sum(word_overlap(chat, q) < LOW_OVERLAP for chat, q in asked if q.evidence)
        answered = sum(bool(q.evidence) for _, q in asked)
        size = sum(len(turn.text.encode()) for chat in listed for turn in chat.turns)
        print(f"{split}: {len(listed)} conversations, {sum(len(c.turns) for c in listed):,} turns, {size / 1e6:.2f} MB")
        print(f"  kinds {dict(Counter(c.kind for c in listed))}, languages {dict(Counter(c.language for c in listed))}")
        print(f"  {len(asked):,} questions: {dict(Counter(q.kind for _, q in asked))}")
        print(f"  {low} of the {answered} with an answer share less than {LOW_OVERLAP:.0%} of their content words")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--evaluation", type=Path, help="the folder with the evaluation sets")
    given = parser.parse_args()
    chats = {split: conversations(split) for split in ("train", "test")}
    report(chats)
    everything = [chat for listed in chats.values() for chat in listed]
    faults = [f"{chat.name}: {fault}" for chat in everything for fault in faults_of(chat)]
    faults += [*mixed(chats), *alike(everything)]
    if given.evaluation is not None:
        known = evaluation_sentences(given.evaluation)
        print(f"compared with {len(known):,} sentences of the evaluation sets")
        faults += copied(everything, known)
    print("\n".join(faults) or "no faults")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()

"""Print what a second reader judges of the questions, and the error rate of what has been judged.

Usage: python training/second_reading.py [--show FIRST LAST]

A tenth of every conversation's questions is drawn by a fixed seed. ``--show`` prints the drawn questions of the
conversations with these numbers: the listed turns in full, the turns beside them, and the turns that are nearest to the
question and to its answer. Without it the script prints the error rate of the verdicts in ``second_reading.jsonl``:

- ``right``: the listed turns answer the question, and no other turn of this person is needed or says it again.
- ``repeated``: right, but a further turn that is not listed says the answer again (``turns`` names it).
- ``missing``: a turn without which the answer is incomplete or out of date is not listed (``turns`` names it).
- ``wrong``: a listed turn does not answer the question, or the answer is not what the turns say.

For a question that nothing answers ``right`` means that nothing does, and ``wrong`` that something does.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from corpus import conversations

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from corpus import Conversation, Question

RECORD = Path(__file__).with_name("second_reading.jsonl")
VERDICTS = ("right", "repeated", "missing", "wrong")
ERRORS = ("missing", "wrong")
SHARE = 0.1
"""Share of each conversation's questions that is drawn, rounded up."""
SEED = 83
NEAREST = 8
"""So many turns near the question, and as many near its answer, are shown beside the listed ones."""
SHOWN_CHARACTERS = 320
"""Of a turn that is not listed so much is shown."""


def drawn_questions(chat: Conversation) -> list[int]:
    """Return which questions of a conversation a second reader judges, by number, ascending from 0."""
    count = math.ceil(SHARE * len(chat.questions))
    return sorted(random.Random(f"{SEED} {chat.name}").sample(range(len(chat.questions)), count))


def error_rate(rows: Sequence[dict[str, Any]]) -> tuple[float, float]:
    """Return the share of judged questions with a missing or wrong turn, and its standard error over conversations.

    Conversations are weighted by how many of their questions were judged.
    """
    judged, errors = Counter(row["conversation"] for row in rows), Counter()
    for row in rows:
        errors[row["conversation"]] += row["verdict"] in ERRORS
    rate = errors.total() / judged.total()
    residuals = [errors[name] - rate * count for name, count in judged.items()]
    spread = float(np.sqrt(np.sum(np.square(residuals)) * len(judged) / (len(judged) - 1)))
    return rate, spread / judged.total()


def shown(chat: Conversation, number: int, near: Sequence[int]) -> Iterator[str]:
    """Yield the lines that a reader needs to judge one question."""
    question = chat.questions[number]
    yield f"## {chat.name} question {number} ({question.kind}): {question.text}"
    yield f"   answer: {question.answer}   listed: {list(question.evidence)}"
    beside = {i + step for i in question.evidence for step in (-1, 1)} - set(question.evidence)
    for turn in chat.turns:
        if turn.id in question.evidence:
            yield f"   * {turn.id} {turn.at:%Y-%m-%d} {turn.speaker}: {turn.text}"
        elif turn.id in near or turn.id in beside:
            yield f"     {turn.id} {turn.at:%Y-%m-%d} {turn.speaker}: {turn.text[:SHOWN_CHARACTERS]}"


def nearest_turns(chat: Conversation, questions: Sequence[Question]) -> list[set[int]]:
    """Return for each question the turns nearest to it and to its answer, by the embedder that is shipped."""
    from perdure.models.local import LocalEmbedder  # noqa: PLC0415  loads the weights

    embedder = LocalEmbedder()

    def vectors(texts: Sequence[str]) -> np.ndarray:
        blocks = b"".join(embedder.embed(list(texts), purpose="document"))
        return np.frombuffer(blocks, "<f4").reshape(len(texts), -1)

    turns = vectors([chat.searchable(turn) for turn in chat.turns])
    near: list[set[int]] = [set() for _ in questions]
    for texts in ([q.text for q in questions], [q.answer or q.text for q in questions]):
        for ids, row in zip(near, vectors(texts) @ turns.T, strict=True):
            ids.update(chat.turns[i].id for i in np.argsort(-row, kind="stable")[:NEAREST].tolist())
    return near


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--show", nargs=2, type=int, metavar=("FIRST", "LAST"), help="numbers of conversations")
    given = parser.parse_args()
    if given.show is None:
        rows = [json.loads(line) for line in RECORD.read_text("utf-8").splitlines()]
        rate, error = error_rate(rows)
        print(f"{len(rows)} questions: {dict(Counter(row['verdict'] for row in rows))}")
        print(f"with a turn missing or wrong: {rate:.1%} ± {error:.1%} (standard error over conversations)")
        return
    for chat in sorted([*conversations("train"), *conversations("test")], key=lambda c: c.name):
        if given.show[0] <= int(chat.name[:2]) <= given.show[1]:
            numbers = drawn_questions(chat)
            for number, near in zip(numbers, nearest_turns(chat, [chat.questions[i] for i in numbers]), strict=True):
                print("\n".join(shown(chat, number, near)), end="\n\n")


if __name__ == "__main__":
    main()

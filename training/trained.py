"""What the training that made the shipped weights was, and whether another one of the same data repeats it.

``trained.json`` is written by ``export.py --record`` for the weights that are shipped. Every other ``make train`` of
the same conversations and recipe is compared with it: the same bytes, or recall@10 on our own test conversations within
0.3 points. Another kind of processor sums in another order, so bytes may differ there.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpus import FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator

RECORD = Path(__file__).with_name("trained.json")
MOST_APART = 0.3
"""Points of recall@10 by which a repetition may differ."""
MOST_HOURS = 3
"""Hours of processor time that a training may take on a processor without a GPU."""


def conversations_digest() -> str:
    """Return the SHA-256 of all files that are trained on, by name."""
    found = hashlib.sha256()
    for file in sorted((FOLDER / "train").glob("*.jsonl")):
        found.update(f"{file.name} {hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    return found.hexdigest()


def read_record() -> dict[str, Any]:
    """Return the record of the training that made the shipped weights."""
    record: dict[str, Any] = json.loads(RECORD.read_text("utf-8"))
    return record


def write_record(record: dict[str, Any]) -> None:
    """Replace the record."""
    RECORD.write_text(json.dumps(record, indent=2) + "\n", "utf-8")


def differences(shipped: dict[str, Any], made: dict[str, Any]) -> Iterator[str]:
    """Yield how a training does not repeat the shipped one; nothing where data or recipe are others.

    Both records have ``conversations``, ``recipe``, ``model_sha256`` and ``recall_at_10`` in percent.
    """
    if any(made[key] != shipped[key] for key in ("conversations", "recipe")):
        return
    apart = made["recall_at_10"] - shipped["recall_at_10"]
    if made["model_sha256"] != shipped["model_sha256"] and abs(apart) > MOST_APART:
        yield (
            f"recall@10 is {made['recall_at_10']:.2f}, {apart:+.2f} points from the shipped weights'"
            f" {shipped['recall_at_10']:.2f}; the same data and recipe must be within {MOST_APART}"
        )

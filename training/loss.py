"""What int8 weights lose against the float weights that they are made of, and what an export may lose.

Recall@10 of the cosine alone, mean over the questions of our English test conversations: they need no public set.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from corpus import conversations
from evaluate import by_vectors
from pools import Chat, Kept, own_chat

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evaluate import Found

MOST_LOST = 0.005
"""Recall may be lower by so much beyond its standard error, a share: half a point."""
LARGEST = 24_000_000
"""Bytes of the file of weights; a wheel is smaller than the files in it."""


def english_test_chats() -> list[Chat]:
    """Return our English test conversations."""
    return [own_chat(chat) for chat in conversations("test") if chat.language == "en"]


def found_by(embedder: Kept, chats: Sequence[Chat]) -> list[Found]:
    """Return the recall of every question by the cosine alone."""
    return list(by_vectors(chats, embedder))


def recall_of(found: Sequence[Found]) -> float:
    """Return the mean over questions, 0 to 1."""
    return float(np.mean([f.recall for f in found]))


def lost(plain: Sequence[Found], small: Sequence[Found]) -> tuple[float, float]:
    """Return the recall that a second model loses on the same questions, and its standard error over conversations."""
    by_chat: dict[str, list[float]] = defaultdict(list)
    for one, other in zip(plain, small, strict=True):
        by_chat[one.chat].append(one.recall - other.recall)
    means = [float(np.mean(differences)) for differences in by_chat.values()]
    error = float(np.std(means, ddof=1) / np.sqrt(len(means))) if len(means) > 1 else 0.0
    return recall_of(plain) - recall_of(small), error


def export_faults(loss: float, error: float, size: int) -> Iterator[str]:
    """Yield why an export may not be shipped, by its loss of recall with the standard error, and its size in bytes.

    Rounding moves answers over the tenth place in both directions: one more or less in a hundred questions is chance.
    """
    if loss - error > MOST_LOST:
        yield f"int8 weights lose {100 * loss:.1f} ± {100 * error:.1f} points of recall@10"
    if size > LARGEST:
        yield f"the weights are {size / 1e6:.1f} MB, more than {LARGEST / 1e6:.0f}"

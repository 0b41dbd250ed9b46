"""What int8 weights lose against the float weights that they are made of, and what an export may lose.

Recall@10 of the cosine alone, mean over the questions of our English test conversations: they need no public set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corpus import conversations
from evaluate import by_vectors
from pools import Chat, Kept, own_chat

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_LOST = 0.005
"""Recall may be lower by so much, a share: half a point."""
LARGEST = 24_000_000
"""Bytes of the file of weights; a wheel is smaller than the files in it."""


def english_test_chats() -> list[Chat]:
    """Return our English test conversations."""
    return [own_chat(chat) for chat in conversations("test") if chat.language == "en"]


def recall_of(embedder: Kept, chats: Sequence[Chat]) -> float:
    """Return the recall of a model, 0 to 1."""
    return float(np.mean([found.recall for found in by_vectors(chats, embedder)]))


def export_faults(plain: float, small: float, size: int) -> Iterator[str]:
    """Yield why an export may not be shipped: the recall of its float and its int8 weights, and its size in bytes."""
    if plain - small > MOST_LOST:
        yield f"int8 weights lose {100 * (plain - small):.1f} points of recall@10 ({plain:.1%} to {small:.1%})"
    if size > LARGEST:
        yield f"the weights are {size / 1e6:.1f} MB, more than {LARGEST / 1e6:.0f}"

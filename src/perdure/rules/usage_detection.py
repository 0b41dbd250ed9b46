"""Noticing use: which memories a reply quotes or says in other words, and whether it says anything of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from perdure.records.vector import Vector
from perdure.rules.echo_detection import is_echo, quoted_share
from perdure.rules.language.sentences import sentences

PARAPHRASED: Final = 0.8  # from this cosine on, a sentence says what a memory says
SENTENCES: Final = 64  # so many sentences of a reply are compared by meaning; answers come early
_SHORTEST: Final = 12  # characters of a sentence that can stand for a memory

REPLYING: Final = frozenset({"assistant", "ai", "bot"})
"""Roles whose words are replies; a user's words are no use of a memory."""


def quoted_ids(reply: str, texts: Mapping[str, str], least: float) -> frozenset[str]:
    """Return the ids of the memories of whose words a reply says at least this share (rules/echo_detection.py)."""
    return frozenset(i for i, text in texts.items() if quoted_share(reply, text) >= least)


def comparable_sentences(reply: str) -> list[str]:
    """Return the sentences of a reply that are compared by meaning: no questions, no code, the first 64."""
    parts = [reply[start:end] for start, end in sentences(reply)]
    return [s for s in parts if len(s) >= _SHORTEST and not s.endswith("?") and not s.startswith("```")][:SENTENCES]


def paraphrased_ids(vectors: Sequence[Vector], known: Mapping[str, Vector]) -> frozenset[str]:
    """Return the ids of the memories that one of a reply's sentences says in other words: a cosine of at least 0.8.

    All vectors have length 1 and are of one space.
    """
    if not vectors or not known:
        return frozenset()
    replies = np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), -1)
    memories = np.frombuffer(b"".join(known.values()), "<f4").reshape(len(known), -1)
    best = (memories @ replies.T).max(axis=1)
    return frozenset(i for i, cosine in zip(known, best.tolist(), strict=True) if cosine >= PARAPHRASED)


def only_repeats(reply: str, texts: Sequence[str]) -> bool:
    """Return whether a reply says nothing but what memories say, so that there is nothing to learn from it."""
    return bool(texts) and is_echo(reply, texts)

"""Whether a text says again what is known: alike in meaning and words, and nothing of its meaning would be lost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from perdure.records.vector import Vector
from perdure.rules.consolidation.duplicates import tokens
from perdure.rules.meaning_guard import conflict

_ROUNDING: Final = 1e-6  # thresholds are inclusive, and the cosine of two float32 vectors is not exact


@dataclass(frozen=True, slots=True)
class KnownText:
    """Something that a text may repeat."""

    text: str  # its words
    cosine: float | None = None  # of its vector with the text's, if it was computed already, -1 to 1
    vector: Vector | None = None  # else its vector; None where it has none


def restates(
    text: str, vector: Vector | None, known: Iterable[KnownText], threshold: float, content_weight: float
) -> bool:
    """Return whether a text repeats one of those known.

    It does if its combined likeness, (1 - w) * cosine + w * Jaccard of the words, reaches the threshold, and the
    meaning guard finds that the other says all that it says: "30 days" does not repeat "40 days". The threshold is
    inclusive; w is ``content_weight``, 0 to 1. Without a vector nothing is alike.
    """
    if vector is None:
        return False
    words = set(tokens(text))
    own = np.frombuffer(vector, "<f4")
    for one in known:
        cosine = one.cosine
        if cosine is None and one.vector is not None:
            cosine = float(own @ np.frombuffer(one.vector, "<f4"))
        if cosine is None or (1.0 - content_weight) * cosine + content_weight < threshold - _ROUNDING:
            continue  # not even with the same words
        other = set(tokens(one.text))
        overlap = len(words & other) / len(words | other)
        alike = (1.0 - content_weight) * cosine + content_weight * overlap >= threshold - _ROUNDING
        if alike and not conflict(one.text, text):
            return True
    return False

"""What two texts of one person have in common, as numbers: whether the later one changes or denies the earlier.

``formulas/changes.py`` makes chances of it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import NamedTuple

from perdure.formulas.changes import PairSignals
from perdure.rules.differences import Statements

_LEAST = 2
"""So many words in common at least; fewer are chance."""
_CHANGES = 2
"""More words of change in a text say no more."""


class ComparedHit(NamedTuple):
    """A hit as it is compared: its place by score, from 0, its cosine with the question, and what it says."""

    place: int
    cosine: float
    said: Statements


def pair_signals(
    older: ComparedHit,
    newer: ComparedHit,
    cosine: float,
    question: frozenset[str],
    weight: Callable[[Iterable[str]], float],
) -> PairSignals:
    """Return the signals of two hits.

    Args:
        older: What was said first.
        newer: What was said later.
        cosine: Of their vectors, -1 to 1; 0 where there are none.
        question: The beginnings of the question's words.
        weight: How much some words tell (``weigher``).
    """
    asked = max(1.0, weight(question))
    one, other = older.said, newer.said
    differ, agree = _figures(one, other, weight)
    return PairSignals(
        cosine,
        math.log1p(min(older.place, newer.place)),
        math.log1p(max(older.place, newer.place)),
        max(older.cosine, newer.cosine),
        max(0.0, older.cosine - newer.cosine),
        weight((question & one.words) - other.words) / asked,
        min(weight(question & one.words), weight(question & other.words)) / asked,
        min(other.changes, _CHANGES),
        math.log1p(min(one.length, other.length)),
        differ,
        agree,
        max(_denial(one, other, weight), _denial(other, one, weight)),
    )


def weigher(texts: Sequence[Statements]) -> Callable[[Iterable[str]], float]:
    """Return how much words tell: each 1, and less where more than two of the texts have it."""
    having = Counter(word for text in texts for word in text.words)
    weights = {word: 1.0 / math.sqrt(max(1, count - 1)) for word, count in having.items()}
    return lambda words: sum(weights.get(word, 1.0) for word in words)


def _figures(one: Statements, other: Statements, weight: Callable[[Iterable[str]], float]) -> tuple[float, float]:
    """Return how alike the words are around two figures of one unit that differ, and around two that are the same."""
    differ = agree = 0.0
    for a, b in product(one.figures, other.figures):
        common = a.context & b.context
        if not common or (a.value != b.value and (a.unit != b.unit or not a.unit)):
            continue
        size = math.sqrt(max(1.0, weight(a.context) * weight(b.context)))
        alike = weight(common) / size * min(1.0, len(common) / _LEAST)
        if a.value == b.value:
            agree = max(agree, alike)
        else:
            differ = max(differ, alike)
    return differ, agree


def _denial(denying: Statements, other: Statements, weight: Callable[[Iterable[str]], float]) -> float:
    """Return how much of what one text says was never the other says, 0 to 1."""
    if not denying.denied:
        return 0.0
    said = frozenset[str]().union(*other.affirmed)
    common = [(words & said, words) for words in denying.denied]
    return max((weight(both) / weight(words) for both, words in common if len(both) >= _LEAST), default=0.0)

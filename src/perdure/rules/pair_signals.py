"""What two texts of one person have in common, as numbers: whether the later one changes or denies the earlier.

``formulas/changes.py`` makes chances of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

from perdure.formulas.changes import PairSignals
from perdure.rules.differences import Statements, TextNumber

_LEAST = 2  # so many words in common at least; fewer are chance
_CHANGES = 2  # more words of change in a text say no more


class ComparedHit(NamedTuple):
    """A hit as it is compared."""

    place: int  # by score, from 0
    cosine: float  # with the question
    said: Statements
    answers: frozenset[str]  # the beginnings of the question's words that it has
    cover: float  # how much they tell


Weight = Callable[[Iterable[str]], float]  # how much some words tell (``weigher``)


def pair_signals(older: ComparedHit, newer: ComparedHit, cosine: float, total: float, weight: Weight) -> PairSignals:
    """Return the signals of two hits.

    ``cosine`` is -1 to 1, 0 where there are no vectors; ``total`` is how much all words of the question tell, 1 or
    more.
    """
    one, other = older.said, newer.said
    differ, agree = _figures(one, other, weight) if one.figures and other.figures else (0.0, 0.0)
    return PairSignals(
        cosine,
        math.log1p(min(older.place, newer.place)),
        math.log1p(max(older.place, newer.place)),
        max(older.cosine, newer.cosine),
        weight(older.answers - other.words) / total,
        min(older.cover, newer.cover) / total,
        min(other.changes, _CHANGES),
        math.log1p(min(one.length, other.length)),
        differ,
        agree,
        max(_denial(one, other, weight), _denial(other, one, weight)),
    )


def say_otherwise(one: Statements, other: Statements) -> bool:
    """Return whether two texts have figures that differ, or one denies what the other says: no other pair is marked."""
    if one.figures and other.figures and any(_differ(a, b) for a, b in product(one.figures, other.figures)):
        return True
    return any(a.denied and any(_in_common(a, b)) for a, b in ((one, other), (other, one)))


def weigher(texts: Sequence[Statements]) -> Weight:
    """Return how much words tell: each 1, and less where more than two of the texts have it."""
    weights: dict[str, float] = {}

    def weight(words: Iterable[str]) -> float:
        total = 0.0
        for word in words:
            if word not in weights:
                having = sum([word in text.words for text in texts])
                weights[word] = 1.0 / math.sqrt(max(1, having - 1))
            total += weights[word]
        return total

    return weight


def _figures(one: Statements, other: Statements, weight: Weight) -> tuple[float, float]:
    """Return how alike the words are around two figures of one unit that differ, and around two that are the same."""
    differ = agree = 0.0
    for a, b in product(one.figures, other.figures):
        is_same = a.value == b.value
        if not (_differ(a, b) or (is_same and not a.context.isdisjoint(b.context))):
            continue
        common = a.context & b.context
        size = math.sqrt(max(1.0, weight(a.context) * weight(b.context)))
        alike = weight(common) / size * min(1.0, len(common) / _LEAST)
        if is_same:
            agree = max(agree, alike)
        else:
            differ = max(differ, alike)
    return differ, agree


def _differ(one: TextNumber, other: TextNumber) -> bool:
    """Return whether two figures of one unit, with a word in common around them, are not the same."""
    is_of_one_unit = one.unit == other.unit and bool(one.unit)
    return is_of_one_unit and one.value != other.value and not one.context.isdisjoint(other.context)


def _denial(denying: Statements, other: Statements, weight: Weight) -> float:
    """Return how much of what one text says was never the other says, 0 to 1."""
    if not denying.denied:
        return 0.0
    common = zip(_in_common(denying, other), denying.denied, strict=True)
    return max((weight(both) / weight(words) for both, words in common if both), default=0.0)


def _in_common(denying: Statements, other: Statements) -> Iterator[frozenset[str]]:
    """Yield of each thing that one text says was never the words that the other says; none if they are too few."""
    affirmed = frozenset[str]().union(*other.affirmed)
    for words in denying.denied:
        both = words & affirmed
        yield both if len(both) >= _LEAST else frozenset()

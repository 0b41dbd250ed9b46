"""How well a fact answers a question, by the question's words, in whatever language they are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import log
from operator import mul
from typing import Final

import numpy as np

from perdure.knowledge.records.results import FactLine
from perdure.records.vector import Vector

_WORD: Final = re.compile(r"[^\W_]+")
_BEGIN: Final = 4
"""Two words that begin with the same letters, so many, are taken for forms of one: "wohne", "Wohnort"."""
_PART: Final = 5  # so are two that have so many letters in a row in common: "beliefert", "Liefertag"
_FORM: Final = 0.7  # what a form of a word counts for
_NEAR: Final = 3.0  # at this distance, in words, a word beside the value counts for half
_SPOKEN: Final = 0.9
"""What a word counts for that is how the predicate is spoken of, beside one that is the subject or the value."""


def relevance(
    facts: Sequence[FactLine], over: Sequence[FactLine], words: Mapping[str, frozenset[str]], speaker: str | None = None
) -> dict[str, float]:
    """Return fact -> how much of a question it holds, 0 to 1: in its predicate, its value, or beside that where said.

    A word counts for more the fewer of the facts hold it, so names and small words decide nothing. What one fact shows
    of how its predicate is spoken of counts for all that have it: for what took the place of one that is over, too.

    Args:
        facts: Those that may answer.
        over: Those that do not hold any longer.
        words: Of the question, in lower case -> words of predicates that it may mean: "live" is a home.
        speaker: Whoever speaks, where the question is in the first person: "my daughter" is who that is.
    """
    every = [*facts, *over]
    said: dict[str, list[float]] = {}
    for f in every:
        row = [_SPOKEN * _said(word, f, meant) for word, meant in words.items()]
        said[f.predicate] = list(map(max, said.get(f.predicate, row), row))
    held = {f.id: [max(_held(word, f), s) for word, s in zip(words, said[f.predicate], strict=True)] for f in every}
    related = {f.value.casefold(): said[f.predicate] for f in every if f.subject == speaker}
    for f in every:
        held[f.id] = list(map(max, held[f.id], related.get(f.name.casefold(), held[f.id])))
    holding = [sum(row[at] > 0 for row in held.values()) for at in range(len(words))]
    weights = [log((len(every) + 1) / (n + 0.5)) if n else 0.0 for n in holding]
    whole = sum(weights) or 1.0
    return {f.id: sum(map(mul, weights, held[f.id])) / whole for f in facts}


def cosines(query: Vector, vectors: Mapping[str, Vector]) -> dict[str, float]:
    """Return fact -> its vector's cosine with a question's."""
    matrix = np.frombuffer(b"".join(vectors.values()), "<f4").reshape(max(1, len(vectors)), -1)
    return dict(zip(vectors, (matrix @ np.frombuffer(query, "<f4")).tolist(), strict=True)) if vectors else {}


def _held(word: str, fact: FactLine) -> float:
    """Return how far a fact's subject or value holds a word, 0 to 1."""
    return max(0.0, *(_alike(word, other) for other in _words(f"{fact.name} {fact.value}")))


def _said(word: str, fact: FactLine, meant: frozenset[str]) -> float:
    """Return how far a fact's predicate says a word, 0 to 1: by its name, or beside the value where it was said."""
    predicate = _words(fact.predicate)
    best = 1.0 if not meant.isdisjoint(predicate) else max((_alike(word, other) for other in predicate), default=0.0)
    value, name = frozenset(_words(fact.value)), frozenset(_words(fact.name))
    for _, text in fact.sources:
        words = _words(text)
        places = [i for i, other in enumerate(words) if other in value]
        for i, other in enumerate(words) if places else ():
            if other not in name and other not in value and (alike := _alike(word, other)):
                best = max(best, alike * _NEAR / (_NEAR + min(abs(i - place) for place in places)))
    return best


def _alike(word: str, other: str) -> float:
    if word == other:
        return 1.0
    if min(len(word), len(other)) < _BEGIN:
        return 0.0
    parts = (word[at : at + _PART] for at in range(len(word) - _PART + 1))
    return _FORM if word[:_BEGIN] == other[:_BEGIN] or any(part in other for part in parts) else 0.0


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())

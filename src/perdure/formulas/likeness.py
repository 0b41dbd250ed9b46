"""How alike two texts are: the words they share, and words and meaning together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from perdure.formulas.curve import Array

CONTENT_WEIGHT: Final = 0.3

_AT_ONCE: Final = 8192  # pairs compared at once: with twenty words each, a few megabytes

_SLACK: Final = 1e-6  # what a float32 cosine may have lost


@dataclass(frozen=True, slots=True)
class TokenSets:
    """n sets of tokens as numbers: those of set k are ``ids[starts[k]:starts[k + 1]]``, each once."""

    ids: NDArray[np.int64]  # int64 [total], from 0
    starts: NDArray[np.int64]  # int64 [n + 1]

    @classmethod
    def of(cls, texts: Iterable[Iterable[str]]) -> TokenSets:
        """Number the tokens of some texts; a token that stands in a text several times counts once."""
        numbers: dict[str, int] = {}
        ids: list[int] = []
        starts = [0]
        for tokens in texts:
            ids += {numbers.setdefault(token, len(numbers)) for token in tokens}
            starts.append(len(ids))
        return cls(np.array(ids, np.int64), np.array(starts, np.int64))

    def __len__(self) -> int:
        return len(self.starts) - 1


def jaccard(sets: TokenSets, i: NDArray[np.integer], j: NDArray[np.integer]) -> Array:
    """Return the share of tokens that sets i and j have in common, 0 to 1, float64 [p]; 0 where both are empty."""
    out = np.empty(len(i), np.float64)
    for start in range(0, len(i), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        out[part] = _jaccard(sets, np.asarray(i[part], np.int64), np.asarray(j[part], np.int64))
    return out


def _jaccard(sets: TokenSets, i: NDArray[np.int64], j: NDArray[np.int64]) -> Array:
    kinds = int(sets.ids.max(initial=0)) + 1
    keys = np.sort(np.concatenate([_keys(sets, i, kinds), _keys(sets, j, kinds)]))
    # A set holds a token once, so a key that stands there twice is in both sets of its pair.
    twice = keys[1:][keys[1:] == keys[:-1]] // kinds
    shared = np.bincount(twice, minlength=len(i))
    sizes = np.diff(sets.starts)
    union = sizes[i] + sizes[j] - shared
    return np.asarray(shared / np.maximum(union, 1), dtype=np.float64)


def _keys(sets: TokenSets, rows: NDArray[np.int64], kinds: int) -> NDArray[np.int64]:
    """For each token of the sets at ``rows``: the place in ``rows``, times ``kinds``, plus the token."""
    sizes = sets.starts[rows + 1] - sets.starts[rows]
    ends = np.cumsum(sizes)
    inside = np.arange(int(sizes.sum())) - np.repeat(ends - sizes, sizes)
    tokens = sets.ids[np.repeat(sets.starts[rows], sizes) + inside]
    return np.asarray(np.repeat(np.arange(len(rows)), sizes) * kinds + tokens, dtype=np.int64)


def combine(cosine: ArrayLike, overlap: ArrayLike, content_weight: float = CONTENT_WEIGHT) -> Array:
    """Return (1 - w) * cosine + w * overlap, shape [p], for a w from 0 to 1."""
    meaning, words = np.asarray(cosine, dtype=np.float64), np.asarray(overlap, dtype=np.float64)
    return np.asarray((1.0 - content_weight) * meaning + content_weight * words, dtype=np.float64)


def cosine_needed(threshold: float, content_weight: float = CONTENT_WEIGHT) -> float:
    """Return the least cosine with which a pair may reach a combined threshold: its words would be the same.

    A millionth less, so that rounding loses no pair; at least -1, where every pair may reach it.
    """
    if content_weight >= 1.0:
        return -1.0
    return max(-1.0, (threshold - content_weight) / (1.0 - content_weight) - _SLACK)

"""Duplicates: how alike memories are, and which of them form groups."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import Any, Final

import numpy as np

from perdure.formulas.likeness import CONTENT_WEIGHT, TokenSets, jaccard
from perdure.formulas.likeness import combine as weighted
from perdure.formulas.pairs import Places, SimilarPairs, Vectors, cosines
from perdure.records.policy_lifecycle import ConsolidatePolicy

_WORD: Final = re.compile(r"[^\W_]+")  # letters and digits of any script, as the index of words splits them
_ROUNDING: Final = 1e-9  # thresholds are inclusive, and 0.7 times a cosine plus 0.3 times an overlap is not exact


@dataclass(frozen=True, slots=True)
class LikePair:
    """Two memories and how alike they are; ``a`` is before ``b`` in the order of ids."""

    a: str  # the id of one
    b: str  # the id of the other
    cosine: float  # of their vectors, -1 to 1
    overlap: float  # jaccard of their words, 0 to 1
    combined: float  # both, weighted (formulas/likeness.py)

    def __post_init__(self) -> None:
        if self.a >= self.b:
            raise ValueError(f"the ids of a pair stand in order and differ, not {self.a!r}, {self.b!r}")

    def reaches(self, threshold: float) -> bool:
        """Return whether the combined likeness is at least the threshold."""
        return self.combined >= threshold - _ROUNDING


class Label(StrEnum):
    """What a pair's likeness suggests."""

    MERGE = "merge"  # they say the same: one goes into the other
    REVIEW = "review"  # they may say the same: a person is asked
    LINK = "link"  # they are about one thing
    KEEP = "keep"  # nothing


@dataclass(frozen=True, slots=True)
class SplitGroup:
    """A group taken apart."""

    # subgroups of two or more in which every pair reaches the threshold, each in order, in order
    complete: tuple[tuple[str, ...], ...]
    left: tuple[str, ...]  # ids that belong to none of them, in order: they are reported, never merged


def pair_label(pair: LikePair, policy: ConsolidatePolicy) -> Label:
    """Return what the table says of a pair, with the policy's bounds; each is inclusive."""
    if pair.reaches(policy.merge_at) and pair.overlap >= policy.merge_overlap - _ROUNDING:
        return Label.MERGE
    if pair.reaches(policy.review_at):
        return Label.REVIEW
    return Label.LINK if pair.reaches(policy.link_at) else Label.KEEP


def weakest_label(pairs: Iterable[LikePair], policy: ConsolidatePolicy) -> Label | None:
    """Return what the table says of a group: what it says of its weakest pair; None where no pair is known."""
    order = list(Label)
    return max((pair_label(pair, policy) for pair in pairs), key=order.index, default=None)


def tokens(text: str) -> list[str]:
    """Return a text's words in lower case; where it has none (signs alone), the text itself."""
    return _WORD.findall(text.lower()) or [text.strip()]


def compare_found(
    ids: Sequence[str],
    texts: Sequence[str],
    found: SimilarPairs,
    *,
    least: float,
    content_weight: float = CONTENT_WEIGHT,
) -> list[LikePair]:
    """Return what is known of pairs that a search by vectors has found, in order of ids.

    ``ids`` and ``texts`` are of the rows that were searched, down to ``cosine_needed(least, content_weight)``. Pairs
    whose combined likeness is below ``least`` are left out.
    """
    return _like_pairs(ids, texts, found.i, found.j, found.cosine, least, content_weight)


def compare_pairs(
    pairs: Iterable[tuple[str, str]],
    ids: Sequence[str],
    texts: Sequence[str],
    vectors: Vectors,
    *,
    content_weight: float = CONTENT_WEIGHT,
) -> list[LikePair]:
    """Return the likeness of given pairs (see :func:`uncompared_pairs`), however low, in order of ids.

    ``ids``, ``texts`` and ``vectors`` (float32 or int8 [n, d]) are of the same rows, each id once.
    """
    place = {identity: number for number, identity in enumerate(ids)}
    indices = np.array([(place[a], place[b]) for a, b in pairs], np.int32).reshape(-1, 2)
    i, j = indices[:, 0], indices[:, 1]
    return _like_pairs(ids, texts, i, j, cosines(vectors, i, j), -2.0, content_weight)


def _like_pairs(
    ids: Sequence[str], texts: Sequence[str], i: Places, j: Places, cosine: Any, least: float, weight: float
) -> list[LikePair]:
    used, places = np.unique(np.concatenate([i, j]), return_inverse=True)
    sets = TokenSets.of(tokens(texts[n]) for n in used.tolist())
    overlap = jaccard(sets, places[: len(i)], places[len(i) :])
    likeness = weighted(cosine, overlap, weight)
    kept = np.flatnonzero(likeness >= least - _ROUNDING)
    columns = (i[kept], j[kept], np.asarray(cosine, np.float64)[kept], overlap[kept], likeness[kept])
    pairs = [
        LikePair(min(ids[x], ids[y]), max(ids[x], ids[y]), *parts)
        for x, y, *parts in zip(*(column.tolist() for column in columns), strict=True)
    ]
    return sorted(pairs, key=lambda pair: (pair.a, pair.b))


def connected_groups(pairs: Iterable[LikePair], threshold: float) -> list[tuple[str, ...]]:
    """Return the connected components over pairs that reach the threshold: two or more ids each, all in order.

    Members of a component may be unlike each other (components chain): ask :func:`split_complete` before merging.
    """
    near = [(pair.a, pair.b) for pair in pairs if pair.reaches(threshold)]
    return components((identity for pair in near for identity in pair), near)


def components(members: Iterable[str], pairs: Iterable[tuple[str, str]]) -> list[tuple[str, ...]]:
    """Return the connected groups of members, those of one too, all in order; pairs with others are passed over."""
    parent = {identity: identity for identity in members}

    def root(identity: str) -> str:
        while (above := parent[identity]) != identity:
            parent[identity] = parent[above]
            identity = above
        return identity

    for a, b in pairs:
        if a in parent and b in parent:
            one, other = sorted((root(a), root(b)))
            parent[other] = one
    found: dict[str, list[str]] = {}
    for identity in parent:
        found.setdefault(root(identity), []).append(identity)
    return sorted(tuple(sorted(some)) for some in found.values())


def pairs_by_group(found: Sequence[tuple[str, ...]], pairs: Iterable[LikePair]) -> list[list[LikePair]]:
    """Return each group's own pairs, in one pass; pairs between groups or outside are left out."""
    group_of = {identity: number for number, group in enumerate(found) for identity in group}
    inside: list[list[LikePair]] = [[] for _ in found]
    for pair in pairs:
        if (number := group_of.get(pair.a)) is not None and group_of.get(pair.b) == number:
            inside[number].append(pair)
    return inside


def uncompared_pairs(group: Sequence[str], pairs: Iterable[LikePair]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of a group whose likeness nobody has worked out yet, in order.

    A search through cells does not compare every pair, and of copies it compares only the first.
    """
    known = {(pair.a, pair.b) for pair in pairs}
    return (pair for pair in combinations(sorted(group), 2) if pair not in known)


def split_complete(group: Sequence[str], pairs: Iterable[LikePair], threshold: float) -> SplitGroup:
    """Take a group apart into subgroups in which every pair reaches the threshold.

    Greedy: the most similar pairs join first, and two subgroups join only if all pairs between them reach it; ties go
    by id, so the order of the input does not matter. A pair that is not given counts as unlike.
    """
    members = frozenset(group)
    near = [p for p in pairs if p.reaches(threshold) and p.a in members and p.b in members]
    linked: dict[str, set[str]] = {identity: set() for identity in members}
    for pair in near:
        linked[pair.a].add(pair.b)
        linked[pair.b].add(pair.a)
    cluster = {identity: {identity} for identity in members}
    for pair in sorted(near, key=lambda p: (-p.combined, p.a, p.b)):
        one, other = cluster[pair.a], cluster[pair.b]
        if one is not other and all(other <= linked[identity] for identity in one):
            one |= other
            cluster.update(dict.fromkeys(other, one))
    groups = sorted({tuple(sorted(some)) for some in cluster.values()})
    return SplitGroup(
        tuple(some for some in groups if len(some) > 1), tuple(some[0] for some in groups if len(some) == 1)
    )

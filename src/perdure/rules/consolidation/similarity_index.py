"""The memories of a namespace as rows: ids, texts and vectors, and the pairs among them that are alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from perdure.formulas.likeness import cosine_needed
from perdure.formulas.pairs import SimilarPairs, similar_pairs
from perdure.records.digests import same_words
from perdure.records.memory import Record, Status
from perdure.records.policy_lifecycle import ConsolidatePolicy
from perdure.records.vector import Vector
from perdure.rules.consolidation.duplicates import LikePair, compare_found, compare_pairs

LOOSE: Final = 500_000
"""Pairs below the threshold whose words are compared, the nearest first: they are only labelled, never merged."""


@dataclass(frozen=True, slots=True)
class SimilarMemories:
    """Pairs that are alike."""

    pairs: list[LikePair]  # in order of ids, down to the lower one of the threshold and the policy's ``link_at``
    exact: bool  # whether every pair was compared
    notes: tuple[str, ...]  # where the pairs are not all there


class SimilarityIndex:
    """Visible memories of one namespace, added page by page: 400 bytes each at 384 dimensions, and their words."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self._place: dict[str, int] = {}
        self.texts: list[str] = []
        self._pages: list[NDArray[np.int8]] = []
        self._has_vector: list[bool] = []

    def __len__(self) -> int:
        return len(self.ids)

    def add(self, records: Iterable[Record], vectors: Mapping[str, Vector]) -> None:
        """Add a page of memories; those that are not visible are passed over."""
        page = [r for r in records if r.state.status is Status.ACTIVE]
        if not page:
            return
        self._place.update((r.id, number) for number, r in enumerate(page, len(self.ids)))
        self.ids += [r.id for r in page]
        self.texts += [r.content.text for r in page]
        self._has_vector += [r.id in vectors for r in page]
        self._pages.append(_quantize([vectors.get(r.id) for r in page]))

    @property
    def without_vector(self) -> int:
        """How many have no vector."""
        return len(self._has_vector) - sum(self._has_vector)

    def alike(self, threshold: float, policy: ConsolidatePolicy) -> SimilarMemories:
        """Return all pairs that are alike; the threshold, of groups, must be above the policy's ``content_weight``."""
        least = min(threshold, policy.link_at)
        same = self._same_words()
        rows = self._matrix()
        if not rows.size:
            return SimilarMemories(same, exact=True, notes=())
        weight = policy.content_weight
        floor, strict = (max(0.01, cosine_needed(t, weight)) for t in (least, threshold))
        found, notes = _nearest(similar_pairs(rows, floor, exact_up_to=policy.exact_up_to), strict)
        pairs = compare_found(self.ids, self.texts, found, least=least, content_weight=weight)
        known = {(pair.a, pair.b) for pair in same}
        all_pairs = [*same, *(pair for pair in pairs if (pair.a, pair.b) not in known)]
        return SimilarMemories(sorted(all_pairs, key=lambda pair: (pair.a, pair.b)), found.exact, notes)

    def compare_pairs(self, wanted: Iterable[tuple[str, str]], policy: ConsolidatePolicy) -> list[LikePair]:
        """Return the likeness of given pairs, however low; of equal words it is 1, with or without vectors."""
        pairs = sorted({(min(pair), max(pair)) for pair in wanted})
        if not pairs:
            return []
        used = sorted({self._place[identity] for pair in pairs for identity in pair})
        rows = self._matrix()
        rows = rows[used] if rows.size else np.zeros((len(used), 1), np.int8)
        ids, texts = [self.ids[n] for n in used], [self.texts[n] for n in used]
        found = compare_pairs(pairs, ids, texts, rows, content_weight=policy.content_weight)
        words = {identity: same_words(text) for identity, text in zip(ids, texts, strict=True)}
        return [LikePair(p.a, p.b, 1.0, 1.0, 1.0) if words[p.a] == words[p.b] else p for p in found]

    def _matrix(self) -> NDArray[np.int8]:
        """All rows, int8 [n, d]; those without a vector are zero, and so like nothing."""
        width = max((page.shape[1] for page in self._pages), default=0)
        if len(self._pages) != 1 or self._pages[0].shape[1] != width:
            matrix = np.zeros((len(self.ids), width), np.int8)
            at = 0
            for page in self._pages:
                matrix[at : at + len(page), : page.shape[1]] = page
                at += len(page)
            self._pages = [matrix]
        return self._pages[0]

    def _same_words(self) -> list[LikePair]:
        """Pairs of memories with the same words of which one at least has no vector."""
        bare = {same_words(text) for text, has in zip(self.texts, self._has_vector, strict=True) if not has}
        first: dict[str, str] = {}
        pairs = []
        for identity, text in zip(self.ids, self.texts, strict=True) if bare else ():
            words = same_words(text)
            if words in bare and (earlier := first.setdefault(words, identity)) != identity:
                pairs.append(LikePair(min(earlier, identity), max(earlier, identity), 1.0, 1.0, 1.0))
        return pairs


def _quantize(vectors: Sequence[Vector | None]) -> NDArray[np.int8]:
    """Vectors as int8 with each row's own scale: no less than what a store keeps of them."""
    width = max((len(v) // 4 for v in vectors if v is not None), default=0)
    rows = np.zeros((len(vectors), width), np.float32)
    for number, vector in enumerate(vectors):
        if vector is not None:
            rows[number] = np.frombuffer(vector, "<f4")
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    largest[largest == 0.0] = 1.0
    return np.asarray(np.rint(rows / largest * np.float32(127.0)), np.int8)


def _nearest(found: SimilarPairs, strict: float) -> tuple[SimilarPairs, tuple[str, ...]]:
    """Drop the least similar of the pairs that are only to be labelled, where there are too many."""
    notes = []
    if found.threshold > strict:
        notes.append(
            f"there are too many similar pairs: only those with a cosine of at least {found.threshold:.3f} were looked "
            "at; merge these first and run it again"
        )
    loose = np.flatnonzero(found.cosine < strict)
    if len(loose) > LOOSE:
        order = loose[np.argsort(-found.cosine[loose], kind="stable")]
        kept = np.ones(len(found), np.bool_)
        kept[order[LOOSE:]] = False
        notes.append(
            f"{len(loose) - LOOSE:,} pairs below the threshold were not labelled; only the {LOOSE:,} most similar were"
        )
        found = replace(found, i=found.i[kept], j=found.j[kept], cosine=found.cosine[kept])
    return found, tuple(notes)

"""The closest of many rows, without sorting them all: most rows are far."""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

Distances: TypeAlias = npt.NDArray[np.uint16]
Mask: TypeAlias = npt.NDArray[np.bool_]
Positions: TypeAlias = npt.NDArray[np.int64]

_SAMPLE: Final = 512  # rows from which it is guessed how near the nearest are
_LEAST: Final = 8  # rows of the sample that are nearer than the guess
_PRUNED: Final = 8  # a shortlist holds so many times what is wanted before it is pruned
_FAR: Final = 1 << 16  # more than any distance


class Shortlist:
    """The closest k rows so far, when rows come in ascending position.

    Attributes:
        limit: Only a row with a distance below this can still be among the closest k. (An equal one loses the tie,
            because its position is higher than those of the rows already held.)
    """

    def __init__(self, k: int, most: int) -> None:
        self.limit = most + 1
        self._k = k
        self._prune_at = _PRUNED * k
        self._held = 0
        self._positions: list[Positions] = [np.empty(0, np.int64)]
        self._distances: list[Distances] = [np.empty(0, np.uint16)]

    def add(self, positions: Positions, distances: Distances) -> None:
        """Add rows, all with distances below ``limit``; prune when several times as many as needed are held."""
        self._positions.append(positions)
        self._distances.append(distances)
        self._held += len(positions)
        if self._held >= self._prune_at:
            self._prune()

    def positions(self) -> Positions:
        """The closest k positions, closest first."""
        return closest(np.concatenate(self._positions), np.concatenate(self._distances), self._k)

    def _prune(self) -> None:
        positions, distances = np.concatenate(self._positions), np.concatenate(self._distances)
        self.limit = int(np.partition(distances, self._k - 1)[self._k - 1])
        keep = np.flatnonzero(distances <= self.limit)
        self._positions, self._distances = [positions[keep]], [distances[keep]]
        self._held = len(keep)
        # Ties at the limit may leave more than k: waiting for k more keeps the pruning rare whatever the distances.
        self._prune_at = self._held + self._k


def likely_limit(distances: Distances, k: int, allowed: Mask | None) -> int:
    """A distance below which at least k rows are, and not many more: so most rows need not be compared any further.

    It is guessed from a few of the rows, and counted; where the guess is wrong, all rows are below what is returned.
    """
    step = len(distances) // _SAMPLE
    place = max(_LEAST, 4 * k // max(step, 1))
    if not k or step < 2 or place > _SAMPLE // 2:  # noqa: PLR2004  # nothing is gained
        return _FAR
    limit = int(np.partition(distances[::step], place)[place]) + 1
    below = distances < limit
    return limit if np.count_nonzero(below if allowed is None else below & allowed) >= k else _FAR


def closest(positions: Positions, distances: Distances, k: int) -> Positions:
    """Return the k positions of the smallest distances, closest first, ties by position."""
    if k == 0:
        return np.empty(0, np.int64)
    if k < len(positions):
        # Most rows are far: cut them before the sort.
        keep = np.flatnonzero(distances <= np.partition(distances, k - 1)[k - 1])
        positions, distances = positions[keep], distances[keep]
    return positions[np.lexsort((positions, distances))[:k]].astype(np.int64, copy=False)

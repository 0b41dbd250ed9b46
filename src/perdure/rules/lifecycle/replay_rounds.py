"""The moves of a replay as arrays, round by round: what needs no words for each move reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from perdure.records.instant import Instant, text_of
from perdure.records.memory import Status
from perdure.records.policy import Policy
from perdure.rules.lifecycle import tier_table
from perdure.rules.lifecycle.moves import NextMoves, explain_moves
from perdure.rules.lifecycle.state_arrays import Bools, Columns, Ints

_HIDING, _SHORTENING = 2, 3
GATES: Final = np.array(
    [
        _HIDING if isinstance(r.target, Status) else _SHORTENING if r.shortens is not None else 0
        for r in tier_table.RULES
    ]
    + [0]
)
"""By position in the tier table: which instant of an opening a move waits for; the last stands for no move."""


@dataclass(frozen=True, slots=True)
class ReplayRound:
    """Moves that some memories of a replay made in one round; arrays of shape [n]."""

    rows: Ints  # positions of the memories in the replay
    before: Columns  # their states just before
    after: Columns  # their states just after
    moves: NextMoves  # what they did, and when
    fell: Ints  # when that fell due; what came later had to wait for a gate

    @property
    def loses(self) -> Bools:
        """Whether each was hidden or shortened."""
        result: Bools = GATES[self.moves.rule] > 0
        return result

    @property
    def shortens(self) -> Bools:
        """Whether each was shortened."""
        result: Bools = GATES[self.moves.rule] == _SHORTENING
        return result

    def take(self, which: Ints) -> ReplayRound:
        """Return the round of some of its memories."""
        before, after = self.before.take(which), self.after.take(which)
        return ReplayRound(self.rows[which], before, after, self.moves.take(which), self.fell[which])

    def reasons(self, policy: Policy) -> list[str]:
        """Return the reasons of the moves in words and numbers."""
        because, late = explain_moves(self.before, self.moves, policy), self.moves.at > self.fell
        for i in np.flatnonzero(late).tolist():
            because[i] = f"{because[i]}; waited since {text_of(int(self.fell[i]))}"
        return because


@dataclass(frozen=True, slots=True)
class ForeseenStates:
    """What becomes of some memories, as arrays."""

    ids: Sequence[str]
    steps: Sequence[ReplayRound]  # in the order of each memory's moves
    loses: Bools  # whether each memory is hidden or shortened, shape [memories]
    shortens: Bools  # whether each is shortened, shape [memories]

    def shortened_ids(self) -> list[str]:
        """Return the ids of the memories that are shortened."""
        return [self.ids[i] for i in np.flatnonzero(self.shortens).tolist()]

    def lost_ids(self) -> dict[int, str]:
        """Return position -> id of the memories that are hidden or shortened."""
        return {i: self.ids[i] for i in np.flatnonzero(self.loses).tolist()}

    def hidden_at(self) -> dict[str, Instant]:
        """Return id -> when, of the memories that are hidden: nothing moves them after that."""
        hiding = [(step, np.flatnonzero(~step.after.active)) for step in self.steps]
        pairs = [zip(step.rows[which].tolist(), step.moves.at[which].tolist(), strict=True) for step, which in hiding]
        return {self.ids[row]: at for some in pairs for row, at in some}

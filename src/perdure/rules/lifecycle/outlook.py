"""What a forecast found: how many moves of each kind fall on each day, and the moves in words, all or the first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Final

import numpy as np

from perdure.records.instant import DAY_MS, Instant, text_of
from perdure.records.memory import Status
from perdure.records.policy import Policy
from perdure.records.report import HeldMoves, SweepReport, TierMove
from perdure.rules.lifecycle import tier_table
from perdure.rules.lifecycle.maintenance import list_moves
from perdure.rules.lifecycle.moves import instant_texts
from perdure.rules.lifecycle.replay_rounds import ForeseenStates, ReplayRound
from perdure.rules.lifecycle.state_arrays import TIERS, Bools, Ints
from perdure.rules.lifecycle.trajectory import Trajectory

FIRST_MOVES: Final = 20
"""So many moves are put into words where nobody asks for all."""

_MINUTE_MS: Final = 60_000
_ENDS: Final = (*(tier.value for tier in TIERS), *(status.value for status in Status))
"""Where a move leads, by tier or, past those, by status."""
_OrderedMove = tuple[tuple[int, int, int, int, int], TierMove]
"""A move after what it is sorted by: minute, page, instant, place of the memory in its page, nth move."""


@dataclass(slots=True)
class Outlook:
    """What was foreseen of some namespaces. Mutable: it is filled page by page."""

    now: Instant
    most: int | None = None  # so many of the first moves are put into words; None for all
    examined: int = 0  # memories
    overdue: int = 0  # moves whose instant has passed
    by_day: Counter[tuple[int, str]] = field(default_factory=Counter)  # (day, kind of move) -> how many
    by_rule: Counter[str] = field(default_factory=Counter)  # rule of the tier table -> how many
    moves: list[_OrderedMove] = field(default_factory=list)
    held: list[HeldMoves] = field(default_factory=list)  # what the gates still hold in the end

    def add_page(
        self, found: ForeseenStates, without: Bools, namespace: str, places: Sequence[tuple[int, int]], policy: Policy
    ) -> None:
        """Take in the moves of some memories that were foreseen as arrays.

        Args:
            found: What was foreseen.
            without: Which of its memories do not count, shape [memories]: at least those that are shortened.
            namespace: Theirs.
            places: Where each stands: how many memories came before its page, and its place in that.
            policy: By which they move.
        """
        stands = np.array(places, np.int64).reshape(-1, 2)
        for nth, whole in enumerate(found.steps):
            step = whole.take(np.flatnonzero(~without[whole.rows]))
            self._count(step)
            first = step.take(self._first(step, stands))
            self.moves += _in_words(
                first, nth, [found.ids[row] for row in first.rows.tolist()], namespace, stands, policy
            )
        self._trim()

    def add_trajectory(self, trajectory: Trajectory, namespace: str, page: int, row: int) -> None:
        """Take in the moves of one memory, which stands at a place of a page."""
        instants = sorted(step.at for step in trajectory.transitions)
        for nth, (at, move) in enumerate(zip(instants, list_moves([trajectory], namespace), strict=True)):
            self.by_day[at // DAY_MS, move.move] += 1
            self.overdue += at <= self.now
            self.moves.append(((at // _MINUTE_MS, page, at, row, nth), move))
        self.by_rule.update(step.rule for step in trajectory.transitions)

    def join(self, other: Outlook) -> None:
        """Take in what was foreseen of other namespaces."""
        self.examined += other.examined
        self.overdue += other.overdue
        self.by_day += other.by_day
        self.by_rule += other.by_rule
        self.moves += other.moves
        self.held += other.held
        self._trim()

    def report(self) -> SweepReport:
        """Return it as a report."""
        self._trim()
        days: dict[str, dict[str, int]] = {}
        for (day, move), many in sorted(self.by_day.items()):
            days.setdefault(text_of(day * DAY_MS)[:10], {})[move] = many
        return SweepReport(
            dry_run=True,
            examined=self.examined,
            moved=tuple(move for _, move in sorted(self.moves, key=itemgetter(0))),
            held=tuple(self.held),
            overdue=self.overdue,
            by_day=days,
            by_rule=dict(sorted(self.by_rule.items())),
            left_out=self.by_day.total() - len(self.moves),
        )

    def _count(self, step: ReplayRound) -> None:
        self.overdue += int((step.moves.at <= self.now).sum())
        kinds = step.before.tier * len(_ENDS) + _ends(step)
        counted = np.unique(np.stack([step.moves.at // DAY_MS, kinds]), axis=1, return_counts=True)
        for (day, kind), many in zip(counted[0].T.tolist(), counted[1].tolist(), strict=True):
            self.by_day[day, _kind(*divmod(kind, len(_ENDS)))] += many
        for code, many in zip(*(c.tolist() for c in np.unique(step.moves.rule, return_counts=True)), strict=True):
            self.by_rule[tier_table.RULES[code].name] += many

    def _first(self, step: ReplayRound, stands: Ints) -> Ints:
        """Return which of some moves may be among those that are put into words."""
        at, (pages, rows) = step.moves.at, stands[step.rows].T
        if self.most is None or len(at) <= self.most:
            return np.arange(len(at))
        return np.lexsort((rows, at, pages, at // _MINUTE_MS))[: self.most]

    def _trim(self) -> None:
        if self.most is not None and len(self.moves) > self.most:
            self.moves = sorted(self.moves, key=itemgetter(0))[: self.most]


def _ends(step: ReplayRound) -> Ints:
    """Return where moves lead: to a tier, or out of view."""
    return np.where(step.after.active, step.after.tier, len(TIERS) + step.after.status)


def _kind(before: int, end: int) -> str:
    return f"{TIERS[before].value} to {_ENDS[end]}"


def _in_words(
    step: ReplayRound, nth: int, ids: Sequence[str], namespace: str, stands: Ints, policy: Policy
) -> Iterator[_OrderedMove]:
    columns = (stands[step.rows], step.moves.at, step.before.tier, _ends(step))
    texts, reasons = instant_texts(step.moves.at), step.reasons(policy)
    lines = zip(ids, *(c.tolist() for c in columns), texts, reasons, strict=True)
    for identity, (page, row), at, old, end, text, because in lines:
        move = TierMove(identity, namespace, text, _kind(old, end), because)
        yield (at // _MINUTE_MS, page, at, row, nth), move

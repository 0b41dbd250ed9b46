"""The recall gate of a forecast: what would be hidden or shortened is looked at as if it were; nothing is written."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Final

from perdure.operations.lifecycle.compression import shorten
from perdure.operations.lifecycle.gates import find_stake
from perdure.operations.ports import Context
from perdure.records.instant import DAY_MS, Instant
from perdure.records.memory import Record, Status
from perdure.records.policy_recall import RecallPolicy
from perdure.records.recall import CandidateColumns, Filters, Pool, Query
from perdure.records.report import HeldMoves
from perdure.records.store_rows import LostAnswer
from perdure.rules.lifecycle.canaries import recall_refusal
from perdure.rules.lifecycle.ration import Ration, Rationing
from perdure.rules.lifecycle.trajectory import SHUT, Opening, Trajectory, Transition, forecast_moves, replay

TRIES: Final = 5
"""So often the rest is looked at again after what would be lost is held."""


def gate_openings(
    ctx: Context, place: str, sharing: Rationing, ration: Ration
) -> tuple[Mapping[str, Opening], list[HeldMoves]]:
    """Return from when both gates let memories be hidden or shortened, and what they still hold in the end."""
    shut, refused = _refused_openings(ctx, place, sharing, ration)
    held: dict[str, list[str]] = {}
    for identity in sharing.states:
        if identity in refused or identity in ration.waits:
            because = refused.get(identity) or ration.waits[identity].of_all
            held.setdefault(because, []).append(identity)
    return {**ration.openings, **shut}, [HeldMoves(place, tuple(ids), because) for because, ids in held.items()]


def _refused_openings(
    ctx: Context, place: str, sharing: Rationing, ration: Ration
) -> tuple[dict[str, Opening], dict[str, str]]:
    """Return the openings of what the recall gate would hold, and why it holds it, by memory id.

    It is asked once about all that would go by an instant, not for each day, and by what the questions find now. Where
    several memories give an answer, those are held that would go on the last day. Where an answer is lost only because
    its neighbours go, what is held already stays held; that something new would be is not foreseen.
    """
    shut, refused = dict[str, Opening](), dict[str, str]()
    if not sharing.states:
        return shut, refused
    view, held = _Foreseen(ctx, place), {i for i, state in sharing.states.items() if state.held}
    stake = find_stake(ctx, place, view, concerns=lambda ids: bool(held) or not ids.isdisjoint(sharing.states))
    if not stake.asked:
        return shut, refused
    answers = held.union(*(stake.ids_of(c, before) for c, _, before in stake.asked)) & sharing.states.keys()
    worded = {a.id for c, _, before in stake.asked if c.contains for a in before}
    found = _replay_openings(ctx, sharing, {i: ration.openings[i] for i in answers})
    rest = forecast_moves(sharing.states, sharing.accesses, sharing.until, ctx.policy, ration.openings).hidden_at()
    for _ in range(TRIES):
        view.lay(list(found.values()), rest.keys() - answers, worded, sharing.until)
        lost = stake.lost_in(ctx, view)
        going = {i: losses for i, t in found.items() if (losses := _losses(t))}
        culprits = _culprits(lost, going, held)
        if not culprits:
            break
        shut |= {i: _shut(ration.openings[i], going[i], again=i in refused) for i in culprits}
        refused |= dict.fromkeys(culprits, recall_refusal(lost))
        found |= _replay_openings(ctx, sharing, {i: shut[i] for i in culprits})
    return shut, refused


def _replay_openings(ctx: Context, sharing: Rationing, openings: Mapping[str, Opening]) -> dict[str, Trajectory]:
    states = {i: sharing.states[i] for i in openings}
    return {t.id: t for t in replay(states, sharing.accesses, sharing.until, ctx.policy, openings)}


def _losses(trajectory: Trajectory) -> list[Transition]:
    return [s for s in trajectory.transitions if s.hides or s.shrinks]


def _culprits(lost: Sequence[LostAnswer], going: Mapping[str, Sequence[Transition]], held: Collection[str]) -> set[str]:
    """Return which of the memories that lose something are to be held, so that no answer is lost."""
    found = set[str]()
    for one in lost:
        days = {i: going[i][-1].at // DAY_MS for i in one.ids if i in going}
        last = max(days.values(), default=None)
        found |= {i for i, day in days.items() if day == last} if days else going.keys() & held
    return found


def _shut(opening: Opening, losses: Sequence[Transition], *, again: bool) -> Opening:
    """Return the opening of what is held: what is shortened first may be, unless that is what loses the answer."""
    shrinks = SHUT.shrinks if again or losses[0].hides or not losses[-1].hides else opening.shrinks
    return replace(opening, hides=SHUT.hides, shrinks=shrinks)


@dataclass(slots=True)
class _Foreseen:
    """A namespace as some trajectories would leave it, as far as the questions of the gate look at it."""

    ctx: Context
    place: str
    hidden: AbstractSet[str] = frozenset()
    shown: dict[str, str | None] = field(default_factory=dict)  # what is shown of a memory that is shortened
    pools: dict[str, Pool] = field(default_factory=dict)  # what was found for a question

    def lay(
        self, trajectories: Sequence[Trajectory], gone: AbstractSet[str], worded: Collection[str], until: Instant
    ) -> None:
        """Look at what some trajectories and others that are gone leave by an instant.

        The texts of shorter forms are made of those whose words are asked for.
        """
        ended = {t.id for t in trajectories if t.after.status is not Status.ACTIVE}
        self.hidden = gone | ended
        by_rule = replace(self.ctx, model=None)  # looking ahead asks no language model
        shorter = [
            t for t in trajectories if t.id in worded and t.id not in ended and any(s.shrinks for s in _losses(t))
        ]
        made, texts, _ = shorten(by_rule, self.place, shorter, until)
        self.shown = {t.id: texts[t.id][t.after.form] for t in made if t.id in texts}

    def search(self, query: Query, filters: Filters, policy: RecallPolicy) -> Pool:
        """Return the candidates for a query without those that would be hidden."""
        if query.text not in self.pools:
            self.pools[query.text] = self.ctx.store.search(self.place, query, filters, policy)
        pool = self.pools[query.text]
        left = [c for c in pool.candidates if c.id not in self.hidden]
        return replace(pool, columns=CandidateColumns.of(left) if left else CandidateColumns())

    def get(self, ids: Sequence[str]) -> list[Record]:
        """Return records with the words that would be shown."""
        found = self.ctx.store.get(self.place, ids)
        return [
            replace(r, content=replace(r.content, shown=self.shown[r.id])) if r.id in self.shown else r for r in found
        ]

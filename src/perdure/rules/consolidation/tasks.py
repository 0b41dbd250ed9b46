"""The end of a task and of a session: what is related, what is redundant, what moves on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from statistics import median

from perdure.formulas.value import decay_mass
from perdure.records.instant import DAY_MS, Instant
from perdure.records.memory import Record, Scope, State, Status
from perdure.records.policy import Policy
from perdure.rules.consolidation.duplicates import LikePair
from perdure.rules.consolidation.merge_plan import restart_strength
from perdure.rules.consolidation.merging import MergeStrategy, Proposal, merge_obstacle, propose_merges
from perdure.rules.lifecycle.signals import current_signals
from perdure.rules.meaning_guard import conflict

_ROUNDING = 1e-9


def open_in_task(records: Iterable[Record], session: str | None = None) -> list[Record]:
    """Return the memories that are still in task scope and seen; of one session only, if one is named."""
    return [
        r
        for r in records
        if r.state.scope is Scope.TASK
        and r.state.status is Status.ACTIVE
        and (session is None or r.content.session == session)
    ]


def related_pairs(edges: Mapping[str, Sequence[str]], least: float) -> list[tuple[str, str]]:
    """Return the pairs of memories that share enough of their hyperedges, in order.

    Args:
        edges: Edge -> members.
        least: Least Jaccard of the two memories' sets of edges, 0 to 1; a shared edge there must be in any case.
    """
    of: dict[str, set[str]] = {}
    for edge, members in edges.items():
        for identity in members:
            of.setdefault(identity, set()).add(edge)
    pairs = {pair for members in edges.values() for pair in combinations(sorted(set(members)), 2)}
    return sorted((a, b) for a, b in pairs if len(of[a] & of[b]) / len(of[a] | of[b]) >= least - _ROUNDING)


def comparable_pairs(records: Sequence[Record], pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the related pairs whose likeness must be known: those of memories that may be merged at all."""
    by = {r.id: r for r in records}
    return [
        (a, b)
        for a, b in pairs
        if a in by and b in by and not (merge_obstacle(by[a], by[b]) and merge_obstacle(by[b], by[a]))
    ]


def propose_redundant(
    records: Sequence[Record], pairs: Sequence[LikePair], policy: Policy, now: Instant
) -> list[Proposal]:
    """Return what is merged: related memories that say the same, the most likely version kept.

    Args:
        records: Of the task, accesses counted in.
        pairs: The related ones, compared.
        policy: The policy in force.
        now: The instant: confidence is what it is by then.
    """
    alike = [pair for pair in pairs if pair.reaches(policy.tasks.redundancy)]
    joined = {i for pair in alike for i in (pair.a, pair.b)}
    chosen = [r for r in records if r.id in joined]
    if not chosen:
        return []
    sure = current_signals([r.state for r in chosen], policy, now).confidence.tolist()
    current = {r.id: replace(r, state=replace(r.state, confidence=c)) for r, c in zip(chosen, sure, strict=True)}
    return [
        propose_merges(
            [current[i] for i in group],
            [p for p in alike if p.a in group],
            policy.tasks.redundancy,
            MergeStrategy.KEEP_HIGHEST_CONFIDENCE,
            conflict,
        )
        for group in components(joined, ((p.a, p.b) for p in alike))
    ]


def components(members: Iterable[str], pairs: Iterable[tuple[str, str]]) -> list[tuple[str, ...]]:
    """Return the connected groups, those of one too, each in order, in order."""
    group = {identity: {identity} for identity in members}
    for a, b in pairs:
        if a in group and b in group and group[a] is not group[b]:
            whole = group[a] | group[b]
            group.update(dict.fromkeys(whole, whole))
    return sorted({tuple(sorted(some)) for some in group.values()})


def leave_task(state: State, session: str | None, policy: Policy, now: Instant) -> State:
    """Return the state of a memory whose task is over: in session scope, or in long term if it has no session."""
    if session is None:
        return promote_state(state, policy, now)
    return replace(restart_strength(state, policy, now), scope=Scope.SESSION)


def promote_state(state: State, policy: Policy, now: Instant) -> State:
    """Return the state of a memory that is promoted: its ages start anew, so that the next sweep does not take it back.

    Confidence fades in long term alone, with time since the last access: without a new anchor a promotion would cost
    what it is meant to keep.
    """
    days = max(0.0, (now - state.anchor_ms) / DAY_MS)
    return replace(
        restart_strength(state, policy, now),
        scope=Scope.LONG_TERM,
        anchor_ms=max(now, state.anchor_ms),
        access_mass=float(decay_mass(state.access_mass, days)),
    )


def promotable(
    records: Sequence[Record], earlier: Iterable[Record], threshold: float, policy: Policy, now: Instant
) -> tuple[list[Record], float]:
    """Return the memories of a session that go to long term, and its median of accesses.

    At least the median, not above it: else a session of one memory, or of equals, could keep nothing.

    Args:
        records: All memories in session scope, accesses counted in.
        earlier: What was promoted from the session before; it counts for the median, or every further call would
            promote the better half of what the last one left.
        threshold: Least confidence now, 0 to 1.
        policy: The policy in force.
        now: The instant.
    """
    if not records:
        return [], 0.0
    middle = float(median(r.state.access_count for r in (*records, *earlier)))
    sure = current_signals([r.state for r in records], policy, now).confidence.tolist()
    chosen = [
        r
        for r, confidence in zip(records, sure, strict=True)
        if confidence >= threshold - _ROUNDING and r.state.access_count >= middle
    ]
    return chosen, middle

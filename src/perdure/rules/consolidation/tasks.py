"""The end of a task and of a session: what is related, what is redundant, what moves on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from statistics import median

from perdure.records.instant import Instant
from perdure.records.memory import Record, Scope, State, Status
from perdure.records.policy import Policy
from perdure.rules.consolidation.duplicates import LikePair, connected_groups, pairs_by_group
from perdure.rules.consolidation.merge_plan import restart_strength
from perdure.rules.consolidation.merging import MergeStrategy, Proposal, merge_obstacle, propose_merges
from perdure.rules.lifecycle.signals import current_signals
from perdure.rules.lifecycle.unarchive import restart_ages
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
    """Return the pairs of memories that share an edge and enough of all their edges, in order.

    The Jaccard overlap of the two memories' sets of edges must be ``least``, 0 to 1.
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
    """Return what is merged: related memories that say the same, the version that is surest at this instant kept.

    The accesses of the task's memories must be counted in, and related pairs compared.
    """
    alike = [pair for pair in pairs if pair.reaches(policy.tasks.redundancy)]
    groups = connected_groups(pairs, policy.tasks.redundancy)
    sure = current_signals([r.state for r in records], policy, now).confidence.tolist()
    current = {r.id: replace(r, state=replace(r.state, confidence=c)) for r, c in zip(records, sure, strict=True)}
    keep, least = MergeStrategy.KEEP_HIGHEST_CONFIDENCE, policy.tasks.redundancy
    return [
        propose_merges([current[i] for i in group], own, least, keep, conflict, policy.consolidate)
        for group, own in zip(groups, pairs_by_group(groups, alike), strict=True)
    ]


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
    return replace(restart_ages(restart_strength(state, policy, now), now), scope=Scope.LONG_TERM)


def promotable(
    records: Sequence[Record], earlier: Iterable[Record], threshold: float, policy: Policy, now: Instant
) -> tuple[list[Record], float]:
    """Return the memories in session scope that go to long term, and the session's median of accesses.

    They need that confidence now, and at least the median of accesses, not more: else a session of one memory, or of
    equals, could keep nothing. What was promoted earlier counts for the median, or every further call would promote
    the better half of what the last one left.
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

"""The end of a task and of a session: what is related or redundant, what moves on, what a session is remembered by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import median
from typing import Final

import numpy as np

from perdure.formulas.strength import StrengthCurve, reinforce_strength
from perdure.records.instant import Instant
from perdure.records.memory import Draft, Kind, Record, Scope, Sort, State, Status
from perdure.records.policy import Policy
from perdure.rules.consolidation.duplicates import LikePair, components, connected_groups, pairs_by_group
from perdure.rules.consolidation.merge_plan import restart_strength
from perdure.rules.consolidation.merging import MergeStrategy, Proposal, merge_obstacle, propose_merges
from perdure.rules.language.tokens import count_tokens
from perdure.rules.lifecycle.signals import current_signals
from perdure.rules.lifecycle.state_arrays import Bools, Columns, days_between, strength_curve
from perdure.rules.lifecycle.summary_text import summarize_each
from perdure.rules.lifecycle.unarchive import restart_ages
from perdure.rules.meaning_guard import conflict, lost_meaning
from perdure.rules.source_trust import least_trust, stored_trust, takes_over, with_trust

SOURCE = "crystallized"
CONNECTING = frozenset({"near_duplicate", "similar", "summarizes"})
"""Kinds of links that connect two memories of a subgraph."""


@dataclass(frozen=True, slots=True)
class SummaryDraft:
    """A summary to be: what is stored, and what it stands for, oldest first."""

    draft: Draft
    members: tuple[str, ...]


def sketch_summaries(
    promoted: Sequence[Record],
    connected: Iterable[tuple[str, str]],
    confidence: Mapping[str, float],
    *,
    session: str,
    policy: Policy,
    now: Instant,
) -> list[SummaryDraft]:
    """Return the summaries of promoted memories that share a hyperedge or a link, in order of their members.

    There are no summaries of summaries, and none of fewer than ``tasks.crystal_members`` memories.
    """
    by = {r.id: r for r in promoted if r.state.kind is not Kind.SUMMARY}
    found = []
    for group in components(by, connected):
        members = sorted((by[identity] for identity in group), key=lambda r: (r.state.created_ms, r.id))
        if len(group) >= policy.tasks.crystal_members and (text := summarize_members(members)):
            found.append(SummaryDraft(_draft(members, text, confidence, session, now), tuple(r.id for r in members)))
    return found


def use_model_text(sketch: SummaryDraft, members: Sequence[Record], text: str) -> SummaryDraft:
    """Return a sketch in the words of a language model, or as it is where those are too long or say something new.

    What is new is a number, date, name or identifier that no member has, or a denial or a modal that none makes.
    """
    joined = join_texts(members)
    if not text.strip() or count_tokens(text) > most_tokens(joined) or lost_meaning(text, joined):
        return sketch
    metadata = {**sketch.draft.metadata, "written_by": "model"}
    return replace(sketch, draft=replace(sketch.draft, text=text.strip(), metadata=metadata))


def join_texts(members: Sequence[Record]) -> str:
    """Return the texts of some memories, each once."""
    return "\n".join(dict.fromkeys(r.content.text.strip() for r in members))


def most_tokens(text: str) -> int:
    """Return how many tokens a summary may have: half of what it stands for."""
    return count_tokens(text) // 2


def summarize_members(members: Sequence[Record]) -> str:
    """Return what sentences of each memory say, at most half as long as all of them; their key words if none fits."""
    texts = list(dict.fromkeys(r.content.text.strip() for r in members))
    return summarize_each(texts, most_tokens("\n".join(texts)))


def _draft(members: Sequence[Record], text: str, confidence: Mapping[str, float], session: str, now: Instant) -> Draft:
    return Draft(
        text=text,
        kind=Kind.SUMMARY,
        scope=Scope.LONG_TERM,
        importance=max(r.state.importance for r in members),
        confidence=sum(confidence[r.id] for r in members) / len(members),
        at=now,
        tags=tuple(sorted({tag for r in members for tag in r.content.tags})),
        source=SOURCE,
        metadata=with_trust(
            {"sources": [r.id for r in members], "session": session},
            least_trust(stored_trust(r.content.metadata) for r in members),
        ),
    )


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
    sets: dict[str, set[str]] = {}
    for edge, members in edges.items():
        for identity in members:
            sets.setdefault(identity, set()).add(edge)
    pairs = {pair for members in edges.values() for pair in combinations(sorted(set(members)), 2)}
    return sorted((a, b) for a, b in pairs if len(sets[a] & sets[b]) / len(sets[a] | sets[b]) >= least - _ROUNDING)


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
    """Return the state of a memory that is promoted: its ages restart, so that the next sweep does not take it back.

    Confidence fades in long term alone, with time since the last access: without a new anchor a promotion would cost
    what it is meant to keep.
    """
    return replace(restart_ages(restart_strength(state, policy, now), now), scope=Scope.LONG_TERM)


def promotable(
    records: Sequence[Record], earlier: Iterable[Record], threshold: float, policy: Policy, now: Instant
) -> tuple[dict[str, str], float]:
    """Return why each memory in session scope goes to long term that does, by id, and the session's median of uses.

    They need that confidence and the policy's strength now, and must be used more than the median, or as often as the
    most used one where that is the median: else a session of one memory, or of equals, could keep nothing. Where
    nothing was used, what is not yet forgotten goes, small talk left out. What a person pinned or asked to have
    remembered, and facts, need no use. What tells its reader to ignore instructions goes only if it is pinned. What was
    promoted earlier counts for the median, or every further call would promote the better half of what the last one
    left.
    """
    if not records:
        return {}, 0.0
    columns = Columns.of([r.state for r in records])
    curve = strength_curve(columns, policy)
    strength = curve.value(days_between(columns.strength_ms, now))
    lifted = _grew_stronger(columns, curve, now).tolist()
    uses = [max(_uses(r.state), int(more)) for r, more in zip(records, lifted, strict=True)]
    all_uses = [*uses, *(_uses(r.state) for r in earlier)]
    middle, most = float(median(all_uses)), max(all_uses)
    sure = current_signals([r.state for r in records], policy, now).confidence
    fit = (sure >= threshold - _ROUNDING) & (strength >= policy.tasks.promotion_strength - _ROUNDING)
    awake = (strength > curve.threshold()) & (columns.level > 0.0)  # decay by hand takes a level away, time never all
    found = {
        r.id: _why_promoted(r.state, n, middle, most, awake=lives)
        for r, fits, n, lives in zip(records, fit.tolist(), uses, awake.tolist(), strict=True)
        if fits and (r.state.pinned or not takes_over(r.content.text))
    }
    return {identity: why for identity, why in found.items() if why}, middle


_SAYS_LITTLE: Final = (Sort.SMALL_TALK, Sort.QUESTION, Sort.REPLY)
"""Of a session of which nothing was used, what people said is promoted, not what they asked or were answered."""


def _uses(state: State) -> int:
    """Return how often a memory was recalled or reinforced; a fact is born with one reinforcement."""
    return state.access_count + max(0, int(state.reinforcements) - int(state.kind is Kind.FACT))


def _grew_stronger(columns: Columns, curve: StrengthCurve, now: Instant) -> Bools:
    """Return which memories have more energy than is left of what they were born with."""
    nothing = np.zeros(len(columns))
    _, born = reinforce_strength(curve.baseline(), nothing, columns.importance, 1.0, curve.parameters)
    remaining = replace(curve, level=born).level_at(days_between(columns.created_ms, now))
    return curve.level_at(days_between(columns.strength_ms, now)) > remaining * (1.0 + _ROUNDING)


def _why_promoted(state: State, uses: int, middle: float, most: int, *, awake: bool) -> str:
    """Return why the use of a memory, or what it is, lets it go to long term; empty if it does not."""
    reasons = {
        "it is pinned": state.pinned,
        "a person asked to have it remembered": state.sort is Sort.REQUEST,
        "it decides something": state.sort is Sort.DECISION,
        "it is a fact": state.kind is Kind.FACT,
        "nothing of the session was used": most == 0 and awake and state.sort not in _SAYS_LITTLE,
        f"{_times(uses)}, more than the session's median of {middle:g}": uses > middle,
        f"{_times(uses)}, as often as anything of the session": uses == middle == most > 0,
    }
    return next((why for why, holds in reasons.items() if holds), "")


def _times(uses: int) -> str:
    return "used once" if uses == 1 else f"used {uses} times"

"""Carrying a merge out: the state of the memory that stays, the new memory of merged contents, what goes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any, Final

import numpy as np

from perdure.formulas.importance import boost
from perdure.formulas.value import decay_mass
from perdure.records.errors import InvalidInput
from perdure.records.instant import DAY_MS, Instant
from perdure.records.memory import STANDS_FOR, Draft, Record, State, Status, Tier
from perdure.records.plan import Change, Target
from perdure.records.policy import Policy
from perdure.rules.consolidation.edges import EdgeUse
from perdure.rules.consolidation.merging import Merge
from perdure.rules.decisions import Decisions
from perdure.rules.last_said import said_at
from perdure.rules.lifecycle.state_arrays import Columns, days_between, strength_curve

_NEARNESS: Final = (Tier.VAULT, Tier.HOT, Tier.WARM, Tier.COLD)
_COMBINERS: Final[Mapping[str, Callable[[list[Any]], Any]]] = {
    "confidence": max,
    "uniqueness": max,
    "reinforcements": max,
    "access_count": sum,
    "anchor_ms": max,
    "created_ms": min,
}
"""Field of a state -> what it is of several together; an importance is the highest after each was boosted."""


def merge_states(main: State, others: Sequence[State], policy: Policy, now: Instant) -> State:
    """Return the state of a memory that stands for others as well: no signal of any of them is lost.

    The accesses of all must be counted in. Bases are the highest, anchors the latest, counts are summed; the tier is
    the nearest, and strength and stability are those of the strongest and of the steadiest memory.
    """
    states = [main, *others]
    values = {name: combine([getattr(s, name) for s in states]) for name, combine in _COMBINERS.items()}
    closest = min(states, key=lambda s: _NEARNESS.index(s.tier)), ("tier", "tier_ms", "tier_accesses")
    strongest = _strongest_state(states, policy, now), ("strength", "level", "strength_ms")
    steadiest = max(states, key=lambda s: s.stability), ("stability", "difficulty")
    values |= {name: getattr(s, name) for s, names in (closest, strongest, steadiest) for name in names}
    reads = [at for s in states for at in (s.accessed_ms, s.access2_ms, s.access3_ms) if at is not None]
    recent = [*sorted(reads, reverse=True), None, None, None]
    importance, boosted = _boost_sources(states, policy, now)
    return replace(
        main,
        **values,
        importance=importance,
        boosted=boosted,
        boost_day=now // DAY_MS,
        validated_ms=_last_validation(states, values["created_ms"]),
        access_mass=sum(float(decay_mass(s.access_mass, (values["anchor_ms"] - s.anchor_ms) / DAY_MS)) for s in states),
        accessed_ms=recent[0],
        access2_ms=recent[1],
        access3_ms=recent[2],
    )


def _boost_sources(states: Sequence[State], policy: Policy, now: Instant) -> tuple[float, float]:
    """The highest importance after each memory was boosted, and what the first has been given today."""
    p, today = policy.importance, now // DAY_MS
    boosts = np.array([s.boosted if s.boost_day == today else 0.0 for s in states])
    worth = boost(policy.consolidate.boost, boosts, diminishing=p.diminishing, daily_cap=p.daily_cap)
    bases = np.array([s.importance for s in states])
    raised = np.maximum(bases, np.minimum(p.maximum, bases + worth))
    return float(raised.max()), float(boosts[0] + raised[0] - bases[0])


def _strongest_state(states: Sequence[State], policy: Policy, now: Instant) -> State:
    columns = Columns.of(states)
    days = days_between(columns.strength_ms, now)
    return states[int(np.argmax(strength_curve(columns, policy).value(days)))]


def _last_validation(states: Sequence[State], created: Instant) -> Instant | None:
    """When any was last said or validated; None where that is the first day and nobody validated it."""
    latest = max(map(said_at, states))
    return None if latest == created and all(s.validated_ms is None for s in states) else latest


def restart_strength(state: State, policy: Policy, now: Instant) -> State:
    """Return a state whose strength starts at an instant: another scope's curve must not be read back into the past."""
    columns = Columns.of([state])
    curve = strength_curve(columns, policy)
    days = max(0.0, (now - state.strength_ms) / DAY_MS)
    return replace(
        state,
        strength=float(curve.value(days)[0]),
        level=float(curve.level_at(days)[0]),
        strength_ms=max(now, state.strength_ms),
    )


def decide_merge(decisions: Decisions, merge: Merge, keeper: str, likeness: Mapping[tuple[str, str], float]) -> None:
    """Decide a merge: the keeper, or the new memory that was brought in, gets what the others have, and they go.

    All must be before the decisions; ``likeness`` has the combined likeness of pairs of ids, in order.
    """
    reason = f"similarity {merge.similarity:.3f}, {merge.label}"
    if merge.keeper is not None:
        before = decisions.states[keeper]
        state = merge_states(before, [decisions.states[i] for i in merge.losers], decisions.policy, decisions.now)
        because = (
            f"stands for {len(merge.losers)} more ({reason}); importance {before.importance:.3f} to "
            f"{state.importance:.3f}, accesses {before.access_count} to {state.access_count}"
        )
        decisions.change(keeper, state, "merged", because)
        decisions.label(keeper, because, tags=merge.tags, source=merge.source, metadata=dict(merge.metadata))
    for loser in merge.losers:
        after = replace(decisions.states[loser], status=Status.CONSOLIDATED, status_ms=decisions.now, held=False)
        decisions.change(loser, after, "consolidated", f"consolidated into {keeper} ({reason})")
        alike = likeness.get((min(keeper, loser), max(keeper, loser)), merge.similarity)
        decisions.add([stands_for_link(keeper, loser, alike)])


def decide_merges(
    decisions: Decisions, merges: Iterable[tuple[Merge, str]], likeness: Mapping[tuple[str, str], float], edges: EdgeUse
) -> dict[str, str]:
    """Decide merges and what becomes of edges, and return the memories that go -> what stands for them.

    Each merge has its keeper, or the new memory that was brought in. ``likeness`` is (a, b) in order of ids ->
    combined.
    """
    stand: dict[str, str] = {}
    for merge, keeper in merges:
        own = decisions.states[keeper].access_count if merge.keeper is not None else 0
        edges.inherit(keeper, merge.losers, own)
        decide_merge(decisions, merge, keeper, likeness)
        stand |= dict.fromkeys(merge.losers, keeper)
    return stand


def stands_for_link(keeper: str, other: str, likeness: float) -> Change:
    """Return the link from a memory to one that it stands for."""
    row = {"kind": STANDS_FOR, "other": other, "weight": round(likeness, 4)}
    return Change(Target.LINK, keeper, None, row, f"{keeper} stands for {other}")


def _check_size(merge: Merge, count: int, most: int) -> None:
    size = len(merge.content.encode("utf-8", "surrogatepass"))
    if size > most:
        raise InvalidInput(
            f"{count} memories would have {size:,} bytes when merged; {most:,} are allowed.",
            remedy="Use another strategy, or a higher threshold.",
        )


def draft_from_merge(merge: Merge, members: Sequence[Record], policy: Policy) -> Draft:
    """Return the new memory that merged contents become; what its members do not share (a speaker) it does not have."""
    _check_size(merge, len(members), policy.limits.content_bytes)
    states, contents = [m.state for m in members], [m.content for m in members]
    return Draft(
        text=merge.content,
        kind=states[0].kind,
        scope=states[0].scope,
        importance=merge.importance,
        confidence=max(s.confidence for s in states),
        at=merge.created_ms,
        tags=merge.tags,
        source=merge.source,
        speaker=_common_value(c.speaker for c in contents),
        session=_common_value(c.session for c in contents),
        task=_common_value(c.task for c in contents),
        metadata=merge.metadata,
    )


def _common_value(values: Iterable[str | None]) -> str | None:
    found = set(values)
    return found.pop() if len(found) == 1 else None


def fingerprint(merges: Iterable[Merge]) -> str:
    """Return a digest of what would be merged into what and what it would say; ids of new memories do not count."""
    contents = sorted((m.keeper or "", m.losers, m.content, m.tags, repr(sorted(m.metadata.items()))) for m in merges)
    return blake2b(repr(contents).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

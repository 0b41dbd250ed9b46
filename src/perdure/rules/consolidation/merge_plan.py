"""What is decided about several memories, written down as one plan: merges, moves, links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Final

import numpy as np

from perdure.formulas.importance import boost
from perdure.formulas.value import faded_mass
from perdure.records.errors import InvalidInput
from perdure.records.instant import DAY_MS, Instant
from perdure.records.memory import Kind, Record, State, Status, Tier
from perdure.records.new_memory import Draft
from perdure.records.plan import Change, Plan, Target
from perdure.records.policy import Policy
from perdure.rules.consolidation.merging import Merge
from perdure.rules.insertion import with_due
from perdure.rules.lifecycle.maintenance import trajectory_plan, truncate
from perdure.rules.lifecycle.state_arrays import Columns, strength_curve
from perdure.rules.lifecycle.trajectory import Trajectory, Transition, replay

STANDS_FOR: Final = "summarizes"
_NEARNESS: Final = (Tier.VAULT, Tier.HOT, Tier.WARM, Tier.COLD)


@dataclass(frozen=True, slots=True)
class Settled:
    """Some memories as a decision finds them: what fell due before has happened, except that nothing was hidden.

    Attributes:
        records: Id -> the memory, its accesses counted in.
        stored: Id -> the memory as it was read.
        trajectories: Id -> how it came from one to the other.
    """

    records: Mapping[str, Record]
    stored: Mapping[str, Record]
    trajectories: Mapping[str, Trajectory]

    def joined(self, other: Settled) -> Settled:
        """Return these and others."""
        return Settled(
            {**self.records, **other.records},
            {**self.stored, **other.stored},
            {**self.trajectories, **other.trajectories},
        )


def settled(records: Iterable[Record], policy: Policy, now: Instant) -> Settled:
    """Return memories as a decision at an instant finds them.

    Args:
        records: As read.
        policy: The policy in force, without shortening (operations/writing.py).
        now: The instant.
    """
    stored = {r.id: replace(r, accesses=tuple(p for p in r.accesses if p[0] <= now)) for r in records}
    accesses = {i: r.accesses for i, r in stored.items()}
    replayed = replay({i: r.state for i, r in stored.items()}, accesses, now, policy, blocked=True)
    trajectories = [truncate(trajectory) for trajectory in replayed]
    whole = {c.id: replace(stored[c.id], state=c.after, accesses=()) for c in trajectories}
    return Settled(whole, stored, {c.id: c for c in trajectories})


def merged_state(main: State, others: Sequence[State], policy: Policy, now: Instant) -> State:
    """Return the state of a memory that stands for others as well: no signal of any of them is lost.

    Importance is the highest after each was boosted (sources are boosted before they go); every other
    base is the highest, every anchor the latest, counts are summed.

    Args:
        main: The one that stays, accesses counted in.
        others: Those that go.
        policy: The policy in force.
        now: The instant of the merge.
    """
    states = [main, *others]
    anchor = max(s.anchor_ms for s in states)
    mass = sum(float(faded_mass(s.access_mass, (anchor - s.anchor_ms) / DAY_MS)) for s in states)
    reads = [at for s in states for at in (s.accessed_ms, s.access2_ms, s.access3_ms) if at is not None]
    last = [*sorted(reads, reverse=True), None, None, None]
    closest = min(states, key=lambda s: _NEARNESS.index(s.tier))
    strongest, steadiest = _strongest(states, policy, now), max(states, key=lambda s: s.stability)
    importance, own = _boosted(states, policy, now)
    created = min(s.created_ms for s in states)
    return replace(
        main,
        tier=closest.tier,
        tier_ms=closest.tier_ms,
        tier_accesses=closest.tier_accesses,
        importance=importance,
        boosted=own,
        boost_day=now // DAY_MS,
        confidence=max(s.confidence for s in states),
        uniqueness=max(s.uniqueness for s in states),
        created_ms=created,
        validated_ms=_validated(states, created),
        anchor_ms=anchor,
        access_count=sum(s.access_count for s in states),
        access_mass=mass,
        accessed_ms=last[0],
        access2_ms=last[1],
        access3_ms=last[2],
        reinforcements=max(s.reinforcements for s in states),
        strength=strongest.strength,
        level=strongest.level,
        strength_ms=strongest.strength_ms,
        stability=steadiest.stability,
        difficulty=steadiest.difficulty,
    )


def _boosted(states: Sequence[State], policy: Policy, now: Instant) -> tuple[float, float]:
    """The highest importance after each memory was boosted, and what the first has been given today."""
    p, today = policy.importance, now // DAY_MS
    given = np.array([s.boosted if s.boost_day == today else 0.0 for s in states])
    worth = boost(policy.consolidate.boost, given, diminishing=p.diminishing, daily_cap=p.daily_cap)
    bases = np.array([s.importance for s in states])
    raised = np.maximum(bases, np.minimum(p.maximum, bases + worth))
    return float(raised.max()), float(given[0] + raised[0] - bases[0])


def _strongest(states: Sequence[State], policy: Policy, now: Instant) -> State:
    columns = Columns.of(states)
    days = np.maximum((now - columns.strength_since) / DAY_MS, 0.0)
    return states[int(np.argmax(strength_curve(columns, policy).value(days)))]


def _validated(states: Sequence[State], created: Instant) -> Instant | None:
    """The last validation; a fact's confidence is as old as its last statement, so that counts as well."""
    facts = states[0].kind is Kind.FACT
    known = [s.created_ms if s.validated_ms is None and facts else s.validated_ms for s in states]
    latest = max((at for at in known if at is not None), default=None)
    return None if latest == created and all(s.validated_ms is None for s in states) else latest


def resettled(state: State, policy: Policy, now: Instant) -> State:
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


class Decisions:
    """What is decided about several memories, one decision after the other, and the plan that it makes.

    Args:
        found: The memories.
        policy: The policy in force.
        now: The instant.
        plan_id: The operation's id.
    """

    def __init__(self, found: Settled, policy: Policy, now: Instant, plan_id: str) -> None:
        self.found, self.policy, self.now, self.plan_id = found, policy, now, plan_id
        self.states = {identity: record.state for identity, record in found.records.items()}
        self._transitions: dict[str, list[Transition]] = {}
        self._words: dict[str, dict[str, Any]] = {}
        self._before: list[Change] = []
        self._after: list[Change] = []

    def change(self, identity: str, state: State, verb: str, because: str) -> None:
        """Decide that a memory has another state from now on."""
        if state != self.states[identity]:
            self.states[identity] = state
            self._transitions.setdefault(identity, []).append(Transition(self.now, state, verb, because))

    def relabel(self, identity: str, metadata: Mapping[str, Any]) -> None:
        """Decide what a memory's metadata is; it is written with the last change of its state."""
        old = dict(self.found.records[identity].content.metadata)
        self._words[identity] = {**self._words.get(identity, {}), "metadata": (old, dict(metadata))}

    def admit(self, more: Settled) -> None:
        """Bring more memories before the decisions."""
        self.found = self.found.joined(more)
        self.states |= {i: r.state for i, r in more.records.items() if i not in self.states}

    def due(self, state: State) -> State:
        """Return a state with the instant at which it next needs attention."""
        return with_due([replace(state, held=False)], self.policy)[0]

    def bring_in(self, changes: Iterable[Change]) -> None:
        """Store new memories before anything else."""
        self._before += changes

    def add(self, changes: Iterable[Change]) -> None:
        """Write links and documents after everything else."""
        self._after += changes

    def merge(self, merge: Merge, keeper: str, likeness: Mapping[tuple[str, str], float]) -> None:
        """Decide a merge: the keeper gets what the others have, and they go.

        Args:
            merge: The decision.
            keeper: Its keeper, or the id of the new memory that was brought in.
            likeness: (a, b) in order of ids -> combined likeness.
        """
        told = f"likeness {merge.similarity:.3f}, {merge.label}"
        if merge.keeper is not None:
            before = self.states[keeper]
            state = merged_state(before, [self.states[i] for i in merge.losers], self.policy, self.now)
            content = self.found.records[keeper].content
            new = {"tags": merge.tags, "source": merge.source, "metadata": dict(merge.metadata)}
            old = {"tags": content.tags, "source": content.source, "metadata": dict(content.metadata)}
            self._words[keeper] = {name: (old[name], new[name]) for name in new}
            because = (
                f"stands for {len(merge.losers)} more ({told}); importance {before.importance:.3f} to "
                f"{state.importance:.3f}, accesses {before.access_count} to {state.access_count}"
            )
            self.change(keeper, state, "merged", because)
        for loser in merge.losers:
            gone = replace(self.states[loser], status=Status.CONSOLIDATED, status_ms=self.now, held=False)
            self.change(loser, gone, "consolidated", f"consolidated into {keeper} ({told})")
        for i in merge.losers:
            alike = likeness.get((min(keeper, i), max(keeper, i)), merge.similarity)
            self.add([standing_for(keeper, i, alike)])

    def plan(self, operation: str, note: str, namespace: str) -> Plan:
        """Return everything that was decided, as one plan."""
        last = [replace(transitions[-1].state, held=False) for transitions in self._transitions.values()]
        trajectories = []
        for (identity, transitions), after in zip(self._transitions.items(), with_due(last, self.policy), strict=True):
            trajectory = self.found.trajectories[identity]
            trajectories.append(replace(trajectory, transitions=(*trajectory.transitions, *transitions), after=after))
        plan = trajectory_plan(
            trajectories,
            {c.id: self.found.stored[c.id].op for c in trajectories},
            {c.id: self.found.stored[c.id].accesses for c in trajectories},
            plan_id=self.plan_id,
            namespace=namespace,
            at=self.now,
            policy=self.policy,
            operation=operation,
            note=note,
        )
        return replace(plan, changes=(*self._before, *self._worded(plan.changes), *self._after))

    def _worded(self, changes: Sequence[Change]) -> list[Change]:
        """The changes, with new labels in the last one of each memory that gets some."""
        left, result = dict(self._words), []
        for change in reversed(changes):
            if change.target is Target.MEMORY and change.id in left:
                words = left.pop(change.id)
                before = {**(change.before or {}), **{name: old for name, (old, _) in words.items()}}
                after = {**(change.after or {}), **{name: new for name, (_, new) in words.items()}}
                result.append(replace(change, before=before, after=after))
            else:
                result.append(change)
        return result[::-1]


def standing_for(keeper: str, other: str, likeness: float) -> Change:
    """Return the link from a memory to one that it stands for."""
    row = {"kind": STANDS_FOR, "other": other, "weight": round(likeness, 4)}
    return Change(Target.LINK, keeper, None, row, f"{keeper} stands for {other}")


def draft_of(merge: Merge, members: Sequence[Record], policy: Policy) -> Draft:
    """Return the new memory that merged contents become; what its members do not share (a speaker) it does not have.

    Raises:
        InvalidInput: It would be longer than the policy allows.
    """
    size, most = len(merge.content.encode("utf-8", "surrogatepass")), policy.limits.content_bytes
    if size > most:
        raise InvalidInput(
            f"Merged, {len(members)} memories have {size:,} bytes; {most:,} are allowed.",
            remedy="Use another strategy, or a higher threshold.",
        )
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
        speaker=_shared(c.speaker for c in contents),
        session=_shared(c.session for c in contents),
        task=_shared(c.task for c in contents),
        metadata=merge.metadata,
    )


def _shared(values: Iterable[str | None]) -> str | None:
    """The value that all have, if all have one."""
    found = set(values)
    return found.pop() if len(found) == 1 else None


def fingerprint(merges: Iterable[Merge]) -> str:
    """Return a digest of what would be merged into what and what it would say; ids of new memories do not count."""
    told = sorted((m.keeper or "", m.losers, m.content, m.tags, repr(sorted(m.metadata.items()))) for m in merges)
    return blake2b(repr(told).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

"""Decisions about several memories at once: what fell due before happens first, and one plan holds it all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from perdure.operations.ports import Context
from perdure.operations.writing import unshortened
from perdure.records.instant import Instant
from perdure.records.memory import Record, State, Status
from perdure.records.plan import Change
from perdure.records.policy import Policy
from perdure.rules.insertion import with_due
from perdure.rules.lifecycle.maintenance import trajectory_plan, truncate
from perdure.rules.lifecycle.trajectory import Trajectory, Transition, replay


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is decided about one memory.

    Attributes:
        state: As it is to be.
        because: Why.
        accessed: An access goes with it, of this instant; it adds nothing to importance.
    """

    state: State
    because: str
    accessed: bool = False


def located(ctx: Context, ids: Sequence[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Return namespace -> ids in the order asked for, and the ids that no namespace holds."""
    places: dict[str, list[str]] = {}
    missing: list[str] = []
    for identity in ids:
        place = ctx.store.locate(identity)
        if place is None:
            missing.append(identity)
        else:
            places.setdefault(place, []).append(identity)
    return places, missing


def visible(ctx: Context, namespace: str, ids: Sequence[str]) -> list[Record]:
    """Return the memories that are in view; hidden ones are left out."""
    return [r for r in ctx.store.get(namespace, ids) if r.state.status is Status.ACTIVE]


def decided_all(
    ctx: Context,
    namespace: str,
    records: Sequence[Record],
    decide: Callable[[list[State]], list[Verdict]],
    *,
    operation: str,
    note: str,
    now: Instant,
    documents: Sequence[Change] = (),
) -> str:
    """Apply decisions about memories of one namespace as one plan, and return its id; empty if nothing changes.

    Args:
        ctx: Store, policy, ids.
        namespace: Theirs.
        records: The memories, with the accesses that wait.
        decide: States as of now, accesses counted in -> what they are to be, in the same order.
        operation: The verb.
        note: One line for people.
        now: The instant.
        documents: What changes beside the memories.
    """
    accesses = {r.id: tuple(pair for pair in r.accesses if pair[0] <= now) for r in records}
    states = {r.id: r.state for r in records}
    before = [truncate(c) for c in replay(states, accesses, now, unshortened(ctx.policy), blocked=True)]
    verdicts = decide([c.after for c in before])
    pairs = [(c, v) for c, v in zip(before, verdicts, strict=True) if v.accessed or v.state != c.after]
    changed = _decided(pairs, operation, now, ctx.policy)
    if not changed and not documents:
        return ""
    ids = {c.id for c in changed}
    plan = trajectory_plan(
        changed,
        {r.id: r.op for r in records if r.id in ids},
        {i: pairs for i, pairs in accesses.items() if i in ids},
        plan_id=ctx.ids(now),
        namespace=namespace,
        at=now,
        policy=ctx.policy,
        operation=operation,
        note=note,
    )
    ctx.store.apply(replace(plan, changes=(*plan.changes, *documents)))
    return plan.id


def _decided(
    pairs: Sequence[tuple[Trajectory, Verdict]], operation: str, now: Instant, policy: Policy
) -> list[Trajectory]:
    """Return trajectories that end with decisions, and with what an access of the same instant brings about."""
    states = {trajectory.id: replace(verdict.state, held=False) for trajectory, verdict in pairs}
    plain = replace(unshortened(policy), importance=replace(policy.importance, on_access=0.0))
    read = {trajectory.id: states[trajectory.id] for trajectory, verdict in pairs if verdict.accessed}
    later = {c.id: truncate(c) for c in replay(read, dict.fromkeys(read, ((now, 1),)), now, plain, blocked=True)}
    ends = [replace(later[i].after if i in later else state, held=False) for i, state in states.items()]
    return [
        replace(
            trajectory,
            transitions=(
                *trajectory.transitions,
                Transition(now, states[trajectory.id], operation, verdict.because),
                *(later[trajectory.id].transitions if trajectory.id in later else ()),
            ),
            after=after,
        )
        for (trajectory, verdict), after in zip(pairs, with_due(ends, policy), strict=True)
    ]

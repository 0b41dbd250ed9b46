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
from perdure.rules.lifecycle.maintenance import course_plan, truncated
from perdure.rules.lifecycle.trajectory import Course, Step, play


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
    before = [truncated(c) for c in play(states, accesses, now, unshortened(ctx.policy), hold=True)]
    verdicts = decide([c.after for c in before])
    pairs = [(c, v) for c, v in zip(before, verdicts, strict=True) if v.accessed or v.state != c.after]
    changed = _decided(pairs, operation, now, ctx.policy)
    if not changed and not documents:
        return ""
    ids = {c.id for c in changed}
    plan = course_plan(
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


def _decided(pairs: Sequence[tuple[Course, Verdict]], operation: str, now: Instant, policy: Policy) -> list[Course]:
    """Return courses that end with decisions, and with what an access of the same instant brings about."""
    states = {course.id: replace(verdict.state, held=False) for course, verdict in pairs}
    plain = replace(unshortened(policy), importance=replace(policy.importance, on_access=0.0))
    read = {course.id: states[course.id] for course, verdict in pairs if verdict.accessed}
    later = {c.id: truncated(c) for c in play(read, dict.fromkeys(read, ((now, 1),)), now, plain, hold=True)}
    ends = [replace(later[i].after if i in later else state, held=False) for i, state in states.items()]
    return [
        replace(
            course,
            steps=(
                *course.steps,
                Step(now, states[course.id], operation, verdict.because),
                *(later[course.id].steps if course.id in later else ()),
            ),
            after=after,
        )
        for (course, verdict), after in zip(pairs, with_due(ends, policy), strict=True)
    ]

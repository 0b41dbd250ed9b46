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
from perdure.rules.birth import with_due
from perdure.rules.lifecycle import Course, Step, play
from perdure.rules.upkeep import course_plan, truncated


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
    changed = [
        _decided(c, v, operation, now, ctx.policy)
        for c, v in zip(before, verdicts, strict=True)
        if v.accessed or v.state != c.after
    ]
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


def _decided(course: Course, verdict: Verdict, operation: str, now: Instant, policy: Policy) -> Course:
    """Return a course that ends with a decision, and with what an access of the same instant brings about."""
    step = Step(now, replace(verdict.state, held=False), operation, verdict.because)
    steps, after = (*course.steps, step), step.state
    if verdict.accessed:
        plain = replace(unshortened(policy), importance=replace(policy.importance, on_access=0.0))
        later = truncated(play({course.id: after}, {course.id: ((now, 1),)}, now, plain, hold=True)[0])
        steps, after = (*steps, *later.steps), later.after
    after = with_due([replace(after, held=False)], policy)[0]
    return replace(course, steps=steps, after=after)

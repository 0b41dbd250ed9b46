"""Applying plans: the retry that every operation shares when another process was faster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final, TypeVar

from perdure.operations.ports import Context
from perdure.records.errors import ConflictError, NotFound
from perdure.records.memory import Form, Record, State
from perdure.records.outcome import Outcome
from perdure.records.plan import Change
from perdure.records.policy import Policy
from perdure.rules.insertion import with_due
from perdure.rules.lifecycle.maintenance import trajectory_plan, truncate
from perdure.rules.lifecycle.signals import views
from perdure.rules.lifecycle.trajectory import Transition, replay

T = TypeVar("T")
ATTEMPTS: Final = 8


def retried(attempt: Callable[[], T]) -> T:
    """Read, decide and apply anew while other processes keep changing what was read."""
    for _ in range(ATTEMPTS - 1):
        try:
            return attempt()
        except ConflictError:
            continue
    return attempt()


def found(ctx: Context, identity: str, namespace: str | None = None) -> Record:
    """Return a memory, wherever it is, or say that there is none."""
    place = namespace if namespace is not None else ctx.store.locate(identity)
    records = ctx.store.get(place, [identity]) if place is not None else []
    if not records:
        raise NotFound(f"There is no memory {identity!r}.", remedy="Use an id that recall, list or history returned.")
    return records[0]


def unshortened(policy: Policy) -> Policy:
    """Return a policy under which nothing is shortened: that needs texts, and waits for the next sweep."""
    return replace(policy, compression=replace(policy.compression, rule="never"))


def decided(
    ctx: Context,
    record: Record,
    operation: str,
    decide: Callable[[State], State],
    because: str,
    *,
    shown: Mapping[Form, str | None] = MappingProxyType({}),
    documents: Sequence[Change] = (),
) -> Outcome:
    """Apply a person's decision about one memory; where it changes nothing, nothing is written.

    What fell due before the decision happens first, so that a decision without a sweep before it ends where it would
    have ended with one. Only hiding and shortening do not: whoever decides about a memory has it in view.

    Args:
        ctx: Store, policy, clock, ids.
        record: As read.
        operation: The verb.
        decide: State to state.
        because: The reason for the journal.
        shown: What the memory shows in the form that is decided on, if that changes.
        documents: What changes beside it, if it changes.
    """
    now = ctx.clock()
    accesses = {record.id: tuple(p for p in record.accesses if p[0] <= now)}
    trajectory = truncate(replay({record.id: record.state}, accesses, now, unshortened(ctx.policy), blocked=True)[0])
    if (state := decide(trajectory.after)) == trajectory.after:
        return outcome(ctx, replace(record, state=trajectory.after, accesses=()), None)
    state = with_due([replace(state, held=False)], ctx.policy)[0]
    plan_id = ctx.ids(now)
    last = Transition(now, state, operation, because)
    whole = replace(trajectory, transitions=(*trajectory.transitions, last), after=state)
    plan = trajectory_plan(
        [whole],
        {record.id: record.op},
        accesses,
        plan_id=plan_id,
        namespace=record.namespace,
        at=now,
        policy=ctx.policy,
        operation=operation,
        note=f"{operation} {record.id}",
        shown={record.id: {record.state.form: record.content.shown, **shown}},
    )
    ctx.store.apply(replace(plan, changes=(*plan.changes, *documents)))
    content = record.content
    if state.form is not record.state.form:
        content = replace(content, shown=shown[state.form])
    return outcome(ctx, replace(record, state=state, content=content, op=plan_id, accesses=()), plan_id)


def outcome(ctx: Context, record: Record, operation: str | None) -> Outcome:
    """Return what a verb did to a memory, which is shown as it now is.

    Args:
        ctx: Policy, clock.
        record: The memory after the operation.
        operation: The operation; None where nothing was written.
    """
    return Outcome(views([record], ctx.policy, ctx.clock())[0], operation)

"""The one way in which operations write what they decide: settle what fell due, decide, plan, apply."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from perdure.operations.ports import Context
from perdure.records.instant import Instant
from perdure.records.memory import Form, Record, State, Status
from perdure.records.outcome import Outcome
from perdure.records.plan import Change
from perdure.rules.decisions import Decisions
from perdure.rules.lifecycle.signals import memory_items


@dataclass(frozen=True, slots=True)
class StateChange:
    """What is decided about one memory.

    Attributes:
        state: As it is to be.
        because: Why.
        accessed: An access goes with it, of this instant; it adds nothing to importance.
    """

    state: State
    because: str
    accessed: bool = False


def begin(ctx: Context, namespace: str, now: Instant) -> Decisions:
    """Return the decisions of an operation, none yet."""
    return Decisions(ctx.policy, now, ctx.ids(now), namespace)


def write(ctx: Context, decisions: Decisions, operation: str, note: str) -> str | None:
    """Apply what was decided as one operation, and return its id; None where nothing changes."""
    plan = decisions.plan(operation, note)
    if not plan.changes:
        return None
    ctx.store.apply(plan)
    return plan.id


def decide(
    ctx: Context,
    record: Record,
    operation: str,
    change: Callable[[State], State],
    because: str,
    *,
    shown: Mapping[Form, str | None] = MappingProxyType({}),
    documents: Sequence[Change] = (),
) -> Outcome:
    """Write a person's decision about one memory; where it changes nothing of it, nothing is written.

    Args:
        ctx: Store, policy, clock, ids.
        record: As read.
        operation: The verb.
        change: State as of now -> what it is to be.
        because: The reason for the journal.
        shown: What the memory shows in the form that is decided on, if that changes.
        documents: What changes beside the memory, if it changes.
    """
    decisions = begin(ctx, record.namespace, ctx.clock())
    decisions.admit([record])
    state = change(decisions.states[record.id])
    if state == decisions.states[record.id]:
        return outcome(ctx, record, None)
    decisions.change(record.id, state, operation, because)
    if state.form is not record.state.form:
        decisions.show(record.id, state.form, shown[state.form])
    decisions.add(documents)
    written = write(ctx, decisions, operation, f"{operation} {record.id}")
    return outcome(ctx, decisions.record(record.id), written)


def decide_all(
    ctx: Context,
    namespace: str,
    records: Sequence[Record],
    change: Callable[[list[State]], list[StateChange]],
    *,
    operation: str,
    note: str,
    now: Instant,
    documents: Sequence[Change] = (),
) -> str | None:
    """Write decisions about memories of one namespace, and return the operation; None where nothing changes.

    ``change`` gets their states as of now, accesses counted in, and returns what they are to be, in the same order.
    """
    decisions = begin(ctx, namespace, now)
    decisions.admit(records)
    for record, made in zip(records, change([decisions.states[r.id] for r in records]), strict=True):
        decisions.change(record.id, made.state, operation, made.because, accessed=made.accessed)
    decisions.add(documents)
    return write(ctx, decisions, operation, note)


def outcome(ctx: Context, record: Record, operation: str | None) -> Outcome:
    """Return what a verb did to a memory, which is shown as it now is."""
    return Outcome(memory_items([record], ctx.policy, ctx.clock())[0], operation)


def ids_by_namespace(ctx: Context, ids: Sequence[str]) -> dict[str, list[str]]:
    """Return namespace -> ids, in the order asked for; ids that no namespace holds are left out."""
    places: dict[str, list[str]] = {}
    for identity in ids:
        place = ctx.store.locate(identity)
        if place is not None:
            places.setdefault(place, []).append(identity)
    return places


def read_visible(ctx: Context, namespace: str, ids: Sequence[str]) -> list[Record]:
    """Return the memories that are in view; hidden ones are left out."""
    return [r for r in ctx.store.get(namespace, ids) if r.state.status is Status.ACTIVE]

"""The one way in which operations write what they decide: settle what fell due, decide, plan, apply."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from perdure.operations.ports import Context
from perdure.records.document import Shelf
from perdure.records.instant import Instant
from perdure.records.memory import Form, Record, State, Status
from perdure.records.outcome import Outcome
from perdure.records.plan import Change
from perdure.rules.decisions import Decisions
from perdure.rules.document_edits import DocumentEdits
from perdure.rules.lifecycle.signals import memory_items


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


def close_questions(ctx: Context, record: Record, because: str) -> list[Change]:
    """Return the changes that close the open questions about a memory."""
    edits = DocumentEdits(ctx.store.documents.find(record.namespace, Shelf.REVIEW, [record.id]))
    for identity, name in edits.shelf(Shelf.REVIEW):
        edits.put(Shelf.REVIEW, identity, name, None, because)
    return edits.changes()


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

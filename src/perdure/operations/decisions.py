"""The one way in which operations write what they decide: settle what fell due, decide, plan, apply."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from perdure.operations.ports import Context
from perdure.operations.repeated_statements import named, same_messages, say_the_same
from perdure.operations.writing import read_after, read_record, retry
from perdure.records.instant import Instant
from perdure.records.memory import Form, Kind, Record, Shelf, State, Status
from perdure.records.outcome import Outcome, RestingFact, SayingMemory
from perdure.records.plan import Change, Target
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
    identity: str,
    operation: str,
    change: Callable[[State], State],
    because: str,
    *,
    shown: Mapping[Form, str | None] = MappingProxyType({}),
    beside: Callable[[Decisions, Record], Sequence[Change]] = lambda _, __: (),
) -> Outcome:
    """Write a person's decision about one memory; where it changes nothing of it, nothing is written.

    ``change`` is given the state as of now, ``beside`` the memory as read, to decide what else is done and return what
    else is written; ``shown`` is what it shows in the form that is decided on, if that changes.
    """

    def attempt() -> Outcome:
        record = read_record(ctx, identity)
        decisions = begin(ctx, record.namespace, ctx.clock())
        decisions.admit([record])
        state = change(decisions.states[identity])
        if state == decisions.states[identity]:
            return outcome(ctx, record, None)
        decisions.change(identity, state, operation, because)
        if state.form is not record.state.form:
            decisions.show(identity, state.form, shown[state.form])
        decisions.add(beside(decisions, record))
        written = write(ctx, decisions, operation, f"{operation} {identity}")
        return outcome(ctx, decisions.record(identity), written)

    return retry(attempt)


def close_questions(ctx: Context, record: Record, because: str) -> list[Change]:
    """Return the changes that close the open questions about a memory."""
    edits = DocumentEdits(ctx.store.documents.strict.find(record.namespace, Shelf.REVIEW, [record.id]))
    for identity, name in edits.shelf(Shelf.REVIEW):
        edits.put(Shelf.REVIEW, identity, name, None, because)
    return edits.changes()


def outcome(ctx: Context, record: Record, operation: str | None) -> Outcome:
    """Return what a verb did to a memory, which is shown as it now is; a hidden one with the facts that rest on it."""
    memory = memory_items([record], ctx.policy, ctx.clock())[0]
    if record.state.status is Status.ACTIVE:
        return Outcome(memory, operation)
    none: tuple[RestingFact, ...] = ()
    resting = read_after(ctx, operation, lambda: ctx.extension.facts_resting_on(ctx, record), none)
    return Outcome(memory, operation, still_believed=resting)


class HiddenBeside(NamedTuple):
    """What was hidden with a memory."""

    facts: Sequence[RestingFact] = ()  # those that rest on it alone
    messages: Sequence[Record] = ()  # those that say its words and nothing else


def hide_beside(ctx: Context, decisions: Decisions, identity: str, because: str) -> HiddenBeside:
    """Hide what only says again what a memory says that is hidden by now, and the facts that rest on nothing else.

    Pinned ones stay.
    """
    hidden = decisions.record(identity)
    messages = same_messages(ctx, hidden)
    resting = {f.id: f for f in ctx.extension.facts_resting_on(ctx, hidden, "sole", [m.id for m in messages])}
    facts = ctx.store.get(decisions.namespace, list(resting)) if resting else []
    decisions.admit([*messages, *facts])
    since = decisions.states[identity].status_ms  # by which a restore knows them
    going = [r.id for r in facts if not decisions.states[r.id].pinned]
    reasons = {m.id: f"archived: it says the same words as {identity}, which {because}" for m in messages}
    reasons |= dict.fromkeys(going, f"archived: it rests on {identity} alone, which {because}")
    for target, reason in reasons.items():
        state = replace(decisions.states[target], status=Status.ARCHIVED, status_ms=since, held=False)
        decisions.change(target, state, "archive", reason)
    decisions.add(ctx.extension.call_off(ctx, decisions, [identity, *going], f"archived: {identity} {because}"))
    return HiddenBeside([resting[i] for i in going], messages)


def with_hidden(ctx: Context, done: Outcome, gone: HiddenBeside) -> Outcome:
    """Return what a verb did that hid a memory: what went with it, which facts stay, and what still says the same."""
    none: tuple[RestingFact, ...] = ()
    stay = read_after(
        ctx, done.operation, lambda: ctx.extension.facts_resting_on(ctx, read_record(ctx, done.id), "all"), none
    )
    done = replace(done, hidden_facts=tuple(gone.facts), hidden_messages=named(gone.messages), still_believed=stay)
    return with_said_by(ctx, done)


def with_said_by(ctx: Context, done: Outcome) -> Outcome:
    """Return what a verb did that hid a memory, with the notes and messages in view that still say the same.

    Also with the facts that are believed again.
    """
    none: tuple[tuple[SayingMemory, ...], int] = ((), 0)
    said_by, more = read_after(ctx, done.operation, lambda: say_the_same(ctx, read_record(ctx, done.id)), none)
    return replace(with_believed_again(ctx, done), said_by=said_by, said_by_more=more)


def with_believed_again(ctx: Context, done: Outcome) -> Outcome:
    """Return what a verb did that hid a memory, with the facts that the same operation brought back."""
    if done.operation is None:
        return done
    place, operation, none = done.memory.namespace, done.operation, list[Record]()

    def read() -> list[Record]:
        new = [c.id for c in ctx.store.changes(place, operation) if c.target is Target.MEMORY and c.before is None]
        return [r for r in ctx.store.get(place, new) if r.state.kind is Kind.FACT]

    facts = read_after(ctx, operation, read, none)
    return replace(done, believed_again=tuple(RestingFact(r.id, r.content.text) for r in facts))


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

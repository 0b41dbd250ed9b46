"""Memories that come back into view, and with them what was hidden with them."""

from __future__ import annotations

from perdure.operations.documents import derived_from, find_records
from perdure.operations.ports import Context
from perdure.operations.repeated_statements import same_messages
from perdure.records.memory import Kind, Record, Status
from perdure.records.plan import Change, Target
from perdure.rules.decisions import Decisions
from perdure.rules.lifecycle.unarchive import unarchive


def show_again(ctx: Context, decisions: Decisions, identity: str) -> None:
    """Decide that a memory that is remembered again stays in view, where it is archived or the next sweep hides it.

    What was hidden with it comes back, too.
    """
    state = decisions.states[identity]
    is_archived = state.status is Status.ARCHIVED
    if is_archived or decisions.has_faded(identity):
        back = unarchive(state, decisions.policy, decisions.now)
        decisions.change(identity, back, "restored", "remembered again: age counts from now")
    if is_archived:
        decisions.add(bring_back(ctx, decisions, decisions.records[identity]))


def bring_back(ctx: Context, decisions: Decisions, record: Record) -> list[Change]:
    """Bring back the facts and messages that were hidden with a memory; return the conflicts that all of them open."""
    conflicts = ctx.extension.conflicts(ctx, record, decisions.now)
    resting = derived_from(ctx, record.namespace, [record.id]).get(record.id, [])
    facts = [r for r in find_records(ctx, record.namespace, resting) if r.state.kind is Kind.FACT]
    beside = [*facts, *same_messages(ctx, record, hidden=True)]
    hidden = (Status.ARCHIVED, record.state.status_ms)
    went = [r for r in beside if (r.state.status, r.state.status_ms) == hidden == (record.state.status, hidden[1])]
    by = _hidden_by(ctx, record) if went else None
    went = [r for r in went if _hidden_by(ctx, r) == by]  # others may have been hidden in the same millisecond
    decisions.admit(went)
    for one in went:
        back = unarchive(decisions.states[one.id], ctx.policy, decisions.now)
        decisions.change(one.id, back, "restore", f"restored: it was hidden with {record.id}")
        conflicts += ctx.extension.conflicts(ctx, one, decisions.now)
    return conflicts + ctx.extension.plan_again(ctx, decisions, [record.id, *(one.id for one in went)])


def _hidden_by(ctx: Context, record: Record) -> str | None:
    """Return the operation that hid a memory last; None where the journal does not tell any more."""
    told = (e for e in reversed(ctx.store.journal(record.namespace, record.id)) if e.target == Target.MEMORY)
    return next((e.operation_id for e in told if (e.after or {}).get("status") == record.state.status), None)

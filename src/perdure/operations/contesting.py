"""What a fact that is brought back contradicts by now: both are shown, and a person is asked (design 5)."""

from __future__ import annotations

from perdure.operations.believing import Believing
from perdure.operations.knowing import Knowing
from perdure.operations.ports import Context
from perdure.records.instant import Instant
from perdure.records.memory import Kind, Record, Scope, Status
from perdure.records.plan import Change


def contradicted(ctx: Context, record: Record, now: Instant) -> list[Change]:
    """Return the conflicts and questions that bringing a fact back opens; none of what is no hidden fact.

    Args:
        ctx: Store, policy, ids, predicates.
        record: As read, hidden.
        now: The instant.
    """
    if record.state.kind is not Kind.FACT or record.state.status is not Status.ARCHIVED:
        return []
    knowing = Knowing(ctx, record.namespace, now)
    knowing.read([record.id])
    if record.id not in knowing.facts:
        return []
    (own,) = knowing.known([record.id], now)
    beside = knowing.about(own.fact.subject, own.fact.predicate, now)
    believing = Believing(knowing)
    for other in beside:
        there = knowing.record(other.fact.id)
        same = other.fact.value.norm == own.fact.value.norm or (own.fact.many and other.fact.many)
        if not same and sees_same(record, there):
            told = f"{own.fact.value.text} was brought back beside {other.fact.value.text}"
            believing.contest(own, other, now, told)
    return knowing.edits.changes()


def sees_same(one: Record, other: Record) -> bool:
    """Whether two memories are seen by the same: by all, or inside one session."""
    if one.state.scope is not other.state.scope:
        return False
    return one.state.scope is Scope.LONG_TERM or one.content.session == other.content.session

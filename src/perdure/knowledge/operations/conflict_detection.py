"""What a fact contradicts that is brought back or becomes another's: both are shown, a person is asked."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.knowledge.operations.apply_claims import Believing
from perdure.knowledge.operations.fact_session import Knowing
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


def meeting(ctx: Context, namespace: str, stays: str, facts: Sequence[str], now: Instant) -> list[Change]:
    """Return the conflicts and questions that come up because facts of one entity become another's.

    Args:
        ctx: Store, policy, ids, predicates.
        namespace: Where.
        stays: The entity whose they become.
        facts: Ids of those that move.
        now: The instant.
    """
    knowing = Knowing(ctx, namespace, now)
    knowing.read(facts)
    believing = Believing(knowing)
    for identity in facts:
        own = next(iter(knowing.known([identity] if identity in knowing.facts else [], now)), None)
        if own is None or own.state.status is not Status.ACTIVE:
            continue
        for other in knowing.about(stays, own.fact.predicate, now):
            same = other.fact.value.norm == own.fact.value.norm or (own.fact.many and other.fact.many)
            if not same and sees_same(knowing.record(identity), knowing.record(other.fact.id)):
                told = f"{own.fact.value.text} and {other.fact.value.text} are said of one since a merge"
                believing.contest(own, other, now, told)
    return knowing.edits.changes()


def sees_same(one: Record, other: Record) -> bool:
    """Whether two memories are seen by the same: by all, or inside one session."""
    if one.state.scope is not other.state.scope:
        return False
    return one.state.scope is Scope.LONG_TERM or one.content.session == other.content.session

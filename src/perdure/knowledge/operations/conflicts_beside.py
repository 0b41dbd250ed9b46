"""What contradicts a fact that comes back or changes hands, and what no longer does."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.knowledge.operations.apply_claims import ClaimWriter, same_audience
from perdure.knowledge.operations.fact_session import FactSession
from perdure.operations.ports import Context
from perdure.records.instant import Instant
from perdure.records.memory import Kind, Record, Status
from perdure.records.plan import Change


def restore_conflicts(ctx: Context, record: Record, now: Instant, since: str = "") -> list[Change]:
    """Return the conflicts and questions that bringing a fact back opens; none of what is no hidden fact.

    Facts that no operation changed after ``since`` are left out; none are if it is empty.
    """
    if record.state.kind is not Kind.FACT or record.state.status is Status.ACTIVE:
        return []
    work = FactSession(ctx, record.namespace, now)
    work.read([record.id])
    if record.id not in work.facts:
        return []
    (own,) = work.known([record.id], now)
    beside = work.about(own.fact.subject, own.fact.predicate, now)
    writer = ClaimWriter(work)
    for other in beside:
        other_record = work.record(other.fact.id)
        if other_record.op > since and own.fact.contradicts(other.fact) and same_audience(record, other_record):
            because = f"{own.fact.shown_value} was brought back beside {other.fact.shown_value}"
            writer.contest(own, other, now, because)
    return work.edits.changes()


def merge_conflicts(ctx: Context, namespace: str, stays: str, facts: Sequence[str], now: Instant) -> list[Change]:
    """Return the conflicts and questions that come up because facts of one entity become another's."""
    work = FactSession(ctx, namespace, now)
    work.read(facts)
    writer = ClaimWriter(work)
    for identity in facts:
        own = next(iter(work.known([identity] if identity in work.facts else [], now)), None)
        if own is None or own.state.status is not Status.ACTIVE:
            continue
        for other in work.about(stays, own.fact.predicate, now):
            both_seen = same_audience(work.record(identity), work.record(other.fact.id))
            if own.fact.contradicts(other.fact) and both_seen:
                because = f"{own.fact.shown_value} and {other.fact.shown_value} are said of one since a merge"
                writer.contest(own, other, now, because)
    return work.edits.changes()


def split_conflicts(ctx: Context, namespace: str, facts: Sequence[str], now: Instant) -> list[Change]:
    """Return the changes that close the conflicts of facts that become another entity's with those that stay."""
    work = FactSession(ctx, namespace, now)
    work.read(facts)
    writer = ClaimWriter(work)
    for identity in facts:
        for older, newer in work.open_conflicts(identity):
            if not {older, newer} <= set(facts):
                writer.close_conflict(older, newer, "answered", "they are said of two since a split")
    return work.edits.changes()

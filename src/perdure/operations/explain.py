"""Explaining: why a memory is as it is. Reads only; none of it is an access."""

from __future__ import annotations

from dataclasses import replace

from perdure.operations.consolidation.relate import edges
from perdure.operations.lifecycle.sweep import explain_wait
from perdure.operations.ports import Context
from perdure.operations.writing import read_record
from perdure.records.memory import MemoryItem, Status
from perdure.records.recall import Filters
from perdure.records.report import Explanation
from perdure.rules.explanation import explain, inverse_link
from perdure.rules.lifecycle.signals import memory_items


def get(ctx: Context, identity: str, *, include_archived: bool, namespace: str | None = None) -> MemoryItem | None:
    """Return one memory, or None where there is none, or only one that is not shown."""
    place = namespace if namespace is not None else ctx.store.locate(identity)
    records = ctx.store.get(place, [identity]) if place is not None else []
    memories = memory_items(records, ctx.policy, ctx.clock())
    if not memories or (memories[0].status is not Status.ACTIVE and not include_archived):
        return None
    return memories[0]


def list_memories(ctx: Context, namespace: str, filters: Filters, limit: int, before: str | None) -> list[MemoryItem]:
    """Return memories that pass the filters, newest first; ``before`` is the id of the last one of the page before.

    Confidence is computed when read, so pages are read until the limit is reached or nothing is left.
    """
    now = ctx.clock()
    result: list[MemoryItem] = []
    last = None if before is None else read_record(ctx, before, namespace)
    cursor = None if last is None else (last.state.created_ms, last.id)
    while len(result) < limit:
        records = ctx.store.list_records(namespace, filters, limit, cursor)
        if not records:
            break
        cursor = records[-1].state.created_ms, records[-1].id
        result += [m for m in memory_items(records, ctx.policy, now) if m.confidence >= filters.min_confidence]
    return result[:limit]


def why(ctx: Context, identity: str, namespace: str | None = None) -> Explanation:
    """Return why a memory is as it is: signals, history, what comes next."""
    record = read_record(ctx, identity, namespace)
    now = ctx.clock()
    memory = memory_items([record], ctx.policy, now)[0]
    links = ctx.store.links(record.namespace, identity)
    others = {
        r.id
        for r in ctx.store.get(record.namespace, [other for _, other, _ in links])
        if r.state.status is Status.ACTIVE
    }
    here = {(other, kind) for other, kind, _ in ctx.store.links_to(record.namespace, identity)}
    shown = [(inverse_link(k) if (o, k) in here else k, o, weight) for k, o, weight in links if o in others]
    shown += [(f"edge: {e.kind}", i, e.weight) for e in edges(ctx, identity) for i in e.members if i != identity]
    history = ctx.store.journal(record.namespace, identity)
    wait = explain_wait(ctx, record.namespace, identity) if memory.state.held else ""
    told = explain(memory, history, shown, ctx.policy, now, wait=wait)
    return replace(told, says=memory.content, fact=ctx.extension.explain(ctx, memory, history, now))

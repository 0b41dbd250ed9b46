"""Explaining and counting: why a memory is as it is, and how a store is doing. Reads only; none of it is an access."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from perdure.operations.consolidation.relate import edges
from perdure.operations.lifecycle.sweep import explain_wait
from perdure.operations.ports import Context
from perdure.operations.writing import read_record
from perdure.records.document import UNREAD, Shelf
from perdure.records.instant import DAY_MS
from perdure.records.memory import MemoryItem, Status
from perdure.records.recall import Filters
from perdure.records.report import Explanation, Stats
from perdure.rules.explanation import explain, inverse_link
from perdure.rules.lifecycle.signals import memory_items
from perdure.rules.statistics import at_risk, count_memories, percentiles

SAMPLE: Final = 5000
RISK_DAYS: Final = 30
SOON_DAYS: Final = 7


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


def stats(ctx: Context, namespace: str | None) -> Stats:
    """Return how a store, or one namespace, is doing."""
    now, tally, space = ctx.clock(), ctx.store.tally(namespace), ctx.store.space()
    counts, places = count_memories(tally), sorted({row[0] for row in tally})
    step, soon = 1 + counts.visible // SAMPLE, now + RISK_DAYS * DAY_MS
    records = [r for place in places for r in ctx.store.sample_records(place, step, SAMPLE)]
    due = [r for place in places for r in ctx.store.records_due_for_archive(place, soon, SAMPLE)]
    sample, fading = memory_items(records, ctx.policy, now), memory_items(due, ctx.policy, now)
    return Stats(
        namespaces=len(places),
        memories=counts.visible,
        tiers=counts.tiers,
        statuses=counts.statuses,
        kinds=counts.kinds,
        value_percentiles=percentiles([m.value for m in sample]),
        due_now=ctx.store.count_due(namespace, now),
        due_soon=ctx.store.count_due(namespace, now + SOON_DAYS * DAY_MS),
        at_risk=at_risk(fading, sample),
        review_suggested=sum(1 for m in sample if m.retention < ctx.policy.retention.threshold),
        without_vector=ctx.store.count_without_vector(namespace),
        space=None if space is None else space.name,
        sampled=len(sample),
        model=None if ctx.model is None else getattr(ctx.model, "use", None),  # a caller's own model may count nothing
        unread=sum(
            d.data["unread"] for p in places for d in ctx.store.documents.find_named(p, Shelf.LEARNED, [UNREAD])
        ),
    )

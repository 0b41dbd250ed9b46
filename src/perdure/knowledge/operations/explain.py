"""Why a fact is believed or not: its sources, what made it surer, and what contradicts it, read for an explanation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from perdure.knowledge.operations.fact_recall import open_conflicts
from perdure.knowledge.records.facts import Fact
from perdure.knowledge.rules.fact_explanation import explain_fact
from perdure.operations.ports import Context
from perdure.records.document import Document, Shelf
from perdure.records.fact_reasons import FactReasons
from perdure.records.instant import Instant
from perdure.records.memory import MemoryItem
from perdure.records.report import Entry


def fact_reasons(ctx: Context, memory: MemoryItem, history: Sequence[Entry], now: Instant) -> FactReasons | None:
    """Return why a fact is believed or not; None of what is no fact."""
    documents, place = ctx.store.documents, memory.namespace
    stored = documents.find(place, Shelf.FACT, [memory.id])
    if not stored:
        return None
    fact = Fact.from_data(memory.id, stored[0].data)
    sources = ctx.store.get(place, list(dict.fromkeys(s.memory for s in fact.sources))) if fact.sources else []
    conflicts = [
        *documents.find(place, Shelf.CONFLICT, [memory.id]),
        *documents.find_named(place, Shelf.CONFLICT, [memory.id]),
    ]
    return explain_fact(
        memory,
        fact,
        sources={r.id: r for r in sources},
        history=history,
        conflicts=[_as_it_stands(ctx, place, c) for c in conflicts],
        checks=documents.find(place, Shelf.CHECK, [memory.id]),
        policy=ctx.policy,
        now=now,
    )


def _as_it_stands(ctx: Context, namespace: str, conflict: Document) -> Document:
    """Return a conflict that is open on paper as lapsed while one side of it is hidden."""
    sides = [conflict.id, conflict.name]
    if conflict.data.get("outcome") != "open" or open_conflicts(ctx, namespace, sides[:1]).get(sides[0], []).count(
        sides[1]
    ):
        return conflict
    return replace(conflict, data={**conflict.data, "outcome": "lapsed"})

"""Which facts of a list later statements put in doubt, by the rule of recall (rules/doubted_facts.py)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from perdure.knowledge.records.results import FactLine
from perdure.knowledge.rules.fact_records import BELIEVED
from perdure.operations.ports import Context
from perdure.operations.superseding import CachedReads, likely_superseded
from perdure.records.instant import day_at
from perdure.records.memory import Kind, Record, Status
from perdure.records.recall import Filters, Query
from perdure.rules.language.replaced_values import replaced_values, returned_values
from perdure.rules.language.words import query_words
from perdure.rules.lifecycle.older_statements import find_older
from perdure.rules.lifecycle.signals import memory_items

_LEAST: Final = 20  # so many notes and messages with words of the facts' values are looked at
_EACH: Final = 3  # and so many of each fact: one says it, others may name its value as replaced


def with_doubts(ctx: Context, namespace: str, lines: Sequence[FactLine], seen: Filters) -> list[FactLine]:
    """Return facts, those that are believed with the later statements in view that put them in doubt."""
    found = doubts_of(ctx, namespace, [f for f in lines if f.state in BELIEVED], seen)
    return [replace(f, newer=found[f.id]) if f.id in found else f for f in lines]


def doubts_of(ctx: Context, namespace: str, facts: Sequence[FactLine], seen: Filters) -> Mapping[str, tuple[str, ...]]:
    """Return fact -> the latest statements in view that put it in doubt, the newest first, of those that have any."""
    ids = {f.id for f in facts}
    if not ids or not ctx.policy.knowledge.watch:
        return {}
    reading = CachedReads(ctx, namespace)
    decided = {(later, f.id) for f in facts if f.interrupted for later in f.interrupted.by}
    likely = {pair for pair in likely_superseded(ctx, namespace, sorted(ids), reading) if pair[1] in ids} - decided
    naming = _replacing_statements(ctx, namespace, facts, seen)
    if not likely and not naming:
        return {}
    sources = {f.id: {memory for memory, _ in f.sources} for f in facts}
    shown = _records_in_view(reading, sources, {i for i, _ in likely}, naming, seen)
    items = memory_items(shown, ctx.policy, ctx.clock(), ctx.counted)
    vectors = ctx.store.vectors(namespace, [m.id for m in items]) if naming else {}
    today = day_at(ctx.clock(), ctx.policy.days.tz)
    doubted = find_older(items, vectors, likely, sources=sources, by_number=False, today=today).doubted
    return {i: tuple(reversed(doubted[i])) for i in ids & doubted.keys()}


def _records_in_view(
    reading: CachedReads,
    sources: Mapping[str, Collection[str]],
    later: Collection[str],
    naming: Sequence[Record],
    seen: Filters,
) -> list[Record]:
    """Return facts, what says them, and those of the later statements that are in view."""
    said = {memory for some in sources.values() for memory in some} if naming else set()
    stored = reading.records(sorted({*sources, *later, *said}))
    records = {r.id: r for r in (*stored.values(), *naming)}
    statements = {*later, *(r.id for r in naming)}
    return [r for i, r in records.items() if i not in statements or _is_shown(r, seen)]


def _replacing_statements(ctx: Context, namespace: str, facts: Sequence[FactLine], seen: Filters) -> list[Record]:
    """Return notes and messages in view that name something as replaced and have words of the facts' values.

    One search for all of them: their number is that of the facts, and not that of the statements.
    """
    words = tuple(dict.fromkeys(word for f in facts for word in query_words(f.value)))
    if not words:
        return []
    most = max(_LEAST, _EACH * len(facts))
    told = replace(seen, kinds=(Kind.EPISODE, Kind.NOTE))
    pool = ctx.store.search(namespace, Query(" ".join(words), words), told, ctx.policy.recall.for_limit(most))
    ranked = sorted(zip(pool.columns.ids, pool.columns.bm25, strict=True), key=lambda one: -one[1])[:most]
    records = ctx.store.get(namespace, [i for i, _ in ranked]) if ranked else ()
    return [r for r in records if _is_shown(r, seen) and _tells_a_change(r.content.text)]


def _tells_a_change(text: str) -> bool:
    return bool(replaced_values(text) or returned_values(text))


def _is_shown(record: Record, seen: Filters) -> bool:
    return record.state.status is Status.ACTIVE and seen.sees(record.state.scope, record.content.session)

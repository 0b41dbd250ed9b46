"""What is known of a name that no facts are about: facts with it as their value, and memories that name it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from perdure.knowledge.extraction.entity_names import Names
from perdure.knowledge.operations import facts
from perdure.knowledge.operations.alias_index import names_of
from perdure.knowledge.records.results import Timeline
from perdure.operations.ports import Context
from perdure.operations.remember_one import related_memory
from perdure.records.errors import NotFound
from perdure.records.memory import Kind, Record, Status
from perdure.records.recall import Filters, Query
from perdure.rules.language.words import query_words

_MOST: Final = 50  # facts, and memories, those of the latest


def timeline(ctx: Context, namespace: str, entity: str, then: Filters) -> Timeline:
    """Return what was true of an entity, and believed; of a name that no facts are about, what names it."""
    try:
        return facts.timeline(ctx, namespace, entity, then)
    except NotFound:
        found = _timeline_of_name(ctx, namespace, names_of(ctx, namespace), entity, then) if entity.strip() else None
        if found is None:
            raise
        return found


def _timeline_of_name(ctx: Context, namespace: str, names: Names, name: str, then: Filters) -> Timeline | None:
    """Return the facts whose value has a name and the memories that name it, oldest first; None where nothing does."""
    spaced = r"\s+".join(map(re.escape, name.split()))
    words = re.compile(rf"(?<!\w){spaced}(?!\w)", re.IGNORECASE)
    some = {fact.id: fact for fact in facts.all_facts(ctx, namespace, names, None) if words.search(fact.value.text)}
    lines = facts.lines_known_at(ctx, namespace, some, names, then)
    lines = sorted(lines, key=lambda f: (f.valid_from, f.believed_from, f.id))[-_MOST:]
    named = _memories_naming(ctx, namespace, name, words, then)
    if not lines and not named:
        return None
    return Timeline("", name, tuple(lines), tuple(related_memory(ctx, record) for record in named))


def _memories_naming(ctx: Context, namespace: str, name: str, words: re.Pattern[str], then: Filters) -> list[Record]:
    query = Query(name, query_words(name))
    pool = ctx.store.search(namespace, query, replace(then, known_at=None), ctx.policy.recall.for_limit(_MOST))
    records = ctx.store.get(namespace, list(pool.columns.ids)) if pool.columns.ids else []
    named = [
        r
        for r in records
        if r.state.kind is not Kind.FACT
        and r.state.status is Status.ACTIVE
        and words.search(r.content.text)
        and (then.known_at is None or r.state.recorded_ms <= then.known_at)
    ]
    return sorted(named, key=lambda r: (r.state.created_ms, r.id))[-_MOST:]

"""Explaining why a memory is as it is, and why it was not in an answer. Reads only; none of it is an access."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from perdure.operations.consolidation.relate import edges
from perdure.operations.corrections import taken_back
from perdure.operations.documents import find_documents, find_records, successors
from perdure.operations.intact import intact_records, refuse_altered
from perdure.operations.interruptions import interruptions
from perdure.operations.lifecycle.digest import shown_instead
from perdure.operations.lifecycle.sweep import what_is_due
from perdure.operations.ports import Context
from perdure.operations.recall import SPARE, embed_and_search, of_then, recall
from perdure.operations.superseding import likely_superseded
from perdure.operations.writing import read_record, refuse_damaged
from perdure.records.explanation import Explanation
from perdure.records.instant import text_of
from perdure.records.memory import (
    DERIVED,
    LIKELY_SUPERSEDES,
    Kind,
    MemoryItem,
    Record,
    Scope,
    Shelf,
    Status,
)
from perdure.records.recall import Absence, Filters, Hit, OutdatedFact, Pool, Query, Recall
from perdure.rules.explanation import (
    explain,
    interrupted_by,
    inverse_link,
    likely_untrue,
    listed_instead,
    value_replaced,
)
from perdure.rules.language.asked_days import days_asked_for
from perdure.rules.language.dates import Period
from perdure.rules.lifecycle.signals import memory_items
from perdure.rules.ranking import Ranking, drop_unrelated, least_share, rank_candidates, why_nothing_known

_LONGER: Final = 10  # so many more hits than the search's rank are looked through for the place of a memory
_MOST: Final = 1000  # hits of an answer


def get(ctx: Context, identity: str, *, include_archived: bool, namespace: str | None = None) -> MemoryItem | None:
    """Return one memory, or None where there is none, or only one that is not shown."""
    place = namespace if namespace is not None else ctx.store.locate(identity)
    records = ctx.store.get(place, [identity]) if place is not None else []
    if not records:
        refuse_damaged(ctx, place, identity)
    for record in records:
        refuse_altered(record)
    memories = _items(ctx, records)
    if not memories or (memories[0].status is not Status.ACTIVE and not include_archived):
        return None
    return memories[0]


def _items(ctx: Context, records: Sequence[Record]) -> list[MemoryItem]:
    """Return memories as they are now; a fact that has ended is not stale: nobody need confirm it."""
    now, items = ctx.clock(), memory_items(records, ctx.policy, ctx.clock())
    ended: set[str] = set()
    for namespace in {m.namespace for m in items if m.aging}:
        facts = find_documents(ctx, namespace, Shelf.FACT, [m.id for m in items if m.aging])
        ended |= {d.id for d in facts if d.data["valid_to_ms"] is not None and d.data["valid_to_ms"] <= now}
    return [replace(m, aging=False) if m.id in ended else m for m in items]


def list_memories(ctx: Context, namespace: str, filters: Filters, limit: int, before: str | None) -> list[MemoryItem]:
    """Return memories that pass the filters, newest first; ``before`` is the id of the last one of the page before.

    Confidence is computed when read, so pages are read until the limit is reached or nothing is left.
    """
    result: list[MemoryItem] = []
    last = None if before is None else read_record(ctx, before, namespace)
    cursor = None if last is None else (last.state.created_ms, last.id)
    while len(result) < limit:
        records = ctx.store.list_records(namespace, filters, limit, cursor)
        if not records:
            break
        cursor = records[-1].state.created_ms, records[-1].id
        result += [m for m in _items(ctx, intact_records(records)) if m.confidence >= filters.min_confidence]
    return result[:limit]


def why(ctx: Context, identity: str, namespace: str | None = None) -> Explanation:
    """Return why a memory is as it is: signals, history, what comes next."""
    record = read_record(ctx, identity, namespace)
    now = ctx.clock()
    memory = _items(ctx, [record])[0]
    links = ctx.store.links(record.namespace, identity)
    pairs = likely_superseded(ctx, record.namespace, [identity])
    ids = {other for _, other, _ in links} | {later for later, _ in pairs}
    records = ctx.store.get(record.namespace, sorted(ids))
    others = {r.id: r for r in records if r.state.status is Status.ACTIVE}
    incoming = {(other, kind): weight for other, kind, weight in ctx.store.links_to(record.namespace, identity)}
    count = {other for pair in pairs for other in pair}
    shown = [
        (inverse_link(k) if (o, k) in incoming else k, o, weight)
        for k, o, weight in links
        if o in others and (k != LIKELY_SUPERSEDES or o in count)
    ]
    shown += [(f"edge: {e.kind}", i, e.weight) for e in edges(ctx, identity) for i in e.members if i != identity]
    history = ctx.store.journal(record.namespace, identity)
    chances = {other: weight for (other, kind), weight in incoming.items() if kind == LIKELY_SUPERSEDES}
    later = [others[i] for i, earlier in pairs if earlier == identity and i in others]
    interruption = interruptions(ctx, record.namespace, [identity]).get(identity)
    over = ctx.extension.over(ctx, record)
    sources = [others[other] for kind, other, _ in links if kind == DERIVED and other in others]
    back = taken_back(ctx, memory, over, memory_items(sources, ctx.policy, now) if memory.kind is Kind.FACT else ())
    untrue = (
        interrupted_by(interruption, others) or likely_untrue(memory.kind, later, chances) or value_replaced(back.newer)
    )
    due = what_is_due(ctx, record.namespace, identity)
    instead = listed_instead(shown_instead(ctx, memory))
    explanation = explain(memory, history, shown, ctx.policy, now, due, untrue=untrue, instead=instead)
    explanation = replace(explanation, says=memory.content, fact=ctx.extension.explain(ctx, memory, history, now))
    return _with_standing(ctx, record, (*over, *back.over), explanation)


def _with_standing(
    ctx: Context, record: Record, over: tuple[OutdatedFact, ...], explanation: Explanation
) -> Explanation:
    """Return an explanation with what of the memory holds no longer, what took its place, and what rests on it."""
    later = ""
    if record.state.status is Status.SUPERSEDED:
        later = successors(ctx, record.namespace, [record.id])[record.id].replace(record.id, "")
    ids = [i for i in dict.fromkeys((later, *(fact.replaced_by for fact in over))) if i]
    return replace(
        explanation,
        no_longer_true=over,
        replaced_by=later or None,
        replacements={r.id: r.content.text for r in find_records(ctx, record.namespace, ids)},
        sole_source_of=ctx.extension.facts_resting_on(ctx, record),
    )


def why_not(ctx: Context, identity: str, text: str, limit: int, filters: Filters) -> Absence:
    """Return what kept a memory out of the answer to a question: status, filter, search, floor or rank."""
    record = read_record(ctx, identity)
    memory = memory_items([record], ctx.policy, ctx.clock())[0]
    wide = replace(filters, include_archived=True) if filters.looks_back else filters
    if memory.status is not Status.ACTIVE and not wide.include_archived:
        return Absence(identity, text, "status", f"it is {memory.status}; recall with include_archived, or restore it")
    answer = recall(ctx, text, record.namespace, limit, filters, touch=False)
    if (place := next((n for n, h in enumerate(answer.hits, 1) if h.memory.id == identity), None)) is not None:
        explanation = "; ".join(filter(None, (f"it is in the answer, at rank {place}", answer.note)))
        return Absence(identity, text, "nothing", explanation, place, answer.hits[place - 1].parts)
    asked_at, zone = filters.asked_at(ctx.clock()), ctx.policy.days.tz
    if periods := days_asked_for(text, asked_at, zone):
        return _why_not_of_days(record, text, periods, limit)
    query, pool, note = embed_and_search(ctx, text, record.namespace, limit, wide)
    order = rank_candidates(pool, query, ctx.policy.recall, asked_at, zone)
    rank = next((i for i, name in enumerate(order.ids, 1) if name == identity), None)
    if (absent := _place(ctx, memory, text, answer, rank, limit, filters)) is None:
        if rank is None:
            return Absence(identity, text, *_why_not_found(ctx, memory, query, filters))
        by, explanation = (
            _ended(ctx, record, filters)
            or _floor(ctx, memory, pool, filters)
            or _share(ctx, memory, order, rank)
            or ("rank", _chosen_from(rank, limit))
        )
        absent = Absence(identity, text, by, explanation, rank)
    explanation = f"{absent.explanation}; {note}" if note else absent.explanation
    parts = next((dict(entry.parts) for entry in order if entry.id == identity), absent.parts)
    return replace(absent, explanation=explanation, parts=parts)


def _ended(ctx: Context, record: Record, filters: Filters) -> tuple[str, str] | None:
    if of_then(ctx, record.namespace, [record], filters, ctx.clock()):
        return None
    if filters.looks_back:
        return "filters", "it does not hold at the time asked about"
    return "status", "it has ended; recall with include_archived, or as_of a day before its end"


def _why_not_of_days(record: Record, text: str, periods: Sequence[Period], limit: int) -> Absence:
    """Return the same of a question that asks for nothing but what was on some days."""
    said = record.state.created_ms
    if any(p.start <= said < p.end for p in periods):
        return Absence(record.id, text, "rank", f"others of these days come before it, or a filter (limit {limit})")
    return Absence(record.id, text, "days", f"it is of {text_of(said)[:10]}, and the question asks for other days")


def _floor(ctx: Context, memory: MemoryItem, pool: Pool, filters: Filters) -> tuple[str, str] | None:
    if memory.confidence < filters.min_confidence:
        return "min_confidence", f"its confidence {memory.confidence:.3f} is below {filters.min_confidence:g}"
    if why := why_nothing_known(pool, ctx.policy.recall):
        return "relevance floor", f"no memory passed the relevance floor: {why}"
    return None


def _share(ctx: Context, memory: MemoryItem, order: Ranking, rank: int) -> tuple[str, str] | None:
    if memory.id in drop_unrelated(order, ctx.policy.recall).ids:
        return None
    share = f"{least_share(order, ctx.policy.recall):.0%} of the best one's"
    score = order[rank - 1].score
    return "hit_share", f"it scores {score:.3f}, but its own similarity to the question is below {share}"


def _chosen_from(rank: int, limit: int) -> str:
    why = f"of its first {limit + SPARE} those are returned that signals, dates, links and likeness put first"
    return f"the search has it at rank {rank}; {why} (limit {limit})"


def _place(
    ctx: Context, memory: MemoryItem, text: str, answer: Recall, rank: int | None, limit: int, filters: Filters
) -> Absence | None:
    """Return the place of a memory in a longer answer, and what tells it; None where no longer answer has it.

    Search alone does not order an answer: what is newer or takes a hit's place stands before it. Some of an answer no
    search brought up: it belongs to another hit.
    """
    longer = recall(ctx, text, memory.namespace, min(max(rank or 0, limit) + _LONGER, _MOST), filters, touch=False)
    hits = {h.memory.id: (place, h.score, h.parts) for place, h in enumerate(longer.hits, 1)}
    if memory.id not in hits:
        return None
    place, score, parts = hits[memory.id]
    if place <= limit:
        beside = f"a longer answer has it at rank {place}, beside a hit that this one leaves out (limit {limit})"
        why = beside if rank is None else _chosen_from(rank, limit)
        return Absence(memory.id, text, "rank", why, place if rank is None else rank, parts)
    last = f"; the last hit scores {answer.hits[-1].score:.3f}" if answer.hits else ""
    first = answer.hits and answer.hits[-1].score < score
    moved = ", and stands before it because it is newer or takes the place of a hit" if first else ""
    why = f"it ranks {place} of {len(longer.hits)} with score {score:.3f}{last}{moved} (limit {limit})"
    return Absence(memory.id, text, "rank", why, place, parts)


def _why_not_found(ctx: Context, memory: MemoryItem, query: Query, filters: Filters) -> tuple[str, str]:
    """Say whether a filter or the searches themselves left the memory out."""
    everything = ctx.store.search(memory.namespace, query, Filters(include_archived=True), ctx.policy.recall)
    if memory.id in everything.columns.ids and filters != replace(Filters(), include_archived=True):
        names = [f for f in Filters.__slots__ if getattr(filters, f) not in ((), None, 0.0, False)]
        if memory.scope is Scope.LONG_TERM:  # seen from inside every session
            names = [f for f in names if f not in ("isolated", "inside")]
        if names:
            return "filters", f"it is found only without the filter{'s' * (len(names) > 1)} {' and '.join(names)}"
    count, words = ctx.policy.recall.candidates, ", ".join(query.words) or "(none)"
    meaning = "" if query.vector is None else f", nor among the {count} nearest in semantic search"
    return "search", f"it is not among the {count} best in keyword search for {words}{meaning}"


def hit_marks(ctx: Context, memories: Sequence[MemoryItem]) -> dict[str, Hit]:
    """Return memory -> how a recall marks it: what of it holds no longer, and what contradicts it."""
    places: dict[str, list[Hit]] = {}
    for memory in memories:
        places.setdefault(memory.namespace, []).append(Hit(memory, 0.0, {}))
    return {h.memory.id: h for n, hits in places.items() for h in ctx.extension.mark(ctx, n, hits, Filters())}

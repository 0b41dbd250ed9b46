"""Recalling: a question in, hits with their reasons out; counted as access unless asked not to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import tzinfo
from typing import Final
from unicodedata import normalize

from perdure.operations.affirming import affirmed_by
from perdure.operations.corrections import with_corrections
from perdure.operations.intact import intact_records
from perdure.operations.ports import Context
from perdure.operations.superseding import Links
from perdure.operations.undone_since import undone_since
from perdure.operations.unsearched_hits import with_later_statements, with_rivals, with_successors
from perdure.records.errors import EmbedderError, ModelError, ModelWarning, PerdureError
from perdure.records.instant import Instant, day_at, text_of
from perdure.records.memory import Kind, Record
from perdure.records.plan import Change, Plan, Target
from perdure.records.recall import Filters, Hit, Pool, Query, RankedCandidate, Recall
from perdure.records.vector import Vector
from perdure.rules.alike_names import named_first
from perdure.rules.corrected_hits import upcoming_behind
from perdure.rules.language.absent_names import absent_names
from perdure.rules.language.asked_days import days_asked_for, days_of_topic, names_days
from perdure.rules.language.dates import Period, without_days
from perdure.rules.language.record_numbers import names_asked_number
from perdure.rules.language.words import names_in, query_words
from perdure.rules.lifecycle.ended_memories import with_ends
from perdure.rules.lifecycle.signals import memory_items
from perdure.rules.point_in_time import begins, was_there
from perdure.rules.presentation import (
    asks_for_earlier,
    decided_first,
    latest_of_conflicts_first,
    newest_first,
)
from perdure.rules.ranking import (
    Ranking,
    diversify,
    drop_unrelated,
    rank_candidates,
    why_nothing_known,
    with_relevance,
    with_signals,
)
from perdure.rules.redaction import redact_by_policy
from perdure.rules.settled_parts import settled_parts_first

_ROOM: Final = 3  # from so many hits on the last place may go to what usually follows
_OF_DAYS: Final = 200  # so many of the latest memories of each period that a question asks for
_OF_TOPIC: Final = 0.4  # from this chance on a note of a day that a question names answers it
_AS_NEAR: Final = 0.5  # where it shares no word with the question, if its cosine is so much of the best one's
_OF_THE_DAY: Final = 1.0  # the score of what is of a day that a question asks for, before signals
SPARE: Final = 3  # so many more than the limit are read in full: signals and near-duplicates may change the order


def recall(ctx: Context, text: str, namespace: str, limit: int, filters: Filters, *, touch: bool) -> Recall:
    """Return the memories that answer a question, best first.

    Stale ones are verified first where they count as accessed: whoever only looks changes nothing, and a question
    about another time is about what was known then.
    """
    found = _recall_without_access(ctx, text, namespace, limit, filters)
    if not touch:
        return found
    checks = not filters.looks_back and not ctx.store.read_only
    if checks and ctx.extension.refresh(ctx, namespace, found.hits):
        found = _recall_without_access(ctx, text, namespace, limit, filters)
    if found.nothing_known:
        return found
    identity, problem = count_accesses(ctx, text, namespace, list(found.hits), ctx.clock())
    if ctx.grant is not None and not ctx.grant.allows("agent"):
        identity = ""  # who only reads cannot say how a hit was used
    return replace(found, note=_join_notes(found.note, problem), recall_id=identity)


def _recall_without_access(ctx: Context, text: str, namespace: str, limit: int, filters: Filters) -> Recall:
    """Return the memories that answer a question, not counted as accessed; what has ended says so."""
    found = _recall_with_dates(ctx, text, namespace, limit, filters)
    found = replace(found, note=_join_notes(found.note, undone_since(ctx, namespace, filters.known_at)))
    return replace(found, hits=with_ends(found.hits, day_at(filters.asked_at(ctx.clock()), ctx.policy.days.tz)))


def _recall_with_dates(ctx: Context, text: str, namespace: str, limit: int, filters: Filters) -> Recall:
    """Return what a search brings up, and what is of the days that a question names."""
    found = _rank_matches(ctx, text, namespace, limit, filters)
    asked_at, zone = filters.asked_at(ctx.clock()), ctx.policy.days.tz
    if periods := days_asked_for(text, asked_at, zone):
        return _with_days(ctx, found, namespace, limit, filters, periods)
    if periods := days_of_topic(text, asked_at, zone):
        return _notes_of_days_first(ctx, found, namespace, limit, filters, periods)
    return found


def _rank_matches(ctx: Context, text: str, namespace: str, limit: int, filters: Filters) -> Recall:
    """Return what a search by words and meaning brings up."""
    now = ctx.clock()
    wide = replace(filters, include_archived=True) if filters.looks_back else filters
    query, pool, note = embed_and_search(ctx, text, namespace, limit, wide)
    if why := why_nothing_known(pool, ctx.policy.recall):
        why = of_another_time(ctx, query, namespace, limit, filters) or f"no stored memory matches: {why}"
        return Recall(text, (), nothing_known=True, note=_join_notes(why, note))
    found = rank_candidates(pool, query, ctx.policy.recall, filters.asked_at(now), ctx.policy.days.tz)
    order = ctx.extension.rank(ctx, namespace, query, pool, found, filters)
    order = order if order is found else with_relevance(order, pool)
    order, problem = rerank(ctx, query.text, namespace, order, drop_unrelated(order, ctx.policy.recall))
    note = _join_notes(note, problem)
    hits, links = best_hits(ctx, order, query.text, namespace, limit, filters, now)
    if not hits:
        why = of_another_time(ctx, query, namespace, limit, filters) or _bound_note(filters)
        return Recall(text, (), nothing_known=True, note=_join_notes(why, note))
    hits = add_usual_follow_up(ctx, namespace, query, hits, limit, filters, now)
    hits = upcoming_behind(ctx.extension.mark(ctx, namespace, hits, filters))
    hits = with_rivals(ctx, namespace, with_successors(ctx, namespace, hits, filters), filters)
    hits = with_later_statements(ctx, namespace, hits, text, filters, links)
    hits = with_corrections(ctx, namespace, latest_of_conflicts_first(hits, text), text, links)
    hits = named_first(settled_parts_first(decided_first(hits), text), query.text)[:limit]
    hits = ctx.extension.with_earlier(ctx, namespace, hits, filters) if asks_for_earlier(text) else hits
    if not hits:
        return Recall(text, (), nothing_known=True, note=_join_notes(_bound_note(filters), note))
    return Recall(text, tuple(hits), nothing_known=False, note=_join_notes(note, _absence_note(query.text, pool, hits)))


def embed_and_search(ctx: Context, text: str, namespace: str, limit: int, filters: Filters) -> tuple[Query, Pool, str]:
    """Return a question as it was searched, what that brought up, and what the caller should know about it.

    A name that no memory has is searched as memories have it, where that is known.
    """
    policy = ctx.policy.recall
    query, note = embed_query(ctx, text)
    pool = ctx.store.search(namespace, query, filters, policy.for_limit(limit))
    if pool.absent or why_nothing_known(pool, policy):
        named = ctx.extension.with_known_names(ctx, namespace, text, pool.absent)
        if named != text:
            query, note = embed_query(ctx, named)
            pool = ctx.store.search(namespace, query, filters, policy.for_limit(limit))
            note = _join_notes(f'searched as "{named}"', note)
    return query, pool, _join_notes(note, _spelling_note(pool))


def _with_days(
    ctx: Context, found: Recall, namespace: str, limit: int, filters: Filters, periods: Sequence[Period]
) -> Recall:
    """Return hits that name the dates asked about, then memories from those dates; without either, the search's hits.

    No word or meaning of "What happened on 9 March?" says what it was. The most important comes first.
    """
    of_days: dict[str, RankedCandidate] = {}
    wide = replace(filters, include_archived=True) if filters.looks_back else filters
    for period in periods:
        then = ctx.store.list_records(namespace, in_period(wide, period), _OF_DAYS, None)
        of_days |= {r.id: RankedCandidate(r.id, _OF_THE_DAY, {"dated": _OF_THE_DAY}, None, 1.0) for r in then}
    named = [
        h for h in found.hits if names_days(h.memory.content, h.memory.state.created_ms, periods, ctx.policy.days.tz)
    ]
    for hit in named:
        of_days.pop(hit.memory.id, None)
    hits, _ = best_hits(ctx, Ranking.of([*of_days.values()]), found.query, namespace, limit, filters, ctx.clock())
    hits = decided_first([*named, *ctx.extension.mark(ctx, namespace, hits, filters)])[:limit]
    return Recall(found.query, tuple(hits), nothing_known=False) if hits else found


def _notes_of_days_first(
    ctx: Context, found: Recall, namespace: str, limit: int, filters: Filters, periods: Sequence[Period]
) -> Recall:
    """Return what was found, before it the notes that are of the days that a question names, or that name them.

    They are searched by what else it asks for: "standup note" of "the standup note on 9 March". Messages stay in the
    order of the ranking, in which their day counts: people talk of a day on others.
    """
    topic, shown = without_days(found.query), {h.memory.id: h for h in found.hits}
    own = [h for h in found.hits if _is_of_days(h, periods, ctx.policy.days.tz)]
    for period in periods:
        own += _rank_matches(ctx, topic, namespace, limit, in_period(filters, period)).hits
    # Of one memory of a day any is likely to answer, so it must be about the topic as much as others are.
    nearest = max((h.cosine or 0.0 for h in found.hits), default=math.inf)
    chances = {
        h.memory.id: h.relevance
        for h in sorted(own, key=lambda h: h.relevance)
        if h.parts.get("keyword") or (h.cosine or 0.0) >= _AS_NEAR * nearest
    }
    of_days = [
        replace(shown.get(h.memory.id, h), relevance=chances[h.memory.id])
        for h in {h.memory.id: h for h in own}.values()
        if h.memory.kind is Kind.NOTE and chances.get(h.memory.id, 0.0) >= _OF_TOPIC
    ]
    if not of_days:
        return found
    first = {h.memory.id for h in of_days}
    hits = [*sorted(of_days, key=lambda h: -h.relevance), *(h for h in found.hits if h.memory.id not in first)]
    return replace(found, hits=tuple(hits[:limit]), nothing_known=False, note="" if found.nothing_known else found.note)


def _is_of_days(hit: Hit, periods: Sequence[Period], zone: tzinfo | None) -> bool:
    """Return whether a hit was said on one of some days, or names one."""
    said = hit.memory.state.created_ms
    return any(p.start <= said < p.end for p in periods) or names_days(hit.memory.content, said, periods, zone)


def in_period(filters: Filters, period: Period) -> Filters:
    """Return filters that let pass only what is of a period."""
    since = max(period.start, period.start if filters.since is None else filters.since)
    until = min(period.end, period.end if filters.until is None else filters.until)
    return replace(filters, since=since, until=until)


def rerank(ctx: Context, text: str, namespace: str, order: Ranking, related: Ranking) -> tuple[Ranking, str]:
    """Return as many of an order as are related, the best ones by the reranker, and what went wrong with it.

    The reranker says which memories answer best; how many of them are an answer is left to the ranking. Scores keep
    their scale: the best text takes the highest score.
    """
    if ctx.reranker is None or not related:
        return related, ""
    best = order[: ctx.policy.reranker.candidates]
    texts = {r.id: r.content.text for r in ctx.store.get(namespace, best.ids)}
    entries = [entry for entry in best if entry.id in texts]
    try:
        scores = ctx.reranker.score(text, [texts[entry.id] for entry in entries])
    except ModelError as error:
        ctx.warn(f"Not reranked: {error}", ModelWarning)
        return related, f"not reranked: {error.message}"
    places = sorted(range(len(entries)), key=lambda at: -scores[at])
    ranked = [
        entries[at]._replace(score=place.score, parts={"reranker": place.score})
        for at, place in zip(places, entries, strict=True)
    ]
    rest = [entry for entry in related if entry.id not in texts]
    return Ranking.of([*ranked, *rest][: len(related)]), ""


def _spelling_note(pool: Pool) -> str:
    words = ", ".join(f'"{word}"' for word in pool.respelt)
    return f"no memory has {words}: the nearest spelling was searched" if words else ""


def _absence_note(text: str, pool: Pool, hits: Sequence[Hit]) -> str:
    """Return which names and numbers of a question are in no memory: what was found may be of another one."""
    missing, numbers = absent_names(text, pool.absent, [hit.memory.content for hit in hits])
    notes = ((f"no {whose} has ", words) for whose, words in (("memory", missing), ("hit", numbers)) if words)
    return _join_notes(*(head + ", ".join(f'"{word}"' for word in words) for head, words in notes))


def _bound_note(filters: Filters) -> str:
    bounds = {"confidence": filters.min_confidence, "relevance": filters.min_relevance}
    reached = " and ".join(f"{n} {b:g}" for n, b in bounds.items() if b)
    return f"related memories exist, but none {f'reaches {reached}' if reached else 'may be shown'}"


def _join_notes(*notes: str) -> str:
    return "; ".join(note for note in notes if note)


def of_another_time(ctx: Context, query: Query, namespace: str, limit: int, filters: Filters) -> str:
    """Return that what is related is of another time than asked for, and since when there is any; empty if it is not.

    Searches once more, without the time: only where an answer about another time is empty.
    """
    if not filters.looks_back:
        return ""
    policy = ctx.policy.recall
    wide = replace(filters, include_archived=True, as_of=None, known_at=None, min_confidence=0.0)
    pool = ctx.store.search(namespace, query, wide, policy.for_limit(limit))
    if why_nothing_known(pool, policy):
        return ""
    order = drop_unrelated(rank_candidates(pool, query, policy, filters.asked_at(ctx.clock())), policy)[: limit + SPARE]
    records = ctx.store.get(namespace, order.ids)
    if not records or of_then(ctx, namespace, records, filters, ctx.clock()):
        return ""
    asked_of = [(how, at) for how, at in (("true", filters.as_of), ("known", filters.known_at)) if at is not None]
    times = " and ".join(f"{how} at {text_of(at)}" for how, at in asked_of)
    validity = ctx.extension.validity(ctx, namespace, records)
    first = min(begins(r, validity.get(r.id), filters) for r in records)
    later = first > min(at for _, at in asked_of)
    return f"no related memory was {times}" + (f"; the earliest is from {text_of(first)}" if later else "")


def add_usual_follow_up(
    ctx: Context, namespace: str, query: Query, hits: list[Hit], limit: int, filters: Filters, now: Instant
) -> list[Hit]:
    """Return hits with one about what usually follows: in the last place, where a procedure knows what that is."""
    if limit < _ROOM or filters != Filters(isolated=filters.isolated, inside=filters.inside):
        return hits
    words = ctx.extension.follow_ups(ctx, namespace, query)
    if not words:
        return hits
    policy = ctx.policy.recall
    pool = ctx.store.search(namespace, Query(" ".join(words), words), filters, policy.for_limit(limit))
    order = rank_candidates(pool, Query(" ".join(words), words), policy, filters.asked_at(now))
    hit_ids = {h.memory.id for h in hits}
    found, _ = best_hits(ctx, order, query.text, namespace, limit, filters, now)
    more = next((h for h in found if h.memory.id not in hit_ids), None)
    if more is None:
        return hits
    first_hits = hits[: limit - 1]
    return [*first_hits, replace(more, score=first_hits[-1].score, parts={"procedure": first_hits[-1].score})]


def embed_query(ctx: Context, text: str) -> tuple[Query, str]:
    """Return the query as the searches take it, and what the caller should know about it."""
    text = normalize("NFC", text)  # a mark apart from its letter would end a word
    query = Query(text, query_words(text), names=names_in(without_days(text)))
    if ctx.embedder is None:
        return query, "keyword search only: there is no embedder"
    space = ctx.store.space()
    if space is None:
        return query, "keyword search only: no memory has a vector yet"
    try:
        vector, own = ctx.asked.vector_of(ctx.embedder, text, space)
    except EmbedderError as error:
        ctx.warn(f"Keyword search only: {error}")
        return query, f"keyword search only: {error.message}"
    if space != own:
        differ = f"the store's vectors are from {space.name}, the embedder is {own.name}; run `perdure reembed`"
        return query, f"keyword search only: {differ}"
    return replace(query, vector=vector), ""


def best_hits(
    ctx: Context, order: Ranking, text: str, namespace: str, limit: int, filters: Filters, now: Instant
) -> tuple[list[Hit], dict[str, Links]]:
    """Return the best hits of an order, and their links as they are stored.

    The hits have signals and no near-duplicates, and those about one thing are newest first.
    """
    hits, vectors, links = list[Hit](), dict[str, Vector](), dict[str, Links]()
    for start in range(0, len(order), limit + SPARE):
        page = order[start : start + limit + SPARE]
        details = ctx.store.details(namespace, page.ids)
        records, tied = of_then(ctx, namespace, intact_records(details.records), filters, now), details.links
        if filters.looks_back:
            records, tied = affirmed_by(ctx, namespace, records, tied, filters)
        hits += _hits_of(ctx, page, records, filters, now)
        vectors |= details.vectors
        links |= {i: [link for link in tied if i in (link[0], link[2])] for i in page.ids}
        if len(hits) >= limit:
            break
    names_it = names_asked_number(text)
    hits.sort(key=lambda h: (not names_it(h.memory.content), -h.score))  # a record is asked for by its number
    diverse = diversify(hits, vectors, limit, ctx.policy.recall, ctx.extension.sources(ctx, namespace, hits))
    return newest_first(diverse, text, vectors) if ctx.policy.knowledge.watch else diverse, links


def _hits_of(ctx: Context, page: Ranking, records: list[Record], filters: Filters, now: Instant) -> list[Hit]:
    """Return a part of an order as hits, without what is less sure than asked for."""
    by_id = {m.id: m for m in memory_items(records, ctx.policy, now, ctx.counted)}
    return [
        with_signals(r, by_id[r.id], ctx.policy.recall)
        for r in page
        if r.id in by_id and by_id[r.id].confidence >= filters.min_confidence and r.relevance >= filters.min_relevance
    ]


def of_then(ctx: Context, namespace: str, records: list[Record], filters: Filters, now: Instant) -> list[Record]:
    """Return those that hold now, or that are answers to a question about another time."""
    validity = ctx.extension.validity(ctx, namespace, records)
    if filters.looks_back:
        return [r for r in records if was_there(r, validity.get(r.id), filters)]
    ended = {i for i, v in validity.items() if v.valid_to is not None and v.valid_to <= now}
    return [r for r in records if r.id not in ended or filters.include_archived]


def count_accesses(ctx: Context, text: str, namespace: str, hits: list[Hit], now: Instant) -> tuple[str, str]:
    """Count the hits as accessed; a store that cannot be written still answers."""
    if ctx.store.read_only:
        return "", "not counted as an access: the store is read-only"
    identity = ctx.ids(now)
    ids = [h.memory.id for h in hits]
    changes = [Change(Target.ACCESS, i, None, {"at_ms": now, "times": 1}) for i in ids]
    changes.append(
        Change(Target.RECALL, identity, None, {"at_ms": now, "query": redact_by_policy(text, ctx.policy), "hits": ids})
    )
    try:
        ctx.store.count(Plan(identity, "recall", namespace, now, tuple(changes), ctx.policy.version))
    except PerdureError as error:
        return "", f"not counted as an access: {error.message.removesuffix('.')}"
    return identity, ""

"""Recalling: a question in, hits with their reasons out; counted as access unless asked not to."""

from __future__ import annotations

from typing import Final

from perdure.operations.ports import Context
from perdure.operations.writing import found
from perdure.records.errors import EmbedderError, PerdureError
from perdure.records.instant import Instant
from perdure.records.memory import Status
from perdure.records.plan import Change, Plan, Target
from perdure.records.recall import Absence, Filters, Hit, Pool, Query, Recall
from perdure.rules.ranking import Ranked, diversified, nothing_known, ranked, with_signals
from perdure.rules.signals import views
from perdure.rules.words import query_words

EXTRA: Final = 3
"""So many times the limit is read in full: signals and twins may change the order among the best."""


def recall(ctx: Context, text: str, namespace: str, limit: int, filters: Filters, *, touch: bool) -> Recall:
    """Return the memories that answer a question, best first.

    Args:
        ctx: Store, policy, clock, ids, embedder.
        text: The question.
        namespace: Where to look.
        limit: How many hits at most.
        filters: What the search is limited to.
        touch: Count the hits as accessed.
    """
    now = ctx.clock()
    query, note = _query(ctx, text)
    pool = ctx.store.search(namespace, query, filters, ctx.policy.recall)
    if why := nothing_known(pool, query, ctx.policy.recall):
        return Recall(text, (), nothing_known=True, note="; ".join(n for n in (f"nothing known: {why}", note) if n))
    hits = _hits(ctx, ranked(pool, query, ctx.policy.recall), namespace, limit, filters, now)
    identity = ""
    if touch and hits:
        identity, problem = _counted(ctx, text, namespace, hits, now)
        note = "; ".join(n for n in (note, problem) if n)
    return Recall(text, tuple(hits), nothing_known=not hits, note=note, id=identity)


def _query(ctx: Context, text: str) -> tuple[Query, str]:
    words = query_words(text)
    if ctx.embedder is None:
        return Query(text, words), "only words were searched: there is no embedder"
    try:
        space = ctx.store.space()
        if space is None:
            return Query(text, words), ""
        if space != ctx.embedder.space:
            return Query(text, words), (
                f"only words were searched: the store's vectors are of {space.name}, the embedder's "
                f"of {ctx.embedder.space.name}; run `perdure reembed`"
            )
        return Query(text, words, ctx.embedder.embed([text], purpose="query")[0]), ""
    except EmbedderError as error:
        ctx.warn(f"Only words are searched: {error}")
        return Query(text, words), f"only words were searched: {error.message}"


def _hits(ctx: Context, order: list[Ranked], namespace: str, limit: int, filters: Filters, now: Instant) -> list[Hit]:
    hits: list[Hit] = []
    for start in range(0, len(order), EXTRA * limit):
        page = order[start : start + EXTRA * limit]
        memories = views(ctx.store.get(namespace, [r.id for r in page]), ctx.policy, now)
        by_id = {m.id: m for m in memories}
        hits += [
            with_signals(r, by_id[r.id], ctx.policy.recall)
            for r in page
            if r.id in by_id and by_id[r.id].confidence >= filters.min_confidence
        ]
        if len(hits) >= limit:
            break
    hits.sort(key=lambda h: -h.score)
    return diversified(hits, ctx.store.vectors(namespace, [h.memory.id for h in hits]), limit, ctx.policy.recall)


def _counted(ctx: Context, text: str, namespace: str, hits: list[Hit], now: Instant) -> tuple[str, str]:
    """Count the hits as accessed; a store that cannot be written still answers."""
    identity = ctx.ids(now)
    ids = [h.memory.id for h in hits]
    changes = [Change(Target.ACCESS, i, None, {"at_ms": now, "times": 1}) for i in ids]
    changes.append(Change(Target.RECALL, identity, None, {"at_ms": now, "query": text, "hits": ids}))
    try:
        ctx.store.count(Plan(identity, "recall", namespace, now, tuple(changes), ctx.policy.version))
    except PerdureError as error:
        return "", f"not counted as access: {error.message}"
    return identity, "not counted as access: the store is read-only" if ctx.store.read_only else ""


def why_not(ctx: Context, identity: str, text: str, limit: int, filters: Filters) -> Absence:
    """Return what kept a memory out of the answer to a question: status, filter, search, floor or rank."""
    record = found(ctx, identity)
    memory = views([record], ctx.policy, ctx.clock())[0]
    shown = Filters(**{**{f: getattr(filters, f) for f in Filters.__slots__}, "include_archived": True})

    def absent(by: str, explanation: str, rank: int | None = None, parts: dict[str, float] | None = None) -> Absence:
        return Absence(identity, text, by, explanation, rank, parts or {})

    if memory.status is not Status.ACTIVE and not filters.include_archived:
        return absent("status", f"it is {memory.status}; ask with include_archived=True or restore it")
    query, note = _query(ctx, text)
    pool = ctx.store.search(record.namespace, query, shown if filters.include_archived else filters, ctx.policy.recall)
    order = ranked(pool, query, ctx.policy.recall)
    rank = next((i for i, r in enumerate(order, 1) if r.id == identity), None)
    if rank is None:
        return _unfound(ctx, record.namespace, query, filters, absent, identity)
    entry = order[rank - 1]
    if memory.confidence < filters.min_confidence:
        return absent(
            "min_confidence",
            f"its confidence {memory.confidence:.3f} is below {filters.min_confidence:g}",
            rank,
            dict(entry.parts),
        )
    if why := nothing_known(pool, query, ctx.policy.recall):
        return absent("nothing known", f"nothing passed the relevance floor: {why}", rank, dict(entry.parts))
    hits = _hits(ctx, order, record.namespace, limit, filters, ctx.clock())
    place = next((i for i, h in enumerate(hits, 1) if h.memory.id == identity), None)
    if place is not None:
        return absent("nothing", f"it is in the answer, at place {place}", place, dict(hits[place - 1].parts))
    weakest = f"; the last one shown scores {hits[-1].score:.3f}" if hits else ""
    return absent(
        "rank",
        f"it ranks {rank} of {len(order)} with score {entry.score:.3f}{weakest} (limit {limit}); {note}".rstrip("; "),
        rank,
        dict(entry.parts),
    )


def _unfound(ctx: Context, namespace: str, query: Query, filters: Filters, absent: object, identity: str) -> Absence:
    """Say whether a filter or the searches themselves left the memory out."""
    open_pool: Pool = ctx.store.search(namespace, query, Filters(include_archived=True), ctx.policy.recall)
    candidate = next((c for c in open_pool.candidates if c.id == identity), None)
    if candidate is not None:
        given = {f: getattr(filters, f) for f in Filters.__slots__ if getattr(filters, f) not in ((), None, 0.0, False)}
        return absent("filters", f"it is found without the filters {given}")  # type: ignore[operator,no-any-return]
    vector = "" if query.vector is None else f" nor among the {ctx.policy.recall.candidates} nearest by meaning"
    words = ", ".join(query.words) or "(none)"
    text = f"it is not among the {ctx.policy.recall.candidates} best by the words {words}{vector}"
    return absent("search", text)  # type: ignore[operator,no-any-return]

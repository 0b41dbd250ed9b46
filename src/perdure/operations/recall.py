"""Recalling: a question in, hits with their reasons out; counted as access unless asked not to."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from perdure.operations.ports import Context
from perdure.records.document import Shelf
from perdure.records.errors import EmbedderError, PerdureError
from perdure.records.instant import Instant
from perdure.records.knowledge import Fact
from perdure.records.memory import Kind, Record, Scope, State, Status
from perdure.records.plan import Change, Plan, Target
from perdure.records.recall import Filters, Hit, Query, Recall
from perdure.rules.fact_records import ready_question
from perdure.rules.fact_states import validated_at, was_there
from perdure.rules.naming import names_in
from perdure.rules.ranking import Ranked, diversified, nothing_known, ranked, relevant, with_facts, with_signals
from perdure.rules.redacting import cleaned
from perdure.rules.signals import views
from perdure.rules.words import query_words

_MOST_FACTS: Final = 200
"""Facts about those whom a question names that are looked at."""
SPARE: Final = 3
"""So many more than the limit are read in full: signals and twins may change the order among the best."""


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
    query, note = asked(ctx, text)
    wide = replace(filters, include_archived=True) if filters.looks_back else filters
    pool = ctx.store.search(namespace, query, wide, ctx.policy.recall.for_limit(limit))
    if why := nothing_known(pool, query, ctx.policy.recall):
        return Recall(text, (), nothing_known=True, note="; ".join(n for n in (f"nothing known: {why}", note) if n))
    order = ranked(pool, query, ctx.policy.recall)
    if ctx.policy.knowledge.learn != "off":
        order = with_facts(order, facts_named(ctx, namespace, text, filters), query, pool, ctx.policy.recall)
    order = relevant(order, ctx.policy.recall)
    hits = best(ctx, order, namespace, limit, filters, now)
    if not hits:
        doubt = f"everything related is less sure than {filters.min_confidence:g}"
        return Recall(text, (), nothing_known=True, note="; ".join(n for n in (doubt, note) if n))
    hits = questioned(ctx, namespace, hits)
    identity = ""
    if touch:
        identity, problem = counted(ctx, text, namespace, hits, now)
        note = "; ".join(n for n in (note, problem) if n)
    return Recall(text, tuple(hits), nothing_known=False, note=note, id=identity)


def facts_named(ctx: Context, namespace: str, text: str, filters: Filters) -> dict[str, str]:
    """Return id -> words of the facts that are believed about those whom a question names by a known name.

    Of very many only those learned last are looked at. A question that is limited otherwise than by kind and
    confidence is left to the searches.
    """
    wanted = replace(filters, kinds=(), min_confidence=0.0, isolated=False, inside=None)
    if wanted != Filters() or (filters.kinds and Kind.FACT not in filters.kinds):
        return {}
    forms = names_in(text)
    known = ctx.store.around.documents_named(namespace, Shelf.ALIAS, forms) if forms else []
    entities = sorted({d.id for d in known})
    about = ctx.store.around.documents_named(namespace, Shelf.ABOUT, entities) if entities else []
    ids = sorted({d.id for d in about})[-_MOST_FACTS:]
    states = ctx.store.states(namespace, ids) if ids else {}
    believed = [i for i in ids if i in states and _is_open(states[i][0])]
    return {r.id: r.content.text for r in ctx.store.get(namespace, believed)}


def _is_open(state: State) -> bool:
    """Whether a fact is believed, and for all to see."""
    return state.status is Status.ACTIVE and state.scope is Scope.LONG_TERM


def questioned(ctx: Context, namespace: str, hits: list[Hit]) -> list[Hit]:
    """Return hits, the ageing facts among them with the question that a person may be asked."""
    aging = [h.memory.id for h in hits if h.memory.aging]
    if not aging:
        return hits
    told = ctx.store.around.documents_of(namespace, Shelf.FACT, aging)
    muted = {d.id for d in told if d.data.get("asked_not")}
    return [
        replace(h, question=ready_question(h.memory, validated_at(h.memory.state)))
        if h.memory.aging and h.memory.id not in muted
        else h
        for h in hits
    ]


def asked(ctx: Context, text: str) -> tuple[Query, str]:
    """Return the query as the searches take it, and what the caller should know about it."""
    words = query_words(text)
    if ctx.embedder is None:
        return Query(text, words), "only words were searched: there is no embedder"
    space = ctx.store.space()
    if space is None:
        return Query(text, words), "only words were searched: no memory has a vector yet"
    try:
        vector = ctx.embedder.embed([text], purpose="query")[0]
    except EmbedderError as error:
        ctx.warn(f"Only words are searched: {error}")
        return Query(text, words), f"only words were searched: {error.message}"
    own = ctx.embedder.space  # some embedders know their space only after their first vector
    if space != own:
        return Query(text, words), (
            f"only words were searched: the store's vectors are of {space.name}, the embedder's of {own.name}; "
            "run `perdure reembed`"
        )
    return Query(text, words, vector), ""


def best(ctx: Context, order: list[Ranked], namespace: str, limit: int, filters: Filters, now: Instant) -> list[Hit]:
    """Return the best hits of an order, with signals, without twins."""
    hits: list[Hit] = []
    size = limit + SPARE
    for start in range(0, len(order), size):
        page = order[start : start + size]
        records = ctx.store.get(namespace, [r.id for r in page])
        if filters.looks_back:
            records = _of_then(ctx, namespace, records, filters)
        memories = views(records, ctx.policy, now)
        by_id = {m.id: m for m in memories}
        hits += [
            with_signals(r, by_id[r.id], ctx.policy.recall)
            for r in page
            if r.id in by_id and by_id[r.id].confidence >= filters.min_confidence
        ]
        if len(hits) >= limit:
            break
    hits.sort(key=lambda h: -h.score)
    vectors = ctx.store.vectors(namespace, [h.memory.id for h in hits])
    return diversified(hits, vectors, limit, ctx.policy.recall, _sources(ctx, namespace, hits))


def _sources(ctx: Context, namespace: str, hits: list[Hit]) -> dict[str, frozenset[str]]:
    """Return fact -> the messages that say it, of the facts among some hits."""
    facts = [h.memory.id for h in hits if h.memory.kind is Kind.FACT]
    told = ctx.store.around.documents_of(namespace, Shelf.FACT, facts) if facts else []
    return {d.id: frozenset(s["memory"] for s in d.data["sources"]) for d in told}


def _of_then(ctx: Context, namespace: str, records: list[Record], filters: Filters) -> list[Record]:
    """Return those that are answers to a question about another time."""
    facts = [r.id for r in records if r.state.kind is Kind.FACT]
    told = ctx.store.around.documents_of(namespace, Shelf.FACT, facts) if facts else []
    known = {d.id: Fact.from_data(d.id, d.data) for d in told}
    return [r for r in records if was_there(r, known.get(r.id), filters)]


def counted(ctx: Context, text: str, namespace: str, hits: list[Hit], now: Instant) -> tuple[str, str]:
    """Count the hits as accessed; a store that cannot be written still answers."""
    if ctx.store.read_only:
        return "", "not counted as access: the store is read-only"
    identity = ctx.ids(now)
    ids = [h.memory.id for h in hits]
    changes = [Change(Target.ACCESS, i, None, {"at_ms": now, "times": 1}) for i in ids]
    changes.append(
        Change(Target.RECALL, identity, None, {"at_ms": now, "query": cleaned(text, ctx.policy), "hits": ids})
    )
    try:
        ctx.store.count(Plan(identity, "recall", namespace, now, tuple(changes), ctx.policy.version))
    except PerdureError as error:
        return "", f"not counted as access: {error.message}"
    return identity, ""

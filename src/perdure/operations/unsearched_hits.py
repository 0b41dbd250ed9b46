"""Hits that no search brought up: what took the place of a hit, what denies it, what was said of it later."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from perdure.operations.ports import Context
from perdure.operations.superseding import CachedReads, Links, likely_superseded
from perdure.records.memory import LIKELY_SUPERSEDES, MAY_SUPERSEDE, Kind, Status
from perdure.records.recall import Filters, Hit
from perdure.rules.corrected_hits import superseding_first
from perdure.rules.lifecycle.confirmation import FEW
from perdure.rules.lifecycle.signals import memory_items
from perdure.rules.presentation import keeps_order

_LONGEST_CHAIN: Final = 5  # so often what is brought in is looked at for what makes it untrue in turn


def with_successors(ctx: Context, namespace: str, hits: list[Hit], filters: Filters) -> list[Hit]:
    """Return hits, and before one that says what holds no longer the fact that took its place, where none is there.

    It need not share a word with the question ("I live in Leeds", "home: York"). Where the hit says more, which may be
    what was asked for, the fact is last.
    """
    shown = {h.memory.id for h in hits}
    missing = {f.replaced_by: h for h in reversed(hits) for f in h.over if f.replaced_by and f.replaced_by not in shown}
    before: dict[str, list[Hit]] = {}
    for hit in _unsearched_hits(ctx, namespace, missing, filters):
        says_it = missing[hit.memory.id]
        before.setdefault(says_it.memory.id if says_it.updated_by else "", []).append(hit)
    return [*(one for hit in hits for one in (*before.get(hit.memory.id, ()), hit)), *before.get("", ())]


def with_rivals(ctx: Context, namespace: str, hits: list[Hit], filters: Filters) -> list[Hit]:
    """Return hits, and behind one that is in open conflict the fact that denies it, where none that says so is there.

    Who asks where Lena lives and is told one of two places would take it for certain. Of very many the newest few of
    each hit are enough for that.
    """
    shown = {h.memory.id for h in hits}
    missing = {i: h for h in reversed(hits) for i in sorted(h.contested_with)[-FEW:] if i not in shown}
    behind: dict[str, list[Hit]] = {}
    for hit in _unsearched_hits(ctx, namespace, missing, filters):
        denied = tuple(h.memory.id for h in hits if hit.memory.id in h.contested_with)
        behind.setdefault(denied[0], []).append(replace(hit, contested_with=denied))
    return [one for hit in hits for one in (hit, *behind.get(hit.memory.id, ()))]


def _unsearched_hits(
    ctx: Context, namespace: str, beside: Mapping[str, Hit], filters: Filters, reading: CachedReads | None = None
) -> list[Hit]:
    """Return memories as hits that no search brought up, as good an answer as the hits that they are read beside.

    None where the question is limited: to a kind, a tag, another time.
    """
    if not beside or filters != Filters(isolated=filters.isolated, inside=filters.inside):
        return []
    reading = CachedReads(ctx, namespace) if reading is None else reading
    records = [r for r in reading.records(beside).values() if r.state.status is Status.ACTIVE]
    records = [r for r in records if filters.sees(r.state.scope, r.content.session)]
    memories = memory_items(records, ctx.policy, ctx.clock(), ctx.counted)
    plain: dict[str, Any] = dict.fromkeys(("over", "newer", "older", "differs", "contested_with"), ())
    plain["updated_by"] = None
    return ctx.extension.mark(ctx, namespace, [replace(beside[m.id], memory=m, **plain) for m in memories], filters)


def with_later_statements(
    ctx: Context, namespace: str, hits: list[Hit], question: str, filters: Filters, known: Mapping[str, Links]
) -> list[Hit]:
    """Return hits, before a statement the later one that likely makes it untrue, also where no search brought it up.

    "Airflow it is" need not share a word with the question. A question that asks for the past, or names a day, keeps
    its hits and their order; the statements name each other all the same. ``known`` has links that are read.
    """
    reading = CachedReads(ctx, namespace, known, filters)
    pairs = _superseded_among(ctx, namespace, hits, reading)
    possible = _superseded_among(ctx, namespace, hits, reading, MAY_SUPERSEDE)
    if not pairs:
        return _with_possible_successors(ctx, namespace, hits, question, filters, possible, reading)
    for _ in range(_LONGEST_CHAIN if not keeps_order(question, hits) else 0):
        shown = {h.memory.id for h in hits}
        newer: dict[str, list[str]] = {}
        for later, earlier in sorted(pairs):
            newer.setdefault(earlier, []).append(later)
        # Of several that it makes untrue, the best hit counts.
        missing = {i: h for h in reversed(hits) for i in newer.get(h.memory.id, ()) if i not in shown}
        found = _unsearched_hits(ctx, namespace, missing, filters, reading)
        if not found:
            break
        hits = [*hits, *found]
        pairs = _superseded_among(ctx, namespace, hits, reading)  # what was brought in may be untrue by now itself
    hits = superseding_first(hits, pairs, question)
    return _with_possible_successors(ctx, namespace, hits, question, filters, possible, reading)


def _with_possible_successors(
    ctx: Context,
    namespace: str,
    hits: list[Hit],
    question: str,
    filters: Filters,
    pairs: Collection[tuple[str, str]],
    reading: CachedReads,
) -> list[Hit]:
    """Return hits, and behind one the latest statement that may make it untrue, where none that may is there.

    The two name each other, and the order stays: a person sees both with their dates. It is half as likely an answer.
    Two that are there anyway are left as they are: of things of one kind too many would be called older.
    """
    at = {h.memory.id: h for h in hits}
    later: dict[str, list[str]] = {}
    for newer, earlier in sorted(pairs) if not keeps_order(question, hits) else ():
        if earlier in at:
            later.setdefault(earlier, []).append(newer)
    missing = {max(ids): at[earlier] for earlier, ids in later.items() if at.keys().isdisjoint(ids)}
    found = {missing[h.memory.id].memory.id: h for h in _unsearched_hits(ctx, namespace, missing, filters, reading)}
    order: list[Hit] = []
    for hit in hits:
        behind = found.get(hit.memory.id)
        order.append(hit if behind is None else replace(hit, newer=(*hit.newer, behind.memory.id)))
        if behind is not None:
            order.append(replace(behind, older=(hit.memory.id,), relevance=behind.relevance / 2))
    return order


def _superseded_among(
    ctx: Context, namespace: str, hits: Sequence[Hit], reading: CachedReads, by: str = LIKELY_SUPERSEDES
) -> frozenset[tuple[str, str]]:
    kinds = (Kind.EPISODE, Kind.NOTE, Kind.FACT) if by == LIKELY_SUPERSEDES else (Kind.EPISODE, Kind.NOTE)
    return likely_superseded(ctx, namespace, [h.memory.id for h in hits if h.memory.kind in kinds], reading, by)

"""Hits that no search brought up: what took the place of a hit, what denies it, what was said of it later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from perdure.operations.ports import Context
from perdure.operations.superseding import Links, likely_superseded
from perdure.records.memory import Kind, Status
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
    for hit in _unsearched(ctx, namespace, missing, filters):
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
    for hit in _unsearched(ctx, namespace, missing, filters):
        denied = tuple(h.memory.id for h in hits if hit.memory.id in h.contested_with)
        behind.setdefault(denied[0], []).append(replace(hit, contested_with=denied))
    return [one for hit in hits for one in (hit, *behind.get(hit.memory.id, ()))]


def _unsearched(ctx: Context, namespace: str, beside: Mapping[str, Hit], filters: Filters) -> list[Hit]:
    """Return memories as hits that no search brought up, as good an answer as the hits that they are read beside.

    None where the question is limited: to a kind, a tag, another time.
    """
    if not beside or filters != Filters(isolated=filters.isolated, inside=filters.inside):
        return []
    records = [r for r in ctx.store.get(namespace, list(beside)) if r.state.status is Status.ACTIVE]
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
    pairs = _superseded_among(ctx, namespace, hits, known)
    if not pairs:
        return hits
    for _ in range(_LONGEST_CHAIN if not keeps_order(question, hits) else 0):
        shown = {h.memory.id for h in hits}
        newer: dict[str, list[str]] = {}
        for later, earlier in sorted(pairs):
            newer.setdefault(earlier, []).append(later)
        # Of several that it makes untrue, the best hit counts.
        missing = {i: h for h in reversed(hits) for i in newer.get(h.memory.id, ()) if i not in shown}
        found = _unsearched(ctx, namespace, missing, filters)
        if not found:
            break
        hits = [*hits, *found]
        pairs = _superseded_among(ctx, namespace, hits, known)  # what was brought in may be untrue by now itself
    return superseding_first(hits, pairs, question)


def _superseded_among(
    ctx: Context, namespace: str, hits: Sequence[Hit], known: Mapping[str, Links]
) -> frozenset[tuple[str, str]]:
    ids = [h.memory.id for h in hits if h.memory.kind in (Kind.EPISODE, Kind.NOTE)]
    return likely_superseded(ctx, namespace, ids, known)

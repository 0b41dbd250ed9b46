"""Hits whose value a later one names as replaced: "300, not 400" against "at most 400"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from perdure.records.memory import Status
from perdure.records.vector import Vector
from perdure.rules.language.replaced_values import replaced_values
from perdure.rules.lifecycle.older_statements import find_older
from perdure.rules.presentation import keeps_order

if TYPE_CHECKING:
    from perdure.records.recall import Hit


def may_correct(hits: Sequence[Hit]) -> bool:
    """Return whether a hit names a value as replaced, so that others are to be compared with it."""
    return len(hits) > 1 and any(replaced_values(hit.memory.content) for hit in hits)


def corrections_first(hits: Sequence[Hit], question: str, vectors: Mapping[str, Vector]) -> list[Hit]:
    """Return the same hits, marked where a later one names their value as replaced, which stands before them.

    MEMORY.md leaves out what is marked here (rules/lifecycle/older_statements.py). What stands in another's place is as
    likely an answer. Facts, and what is in open conflict, follow rules of their own. A question that asks for the past,
    or names a day, keeps the order.
    """
    shown = {h.memory.id: h for h in hits}
    compared = [h.memory for h in hits if h.memory.status is Status.ACTIVE and not h.contested_with]
    corrected = find_older(compared, vectors).corrected
    relevance = {i: h.relevance for i, h in shown.items()}
    for older, by in sorted(corrected.items(), key=lambda pair: shown[pair[0]].memory.state.created_ms):
        relevance[by] = max(relevance[by], relevance[older])
    order = [replace(h, relevance=relevance[i], updated_by=h.updated_by or corrected.get(i)) for i, h in shown.items()]
    if keeps_order(question, hits):
        return order
    for by in sorted(set(corrected.values()), key=lambda i: (shown[i].memory.state.created_ms, i)):
        at = next(place for place, h in enumerate(order) if h.memory.id == by)
        ahead = (place for place, h in enumerate(order[:at]) if corrected.get(h.memory.id) == by)
        order.insert(next(ahead, at), order.pop(at))
    return order

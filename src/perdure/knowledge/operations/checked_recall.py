"""Recalling where authorities know better: an ageing fact is held against them before it is an answer (seed 002)."""

from __future__ import annotations

from perdure.knowledge.operations.verify import verify
from perdure.operations.ports import Context
from perdure.operations.recall import recall
from perdure.records.errors import GateStopped
from perdure.records.recall import Filters, Recall


def checked_recall(ctx: Context, text: str, namespace: str, limit: int, filters: Filters, *, touch: bool) -> Recall:
    """As ``recall``; ageing facts among the hits are verified first, where the policy names authorities.

    Whoever only looks (``touch=False``) changes nothing, and a question about another time is about what was believed
    then. What an authority cannot say stays as it is.
    """
    if touch and ctx.authorities and not filters.looks_back and not ctx.store.read_only:
        looked = recall(ctx, text, namespace, limit, filters, touch=False)
        aging = [h.memory.id for h in looked.hits if h.memory.aging]
        if aging:
            try:
                verify(ctx, namespace, aging)
            except GateStopped as stopped:
                ctx.warn(f"Ageing facts were not replaced by what an authority says: {stopped}")
    return recall(ctx, text, namespace, limit, filters, touch=touch)

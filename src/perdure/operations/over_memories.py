"""Which memories are over: what they say was replaced, has ended, or likely is untrue since a later statement."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.operations.ports import Context
from perdure.operations.superseding import likely_superseded
from perdure.records.instant import day_at
from perdure.records.memory import MemoryItem
from perdure.rules.lifecycle.ended_memories import has_ended


def over_ids(ctx: Context, memories: Sequence[MemoryItem]) -> set[str]:
    """Return the ids of those memories that are over, whatever namespace they are in."""
    today = day_at(ctx.clock(), ctx.policy.days.tz)
    over = {m.id for m in memories if has_ended(m, today)}
    for place in {m.namespace for m in memories}:
        own = [m for m in memories if m.namespace == place]
        over |= ctx.extension.outdated_memories(ctx, place, own).hidden
        over |= {earlier for _, earlier in likely_superseded(ctx, place, [m.id for m in own])}
    return over

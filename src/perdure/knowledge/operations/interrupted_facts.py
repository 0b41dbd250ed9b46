"""What memories say that is interrupted: that another value holds in its place for a time."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final

from perdure.knowledge.records.facts import Fact
from perdure.operations.documents import find_documents
from perdure.operations.interruptions import interruptions
from perdure.operations.ports import Context
from perdure.records.memory import Shelf
from perdure.records.recall import Filters, Interruption

_NOW: Final = Filters()


def interrupted_by_memory(
    ctx: Context, namespace: str, says: Mapping[str, Collection[str]], then: Filters = _NOW
) -> dict[str, tuple[Interruption, ...]]:
    """Return memory -> what of it is interrupted now, or at the time asked about, of those that say such a fact.

    Args:
        ctx: Store and clock.
        namespace: Where they are.
        says: Memory -> the facts that it says and that hold; a fact says itself.
        then: The time that is asked about.
    """
    found = interruptions(ctx, namespace, {fact for some in says.values() for fact in some}, then)
    partly = {fact for some in says.values() if not found.keys() >= set(some) for fact in found.keys() & set(some)}
    known = {d.id: Fact.from_data(d.id, d.data) for d in find_documents(ctx, namespace, Shelf.FACT, sorted(partly))}
    told = {i: f"{fact.shown_predicate}: {fact.shown_value}" for i, fact in known.items()}
    marked: dict[str, tuple[Interruption, ...]] = {}
    for memory, some in says.items():
        own = sorted(found.keys() & set(some))
        if own and len(own) == len(set(some)):
            marked[memory] = tuple({found[i].days: found[i] for i in own}.values())
        elif own:
            marked[memory] = tuple(replace(found[i], content=told.get(i, "")) for i in own)
    return marked

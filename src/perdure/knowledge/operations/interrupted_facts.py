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
    own = {i: sorted(found.keys() & set(some)) for i, some in says.items()}
    partly = {i for i, some in own.items() if len(some) < len(set(says[i]))}
    named = _named(ctx, namespace, found, {fact for i in partly for fact in own[i]})
    return {
        i: tuple(dict.fromkeys((named if i in partly else found)[f] for f in some)) for i, some in own.items() if some
    }


def _named(
    ctx: Context, namespace: str, found: Mapping[str, Interruption], facts: Collection[str]
) -> dict[str, Interruption]:
    """Return interruptions of some facts with what is interrupted, for who says more than that."""
    known = {d.id: Fact.from_data(d.id, d.data) for d in find_documents(ctx, namespace, Shelf.FACT, sorted(facts))}
    return {i: replace(found[i], content=f"{fact.shown_predicate}: {fact.shown_value}") for i, fact in known.items()}

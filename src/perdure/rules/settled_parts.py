"""A fact stands before the note of which it took the place of a part, where a question asks for that part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from perdure.records.memory import Kind
from perdure.records.patterns import lazy_pattern
from perdure.records.recall import Hit, OutdatedFact
from perdure.rules.language.clauses import joined_parts
from perdure.rules.language.replaced_values import content_words
from perdure.rules.presentation import keeps_order

_COMMAS: Final = lazy_pattern(r"[,;]\s")


def settled_parts_first(hits: Sequence[Hit], question: str) -> list[Hit]:
    """Return the same hits, before a note the fact that took the place of what a question asks for in it.

    "Dora is on the plus plan and lives in Porto" still answers which plan she is on. A question that asks for the past,
    or names a day, keeps the order.
    """
    order = list(hits)
    if not any(hit.over for hit in hits) or keeps_order(question, hits):
        return order
    facts = {hit.memory.id: hit for hit in hits if hit.memory.kind is Kind.FACT}
    for note in (hit for hit in hits if hit.memory.kind is Kind.NOTE):
        for over in note.over:
            fact = facts.get(over.replaced_by or "")
            if fact is not None and _asks_for(question, note, over, fact) and order.index(fact) > order.index(note):
                order.remove(fact)
                order.insert(order.index(note), fact)
    return order


def _asks_for(question: str, note: Hit, over: OutdatedFact, fact: Hit) -> bool:
    """Return whether a question has words of what is over in a note, whom it is about aside, and of nothing else."""
    asked = content_words(question) - content_words(fact.memory.content.partition(":")[0])
    value, parts = content_words(over.content.rpartition(": ")[2]), [*_parts(note.memory.content)]
    said = content_words(over.content).union(*(part for part in parts if value <= part))
    beside = frozenset[str]().union(*(part for part in parts if not value <= part)) - said
    return not asked.isdisjoint(said) and asked.isdisjoint(beside)


def _parts(text: str) -> Iterator[frozenset[str]]:
    """Yield the words of each thing that a text says, also of those that only a comma parts."""
    for start, end in (span for some in joined_parts(text) for span in some):
        yield from map(content_words, _COMMAS.split(text[start:end]))

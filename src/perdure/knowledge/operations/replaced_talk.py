"""What messages say of facts that were noted right after them, and that others replaced since."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from perdure.knowledge.operations.over_facts import replaced_facts
from perdure.knowledge.rules.over_facts import OutdatedFacts, over_in
from perdure.knowledge.rules.over_words import FactWords
from perdure.operations.documents import find_records
from perdure.operations.ports import Context
from perdure.records.instant import HOUR_MS
from perdure.records.memory import MemoryItem
from perdure.rules.last_said import said_at

_NOTED_WITHIN: Final = HOUR_MS
"""Whoever notes a fact down after a message has it from there: later, another may say the same of something else."""


def over_talk(
    ctx: Context, namespace: str, messages: Sequence[MemoryItem], believed: Collection[str]
) -> dict[str, OutdatedFacts]:
    """Return message -> what it says that is over, of facts about the same things as some that are believed.

    It says a fact that was noted within an hour after it, if one of its sentences has the value and a word of what the
    fact tells. Nobody links messages to the facts that others hand over.
    """
    over = replaced_facts(ctx, namespace, believed) if messages else {}
    if not over:
        return {}
    records = {r.id: r for r in find_records(ctx, namespace, sorted(over))}
    words = {i: FactWords.of(over[i][0], record.content.text) for i, record in records.items()}
    told = {i: record.state.created_ms for i, record in records.items()}
    found: dict[str, OutdatedFacts] = {}
    for message in messages:
        at = said_at(message.state)
        near = [i for i, noted in told.items() if at <= noted <= at + _NOTED_WITHIN]
        if said := [i for i in near if words[i].is_said_in(message.content)]:
            found[message.id] = over_in(message.content, said, {i: over[i][1] for i in said}, (), words)
    return found

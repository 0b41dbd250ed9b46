"""Facts that a person put away, marked as forgotten: they are no answer, of whatever time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from perdure.knowledge.records.facts import Fact
from perdure.operations.forgotten_memories import is_forgotten
from perdure.operations.ports import Context
from perdure.records.memory import State, Status


def with_forgotten(
    ctx: Context, namespace: str, facts: Mapping[str, Fact], states: Mapping[str, State]
) -> dict[str, Fact]:
    """Return facts, those that a person put away marked as forgotten.

    The journal of each archived one is read.
    """
    archived = [i for i in facts if i in states and states[i].status is Status.ARCHIVED]
    forgotten = {i for i in archived if is_forgotten(ctx, namespace, i)}
    return {i: replace(fact, forgotten=True) if i in forgotten else fact for i, fact in facts.items()}

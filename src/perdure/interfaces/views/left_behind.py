"""What went with a memory that is hidden now, what it leaves behind, and what still says a fact that was forgotten."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from perdure.interfaces.views.blocks import Block, Identifier, Line, Untrusted, command
from perdure.records.outcome import Outcome, RestingFact, SayingMemory

_REST: Final = "Facts still active although their source is hidden:"
_STAY: Final = "Facts that stay, because other memories say them or they are pinned:"
_BRIEF: Final = 100
_FEW_IDS: Final = 3


def view_left_behind(outcome: Outcome, *, takes_facts: bool) -> Iterator[Block]:
    """Show the facts that went with a memory and those that stay, or the memories that still say a fact."""
    yield from _listed("Facts archived with it, because they rest on it alone:", outcome.hidden_facts)
    yield from _listed("Messages hidden with it, because they say its words:", outcome.hidden_messages)
    yield from _still_believed(_STAY if takes_facts else _REST, outcome.still_believed)
    yield from _listed("Believed again, since what had taken its place is gone:", outcome.believed_again)
    yield from _still_said(outcome)


def _still_said(outcome: Outcome) -> Iterator[Block]:
    """Show what still says a fact or memory that was forgotten, and how each is, too, or told without it."""
    if outcome.said_by:
        yield Line("Still said, and shown, by:", tone="warning")
    for memory in outcome.said_by:
        short = Identifier(memory.id)
        yield Line((short, " ", Untrusted(memory.content, _BRIEF)), item=True)
        if memory.says_more:
            keeping = command("update", id=short, content=...)
            yield Line(("It says more; to keep the rest: ", keeping), tone="faint")
        else:
            yield Line(("To forget that too: ", command("forget", id=short)), tone="faint")
    if more := outcome.said_by_more:
        yield Line(f"and {more:,} more.", item=True)


def _still_believed(head: str, facts: Sequence[RestingFact]) -> Iterator[Block]:
    """Show the facts that a hidden memory leaves behind, and how they are denied."""
    yield from _listed(head, facts)
    if facts:
        deny = command("review", id=Identifier(facts[0].id), verdict="deny")
        yield Line(("If it is wrong as well: ", deny), tone="faint")


def _listed(head: str, facts: Sequence[RestingFact | SayingMemory]) -> Iterator[Block]:
    if not facts:
        return
    yield Line(head, tone="warning")
    for fact in facts[:_FEW_IDS]:
        yield Line((Untrusted(fact.content, _BRIEF), " ", Identifier(fact.id)), item=True)
    if more := len(facts[_FEW_IDS:]):
        yield Line(f"and {more:,} more.", item=True)

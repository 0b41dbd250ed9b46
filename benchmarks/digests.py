"""What a digest keeps in view: how many of its lines are evidence for questions that are asked of the conversation.

A digest of 2,000 tokens is made of each development chat of LoCoMo and BEAM right after it was taken in, before any
question was asked. The floor is the share among all messages: what lines taken at random reach.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import beam
import locomo
import perdure
from chats import Chat, Kept
from perdure.rules.lifecycle import digest as digesting
from report import Row, finished, parser, say

if TYPE_CHECKING:
    from collections.abc import Sequence

BUDGET = 2000


def counted(memory: perdure.Memory, chat: Chat, evidence: set[str | None]) -> tuple[int, int]:
    """Return the lines of a digest that are evidence, and all its lines."""
    lines = memory.digest_details(chat.name, BUDGET).ids
    sources = [memory.get(line).source for line in lines]
    return sum(source in evidence for source in sources), len(lines)


def measured(title: str, chats: Sequence[Chat]) -> Row:
    """Return the share over all chats, beside the one of a digest that does not ask what messages assert."""
    told, plain = [0, 0], [0, 0]
    there = messages = 0
    with tempfile.TemporaryDirectory() as folder, perdure.open(Path(folder) / "a.db", embedder=Kept()) as memory:
        for chat in chats:
            memory.ingest(chat.messages, chat.name)
            evidence = {source for question in chat.questions for source in question.evidence}
            there, messages = there + len(evidence), messages + len(chat.messages)
            for slight, sums in ((digesting.SLIGHT, told), (1.0, plain)):
                before, digesting.SLIGHT = digesting.SLIGHT, slight  # type: ignore[misc]  # the same code without its rule
                found = counted(memory, chat, evidence)
                digesting.SLIGHT = before  # type: ignore[misc]
                sums[0], sums[1] = sums[0] + found[0], sums[1] + found[1]
            say(f"  {chat.name}: so far {told[0]} of {told[1]} lines, without the rule {plain[0]} of {plain[1]}")
    return Row(
        f"digest, {title}: lines that are evidence",
        told[0] / told[1],
        "",
        floor=there / messages,
        note=f"without what messages assert {plain[0] / plain[1]:.3f}",
    )


def main() -> None:
    arguments = parser(__doc__).parse_args()
    rows = [measured("LoCoMo", locomo.chats()), measured("BEAM", beam.chats({"user", "assistant"}))]
    finished(rows, as_json=arguments.json)


if __name__ == "__main__":
    main()

"""What a digest keeps in view: how many of its lines are evidence for questions, and how much of the evidence it holds.

A digest of 2,000 tokens is made of each chat of LoCoMo and BEAM right after it was taken in, and again after every
second question was asked. Beside it stand digests of the same size that take whole messages by a plain order: the
newest, the longest, the most often recalled, random ones. The error is the standard error over conversations.
"""

from __future__ import annotations

import random
import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import beam
import locomo
import perdure
from chats import Chat, Kept
from perdure.operations.lifecycle import digest as digesting
from perdure.rules.language.tokens import estimate_tokens
from report import Row, finished, parser, say

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from perdure.records.memory import MemoryItem

BUDGET = 2000
ORDERS: dict[str, Callable[[MemoryItem], Any]] = {
    "newest": lambda m: (m.state.created_ms, m.id),
    "longest": lambda m: len(m.content),
    "most recalled": lambda m: (m.access_count, m.state.created_ms, m.id),
    "random": lambda m: random.Random(f"{m.namespace} {m.source}").random(),
}


def plain(memories: Sequence[MemoryItem]) -> list[MemoryItem]:
    """Return the first memories of an order that fit, each as one line."""
    left, chosen = BUDGET - 20, []
    for memory in memories:
        cost = estimate_tokens(f"- {memory.speaker}: {memory.content[:280]} (2026-01-01) [12345678]\n")
        if cost <= left:
            left -= cost
            chosen.append(memory)
    return chosen


def counted(memory: perdure.Memory, chat: Chat, evidence: set[str | None]) -> dict[str, tuple[float, float]]:
    """Return for the digest and each plain order the share of lines that are evidence, and the share of evidence."""
    every = digesting.candidates(memory._context, chat.name).memories  # noqa: SLF001  # what a digest is made of
    lines = {name: [m.source for m in plain(sorted(every, key=order, reverse=True))] for name, order in ORDERS.items()}
    sources = {m.id: m.source for m in every}
    lines["digest"] = [sources[i] for i in memory.digest_details(chat.name, BUDGET).ids]
    return {
        name: (sum(s in evidence for s in some) / max(1, len(some)), len(evidence & set(some)) / len(evidence))
        for name, some in lines.items()
    }


def measured(title: str, chats: Sequence[Chat]) -> list[Row]:
    """Return both shares, fresh and after use, each beside the best plain order."""
    found: dict[str, list[dict[str, tuple[float, float]]]] = {"fresh": [], "after use": []}
    with tempfile.TemporaryDirectory() as folder, perdure.open(Path(folder) / "a.db", embedder=Kept()) as memory:
        for chat in chats:
            memory.ingest(chat.messages, chat.name)
            evidence: set[str | None] = {source for question in chat.questions for source in question.evidence}
            found["fresh"].append(counted(memory, chat, evidence))
            for question in chat.questions[::2]:
                memory.recall(question.text, chat.name, 5)
            found["after use"].append(counted(memory, chat, evidence))
            say(f"  {chat.name}")
    rows = []
    for when, some in found.items():
        for place, what in ((0, "lines that matter"), (1, "coverage")):
            means = {n: statistics.mean(one[n][place] for one in some) for n in some[0]}
            errors = {n: statistics.stdev(one[n][place] for one in some) / len(some) ** 0.5 for n in some[0]}
            told = ", ".join(f"{n} {means[n]:.3f} ± {errors[n]:.3f}" for n in means if n != "digest")
            floor = max(v for n, v in means.items() if n != "digest")
            note = f"± {errors['digest']:.3f}; {told}"
            rows.append(Row(f"digest, {title}, {when}: {what}", means["digest"], "", floor=floor, note=note))
    return rows


def main() -> None:
    arguments = parser(__doc__).parse_args()
    rows = measured("LoCoMo", locomo.chats("locomo_dev.json.gz", "locomo_val.json.gz"))
    rows += measured("BEAM", beam.chats({"user"}, "beam_dev.tar.gz", "beam_val.tar.gz"))
    finished(rows, as_json=arguments.json)


if __name__ == "__main__":
    main()

"""What a session of an agent begins with: how many of its lines matter, beside plain orders of the same candidates.

Usage: PERDURE_DATA=FOLDER python training/session_starts.py

A start of 400 tokens is made of each labelled conversation (``lasting/labels.jsonl``; a line matters if a careful
person would keep it, and is over if it no longer holds), and of each chat of LoCoMo and BEAM (a line matters if it
answers a question), right after the conversation was taken in. "By value" is the order without what was said last.
Printed are the lines that matter, those that are over, all lines and the share of those that matter, means over
conversations, and the difference to "by value" in lines that matter with its standard error.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np

import perdure
from corpus import conversations
from perdure.operations.lifecycle import digest as digesting
from perdure.rules.language.tokens import estimate_tokens
from perdure.rules.lifecycle import digest_entries, older_statements
from perdure.rules.lifecycle.digest import Candidates, choose_entries
from pools import BEAM, LOCOMO, Chat, Kept, own_chat  # puts the benchmarks in the way of the imports below

import beam  # isort: skip
import locomo  # isort: skip

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from perdure.records.memory import MemoryItem

LABELS = Path(__file__).resolve().parent / "lasting" / "labels.jsonl"
TOKENS = 400
ORDERS: dict[str, Callable[[MemoryItem], float]] = {
    "newest": lambda m: float(m.state.created_ms),
    "longest": lambda m: float(len(m.content)),
    "random": lambda m: random.Random(f"{m.namespace} {m.source}").random(),
}


@dataclass(frozen=True)
class Labelled:
    """A conversation, the sources of the messages that matter, and of those that are over."""

    chat: Chat
    matters: Collection[str]
    over: Collection[str] = ()


def labelled() -> list[Labelled]:
    """Return the labelled conversations, to the turn to which they were labelled."""
    rows = {row["conversation"]: row for row in map(json.loads, LABELS.read_text("utf-8").splitlines())}
    found = []
    for chat in (c for split in ("train", "test") for c in conversations(split) if c.name in rows):
        row, own = rows[chat.name], own_chat(chat)
        messages = [m for m in own.messages if int(m.source or 0) <= row["read"]]
        found.append(Labelled(replace(own, messages=messages), set(map(str, row["keep"])), set(map(str, row["over"]))))
    return found


def starts(given: Candidates, name: str) -> dict[str, list[MemoryItem]]:
    """Return the memories of a start as the engine makes it, by value alone, and in plain orders."""

    def chosen() -> list[MemoryItem]:
        policy = perdure.Policy()
        made = choose_entries(given, policy, tokens=estimate_tokens, namespace=name, budget_tokens=TOKENS, profile=None)
        return [entry.memory for entry in made.entries]

    found = {"start": chosen()}
    with patch.object(digest_entries, "_recency", lambda _: {}):
        found["by value"] = chosen()
    return found | {title: plain(given, order) for title, order in ORDERS.items()}


def plain(given: Candidates, order: Callable[[MemoryItem], float]) -> list[MemoryItem]:
    """Return the first of those that may stand in a start, in a plain order, as many as fit."""
    left, chosen = TOKENS, []
    entries = digest_entries.entries_of(
        given.memories,
        older_statements.find_older(given.memories, given.vectors, given.superseded),
        given.vectors,
        said=False,
        year=given.year,
    )
    for entry in sorted(entries, key=lambda e: order(e.memory), reverse=True):
        if (cost := estimate_tokens(entry.measured_line)) <= left:
            left -= cost
            chosen.append(entry.memory)
    return chosen


def measure(title: str, some: Iterable[Labelled], embedder: Kept, supersession: str) -> None:
    """Print what starts of some conversations hold."""
    rows: dict[str, list[Sequence[float]]] = {}
    policy = {"knowledge": {"supersession": supersession}}
    with (
        tempfile.TemporaryDirectory() as folder,
        perdure.open(Path(folder) / "a.db", policy=policy, embedder=embedder) as memory,
    ):
        for one in some:
            memory.ingest(one.chat.messages, one.chat.name)
            given = digesting.candidates(memory._context, one.chat.name, brief=True)  # noqa: SLF001  # a start's candidates
            for name, items in starts(given, one.chat.name).items():
                matter, over = (sum(m.source in kind for m in items) for kind in (one.matters, one.over))
                rows.setdefault(name, []).append((matter, over, len(items), matter / max(1, len(items))))
    before = np.array(rows["by value"])[:, 0]
    print(f"{title}: {len(before)} conversations")
    for name, listed in rows.items():
        matter, over, lines, share = np.array(listed).mean(axis=0)
        gained = np.array(listed)[:, 0] - before
        error = gained.std(ddof=1) / np.sqrt(len(gained))
        told = f"{matter:.2f} matter, {over:.2f} over, {lines:.2f} lines, {100 * share:.1f} %"
        print(f"  {name}: {told} ({gained.mean():+.2f} ± {error:.2f} lines)", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--supersession", choices=("local", "off"), default="local")
    supersession, embedder = parser.parse_args().supersession, Kept()
    measure("labelled", labelled(), embedder, supersession)
    for title, chats in {"BEAM": beam.chats({"user"}, *BEAM[:2]), "LoCoMo": locomo.chats(*LOCOMO)}.items():
        measure(
            title, [Labelled(c, {s for q in c.questions for s in q.evidence}) for c in chats], embedder, supersession
        )


if __name__ == "__main__":
    main()

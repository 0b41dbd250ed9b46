"""What changed in short chats: does the current value stand above the old one, and what is marked as differing?

Twenty chats were written by somebody who had not seen the rules (``training/changed``); fourteen of them are locked.
Each asks for values that have changed, for both sides of contradictions, and for decoys: two things of one kind, such
as the prices of two bookings, that must not be marked. Beside our order stand the same hits by score, and the best few
of them newest first. Standard errors are over chats.

Forty-eight shorter chats, half of them locked, ask for siblings, too: of two things of one kind ("my sister works at a
bakery", "my brother works at a bank") for the one that was told first, which must be the first hit. Forty stores of
notes (``restated``), half of them locked, do the same for what agents note down and note again with another value.

Usage: python benchmarks/changed_values.py [--supersession off] [--superseded-from CHANCE] [FILE ...], where a file is
open, locked, siblings_open, siblings_locked, restated_open or restated_locked
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import perdure
from chats import Kept
from perdure.records.policy import Policy
from perdure.records.recall import Hit

FOLDER = Path(__file__).resolve().parents[1] / "training" / "changed"
FILES = ("open", "locked", "siblings_open", "siblings_locked", "restated_open", "restated_locked")
HITS = 10
Order = Callable[[Sequence[Hit]], list[Hit]]


def by_score(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits by score alone."""
    return sorted(hits, key=lambda hit: -hit.score)


def newest(count: int) -> Order:
    """Return the order of the best few hits newest first, whatever they are."""

    def order(hits: Sequence[Hit]) -> list[Hit]:
        best = by_score(hits)
        return [*sorted(best[:count], key=lambda hit: hit.memory.created_at, reverse=True), *best[count:]]

    return order


ORDERS: dict[str, Order] = {
    "shipped": list,
    "by score": by_score,
    "best two newest first": newest(2),
    "best three newest first": newest(3),
}


def measured(chat: dict[str, Any], embedder: Kept, policy: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield the figures of a chat: name, 0 or 1."""
    told = [{**m, "at": datetime.fromisoformat(m["at"]), "session": m["at"][:10]} for m in chat["messages"]]
    now = [max(m["at"] for m in told) + timedelta(days=1)]
    with (
        tempfile.TemporaryDirectory() as folder,
        perdure.open(Path(folder) / "chat.db", policy=policy, embedder=embedder, clock=lambda: now[0]) as memory,
    ):
        if said := [{**m, "source": str(at)} for at, m in enumerate(told) if m["role"] != "note"]:
            memory.ingest(said)
        for at, note in enumerate(told):
            if note["role"] == "note":
                now[0] = note["at"]
                memory.remember(note["content"], source=str(at))
        now[0] = max(m["at"] for m in told) + timedelta(days=1)
        for asked in chat["changes"]:
            hits = memory.recall(asked["question"], limit=HITS, touch=False).hits
            yield from _ordered(hits, asked)
        for asked in chat.get("siblings", ()):
            hits = memory.recall(asked["question"], limit=HITS, touch=False).hits
            for name, order in ORDERS.items():
                first = next((hit.memory.source for hit in order(hits)), None)
                yield f"of two siblings the asked one first, {name}", float(first == str(asked["asked"]))
        for name, key, kind in (
            ("contradictions", "sides", "contradictions marked"),
            ("decoys", "pair", "decoys marked"),
        ):
            for asked in chat[name]:
                hits = memory.recall(asked["question"], limit=HITS, touch=False).hits
                yield kind, float(frozenset(map(str, asked[key])) in _marks(hits))


def _ordered(hits: Sequence[Hit], asked: dict[str, Any]) -> Iterator[tuple[str, float]]:
    for name, order in ORDERS.items():
        places = {hit.memory.source: place for place, hit in enumerate(order(hits))}
        for old in map(str, asked["old"]):
            for new in map(str, asked["current"]):
                yield f"current above old, {name}", float(places.get(new, HITS) < places.get(old, HITS))
                if order is list:
                    yield "both among ten hits", float(old in places and new in places)


def _marks(hits: Sequence[Hit]) -> set[frozenset[str | None]]:
    sources = {hit.memory.id: hit.memory.source for hit in hits}
    return {frozenset((hit.memory.source, sources[o])) for hit in hits for o in hit.differs if o in sources}


def main() -> None:
    """Print the figures of the named files, of all by default."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--supersession", choices=("local", "off"), default="local")
    parser.add_argument("--superseded-from", type=float, default=Policy().knowledge.superseded_from)
    parser.add_argument("files", nargs="*", default=FILES)
    given = parser.parse_args()
    knowledge = {"supersession": given.supersession, "superseded_from": given.superseded_from}
    embedder, policy = Kept(), {"knowledge": knowledge}
    for name in given.files:
        values: dict[str, list[tuple[str, float]]] = defaultdict(list)
        for line in (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines():
            chat = json.loads(line)
            for figure, value in measured(chat, embedder, policy):
                values[figure].append((str(chat["chat"]), value))
        for figure, found in values.items():
            print(f"{name}: {figure}: {_spread(found)}", flush=True)


def _spread(found: Sequence[tuple[str, float]]) -> str:
    mean, sums = statistics.mean(value for _, value in found), defaultdict[str, float](float)
    for chat, value in found:
        sums[chat] += value - mean
    error = sum(total * total for total in sums.values()) ** 0.5 / len(found)
    return f"{100 * mean:.1f} ± {100 * error:.1f} % of {len(found)}"


if __name__ == "__main__":
    main()

"""Record what many recalls answer, or compare with such a record: for changes that must not change an answer.

    python benchmarks/answers.py STORES --record before.json
    python benchmarks/answers.py STORES --compare before.json

STORES is a folder; what is not there yet is built: the development conversations of LoCoMo with the local embedder,
one of them with learned facts, and made-up stores of 10,000 and 100,000 memories. Each question is asked without and
with filters; some recalls are counted. An answer is its ids in order, their scores, chances and parts to nine places,
and the note.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import locomo
import made
import perdure
from chats import Chat, Kept
from made import Given
from perdure.records.instant import from_instant
from perdure.records.recall import Recall
from report import say

AT = datetime(2026, 11, 1, tzinfo=UTC)
PLACES = 9
FACTS = {"preset": "facts", "embedder": {"model": "none"}}
Asked = tuple[str, str, dict[str, Any]]


def variants(chat: Chat) -> list[dict[str, Any]]:
    """Return ways to ask about a conversation, for questions in turn."""
    middle = chat.messages[len(chat.messages) // 2]
    return [
        {"limit": 5, "touch": True},
        {"session": middle.session},
        {"since": middle.at},
        {"until": middle.at, "kinds": ["episode"]},
        {"entity": middle.speaker},
        {"as_of": AT - timedelta(days=1)},
        {"known_at": AT - timedelta(days=400)},
        {"include_archived": True, "min_confidence": 0.2},
        {"min_relevance": 0.05, "limit": 3},
    ]


def vectors_in(path: Path) -> dict[str, bytes]:
    """Return text -> vector of a file."""
    return {text: bytes.fromhex(vector) for text, vector in json.loads(path.read_text("utf-8")).items()}


def save_vectors(path: Path, vectors: dict[str, bytes]) -> None:
    """Write text -> vector into a file."""
    path.write_text(json.dumps({text: vector.hex() for text, vector in vectors.items()}), "utf-8")


def talks(folder: Path) -> Iterator[tuple[Path, dict[str, Any], Any, list[Asked]]]:
    """Yield stores of conversations, their policies and embedders, and what is asked there."""
    chats = locomo.chats()
    known = folder / "vectors.json"
    embedder = Kept()
    if known.exists():
        embedder.known = vectors_in(known)
    for name, policy, given, some in (
        ("talks", {}, embedder, chats),
        ("facts", FACTS, None, chats[:1]),
    ):
        path = folder / f"{name}.db"
        if not path.exists():
            say(f"building {path}")
            with perdure.open(path, policy=policy, embedder=given, clock=lambda: AT) as memory:
                for chat in some:
                    memory.ingest(chat.messages, chat.name)
        asked: list[Asked] = [(c.name, q.text, {"limit": 10, "touch": False}) for c in some for q in c.questions]
        for chat in some:
            turns = variants(chat)
            asked += [
                (chat.name, q.text, {"touch": False, **turns[i % len(turns)]})
                for i, q in enumerate(chat.questions[: 8 * len(turns)])
            ]
        yield path, policy, given, asked
    save_vectors(known, embedder.known)


def made_up(folder: Path, rows: int) -> tuple[Path, dict[str, Any], Any, list[Asked]]:
    """Return a made-up store and what is asked there."""
    path, kept = folder / f"made-{rows}.db", folder / f"made-{rows}.json"
    if not path.exists():
        data = made.store(rows)
        shutil.copyfile(data.path, path)
        save_vectors(kept, data.vectors)
    vectors = vectors_in(kept)
    half = from_instant(made.NOW_MS - made.WINDOW_MS // 2)
    turns: list[tuple[str, dict[str, Any]]] = [
        ("default", {}),
        ("default", {"kinds": ["episode"], "since": half}),
        ("default", {"tags": ["decision"]}),
        ("default", {"tags": ["decision"], "kinds": ["episode"], "since": half}),
        ("default", {"entity": "Ann"}),
        ("default", {"as_of": half}),
        ("small", {}),
    ]
    asked = [(place, q, {"limit": 10, "touch": False, **how}) for q in list(vectors)[:40] for place, how in turns]
    return path, {}, Given(vectors), asked


def answer(found: Recall) -> list[Any]:
    """Return an answer as it is compared."""
    hits = [
        [
            h.memory.id,
            round(h.score, PLACES),
            round(h.relevance, PLACES),
            None if h.cosine is None else round(h.cosine, 6),
            {name: round(part, PLACES) for name, part in h.parts.items()},
            [h.memory.content, round(h.memory.value, PLACES), round(h.memory.confidence, PLACES), h.memory.aging],
            [h.question, h.updated_by, h.contested_with, h.newer, h.older, h.differs],
        ]
        for h in found.hits
    ]
    return json.loads(json.dumps([found.nothing_known, found.note, hits]))


def answers(folder: Path) -> Iterator[tuple[str, list[Any]]]:
    """Ask everything, on copies of the stores, and yield what was asked with its answer."""
    stores = [*talks(folder), made_up(folder, 10_000), made_up(folder, 100_000)]
    for path, policy, embedder, asked in stores:
        at = AT + timedelta(days=2) if path.stem in ("talks", "facts") else from_instant(made.NOW_MS)
        with tempfile.TemporaryDirectory() as place:
            copy = Path(place) / path.name
            shutil.copyfile(path, copy)
            with perdure.open(copy, policy=policy, embedder=embedder, clock=lambda at=at: at) as memory:
                for number, (namespace, text, how) in enumerate(asked):
                    found = memory.recall(text, namespace, **how)
                    yield f"{path.stem} {number} {namespace} {text} {how}", answer(found)


def main() -> None:
    """Record, or compare and print what differs."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("stores", type=Path)
    arguments.add_argument("--record", type=Path)
    arguments.add_argument("--compare", type=Path)
    given = arguments.parse_args()
    given.stores.mkdir(parents=True, exist_ok=True)
    found = dict(answers(given.stores))
    if given.record:
        given.record.write_text(json.dumps(found), "utf-8")
        print(f"{len(found):,} answers recorded")
    if given.compare:
        before = json.loads(given.compare.read_text("utf-8"))
        differing = [asked for asked, one in before.items() if found.get(asked) != one]
        order = [a for a in differing if [h[0] for h in before[a][2]] != [h[0] for h in found.get(a, [0, 0, []])[2]]]
        for asked in differing[:5]:
            print(asked, before[asked], found.get(asked), sep="\n  ")
        print(f"{len(before):,} answers compared, {len(differing):,} differ, {len(order):,} in ids or their order")


if __name__ == "__main__":
    main()

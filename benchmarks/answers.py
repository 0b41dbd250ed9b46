"""Record what many recalls answer, or compare with such a record: for changes that must not change an answer.

    python benchmarks/answers.py STORES --record before.json
    python benchmarks/answers.py STORES --compare before.json
    python benchmarks/answers.py STORES --server

STORES is a folder; what is not there yet is built: the development conversations of LoCoMo with the local embedder,
one of them with learned facts, and made-up stores of 10,000 and 100,000 memories. Each question is asked without and
with filters; some recalls are counted. An answer is its ids in order, their scores, chances and parts to nine places,
and the note. With --server each store is copied into a database of its own on a PostgreSQL server that runs for it, and
each question is asked of the file and of the database in turns;
each conversation then has a store of its own.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import Any

import locomo
import made
import perdure
from chats import Chat, Kept
from made import Given
from perdure.compose import migrate
from perdure.compose_store import copy
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


def talks(folder: Path, *, apart: bool) -> Iterator[tuple[Path, dict[str, Any], Any, list[Asked]]]:
    """Yield stores of conversations, their policies and embedders, and what is asked there.

    ``apart`` gives each conversation a store of its own: a file counts how rare words are over all its namespaces, and
    a server over one.
    """
    chats = locomo.chats()
    known = folder / "vectors.json"
    embedder = Kept()
    if known.exists():
        embedder.known = vectors_in(known)
    alone: list[tuple[str, dict[str, Any], Any, list[Chat]]] = [(c.name, {}, embedder, [c]) for c in chats if apart]
    for name, policy, given, some in (
        *(alone or [("talks", {}, embedder, chats)]),
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


Place = Callable[[Path], AbstractContextManager[list[str]]]
"""Gives the addresses of a copy of a store: of the file alone, or of the same in a database, too."""


@contextmanager
def as_file(path: Path) -> Iterator[list[str]]:
    """Copy a store into a file."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copyfile(path, Path(folder) / path.name)
        yield [str(Path(folder) / path.name)]


@contextmanager
def beside_servers() -> Iterator[Place]:
    """Run a server for the length of a block, and copy stores into files and into databases of it."""
    from server_made import bench  # noqa: PLC0415  # its driver may be missing

    with bench() as made_server:

        @contextmanager
        def both(path: Path) -> Iterator[list[str]]:
            name = path.stem.replace("-", "_")
            made_server.server.sql(f"CREATE DATABASE {name} OWNER perdure")
            url = made_server.server.dsn(name)
            migrate(url)
            with as_file(path) as (file,):
                say(f"copying {path.stem}")
                copy(file, url)
                made_server.settle(name)
                yield [file, url]
            made_server.server.sql(f"DROP DATABASE {name} WITH (FORCE)")

        yield both


def answers(
    folder: Path, rows: Sequence[int], place: Place, only: Sequence[str] = ()
) -> Iterator[tuple[str, list[list[Any]]]]:
    """Ask everything, on copies of the stores, and yield what was asked with its answer at each address."""
    stores = [*talks(folder, apart=place is not as_file), *(made_up(folder, size) for size in rows)]
    for path, policy, embedder, asked in stores:
        if only and path.stem not in only:
            continue
        at = AT + timedelta(days=2) if not path.stem.startswith("made-") else from_instant(made.NOW_MS)
        with place(path) as urls, ExitStack() as stack:
            say(f"asking {path.stem}")
            memories = [
                stack.enter_context(perdure.open(url, policy=policy, embedder=embedder, clock=lambda at=at: at))
                for url in urls
            ]
            taken: list[list[float]] = [[] for _ in memories]
            for number, (namespace, text, how) in enumerate(asked):
                found = []
                for memory, times in zip(memories, taken, strict=True):
                    start = time.perf_counter()
                    told = memory.recall(text, namespace, **how)
                    times.append(time.perf_counter() - start)
                    found.append(answer(told))
                yield f"{path.stem} {number} {namespace} {text} {how}", found
            each = " and ".join(f"{1e3 * median(times):.1f} ms" for times in taken)
            say(f"{path.stem}: a recall takes {each} by the clock (medians)")


def tell(before: dict[str, list[Any]], found: dict[str, list[Any]]) -> None:
    """Print how many answers are the same, and in what the others differ."""
    gone: list[Any] = [0, 0, []]
    pairs = {asked: (one, found.get(asked, gone)) for asked, one in before.items()}
    differing = {asked: pair for asked, pair in pairs.items() if pair[0] != pair[1]}
    for asked in list(differing)[:5]:
        print(asked, *(str(one)[:2000] for one in differing[asked]), sep="\n  ", flush=True)
    ids = {asked: [[hit[0] for hit in one[2]] for one in pair] for asked, pair in pairs.items()}
    same = [asked for asked, (one, other) in ids.items() if one == other]
    others = [asked for asked, (one, other) in ids.items() if set(one) != set(other)]
    scores = {asked: [hit[1] for hit in pair[0][2]] for asked, pair in pairs.items()}
    moved = len(before) - len(same)
    print(f"{len(before):,} answers compared, {len(differing):,} differ, {moved:,} in ids or their order")
    print(f"of these {len(others):,} in which memories they name")
    away = [
        max((abs(a - hit[1]) for a, hit in zip(scores[asked], pairs[asked][1][2], strict=True)), default=0.0)
        for asked in same
    ]
    places = sum(one < 10**-PLACES for one in away)
    print(f"{len(same):,} have the same ids in the same order, {places:,} of them the same scores to nine places")
    print(f"the largest difference between two scores of these: {max(away, default=0.0):.3g}")
    parts = Counter(name for asked in same for name in _parts(*pairs[asked]))
    print("answers of the same ids whose hits differ in:", dict(parts.most_common()) or "nothing")
    stores = Counter(asked.partition(" ")[0] for asked in differing)
    print("stores of answers that differ:", dict(stores) or "none")


HIT = ("id", "score", "relevance", "cosine", "parts", "memory", "marks")


def _parts(one: list[Any], other: list[Any]) -> set[str]:
    pairs = zip(one[2], other[2], strict=True)
    told = {name for a, b in pairs for name, x, y in zip(HIT, a, b, strict=True) if x != y}
    return told | ({"note"} if one[:2] != other[:2] else set())


def compare_with_servers(folder: Path, rows: Sequence[int], only: Sequence[str]) -> None:
    """Ask files and databases, and tell how alike they answer: of each store once it is through, then of all."""
    before, found = dict[str, list[Any]](), dict[str, list[Any]]()
    with beside_servers() as place:
        for store, group in groupby(answers(folder, rows, place, only), key=lambda one: one[0].partition(" ")[0]):
            both = dict(group)
            ours, theirs = {a: one for a, (one, _) in both.items()}, {a: other for a, (_, other) in both.items()}
            print(f"{store}:")
            tell(ours, theirs)
            before, found = before | ours, found | theirs
    print("all:")
    tell(before, found)


def main() -> None:
    """Record, or compare and print what differs."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("stores", type=Path)
    arguments.add_argument("--record", type=Path)
    arguments.add_argument("--compare", type=Path)
    arguments.add_argument("--server", action="store_true")
    arguments.add_argument("--rows", nargs="*", type=int, default=[10_000, 100_000], help="of the made-up stores")
    arguments.add_argument("--only", nargs="*", default=[], help="names of stores, such as talks, facts, made-10000")
    given = arguments.parse_args()
    given.stores.mkdir(parents=True, exist_ok=True)
    if given.server:
        compare_with_servers(given.stores, given.rows, given.only)
        return
    found = {asked: one for asked, (one,) in answers(given.stores, given.rows, as_file, given.only)}
    if given.record:
        given.record.write_text(json.dumps(found), "utf-8")
        print(f"{len(found):,} answers recorded")
    if given.compare:
        tell(json.loads(given.compare.read_text("utf-8")), found)


if __name__ == "__main__":
    main()

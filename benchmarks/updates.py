"""Changed and contradictory statements: does the current one stand first, and what does that cost the other questions?

BEAM's chats name, for questions about what has changed, the messages with the old and those with the current value, and
for contradictions the messages of both sides. The best 30 hits of each question are found once, without any order of
presentation (``knowledge.watch = false``), and every order is tried on them: ours, and the plain baseline, the best few
hits newest first whatever they are. All figures come with the standard error over conversations. Ours was fitted on
these chats: ``training/changes.py`` has what it reaches on conversations that were left out.
"""

from __future__ import annotations

import math
import pickle
import re
import statistics
import tarfile
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import beam
import locomo
import perdure
from chats import HITS, Kept, data_file
from perdure.rules.presentation import newest_first
from report import Row, finished, parser, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from chats import Chat
    from perdure.records.recall import Hit

BEAM = ("beam_dev.tar.gz", "beam_val.tar.gz", "beam_500k_dev.tar.gz")
LOCOMO = ("locomo_dev.json.gz", "locomo_val.json.gz")
READ = 30
"""Hits of a question that are kept: a current value that is none of them ranks last."""
SHOWN = 5
SIDES = (
    ("knowledge_update", "original_info", "updated_info"),
    ("contradiction_resolution", "first_statement", "second_statement"),
)


class Case(NamedTuple):
    """A question with the hits that answer it, best first, and the two sides of what it asks about."""

    chat: str
    text: str
    evidence: frozenset[str]
    kind: str
    first: tuple[str, ...]
    second: tuple[str, ...]
    hits: tuple[Hit, ...]
    vectors: dict[str, bytes]


if TYPE_CHECKING:
    Order = Callable[[Case], Sequence[Hit]]


class Figures(NamedTuple):
    """What an order reaches: of each figure the values with their conversations."""

    values: dict[str, list[tuple[str, float]]]

    def mean(self, name: str) -> float:
        """Return the mean over all values."""
        return statistics.mean(value for _, value in self.values[name])

    def error(self, name: str) -> float:
        """Return the standard error of the mean, of values that belong together in a conversation."""
        mean, sums = self.mean(name), defaultdict(float)
        for chat, value in self.values[name]:
            sums[chat] += value - mean
        return math.sqrt(sum(total * total for total in sums.values())) / len(self.values[name])


def sides(name: str) -> dict[tuple[str, str], tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Return (number of the chat, question) -> kind and both sides, of the questions of a set that have two."""
    found = {}
    with tarfile.open(data_file(name)) as archive:
        for member in archive:
            chat = re.search(r"/(\d+)/", member.name)
            if chat and member.name.endswith("probing_questions.json") and (file := archive.extractfile(member)):
                asked = beam.json.load(file)
                for kind, first, second in SIDES:
                    for entry in asked[kind]:
                        ids = entry.get("source_chat_ids") or {}
                        if ids.get(first) and ids.get(second):
                            both = [tuple(map(str, _listed(ids[side]))) for side in (first, second)]
                            found[chat[1], entry["question"]] = (kind, *both)
    return found


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def cases(name: str, embedder: Kept, cache: Path | None) -> list[Case]:
    """Return the questions of a set with their hits; those of a run before where there is a folder that has them."""
    space = embedder.space.name.replace("/", "-")
    kept = cache / f"{name}-{space}.pickle" if cache else None
    if kept and kept.exists():
        return pickle.loads(kept.read_bytes())  # noqa: S301  # written by this script
    known = sides(name) if name in BEAM else {}
    chats = beam.chats({"user"}, name) if name in BEAM else locomo.chats(name)
    with tempfile.TemporaryDirectory() as folder:
        policy = {"knowledge": {"watch": False}}
        with perdure.open(Path(folder) / "chats.db", policy=policy, embedder=embedder) as memory:
            found = [case for chat in chats for case in _asked(memory, embedder, name, chat, known)]
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(pickle.dumps(found))
    return found


def _asked(memory: perdure.Memory, embedder: Kept, name: str, chat: Chat, known: dict[Any, Any]) -> Iterable[Case]:
    say(f"{name}: {chat.name}, {len(chat.messages)} messages")
    memory.ingest(chat.messages, chat.name)
    for question in chat.questions:
        hits = memory.recall(question.text, chat.name, READ, touch=False).hits
        made = embedder.embed([hit.memory.content for hit in hits], purpose="document")
        vectors = {hit.memory.id: vector for hit, vector in zip(hits, made, strict=True)}
        both = known.get((chat.name.rpartition("-")[2], question.text), ("", (), ()))
        yield Case(f"{name}/{chat.name}", question.text, question.evidence, *both, hits, vectors)


def figures(found: Sequence[Case], order: Order) -> Figures:
    """Return what an order of presentation reaches on some questions."""
    values: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for case in found:
        shown = order(case)
        for name, value in _measured(case, shown):
            values[name].append((case.chat, value))
    return Figures(values)


def _measured(case: Case, hits: Sequence[Hit]) -> Iterable[tuple[str, float]]:
    places = {hit.memory.source or "": place for place, hit in enumerate(hits, 1)}
    at = min((places[e] for e in case.evidence if places.get(e, HITS + 1) <= HITS), default=0)
    yield "mrr", 1 / at if at else 0.0
    yield "recall", sum(places.get(e, HITS + 1) <= HITS for e in case.evidence) / len(case.evidence)
    last = len(hits) + 1
    if case.kind == "knowledge_update":
        won = [places.get(new, last) < places.get(old, last) for old in case.first for new in case.second]
        yield from (("pairs", value) for value in won)
        yield "questions", any(won)
        yield "current", any(places.get(new, last) <= SHOWN for new in case.second)
    elif case.kind:
        among = hits[:HITS]
        sources = {hit.memory.id: hit.memory.source for hit in among}
        marked = {(hit.memory.source, sources.get(other)) for hit in among for other in hit.differs}
        yield (
            "sides",
            any(max(places.get(a, last), places.get(b, last)) <= HITS for a in case.first for b in case.second),
        )
        yield "marked", any((a, b) in marked for a in case.first for b in case.second)


def as_found(case: Case) -> Sequence[Hit]:
    """Return the hits by relevance alone."""
    return case.hits


def baseline(among: int) -> Order:
    """Return the order of the best hits newest first, whatever they are."""

    def order(case: Case) -> Sequence[Hit]:
        said = sorted(case.hits[:among], key=lambda h: (h.memory.state.created_ms, h.memory.id), reverse=True)
        return [*said, *case.hits[among:]]

    return order


def ours(case: Case) -> Sequence[Hit]:
    """Return our order, with links."""
    return newest_first(case.hits, case.text, case.vectors)


def rows(title: str, found: Sequence[Case]) -> list[Row]:
    """Return the figures of ours and of the baseline, in per cent, the floor being relevance alone."""
    plain = figures(found, as_found)
    tried = {
        "ours": figures(found, ours),
        **{f"best {n} newest first": figures(found, baseline(n)) for n in (2, 3, 5)},
    }
    names = {
        "pairs": "current above old, pairs",
        "questions": "the same, questions",
        "current": "current among the best five",
        "mrr": "mean reciprocal rank, all questions",
        "recall": "evidence recall@10",
        "sides": "both sides of a contradiction among ten",
        "marked": "both sides shown and marked",
    }
    return [
        Row(
            f"{title}, {order}: {told}",
            100 * reached.mean(name),
            "%",
            None,
            100 * plain.mean(name),
            note=f"± {100 * reached.error(name):.1f}; {len(plain.values[name])}; the floor is relevance alone",
        )
        for order, reached in tried.items()
        for name, told in names.items()
        if plain.values.get(name)
    ]


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--cache", type=Path, help="a folder that keeps the hits, for the next run")
    arguments.add_argument("--dev", action="store_true", help="only BEAM's first development chats")
    given = arguments.parse_args()
    embedder = Kept()
    chosen = BEAM[:1] if given.dev else BEAM
    found = {name: cases(name, embedder, given.cache) for name in (*chosen, *(() if given.dev else LOCOMO))}
    measured = [row for name in chosen for row in rows(name.partition(".")[0], found[name])]
    measured += rows("BEAM, all", [case for name in chosen for case in found[name]])
    if not given.dev:
        measured += rows("LoCoMo, all", [case for name in LOCOMO for case in found[name]])
    finished(measured, as_json=given.json)


if __name__ == "__main__":
    main()

"""Changed and contradictory statements: which of two messages ranks first, what is flagged, and how often wrongly.

BEAM's development chats name, for questions about what has changed, the message with the old value and those with the
current one, and for contradictions the messages of both sides. Precision is measured on pairs of statements of BEAM
and LoCoMo that were labelled by hand (labels/updates.json): all that the rules decide, and pairs about one thing that
they leave alone.
"""

from __future__ import annotations

import json
import random
import re
import statistics
import tarfile
import tempfile
import time
from itertools import combinations_with_replacement
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import beam
import locomo
import perdure
from chats import HITS, Chat, Kept, data_file
from perdure.rules.updates.update_pairs import relation, statements
from report import Row, finished, parser, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from perdure.records.recall import Hit
    from perdure.rules.updates.statements import Assertion

LABELS = Path(__file__).with_name("labels") / "updates.json"
SAMPLE = 200
SEED = 5
DEEDS = ("denied", "done")


class Pair(NamedTuple):
    """Two statements about one thing, and what the rules say."""

    id: str
    older: Assertion
    newer: Assertion
    relation: str


class Asked(NamedTuple):
    """A question about a change or a contradiction, with the messages of both sides."""

    chat: str
    text: str
    first: tuple[str, ...]
    second: tuple[str, ...]


def asked(kind: str, first: str, second: str) -> list[Asked]:
    """Return BEAM's questions of one kind."""
    found = []
    with tarfile.open(data_file("beam_dev.tar.gz")) as archive:
        for member in archive:
            chat = re.search(r"/(\d+)/", member.name)
            if chat and member.name.endswith("probing_questions.json") and (file := archive.extractfile(member)):
                for entry in json.load(file)[kind]:
                    ids = entry["source_chat_ids"]
                    sides = (tuple(map(str, ids[side])) for side in (first, second))
                    found.append(Asked(f"beam-{chat[1]}", entry["question"], *sides))
    return sorted(found)


def pairs(chat: Chat) -> Iterator[Pair]:
    """Return the pairs of statements of one speaker that are about one thing and differ, one for each two messages."""
    told = [(m, statements(m.content)) for m in chat.messages]
    for (one, earlier), (other, later) in combinations_with_replacement(told, 2):
        alone = one is other
        if (one.speaker or one.role) != (other.speaker or other.role):
            continue
        found = [
            (relation(a, b), a, b)
            for a in earlier
            for b in later
            if _about_one_thing(a, b) and (not alone or (a is not b and b.sort in DEEDS))
        ]
        if found:
            related, a, b = max(found, key=lambda entry: entry[0])
            said = "contradicts" if alone and related else related
            yield Pair(f"{chat.name}/{one.source}/{other.source}", a, b, said)


def _about_one_thing(a: Assertion, b: Assertion) -> bool:
    if a.about.isdisjoint(b.about):
        return False
    if a.sort in DEEDS or b.sort in DEEDS:
        return {a.sort, b.sort} == set(DEEDS)
    return a.sort == b.sort and a.value != b.value


def sample(chats: list[Chat]) -> list[Pair]:
    """Return all pairs that the rules decide, and as many others that 200 are reached; the same ones each time."""
    found = [pair for chat in chats for pair in pairs(chat)]
    decided = [pair for pair in found if pair.relation]
    others = [pair for pair in found if not pair.relation]
    random.Random(SEED).shuffle(others)  # a sample
    others.sort(key=lambda pair: not (pair.newer.change or pair.newer.sort in DEEDS))  # the likelier ones first
    return (decided + others)[:SAMPLE]


def ranks(hits: tuple[Hit, ...]) -> dict[str | None, int]:
    """Return message -> place."""
    return {hit.memory.source: place for place, hit in enumerate(hits, 1)}


def current_first(memory: perdure.Memory) -> tuple[float, float]:
    """Return the share of (old, current) pairs, and of questions, of which the current value ranks first."""
    pairs_won, questions_won = [], []
    for question in asked("knowledge_update", "original_info", "updated_info"):
        places = ranks(memory.recall(question.text, question.chat, 3 * HITS, touch=False).hits)
        last = 1 + len(places)
        won = [places.get(new, last) < places.get(old, last) for old in question.first for new in question.second]
        pairs_won += won
        questions_won.append(any(won))
    return statistics.mean(pairs_won), statistics.mean(questions_won)


def both_sides(memory: perdure.Memory) -> float:
    """Return the share of contradictions of which both sides are hits that say so."""
    shown = []
    for question in asked("contradiction_resolution", "first_statement", "second_statement"):
        hits = memory.recall(question.text, question.chat, HITS, touch=False).hits
        source = {hit.memory.id: hit.memory.source for hit in hits}
        sides = {(hit.memory.source, source.get(other)) for hit in hits for other in hit.contested_with}
        alone = {hit.memory.source for hit in hits if hit.contested_with}
        shown.append(any((a, b) in sides or (a == b and a in alone) for a in question.first for b in question.second))
    return statistics.mean(shown)


def within_reach(memory: perdure.Memory, chats: list[Chat], embedder: Kept) -> tuple[float, float]:
    """Return the share of both questions' pairs of which one is among ten nearest of the other, and among 20 hits."""
    near, together = [], []
    for kind, first, second in (
        ("knowledge_update", "original_info", "updated_info"),
        ("contradiction_resolution", "first_statement", "second_statement"),
    ):
        for question in asked(kind, first, second):
            chat = next(c for c in chats if c.name == question.chat)
            texts = {str(m.source): m.content for m in chat.messages}
            vectors = embedder.embed(list(texts.values()), purpose="document")
            matrix = np.frombuffer(b"".join(vectors), "<f4").reshape(len(texts), -1)
            names = list(texts)
            places = ranks(memory.recall(question.text, question.chat, 2 * HITS, touch=False).hits)
            for one in question.first:
                for other in question.second:
                    later, earlier = sorted((names.index(one), names.index(other)), reverse=True)
                    if later == earlier:
                        continue
                    nearest = np.argsort(-(matrix[:later] @ matrix[later]))[:HITS]
                    near.append(earlier in nearest)
                    together.append(one in places and other in places)
    return statistics.mean(near), statistics.mean(together)


def labelled(chats: list[Chat]) -> tuple[float, float, float, int]:
    """Return the shares of pairs wrongly decided, of decisions that are right, of changes found, and all decisions."""
    labels = json.loads(LABELS.read_text(encoding="utf-8"))
    found = {pair.id: pair.relation for chat in chats for pair in pairs(chat)}
    if unknown := [name for name, said in found.items() if said and name not in labels]:
        say(f"decided, but not labelled: {', '.join(unknown)}")
    decided = [name for name, said in found.items() if said]
    right = [name for name in decided if labels.get(name) == found[name]]
    wrong = len(decided) - len(right)
    true = [name for name, label in labels.items() if label]
    return (
        wrong / len(labels),
        len(right) / len(decided),
        len([n for n in true if n in right]) / len(true),
        len(decided),
    )


def times(watching: perdure.Memory, plain: perdure.Memory, chats: list[Chat]) -> tuple[float, float, float]:
    """Return medians in ms: a recall that compares its hits, one that does not, and reading a message for once."""
    spent: dict[str, list[float]] = {"watching": [], "plain": [], "reading": []}
    for chat in chats:
        for message in chat.messages:
            start = time.perf_counter()
            statements(f"{message.content} ")  # one space more: not yet known
            spent["reading"].append(1e3 * (time.perf_counter() - start))
        for _ in range(3):
            for question in chat.questions:
                for name, memory in (("watching", watching), ("plain", plain)):
                    start = time.perf_counter()
                    memory.recall(question.text, chat.name, HITS, touch=False)
                    spent[name].append(1e3 * (time.perf_counter() - start))
    return tuple(statistics.median(values) for values in spent.values())  # type: ignore[return-value]  # three


def measured() -> list[Row]:
    """Return all figures."""
    embedder, talks = Kept(), beam.chats({"user"})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "beam.db"
        with (
            perdure.open(path, policy={}, embedder=embedder) as watching,
            perdure.open(path, policy={"knowledge": {"watch": False}}, embedder=embedder) as plain,
        ):
            say("BEAM: taking in")
            for chat in talks:
                watching.ingest(chat.messages, chat.name)
            pairs_now, questions_now = current_first(watching)
            pairs_before, questions_before = current_first(plain)
            flagged, unflagged = both_sides(watching), both_sides(plain)
            near, together = within_reach(watching, talks, embedder)
            with_ms, without_ms, reading_ms = times(watching, plain, talks)
    false, precise, complete, decided = labelled(talks + locomo.chats())
    note = "the floor is plain hybrid"
    return [
        Row("current value above the old one, pairs", pairs_now, "", 0.70, pairs_before, at_least=True, note=note),
        Row("current value above the old one, questions", questions_now, "", 0.70, questions_before, at_least=True),
        Row("contradictions shown from both sides, flagged", flagged, "", 0.50, unflagged, at_least=True),
        Row("false supersessions of labelled pairs", false, "", 0.02, note=f"{decided} decided"),
        Row("decisions that are right", precise, ""),
        Row("changes and contradictions found", complete, "", note="of those labelled"),
        Row("pairs with the earlier among the later's ten nearest", near, ""),
        Row("pairs of which both are among 20 hits", together, ""),
        Row("recall that compares its hits", with_ms, "ms", None, without_ms, note="the floor does not"),
        Row("reading what a message states, once", reading_ms, "ms"),
    ]


def main() -> None:
    finished(measured(), as_json=parser(__doc__).parse_args().json)


if __name__ == "__main__":
    main()

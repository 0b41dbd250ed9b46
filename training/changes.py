"""Fit ``formulas/changes.py``: which of two hits should stand first, and whether they say otherwise of one thing.

Usage: PERDURE_DATA=FOLDER python training/changes.py [--cache FOLDER]

Two logistic models of pairs among the ten best hits; the second is fitted once more for recalls without vectors.

- *order*: on the questions of BEAM's 28 chats (CC BY-SA 4.0). A pair whose earlier message has the old value and whose
  later one has the new value counts 1, a pair of which only the earlier message answers counts 0.
- *difference*, of pairs that give other figures or of which one denies what the other says: on the labels in
  ``changes.jsonl``, which were given by reading pairs of BEAM's development chats and of our own conversations:
  ``state`` (a later value of one thing), ``contradiction``, ``same`` (one thing, nothing differs) and ``other`` (two
  things); ``unclear`` ones are left out. BEAM's own pairs of sides count as differences, and what nobody read as
  "other" with a weight of 0.3.

Every figure is of conversations that were left out, with its standard error over conversations.
"""

from __future__ import annotations

import argparse
import json
import pickle
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import perdure
from corpus import Conversation, conversations
from perdure.formulas.changes import PairSignals
from perdure.records.memory import Message
from perdure.records.recall import Hit
from perdure.rules.presentation import (
    BOUNDS,
    Bounds,
    Pair,
    arrange_hits,
    compare_hits,
    may_differ,
    may_stand_first,
)
from pools import Kept  # puts the benchmarks in the way of the imports below

import updates  # isort: skip
from updates import Case  # isort: skip

OWN = "own/"
LABELS = Path(__file__).resolve().parent / "changes.jsonl"
DIFFERENT = ("state", "contradiction")
UNREAD = 0.3
"""The weight of a pair that nobody has read."""
RIDGE = 5.0
"""Of standardized signals."""
BY_VECTORS = ("cosine", "asked")
CONDITIONS = ("missing",)  # a bound of its own, in no model
THRESHOLDS = (0.04, 0.05, 0.06, 0.07, 0.08, 0.1, 0.15)
"""From which chance on the later one stands first, as tried."""
MARKS = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


class Pairs(NamedTuple):
    """Pairs of hits in columns; ``first`` and ``second`` are the places of the one said first and of the other."""

    case: np.ndarray
    first: np.ndarray
    second: np.ndarray
    signals: np.ndarray
    chat: np.ndarray
    key: list[tuple[str, tuple[int, ...]]]


def pairs_of(cases: list[Case], *, vectors: bool) -> Pairs:
    """Return all pairs that are compared in the answers of some questions."""
    rows = [
        (at, first, second, row)
        for at, case in enumerate(cases)
        for (first, second), row in zip(
            *compare_hits(_hits(case, vectors), case.text, case.vectors if vectors else {}), strict=True
        )
    ]
    case, first, second, signals = (np.array(column) for column in zip(*rows, strict=True))
    keys = [(cases[i].chat, _ids(cases[i], a, b)) for i, a, b in zip(case, first, second, strict=True)]
    return Pairs(case, first, second, signals, np.array([cases[i].chat for i in case]), keys)


def _hits(case: Case, vectors: bool) -> list[Hit]:
    best = case.hits[: BOUNDS.compared]
    return list(best) if vectors else [hit.__class__(hit.memory, hit.score, hit.parts) for hit in best]


def _ids(case: Case, first: int, second: int) -> tuple[int, ...]:
    return tuple(sorted(int(case.hits[at].memory.source or 0) for at in (first, second)))


def order_labels(cases: list[Case], pairs: Pairs) -> np.ndarray:
    """Return 1 where the later one has the new value, 0 where only the earlier one answers, and else NaN."""
    labels = np.full(len(pairs.case), np.nan)
    for at, (i, a, b) in enumerate(zip(pairs.case, pairs.first, pairs.second, strict=True)):
        earlier, later = (cases[i].hits[place].memory.source for place in (a, b))
        if cases[i].kind == "knowledge_update" and earlier in cases[i].first and later in cases[i].second:
            labels[at] = 1.0
        elif not cases[i].chat.startswith(OWN) and earlier in cases[i].evidence and later not in cases[i].evidence:
            labels[at] = 0.0
    return labels


def is_side(cases: list[Case], pairs: Pairs) -> np.ndarray:
    """Return whether the two are both sides of what their question asks about."""
    found = np.zeros(len(pairs.case), dtype=bool)
    for at, (i, a, b) in enumerate(zip(pairs.case, pairs.first, pairs.second, strict=True)):
        one, other = (cases[i].hits[place].memory.source for place in (a, b))
        sides = cases[i].first, cases[i].second
        found[at] = any(one in x and other in y for x, y in (sides, sides[::-1]))
    return found


def difference_labels(pairs: Pairs, side: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return of each pair 1 where the two differ, and its weight; a pair of several answers counts once."""
    read = _read()
    sides = {key for key, both in zip(pairs.key, side, strict=True) if both}
    times = Counter(pairs.key)
    found = [read.get(key) or ("state" if key in sides else "") for key in pairs.key]
    weights = [
        {"unclear": 0.0, "": UNREAD}.get(label, 1.0) / times[key] for label, key in zip(found, pairs.key, strict=True)
    ]
    may = np.array([may_differ(row) for row in pairs.signals])
    return np.array([float(label in DIFFERENT) for label in found]), np.array(weights) * may


def _read() -> dict[tuple[str, tuple[int, ...]], str]:
    rows = map(json.loads, LABELS.read_text("utf-8").splitlines())
    return {(row["chat"], tuple(row["ids"])): row["label"] for row in rows}


def fitted(signals: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the weights of a logistic model of standardized signals, the base first, by Newton's method."""
    mean, size = signals.mean(0), signals.std(0) + 1e-9
    columns = np.column_stack([np.ones(len(signals)), (signals - mean) / size])
    found = np.zeros(columns.shape[1])
    ridge = RIDGE * np.diag([0.0, *[1.0] * signals.shape[1]])
    for _ in range(30):
        chance = 1 / (1 + np.exp(-columns @ found))
        slope = columns.T @ (weights * (chance - labels)) + ridge @ found
        bend = (columns * (weights * chance * (1 - chance))[:, None]).T @ columns + ridge
        found -= np.linalg.solve(bend, slope)
    plain = found[1:] / size
    return np.r_[found[0] - plain @ mean, plain]


def left_out(pairs: Pairs, names: tuple[str, ...], labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the chance of each pair by a model that was fitted without its conversation."""
    signals, known = _columns(pairs, names), np.isfinite(labels) & (weights > 0)
    chances = np.zeros(len(labels))
    for chat in np.unique(pairs.chat):
        inside = pairs.chat == chat
        used = known & ~inside
        found = fitted(signals[used], labels[used], weights[used])
        chances[inside] = 1 / (1 + np.exp(-(found[0] + signals[inside] @ found[1:])))
    return chances


def _columns(pairs: Pairs, names: tuple[str, ...]) -> np.ndarray:
    return pairs.signals[:, [PairSignals._fields.index(name) for name in names]]


def constant(pairs: Pairs, names: tuple[str, ...], labels: np.ndarray, weights: np.ndarray) -> str:
    """Return a model that was fitted on everything, as ``formulas/changes.py`` writes it."""
    used = np.isfinite(labels) & (weights > 0)
    base, *found = fitted(_columns(pairs, names)[used], labels[used], weights[used])
    known = dict(zip(names, found, strict=True))
    weights_of = ", ".join(f"{known.get(name, 0.0):.2f}" for name in PairSignals._fields)
    return f"PairModel({base:.2f}, PairSignals({weights_of}))"


def own_cases(embedder: Kept, cache: Path | None) -> list[Case]:
    """Return the questions of our own conversations with their hits; those of a run before where there is a folder."""
    kept = cache / "own.pickle" if cache else None
    if kept and kept.exists():
        return pickle.loads(kept.read_bytes())  # noqa: S301  # written by this script
    with tempfile.TemporaryDirectory() as folder:
        policy = {"knowledge": {"watch": False}}
        with perdure.open(Path(folder) / "own.db", policy=policy, embedder=embedder) as memory:
            found = [
                case
                for split in ("train", "test")
                for chat in conversations(split)
                for case in _own(memory, embedder, chat)
            ]
    if kept:
        kept.write_bytes(pickle.dumps(found))
    return found


def _own(memory: perdure.Memory, embedder: Kept, chat: Conversation) -> Iterator[Case]:
    turns = [
        Message(turn.text, turn.speaker, session=f"s{turn.session}", source=str(turn.id), at=turn.at)
        for turn in chat.turns
    ]
    memory.ingest(turns, chat.name)
    for question in chat.questions:
        hits = memory.recall(question.text, chat.name, updates.READ, touch=False).hits
        made = embedder.embed([hit.memory.content for hit in hits], purpose="document")
        vectors = {hit.memory.id: vector for hit, vector in zip(hits, made, strict=True)}
        yield Case(
            f"{OWN}{chat.name}", question.text, frozenset(map(str, question.evidence)), "", (), (), hits, vectors
        )


def arrangement(
    cases: list[Case], pairs: Pairs, order: np.ndarray, difference: np.ndarray, bounds: Bounds = BOUNDS
) -> updates.Order:
    """Return how answers are laid out by chances that were given."""
    sets: dict[int, tuple[set[Pair], set[Pair]]] = {at: (set(), set()) for at in range(len(cases))}
    for i, a, b, newer, differs in zip(pairs.case, pairs.first, pairs.second, order, difference, strict=True):
        if newer >= bounds.newer and max(a, b) < bounds.among:
            sets[i][0].add((a, b))
        if differs >= bounds.differs:
            sets[i][1].add((a, b))
    places = {id(case): at for at, case in enumerate(cases)}
    return lambda case: arrange_hits(case.hits, case.text, *sets[places[id(case)]])


def told(name: str, found: updates.Figures, plain: updates.Figures) -> str:
    """Return the figures of an order in one line."""
    names = {"pairs": "current above old", "marked": "contradictions marked", "mrr": "MRR", "recall": "recall@10"}
    parts = [
        f"{what} {100 * found.mean(key):.1f} ± {100 * found.error(key):.1f}"
        for key, what in names.items()
        if found.values.get(key)
    ]
    return f"{name}: {', '.join(parts)} ({100 * (found.mean('mrr') - plain.mean('mrr')):+.1f})"


def precision(pairs: Pairs, chances: np.ndarray, threshold: float, *, own: bool) -> str:
    """Return how many of the pairs that would be marked are different, of those that somebody read, each pair once."""
    found = zip(pairs.key, chances, strict=True)
    marked = {key for key, chance in found if chance >= threshold and key[0].startswith(OWN) == own}
    read = {key: label for key, label in _read().items() if key in marked and label != "unclear"}
    if not read:
        return "none read"
    right = updates.Figures({"": [(chat, float(label in DIFFERENT)) for (chat, _), label in read.items()]})
    return f"{100 * right.mean(''):.1f} ± {100 * right.error(''):.1f} % of {len(read)} right: {Counter(read.values())}"


def report(cases: list[Case], *, vectors: bool) -> None:
    """Print what the two models reach on conversations that were left out, and their constants."""
    pairs = pairs_of(cases, vectors=vectors)
    order = order_labels(cases, pairs), np.ones(len(pairs.case))
    difference = difference_labels(pairs, is_side(cases, pairs))
    names = tuple(n for n in PairSignals._fields if n not in CONDITIONS and (vectors or n not in BY_VECTORS))
    ordering = tuple(name for name in names if name not in (*BY_VECTORS, "denial"))
    first, second = left_out(pairs, ordering, *order), left_out(pairs, names, *difference)
    second *= [may_differ(row) for row in pairs.signals]
    first *= [may_stand_first(row) for row in pairs.signals]
    asked = [case for case in cases if not case.chat.startswith(OWN)]
    plain = updates.figures(asked, updates.as_found)
    print(f"\n{'with' if vectors else 'without'} vectors, {len(cases)} questions, {len(pairs.case)} pairs")
    for threshold in THRESHOLDS:
        laid = arrangement(cases, pairs, first, second, BOUNDS._replace(newer=threshold))
        print(told(f"newer from {threshold}", updates.figures(asked, laid), plain))
    for threshold in MARKS:
        laid = arrangement(cases, pairs, first, second, BOUNDS._replace(differs=threshold))
        print(told(f"differs from {threshold}", updates.figures(asked, laid), plain))
        for own in (False, True):
            print(f"  {'own' if own else 'BEAM'}: {precision(pairs, second, threshold, own=own)}")
    print(constant(pairs, ordering, *order), constant(pairs, names, *difference), sep="\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, help="a folder that keeps the hits, for the next run")
    given = parser.parse_args()
    embedder = Kept()
    cases = [case for name in updates.BEAM for case in updates.cases(name, embedder, given.cache)]
    cases += own_cases(embedder, given.cache)
    for vectors in (True, False):
        report(cases, vectors=vectors)


if __name__ == "__main__":
    main()

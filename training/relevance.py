"""Fit the chances of ``formulas/relevance.py`` for a model, leaving conversations out, and print what they reach.

Usage: python training/relevance.py [--weights FILE]

Two logistic models. The first tells questions that a store answers from questions of other conversations; stores of
every size are made of parts of the conversations, so that it holds for twenty notes as for a year of messages. The
second tells which of the ten best hits answer. Each set of texts counts the same. Both are fitted a second time for
recalls without vectors.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import perdure
from perdure.models.local import LocalEmbedder
from perdure.records.policy_recall import RecallPolicy
from perdure.records.recall import CandidateColumns, Pool
from perdure.rules.ranking import drop_unrelated, rank_candidates, why_nothing_known
from pools import Asked, Chat, Kept, Searched, evaluation_chats, search_all, searched_in

if TYPE_CHECKING:
    from collections.abc import Sequence

SIZES = (10, 25, 60, 200)
WINDOWS = 8
"""So many parts of each size are cut from a conversation."""
FOREIGN = 12
"""So many questions of other conversations are asked of each part."""
THRESHOLDS = (0.1, 0.15, 0.2, 0.25, 0.3)
BINS = (0.0, 0.05, 0.1, 0.2, 0.4, 0.6, 1.0)
HITS = 10


@dataclass(frozen=True)
class Rows:
    """Rows to fit: signals [n, k], labels [n], and of each row its set, its conversation and the store's size."""

    signals: np.ndarray
    labels: np.ndarray
    sets: np.ndarray
    chats: np.ndarray
    sizes: np.ndarray

    def weights(self) -> np.ndarray:
        """Return weights with which each set and size counts the same, and in it each label, where it has both."""
        weights = np.zeros(len(self.labels))
        for name in np.unique(self.sets):
            for size in np.unique(self.sizes[self.sets == name]):
                for label in (0, 1):
                    chosen = (self.sets == name) & (self.sizes == size) & (self.labels == label)
                    weights[chosen] = 1.0 / max(1, chosen.sum())
        return weights * len(weights) / weights.sum()


def fitted(signals: np.ndarray, labels: np.ndarray, weights: np.ndarray, ridge: float = 1e-3) -> np.ndarray:
    """Return the weights of a logistic model, the base first, by Newton's method."""
    columns = np.column_stack([np.ones(len(signals)), signals])
    found = np.zeros(columns.shape[1])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-columns @ found))
        slope = columns.T @ (weights * (chance - labels)) + ridge * np.r_[0.0, found[1:]]
        bend = (columns * (weights * chance * (1 - chance))[:, None]).T @ columns + ridge * np.eye(len(found))
        found -= np.linalg.solve(bend, slope)
    return found


def left_out(rows: Rows, weights: np.ndarray) -> np.ndarray:
    """Return the chance of each row by a model that was fitted without its conversation."""
    chances = np.zeros(len(rows.labels))
    for chat in np.unique(rows.chats):
        inside = rows.chats == chat
        found = fitted(rows.signals[~inside], rows.labels[~inside], weights[~inside])
        chances[inside] = 1 / (1 + np.exp(-(found[0] + rows.signals[inside] @ found[1:])))
    return chances


def answer_signals(pool: Pool) -> list[float] | None:
    """Return the signals of ``answer_chance``, in its order; None for a pool without candidates."""
    if not pool.candidates:
        return None
    compared = float(np.sqrt(2 * np.log(max(pool.compared, 1))))
    return [pool.best_cosine or 0.0, pool.coverage, pool.unknown, pool.unknown_names, compared]


def answer_rows(searched: Sequence[tuple[int, Searched]]) -> Rows:
    """Return a row for each question that a store answers, and for each question of another conversation."""
    found = []
    for size, chat in searched:
        asked = [(a, 1) for a in chat.asked if a.evidence] + [(a, 0) for a in chat.foreign]
        for one, label in asked:
            if (signals := answer_signals(one.pool)) is not None:
                found.append((signals, label, chat.set, chat.name.partition("/")[0], size))
    return _rows(found)


def hit_rows(searched: Sequence[Searched], policy: RecallPolicy) -> Rows:
    """Return a row for each of the ten best hits of each question that the store answers."""
    found = []
    for chat in searched:
        for asked in chat.asked:
            order = rank_candidates(asked.pool, asked.query, policy, asked.at)[:HITS] if asked.evidence else []
            mean = sum(entry.score for entry in order) / HITS
            for rank, entry in enumerate(order, 1):
                above, behind = entry.score - mean, entry.score - order[0].score
                words, cosine = entry.parts.get("keyword", 0.0), entry.cosine or 0.0
                signals = [cosine, np.log(rank), words, behind, asked.pool.coverage, above]
                found.append((signals, int(entry.id in asked.evidence), chat.set, chat.name, 0))
    return _rows(found)


def _rows(found: list[tuple[list[float], int, str, str, int]]) -> Rows:
    signals, labels, sets, chats, sizes = zip(*found, strict=True)
    return Rows(np.array(signals), np.array(labels), np.array(sets), np.array(chats), np.array(sizes))


def parts_of(chats: dict[str, list[Chat]], size: int, rng: random.Random) -> Iterator[tuple[str, Chat, list[Chat]]]:
    """Yield runs of messages of a size with the questions that they answer, each with its set and the other chats."""
    for name, listed in chats.items():
        for chat in listed:
            others = [other for other in listed if other is not chat]
            for number in range(WINDOWS if len(chat.messages) > size else 0):
                start = rng.randrange(len(chat.messages) - size)
                messages = chat.messages[start : start + size]
                inside = {message.source for message in messages}
                asked = [q for q in chat.questions if q.evidence and q.evidence <= inside]
                yield name, Chat(f"{chat.name}/{size}-{number}", messages, asked), others


def search_parts(chats: dict[str, list[Chat]], embedder: Kept) -> Iterator[tuple[int, Searched]]:
    """Yield the questions of parts of the conversations with their candidates, and the size of the part."""
    rng = random.Random(0)
    with (
        tempfile.TemporaryDirectory() as folder,
        perdure.open(Path(folder) / "store.db", policy={}, embedder=embedder) as memory,
    ):
        for size in SIZES:
            for name, chat, others in parts_of(chats, size, rng):
                memory.ingest(chat.messages, chat.name)
                strangers = [question for other in others for question in other.questions]
                foreign = rng.sample(strangers, min(FOREIGN, len(strangers)))
                yield size, searched_in(memory, name, chat, foreign)
            print(f"  parts of {size} messages", file=sys.stderr, flush=True)


def without_vectors(chat: Searched) -> Searched:
    """Return a conversation as if only words had been searched."""

    def plain(asked: Asked) -> Asked:
        matched = tuple(c._replace(cosine=None) for c in asked.pool.candidates if c.bm25 > 0)
        return replace(asked, pool=replace(asked.pool, columns=CandidateColumns.of(matched), vectors=False))

    return replace(chat, asked=tuple(map(plain, chat.asked)), foreign=tuple(map(plain, chat.foreign)))


def print_refusals(rows: Rows, chances: np.ndarray) -> None:
    """Print which shares of both kinds of questions lie below a threshold: of strangers', of those answered."""
    print("| chance below | " + " | ".join(f"{name}, {size or 'all'}" for name, size in _groups(rows)) + " |")
    for threshold in THRESHOLDS:
        cells = []
        for name, size in _groups(rows):
            chosen = (rows.sets == name) & (rows.sizes == size)
            shares = [100 * (chances[chosen & (rows.labels == label)] < threshold).mean() for label in (0, 1)]
            cells.append(f"{shares[0]:.0f} % / {shares[1]:.1f} %")
        print(f"| {threshold} | {' | '.join(cells)} |")


def print_reliability(rows: Rows, chances: np.ndarray) -> None:
    """Print for each range of the chance what it was on average, and how many of the hits did answer."""
    for name in np.unique(rows.sets):
        cells = []
        for low, high in pairwise(BINS):
            chosen = (rows.sets == name) & (chances >= low) & (chances < high)
            if chosen.any():
                cells.append(f"{chances[chosen].mean():.2f}: {rows.labels[chosen].mean():.2f} of {chosen.sum()}")
        print(f"| {name} | {' | '.join(cells)} |")


def print_cost(searched: Sequence[Searched], policy: RecallPolicy) -> None:
    """Print recall@10 of each set as if every question were answered, and with what the policy refuses."""
    for name in sorted({chat.set for chat in searched}):
        answered, kept = [], []
        for asked in (a for chat in searched if chat.set == name for a in chat.asked if a.evidence):
            order = drop_unrelated(rank_candidates(asked.pool, asked.query, policy, asked.at), policy)[:HITS]
            share = len(asked.evidence & {entry.id for entry in order}) / len(asked.evidence)
            answered.append(share)
            kept.append(0.0 if why_nothing_known(asked.pool, policy) else share)
        print(f"{name}: recall@10 {100 * np.mean(answered):.1f}, with refusals {100 * np.mean(kept):.1f}")


def _groups(rows: Rows) -> list[tuple[str, int]]:
    return sorted({(str(name), int(size)) for name, size in zip(rows.sets, rows.sizes, strict=True)})


def report(label: str, rows: Rows, weights: np.ndarray, shown: Callable[[Rows, np.ndarray], None]) -> None:
    """Print the weights that all conversations give, and what those of the others give each of them."""
    print(label, fitted(rows.signals, rows.labels, weights).round(3).tolist())
    shown(rows, left_out(rows, weights))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weights", type=Path, help="an ONNX file; the installed embedder's if none is named")
    given = parser.parse_args()
    embedder = Kept(LocalEmbedder(weights=given.weights))
    english, others = evaluation_chats(), evaluation_chats(english=False)
    whole = search_all({**english, **others}, embedder)
    parts = list(search_parts(english, embedder))
    for label in ("", ", words only"):
        print_cost(whole, RecallPolicy())
        answers = answer_rows([*((0, chat) for chat in whole), *parts])
        report(f"answer{label}", answers, answers.weights(), print_refusals)
        hits = hit_rows([chat for chat in whole if chat.set in english], RecallPolicy())
        # How often a hit answers is what is asked for, so the labels keep their shares.
        report(f"hits{label}", hits, _even(hits.sets), print_reliability)
        whole, parts = [without_vectors(c) for c in whole], [(s, without_vectors(c)) for s, c in parts]


def _even(sets: np.ndarray) -> np.ndarray:
    weights = np.array([1.0 / (sets == name).sum() for name in sets])
    return weights * len(weights) / weights.sum()


if __name__ == "__main__":
    main()

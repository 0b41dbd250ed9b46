"""Choose the settings of recall for a model, leaving conversations out, and print the table.

Usage: python training/calibrate.py [--weights FILE] [--settings N]

Many settings are tried on every conversation. For each conversation the best setting of all others is taken: the mean
over the conversations that were left out is what an unseen conversation may expect. A conversation weighs as much as
its set's mean, so a large set does not decide alone.
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import random
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from corpus import conversations
from perdure.models.local import LocalEmbedder
from perdure.records.policy_recall import RecallPolicy
from perdure.rules.ranking import drop_unrelated, rank_candidates
from pools import Searched, data_file, evaluation_chats, search_all

if TYPE_CHECKING:
    from collections.abc import Sequence

HITS = 10
GRID = {
    "lexical_weight": (0.0, 0.1, 0.15, 0.2, 0.3),
    "lexical_by_coverage": (0.0, 0.1, 0.2, 0.3),
    "cosine_anchor": (0.2, 0.3, 0.4, 0.5),
    "neighbour": (0.0, 0.1, 0.2, 0.3),
    "answer": (1.0, 1.5, 2.0, 3.0),
    "session": (0.0, 0.1, 0.2, 0.3, 0.4),
    "named": (0.0, 0.05, 0.1, 0.2),
}


def scores(chat: Searched, policy: RecallPolicy) -> tuple[float, float]:
    """Return a conversation's mean recall@10 and mean reciprocal rank under some settings."""
    recalls, ranks = [], []
    for asked in chat.asked:
        if not asked.evidence:
            continue
        order = drop_unrelated(rank_candidates(asked.pool, asked.query, policy, asked.at), policy)
        hits = [entry.id in asked.evidence for entry in order]
        recalls.append(sum(hits[:HITS]) / len(asked.evidence))
        ranks.append(1 / (hits.index(True) + 1) if any(hits) else 0.0)
    return float(np.mean(recalls)), float(np.mean(ranks))


def settings(count: int, seed: int = 0) -> list[dict[str, float]]:
    """Return today's settings, each of them with one key changed, and random ones: so many in all."""
    today = {name: getattr(RecallPolicy(), name) for name in GRID}
    found = [today, *({**today, name: value} for name, values in GRID.items() for value in values)]
    rng = random.Random(seed)
    while len(found) < count:
        found.append({name: rng.choice(values) for name, values in GRID.items()})
    return found


_chats: list[Searched] = []


def _keep(chats: list[Searched]) -> None:
    _chats[:] = chats


def _rows(setting: dict[str, float]) -> list[tuple[float, float]]:
    return [scores(chat, replace(RecallPolicy(), **setting)) for chat in _chats]


class Table:
    """What every setting reaches on every conversation."""

    def __init__(self, chats: Sequence[Searched]) -> None:
        self.chats = [chat for chat in chats if any(asked.evidence for asked in chat.asked)]
        self.tried: list[dict[str, float]] = []
        self.found = np.zeros((0, len(self.chats), 2))

    def add(self, listed: Sequence[dict[str, float]]) -> None:
        """Try some settings."""
        fresh = [setting for setting in listed if setting not in self.tried]
        if fresh:
            with ProcessPoolExecutor(2, multiprocessing.get_context("fork"), _keep, (self.chats,)) as pool:
                rows = list(pool.map(_rows, fresh))
            self.tried += fresh
            self.found = np.concatenate([self.found, np.array(rows)])

    def objective(self, without: int | None = None) -> np.ndarray:
        """Return what is maximised for each setting: recall@10 and a fifth of MRR, the mean of the sets' means."""
        value = self.found[:, :, 0] + 0.2 * self.found[:, :, 1]
        sets = sorted({chat.set for chat in self.chats})
        means = []
        for name in sets:
            columns = [i for i, chat in enumerate(self.chats) if chat.set == name and i != without]
            if columns:
                means.append(value[:, columns].mean(axis=1))
        return np.mean(means, axis=0)

    def best(self, without: int | None = None) -> int:
        """Return the position of the best setting, without one conversation."""
        return int(np.argmax(self.objective(without)))


def refined(table: Table, rounds: int = 2) -> None:
    """Change one key at a time of the best settings of the table, and add those."""
    for _ in range(rounds):
        start = table.tried[table.best()]
        table.add([{**start, name: value} for name, values in GRID.items() for value in values])


def report(table: Table) -> None:
    """Print what today's settings, the best ones and the left-out choice reach on each set."""
    chosen, today = table.best(), 0
    left_out = np.array([table.found[table.best(i), i] for i in range(len(table.chats))])
    print("| set | conversations | today recall@10 / MRR | fitted | left out | standard error |")
    print("|---|---|---|---|---|---|")
    for name in sorted({chat.set for chat in table.chats}):
        columns = [i for i, chat in enumerate(table.chats) if chat.set == name]
        cells = [table.found[row, columns].mean(axis=0) for row in (today, chosen)]
        cells.append(left_out[columns].mean(axis=0))
        error = left_out[columns, 0].std(ddof=1) / np.sqrt(len(columns)) if len(columns) > 1 else float("nan")
        shown = " | ".join(f"{100 * recall:.1f} / {100 * rank:.1f}" for recall, rank in cells)
        print(f"| {name} | {len(columns)} | {shown} | {100 * error:.1f} |")
    print(json.dumps(table.tried[chosen]))


THRESHOLDS = (0.85, 0.92, 0.97)


def thresholds(base: LocalEmbedder, model: LocalEmbedder) -> None:
    """Print where a model's cosines lie that are as rare as given ones of the base, among turns and SICK's pairs."""
    sick = [
        line.split("\t")[1:3]
        for name in ("SICK_train.txt.gz", "SICK_trial.txt.gz")
        for line in gzip.decompress(data_file(name).read_bytes()).decode("utf-8").splitlines()[1:]
    ]
    turns = [chat.searchable(turn) for chat in conversations("test") for turn in chat.turns if chat.language == "en"]
    for label, found in (
        ("SICK", [pair_cosines(m, sick) for m in (base, model)]),
        ("nearest turns", [nearest_cosines(m, turns) for m in (base, model)]),
    ):
        shares = [float((found[0] >= threshold).mean()) for threshold in THRESHOLDS]
        same = [float(np.quantile(found[1], 1 - share)) for share in shares]
        print(
            label, {t: f"{s:.2%} of the pairs, now {v:.3f}" for t, s, v in zip(THRESHOLDS, shares, same, strict=True)}
        )


def pair_cosines(model: LocalEmbedder, pairs: Sequence[Sequence[str]]) -> np.ndarray:
    """Return the cosine of each pair of texts."""
    left, right = (vectors(model, [pair[side] for pair in pairs]) for side in (0, 1))
    return (left * right).sum(axis=1)


def nearest_cosines(model: LocalEmbedder, texts: Sequence[str]) -> np.ndarray:
    """Return each text's cosine with the nearest other one."""
    found = vectors(model, texts)
    likeness = found @ found.T
    np.fill_diagonal(likeness, -1.0)
    return likeness.max(axis=1)


def vectors(model: LocalEmbedder, texts: Sequence[str]) -> np.ndarray:
    """Return vectors of shape (texts, 384)."""
    return np.frombuffer(b"".join(model.embed(texts, purpose="document")), "<f4").reshape(len(texts), -1)


def hit_shares(chats: Sequence[Searched], setting: dict[str, float]) -> None:
    """Print what leaving out hits far below the best costs, and how many hits and right ones are left of ten."""
    print("| hit_share | recall@10 | hits | of them right |")
    print("|---|---|---|---|")
    for share in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5):
        policy = replace(RecallPolicy(), **setting, hit_share=share)
        recalls, counts, right = [], [], []
        for asked in (a for chat in chats for a in chat.asked if a.evidence):
            order = drop_unrelated(rank_candidates(asked.pool, asked.query, policy, asked.at), policy)[:HITS]
            found = sum(entry.id in asked.evidence for entry in order)
            recalls.append(found / len(asked.evidence))
            counts.append(len(order))
            right.append(found / max(1, len(order)))
        print(f"| {share} | {100 * np.mean(recalls):.1f} | {np.mean(counts):.1f} | {100 * np.mean(right):.1f} % |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weights", type=Path, help="an ONNX file; the installed embedder's if none is named")
    parser.add_argument("--base", type=Path, help="the model whose thresholds are to be met, as an ONNX file")
    parser.add_argument("--settings", type=int, default=80, help="how many settings are tried before refining")
    given = parser.parse_args()
    model = LocalEmbedder(weights=given.weights)
    searched = search_all(evaluation_chats(), model)
    if given.base is not None:
        thresholds(LocalEmbedder(weights=given.base), model)
    table = Table(searched)
    table.add(settings(given.settings))
    refined(table)
    report(table)
    hit_shares(searched, table.tried[table.best()])


if __name__ == "__main__":
    main()

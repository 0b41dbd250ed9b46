"""Choose the settings of recall and of the digest for a model, leaving conversations out, and print the tables.

Usage: python training/calibrate.py [--weights FILE] [--settings N] [--chats N]

Many settings are tried on every conversation. For each conversation the best setting of all others is taken: the mean
over the conversations that were left out is what an unseen conversation may expect. A conversation weighs as much as
its set's mean, so a large set does not decide alone. How many candidates a search brings up and the digest's diversity
are tried in a store, each by itself.
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import random
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import perdure
from corpus import conversations
from perdure.models.local import LocalEmbedder
from perdure.records.policy import Policy
from perdure.records.policy_recall import RecallPolicy
from perdure.rules.ranking import drop_unrelated, rank_candidates
from pools import Chat, Kept, Searched, data_file, evaluation_chats, search_all, searched_in

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
TODAY = Policy()
DEPTHS = tuple(
    {"candidates": candidates, "rescored": rescored}
    for candidates, rescored in (
        (TODAY.recall.candidates, TODAY.recall.rescored),
        *((20, 200), (30, 200), (100, 200), (200, 400), (50, 100), (50, 800)),
    )
)
"""How many memories a search brings up, and of how many the exact cosine is computed."""
DIVERSITIES = tuple({"diversity": value} for value in (TODAY.digest.diversity, 0.0, 0.25, 0.75, 1.0))


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
    """What every setting reaches on every conversation, in two figures; today's setting is the first."""

    def __init__(self, sets: Sequence[str]) -> None:
        self.sets = np.array(sets)  # of each conversation
        self.tried: list[dict[str, float]] = []
        self.found = np.zeros((0, len(sets), 2))

    def add(self, listed: Sequence[dict[str, float]], rows: Sequence[Sequence[tuple[float, float]]]) -> None:
        """Add what some settings reach."""
        self.tried += listed
        self.found = np.concatenate([self.found, np.array(rows)])

    def objective(self, without: int | None = None) -> np.ndarray:
        """Return what is maximised for each setting: the first figure and a fifth of the second, mean of the sets."""
        value = self.found[:, :, 0] + 0.2 * self.found[:, :, 1]
        others = np.arange(len(self.sets)) != without
        means = [value[:, (self.sets == name) & others] for name in sorted(set(self.sets))]
        return np.mean([values.mean(axis=1) for values in means if values.size], axis=0)

    def best(self, without: int | None = None) -> int:
        """Return the position of the best setting, without one conversation."""
        return int(np.argmax(self.objective(without)))


def try_settings(table: Table, chats: Sequence[Searched], listed: Sequence[dict[str, float]]) -> None:
    """Add some settings of the ranking to a table."""
    fresh = [setting for setting in listed if setting not in table.tried]
    if fresh:
        with ProcessPoolExecutor(2, multiprocessing.get_context("fork"), _keep, (chats,)) as pool:
            table.add(fresh, list(pool.map(_rows, fresh)))


def refined(table: Table, chats: Sequence[Searched], rounds: int = 2) -> None:
    """Change one key at a time of the best settings of the table, and add those."""
    for _ in range(rounds):
        start = table.tried[table.best()]
        try_settings(table, chats, [{**start, name: value} for name, values in GRID.items() for value in values])


def report(table: Table, what: str = "recall@10 / MRR") -> None:
    """Print what today's settings, the best ones and the left-out choice reach on each set."""
    chosen, today = table.best(), 0
    choices = [table.best(i) for i in range(len(table.sets))]
    left_out = np.array([table.found[choice, i] for i, choice in enumerate(choices)])
    print(f"| set | conversations | today {what} | fitted | left out | gain of the first, ± its error |")
    print("|---|---|---|---|---|---|")
    for name in sorted(set(table.sets)):
        inside = table.sets == name
        cells = [table.found[today, inside], table.found[chosen, inside], left_out[inside]]
        shown = " | ".join(" / ".join(f"{100 * value:.1f}" for value in cell.mean(axis=0)) for cell in cells)
        print(f"| {name} | {inside.sum()} | {shown} | {_gain(left_out[inside, 0] - table.found[today, inside, 0])} |")
    counts = Counter(json.dumps(table.tried[choice]) for choice in choices)
    print(f"fitted: {json.dumps(table.tried[chosen])}; left out: {dict(counts.most_common(3))}\n", flush=True)


def _gain(differences: np.ndarray) -> str:
    error = differences.std(ddof=1) / np.sqrt(len(differences)) if len(differences) > 1 else float("nan")
    return f"{100 * differences.mean():+.1f} ± {100 * error:.1f}"


def in_stores(
    chats: dict[str, list[Chat]],
    embedder: Kept,
    section: str,
    tried: Sequence[dict[str, float]],
    measure: Callable[[perdure.Memory, Chat], tuple[float, float]],
) -> Table:
    """Return what settings of a section of the policy reach, each in the same store of all conversations of a set."""
    table = Table([name for name, listed in chats.items() for _ in listed])
    rows: list[list[tuple[float, float]]] = [[] for _ in tried]
    for listed in chats.values():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "store.db"
            with perdure.open(path, policy={}, embedder=embedder) as memory:
                for chat in listed:
                    memory.ingest(chat.messages, chat.name)
            for row, setting in zip(rows, tried, strict=True):
                with perdure.open(path, policy={section: setting}, embedder=embedder) as memory:
                    row += [measure(memory, chat) for chat in listed]
    table.add(tried, rows)
    return table


def found_in(memory: perdure.Memory, chat: Chat) -> tuple[float, float]:
    """Return a conversation's mean recall@10 and mean reciprocal rank as a store finds them."""
    return scores(searched_in(memory, "", chat, ()), RecallPolicy())


def kept_in_view(memory: perdure.Memory, chat: Chat) -> tuple[float, float]:
    """Return the share of a conversation's evidence that its digest shows, and that of its lines that are evidence."""
    evidence = {source for question in chat.questions for source in question.evidence}
    shown = [found.source for i in memory.digest_details(chat.name).ids if (found := memory.get(i)) is not None]
    return len(evidence.intersection(shown)) / len(evidence), float(np.mean([source in evidence for source in shown]))


def each(table: Table, what: str) -> None:
    """Print what every setting reaches on each set, the difference of the first figure from today's, and the report."""
    names = sorted(set(table.sets))
    print(f"| {what}, difference of the first | {' | '.join(names)} |")
    print("|---" * (len(names) + 1) + "|")
    for setting, found in zip(table.tried, table.found, strict=True):
        cells = []
        for inside in (table.sets == name for name in names):
            figures = " / ".join(f"{100 * value:.1f}" for value in found[inside].mean(axis=0))
            cells.append(f"{figures}, {_gain(found[inside, 0] - table.found[0, inside, 0])}")
        print(f"| {', '.join(f'{key} {value:g}' for key, value in setting.items())} | {' | '.join(cells)} |")
    print()
    report(table, what)


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
    parser.add_argument("--chats", type=int, help="use only so many conversations of each set")
    given = parser.parse_args()
    model = LocalEmbedder(weights=given.weights)
    embedder = Kept(model)
    chats = {name: listed[: given.chats] for name, listed in evaluation_chats().items()}
    each(in_stores(chats, embedder, "digest", DIVERSITIES, kept_in_view), "evidence in a digest / lines that are")
    each(in_stores(chats, embedder, "recall", DEPTHS, found_in), "recall@10 / MRR")
    if given.base is not None:
        thresholds(LocalEmbedder(weights=given.base), model)
    searched = [chat for chat in search_all(chats, embedder) if any(asked.evidence for asked in chat.asked)]
    table = Table([chat.set for chat in searched])
    try_settings(table, searched, settings(given.settings))
    refined(table, searched)
    report(table)
    hit_shares(searched, table.tried[table.best()])


if __name__ == "__main__":
    main()

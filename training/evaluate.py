"""Print what a model reaches beside BM25 and other models: on every set, on every kind of question, on other tasks.

Usage: python training/evaluate.py [--vectors] [--parts] [--settings JSON] [NAME=FILE.onnx ...]

The installed embedder is always measured. Recall@10 of a question is the share of its evidence among the ten best.
Standard errors are over conversations. "Vectors": the cosine alone. "Hybrid": fused with words. "Engine": with what the
neighbouring turns and the session say, as ``recall`` answers. "Other settings": the same with keys of the policy's
``recall`` as ``--settings`` has them, for instance those that ``calibrate.py --weights FILE.onnx`` chose for a model.
--parts prints development and validation conversations of LoCoMo and BEAM side by side, and nothing else.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from perdure.models.local import LocalEmbedder
from perdure.records.memory import searchable
from perdure.records.policy_recall import RecallPolicy
from perdure.rules.ranking import drop_unrelated, rank_candidates
from pools import BEAM, LOCOMO, Chat, Kept, Searched, beam, data_file, evaluation_chats, locomo, plain, search_all

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HITS = 10
NO_CONTEXT = replace(RecallPolicy(), neighbour=0.0, session=0.0, named=0.0)


@dataclass(frozen=True)
class Found:
    """Recall@10 of one question of one conversation."""

    chat: str
    kind: str
    recall: float


def matrix(embedder: Kept, texts: Sequence[str]) -> np.ndarray:
    """Return the vectors of texts, of shape (texts, 384)."""
    return np.frombuffer(b"".join(embedder.embed(list(texts), purpose="document")), "<f4").reshape(len(texts), -1)


def by_vectors(chats: Sequence[Chat], embedder: Kept) -> Iterator[Found]:
    """Yield the recall of each question by the cosine alone."""
    for chat in chats:
        texts = matrix(embedder, [searchable(m.content, m.speaker) for m in chat.messages])
        for question in chat.questions:
            if question.evidence:
                near = np.argsort(-(texts @ matrix(embedder, [question.text])[0]), kind="stable")[:HITS]
                hits = {chat.messages[i].source for i in near.tolist()}
                yield Found(chat.name, question.kind, len(question.evidence & hits) / len(question.evidence))


def by_words(chats: Sequence[Chat]) -> Iterator[Found]:
    """Yield the recall of each question by FTS5's BM25 alone."""
    for chat in chats:
        answered = Chat(chat.name, chat.messages, [q for q in chat.questions if q.evidence])
        for question, recall in zip(answered.questions, plain(answered), strict=True):
            yield Found(chat.name, question.kind, recall)


def by_engine(searched: Sequence[Searched], policy: RecallPolicy) -> Iterator[Found]:
    """Yield the recall of each question by the engine's ranking under some settings."""
    for chat in searched:
        for asked in chat.asked:
            if asked.evidence:
                order = drop_unrelated(rank_candidates(asked.pool, asked.query, policy, asked.at), policy)[:HITS]
                share = len(asked.evidence & {entry.id for entry in order}) / len(asked.evidence)
                yield Found(chat.name, asked.kind, share)


def cell(found: Sequence[Found]) -> str:
    """Return the mean over questions and its standard error over conversations."""
    return spread([(f.chat, f.recall) for f in found])


def spread(values: Sequence[tuple[str, float]]) -> str:
    """Return the mean of the values, in percent, and its standard error over the groups that they are labelled with."""
    groups: dict[str, list[float]] = defaultdict(list)
    for group, value in values:
        groups[group].append(value)
    means = [float(np.mean(listed)) for listed in groups.values()]
    error = np.std(means, ddof=1) / np.sqrt(len(means)) if len(means) > 1 else 0.0
    return f"{100 * np.mean([value for _, value in values]):.1f} ± {100 * error:.1f}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a Markdown table."""
    for line in (head, ["---"] * len(head), *rows):
        print(f"| {' | '.join(line)} |")
    print(flush=True)


def sick_correlation(embedder: Kept) -> float:
    """Return Spearman's correlation of cosines with the relatedness of SICK's 5,000 training and trial pairs."""
    rows = [
        line.split("\t")
        for name in ("SICK_train.txt.gz", "SICK_trial.txt.gz")
        for line in gzip.decompress(data_file(name).read_bytes()).decode("utf-8").splitlines()[1:]
    ]
    left, right = (matrix(embedder, [row[column] for row in rows]) for column in (1, 2))
    return spearman((left * right).sum(axis=1), np.array([float(row[3]) for row in rows]))


def spearman(left: np.ndarray, right: np.ndarray) -> float:
    """Return the correlation of the ranks of two series; equal values share their mean rank."""
    return float(np.corrcoef(_ranks(left), _ranks(right))[0, 1])


def _ranks(values: np.ndarray) -> np.ndarray:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts - 1) / 2.0)[inverse]


def replies_found(embedder: Kept, name: str) -> list[Found]:
    """Return whether MemoryBank's reply to each message is among the ten nearest of its user's replies."""
    found = []
    for user, data in json.loads(data_file(name).read_text("utf-8")).items():
        talk = [turn for day in data["history"].values() for turn in day]
        asked, replies = (matrix(embedder, [_field(turn, key) for turn in talk]) for key in ("query", "response"))
        for i, row in enumerate(asked @ replies.T):
            found.append(Found(user, "", float(i in np.argsort(-row, kind="stable")[:HITS])))
    return found


def differences(found: Sequence[Found], before: Sequence[Found]) -> list[Found]:
    """Return what one model has more than another on the same questions, each by itself."""
    return [replace(one, recall=one.recall - other.recall) for one, other in zip(found, before, strict=True)]


def _field(turn: dict[str, str], key: str) -> str:
    return next((str(value) for name, value in turn.items() if name.strip().lower() == key), "")


def other_work(models: dict[str, Kept]) -> None:
    """Print SICK's relatedness and MemoryBank's replies, and what the installed model has more of these than others."""
    banks = {
        name: [replies_found(kept, f"memory_bank_{code}.json") for code in ("en", "cn")]
        for name, kept in models.items()
    }
    rows = [[name, f"{sick_correlation(kept):.3f}", *map(cell, banks[name])] for name, kept in models.items()]
    for name in list(models)[1:]:
        paired = map(differences, banks["installed"], banks[name])
        rows.append([f"installed, difference from {name}, user by user", "", *map(cell, paired)])
    table(["model", "SICK, correlation", "MemoryBank English, replies", "MemoryBank Chinese, replies"], rows)


def print_parts(embedder: Kept) -> None:
    """Print what is found in the conversations of each file of LoCoMo and BEAM."""
    files = [
        *((f"LoCoMo, {n}", locomo.chats(n)) for n in LOCOMO),
        *((f"BEAM, {n}", beam.chats({"user"}, n)) for n in BEAM),
    ]
    head = ["file", "conversations", "questions", "BM25", "vectors", "recall"]
    print(f"| {' | '.join(head)} |\n| {' | '.join('---' for _ in head)} |", flush=True)
    for name, chats in files:
        engine = list(by_engine(search_all({name: chats}, embedder), RecallPolicy()))
        ways = (list(by_words(chats)), list(by_vectors(chats, embedder)), engine)
        row = [name, str(len(chats)), str(len(engine)), *map(cell, ways)]
        print(f"| {' | '.join(row)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("others", nargs="*", metavar="NAME=FILE", help="other models to measure beside")
    parser.add_argument("--vectors", action="store_true", help="the cosine alone, as for the learning curve")
    parser.add_argument("--settings", type=json.loads, help="keys of the policy's recall, as JSON, to measure with too")
    parser.add_argument("--parts", action="store_true", help="development and validation conversations side by side")
    given = parser.parse_args()
    if given.parts:
        print_parts(Kept())
        return
    models = {"installed": Kept()}
    for entry in given.others:
        name, _, path = entry.partition("=")
        models[name] = Kept(LocalEmbedder(weights=Path(path)))
    sets = {**evaluation_chats(), **evaluation_chats(english=False)}
    results: dict[tuple[str, str], dict[str, list[Found]]] = defaultdict(dict)
    for set_name, chats in sets.items():
        results["BM25", ""][set_name] = list(by_words(chats))
        for model, embedder in models.items():
            results[model, "vectors"][set_name] = list(by_vectors(chats, embedder))
            if given.vectors:
                continue
            searched = search_all({set_name: chats}, embedder)
            results[model, "hybrid"][set_name] = list(by_engine(searched, NO_CONTEXT))
            results[model, "engine"][set_name] = list(by_engine(searched, RecallPolicy()))
            if given.settings:
                other = replace(RecallPolicy(), **given.settings)
                results[model, "engine, other settings"][set_name] = list(by_engine(searched, other))
    table(["recall@10", *sets], [[" ".join(k).strip(), *(cell(r[name]) for name in sets)] for k, r in results.items()])
    for set_name in sets:
        kinds = sorted({f.kind for f in results["BM25", ""][set_name]})
        rows = [
            [" ".join(key).strip(), *(cell([f for f in found[set_name] if f.kind == kind]) for kind in kinds)]
            for key, found in results.items()
        ]
        table([set_name, *kinds], rows)
    other_work(models)


if __name__ == "__main__":
    main()

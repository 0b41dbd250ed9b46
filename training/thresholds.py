"""Print every constant that compares or scales a cosine: today's value, and what leaving groups out would choose.

Usage: python training/thresholds.py [--weights FILE]

``CONSTANTS`` lists them all; those that another script fits name it. A threshold is chosen for the highest F 0.5
(precision counts twice) on all groups but one and judged on that one. Data: the labelled pairs of notes
(``training/pairs``: both say the same, or not; groups of ten), our English test conversations (two turns that
answer one question, or a turn that answers and any other; groups are conversations), and what the model of what later
statements make untrue links in the conversations that it was not trained on (``training/supersession``; groups are
those). For copies it is the share of turns whose nearest earlier turn has that cosine. Weights, and what only summaries
show, are listed without a figure: nothing here calibrates them. A second table has how many of the links are right.
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from corpus import conversations
from perdure.models.local import LocalEmbedder
from perdure.models.supersession import SupersessionModel
from perdure.records.policy import Policy
from perdure.rules.supersession import LEAST_COSINE, NEAREST

if TYPE_CHECKING:
    from collections.abc import Sequence

PAIRS = Path(__file__).resolve().parent / "pairs"
TALKS = Path(__file__).resolve().parent / "supersession/conversations.jsonl"
HELD_OUT = 10
"""Every so many of them is held out, as in ``supersession.py``."""
GRID = np.round(np.arange(0.1, 0.991, 0.01), 2)
SAME, ABOUT, TURNS, LINKS = "says the same", "about one thing", "nearest turns", "linked statements"
UNMEASURED = "not calibrated"


class Constant(NamedTuple):
    """A policy key (``section.key``) or a module's name (``module:NAME``), what it separates, and on which data."""

    name: str
    separates: str
    by: str

    def value(self) -> float:
        """Return today's value; of weights, the cosine's."""
        if ":" not in self.name:
            section, key = self.name.split(".")
            return float(getattr(getattr(Policy(), section), key))
        module, _, path = self.name.partition(":")
        found = importlib.import_module(f"perdure.{module}")
        for part in path.split("."):
            found = getattr(found, part)
        return float(found)  # type: ignore[arg-type]


FUSION, CHANCE, CHANGES, SUPERSESSION = "calibrate.py", "relevance.py", "changes.py", "supersession_figures.py"
CONSTANTS = (
    Constant("recall.cosine_anchor", "scale of meaning in a score", FUSION),
    Constant("recall.lexical_weight", "words against meaning", FUSION),
    Constant("recall.lexical_by_coverage", "words against meaning", FUSION),
    Constant("recall.neighbour", "context against own score", FUSION),
    Constant("recall.session", "context against own score", FUSION),
    Constant("recall.hit_share", "hits far below the best", FUSION),
    Constant("recall.answer_chance", "questions that nothing answers", CHANCE),
    Constant("formulas.relevance:ANSWER.cosine", "questions that nothing answers", CHANCE),
    Constant("formulas.relevance:HIT.cosine", "hits that answer", CHANCE),
    Constant("recall.duplicate_cosine", "hits that repeat a better one", SAME),
    Constant("embedder.near_duplicate", "new memories linked to an older one", SAME),
    Constant("consolidate.merge_at", "pairs labelled MERGE", SAME),
    Constant("consolidate.review_at", "pairs labelled REVIEW", SAME),
    Constant("consolidate.link_at", "pairs labelled LINK", SAME),
    Constant("tasks.redundancy", "memories of a task that are merged", SAME),
    Constant("rules.usage_detection:PARAPHRASED", "memories that a reply used", SAME),
    Constant("operations.hooks:KNOWN_AGAIN", "requests that are known already", SAME),
    Constant("knowledge.synonym_at", "names of predicates a person is asked about", SAME),
    Constant("operations.remember_one:_NEAR", "earlier memories offered by a reply", ABOUT),
    Constant("formulas.changes:ORDER.weights.cosine", "hits shown newest first", CHANGES),
    Constant("formulas.changes:DIFFERENCE.weights.cosine", "hits said to differ", CHANGES),
    Constant("rules.lifecycle.older_statements:ALIKE", "statements a later one replaces", ABOUT),
    Constant("rules.doubted_facts:_ALIKE", "facts that a later statement doubts", ABOUT),
    Constant("rules.lifecycle.older_statements:_ABOUT_ONE_THING", "values a later text names", ABOUT),
    Constant("rules.supersession:LEAST_COSINE", "statements compared with a later one", SUPERSESSION),
    Constant("rules.supersession:LIKELY_COSINE", "statements a later one likely makes untrue", LINKS),
    Constant("compression.preservation", "summaries that lose the meaning", UNMEASURED),
    Constant("formulas.value:DUPLICATE_COSINE", "copies, whose uniqueness is 0", TURNS),
    Constant("consolidate.content_weight", "words against meaning in likeness", UNMEASURED),
    Constant("formulas.likeness:CONTENT_WEIGHT", "words against meaning in likeness", UNMEASURED),
    Constant("digest.diversity", "lines of the digest like one before", FUSION),
    Constant("value.uniqueness", "weight of uniqueness in value", UNMEASURED),
    Constant("knowledge.operations.answer_sheet:LIKENESS", "weight of a fact's cosine", UNMEASURED),
)


@dataclass(frozen=True)
class Labelled:
    """Cosines of pairs, whether each pair belongs together, and its group; all of shape [n]."""

    cosines: np.ndarray
    labels: np.ndarray
    groups: np.ndarray

    def figures(self, threshold: float, chosen: np.ndarray) -> tuple[float, float, float]:
        """Return precision, recall and F 0.5 of a threshold on some of the pairs."""
        above = self.cosines[chosen] >= threshold
        right = float((above & self.labels[chosen]).sum())
        precision = right / max(1.0, float(above.sum()))
        recall = right / max(1.0, float(self.labels[chosen].sum()))
        score = 1.25 * precision * recall / max(1e-9, 0.25 * precision + recall)
        return precision, recall, score

    def best(self, chosen: np.ndarray) -> float:
        """Return the threshold with the highest F 0.5 on some of the pairs, the highest of equals."""
        return float(max(GRID, key=lambda t: (self.figures(t, chosen)[2], t)))


def left_out(data: Labelled, today: float) -> tuple[list[float], float, float, float]:
    """Return the thresholds chosen without each group, F 0.5 of today and of those left out, and the gain's error.

    The error is that of the mean difference over groups.
    """
    chosen, gains, now, then = [], [], [], []
    for group in np.unique(data.groups):
        inside = data.groups == group
        chosen.append(data.best(~inside))
        now.append(data.figures(today, inside)[2])
        then.append(data.figures(chosen[-1], inside)[2])
        gains.append(then[-1] - now[-1])
    error = float(np.std(gains, ddof=1) / np.sqrt(len(gains)))
    return chosen, float(np.mean(now)), float(np.mean(then)), error


def matrix(model: LocalEmbedder, texts: Sequence[str]) -> np.ndarray:
    """Return vectors of shape (texts, dimensions)."""
    return np.frombuffer(b"".join(model.embed(texts, purpose="document")), "<f4").reshape(len(texts), -1)


def same_pairs(model: LocalEmbedder) -> Labelled:
    """Return the labelled notes: whether both say the same."""
    halves = [(PAIRS / f"{half}.jsonl").read_text("utf-8") for half in ("first", "locked")]
    rows = [json.loads(line) for half in halves for line in half.splitlines()]
    one, other = (matrix(model, [row[side] for row in rows]) for side in ("one", "other"))
    return Labelled(
        (one * other).sum(axis=1), np.array([r["label"] == "same" for r in rows]), np.arange(len(rows)) % 10
    )


def turn_pairs(model: LocalEmbedder) -> tuple[Labelled, np.ndarray]:
    """Return pairs of turns, about one thing or not, and each turn's cosine with the nearest earlier one."""
    found: list[tuple[float, bool, str]] = []
    nearest: list[float] = []
    for chat in (c for c in conversations("test") if c.language == "en"):
        rng, likeness = random.Random(chat.name), np.zeros((0, 0))
        vectors = matrix(model, [chat.searchable(turn) for turn in chat.turns])
        likeness = vectors @ vectors.T
        nearest += [float(likeness[i, :i].max()) for i in range(1, len(vectors))]
        for question in chat.questions:
            for i, j in combinations(question.evidence, 2):
                found.append((float(likeness[i - 1, j - 1]), True, chat.name))
                found.append((float(likeness[i - 1, rng.randrange(len(vectors))]), False, chat.name))
    cosines, labels, groups = zip(*found, strict=True)
    return Labelled(np.array(cosines), np.array(labels), np.array(groups)), np.array(nearest)


def linked_pairs(model: LocalEmbedder, judge: SupersessionModel) -> Labelled:
    """Return the pairs that the model links in the engine, and whether one does make the other untrue."""
    found: list[tuple[float, bool, int]] = []
    for number, line in enumerate(TALKS.read_text("utf-8").splitlines()[::HELD_OUT]):
        talk = json.loads(line)
        texts, right = talk["messages"], {tuple(pair) for pair in (*talk["outdates"], *talk.get("conflicts", ()))}
        vectors = matrix(model, texts)
        cosines = vectors @ vectors.T
        nearest = [(later, np.argsort(-cosines[later, :later], kind="stable")[:NEAREST]) for later in range(len(texts))]
        pairs = [(int(e), later) for later, some in nearest for e in some if cosines[later, e] >= LEAST_COSINE]
        chances = judge.chances([(texts[earlier], texts[later]) for earlier, later in pairs])
        linked = [
            pair for pair, chance in zip(pairs, chances, strict=True) if chance >= Policy().knowledge.superseded_from
        ]
        found += [(float(cosines[j, i]), not right.isdisjoint({(i, j), (j, i)}), number) for i, j in linked]
    columns = zip(*found, strict=True) if found else ((), (), ())
    return Labelled(*(np.array(column) for column in columns))


def row_of(constant: Constant, data: dict[str, Labelled], nearest: np.ndarray) -> str:
    """Return a constant's line of the table."""
    today = constant.value()
    head = f"| {constant.name} | {constant.separates} | {constant.by} | {today:g}"
    if constant.by == TURNS:
        return f"{head} | {(nearest >= today).mean():.1%} of {len(nearest)} turns | | |"
    if constant.by not in data:
        return f"{head} | | | |"
    chosen, now, then, error = left_out(data[constant.by], today)
    span = f"{min(chosen):g} to {max(chosen):g}"
    return f"{head} | {span} | {100 * now:.1f} | {100 * then:.1f} ± {100 * error:.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weights", type=Path, help="an ONNX file; the installed embedder's if none is named")
    model = LocalEmbedder(weights=parser.parse_args().weights)
    turns, nearest = turn_pairs(model)
    data = {SAME: same_pairs(model), ABOUT: turns, LINKS: linked_pairs(model, SupersessionModel())}
    print("| constant | separates | on | today | left out | F 0.5 today | F 0.5 left out, ± of the difference |")
    print("|---|---|---|---|---|---|---|")
    for constant in CONSTANTS:
        print(row_of(constant, data, nearest))
    links = data[LINKS]
    print("\n| cosine of linked statements from | links | of them right |\n|---|---|---|")
    for least, most in pairwise((LEAST_COSINE, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 1.01)):
        inside = links.labels[(links.cosines >= least) & (links.cosines < most)]
        print(f"| {least:g} | {len(inside)} | {inside.sum()} |")


if __name__ == "__main__":
    main()

"""Which pairs of texts consolidation merges: true paraphrases should, contradictions and changed values never.

Usage: python benchmarks/paraphrases.py [--sick FILE] [--locked | --notes NAME | --together] [--show] [--json]

Data: the labelled pairs of agents' notes in ``training/pairs`` (the first half, with ``--locked`` the other, with
``--notes`` the file of that name) and the sentence pairs of SICK. A pair is a candidate where its likeness, as the
default policy weighs it, reaches 0.85; it merges if the meaning guard lets one text stand for the other. The plain
baseline merges all candidates. ``--together`` stores the rewordings of ``training/rewordings.jsonl`` in one store
instead, as somebody would who says things again, and consolidates it.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

import perdure
from perdure.records.policy_lifecycle import ConsolidatePolicy
from perdure.rules.consolidation.duplicates import tokens
from perdure.rules.meaning_guard import conflict, contradiction
from report import Row, finished, parser, say

THRESHOLD = 0.85
PAIRS = Path(__file__).resolve().parents[1] / "training" / "pairs"
NEAR = 4.8
"""Relatedness of SICK's entailments from which they count as paraphrases."""


class Pair(NamedTuple):
    """Two texts and what they are to each other."""

    label: str
    one: str
    other: str


def notes(name: str) -> list[Pair]:
    """Read one half of the labelled notes."""
    lines = (PAIRS / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [Pair(**json.loads(line)) for line in lines]


def sick(path: str) -> list[Pair]:
    """Read SICK's pairs; entailments that people find nearly alike are paraphrases, ``same``."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file][1:]
    found = []
    for _, one, other, related, label, *_ in rows:
        if label == "ENTAILMENT" and float(related) < NEAR:
            continue
        found.append(Pair("same" if label == "ENTAILMENT" else label.lower(), one, other))
    return found


def likeness(pairs: list[Pair]) -> np.ndarray:
    """Return the combined likeness of each pair with the local embedder."""
    with perdure.open(":memory:", policy={"embedder": {"model": "local"}}) as memory:
        embed = memory._context.embedder.embed  # noqa: SLF001  # vectors are no part of what memories show
        sides = [embed([p[side] for p in pairs], purpose="document") for side in (1, 2)]
    one, other = (np.array([np.frombuffer(v, "<f4") for v in side]) for side in sides)
    words = [(set(tokens(p.one)), set(tokens(p.other))) for p in pairs]
    overlap = np.array([len(a & b) / len(a | b) for a, b in words])
    weight = ConsolidatePolicy().content_weight
    return (1 - weight) * (one * other).sum(axis=1) + weight * overlap


def measured(name: str, pairs: list[Pair], *, show: bool) -> list[Row]:
    """Count candidates and merges of each label."""
    alike = likeness(pairs) >= THRESHOLD
    merged = np.array([not conflict(p.one, p.other) or not conflict(p.other, p.one) for p in pairs]) & alike
    joined = np.array([not contradiction(p.one, p.other) for p in pairs]) & alike
    rows = []
    for label in dict.fromkeys(p.label for p in pairs):
        own = np.array([p.label == label for p in pairs])
        good = label == "same"
        share = merged[own].sum() / max(1, alike[own].sum())
        error = (share * (1 - share) / max(1, alike[own].sum())) ** 0.5
        say(
            f"{name}, {label}: {own.sum()} pairs, {alike[own].sum()} candidates (the plain baseline), "
            f"{merged[own].sum()} merge ({share:.2f} ± {error:.2f} of them), {joined[own].sum()} with merge_content"
        )
        value, target = (float(share), 0.6) if good else (float(merged[own].sum()), 0.0)
        told = "share of candidates merged" if good else "pairs merged"
        rows.append(Row(f"{name}: {label}, {told}", value, "", target, at_least=good))
        for pair, wrong in zip(pairs, (merged ^ good) & own if good else merged & own, strict=True):
            if show and wrong:
                say(f"    {pair.one} | {pair.other} | {conflict(pair.one, pair.other)}")
    return rows


def together(*, show: bool) -> list[Row]:
    """Count what of many rewordings of few notes is merged in one store, of each note alone and of all."""
    lines = [json.loads(line) for line in (PAIRS.parent / "rewordings.jsonl").read_text("utf-8").splitlines()]
    notes = sorted({line["note"] for line in lines})
    rows = []
    for some in (*([note] for note in notes), notes):
        texts = [line["text"] for line in lines if line["note"] in some]
        policy = {"embedder": {"model": "local"}, "consolidate": {"require_dry_run": False}}
        with perdure.open(":memory:", policy=policy) as memory:
            memory.remember_many(texts)
            merged = memory.consolidate("default", dry_run=False).memories_merged
            left = [item.content for item in memory.list(limit=len(texts))]
        most, told = len(texts) - len(some), f"rewordings of {len(some)} {'note' if len(some) == 1 else 'notes'}"
        say(f"{told} in one store: {merged} of {most} merge ({texts[0]})")
        for text in left if show else ():
            say(f"    stays: {text}")
        rows.append(Row(f"{told} merged", merged / most, "", 0.6, at_least=True))
    return rows


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--sick", help="a file of SICK's pairs, gzipped")
    arguments.add_argument("--locked", action="store_true", help="the locked half of the notes")
    arguments.add_argument("--notes", metavar="NAME", help="another file of training/pairs, such as fresh_locked")
    arguments.add_argument("--together", action="store_true", help="many rewordings in one store")
    arguments.add_argument("--show", action="store_true", help="the pairs that are judged wrongly")
    given = arguments.parse_args()
    half = given.notes or ("locked" if given.locked else "first")
    if given.together:
        finished(together(show=given.show), as_json=given.json)
        return
    rows = measured(f"notes ({given.notes or f'{half} half'})", notes(half), show=given.show)
    if given.sick:
        rows += measured("SICK", sick(given.sick), show=given.show)
    finished(rows, as_json=given.json)


if __name__ == "__main__":
    main()

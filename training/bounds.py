"""Print what bounds recall@10 on BEAM: for each kind of question and each of its files.

Usage: python training/bounds.py [--aim PERCENT]

"Perfect": what a ranker reaches that puts all evidence first; a question with 25 evidence turns cannot exceed 10 of 25.
"Brought up": the same of what the searches bring up for ranking at all. "Of 20", "of 50": of so many of the best.
"Gap": points that the mean over all questions loses to a perfect ranker by these questions.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evaluate import HITS, spread, table
from perdure.records.policy_recall import RecallPolicy
from perdure.rules.ranking import drop_unrelated, rank_candidates
from pools import BEAM, Asked, Kept, beam, search_all

if TYPE_CHECKING:
    from collections.abc import Sequence

MANY_PLACES = ("event_ordering", "summarization")
"""Kinds whose answers are spread over the conversation."""
DEPTHS = (20, 50)


class Figures(NamedTuple):
    """One question: where it is from, its kind, how many turns answer it, and shares of them, 0 to 1."""

    file: str
    chat: str
    kind: str
    evidence: int
    perfect: float
    brought_up: float
    deeper: tuple[float, ...]
    recall: float


def figures_of(file: str, chat: str, asked: Asked) -> Figures:
    """Return what bounds a question that is answered, and what it reaches."""
    policy, wanted = RecallPolicy(), asked.evidence
    order = rank_candidates(asked.pool, asked.query, policy, asked.at)

    def share(ids: Sequence[str]) -> float:
        return min(HITS, len(wanted.intersection(ids))) / len(wanted)

    hits = drop_unrelated(order, policy).ids[:HITS]
    deeper = tuple(share(order.ids[:depth]) for depth in DEPTHS)
    perfect = share(list(wanted))
    return Figures(file, chat, asked.kind, len(wanted), perfect, share(order.ids), deeper, share(hits))


def row(name: str, some: Sequence[Figures], everything: int) -> list[str]:
    """Return a line of the table."""
    counts = [f.evidence for f in some]
    shares = [np.mean([f.perfect for f in some]), np.mean([f.brought_up for f in some])]
    shares += list(np.mean([f.deeper for f in some], axis=0))
    gap = sum(f.perfect - f.recall for f in some) / everything
    return [
        name,
        str(len(some)),
        f"{np.mean(counts):.1f}, {max(counts)}",
        *(f"{100 * value:.1f}" for value in shares),
        spread([(f.chat, f.recall) for f in some]),
        f"{100 * gap:.1f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--aim", type=float, default=73.0, help="recall@10 of all questions, in percent")
    given = parser.parse_args()
    embedder, found = Kept(), []
    for file in BEAM:
        for chat in search_all({file: beam.chats({"user"}, file)}, embedder):
            found += [figures_of(file.partition(".")[0], chat.name, asked) for asked in chat.asked if asked.evidence]
    groups = {kind: [f for f in found if f.kind == kind] for kind in sorted({f.kind for f in found})}
    groups |= {file: [f for f in found if f.file == file] for file in dict.fromkeys(f.file for f in found)}
    head = ["BEAM", "questions", "evidence turns: mean, most", "perfect", "brought up"]
    head += [*(f"of {depth}" for depth in DEPTHS), "recall@10", "gap"]
    table(head, [row(name, some, len(found)) for name, some in {**groups, "all": found}.items()])
    many = [f.recall for f in found if f.kind in MANY_PLACES]
    others = [f.recall for f in found if f.kind not in MANY_PLACES]
    needed = (given.aim * len(found) / 100 - sum(many)) / len(others)
    print(f"{given.aim:g} in all, with {' and '.join(MANY_PLACES)} as they are: the others need {100 * needed:.1f}")
    print(f"and have {100 * np.mean(others):.1f}.")


if __name__ == "__main__":
    main()

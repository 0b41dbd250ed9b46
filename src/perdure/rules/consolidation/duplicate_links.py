"""What is done about pairs that are alike and not merged: linked, or put before a person."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from perdure.records.instant import Instant
from perdure.records.memory import Record, Shelf
from perdure.records.plan import Change, Target
from perdure.records.policy_lifecycle import ConsolidatePolicy
from perdure.rules.consolidation.duplicates import Label, LikePair, pair_label
from perdure.rules.consolidation.merging import Proposal, merge_obstacle

MOST_MARKS: Final = 1000  # links and questions that one run writes, the most similar pairs first


@dataclass(frozen=True, slots=True)
class Marks:
    """Pairs to be linked, and pairs to be put before a person, each with the reason."""

    links: tuple[LikePair, ...]
    reviews: tuple[tuple[LikePair, str], ...]

    @property
    def ids(self) -> list[str]:
        """Every memory that is marked, in order."""
        return sorted({i for pair in self.pairs for i in (pair.a, pair.b)})

    @property
    def pairs(self) -> tuple[LikePair, ...]:
        """Every pair that is marked."""
        return (*self.links, *(pair for pair, _ in self.reviews))

    def changes(self, now: Instant, linked: Collection[Any], asked: Collection[Any]) -> list[Change]:
        """Return the links that are missing and the questions that are not asked yet (both: pairs of ids, in order)."""
        result = [
            Change(
                Target.LINK,
                pair.a,
                None,
                {"kind": "similar", "other": pair.b, "weight": round(pair.combined, 4)},
                f"similarity {pair.combined:.3f}: linked, not merged",
            )
            for pair in self.links
            if (pair.a, pair.b) not in linked
        ]
        for pair, why in self.reviews:
            if (pair.a, pair.b) not in asked:
                data = {"why": why, "since_ms": now, "similarity": round(pair.combined, 4)}
                row = {"shelf": Shelf.REVIEW, "name": f"duplicate:{pair.b}", "data": data}
                result.append(Change(Target.DOCUMENT, pair.a, None, row, f"similarity {pair.combined:.3f}: {why}"))
        return result


def choose_marks(
    pairs: Iterable[LikePair],
    proposals: Sequence[Proposal],
    records: Mapping[str, Record],
    threshold: float,
    policy: ConsolidatePolicy,
) -> tuple[Marks, tuple[str, ...]]:
    """Return what is linked and what is asked about, and a note where that is not all.

    Not marked are pairs of which one goes, those of groups that nothing was decided about, and those that can never be
    merged (other sessions, other speakers): about them nobody needs to be asked. The records are those of the groups
    that the proposals are about.
    """
    gone = {identity for proposal in proposals for merge in proposal.merges for identity in merge.losers}
    reasons = {(min(r.a, r.b), max(r.a, r.b)): r.reason for p in proposals for r in p.refusals}
    links, reviews = [], []
    for pair in sorted(pairs, key=lambda p: (-p.combined, p.a, p.b)):
        if pair.a in gone or pair.b in gone:
            continue
        one, other = records.get(pair.a), records.get(pair.b)
        if pair.reaches(threshold) and (one is None or other is None or merge_obstacle(one, other)):
            continue
        label = pair_label(pair, policy)
        if label is Label.LINK:
            links.append(pair)
        elif label in (Label.MERGE, Label.REVIEW):
            reviews.append(
                (
                    pair,
                    reasons.get((pair.a, pair.b)) or "nearly the same, but not similar enough to merge automatically",
                )
            )
    most = MOST_MARKS
    more = max(0, len(links) - most) + max(0, len(reviews) - most)
    note = f"{more:,} more pairs would be linked or asked about; each run handles at most {most:,} of each"
    return Marks(tuple(links[:most]), tuple(reviews[:most])), ((note,) if more else ())

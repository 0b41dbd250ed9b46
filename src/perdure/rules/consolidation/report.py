"""What a consolidation tells, and what it does about pairs that are alike and not merged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from perdure.records.consolidation_results import ConsolidateResult, ConsolidationGroup, LabelledPair, UnmergedPair
from perdure.records.instant import Instant
from perdure.records.memory import Record, Shelf
from perdure.records.plan import Change, Target
from perdure.records.policy_lifecycle import ConsolidatePolicy
from perdure.rules.consolidation.duplicates import Label, LikePair, pair_label
from perdure.rules.consolidation.merging import Proposal, merge_obstacle

SIMILAR: Final = "similar"  # the kind of link between memories that are alike and stay apart
_ASKED: Final = (Label.MERGE, Label.REVIEW)  # a person is asked about such a pair if both memories stay
DUPLICATE_OF: Final = "duplicate:"  # begins the name of a review; the other memory's id follows
MOST_MARKS: Final = 1000  # links and questions that one run writes, the most similar pairs first


Labels = Mapping[tuple[str, str], Label]  # pair, its ids in order -> what becomes of it


@dataclass(frozen=True, slots=True)
class PairMarks:
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

    def changes(self, now: Instant, linked: Collection[Any], questions: Collection[Any]) -> list[Change]:
        """Return the links that are missing and the questions that are not asked yet (both: pairs of ids, in order)."""
        result = [
            link_of_similar(pair.a, pair.b, pair.combined, f"similarity {pair.combined:.3f}: linked, not merged")
            for pair in self.links
            if (pair.a, pair.b) not in linked
        ]
        for pair, why in self.reviews:
            if (pair.a, pair.b) not in questions:
                data = {"why": why, "since_ms": now, "similarity": round(pair.combined, 4)}
                row = {"shelf": Shelf.REVIEW, "name": f"{DUPLICATE_OF}{pair.b}", "data": data}
                result.append(Change(Target.DOCUMENT, pair.a, None, row, f"similarity {pair.combined:.3f}: {why}"))
        return result


def link_of_similar(one: str, other: str, likeness: float, because: str) -> Change:
    """Return the link of two memories that are alike and stay apart; their ids are in order."""
    row = {"kind": SIMILAR, "other": other, "weight": round(likeness, 4)}
    return Change(Target.LINK, one, None, row, because)


def choose_marks(
    pairs: Iterable[LikePair],
    proposals: Sequence[Proposal],
    records: Mapping[str, Record],
    threshold: float,
    policy: ConsolidatePolicy,
    linked: Collection[Any],
) -> tuple[PairMarks, tuple[str, ...]]:
    """Return what is linked and what is asked about, and notes on whether anything is and where that is not all.

    Not marked are pairs of which one goes, those of groups that nothing was decided about, and those that can never be
    merged (other sessions, other speakers): about them nobody needs to be asked, nor again about those that are linked
    already because a person wants both. The records are those of the groups that the proposals are about.
    """
    losers = _losers(proposals)
    reasons = {(min(r.a, r.b), max(r.a, r.b)): r.reason for p in proposals for r in p.refusals}
    links, reviews = [], []
    for pair in sorted(pairs, key=lambda p: (-p.combined, p.a, p.b)):
        if pair.a in losers or pair.b in losers:
            continue
        one, other = records.get(pair.a), records.get(pair.b)
        if pair.reaches(threshold) and (one is None or other is None or merge_obstacle(one, other)):
            continue
        label = pair_label(pair, policy)
        if label is Label.LINK:
            links.append(pair)
        elif label in _ASKED and (pair.a, pair.b) not in linked:
            reviews.append(
                (
                    pair,
                    reasons.get((pair.a, pair.b)) or "nearly the same, but not similar enough to merge automatically",
                )
            )
    most = MOST_MARKS
    more = max(0, len(links) - most) + max(0, len(reviews) - most)
    notes = (
        [f"pairs that stay apart and that a person is asked about (review): {len(reviews[:most]):,}"] if reviews else []
    )
    if more:
        notes.append(f"{more:,} more pairs would be linked or asked about; each run handles at most {most:,} of each")
    return PairMarks(tuple(links[:most]), tuple(reviews[:most])), tuple(notes)


def _losers(proposals: Iterable[Proposal]) -> set[str]:
    return {identity for proposal in proposals for merge in proposal.merges for identity in merge.losers}


def labels_of(
    pairs: Iterable[LikePair],
    within: Sequence[Sequence[LikePair]],
    proposals: Sequence[Proposal],
    marks: PairMarks,
    policy: ConsolidatePolicy,
) -> Labels:
    """Return what becomes of pairs: they are merged, or a person is asked, or they are linked, or nothing is done.

    Nothing is done where nobody needs to be asked, and where one of them goes into a third memory. Of groups that
    nothing was decided about the table alone speaks.
    """
    merge_of = {i: m for p in proposals for m in p.merges for i in (m.keeper, *m.losers)}
    losers, asked = _losers(proposals), {(pair.a, pair.b) for pair, _ in marks.reviews}
    decided = {(pair.a, pair.b) for some in within[: len(proposals)] for pair in some}
    found = {}
    for pair in pairs:
        key, label = (pair.a, pair.b), pair_label(pair, policy)
        if key in asked:
            label = Label.REVIEW
        elif not losers.isdisjoint(key):
            label = Label.MERGE if merge_of.get(pair.a) is merge_of.get(pair.b) else Label.KEEP
        elif label in _ASKED and key in decided:
            label = Label.KEEP
        found[key] = label
    return found


def most_similar(components: Sequence[tuple[str, ...]], pairs: Sequence[Sequence[LikePair]]) -> list[tuple[str, ...]]:
    """Return groups in the order of their mean likeness, the highest first; ties go by id."""
    order = sorted(range(len(components)), key=lambda n: (-_mean(pairs[n]), components[n]))
    return [components[n] for n in order]


def _mean(pairs: Sequence[LikePair]) -> float:
    return sum(pair.combined for pair in pairs) / max(1, len(pairs))


def report_groups(
    proposals: Sequence[Proposal],
    within: Sequence[Sequence[LikePair]],
    stand: Mapping[str, str],
    labels: Labels,
    *,
    dry_run: bool,
) -> tuple[ConsolidationGroup, ...]:
    """Return what becomes of each group: one entry for each merge, or one that says that nothing may be merged.

    ``within`` has the pairs of each group; there may be more groups. ``stand`` has what stands for a memory that goes,
    ``labels`` what becomes of each pair.
    """
    result, action = [], "preview" if dry_run else "merged"
    for proposal, pairs in zip(proposals, within, strict=False):
        for m in proposal.merges:
            members = tuple(sorted({*m.losers, *((m.keeper,) if m.keeper else ())}))
            keeper, alike = stand[m.losers[0]], _round_similarity(m.similarity)
            result.append(ConsolidationGroup(keeper, members, alike, action, Label.MERGE.value))
        if not proposal.merges and proposal.left:
            label = max((labels[pair.a, pair.b] for pair in pairs), key=list(Label).index, default=Label.KEEP).value
            result.append(
                ConsolidationGroup(proposal.left[0], proposal.left, _round_similarity(_mean(pairs)), "kept", label)
            )
    return tuple(result)


def _round_similarity(similarity: float) -> float:
    return round(similarity, 6)


def build_result(
    proposals: Sequence[Proposal],
    groups: tuple[ConsolidationGroup, ...],
    labels: Labels,
    *,
    exact: bool,
    shown: Iterable[LikePair],
    notes: tuple[str, ...],
) -> ConsolidateResult:
    """Return the result of proposals; what was compared and written is filled in by the operation."""
    counts = Counter(labels.values())
    by_ids = {(pair.a, pair.b): pair for pair in shown}
    return ConsolidateResult(
        groups_found=0,
        memories_merged=sum(len(merge.losers) for proposal in proposals for merge in proposal.merges),
        memories_deleted=0,
        groups=groups,
        dry_run=True,
        labels={label.value: counts[label] for label in Label},
        pairs=tuple(
            LabelledPair(p.a, p.b, _round_similarity(p.combined), labels[key].value)
            for key, p in sorted(by_ids.items())
        ),
        refusals=tuple(UnmergedPair(r.a, r.b, r.reason) for proposal in proposals for r in proposal.refusals),
        left=tuple(identity for proposal in proposals for identity in proposal.left),
        exact=exact,
        notes=notes,
    )

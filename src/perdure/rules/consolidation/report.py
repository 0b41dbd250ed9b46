"""What a consolidation tells: groups in the order of their likeness, and the result for agents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from perdure.records.consolidation_results import ConsolidateResult, ConsolidationGroup, LabelledPair, Refused
from perdure.records.policy_lifecycle import ConsolidatePolicy
from perdure.rules.consolidation.duplicates import Label, LikePair, pair_label, weakest_label
from perdure.rules.consolidation.merging import Proposal
from perdure.rules.consolidation.similarity_index import SimilarMemories


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
    policy: ConsolidatePolicy,
    *,
    dry_run: bool,
) -> tuple[ConsolidationGroup, ...]:
    """Return what becomes of each group: one entry for each merge, or one that says that nothing may be merged.

    ``within`` has the pairs of each group; there may be more groups. ``stand`` has what stands for a memory that goes.
    """
    result, action = [], "preview" if dry_run else "merged"
    for proposal, pairs in zip(proposals, within, strict=False):
        for m in proposal.merges:
            members = tuple(sorted({*m.losers, *((m.keeper,) if m.keeper else ())}))
            keeper, alike = stand[m.losers[0]], _seen(m.similarity)
            result.append(ConsolidationGroup(keeper, members, alike, action, m.label.value))
        if not proposal.merges and proposal.left:
            label = (weakest_label(pairs, policy) or Label.KEEP).value
            result.append(ConsolidationGroup(proposal.left[0], proposal.left, _seen(_mean(pairs)), "kept", label))
    return tuple(result)


def _seen(similarity: float) -> float:
    return round(similarity, 6)


def build_result(
    proposals: Sequence[Proposal],
    groups: tuple[ConsolidationGroup, ...],
    alike: SimilarMemories,
    policy: ConsolidatePolicy,
    *,
    shown: Iterable[LikePair],
    notes: tuple[str, ...],
) -> ConsolidateResult:
    """Return the result of proposals; what was compared and written is filled in by the operation.

    Args:
        proposals: What was decided.
        groups: From :func:`report_groups`.
        alike: All pairs.
        policy: The bounds of labels.
        shown: Pairs that are listed one by one.
        notes: What was limited.
    """
    labels = Counter(pair_label(pair, policy) for pair in alike.pairs)
    told = {(pair.a, pair.b): pair for pair in shown}
    return ConsolidateResult(
        groups_found=0,
        memories_merged=sum(len(merge.losers) for proposal in proposals for merge in proposal.merges),
        memories_deleted=0,
        groups=groups,
        dry_run=True,
        labels={label.value: labels[label] for label in Label},
        pairs=tuple(
            LabelledPair(p.a, p.b, _seen(p.combined), pair_label(p, policy).value) for _, p in sorted(told.items())
        ),
        refusals=tuple(Refused(r.a, r.b, r.reason) for proposal in proposals for r in proposal.refusals),
        left=tuple(identity for proposal in proposals for identity in proposal.left),
        exact=alike.exact,
        notes=notes,
    )

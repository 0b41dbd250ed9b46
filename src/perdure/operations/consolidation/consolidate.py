"""Consolidating: memories that say the same become one, with a preview first; nothing is deleted (seed 000, 4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from perdure.operations.consolidation.relate import documents_around
from perdure.operations.decisions import begin
from perdure.operations.lifecycle.gates import applied
from perdure.operations.new_memories import prepare, store_new
from perdure.operations.ports import Context
from perdure.operations.writing import retried
from perdure.records.consolidation_results import ConsolidateResult
from perdure.records.document import Shelf
from perdure.records.errors import InvalidInput
from perdure.records.instant import Instant
from perdure.records.memory import Record
from perdure.rules.consolidation.duplicate_links import choose_marks
from perdure.rules.consolidation.duplicates import LikePair, connected_groups, pairs_by_group
from perdure.rules.consolidation.edges import Strengthening
from perdure.rules.consolidation.merge_plan import decide_merge, draft_from_merge, fingerprint, merge_states
from perdure.rules.consolidation.merging import Merge, MergeStrategy, Proposal, pairs_to_compare, propose_merges
from perdure.rules.consolidation.report import build_result, most_similar, report_groups
from perdure.rules.consolidation.similarity_index import SimilarityIndex, SimilarMemories
from perdure.rules.decisions import Decisions
from perdure.rules.insertion import initial_states, new_record, with_due
from perdure.rules.meaning_guard import conflict

PAGE: Final = 2000
AT_ONCE: Final = 200
"""Groups whose memories are read together."""
NEAR: Final = "near_duplicate"
SIMILAR: Final = "similar"
Searched = Literal["all", "recorded"]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a caller asked for, checked.

    Attributes:
        namespace: Where.
        threshold: Least combined likeness, 0.7 to 0.99.
        strategy: What stays.
        groups: How many groups at most are merged.
        pairs: All, or only those that were recorded when the memories were stored.
    """

    namespace: str
    threshold: float
    strategy: MergeStrategy
    groups: int
    pairs: Searched


@dataclass(frozen=True, slots=True)
class _Found:
    """What a look at the namespace has brought up."""

    corpus: SimilarityIndex
    alike: SimilarMemories
    groups: list[tuple[str, ...]]
    """The most similar first."""
    within: list[list[LikePair]]

    def notes(self, decided: int) -> tuple[str, ...]:
        """What a caller should know about what was looked at, and how many groups were not."""
        bare, more = self.corpus.without_vector, len(self.groups) - decided
        told = list(self.alike.notes)
        if bare:
            told.append(f"{bare} memories have no vector and were compared by equal words only: `perdure reembed`")
        if more:
            told.append(f"{more} more groups were found: raise max_groups, or run it again after these are merged")
        return tuple(told)


@dataclass(frozen=True, slots=True)
class _Decided:
    """What is to be done: the decisions, what was proposed for each group, losers -> what stands for them."""

    decisions: Decisions
    proposals: list[Proposal]
    keepers: dict[tuple[str, ...], str]


def consolidate(ctx: Context, asked: Asked, *, dry_run: bool, accept_loss: str | None = None) -> ConsolidateResult:
    """Merge what says the same, or tell what would be merged.

    Raises:
        InvalidInput: The policy asks for a dry run first, and there was none that would do the same now.
        GateStopped: The plan would lose more than the gates allow; nothing was written.
    """

    def attempt() -> ConsolidateResult:
        now = ctx.clock()
        found = _looked(ctx, asked)
        decided = _decided(ctx, asked, found, now)
        merges = [merge for proposal in decided.proposals for merge in proposal.merges]
        if not dry_run and ctx.policy.consolidate.require_dry_run:
            _require_preview(ctx, asked, merges)
        policy = ctx.policy.consolidate
        records = decided.decisions.records
        chosen, limited = choose_marks(found.alike.pairs, decided.proposals, records, asked.threshold, policy)
        decided.decisions.add(chosen.changes(now, *_known(ctx, asked, chosen.ids)))
        note = f"consolidate: {sum(len(m.losers) for m in merges)} memories into {len(merges)}"
        plan = decided.decisions.plan("consolidate", note)
        if dry_run:
            ctx.previews[asked] = fingerprint(merges)
        elif plan.changes:
            applied(ctx, plan, accept_loss=accept_loss)
        return build_result(
            decided.proposals,
            report_groups(decided.proposals, found.within, decided.keepers, policy, dry_run=dry_run),
            found.alike,
            policy,
            plan if plan.changes else None,
            found=len(found.groups),
            dry_run=dry_run,
            shown=(*(p for some in found.within[: len(decided.proposals)] for p in some), *chosen.pairs),
            counted=(len(found.corpus), found.corpus.without_vector),
            notes=(*found.notes(len(decided.proposals)), *limited),
        )

    return retried(attempt)


def _require_preview(ctx: Context, asked: Asked, merges: Sequence[Merge]) -> None:
    """Refuse what nobody has seen (seed 000: consolidate_require_dry_run_first)."""
    seen = ctx.previews.get(asked)
    if seen == fingerprint(merges):
        return
    why = "there was no dry run of the same before" if seen is None else "it would not do what the dry run showed"
    raise InvalidInput(
        f"Nothing was merged: {why}.",
        remedy="Call it with dry_run=True and look at the groups; then call it again, or apply one of the plans that "
        "the dry run returned. policy.consolidate.require_dry_run switches this off.",
    )


# --- looking


def _looked(ctx: Context, asked: Asked) -> _Found:
    """Find groups of memories that are alike, the most similar first."""
    policy = ctx.policy.consolidate
    corpus = SimilarityIndex()
    if asked.pairs == "recorded":
        recorded = list(_links(ctx, asked.namespace, NEAR))
        ids = sorted({identity for pair in recorded for identity in pair})
        for start in range(0, len(ids), PAGE):
            _read(ctx, asked.namespace, ids[start : start + PAGE], corpus)
        there = set(corpus.ids)
        wanted = [pair for pair in recorded if there.issuperset(pair)]
        least = min(asked.threshold, policy.link_at)
        pairs = [pair for pair in corpus.compared(wanted, policy) if pair.reaches(least)]
        alike = SimilarMemories(pairs, exact=False, notes=("only pairs that were recorded when memories were stored",))
    else:
        after = ""
        while ids := ctx.store.all_ids(asked.namespace, after, PAGE):
            after = ids[-1]
            _read(ctx, asked.namespace, ids, corpus)
        alike = corpus.alike(asked.threshold, policy)
    components = connected_groups(alike.pairs, asked.threshold)
    ordered = most_similar(components, pairs_by_group(components, alike.pairs))
    return _Found(corpus, alike, ordered, pairs_by_group(ordered, alike.pairs))


def _read(ctx: Context, namespace: str, ids: Sequence[str], corpus: SimilarityIndex) -> None:
    corpus.add(ctx.store.get(namespace, ids), ctx.store.vectors(namespace, ids))


def _links(ctx: Context, namespace: str, kind: str) -> Iterator[tuple[str, str]]:
    after = ("", "")
    while rows := ctx.store.links_of_kind(namespace, kind, after, PAGE):
        after = rows[-1][0], rows[-1][1]
        yield from ((one, other) for one, other, _ in rows)


# --- deciding


def _decided(ctx: Context, asked: Asked, found: _Found, now: Instant) -> _Decided:
    """Decide about groups, the most similar first, until there are as many merging ones as were asked for.

    Groups of which nothing may be merged do not count: else they would stand in the way of the others for ever.
    """
    decisions = begin(ctx, asked.namespace, now)
    proposals: list[Proposal] = []
    likeness: dict[tuple[str, str], float] = {}
    merging = 0
    for start in range(0, len(found.groups), AT_ONCE):
        page = found.groups[start : start + AT_ONCE]
        decisions.admit(_members(ctx, asked.namespace, page))
        for group, known in zip(page, found.within[start : start + AT_ONCE], strict=True):
            if merging == asked.groups:
                break
            members = [decisions.records[identity] for identity in group if identity in decisions.records]
            pairs = [*known, *found.corpus.compared(pairs_to_compare(members, known), ctx.policy.consolidate)]
            likeness.update({(pair.a, pair.b): pair.combined for pair in pairs})
            policy = ctx.policy.consolidate
            proposals.append(propose_merges(members, pairs, asked.threshold, asked.strategy, conflict, policy))
            merging += bool(proposals[-1].merges)
        if merging == asked.groups:
            break
    return _written(ctx, asked, decisions, proposals, likeness)


def _members(ctx: Context, namespace: str, groups: Sequence[tuple[str, ...]]) -> list[Record]:
    ids = [identity for group in groups for identity in group]
    pages = (ids[start : start + PAGE] for start in range(0, len(ids), PAGE))
    return [record for page in pages for record in ctx.store.get(namespace, page)]


def _written(
    ctx: Context,
    asked: Asked,
    decisions: Decisions,
    proposals: list[Proposal],
    likeness: Mapping[tuple[str, str], float],
) -> _Decided:
    """Write down what is to be done."""
    merges = [merge for proposal in proposals for merge in proposal.merges]
    keepers = _keepers(ctx, asked, merges, decisions)
    edges = Strengthening(documents_around(ctx, asked.namespace, [i for merge in merges for i in merge.losers]))
    for merge, keeper in zip(merges, keepers, strict=True):
        own = decisions.records[keeper].state.access_count if merge.keeper is not None else 0
        edges.inherit(keeper, merge.losers, own)
        decide_merge(decisions, merge, keeper, likeness)
    decisions.add(edges.changes())
    losers = (merge.losers for merge in merges)
    return _Decided(decisions, proposals, dict(zip(losers, keepers, strict=True)))


def _keepers(ctx: Context, asked: Asked, merges: Sequence[Merge], decisions: Decisions) -> list[str]:
    """Return what stands for each merge; where contents are merged, new memories are brought in for it."""
    if asked.strategy is not MergeStrategy.MERGE_CONTENT:
        return [merge.keeper or "" for merge in merges]
    if not merges:
        return []
    gone = {identity for merge in merges for identity in merge.losers}
    drafts = [draft_from_merge(merge, [decisions.records[i] for i in merge.losers], ctx.policy) for merge in merges]
    prepared = prepare(ctx, decisions, drafts, gone=gone)
    states = []
    for birth, merge in zip(initial_states(prepared, ctx.policy, decisions.now), merges, strict=True):
        sources = [decisions.records[i].state for i in merge.losers]
        merged = merge_states(birth, sources, ctx.policy, decisions.now)
        states.append(replace(merged, uniqueness=birth.uniqueness, held=False))
    whole = zip(prepared, with_due(states, ctx.policy), strict=True)
    store_new(ctx, decisions, [new_record(p, s, asked.namespace, decisions.plan_id) for p, s in whole], prepared)
    return [p.id for p in prepared]


def _known(ctx: Context, asked: Asked, ids: Sequence[str]) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """Return which pairs are linked as similar already, and which are under review."""
    if not ids:
        return set(), set()
    linked = {(min(pair), max(pair)) for pair in _links(ctx, asked.namespace, SIMILAR)}
    open_ones = set()
    for start in range(0, len(ids), PAGE):
        for document in ctx.store.documents.find(asked.namespace, Shelf.REVIEW, ids[start : start + PAGE]):
            other = document.name.removeprefix("duplicate:")
            open_ones.add((min(document.id, other), max(document.id, other)))
    return linked, open_ones

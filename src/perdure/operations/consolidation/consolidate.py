"""Consolidating: memories that say the same become one, with a preview first; nothing is deleted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from perdure.operations.consolidation.relate import documents_around
from perdure.operations.decisions import begin
from perdure.operations.documents import PAGE, all_ids, find_documents, find_records, pages
from perdure.operations.lifecycle.gates import carry_out
from perdure.operations.new_memories import prepare, store_new
from perdure.operations.ports import Context
from perdure.operations.writing import retry
from perdure.records.consolidation_results import ConsolidateResult
from perdure.records.errors import InvalidInput
from perdure.records.memory import Shelf
from perdure.records.wording import argument
from perdure.rules.consolidation.duplicates import LikePair, connected_groups, pairs_by_group
from perdure.rules.consolidation.edges import EdgeUse
from perdure.rules.consolidation.merge_plan import decide_merges, draft_from_merge, fingerprint, merge_states
from perdure.rules.consolidation.merging import Guard, Merge, MergeStrategy, Proposal, pairs_to_compare, propose_merges
from perdure.rules.consolidation.report import (
    DUPLICATE_OF,
    SIMILAR,
    build_result,
    choose_marks,
    labels_of,
    most_similar,
    report_groups,
)
from perdure.rules.consolidation.similarity_index import SimilarityIndex, SimilarMemories
from perdure.rules.decisions import Decisions
from perdure.rules.insertion import initial_states, new_record, with_due
from perdure.rules.meaning_guard import conflict, contradiction

AT_ONCE: Final = 200  # groups whose memories are read together
NEAR: Final = "near_duplicate"
Searched = Literal["all", "recorded"]


@dataclass(frozen=True, slots=True)
class ConsolidateRequest:
    """What a caller asked for, checked."""

    namespace: str  # where
    threshold: float  # least combined likeness, 0.7 to 0.99
    strategy: MergeStrategy  # what stays
    groups: int  # how many groups at most are merged
    pairs: Searched  # all, or only those that were recorded when the memories were stored

    @property
    def guard(self) -> Guard:
        """What a merge must not do: lose or contradict anything; where both texts stay, contradict."""
        return contradiction if self.strategy is MergeStrategy.MERGE_CONTENT else conflict


@dataclass(frozen=True, slots=True)
class _Found:
    """What a look at the namespace has brought up."""

    index: SimilarityIndex
    alike: SimilarMemories
    groups: list[tuple[str, ...]]  # the most similar first
    within: list[list[LikePair]]

    def notes(self, decided: int) -> tuple[str, ...]:
        """What a caller should know about what was looked at, and how many groups were not."""
        bare, more = self.index.without_vector, len(self.groups) - decided
        notes = list(self.alike.notes)
        if bare:
            notes.append(f"{bare} memories have no vector and were compared only by equal words; run `perdure reembed`")
        if more:
            notes.append(f"{more} more groups were found: raise max_groups, or run it again after these are merged")
        return tuple(notes)


@dataclass(frozen=True, slots=True)
class _Merging:
    """What is decided: what was proposed for each group, and the memories that go -> what stands for them."""

    decisions: Decisions
    proposals: list[Proposal]
    stand: Mapping[str, str]

    @property
    def merges(self) -> list[Merge]:
        """The merges of all groups."""
        return [merge for proposal in self.proposals for merge in proposal.merges]


def consolidate(
    ctx: Context, request: ConsolidateRequest, *, dry_run: bool = True, accept_loss: str | None = None
) -> ConsolidateResult:
    """Merge what says the same, or tell what would be merged."""
    return retry(lambda: _attempt(ctx, request, dry_run=dry_run, accept_loss=accept_loss))


def _attempt(ctx: Context, request: ConsolidateRequest, *, dry_run: bool, accept_loss: str | None) -> ConsolidateResult:
    found = _find_groups(ctx, request)
    merging = _decide(ctx, request, found)
    if dry_run:
        ctx.previews[request] = fingerprint(merging.merges)
    elif ctx.policy.consolidate.require_dry_run:
        _require_preview(ctx, request, merging.merges)
    decisions, policy, proposals = merging.decisions, ctx.policy.consolidate, merging.proposals
    linked = {(min(pair), max(pair)) for pair in _links(ctx, request.namespace, SIMILAR)}
    marks, limited = choose_marks(found.alike.pairs, proposals, decisions.records, request.threshold, policy, linked)
    decisions.add(marks.changes(decisions.now, linked, _pairs_under_review(ctx, request.namespace, marks.ids)))
    labels = labels_of(found.alike.pairs, found.within, proposals, marks, policy)
    plan = decisions.plan("consolidate", f"consolidate: {len(merging.stand)} memories into {len(merging.merges)}")
    plans, operations = carry_out(ctx, plan, dry_run=dry_run, accept_loss=accept_loss)
    result = build_result(
        proposals,
        report_groups(proposals, found.within, merging.stand, labels, dry_run=dry_run),
        labels,
        exact=found.alike.exact,
        shown=(*(p for some in found.within[: len(proposals)] for p in some), *marks.pairs),
        notes=(*found.notes(len(proposals)), *limited),
    )
    return replace(
        result,
        groups_found=len(found.groups),
        dry_run=dry_run,
        examined=len(found.index),
        without_vector=found.index.without_vector,
        plans=plans,
        operations=operations,
    )


def _require_preview(ctx: Context, request: ConsolidateRequest, merges: Sequence[Merge]) -> None:
    last = ctx.previews.get(request)
    if last == fingerprint(merges):
        return
    why = "there was no dry run with the same arguments" if last is None else "the result would differ from the dry run"
    raise InvalidInput(
        f"Nothing was merged: {why}.",
        remedy=f"Call it with {argument('dry_run')} and check the groups; then call it again, or apply one of the "
        "plans that the dry run returned. The policy key consolidate.require_dry_run turns this check off.",
    )


# --- looking


def _find_groups(ctx: Context, request: ConsolidateRequest) -> _Found:
    policy, index = ctx.policy.consolidate, SimilarityIndex()
    if request.pairs == "recorded":
        recorded = list(_links(ctx, request.namespace, NEAR))
        _read(ctx, request.namespace, sorted({identity for pair in recorded for identity in pair}), index)
        indexed = set(index.ids)
        compared = index.compare_pairs([pair for pair in recorded if indexed.issuperset(pair)], policy)
        pairs = [pair for pair in compared if pair.reaches(min(request.threshold, policy.link_at))]
        alike = SimilarMemories(pairs, exact=False, notes=("only pairs that were recorded when memories were stored",))
    else:
        _read(ctx, request.namespace, all_ids(ctx, request.namespace), index)
        alike = index.alike(request.threshold, policy)
    components = connected_groups(alike.pairs, request.threshold)
    ordered = most_similar(components, pairs_by_group(components, alike.pairs))
    return _Found(index, alike, ordered, pairs_by_group(ordered, alike.pairs))


def _read(ctx: Context, namespace: str, ids: Iterable[str], index: SimilarityIndex) -> None:
    for page in pages(ids):
        index.add(ctx.store.get(namespace, page), ctx.store.vectors(namespace, page))


def _links(ctx: Context, namespace: str, kind: str) -> Iterator[tuple[str, str]]:
    after = ("", "")
    while rows := ctx.store.links_of_kind(namespace, kind, after, PAGE):
        after = rows[-1][0], rows[-1][1]
        yield from ((one, other) for one, other, _ in rows)


# --- deciding


def _decide(ctx: Context, request: ConsolidateRequest, found: _Found) -> _Merging:
    """Decide about groups, the most similar first, until there are as many merging ones as were asked for.

    Groups of which nothing may be merged do not count: else they would stand in the way of the others for ever.
    """
    decisions, policy, merging = begin(ctx, request.namespace, ctx.clock()), ctx.policy.consolidate, 0
    proposals: list[Proposal] = []
    likeness: dict[tuple[str, str], float] = {}
    for position, (group, within) in enumerate(zip(found.groups, found.within, strict=True)):
        if merging == request.groups:
            break
        if position % AT_ONCE == 0:
            near = [identity for some in found.groups[position : position + AT_ONCE] for identity in some]
            decisions.admit(find_records(ctx, request.namespace, near))
        members = [decisions.records[identity] for identity in group if identity in decisions.records]
        pairs = [*within, *found.index.compare_pairs(pairs_to_compare(members, within), policy)]
        likeness |= {(pair.a, pair.b): pair.combined for pair in pairs}
        proposals.append(propose_merges(members, pairs, request.threshold, request.strategy, request.guard, policy))
        merging += bool(proposals[-1].merges)
    return _Merging(decisions, proposals, _merge(ctx, request, decisions, proposals, likeness))


def _merge(
    ctx: Context,
    request: ConsolidateRequest,
    decisions: Decisions,
    proposals: Sequence[Proposal],
    likeness: Mapping[tuple[str, str], float],
) -> dict[str, str]:
    """Decide the merges that were proposed, and return the memories that go -> what stands for them."""
    merges = [merge for proposal in proposals for merge in proposal.merges]
    edges = EdgeUse(documents_around(ctx, request.namespace, [i for merge in merges for i in merge.losers]))
    keepers = _keepers(ctx, request, merges, decisions)
    stand = decide_merges(decisions, zip(merges, keepers, strict=True), likeness, edges)
    decisions.add(edges.changes())
    return stand


def _keepers(ctx: Context, request: ConsolidateRequest, merges: Sequence[Merge], decisions: Decisions) -> list[str]:
    """Return what stands for each merge; where contents are merged, new memories are brought in for it."""
    if request.strategy is not MergeStrategy.MERGE_CONTENT:
        return [merge.keeper or "" for merge in merges]
    if not merges:
        return []
    losers = {identity for merge in merges for identity in merge.losers}
    drafts = [draft_from_merge(merge, [decisions.records[i] for i in merge.losers], ctx.policy) for merge in merges]
    prepared = prepare(ctx, decisions, drafts, gone=losers)
    states = []
    for birth, merge in zip(initial_states(prepared, ctx.policy, decisions.now), merges, strict=True):
        sources = [decisions.records[i].state for i in merge.losers]
        merged = merge_states(birth, sources, ctx.policy, decisions.now)
        states.append(replace(merged, uniqueness=birth.uniqueness, held=False))
    whole = zip(prepared, with_due(states, ctx.policy), strict=True)
    store_new(ctx, decisions, [new_record(p, s, request.namespace, decisions.plan_id) for p, s in whole], prepared)
    return [p.id for p in prepared]


def _pairs_under_review(ctx: Context, namespace: str, ids: Sequence[str]) -> set[tuple[str, str]]:
    pairs = ((d.id, d.name.removeprefix(DUPLICATE_OF)) for d in find_documents(ctx, namespace, Shelf.REVIEW, ids))
    return {(min(pair), max(pair)) for pair in pairs}

"""Completing a task: its memories go on to their session, redundant ones merged, edges strengthened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from perdure.operations.consolidation.relate import documents_around
from perdure.operations.decisions import begin
from perdure.operations.documents import PAGE, find_records, ids_through, pages
from perdure.operations.lifecycle.gates import carry_out
from perdure.operations.ports import Context
from perdure.operations.writing import retry
from perdure.records.consolidation_results import TaskResult, UnmergedPair
from perdure.records.errors import NotFound
from perdure.records.instant import Instant
from perdure.records.memory import Record, Status
from perdure.rules.consolidation.duplicates import LikePair
from perdure.rules.consolidation.edges import EdgeUse
from perdure.rules.consolidation.merge_plan import decide_merges
from perdure.rules.consolidation.merging import Proposal
from perdure.rules.consolidation.similarity_index import SimilarityIndex
from perdure.rules.consolidation.tasks import (
    comparable_pairs,
    leave_task,
    open_in_task,
    propose_redundant,
    related_pairs,
)
from perdure.rules.decisions import Decisions
from perdure.rules.lifecycle.signals import memory_items


@dataclass(frozen=True, slots=True)
class _TaskEnd:
    """What is decided about a task."""

    decisions: Decisions
    left: list[Record]  # the memories that it left open
    proposals: list[Proposal]
    merged: Mapping[str, str]  # those that go -> those that stand for them
    strengthened: int  # edges whose weight rises

    @property
    def promoted_ids(self) -> tuple[str, ...]:
        """The memories that leave the task."""
        return tuple(sorted(r.id for r in self.left if r.id not in self.merged))


def complete_task(
    ctx: Context,
    task: str,
    namespace: str,
    *,
    session: str | None = None,
    dry_run: bool = False,
    accept_loss: str | None = None,
) -> TaskResult:
    """Bring what a task left open to where it belongs from now on; with a session only what belongs to that as well."""

    def attempt() -> TaskResult:
        end = _decide(ctx, namespace, open_in_task(_read(ctx, task, namespace), session))
        note = f"complete_task {task}: {len(end.promoted_ids)} promoted, {len(end.merged)} merged"
        plan = end.decisions.plan("complete_task", note)
        plans, operations = carry_out(ctx, plan, dry_run=dry_run, accept_loss=accept_loss)
        return replace(_result(end, task), dry_run=dry_run, plans=plans, operations=operations)

    return retry(attempt)


def _result(end: _TaskEnd, task: str) -> TaskResult:
    homeless = {r.id for r in end.left if r.content.session is None}
    return TaskResult(
        merged_count=len(end.merged),
        promoted_count=len(end.promoted_ids),
        edges_strengthened=end.strengthened,
        task=task,
        promoted=end.promoted_ids,
        merged=end.merged,
        long_term=tuple(i for i in end.promoted_ids if i in homeless),
        refusals=tuple(UnmergedPair(r.a, r.b, r.reason) for p in end.proposals for r in p.refusals),
    )


def _read(ctx: Context, task: str, namespace: str) -> list[Record]:
    ids = ids_through(lambda after: ctx.store.ids_of_task(namespace, task, after, PAGE))
    records = list(find_records(ctx, namespace, ids))
    if not records:
        raise NotFound(
            f"No memory of {namespace} belongs to the task {task!r}.",
            remedy="Use the task name that was passed to `remember`, and its namespace.",
        )
    return records


def _decide(ctx: Context, namespace: str, records: list[Record]) -> _TaskEnd:
    decisions = begin(ctx, namespace, ctx.clock())
    decisions.admit(records)
    edges = EdgeUse(documents_around(ctx, namespace, [r.id for r in records]))
    strengthened = edges.strengthen(_accesses(ctx, namespace, edges, decisions.now), ctx.policy.tasks.edge_gain)
    compared = _compare(ctx, decisions, edges)
    proposals = propose_redundant(list(decisions.records.values()), compared, ctx.policy, decisions.now)
    likeness = {(pair.a, pair.b): pair.combined for pair in compared}
    merges = [(merge, merge.keeper or "") for proposal in proposals for merge in proposal.merges]
    end = _TaskEnd(decisions, records, proposals, decide_merges(decisions, merges, likeness, edges), strengthened)
    for identity in end.promoted_ids:
        session = decisions.records[identity].content.session
        after = leave_task(decisions.states[identity], session, ctx.policy, decisions.now)
        because = f"task completed: to {after.scope}" + ("" if session else ", because the memory has no session")
        decisions.change(identity, after, "promoted", because)
    decisions.add(edges.changes())
    return end


def _compare(ctx: Context, decisions: Decisions, edges: EdgeUse) -> list[LikePair]:
    records = list(decisions.records.values())
    pairs = comparable_pairs(records, related_pairs(edges.members(), ctx.policy.tasks.relatedness))
    paired_ids = {identity for pair in pairs for identity in pair}
    index = SimilarityIndex()
    for page in pages(r for r in records if r.id in paired_ids):
        index.add(page, ctx.store.vectors(decisions.namespace, [r.id for r in page]))
    return index.compare_pairs(pairs, ctx.policy.consolidate)


def _accesses(ctx: Context, namespace: str, edges: EdgeUse, now: Instant) -> dict[str, int]:
    ids = sorted({identity for members in edges.members().values() for identity in members})
    items = memory_items(list(find_records(ctx, namespace, ids)), ctx.policy, now)
    return {item.id: item.access_count for item in items if item.status is Status.ACTIVE}

"""Completing a task: its memories go on to their session, redundant ones merged, edges strengthened (SPEC-03.01-07)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from perdure.operations.consolidation.relate import documents_around
from perdure.operations.decisions import begin
from perdure.operations.lifecycle.gates import applied
from perdure.operations.ports import Context
from perdure.operations.writing import retried
from perdure.records.consolidation_results import Refused, TaskResult
from perdure.records.errors import NotFound
from perdure.records.instant import Instant
from perdure.records.memory import Record, Status
from perdure.records.plan import Plan
from perdure.rules.consolidation.edges import Strengthening
from perdure.rules.consolidation.merge_plan import decide_merge
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

PAGE: Final = 2000


@dataclass(frozen=True, slots=True)
class _Decided:
    """What is to be done."""

    decisions: Decisions
    proposals: list[Proposal]
    merged: Mapping[str, str]
    promoted: tuple[str, ...]
    strengthened: int


def complete_task(
    ctx: Context,
    task: str,
    namespace: str,
    *,
    session: str | None = None,
    dry_run: bool = False,
    accept_loss: str | None = None,
) -> TaskResult:
    """Bring what a task left open to where it belongs from now on.

    Args:
        ctx: Store, policy, clock, ids.
        task: Which one.
        namespace: Where.
        session: Only what belongs to this session as well: a task may go on in another one.
        dry_run: Only tell.
        accept_loss: A person's reason to apply it whatever it loses.

    Raises:
        NotFound: No memory belongs to the task.
        GateStopped: It would lose too much; nothing was written.
    """

    def attempt() -> TaskResult:
        now = ctx.clock()
        records = [record for page in _pages(ctx, task, namespace) for record in page]
        if not records:
            raise NotFound(
                f"No memory of {namespace} belongs to the task {task!r}.",
                remedy="Name the task as `remember` did (task=...), and its namespace.",
            )
        left = open_in_task(records, session)
        done = _decided(ctx, left, namespace, now)
        note = f"complete_task {task}: {len(done.promoted)} promoted, {len(done.merged)} merged"
        plan = done.decisions.plan("complete_task", note)
        if plan.changes and not dry_run:
            applied(ctx, plan, accept_loss=accept_loss)
        return _result(done, plan, task, left, dry_run=dry_run)

    return retried(attempt)


def _result(done: _Decided, plan: Plan, task: str, left: Sequence[Record], *, dry_run: bool) -> TaskResult:
    homeless = {r.id for r in left if r.content.session is None}
    return TaskResult(
        merged_count=len(done.merged),
        promoted_count=len(done.promoted),
        edges_strengthened=done.strengthened,
        task=task,
        promoted=done.promoted,
        merged=done.merged,
        long_term=tuple(i for i in done.promoted if i in homeless),
        refusals=tuple(Refused(r.a, r.b, r.reason) for p in done.proposals for r in p.refusals),
        dry_run=dry_run,
        plans=(plan,) if dry_run and plan.changes else (),
        operations=(plan.id,) if not dry_run and plan.changes else (),
    )


def _pages(ctx: Context, task: str, namespace: str) -> Iterator[list[Record]]:
    after = ""
    while ids := ctx.store.ids_of_task(namespace, task, after, PAGE):
        after = ids[-1]
        yield ctx.store.get(namespace, ids)


def _decided(ctx: Context, left: list[Record], namespace: str, now: Instant) -> _Decided:
    decisions = begin(ctx, namespace, now)
    decisions.admit(left)
    edges = Strengthening(documents_around(ctx, namespace, [r.id for r in left]))
    strengthened = edges.strengthen(_accesses(ctx, namespace, edges, now), ctx.policy.tasks.edge_gain)
    records = list(decisions.records.values())
    pairs = comparable_pairs(records, related_pairs(edges.members(), ctx.policy.tasks.relatedness))
    corpus = SimilarityIndex()
    chosen = {identity for pair in pairs for identity in pair}
    some = [r for r in left if r.id in chosen]
    for start in range(0, len(some), PAGE):
        page = some[start : start + PAGE]
        corpus.add(page, ctx.store.vectors(namespace, [r.id for r in page]))
    compared = corpus.compared(pairs, ctx.policy.consolidate)
    proposals = propose_redundant(records, compared, ctx.policy, now)
    likeness = {(pair.a, pair.b): pair.combined for pair in compared}
    merged: dict[str, str] = {}
    for merge in (merge for proposal in proposals for merge in proposal.merges):
        keeper = merge.keeper or ""
        edges.inherit(keeper, merge.losers, decisions.states[keeper].access_count)
        decide_merge(decisions, merge, keeper, likeness)
        merged |= dict.fromkeys(merge.losers, keeper)
    promoted = tuple(sorted(r.id for r in left if r.id not in merged))
    for identity in promoted:
        state, session = decisions.states[identity], decisions.records[identity].content.session
        after = leave_task(state, session, ctx.policy, now)
        because = f"task completed: to {after.scope}" + ("" if session else ", because it has no session")
        decisions.change(identity, after, "promoted", because)
    decisions.add(edges.changes())
    return _Decided(decisions, proposals, merged, promoted, strengthened)


def _accesses(ctx: Context, namespace: str, edges: Strengthening, now: Instant) -> dict[str, int]:
    """Return how often each visible member of the edges was accessed in all."""
    ids = sorted({identity for members in edges.members().values() for identity in members})
    counts = {}
    for start in range(0, len(ids), PAGE):
        for view in memory_items(ctx.store.get(namespace, ids[start : start + PAGE]), ctx.policy, now):
            if view.status is Status.ACTIVE:
                counts[view.id] = view.access_count
    return counts

"""Promoting what a session is worth keeping for, and ending a session (SPEC-03.08-14)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from perdure.operations.consolidation.relate import documents_around
from perdure.operations.consolidation.tasks import complete_task
from perdure.operations.decisions import begin
from perdure.operations.lifecycle.gates import applied
from perdure.operations.lifecycle.model_summaries import written
from perdure.operations.lifecycle.sweep import sweep
from perdure.operations.new_memories import insert
from perdure.operations.ports import Context
from perdure.operations.writing import retried
from perdure.records.consolidation_results import Crystal, PromotionResult, SessionResult
from perdure.records.document import Document, Shelf
from perdure.records.errors import NotFound
from perdure.records.instant import Instant, text_of
from perdure.records.memory import Kind, Record, Scope, Status
from perdure.records.plan import Change, Plan, Target
from perdure.rules.consolidation.merge_plan import stands_for_link
from perdure.rules.consolidation.session_summaries import (
    CONNECTING,
    Sketch,
    join_texts,
    most_tokens,
    sketch_summaries,
    use_model_text,
)
from perdure.rules.consolidation.tasks import open_in_task, promotable, promote_state
from perdure.rules.decisions import Decisions
from perdure.rules.lifecycle.signals import current_signals

PAGE: Final = 2000


def promote(
    ctx: Context,
    session: str,
    namespace: str,
    *,
    threshold: float | None = None,
    confirm: bool = False,
    accept_loss: str | None = None,
) -> PromotionResult:
    """Bring the best of a session to long term, or tell what would be.

    Args:
        ctx: Store, policy, clock, ids, embedder.
        session: Which one.
        namespace: Where.
        threshold: Least confidence, 0 to 1; the policy's if None.
        confirm: Do it.
        accept_loss: A person's reason to apply it whatever it loses.

    Raises:
        NotFound: No memory belongs to the session.
        GateStopped: A gate refuses it; nothing was written.
    """
    least = ctx.policy.tasks.promotion_confidence if threshold is None else threshold

    def attempt() -> PromotionResult:
        now = ctx.clock()
        records = of_session(ctx, session, namespace)
        if not records:
            raise NotFound(
                f"No memory of {namespace} belongs to the session {session!r}.",
                remedy="Name the session as `remember` did (session=...), and its namespace.",
            )
        done = _decided(ctx, records, session, namespace, least, now)
        note = f"promote {session}: {len(done.promoted)} to long term, {len(done.sketches)} summaries"
        plan = done.decisions.plan("promote", note)
        if plan.changes and confirm:
            applied(ctx, plan, accept_loss=accept_loss)
        return _promotion(done, plan, session, least, confirm=confirm)

    return retried(attempt)


def of_session(ctx: Context, session: str, namespace: str) -> list[Record]:
    """Return all memories of a session, whatever their scope and status."""
    records: list[Record] = []
    after = ""
    while ids := ctx.store.ids_of_session(namespace, session, after, PAGE):
        after = ids[-1]
        records += ctx.store.get(namespace, ids)
    return records


@dataclass(frozen=True, slots=True)
class _Decided:
    """What is to be done."""

    decisions: Decisions
    promoted: tuple[str, ...]
    median: float
    sketches: Mapping[str, Sketch]


def _promotion(done: _Decided, plan: Plan, session: str, least: float, *, confirm: bool) -> PromotionResult:
    return PromotionResult(
        promoted_count=len(done.promoted),
        crystallized_count=len(done.sketches),
        session=session,
        confirmed=confirm,
        threshold=least,
        median=done.median,
        promoted=done.promoted,
        summaries=tuple(
            Crystal(identity, sketch.draft.text, sketch.members, round(sketch.draft.confidence, 6))
            for identity, sketch in done.sketches.items()
        ),
        plans=(plan,) if plan.changes and not confirm else (),
        operations=(plan.id,) if plan.changes and confirm else (),
    )


def _decided(
    ctx: Context, records: Sequence[Record], session: str, namespace: str, least: float, now: Instant
) -> _Decided:
    seen = [r for r in records if r.state.status is Status.ACTIVE]
    mine = [r for r in seen if r.state.scope is not Scope.TASK]
    decisions = begin(ctx, namespace, now)
    decisions.admit(mine)
    there = sorted(decisions.records.values(), key=lambda r: r.id)
    whole = [r for r in there if r.state.status is Status.ACTIVE]
    inside = [r for r in whole if r.state.scope is Scope.SESSION]
    earlier = [r for r in whole if r.state.scope is Scope.LONG_TERM and r.state.kind is not Kind.EPISODE]
    chosen, middle = promotable(inside, earlier, least, ctx.policy, now)
    facts = [r.id for r in chosen if r.state.kind is Kind.FACT]
    stay = ctx.extension.promote(ctx, namespace, decisions, facts)
    chosen = [r for r in chosen if r.id not in stay]
    states = [decisions.states[r.id] for r in chosen]
    sure = dict(zip((r.id for r in chosen), current_signals(states, ctx.policy, now).confidence.tolist(), strict=True))
    for r in chosen:
        because = (
            f"promoted to long_term: confidence {sure[r.id]:.3f} is at least {least:g}, and "
            f"{r.state.access_count} accesses are at least the session's median of {middle:g}"
        )
        decisions.change(r.id, promote_state(decisions.states[r.id], ctx.policy, now), "promoted", because)
    pairs = _connected(ctx, namespace, chosen)
    found = _reworded(ctx, chosen, sketch_summaries(chosen, pairs, sure, session=session, policy=ctx.policy, now=now))
    ids = _crystallised(ctx, decisions, found)
    return _Decided(decisions, tuple(r.id for r in chosen), middle, dict(zip(ids, found, strict=True)))


def _connected(ctx: Context, namespace: str, records: Sequence[Record]) -> Iterator[tuple[str, str]]:
    """Yield pairs of memories that share a hyperedge or a link."""
    ids = {r.id for r in records}
    if len(ids) < ctx.policy.tasks.crystal_members:
        return
    edges: dict[str, list[str]] = {}
    for document in documents_around(ctx, namespace, sorted(ids)):
        if document.id in ids:
            edges.setdefault(document.name, []).append(document.id)
    for members in edges.values():
        yield from pairwise(members)
    for identity in sorted(ids):
        for kind, other, _ in ctx.store.links(namespace, identity):
            if kind in CONNECTING and other in ids:
                yield identity, other


def _reworded(ctx: Context, chosen: Sequence[Record], found: Sequence[Sketch]) -> list[Sketch]:
    """Return the summaries in a model's words where one is configured and adds nothing of its own."""
    by = {r.id: r for r in chosen}
    members = [[by[i] for i in sketch.members] for sketch in found]
    said = written(ctx, {n: (whole, most_tokens(whole)) for n, whole in enumerate(map(join_texts, members))})
    return [use_model_text(s, members[n], said[n]) if n in said else s for n, s in enumerate(found)]


def _crystallised(ctx: Context, decisions: Decisions, found: Sequence[Sketch]) -> list[str]:
    """Bring in the summaries with their links, and return their ids."""
    if not found:
        return []
    born = insert(ctx, decisions, [sketch.draft for sketch in found])
    ids = [record.id for record in born]
    for identity, sketch in zip(ids, found, strict=True):
        decisions.add(stands_for_link(identity, member, 1.0) for member in sketch.members)
    return ids


# --- the end of a session


def end_session(ctx: Context, session: str, namespace: str, *, accept_loss: str | None = None) -> SessionResult:
    """End a session: complete its open tasks, promote, sweep, and note that it has ended.

    Interrupting is safe: what is done is done, and the next call does the rest.
    """
    records = of_session(ctx, session, namespace)
    ended = _ended(ctx, session, namespace)
    if ended is not None and not _news(records, ended):
        return SessionResult(session, text_of(ended), anew=False)
    open_tasks = sorted({r.content.task for r in open_in_task(records, session) if r.content.task is not None})
    tasks = tuple(complete_task(ctx, task, namespace, session=session, accept_loss=accept_loss) for task in open_tasks)
    promotion = None
    if records:
        promotion = promote(ctx, session, namespace, confirm=True, accept_loss=accept_loss)
    at, operation = retried(lambda: _note_end(ctx, session, namespace))
    report = sweep(ctx, dry_run=False, namespace=namespace)  # last: any other operation would release what it holds
    done = [*(o for task in tasks for o in task.operations), *(promotion.operations if promotion else ())]
    return SessionResult(
        session,
        text_of(at),
        anew=True,
        tasks=tasks,
        promotion=promotion,
        report=report,
        operations=(*done, operation, *report.operations),
    )


def _document(ctx: Context, session: str, namespace: str) -> Document | None:
    found = ctx.store.documents.find(namespace, Shelf.SESSION, [session])
    return next((document for document in found if document.name == ""), None)


def _ended(ctx: Context, session: str, namespace: str) -> Instant | None:
    document = _document(ctx, session, namespace)
    ended = None if document is None else document.data.get("ended_ms")
    return ended if isinstance(ended, int) else None


def _news(records: Sequence[Record], ended: Instant) -> bool:
    """Whether something came after the end, or was left open."""
    seen = [r for r in records if r.state.status is Status.ACTIVE]
    return bool(open_in_task(seen)) or any(r.state.recorded_ms > ended for r in seen if r.state.scope is Scope.SESSION)


def _note_end(ctx: Context, session: str, namespace: str) -> tuple[Instant, str]:
    """Write down that the session has ended; what else its document says stays."""
    now, document = ctx.clock(), _document(ctx, session, namespace)
    row: dict[str, Any] = {"shelf": Shelf.SESSION, "name": ""}
    before = None if document is None else {**row, "data": dict(document.data)}
    after = {**row, "data": {**(dict(document.data) if document else {}), "ended_ms": now}}
    change = Change(Target.DOCUMENT, session, before, after, "the session has ended")
    plan = Plan(ctx.ids(now), "end_session", namespace, now, (change,), ctx.policy.version, f"end_session {session}")
    ctx.store.apply(plan)
    return now, plan.id

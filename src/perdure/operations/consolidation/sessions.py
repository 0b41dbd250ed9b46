"""Promoting what a session is worth keeping for, and ending a session."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from perdure.operations.consolidation.relate import documents_around
from perdure.operations.consolidation.tasks import complete_task
from perdure.operations.decisions import begin
from perdure.operations.documents import PAGE, find_records, ids_through, write_documents
from perdure.operations.lifecycle.compression import write_summaries
from perdure.operations.lifecycle.gates import carry_out
from perdure.operations.lifecycle.sweep import sweep
from perdure.operations.new_memories import insert
from perdure.operations.ports import Context
from perdure.operations.writing import retry
from perdure.records.consolidation_results import CrystallizedSummary, PromotionResult, SessionResult
from perdure.records.errors import NotFound
from perdure.records.instant import Instant, text_of
from perdure.records.memory import DERIVED, Document, Kind, Record, Scope, Shelf, Status
from perdure.rules.consolidation.merge_plan import stands_for_link
from perdure.rules.consolidation.tasks import (
    CONNECTING,
    SummaryDraft,
    join_texts,
    most_tokens,
    open_in_task,
    promotable,
    promote_state,
    sketch_summaries,
    use_model_text,
)
from perdure.rules.decisions import Decisions
from perdure.rules.document_edits import DocumentEdits
from perdure.rules.lifecycle.signals import current_signals


@dataclass(frozen=True, slots=True)
class _Promotion:
    """What is decided about a session: what goes to long term, and new memory -> the summary that it is."""

    decisions: Decisions
    promoted: tuple[str, ...]
    median: float
    summaries: Mapping[str, SummaryDraft]


def promote(
    ctx: Context,
    session: str,
    namespace: str,
    *,
    threshold: float | None = None,
    confirm: bool = False,
    accept_loss: str | None = None,
) -> PromotionResult:
    """Bring the best of a session to long term, or tell what would be; the policy's threshold if none is given."""
    least = ctx.policy.tasks.promotion_confidence if threshold is None else threshold

    def attempt() -> PromotionResult:
        promotion = _decide(ctx, namespace, _read(ctx, session, namespace), session, least)
        note = f"promote {session}: {len(promotion.promoted)} to long term, {len(promotion.summaries)} summaries"
        plan = promotion.decisions.plan("promote", note)
        plans, operations = carry_out(ctx, plan, dry_run=not confirm, accept_loss=accept_loss)
        found = replace(_result(promotion), session=session, threshold=least, confirmed=confirm)
        return replace(found, plans=plans, operations=operations)

    return retry(attempt)


def _result(promotion: _Promotion) -> PromotionResult:
    return PromotionResult(
        promoted_count=len(promotion.promoted),
        crystallized_count=len(promotion.summaries),
        median=promotion.median,
        promoted=promotion.promoted,
        summaries=tuple(
            CrystallizedSummary(identity, s.draft.text, s.members, round(s.draft.confidence, 6))
            for identity, s in promotion.summaries.items()
        ),
    )


def session_records(ctx: Context, session: str, namespace: str) -> list[Record]:
    """Return all memories of a session, whatever their scope and status."""
    ids = ids_through(lambda after: ctx.store.ids_of_session(namespace, session, after, PAGE))
    return list(find_records(ctx, namespace, ids))


def _read(ctx: Context, session: str, namespace: str) -> list[Record]:
    records = session_records(ctx, session, namespace)
    if not records:
        raise _unknown(session, namespace)
    return records


def _unknown(session: str, namespace: str) -> NotFound:
    remedy = "Use the session name that was passed to `remember`, and its namespace."
    return NotFound(f"No memory of {namespace} belongs to the session {session!r}.", remedy=remedy)


def _decide(ctx: Context, namespace: str, records: Sequence[Record], session: str, least: float) -> _Promotion:
    decisions = begin(ctx, namespace, ctx.clock())
    decisions.admit(r for r in records if r.state.status is Status.ACTIVE and r.state.scope is not Scope.TASK)
    chosen, reasons, middle = _choose(ctx, decisions, least)
    states = [decisions.states[r.id] for r in chosen]
    sure = dict(
        zip((r.id for r in chosen), current_signals(states, ctx.policy, decisions.now).confidence.tolist(), strict=True)
    )
    for r in chosen:
        relation = "at least" if sure[r.id] >= least else "below"
        because = f"promoted to long_term: confidence {sure[r.id]:.3f} is {relation} {least:g}, and {reasons[r.id]}"
        after = promote_state(decisions.states[r.id], ctx.policy, decisions.now)
        decisions.change(r.id, after, "promoted", because)
    pairs = _connected_pairs(ctx, namespace, chosen)
    found = sketch_summaries(chosen, pairs, sure, session=session, policy=ctx.policy, now=decisions.now)
    summaries = _store_summaries(ctx, decisions, _reword(ctx, chosen, found))
    return _Promotion(decisions, tuple(r.id for r in chosen), middle, summaries)


def _choose(ctx: Context, decisions: Decisions, least: float) -> tuple[list[Record], Mapping[str, str], float]:
    """Return the memories to be promoted, why each is, and the median of the session's uses."""
    records = sorted(decisions.records.values(), key=lambda r: r.id)
    whole = [r for r in records if r.state.status is Status.ACTIVE]
    inside = [r for r in whole if r.state.scope is Scope.SESSION]
    earlier = [r for r in whole if r.state.scope is Scope.LONG_TERM and r.state.kind is not Kind.EPISODE]
    reasons, middle = promotable(inside, earlier, least, ctx.policy, decisions.now)
    facts = [r.id for r in inside if r.id in reasons and r.state.kind is Kind.FACT]
    said = _facts_said(ctx, decisions.namespace, inside, reasons)
    stay = ctx.extension.promote(ctx, decisions.namespace, decisions, [*facts, *said])
    reasons = {**dict.fromkeys(said, "what says it is promoted"), **reasons}
    return [r for r in inside if r.id in reasons and r.id not in stay], reasons, middle


def _facts_said(ctx: Context, namespace: str, inside: Sequence[Record], promoted: Collection[str]) -> list[str]:
    """Return the facts of a session that a promoted memory says: what all see says them, so all may know them."""
    facts = [r.id for r in inside if r.state.kind is Kind.FACT and r.id not in promoted]
    links = ctx.store.links_at(namespace, facts) if facts else []
    return sorted({one for one, kind, other in links if kind == DERIVED and one in facts and other in promoted})


def _connected_pairs(ctx: Context, namespace: str, records: Sequence[Record]) -> Iterator[tuple[str, str]]:
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


def _reword(ctx: Context, chosen: Sequence[Record], found: Sequence[SummaryDraft]) -> list[SummaryDraft]:
    """Return the summaries in a model's words where one is configured and adds nothing of its own."""
    by = {r.id: r for r in chosen}
    members = [[by[i] for i in sketch.members] for sketch in found]
    texts = write_summaries(ctx, {n: (whole, most_tokens(whole)) for n, whole in enumerate(map(join_texts, members))})
    return [use_model_text(s, members[n], texts[n]) if n in texts else s for n, s in enumerate(found)]


def _store_summaries(ctx: Context, decisions: Decisions, found: Sequence[SummaryDraft]) -> dict[str, SummaryDraft]:
    stored = insert(ctx, decisions, [sketch.draft for sketch in found]) if found else []
    summaries = {record.id: sketch for record, sketch in zip(stored, found, strict=True)}
    for identity, sketch in summaries.items():
        decisions.add(stands_for_link(identity, member, 1.0) for member in sketch.members)
    return summaries


# --- the end of a session


def end_session(ctx: Context, session: str, namespace: str, *, accept_loss: str | None = None) -> SessionResult:
    """End a session: complete its open tasks, promote, sweep, and note that it has ended.

    Interrupting is safe: what is done is done, and the next call does the rest.

    Raises:
        NotFound: Nothing was stored in it, and no agent's hook began it.
    """
    records = session_records(ctx, session, namespace)
    if not records and _document(ctx, session, namespace) is None:
        raise _unknown(session, namespace)
    ended = _end_of(ctx, session, namespace)
    if ended is not None and not _has_news(records, ended):
        return SessionResult(session, text_of(ended), anew=False)
    open_tasks = sorted({r.content.task for r in open_in_task(records, session) if r.content.task is not None})
    tasks = tuple(complete_task(ctx, task, namespace, session=session, accept_loss=accept_loss) for task in open_tasks)
    promotion = None
    if records:
        promotion = promote(ctx, session, namespace, confirm=True, accept_loss=accept_loss)
    at, noted = retry(lambda: _note_end(ctx, session, namespace))
    report = sweep(ctx, dry_run=False, namespace=namespace)  # last: any other operation would release what it holds
    operations = [*(o for task in tasks for o in task.operations), *(promotion.operations if promotion else ())]
    return SessionResult(
        session,
        text_of(at),
        anew=True,
        tasks=tasks,
        promotion=promotion,
        report=report,
        operations=(*operations, *noted, *report.operations),
    )


def _document(ctx: Context, session: str, namespace: str) -> Document | None:
    found = ctx.store.documents.find(namespace, Shelf.SESSION, [session])
    return next((document for document in found if document.name == ""), None)


def _end_of(ctx: Context, session: str, namespace: str) -> Instant | None:
    document = _document(ctx, session, namespace)
    ended = None if document is None else document.data.get("ended_ms")
    return ended if isinstance(ended, int) else None


def _has_news(records: Sequence[Record], ended: Instant) -> bool:
    live = [r for r in records if r.state.status is Status.ACTIVE]
    return bool(open_in_task(live)) or any(r.state.recorded_ms > ended for r in live if r.state.scope is Scope.SESSION)


def _note_end(ctx: Context, session: str, namespace: str) -> tuple[Instant, tuple[str, ...]]:
    now, document = ctx.clock(), _document(ctx, session, namespace)
    edits = DocumentEdits([document] if document is not None else ())
    data = dict(document.data) if document is not None else {}
    edits.put(Shelf.SESSION, session, "", {**data, "ended_ms": now}, "the session has ended")
    return now, write_documents(ctx, namespace, "end_session", edits.changes(), f"end_session {session}")

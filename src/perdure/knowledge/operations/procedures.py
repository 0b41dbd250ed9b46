"""Learning procedures: what follows what in recent conversations, written down as memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from perdure.knowledge.records.results import LearnedProcedure, ProceduresResult
from perdure.knowledge.rules.fact_records import link_change
from perdure.knowledge.rules.procedures import (
    Conversations,
    Procedure,
    ProcedureChange,
    TopicMessage,
    decide_procedures,
    topics_of,
    why_none,
)
from perdure.operations.decisions import begin
from perdure.operations.documents import all_documents, all_records, find_records
from perdure.operations.lifecycle.gates import apply_gated
from perdure.operations.new_memories import insert
from perdure.operations.ports import Context
from perdure.operations.writing import retry
from perdure.records.instant import DAY_MS, Instant, text_of
from perdure.records.memory import DERIVED, Document, Draft, Kind, Record, Scope, Shelf, State, Status
from perdure.records.plan import Plan
from perdure.records.recall import Filters
from perdure.rules.decisions import Decisions
from perdure.rules.document_edits import document_change
from perdure.rules.language.words import may_answer
from perdure.rules.lifecycle.unarchive import restart_ages, unarchive

SOURCE: Final = "procedures"
_LINKED_SESSIONS: Final = 10  # sessions whose messages a procedure is linked to; its counts have all


def learn_procedures(
    ctx: Context, namespace: str, *, dry_run: bool, accept_loss: str | None = None
) -> ProceduresResult:
    """Learn what follows what in recent conversations; procedures that stopped holding are archived."""

    def attempt() -> ProceduresResult:
        now = ctx.clock()
        talk = Conversations(_messages(ctx, namespace, now), ctx.policy.knowledge.procedure_sessions)
        documents = {d.id: d for d in all_documents(ctx, namespace, Shelf.PROCEDURE)}
        records = {r.id: r for r in find_records(ctx, namespace, documents)}
        known = [Procedure.from_document(d) for i, d in documents.items() if i in records]
        found = decide_procedures(talk, known, ctx.policy.knowledge)
        verdicts = [v for v in found if v.before is None or _may_change(v.before, records[v.before.id].state)]
        plan, ids = _plan(ctx, namespace, verdicts, records, documents, now)
        if plan.changes and not dry_run:
            apply_gated(ctx, plan, accept_loss=accept_loss)
        return ProceduresResult(
            namespace,
            len(talk.sessions),
            sum(map(len, talk.sessions)),
            tuple(
                _result(v, "" if dry_run and v.before is None else i, records, now)
                for v, i in zip(verdicts, ids, strict=True)
            ),
            len(known) - sum(v.before is not None for v in verdicts),
            dry_run,
            plans=(plan,) if dry_run and plan.changes else (),
            operations=(plan.id,) if plan.changes and not dry_run else (),
            reason="" if verdicts else why_none(talk, len(known), ctx.policy.knowledge),
        )

    return retry(attempt)


# --- reading


def _messages(ctx: Context, namespace: str, now: Instant) -> list[TopicMessage]:
    """Return what people said in recent sessions, each session in its order.

    What an assistant or a tool says does not show what a person asks for next. Episodes of a narrower scope are not
    read: what is learned here is seen everywhere.
    """
    since = now - int(ctx.policy.knowledge.procedure_days * DAY_MS)
    filters = Filters(kinds=(Kind.EPISODE,), scopes=(Scope.LONG_TERM,), since=since)
    found: list[tuple[tuple[Any, ...], TopicMessage]] = []
    for r in all_records(ctx, namespace, filters):
        c, at = r.content, r.state.created_ms
        if c.session is None or not may_answer(c.speaker):
            continue
        one = TopicMessage(r.id, c.session, topics_of(c.text))
        found.append(((c.turn is None, c.turn or 0, at, r.id), one))
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


# --- deciding


def _may_change(known: Procedure, state: State) -> bool:
    """Whether learning may touch a procedure: not one that is pinned, nor one that somebody else hid."""
    return not state.pinned and (state.status is Status.ACTIVE or (known.retired and state.status is Status.ARCHIVED))


# --- writing down


def _plan(
    ctx: Context,
    namespace: str,
    verdicts: Sequence[ProcedureChange],
    records: Mapping[str, Record],
    documents: Mapping[str, Document],
    now: Instant,
) -> tuple[Plan, list[str]]:
    touched = [records[v.before.id] for v in verdicts if v.before is not None]
    decisions = begin(ctx, namespace, now)
    decisions.admit(touched)
    fresh = iter(_store_new(ctx, decisions, [v.after for v in verdicts if v.before is None]))
    ids = [v.before.id if v.before is not None else next(fresh) for v in verdicts]
    for verdict, identity in zip(verdicts, ids, strict=True):
        if verdict.before is not None:
            state = _state(verdict, decisions.states[identity], ctx, now)
            decisions.change(identity, state, verdict.move, verdict.because)
        before, data = documents.get(identity), {**verdict.after.to_data(), "at_ms": now}
        name, old = (verdict.after.key, None) if before is None else (before.name, before.data)
        because = f"{verdict.move}: {verdict.because}"
        decisions.add([document_change(Shelf.PROCEDURE, identity, name, old, data, because)])
    moves = [v.move for v in verdicts]
    summary = ", ".join(f"{moves.count(m)} {m}" for m in sorted(set(moves)))
    return decisions.plan("learn_procedures", f"learn_procedures: {summary or 'nothing new'}"), ids


def _state(verdict: ProcedureChange, state: State, ctx: Context, now: Instant) -> State:
    if verdict.move == "retired":
        return replace(state, status=Status.ARCHIVED, status_ms=now, held=False)
    if verdict.move == "back" and state.status is not Status.ACTIVE:
        state = unarchive(state, ctx.policy, now)
    elif verdict.before is not None and verdict.after.support > verdict.before.support:
        state = restart_ages(state, now)  # it was seen again
    return replace(state, confidence=verdict.after.confidence)


def _store_new(ctx: Context, decisions: Decisions, fresh: Sequence[Procedure]) -> list[str]:
    """Bring in new procedures, linked to the messages that show them, and return their ids."""
    if not fresh:
        return []
    drafts = [_draft(p, decisions.now) for p in fresh]
    ids = [r.id for r in insert(ctx, decisions, drafts)]
    for identity, procedure in zip(ids, fresh, strict=True):
        shown = sorted({message for pair in procedure.evidence[-_LINKED_SESSIONS:] for message in pair})
        decisions.add(link_change(DERIVED, identity, m, "a message that shows the procedure") for m in shown)
    return ids


def _draft(procedure: Procedure, now: Instant) -> Draft:
    return Draft(
        text=_text(procedure, now),
        kind=Kind.PROCEDURE,
        scope=Scope.LONG_TERM,
        importance=0.5,
        confidence=procedure.confidence,
        at=now,
        source=SOURCE,
        metadata={"trigger": list(procedure.trigger), "then": list(procedure.then)},
    )


def _text(procedure: Procedure, now: Instant) -> str:
    """Return what a procedure says when it is learned; a text is never rewritten, so it names its day."""
    counts = f"{procedure.support} of {procedure.sessions} sessions until {text_of(now)[:10]}"
    return f"When {', '.join(procedure.trigger)} comes up, {', '.join(procedure.then)} follows ({counts})."


def _result(verdict: ProcedureChange, identity: str, records: Mapping[str, Record], now: Instant) -> LearnedProcedure:
    p = verdict.after
    return LearnedProcedure(
        id=identity,
        move=verdict.move,
        content=records[identity].content.text if verdict.before is not None else _text(p, now),
        trigger=p.trigger,
        then=p.then,
        support=p.support,
        sessions=p.sessions,
        confidence=p.confidence,
        lift=p.lift,
        because=verdict.because,
    )

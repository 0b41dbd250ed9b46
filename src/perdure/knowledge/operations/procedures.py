"""Learning procedures: what follows what in recent conversations, written down as memories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from perdure.knowledge.records.learning_results import LearnedProcedure, ProceduresResult
from perdure.knowledge.rules.procedures import Conversations, Procedure, ProcedureChange, decide_procedures, why_none
from perdure.knowledge.rules.topics import ENTITY, TopicMessage, topics_of
from perdure.operations.decisions import begin
from perdure.operations.documents import all_documents
from perdure.operations.lifecycle.gates import apply_gated
from perdure.operations.new_memories import insert
from perdure.operations.ports import Context
from perdure.operations.writing import retry
from perdure.records.document import Document, Shelf
from perdure.records.instant import DAY_MS, Instant, text_of
from perdure.records.memory import Kind, Record, Scope, State, Status
from perdure.records.new_memory import Draft
from perdure.records.plan import Change, Plan, Target
from perdure.records.recall import Filters
from perdure.rules.decisions import Decisions
from perdure.rules.language.words import may_answer
from perdure.rules.lifecycle.unarchive import restart_ages, unarchive

PAGE: Final = 1000
SOURCE: Final = "procedures"
DERIVED_FROM: Final = "derived_from"
_LINKED: Final = 10
"""Sessions whose messages a procedure is linked to; its counts have all."""


def learn_procedures(
    ctx: Context, namespace: str, *, dry_run: bool, accept_loss: str | None = None
) -> ProceduresResult:
    """Learn what follows what in recent conversations; procedures that stopped holding are archived.

    Raises:
        GateStopped: It would archive too much; nothing was written.
    """

    def attempt() -> ProceduresResult:
        now = ctx.clock()
        talk = Conversations(_messages(ctx, namespace, now), ctx.policy.knowledge.procedure_sessions)
        there = {d.id: d for d in all_documents(ctx, namespace, Shelf.PROCEDURE)}
        records = {r.id: r for r in _records(ctx, namespace, list(there))}
        known = [Procedure.from_document(d) for i, d in there.items() if i in records]
        found = decide_procedures(talk, known, ctx.policy.knowledge)
        verdicts = [v for v in found if v.before is None or _may_change(v.before, records[v.before.id].state)]
        verdicts = _with_names(ctx, namespace, verdicts)
        plan, ids = _plan(ctx, namespace, verdicts, records, there, now)
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
    cursor: tuple[Instant, str] | None = None
    while page := ctx.store.list_records(namespace, filters, PAGE, cursor):
        cursor = page[-1].state.created_ms, page[-1].id
        spoken = [r for r in page if r.content.session is not None and may_answer(r.content.speaker)]
        named = _mentions(ctx, namespace, [r.id for r in spoken])
        for r in spoken:
            c, at = r.content, r.state.created_ms
            one = TopicMessage(r.id, c.session or "", at, topics_of(c.text, named.get(r.id, ())))
            found.append(((c.turn is None, c.turn or 0, at, r.id), one))
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


def _mentions(ctx: Context, namespace: str, ids: Sequence[str]) -> dict[str, list[str]]:
    """Return memory -> entities that it names; of merged ones those that stand for them."""
    found: dict[str, list[str]] = {}
    documents = ctx.store.documents.find(namespace, Shelf.MENTION, ids)
    stand = _merged_into(_entities(ctx, namespace, {d.name for d in documents}))
    for d in documents:
        name, passed = d.name, {d.name}
        while (into := stand.get(name, name)) not in passed:
            name = into
            passed.add(into)
        found.setdefault(d.id, []).append(name)
    return found


def _merged_into(entities: Mapping[str, Document]) -> dict[str, str]:
    return {i: str(into) for i, d in entities.items() if (into := d.data.get("merged_into"))}


def _entities(ctx: Context, namespace: str, ids: set[str]) -> dict[str, Document]:
    """Return id -> document of some entities, and of those that stand for them."""
    found: dict[str, Document] = {}
    wanted = ids
    while wanted:
        found |= {d.id: d for d in ctx.store.documents.find(namespace, Shelf.ENTITY, sorted(wanted))}
        wanted = set(_merged_into(found).values()) - set(found) - wanted
    return found


def _records(ctx: Context, namespace: str, ids: Sequence[str]) -> Iterator[Record]:
    for start in range(0, len(ids), PAGE):
        yield from ctx.store.get(namespace, ids[start : start + PAGE])


# --- deciding


def _may_change(known: Procedure, state: State) -> bool:
    """Whether learning may touch a procedure: not one that is pinned, nor one that somebody else hid."""
    return not state.pinned and (state.status is Status.ACTIVE or (known.retired and state.status is Status.ARCHIVED))


def _with_names(ctx: Context, namespace: str, verdicts: Sequence[ProcedureChange]) -> list[ProcedureChange]:
    """Give new procedures the names of their entities."""
    topics = {
        t for v in verdicts if v.before is None for t in (*v.after.trigger, *v.after.then) if t.startswith(ENTITY)
    }
    known = _entities(ctx, namespace, {t.removeprefix(ENTITY) for t in topics})
    names = {t: str(known[t.removeprefix(ENTITY)].data["name"]) for t in topics if t.removeprefix(ENTITY) in known}

    def named(after: Procedure) -> Procedure:
        return replace(after, names={t: names[t] for t in (*after.trigger, *after.then) if t in names})

    return [v if v.before is not None else replace(v, after=named(v.after)) for v in verdicts]


# --- writing down


def _plan(
    ctx: Context,
    namespace: str,
    verdicts: Sequence[ProcedureChange],
    records: Mapping[str, Record],
    there: Mapping[str, Document],
    now: Instant,
) -> tuple[Plan, list[str]]:
    """Return the plan, and the memory of each verdict."""
    touched = [records[v.before.id] for v in verdicts if v.before is not None]
    decisions = begin(ctx, namespace, now)
    decisions.admit(touched)
    fresh = iter(_store_new(ctx, decisions, [v.after for v in verdicts if v.before is None]))
    ids = [v.before.id if v.before is not None else next(fresh) for v in verdicts]
    for verdict, identity in zip(verdicts, ids, strict=True):
        if verdict.before is not None:
            state = _state(verdict, decisions.states[identity], ctx, now)
            decisions.change(identity, state, verdict.move, verdict.because)
        decisions.add([_document(verdict, identity, there.get(identity), now)])
    moves = [v.move for v in verdicts]
    told = ", ".join(f"{moves.count(m)} {m}" for m in sorted(set(moves)))
    return decisions.plan("learn_procedures", f"learn_procedures: {told or 'nothing new'}"), ids


def _state(verdict: ProcedureChange, state: State, ctx: Context, now: Instant) -> State:
    """Return what a known procedure's state is to be."""
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
        shown = sorted({message for pair in procedure.evidence[-_LINKED:] for message in pair})
        decisions.add(_link(identity, message) for message in shown)
    return ids


def _link(identity: str, message: str) -> Change:
    row = {"kind": DERIVED_FROM, "other": message, "weight": 1.0}
    return Change(Target.LINK, identity, None, row, "a message that shows the procedure")


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
    return f"When {procedure.shown(procedure.trigger)} comes up, {procedure.shown(procedure.then)} follows ({counts})."


def _document(verdict: ProcedureChange, identity: str, before: Document | None, now: Instant) -> Change:
    shelf: dict[str, Any] = {"shelf": Shelf.PROCEDURE}
    old = None if before is None else {**shelf, "name": before.name, "data": dict(before.data)}
    name = verdict.after.key if before is None else before.name
    after = {**shelf, "name": name, "data": {**verdict.after.to_data(), "at_ms": now}}
    return Change(Target.DOCUMENT, identity, old, after, f"{verdict.move}: {verdict.because}")


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

"""Saying what holds now: a memory's words are replaced by others, or it is archived."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from perdure.operations.decisions import begin, close_questions, outcome, write
from perdure.operations.lifecycle.manual_decisions import archive
from perdure.operations.new_memories import make_vectors
from perdure.operations.ports import Context
from perdure.operations.remember import store_drafts
from perdure.operations.writing import read_record, retry
from perdure.records.errors import InvalidInput
from perdure.records.link_kinds import SUPERSEDES
from perdure.records.memory import Kind, Record, Status
from perdure.records.new_memory import Draft
from perdure.records.outcome import Outcome
from perdure.records.plan import Change, Target
from perdure.rules.decisions import Decisions
from perdure.rules.redaction import redaction_note
from perdure.rules.validation import inputs

FORGOTTEN: Final = "forgotten by request"


def update(ctx: Context, identity: str, content: str) -> Outcome:
    """Store what holds now instead of a memory, which is superseded; the outcome is about the new words.

    The new memory has the old one's tags, metadata, kind, importance, pin, session and task, and is linked to it. Words
    that another memory has already are not stored twice: that one takes over the labels. One operation does all of it.

    Raises:
        NotFound: There is no such memory.
        InvalidInput: It is hidden, or a fact, or the words are refused.
    """

    def attempt() -> Outcome:
        record = read_record(ctx, identity)
        _check_replaceable(record)
        draft = _draft(ctx, record, content)
        if draft.text == record.content.text:
            return outcome(ctx, record, None)
        if draft.redacted:
            ctx.warn(redaction_note(draft.redacted))
        decisions = begin(ctx, record.namespace, ctx.clock())
        decisions.admit([record])
        vectors = make_vectors(ctx, [draft])
        (stands,) = store_drafts(ctx, decisions, [draft], vectors, merge=True, besides=record.id)
        _supersede(ctx, decisions, record, stands)
        written = write(ctx, decisions, "update", f"update {record.id}")
        return outcome(ctx, decisions.result(stands), written)

    return retry(attempt)


def forget(ctx: Context, identity: str, reason: str | None) -> Outcome:
    """Archive a memory because a person asks for it; it stays stored, and ``restore`` shows it again.

    Raises:
        NotFound: There is no such memory.
        InvalidInput: It is superseded, invalidated or consolidated, and so hidden already.
    """
    return archive(ctx, identity, FORGOTTEN if reason is None else inputs.checked_reason(reason, ctx.policy))


def _check_replaceable(record: Record) -> None:
    if record.state.status is not Status.ACTIVE:
        archived = record.state.status is Status.ARCHIVED
        raise InvalidInput(
            f"{record.id} is {record.state.status}; only memories in view can be updated.",
            remedy="Restore it first." if archived else "`why` names what holds instead: update that.",
        )
    if record.state.kind is Kind.FACT:
        raise InvalidInput(
            f"{record.id} is a fact; its value is corrected, not its words.", remedy="Use `correct` with the new value."
        )


def _draft(ctx: Context, record: Record, content: str) -> Draft:
    """Return the new words with the labels of a memory."""
    labels, state = record.content, record.state
    return inputs.draft(
        content,
        policy=ctx.policy,
        now=ctx.clock(),
        kind=state.kind.value,
        tags=labels.tags,
        importance=state.importance,
        source=labels.source,
        speaker=labels.speaker,
        session=labels.session,
        task=labels.task,
        metadata=labels.metadata,
        pinned=state.pinned,
        scope=state.scope,
    )


def _supersede(ctx: Context, decisions: Decisions, record: Record, stands: str) -> None:
    """Decide that a memory is superseded: another one stands for it, and nobody is asked about it any longer."""
    because = f"updated: {stands} holds instead"
    gone = replace(decisions.states[record.id], status=Status.SUPERSEDED, status_ms=decisions.now, held=False)
    decisions.change(record.id, gone, "replaced", f"superseded: {because}")
    link = {"kind": SUPERSEDES, "other": record.id, "weight": 1.0}
    decisions.add([Change(Target.LINK, stands, None, link, because), *close_questions(ctx, record, because)])

"""Saying what holds now: a memory's words are replaced by others."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.operations.affirming import with_changed_links
from perdure.operations.decisions import begin, outcome, write
from perdure.operations.documents import successors
from perdure.operations.new_memories import make_vectors
from perdure.operations.ports import Context
from perdure.operations.remember import store_drafts
from perdure.operations.remember_one import supersede, take_claims
from perdure.operations.writing import read_record, redacted_in, retry, tell_redacted
from perdure.records.errors import InvalidInput
from perdure.records.memory import STANDS_FOR, Draft, Kind, Record, Status
from perdure.records.outcome import GivenClaim, RememberResult
from perdure.rules.validation import inputs


def update(
    ctx: Context, identity: str, content: str, claims: tuple[GivenClaim, ...] = (), keeps: Sequence[str] = ()
) -> RememberResult:
    """Store what holds now instead of a memory, which is superseded; the outcome is about the new words.

    The new memory has the old one's tags, metadata, kind, importance, pin, session and task, and is linked to it. Words
    that another memory has already are not stored twice: that one takes over the labels. Facts that rest on the old
    memory alone are no longer believed, unless a claim says them again or they are kept: these rest on the new words.
    One operation does all of it.
    """

    def attempt() -> RememberResult:
        record = read_record(ctx, identity)
        _check_replaceable(ctx, record, claims)
        draft = _draft(ctx, record, content)
        same = draft.text == record.content.text
        if same and keeps:
            raise InvalidInput(
                f"{record.id} has these words already, so nothing is replaced and no fact has to be kept.",
                remedy="Leave out keeps, or pass other words.",
            )
        if same and not claims:
            return RememberResult(outcome(ctx, record, None).memory, None)
        tell_redacted(ctx, (*draft.redacted, *redacted_in(claims)))
        decisions = begin(ctx, record.namespace, ctx.clock())
        decisions.admit([record])
        vectors = make_vectors(ctx, [draft])
        (stands,) = store_drafts(ctx, decisions, [draft], vectors, merge=True, ignored_id="" if same else record.id)
        old = [] if stands == record.id else [record]
        kept = tuple(dict.fromkeys(keeps)) if old else ()
        for one in old:
            supersede(ctx, decisions, one, stands)
        claimed = take_claims(ctx, decisions, stands, claims, old, corrects=True, keeps=kept)
        written = write(ctx, decisions, "update", f"update {record.id}")
        done = RememberResult(outcome(ctx, decisions.result(stands), written).memory, written, claimed)
        return with_changed_links(done, decisions)

    return retry(attempt)


def _check_replaceable(ctx: Context, record: Record, claims: Sequence[GivenClaim]) -> None:
    if record.state.status is not Status.ACTIVE:
        raise InvalidInput(
            f"{record.id} is {record.state.status}; only visible memories can be updated.", remedy=_instead(ctx, record)
        )
    if record.state.kind is Kind.FACT and all(claim.planned for claim in claims):
        raise InvalidInput(
            f"{record.id} is a fact: its value can be corrected, but not its words.",
            remedy="Pass facts with the new value, or give it to `correct`.",
        )


def _instead(ctx: Context, record: Record) -> str:
    """Return what to do where a memory is hidden: update what stands in its place."""
    if record.state.status is Status.ARCHIVED:
        return "Use `restore` first."
    start = record.id
    if record.state.status is Status.CONSOLIDATED:
        start = next((i for i, kind, _ in ctx.store.links_to(record.namespace, start) if kind == STANDS_FOR), start)
    last = successors(ctx, record.namespace, [start])[start]
    found = next(iter(ctx.store.get(record.namespace, [last])), None) if last != record.id else None
    if found is None:
        return "Nothing stands in its place: remember what holds now."
    if found.state.status is not Status.ACTIVE:
        return f"It was replaced by {found.id}, which is {found.state.status} too: remember what holds now."
    return f"Update {found.id}, which stands in its place."


def _draft(ctx: Context, record: Record, content: str) -> Draft:
    labels, state = record.content, record.state
    return inputs.check_draft(
        content,
        policy=ctx.policy,
        now=ctx.clock(),
        kind="note" if state.kind is Kind.FACT else state.kind.value,
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

"""Extracting: what is worth remembering in a text becomes notes, unless it is known already."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from perdure.operations.new_memories import make_vectors
from perdure.operations.ports import Context
from perdure.operations.remember import remember
from perdure.operations.tombstones import without_erased
from perdure.operations.writing import tell_redacted
from perdure.records.digests import same_words
from perdure.records.errors import ModelWarning, PerdureError
from perdure.records.memory import Draft, Kind, Record, Scope, Sort, Status, Trust
from perdure.records.outcome import operations_of
from perdure.records.report import ExtractedMemory, ExtractResult
from perdure.records.vector import Vector
from perdure.rules import extraction_prompt as verifying
from perdure.rules.decisions import faded_ids
from perdure.rules.pattern_extraction import NoteCandidate, find_candidates
from perdure.rules.redaction import redact
from perdure.rules.restatement import KnownText, restates
from perdure.rules.source_trust import with_trust
from perdure.rules.validation import inputs as intake

NEAREST: Final = 10  # so many of the nearest memories are compared with each candidate
SOURCE: Final = "extracted"


@dataclass(frozen=True, slots=True)
class NoteDestination:
    """Where extracted notes go and what they belong to."""

    namespace: str  # which one
    session: str | None = None  # the session, if any: the notes then have its scope
    task: str | None = None  # the task, if any
    at: datetime | None = None  # when the text was said; now if None
    # what tells this text from all others, if anything does: taking it in twice then stores nothing twice, also where
    # two processes do so at once
    key: str | None = None
    trust: Trust = Trust.USER  # whose word the text is; the notes inherit it
    sort: Sort = Sort.ATTRIBUTE  # what the text does

    def sees(self, record: Record) -> bool:
        """Whether who reads here may see a memory: shared, or of the same session or task."""
        c, scope = record.content, record.state.scope
        if scope is Scope.LONG_TERM:
            return True
        return (self.session is not None and c.session == self.session) or (
            self.task is not None and c.task == self.task
        )


def extract(
    ctx: Context, text: str, place: NoteDestination, *, min_confidence: float, dedup_threshold: float | None
) -> ExtractResult:
    """Store what is worth remembering in a text as notes, in one operation."""
    if ctx.policy.knowledge.redact:  # before it is taken apart: no candidate may begin in the middle of a secret
        text, replaced = redact(text)
        tell_redacted(ctx, replaced)
    by_assistant = place.trust is Trust.ASSISTANT
    found = find_candidates(text, min_confidence=min_confidence, most=len(text), by_assistant=by_assistant)
    return store_candidates(ctx, _check_with_model(ctx, text, found, min_confidence), place, dedup_threshold)


def store_candidates(
    ctx: Context, found: Sequence[NoteCandidate], place: NoteDestination, dedup_threshold: float | None
) -> ExtractResult:
    """Store candidates as notes, the most confident ones, except for what is known."""
    considered = _most_confident(found, ctx.policy.extract.max_candidates)
    drafts = [_draft(ctx, c, place) for c in considered]
    vectors = make_vectors(ctx, drafts)
    duplicates = set(ctx.store.ids_of_texts(place.namespace, [d.text for d in drafts])) if drafts else set()
    repeats = [False] * len(drafts)
    if dedup_threshold is not None and drafts:
        repeats = _find_known(ctx, drafts, vectors, place, dedup_threshold, duplicates)
    left = {id(draft) for draft in without_erased(ctx, place.namespace, drafts)}
    fresh = [i for i, repeated in enumerate(repeats) if not repeated and id(drafts[i]) in left]
    stored = remember(
        ctx, [drafts[i] for i in fresh], place.namespace, operation="extract", vectors=[vectors[i] for i in fresh]
    )
    ids: dict[int, str] = {}
    for i, memory in zip(fresh, stored, strict=True):
        if memory.id not in duplicates and memory.id not in ids.values():  # else the very words were there
            ids[i] = memory.id
    extractions = [_extraction(c, ids.get(i)) for i, c in enumerate(considered)]
    return ExtractResult(len(found), len(ids), len(considered) - len(ids), extractions, operations_of(stored))


def _most_confident(found: Sequence[NoteCandidate], most: int) -> list[NoteCandidate]:
    return sorted(sorted(found, key=lambda c: (-c.confidence, c.start))[:most], key=lambda c: c.start)


def _check_with_model(
    ctx: Context, text: str, found: list[NoteCandidate], min_confidence: float
) -> list[NoteCandidate]:
    """Return what a language model leaves of the candidates, where the policy lets one check; else all of them."""
    if ctx.model is None or not ctx.policy.model.extract:
        return found
    most = ctx.policy.extract.max_candidates
    best = _most_confident(found, most)
    try:
        answer = ctx.model.ask(verifying.INSTRUCTION, verifying.prompt_text(text, best), verifying.reply_schema(most))
    except PerdureError as error:
        ctx.warn(f"The language model could not check the extracted notes: {error}", ModelWarning)
        return found
    rest = [c for c in found if c not in best]
    return [*verifying.apply_reply(text, best, answer, min_confidence=min_confidence), *rest]


def _draft(ctx: Context, candidate: NoteCandidate, place: NoteDestination) -> Draft:
    policy, is_request = ctx.policy, place.sort is Sort.REQUEST
    draft = intake.check_draft(
        candidate.content,
        policy=policy,
        now=ctx.clock(),
        tags=(candidate.pattern,),
        importance=policy.worth.request if is_request else policy.extract.importance,
        confidence=candidate.confidence,
        source=SOURCE,
        session=place.session,
        task=place.task,
        metadata=with_trust({"span": [candidate.start, candidate.end]}, place.trust),
        at=place.at,
        idempotency_key=None if place.key is None else f"extract:{place.key}:{candidate.start}",
    )
    return replace(draft, sort=place.sort, worth="a person asks to remember it" if is_request else "extracted")


def _find_known(
    ctx: Context,
    drafts: Sequence[Draft],
    vectors: Sequence[Vector | None],
    place: NoteDestination,
    threshold: float,
    duplicates: Collection[str],
) -> list[bool]:
    """Return for each draft whether it repeats a memory that may be seen here, or a more confident draft.

    What was said (episodes) does not count: a note says that it is so. Nor does what is hidden.
    """
    own = [v for v in vectors if v is not None]
    neighbours = iter(ctx.store.nearest(place.namespace, own, NEAREST) if own else ())
    near = [next(neighbours) if v is not None else [] for v in vectors]
    ids = sorted({*duplicates, *(i for pairs in near for i, *_ in pairs)})
    read = {r.id: r for r in ctx.store.get(place.namespace, ids) if r.state.status is Status.ACTIVE}
    states = {i: r.state for i, r in read.items() if not r.state.held}
    accesses = {i: r.accesses for i, r in read.items()}
    gone = faded_ids(states, accesses, ctx.policy, ctx.clock())
    visible = {i: r for i, r in read.items() if i not in gone and r.state.kind is not Kind.EPISODE and place.sees(r)}
    words = {same_words(visible[i].content.text) for i in duplicates if i in visible}
    weight = ctx.policy.consolidate.content_weight
    repeats: dict[int, bool] = {}
    new: list[KnownText] = []
    for i in sorted(range(len(drafts)), key=lambda i: (-drafts[i].confidence, i)):
        text = drafts[i].text
        stored = [KnownText(visible[k].content.text, cosine=c) for k, c, _ in near[i] if k in visible]
        same = same_words(text) in words
        repeats[i] = same or restates(text, vectors[i], [*stored, *new], threshold, weight)
        if not repeats[i]:
            words.add(same_words(text))
            new.append(KnownText(text, vector=vectors[i]))
    return [repeats[i] for i in range(len(drafts))]


def _extraction(candidate: NoteCandidate, identity: str | None) -> ExtractedMemory:
    c = candidate
    return ExtractedMemory(c.content, c.confidence, c.pattern, c.start, c.end, identity is not None, identity)

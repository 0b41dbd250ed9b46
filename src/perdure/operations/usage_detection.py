"""Noticing which recalled memories a conversation's replies have used, and which replies only repeat them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from perdure.operations.lifecycle.usage_feedback import used
from perdure.operations.ports import Context
from perdure.records.errors import EmbedderError, PerdureError
from perdure.records.instant import Instant
from perdure.records.memory import Draft, Record, Status
from perdure.rules.usage_detection import comparable_sentences, only_repeats, paraphrased_ids, quoted_ids

MINUTE_MS: Final = 60_000
FIRST_PAGE: Final = 64  # so many recalls are read at first: mostly none is recent enough
MEMORIES: Final = 200  # hits that one reply is compared with at most, those of the newest recalls

Shown = list[tuple[str, Instant, tuple[str, ...]]]  # recalls, newest first: (id, instant, ids of the hits)


@dataclass(frozen=True, slots=True)
class DetectedUse:
    """What was noticed about some replies."""

    uses: tuple[tuple[str, tuple[str, ...]], ...] = ()  # (recall, ids of the memories used), each pair once
    echoes: frozenset[str | None] = frozenset()  # keys of the replies that say nothing of their own


def detect_use(
    ctx: Context, namespace: str, replies: Sequence[Draft], shown: Sequence[str], *, by_meaning: bool
) -> DetectedUse:
    """Return what replies have used of the recalls before them, and which of them only repeat what was recalled.

    A reply uses the newest recall before it that returned the memory, within ``use.window_minutes``.
    """
    policy = ctx.policy.use
    if not replies or not (policy.detect or policy.skip_echoes):
        return DetectedUse()
    window = int(policy.window_minutes * MINUTE_MS)
    recalls = _recalls(ctx, namespace, min(r.at for r in replies) - window)
    hit_ids = dict.fromkeys([i for *_, hits in recalls for i in hits] + list(shown))
    records = {r.id: r for r in ctx.store.get(namespace, list(hit_ids))} if hit_ids else {}
    uses: dict[str, dict[str, None]] = {}
    echoes: set[str | None] = set()
    for reply in replies:
        origin = _origins(reply, recalls, window)
        recalled = {i: records[i] for i in origin if i in records}
        if policy.detect:
            for i in _used_ids(ctx, namespace, reply, recalled, by_meaning=by_meaning):
                uses.setdefault(origin[i], {})[i] = None
        if policy.skip_echoes and only_repeats(reply.text, _texts([*recalled.values(), *_pick(records, shown)])):
            echoes.add(reply.key)
    return DetectedUse(tuple((recall, tuple(ids)) for recall, ids in uses.items()), frozenset(echoes))


def mark_used(ctx: Context, found: DetectedUse) -> tuple[int, tuple[str, ...]]:
    """Mark what was noticed as helpful, and return how many memories that was news for, and the operations.

    The same memory and recall count once, however often it is noticed. If it cannot be marked, that is reported, and
    the conversation is taken in all the same.
    """
    count, operations = 0, list[str]()
    for recall, ids in found.uses:
        try:
            feedback = used(ctx, ids, "helpful", recall)
        except PerdureError as error:
            ctx.warn(f"The use of memories was not recorded: {error}")
            continue
        count += len(feedback.counted)
        operations += feedback.operations
    return count, tuple(operations)


def _recalls(ctx: Context, namespace: str, since: Instant) -> Shown:
    size = FIRST_PAGE
    while True:
        rows = ctx.store.recalls(namespace, size)
        if len(rows) < size or rows[-1][1] < since:
            return [(identity, at, hits) for identity, at, _, hits in rows if at >= since]
        size *= 4


def _origins(reply: Draft, recalls: Shown, window: int) -> dict[str, str]:
    found: dict[str, str] = {}
    for recall, at, hits in recalls:
        if reply.at - window <= at <= reply.at and len(found) < MEMORIES:
            for i in hits:
                found.setdefault(i, recall)
    return found


def _used_ids(
    ctx: Context, namespace: str, reply: Draft, recalled: Mapping[str, Record], *, by_meaning: bool
) -> list[str]:
    visible = {i: r.content for i, r in recalled.items() if r.state.status is Status.ACTIVE}
    texts = {i: content.text for i, content in visible.items()}  # which hooks show
    forms = {i: content.shown for i, content in visible.items() if content.shown}
    least = ctx.policy.use.quoted
    found = quoted_ids(reply.text, texts, least) | quoted_ids(reply.text, forms, least)
    unquoted = [i for i in texts if i not in found]
    if by_meaning and unquoted:
        found |= _paraphrased_ids(ctx, namespace, reply, unquoted)
    return [i for i in texts if i in found]


def _paraphrased_ids(ctx: Context, namespace: str, reply: Draft, ids: Sequence[str]) -> frozenset[str]:
    sentences = comparable_sentences(reply.text)
    vectors = ctx.store.vectors(namespace, ids) if ctx.embedder is not None and sentences else {}
    if ctx.embedder is None or not vectors:
        return frozenset()
    try:
        own = ctx.embedder.embed(sentences, purpose="document")
    except EmbedderError:  # storing will tell
        return frozenset()
    return paraphrased_ids(own, vectors) if ctx.store.space() == ctx.embedder.space else frozenset()


def _pick(records: Mapping[str, Record], ids: Sequence[str]) -> list[Record]:
    return [records[i] for i in ids if i in records]


def _texts(records: Sequence[Record]) -> list[str]:
    return [t for r in records for t in dict.fromkeys((r.content.text, r.content.shown)) if t]

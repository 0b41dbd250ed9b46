"""Remembering: drafts in, memories out. The same text or the same key stores nothing twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal

from perdure.operations.ports import Context, Progress
from perdure.operations.writing import decided, retried
from perdure.records.errors import ConflictError, EmbedderError, InvalidInput, PartlyStored, PerdureError, SpaceMismatch
from perdure.records.instant import Instant
from perdure.records.memory import Kind, Record, Status, searchable
from perdure.records.new_memory import Draft
from perdure.records.outcome import Outcome, operations_of
from perdure.records.vector import Vector
from perdure.rules.insertion import NEAREST, Newborn, birth_plan, earlier_in_batch, newborn_states, record_of
from perdure.rules.lifecycle.signals import views
from perdure.rules.lifecycle.unarchive import restored
from perdure.rules.redaction import told

BATCH: Final = 500
Embed = Literal["now", "later"]


def remember(
    ctx: Context,
    drafts: Sequence[Draft],
    namespace: str,
    *,
    operation: str = "remember",
    embed: Embed = "now",
    vectors: Sequence[Vector | None] | None = None,
    progress: Progress | None = None,
) -> list[Outcome]:
    """Store drafts, and return what became of each, in the same order.

    Up to 500 drafts are one transaction, all or nothing. Of a longer list each 500 are; if a later one fails,
    PartlyStored says how many are stored.

    A draft whose idempotency key was used, or (messages and other episodes apart) whose text is known already, returns
    the memory that is there; an archived one is brought back.

    Args:
        ctx: Store, policy, clock, ids, embedder.
        drafts: Checked drafts.
        namespace: Where to.
        operation: The verb for the journal.
        embed: ``later`` stores without vectors; ``reembed`` fills them in, and words find the memories meanwhile.
        vectors: The drafts' vectors, where the caller has made them with ``vectors_of``.
        progress: Told (done, total) after each batch.
    """
    outcomes: list[Outcome] = []
    if replaced := [name for draft in drafts for name in draft.redacted]:
        ctx.warn(told(replaced))
    for start in range(0, len(drafts), BATCH):
        batch = drafts[start : start + BATCH]
        made = _embedded(ctx, batch, embed) if vectors is None else vectors[start : start + BATCH]
        try:
            outcomes += retried(lambda batch=batch, made=made: _store(ctx, batch, made, namespace, operation))  # type: ignore[misc]  # bound now
        except PerdureError as error:
            if start == 0:
                raise
            raise PartlyStored(
                f"{start} of {len(drafts)} items were stored, then: {error.message}",
                start,
                operations_of(outcomes),
                remedy=f"{error.remedy} Go on from item {start + 1}, or undo the operations that this names.".strip(),
            ) from error
        if progress is not None:
            progress(start + len(batch), len(drafts))
    return outcomes


def vectors_of(ctx: Context, drafts: Sequence[Draft]) -> list[Vector | None]:
    """Return the vectors of drafts; none where there is no embedder, or it fails, which is told."""
    return _embedded(ctx, drafts, "now") if drafts else []


def _embedded(ctx: Context, drafts: Sequence[Draft], embed: Embed) -> list[Vector | None]:
    nothing: list[Vector | None] = [None] * len(drafts)
    if embed == "later" or ctx.embedder is None:
        return nothing
    try:
        vectors = ctx.embedder.embed([searchable(d.text, d.speaker) for d in drafts], purpose="document")
        ctx.store.add_space(ctx.embedder.space, activate=False)
    except (EmbedderError, SpaceMismatch) as error:
        ctx.warn(f"Stored without vectors, so that only words will find it: {error}")
        return nothing
    return list(vectors)


def _store(
    ctx: Context, drafts: Sequence[Draft], vectors: Sequence[Vector | None], namespace: str, operation: str
) -> list[Outcome]:
    now = ctx.clock()
    known = _known(ctx, drafts, namespace)
    twins = _twins(drafts, known)
    fresh = [i for i in range(len(drafts)) if i not in known and i not in twins]
    done = _revived(ctx, known, namespace)
    found = {r.id: r for r in ctx.store.get(namespace, sorted(set(known.values())))} if known else {}
    if gone := set(known.values()) - set(found):
        raise ConflictError("What was known a moment ago was taken back.", tuple(sorted(gone)), remedy="Try again.")
    newborns = list(_newborns(ctx, [(drafts[i], vectors[i]) for i in fresh], namespace, now))
    stored: dict[int, Record] = {}
    if newborns:
        plan = _born(ctx, newborns, namespace, operation, now)
        stored = dict(zip(fresh, plan[0], strict=True))
        done |= dict.fromkeys((r.id for r in plan[0]), plan[1])
    first = [twins.get(i, i) for i in range(len(drafts))]
    memories = views([stored[i] if i in stored else found[known[i]] for i in first], ctx.policy, now)
    return [Outcome(m, done.pop(m.id, None)) for m in memories]


def _born(
    ctx: Context, newborns: Sequence[Newborn], namespace: str, operation: str, now: Instant
) -> tuple[list[Record], str]:
    """Store new memories in one operation, and return them with its id."""
    plan_id = ctx.ids(now)
    states = newborn_states(newborns, ctx.policy, now)
    born = [record_of(n, s, namespace, plan_id) for n, s in zip(newborns, states, strict=True)]
    space = ctx.embedder.space.name if ctx.embedder is not None and any(n.vector for n in newborns) else None
    plan = birth_plan(
        born,
        newborns,
        plan_id=plan_id,
        operation=operation,
        namespace=namespace,
        at=now,
        policy=ctx.policy,
        space=space,
    )
    ctx.store.apply(plan)
    return born, plan_id


def _known(ctx: Context, drafts: Sequence[Draft], namespace: str) -> dict[int, str]:
    """Return position -> id for drafts that are stored already, by their key or by their words."""
    keys = ctx.store.ids_of_keys(namespace, [d.key for d in drafts if d.key is not None])
    same = _same(ctx, [d for d in drafts if d.kind is not Kind.EPISODE], namespace)
    known: dict[int, str] = {}
    for i, d in enumerate(drafts):
        if d.key is not None and d.key in keys:
            known[i] = keys[d.key]
        elif d.kind is not Kind.EPISODE and _words(d) in same:
            known[i] = same[_words(d)]
    return known


def _twins(drafts: Sequence[Draft], known: Mapping[int, str]) -> dict[int, int]:
    """Return position -> earlier position of the same batch that stands for the same memory, as one by one would."""
    twins: dict[int, int] = {}
    by_key: dict[str, int] = {}
    by_words: dict[tuple[object, ...], int] = {}
    for i, d in enumerate(drafts):
        words = _words(d)
        earlier = by_key.get(d.key) if d.key is not None else None
        if earlier is None and d.kind is not Kind.EPISODE:
            earlier = by_words.get(words)
        if i not in known and earlier is not None:
            twins[i] = earlier
        first = twins.get(i, i)
        if d.key is not None and i not in twins:
            by_key.setdefault(d.key, first)
        by_words.setdefault(words, first)
    return twins


Words = tuple[Kind, str, str | None, str | None, str | None]


def _words(draft: Draft) -> Words:
    """What makes two notes one memory: kind, words, and where they were said. Case and white space do not count."""
    return draft.kind, " ".join(draft.text.split()).casefold(), draft.session, draft.task, draft.speaker


def _same(ctx: Context, drafts: Sequence[Draft], namespace: str) -> dict[Words, str]:
    """Return the memories, the oldest of each, that have the words of these drafts."""
    found: dict[Words, str] = {}
    ids = ctx.store.ids_of_texts(namespace, [d.text for d in drafts]) if drafts else []
    for record in ctx.store.get(namespace, ids):
        if record.state.status in (Status.ACTIVE, Status.ARCHIVED):
            c = record.content
            words = record.state.kind, " ".join(c.text.split()).casefold(), c.session, c.task, c.speaker
            found.setdefault(words, record.id)
    return found


def _newborns(
    ctx: Context, fresh: Sequence[tuple[Draft, Vector | None]], namespace: str, now: Instant
) -> Iterator[Newborn]:
    ids = [ctx.ids(now) for _ in fresh]
    inside = earlier_in_batch(ids, [v for _, v in fresh])
    last: dict[str, int] = {}
    vectors = [v for _, v in fresh if v is not None]
    around = iter(ctx.store.nearest(namespace, vectors, NEAREST) if vectors else ())
    for (draft, vector), identity, earlier in zip(fresh, ids, inside, strict=True):
        stored = next(around) if vector is not None else []
        near = sorted([*stored, *earlier], key=lambda pair: -pair[1])[:NEAREST]
        placed = draft
        if draft.session is not None and draft.turn is None:
            before = last.get(draft.session)
            turn = (ctx.store.last_turn(namespace, draft.session) if before is None else before) + 1
            last[draft.session] = turn
            placed = replace(draft, turn=turn)
        yield Newborn(identity, placed, vector, tuple(near))


def _revived(ctx: Context, known: Mapping[int, str], namespace: str) -> dict[str, str]:
    """Bring back archived memories that were remembered anew, and return memory -> operation."""
    done = {}
    for record in ctx.store.get(namespace, sorted(set(known.values()))) if known else []:
        if record.state.status is Status.ARCHIVED:
            back = decided(ctx, record, "restore", lambda s: restored(s, ctx.policy, ctx.clock()), "remembered again")
            done[record.id] = back.operation or ""
    return done


def unique_in_batch(drafts: Sequence[Draft]) -> list[Draft]:
    """Return drafts with repeated keys left out, the first one kept.

    Raises:
        InvalidInput: One key stands for two different texts.
    """
    seen: dict[str, Draft] = {}
    for draft in drafts:
        if draft.key is None:
            continue
        if draft.key in seen and seen[draft.key].text != draft.text:
            raise InvalidInput(
                f"The idempotency key {draft.key!r} stands for two different texts.",
                remedy="Give each text a key of its own.",
            )
        seen.setdefault(draft.key, draft)
    return [d for d in drafts if d.key is None or seen[d.key] is d]

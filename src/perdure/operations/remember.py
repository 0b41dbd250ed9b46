"""Remembering: drafts in, memories out. The same text or the same key stores nothing twice."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from perdure.operations.affirming import with_changed_links, written_since
from perdure.operations.decisions import begin, write
from perdure.operations.new_memories import insert, make_vectors
from perdure.operations.ports import Context, Progress
from perdure.operations.shown_again import show_again
from perdure.operations.superseding import said_again
from perdure.operations.tombstones import refuse_erased
from perdure.operations.writing import redacted_in, retry, tell_redacted
from perdure.records.digests import same_words
from perdure.records.errors import ConflictError, InvalidInput, PartlyStored, PerdureError
from perdure.records.memory import Draft, Kind, MemoryItem, Record, Status
from perdure.records.outcome import GivenClaim, HandedClaims, Outcome, operations_of
from perdure.records.policy import Policy
from perdure.records.store_rows import Neighbours
from perdure.records.vector import Vector
from perdure.rules.decisions import Decisions
from perdure.rules.insertion import NEAREST
from perdure.rules.last_said import said_at
from perdure.rules.lifecycle.signals import memory_items
from perdure.rules.repeated_words import decide_merge, is_same_text, merge_drafts
from perdure.rules.source_trust import stored_trust
from perdure.rules.validation.inputs import SaidFacts

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
    facts: Mapping[int, SaidFacts] = MappingProxyType({}),
    progress: Progress | None = None,
) -> list[Outcome]:
    """Store drafts, and return what became of each, in the same order.

    Up to 500 drafts are one transaction, all or nothing. Of a longer list each 500 are; if a later one fails,
    PartlyStored says how many are stored. ``facts`` are those that drafts say, by the index of the draft.

    A draft whose idempotency key was used, or (messages and other episodes apart) whose text is known already, returns
    the memory that is there; an archived one is brought back. What is remembered by itself, of known words without a
    known key, adds its tags and metadata, and its importance and pin where they are higher.

    Raises:
        InvalidInput: What is remembered by itself has a key that was used for another text; nothing was stored.
        MemoryErased: It has the key of a memory that was erased; nothing was stored.
    """
    outcomes: list[Outcome] = []
    merge = operation == "remember"  # a text that is taken in says less of known words than who remembers
    if merge and len(drafts) > BATCH:  # a single transaction checks its keys itself
        _check_all_keys(ctx, drafts, namespace)
    in_facts = [name for claims, _ in facts.values() for name in redacted_in(claims)]
    tell_redacted(ctx, [*(name for draft in drafts for name in draft.redacted), *in_facts])
    for start in range(0, len(drafts), BATCH):
        batch = drafts[start : start + BATCH]
        embedded = _vectors(ctx, batch, embed) if vectors is None else vectors[start : start + BATCH]
        batch_facts = {i - start: facts[i] for i in range(start, start + len(batch)) if i in facts}
        store = _Batch(batch, embedded, namespace, operation, merge, batch_facts, start, len(drafts))
        try:
            outcomes += retry(lambda store=store: _store(ctx, store))  # type: ignore[misc]  # bound now
        except PerdureError as error:
            if start == 0:
                raise
            raise PartlyStored(
                f"{start} of {len(drafts)} items were stored, then: {error.message}",
                start,
                operations_of(outcomes),
                remedy=f"{error.remedy} Continue with item {start + 1}, or undo the operations of this error.".strip(),
            ) from error
        if progress is not None:
            progress(start + len(batch), len(drafts))
    return outcomes


def _vectors(ctx: Context, drafts: Sequence[Draft], embed: Embed) -> Sequence[Vector | None]:
    return make_vectors(ctx, drafts) if embed == "now" else [None] * len(drafts)


class _Batch(NamedTuple):
    """What is stored in one transaction: drafts, the facts of some of them by index, and where it is in the list."""

    drafts: Sequence[Draft]
    vectors: Sequence[Vector | None]
    namespace: str
    operation: str
    merge: bool  # whether known words take over labels
    facts: Mapping[int, SaidFacts]
    offset: int  # items before it
    total: int  # items of the whole list


def _store(ctx: Context, batch: _Batch) -> list[Outcome]:
    decisions = begin(ctx, batch.namespace, ctx.clock())
    repeated = _repeated_drafts(ctx, batch)
    ids = store_drafts(
        *(ctx, decisions, batch.drafts, batch.vectors), merge=batch.merge, offset=batch.offset, total=batch.total
    )
    changed = decisions.changed_ids | decisions.keyed
    note = f"{batch.operation}: {len(changed)} {'memory' if len(changed) == 1 else 'memories'}"
    handed = [
        replace(handed_claims(decisions, ids[i], *claims), item=batch.offset + i + 1)
        for i, claims in batch.facts.items()
        if i not in repeated
    ]
    if handed:
        ctx.extension.take(ctx, decisions, handed)
    if decisions.changed_ids | decisions.keyed != changed:
        changed |= {one.memory for one in handed if one.memory is not None}
    written = write(ctx, decisions, batch.operation, note)
    memories = memory_items([decisions.result(identity) for identity in ids], ctx.policy, decisions.now)
    return [with_changed_links(one, decisions) for one in _outcomes(memories, changed, written)]


def _repeated_drafts(ctx: Context, batch: _Batch) -> set[int]:
    """Return the indexes of drafts with facts whose key was used before: what they say was written down then."""
    keys = {i: key for i in batch.facts if (key := batch.drafts[i].key) is not None}
    used = set(ctx.store.ids_of_keys(batch.namespace, list(keys.values()))) if keys else set()
    indexes = set()
    for i, key in keys.items():
        if key in used:
            indexes.add(i)
        used.add(key)
    return indexes


def handed_claims(
    decisions: Decisions, memory: str, claims: tuple[GivenClaim, ...], confidence: float | None
) -> HandedClaims:
    """Return claims with what is known of the memory that says them.

    They were said when it was: with a new memory on its day, with known words now, or when these count as said again.
    """
    record, before = decisions.record(memory), decisions.records[memory]
    content, at, said = record.content, decisions.now, said_at(record.state)
    is_said = record.op == decisions.plan_id or said > said_at(before.state)
    return HandedClaims(
        claims,
        memory,
        content.text,
        min(said, at) if is_said else at,
        stored_trust(content.metadata),
        record.state.scope,
        content.session,
        content.speaker,
        confidence,
    )


def store_drafts(
    ctx: Context,
    decisions: Decisions,
    drafts: Sequence[Draft],
    vectors: Sequence[Vector | None],
    *,
    merge: bool,
    ignored_id: str = "",
    offset: int = 0,
    total: int = 1,
) -> list[str]:
    """Decide what becomes of drafts: known ones are shown again, new ones are stored; return the memory of each.

    Args:
        ctx: The store, and more.
        decisions: What is decided is added to them.
        drafts: What is stored.
        vectors: Of each draft, where it has one.
        merge: Whether known words take over labels, and a known key with another text is refused.
        ignored_id: A memory whose words do not count as known.
        offset: How many items of a list came before the drafts, for errors.
        total: How many items the list has.

    Raises:
        InvalidInput: A key was used for another text.
        MemoryErased: A key is one of a memory that was erased.
    """
    by_key, by_words, near = _find_known(ctx, drafts, vectors, decisions.namespace, ignored_id)
    existing = {**by_key, **by_words}
    _admit(ctx, decisions, existing.values())
    if merge:
        texts = {str(drafts[i].key): decisions.records[known].content.text for i, known in by_key.items()}
        check_keys(drafts, texts, offset, total)
        refuse_erased(ctx, decisions.namespace, drafts, offset, total)
    for identity in existing.values():
        show_again(ctx, decisions, identity)
    duplicates = _duplicates(drafts, existing)
    fresh = {i: draft for i, draft in enumerate(drafts) if i not in existing and i not in duplicates}
    if merge:
        known = [(identity, drafts[i]) for i, identity in by_words.items()]
        _remembered_again(ctx, decisions, known, with_others=bool(fresh))
        _merge_duplicates(fresh, drafts, duplicates, ctx.policy)
    new = _with_turns(ctx, list(fresh.values()), decisions.namespace)
    stored = insert(ctx, decisions, new, vectors=[vectors[i] for i in fresh], near=near)
    ids = {**existing, **dict(zip(fresh, (record.id for record in stored), strict=True))}
    stand = [ids[duplicates.get(i, i)] for i in range(len(drafts))]
    if merge:
        own = {(ids[i], draft.key) for i, draft in fresh.items()}
        _keep_keys(decisions, drafts, stand, own | {(identity, drafts[i].key) for i, identity in by_key.items()})
    return stand


def _remembered_again(
    ctx: Context, decisions: Decisions, known: Sequence[tuple[str, Draft]], *, with_others: bool
) -> None:
    """Decide what memories take over from drafts of the same words, and what they make untrue in turn.

    ``with_others`` says that new ones are stored beside them.
    """
    records = [decisions.records[identity] for identity, _ in known]
    is_news = bool(known) and (with_others or written_since(ctx, decisions.namespace, records))
    for identity, draft in known:
        decide_merge(decisions, identity, draft, is_news=is_news)
    for identity, at in {identity: draft.at for identity, draft in sorted(known, key=lambda one: one[1].at)}.items():
        links = said_again(ctx, decisions.namespace, identity, at)
        decisions.add(links.changes)
        decisions.changed_links[identity] = links.removed, links.turned


def _keep_keys(
    decisions: Decisions, drafts: Sequence[Draft], stand: Sequence[str], known: Collection[tuple[str, str | None]]
) -> None:
    """Keep the keys of drafts with the memories that stand for them, where they are not known already."""
    for identity, draft in zip(stand, drafts, strict=True):
        if draft.key is not None and (identity, draft.key) not in known:
            decisions.add_key(identity, draft.key)


def check_keys(drafts: Sequence[Draft], known: Mapping[str, str], offset: int = 0, total: int = 1) -> None:
    """Check that each key stands for one text; case and white space do not count.

    Args:
        drafts: What is to be remembered.
        known: The texts that were remembered with keys.
        offset: How many items of a list came before the drafts, for errors.
        total: How many items the list has.

    Raises:
        InvalidInput: A key is one of another text, of a memory or of an earlier draft.
    """
    texts = dict(known)
    for position, draft in enumerate(drafts, offset + 1):
        if draft.key is None or is_same_text(texts.setdefault(draft.key, draft.text), draft.text):
            continue
        where = f"Item {position}: " if total > 1 else ""
        raise InvalidInput(
            f"{where}The idempotency key {draft.key!r} was used for another text.",
            remedy="Use a key of its own for each text.",
        )


def _check_all_keys(ctx: Context, drafts: Sequence[Draft], namespace: str) -> None:
    """Check the keys of a list of several transactions before the first of them."""
    check_keys(drafts, _texts_of_keys(ctx, drafts, namespace), total=len(drafts))
    refuse_erased(ctx, namespace, drafts, total=len(drafts))


def _texts_of_keys(ctx: Context, drafts: Sequence[Draft], namespace: str) -> dict[str, str]:
    """Return key -> the text that was remembered with it, for those keys of drafts that were used."""
    ids = ctx.store.ids_of_keys(namespace, [draft.key for draft in drafts if draft.key is not None])
    texts = {record.id: record.content.text for record in ctx.store.get(namespace, sorted(ids.values()))} if ids else {}
    return {key: texts[identity] for key, identity in ids.items() if identity in texts}


def _merge_duplicates(
    fresh: dict[int, Draft], drafts: Sequence[Draft], duplicates: Mapping[int, int], policy: Policy
) -> None:
    """Let new drafts take over what later ones of the same words say, but for those that only repeat a key."""
    for i, first in duplicates.items():
        repeated = drafts[i].key is not None and drafts[i].key == drafts[first].key
        if first in fresh and not repeated:
            fresh[first] = merge_drafts(fresh[first], drafts[i], policy)


def _outcomes(memories: Sequence[MemoryItem], changed: Collection[str], operation: str | None) -> list[Outcome]:
    """Return what became of each draft; of several that are one memory the first one did it."""
    pending = set(changed)
    outcomes = []
    for memory in memories:
        outcomes.append(Outcome(memory, operation if memory.id in pending else None))
        pending.discard(memory.id)
    return outcomes


def _admit(ctx: Context, decisions: Decisions, ids: Iterable[str]) -> None:
    wanted = sorted(set(ids))
    decisions.admit(ctx.store.get(decisions.namespace, wanted) if wanted else ())
    if missing := tuple(i for i in wanted if i not in decisions.records):
        raise ConflictError("The memory was removed by an undo just now.", missing, remedy="Try again.")


def _find_known(
    ctx: Context, drafts: Sequence[Draft], vectors: Sequence[Vector | None], namespace: str, excluded: str
) -> tuple[dict[int, str], dict[int, str], Neighbours | None]:
    """Return position -> id of drafts that are stored already: those with a known key, and others of known words.

    With the words of a single draft its neighbours are read, which it most likely needs: that saves a server's answer.
    """
    keys = ctx.store.ids_of_keys(namespace, [d.key for d in drafts if d.key is not None])
    by_key = {i: keys[d.key] for i, d in enumerate(drafts) if d.key is not None and d.key in keys}
    worded = {i: d for i, d in enumerate(drafts) if i not in by_key and d.kind is not Kind.EPISODE}
    near, vector = None, vectors[0] if len(drafts) == len(worded) == 1 else None
    if vector is not None:
        ids, near = ctx.store.known_and_near(namespace, worded[0].text, vector, NEAREST)
    else:
        ids = ctx.store.ids_of_texts(namespace, [d.text for d in worded.values()]) if worded else []
    same = _by_words(ctx.store.get(namespace, ids), excluded) if ids else {}
    found = {i: same.get(_words(d)) for i, d in worded.items()} if same else {}
    return by_key, {i: identity for i, identity in found.items() if identity is not None}, near


def _duplicates(drafts: Sequence[Draft], existing: Mapping[int, str]) -> dict[int, int]:
    """Return position -> earlier position of the same batch that stands for the same memory, as one by one would."""
    duplicates: dict[int, int] = {}
    by_key: dict[str, int] = {}
    by_words: dict[tuple[object, ...], int] = {}
    for i, d in enumerate(drafts):
        words = _words(d)
        earlier = by_key.get(d.key) if d.key is not None else None
        if earlier is None and d.kind is not Kind.EPISODE:
            earlier = by_words.get(words)
        if i not in existing and earlier is not None:
            duplicates[i] = earlier
        first = duplicates.get(i, i)
        if d.key is not None and i not in duplicates:
            by_key.setdefault(d.key, first)
        by_words.setdefault(words, first)
    return duplicates


Words = tuple[Kind, str, str | None, str | None, str | None]


def _words(draft: Draft) -> Words:
    """What makes two notes one memory: kind, words as ``same_words`` has them, and where they were said."""
    return draft.kind, same_words(draft.text), draft.session, draft.task, draft.speaker


def _by_words(records: Sequence[Record], excluded: str) -> dict[Words, str]:
    """Return words -> the first of some memories, oldest first, that has them."""
    found: dict[Words, str] = {}
    for record in records:
        if record.state.status in (Status.ACTIVE, Status.ARCHIVED) and record.id != excluded:
            c = record.content
            words = record.state.kind, same_words(c.text), c.session, c.task, c.speaker
            found.setdefault(words, record.id)
    return found


def _with_turns(ctx: Context, drafts: Sequence[Draft], namespace: str) -> list[Draft]:
    """Return drafts with their places in their sessions, after what was said there before."""
    last: dict[str, int] = {}
    placed = []
    for draft in drafts:
        if draft.session is not None and draft.turn is None:
            before = last.get(draft.session)
            turn = (ctx.store.last_turn(namespace, draft.session) if before is None else before) + 1
            last[draft.session] = turn
            placed.append(replace(draft, turn=turn))
        else:
            placed.append(draft)
    return placed


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
                f"The idempotency key {draft.key!r} is used for two different texts.",
                remedy="Use a different key for each text.",
            )
        seen.setdefault(draft.key, draft)
    return [d for d in drafts if d.key is None or seen[d.key] is d]

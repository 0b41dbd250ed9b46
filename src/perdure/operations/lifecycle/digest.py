"""MEMORY.md: the memories kept in view, chosen within a budget. Reading them is no access."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from perdure.operations.extract import NoteDestination
from perdure.operations.intact import intact_records
from perdure.operations.lifecycle.compression import join_lines
from perdure.operations.lifecycle.review import left_today, review
from perdure.operations.ports import Context
from perdure.operations.superseding import judges_statements, likely_superseded, resting_on
from perdure.records.instant import HOUR_MS, day_at
from perdure.records.memory import SUPERSEDES, Kind, MemoryItem, Status
from perdure.records.recall import Filters, Query
from perdure.records.report import Digest
from perdure.records.signal_results import Question
from perdure.rules.language.replaced_values import replaced_values
from perdure.rules.language.tokens import estimate_tokens
from perdure.rules.language.words import query_words
from perdure.rules.last_said import said_at
from perdure.rules.lifecycle.digest import Candidates, build_digest, choose_entries
from perdure.rules.lifecycle.ended_memories import has_ended
from perdure.rules.lifecycle.said_already import latest_sayings, may_stand_for, noted_ids
from perdure.rules.lifecycle.signals import memory_items, whole_memory_items

CONSIDERED: Final = 2000
_line_tokens: Final = lru_cache(maxsize=4096)(estimate_tokens)
"""Most lines of a file that is rewritten are as they were."""
_QUESTIONS: Final = 50
_KEPT_LISTS: Final = 64  # of so many namespaces it is kept which memories have a line
_ALIKE: Final = 20  # so many memories with words of one are looked at for one that says what it says


def digest(
    ctx: Context,
    namespace: str,
    *,
    budget_tokens: int | None = None,
    profile: str | None = None,
    inside: str | None = None,
    brief: bool = False,
    asking: str = "",
) -> Digest:
    """Return the digest of a namespace, with ``asking`` above its questions; a brief one is for a session's start."""
    selection = choose_entries(
        replace(candidates(ctx, namespace, inside, brief=brief), asking=asking),
        ctx.policy,
        tokens=_line_tokens,
        namespace=namespace,
        budget_tokens=budget_tokens,
        profile=profile,
    )
    return build_digest(selection if brief else replace(selection, entries=join_lines(ctx, selection.entries)))


def shown_instead(ctx: Context, memory: MemoryItem) -> MemoryItem | None:
    """Return the memory whose line in MEMORY.md says what another one says, if that one has no line for its sake."""
    if memory.status is not Status.ACTIVE or memory.pinned or not (words := query_words(memory.content)):
        return None
    pool = ctx.store.search(
        memory.namespace, Query(" ".join(words), words), Filters(isolated=True), ctx.policy.recall.for_limit(_ALIKE)
    )
    records = ctx.store.get(memory.namespace, [i for i in pool.columns.ids if i != memory.id])
    alike = memory_items(intact_records(records), ctx.policy, ctx.clock(), ctx.counted)
    others = [m for m in alike if may_stand_for(m, memory)]
    if not others:
        return None
    listed = _listed_ids(ctx, memory.namespace)
    return None if memory.id in listed else next((m for m in others if m.id in listed), None)


def _listed_ids(ctx: Context, namespace: str) -> frozenset[str]:
    """Return the memories that have a line in MEMORY.md, as of an hour ago at most where nothing was written since.

    Choosing them takes all that a digest considers, as writing the file does.
    """
    written = ctx.store.operations(namespace, 1)
    seen = (written[0].id if written else "", ctx.clock() // HOUR_MS)
    known, listed = ctx.listed.get(namespace, (None, frozenset[str]()))
    if known != seen:
        shown = choose_entries(
            candidates(ctx, namespace),
            ctx.policy,
            tokens=_line_tokens,
            namespace=namespace,
            budget_tokens=None,
            profile=None,
        )
        listed = frozenset(entry.memory.id for entry in shown.entries)
        if len(ctx.listed) >= _KEPT_LISTS:
            ctx.listed.clear()
        ctx.listed[namespace] = seen, listed
    return listed


def write_summary(ctx: Context, namespace: str) -> str:
    """Keep up the file that the policy names, if it is this namespace's; return what became of it, for people."""
    if ctx.summary is None or namespace != ctx.policy.digest.namespace:
        return ""
    written = ctx.summary.write(digest(ctx, namespace).text, namespace=namespace)
    return f"{ctx.policy.digest.file} {'was written' if written else 'is up to date'}"


def candidates(ctx: Context, namespace: str, inside: str | None = None, *, brief: bool = False) -> Candidates:
    """Return what a digest may show: visible memories with their whole texts, without what is known to be over."""
    records = ctx.store.records_by_tier(namespace, Filters(isolated=True, inside=inside), CONSIDERED)
    considered = whole_memory_items(intact_records(records), ctx.policy, ctx.clock())
    outdated = ctx.extension.outdated_memories(ctx, namespace, considered)
    replaced = _replaced_ids(ctx, namespace, considered)
    today = day_at(ctx.clock(), ctx.policy.days.tz)
    hidden = outdated.hidden | replaced | {m.id for m in considered if has_ended(m, today)}
    # What is pinned is a person's to unpin.
    memories = latest_sayings([m for m in considered if m.pinned or m.id not in hidden])
    noted, sources = _facts_to_doubt(ctx, namespace, considered)
    noted = [m for m in noted if m.id in outdated.hidden]
    vectors = ctx.store.vectors(namespace, [m.id for m in (*memories, *noted)])
    year = today.year if brief else None
    questions = _questions(ctx, namespace, inside, brief=brief)
    superseded = likely_superseded(ctx, namespace, [m.id for m in memories])
    found = Candidates(memories, vectors, questions, not brief, year, over=outdated.over, superseded=superseded)
    return replace(found, by_number=not judges_statements(ctx), noted=noted, sources=sources, today=today)


def _facts_to_doubt(
    ctx: Context, namespace: str, memories: Sequence[MemoryItem]
) -> tuple[list[MemoryItem], dict[str, set[str]]]:
    """Return the facts among memories, and which of the others say them, where one names a value as replaced."""
    facts = [m for m in memories if m.kind is Kind.FACT]
    if not facts or not any(replaced_values(m.content) for m in memories if m.kind is not Kind.FACT):
        return [], {}
    ids, known = [m.id for m in facts], {m.id for m in memories}
    resting = resting_on(ctx.store.links_at(namespace, ids), ids)
    return facts, {fact: in_view for fact, some in resting.items() if (in_view := some & known)}


def _replaced_ids(ctx: Context, namespace: str, memories: Sequence[MemoryItem]) -> set[str]:
    """Return the messages that say what a note said that has been updated since: nobody updates the messages, too."""
    since = {m.id: said_at(m.state) for m in memories if m.kind is Kind.NOTE}
    new = list(since)
    while new:  # an updated note may have been updated again
        links = ctx.store.links_at(namespace, new)
        older = {other: since[i] for i, kind, other in links if kind == SUPERSEDES and i in since}
        new = [i for i in older if i not in since]
        since |= {i: older[i] for i in new}
    notes = ctx.store.get(namespace, sorted(since.keys() - {m.id for m in memories}))
    return noted_ids(memories, [(r.content.text, since[r.id]) for r in notes if r.state.kind is Kind.NOTE])


def _questions(ctx: Context, namespace: str, inside: str | None, *, brief: bool) -> list[Question]:
    """Return what a person should be asked: of what may be seen here, as much as today allows.

    Whether an old fact is still so is asked where somebody can answer; a file has what is contested or doubted.
    """
    questions = review(ctx, namespace, _QUESTIONS)
    records = {r.id: r for r in ctx.store.get(namespace, [q.id for q in questions])} if questions else {}
    place = NoteDestination(namespace, inside)
    visible = [q for q in questions if q.id in records and place.sees(records[q.id])]
    visible = [q for q in visible if brief or q.against or records[q.id].state.kind is not Kind.FACT]
    return visible[: left_today(ctx, namespace)] if visible else []

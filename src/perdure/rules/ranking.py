"""From a pool to an answer: order, the bounded part of the signals, twins behind, or nothing known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from perdure.formulas.fusion import Ints, context_parts, dated_parts, fuse
from perdure.formulas.relevance import answer_chance, hit_chances
from perdure.records.instant import DAY_MS, Instant
from perdure.records.memory import MemoryItem
from perdure.records.policy_recall import RecallPolicy
from perdure.records.recall import Candidate, Hit, Pool, Query, Ranked
from perdure.records.vector import Vector
from perdure.rules.language.dates import periods_in
from perdure.rules.language.words import has_name, is_named, may_answer, people_named
from perdure.rules.meaning_guard import anchors

OWN: Final = ("meaning", "words", "neighbour")


def why_nothing_known(pool: Pool, policy: RecallPolicy) -> str:
    """Return why nothing stored is related to the query; empty if something is."""
    if not pool.candidates:
        return "no memory that passes the filters shares a word or meaning with the query"
    words = f"the best memory has {pool.most_words} of the query's words ({pool.coverage:.0%} by rarity)"
    chance = pool_chance(pool)
    # In a small store nearly every word is common, so the weights by rarity say little: two words are enough there.
    if chance >= policy.answer_chance or (pool.best_cosine is None and pool.most_words > 1):
        return ""
    unknown = f", {pool.unknown_names:.0%} of its names are in no memory" if pool.unknown_names else ""
    best = "only words were searched" if pool.best_cosine is None else f"the best cosine is {pool.best_cosine:.2f}"
    return (
        f"the chance that one of {pool.compared:,} memories answers is {chance:.0%}, below {policy.answer_chance:.0%}: "
        f"{best}, {words}{unknown}"
    )


def pool_chance(pool: Pool) -> float:
    """Return the chance that what a search brought up answers the query, 0 to 1."""
    return answer_chance(pool.best_cosine, pool.coverage, pool.unknown, pool.unknown_names, pool.compared)


def with_relevance(order: Sequence[Ranked], pool: Pool) -> list[Ranked]:
    """Return ranked candidates, best first, each with the chance that it answers the query."""
    cosines = None if pool.best_cosine is None else np.array([entry.cosine or 0.0 for entry in order])
    words = np.array([entry.parts.get("words", 0.0) for entry in order])
    chances = pool_chance(pool) * hit_chances(np.array([e.score for e in order]), cosines, words, pool.coverage)
    return [entry._replace(relevance=chance) for entry, chance in zip(order, chances.tolist(), strict=True)]


def rank_candidates(pool: Pool, query: Query, policy: RecallPolicy, asked_at: Instant) -> list[Ranked]:
    """Return the candidates in the order of relevance, best first."""
    candidates = pool.candidates
    if not candidates:
        return []
    cosine = np.array([np.nan if c.cosine is None else c.cosine for c in candidates]) if pool.vectors else None
    bm25, share = np.array([c.bm25 for c in candidates]), policy.words_share(pool.coverage)
    dense, lexical = fuse(cosine, bm25, share, policy.cosine_anchor)
    previous, following, session = _places(candidates)
    names = people_named(query.text)
    speakers = {s for s in {c.speaker for c in candidates} if is_named(s, names)}
    asked = [candidates[p] if p >= 0 else None for p in previous.tolist()]
    context = context_parts(
        dense + lexical,
        previous,
        following,
        session,
        answers=np.array([_answers(c, before) for c, before in zip(candidates, asked, strict=True)], dtype=np.bool_),
        named=np.array([c.speaker in speakers for c in candidates], dtype=np.bool_),
        weight=policy.answer,
    )
    tells = np.array([1.0 - policy.asking * (c.asks and has_name(c.speaker)) for c in candidates])
    parts = {"meaning": dense * tells, "words": lexical * tells}
    parts |= {name: getattr(policy, name) * values for name, values in context.items()}
    if periods := periods_in(query.text, asked_at):
        days = np.array([c.said_at for c in candidates]) / DAY_MS
        parts["dated"] = policy.dated * dated_parts(days, [(p.start / DAY_MS, p.end / DAY_MS) for p in periods])
    total = np.sum(list(parts.values()), axis=0)
    names_of, columns = tuple(parts), zip(*(values.tolist() for values in parts.values()), strict=True)
    kept = [{n: v for n, v in zip(names_of, row, strict=True) if v} for row in columns]
    return [
        Ranked(candidates[i].id, float(total[i]), kept[i], candidates[i].cosine)
        for i in np.argsort(-total, kind="stable").tolist()
    ]


def drop_unrelated(order: Sequence[Ranked], policy: RecallPolicy) -> list[Ranked]:
    """Return the candidates that are related to the query at all: an answer is not padded to its limit.

    What counts is a memory's own likeness and that of the turns beside it. Its session or its speaker alone does not
    make it an answer.
    """
    if not order:
        return []
    own = [sum(entry.parts.get(name, 0.0) for name in OWN) for entry in order]
    least = max(policy.hit_share * max(own), np.finfo(np.float64).tiny)
    return [entry for entry, likeness in zip(order, own, strict=True) if likeness >= least]


def _places(candidates: Sequence[Candidate]) -> tuple[Ints, Ints, Ints]:
    """Return the index of the previous and of the next turn, (-1 for none), and session numbers."""
    turns = {(c.session, c.turn): i for i, c in enumerate(candidates) if c.session is not None and c.turn is not None}
    sessions: dict[tuple[str | None, str], int] = {}
    previous, following, session = [], [], []
    for c in candidates:
        at = -2 if c.session is None or c.turn is None else c.turn  # no turn is next to -2
        previous.append(turns.get((c.session or "", at - 1), -1))
        following.append(turns.get((c.session or "", at + 1), -1))
        # What belongs to no session is one of its own, or notes and facts would lose to any chat.
        session.append(sessions.setdefault((c.session, "" if c.session is not None else c.id), len(sessions)))
    return np.array(previous), np.array(following), np.array(session)


def _answers(candidate: Candidate, before: Candidate | None) -> bool:
    return before is not None and before.asks and before.speaker != candidate.speaker and may_answer(candidate.speaker)


def with_signals(entry: Ranked, memory: MemoryItem, policy: RecallPolicy) -> Hit:
    """Return a hit: relevance plus the small, bounded part of importance and confidence."""
    extra = policy.signals * (memory.importance + memory.confidence) / 2.0
    parts = {**entry.parts, "signals": extra} if extra else dict(entry.parts)
    return Hit(memory, sum(parts.values()), parts, entry.cosine, entry.relevance)


def diversify(
    hits: Sequence[Hit],
    vectors: Mapping[str, Vector],
    limit: int,
    policy: RecallPolicy,
    sources: Mapping[str, frozenset[str]] = MappingProxyType({}),
) -> list[Hit]:
    """Return the best of hits, at most so many; one that repeats a better one goes behind the others.

    The same sentence with another number, date or name, or with a "not" more, repeats nothing.

    ``vectors`` has the vectors by id of those that have one, ``sources`` for each fact the messages that say it: a fact
    and its message say the same.
    """
    chosen: list[Hit] = []
    later: list[Hit] = []
    seen: list[MemoryItem] = []
    matrix: list[NDArray[np.float32]] = []
    texts: set[str] = set()
    told: set[str] = set()
    for hit in hits:
        vector = np.frombuffer(vectors[hit.memory.id], "<f4") if hit.memory.id in vectors else None
        near = np.vstack(matrix) @ vector >= policy.duplicate_cosine if matrix and vector is not None else ()
        repeats = any(_same_anchors(hit.memory, seen[at]) for at in np.flatnonzero(near))
        own = sources.get(hit.memory.id, frozenset())
        # An ageing fact stays: it brings a question with it.
        is_told = hit.memory.id in told or (bool(own & {h.memory.id for h in chosen}) and not hit.memory.aging)
        if repeats or hit.memory.content in texts or is_told:
            later.append(hit)
            continue
        chosen.append(hit)
        texts.add(hit.memory.content)
        told |= own
        if vector is not None:
            seen.append(hit.memory)
            matrix.append(vector)
        if len(chosen) == limit:
            break
    return (chosen + later)[:limit]


def _same_anchors(one: MemoryItem, other: MemoryItem) -> bool:
    """Return whether two texts that mean nearly the same give the same numbers, dates and names, and deny the same."""
    a, b = anchors(one.content), anchors(other.content)
    return (
        set(a.numbers) == set(b.numbers)
        and set(a.dates) == set(b.dates)
        and set(a.names) == set(b.names)
        and len(a.negations) == len(b.negations)
    )

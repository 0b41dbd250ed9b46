"""From a pool to an answer: order, the bounded part of the signals, near-duplicates behind, or nothing known."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, tzinfo
from types import MappingProxyType
from typing import Final, overload

import numpy as np

from perdure.formulas.curve import Array
from perdure.formulas.fusion import Bools, Ints, context_parts, dated_parts, fuse
from perdure.formulas.relevance import answer_chance, hit_chances
from perdure.records.instant import DAY_MS, Instant
from perdure.records.maker import maker_of
from perdure.records.memory import MemoryItem
from perdure.records.policy_recall import RecallPolicy
from perdure.records.recall import CandidateColumns, Hit, Pool, Query, RankedCandidate
from perdure.records.vector import Vector
from perdure.rules.language.dates import periods_in
from perdure.rules.language.words import has_name, is_named, may_answer, people_named
from perdure.rules.meaning_guard import anchors

OWN: Final = ("semantic", "keyword", "neighbour")
_STRICTER: Final = 2.5
"""So much stricter is a cut where the best candidate agrees with the query in words and in meaning (decision 60)."""


@dataclass(frozen=True, slots=True)
class Ranking(Sequence[RankedCandidate]):
    """Candidates, best first, as columns of shape [n]; an entry is made where one is looked at."""

    ids: Sequence[str]
    scores: Array
    parts: Mapping[str, Array]
    cosines: Array  # with the query; NaN where there is no vector
    relevance: Array

    @classmethod
    def of(cls, order: Sequence[RankedCandidate]) -> Ranking:
        """Return entries, best first, as columns."""
        names = dict.fromkeys(name for entry in order for name in entry.parts)
        return cls(
            [entry.id for entry in order],
            np.array([entry.score for entry in order]),
            {name: np.array([entry.parts.get(name, 0.0) for entry in order]) for name in names},
            np.array([entry.cosine for entry in order], np.float64),  # None is NaN
            np.array([entry.relevance for entry in order]),
        )

    def take(self, places: Ints) -> Ranking:
        """Return the entries at some places, in their order."""
        return Ranking(
            [self.ids[i] for i in places.tolist()],
            self.scores[places],
            {name: values[places] for name, values in self.parts.items()},
            self.cosines[places],
            self.relevance[places],
        )

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.ids)

    def __iter__(self) -> Iterator[RankedCandidate]:
        """Yield all entries; one by one they would cost three times as much."""
        names = list(self.parts)
        columns = zip(*(values.tolist() for values in self.parts.values()), strict=True) if names else [()] * len(self)
        numbers = zip(self.scores.tolist(), self.cosines.tolist(), self.relevance.tolist(), strict=True)
        for identity, values, (score, cosine, chance) in zip(self.ids, columns, numbers, strict=True):
            parts = {name: value for name, value in zip(names, values, strict=True) if value}
            yield RankedCandidate(identity, score, parts, None if cosine != cosine else cosine, chance)  # noqa: PLR0124  # NaN

    @overload
    def __getitem__(self, at: int) -> RankedCandidate: ...
    @overload
    def __getitem__(self, at: slice) -> Ranking: ...
    def __getitem__(self, at: int | slice) -> RankedCandidate | Ranking:
        """Return an entry, or those of a part."""
        if isinstance(at, slice):
            return self.take(np.arange(len(self))[at])
        cosine = float(self.cosines[at])
        parts = {name: value for name, values in self.parts.items() if (value := float(values[at]))}
        score, chance = float(self.scores[at]), float(self.relevance[at])
        return RankedCandidate(self.ids[at], score, parts, None if math.isnan(cosine) else cosine, chance)


def why_nothing_known(pool: Pool, policy: RecallPolicy) -> str:
    """Return why nothing stored is related to the query; empty if something is."""
    if not pool.columns.ids:
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


def with_relevance(order: Ranking, pool: Pool) -> Ranking:
    """Return ranked candidates, best first, each with the chance that it answers the query."""
    cosines = None if pool.best_cosine is None else np.where(np.isnan(order.cosines), 0.0, order.cosines)
    words = order.parts.get("keyword", np.zeros(len(order)))
    chances = pool_chance(pool) * hit_chances(order.scores, cosines, words, pool.coverage)
    return replace(order, relevance=chances)


def rank_candidates(
    pool: Pool, query: Query, policy: RecallPolicy, asked_at: Instant, zone: tzinfo | None = UTC
) -> Ranking:
    """Return the candidates best first, each with the chance that it answers the query; days are those of a zone."""
    columns = pool.columns
    if not columns.ids:
        return Ranking.of([])
    cosines = np.array(columns.cosines, np.float64)  # None is NaN
    bm25, share = np.array(columns.bm25), policy.words_share(pool.coverage)
    dense, lexical = fuse(cosines if pool.vectors else None, bm25, share, policy.cosine_anchor)
    previous, following, session = _places(columns)
    names, asks, speakers = people_named(query.text), np.array(columns.asks, dtype=np.bool_), _Speakers(columns)
    context = context_parts(
        dense + lexical,
        previous,
        following,
        session,
        answers=speakers.answers_other_speaker(asks, previous),
        named=speakers.speakers_passing(lambda speaker: is_named(speaker, names)),
        weight=policy.answer,
    )
    tells = 1.0 - policy.asking * (asks & speakers.speakers_passing(has_name))
    parts = {"semantic": dense * tells, "keyword": lexical * tells}
    weights = {"neighbour": policy.neighbour, "session": policy.session, "named": policy.named}
    parts |= {name: weights[name] * values for name, values in context.items()}
    if periods := periods_in(query.text, asked_at, zone):
        days = np.array(columns.said_at) / DAY_MS
        parts["dated"] = policy.dated * dated_parts(days, [(p.start / DAY_MS, p.end / DAY_MS) for p in periods])
    total = sum(parts.values(), start=np.zeros(len(bm25)))
    unordered = Ranking(columns.ids, total, parts, cosines, np.zeros(len(total)))
    return with_relevance(unordered.take(np.argsort(-total, kind="stable")), pool)


def drop_unrelated(order: Ranking, policy: RecallPolicy) -> Ranking:
    """Return the candidates that are related to the query at all: an answer is not padded to its limit.

    What counts is a memory's own likeness and that of the turns beside it. Its session or its speaker alone does not
    make it an answer.
    """
    if not len(order):
        return order
    own = _own(order)
    least = max(least_share(order, policy) * float(own.max()), np.finfo(np.float64).tiny)
    return order.take(np.flatnonzero(own >= least))


def least_share(order: Ranking, policy: RecallPolicy) -> float:
    """Return the share of the best likeness that a candidate must have.

    It is ``hit_share``, and up to twice that where the best one is likely to answer and agrees with the query in words
    and in meaning: what is far below such a one is seldom an answer. Where words alone or meaning alone speak for it,
    others may answer as well.
    """
    best = int(np.argmax(_own(order)))
    agreed = min(float(order.parts[name][best]) if name in order.parts else 0.0 for name in ("semantic", "keyword"))
    return min(1.0, policy.hit_share * (1.0 + _STRICTER * agreed * float(order.relevance[best])))


def _own(order: Ranking) -> Array:
    """Return each candidate's own likeness and that of the turns beside it."""
    return sum((order.parts[name] for name in OWN if name in order.parts), np.zeros(len(order)))


def _places(columns: CandidateColumns) -> tuple[Ints, Ints, Ints]:
    """Return the index of the previous and of the next turn, (-1 for none), and session numbers."""
    # What belongs to no session is one of its own, or notes and facts would lose to any chat.
    first: dict[str | None, int] = {}
    session = [i if name is None else first.setdefault(name, i) for i, name in enumerate(columns.sessions)]
    places = [None if t is None or s is None else (s, t) for s, t in zip(columns.sessions, columns.turns, strict=True)]
    at = {place: i for i, place in enumerate(places)}
    previous = [-1 if place is None else at.get((place[0], place[1] - 1), -1) for place in places]
    following = [-1 if place is None else at.get((place[0], place[1] + 1), -1) for place in places]
    return np.array(previous), np.array(following), np.array(session)


class _Speakers:
    """Who said each candidate, as numbers."""

    def __init__(self, columns: CandidateColumns) -> None:
        self._names = list(dict.fromkeys(columns.speakers))
        numbers = {name: number for number, name in enumerate(self._names)}
        self._of = np.array([*map(numbers.__getitem__, columns.speakers)])

    def speakers_passing(self, test: Callable[[str | None], bool]) -> Bools:
        """Return whose speaker passes a test."""
        passes: Bools = np.array([test(name) for name in self._names], dtype=np.bool_)[self._of]
        return passes

    def answers_other_speaker(self, asks: Bools, previous: Ints) -> Bools:
        """Return which answer a question that another speaker asked in the turn before."""
        follows_question = (previous >= 0) & asks[previous] & (self._of[previous] != self._of)
        return np.asarray(follows_question & self.speakers_passing(may_answer), dtype=np.bool_)


_hit: Final = maker_of(Hit)
_RANKED: Final = frozenset(("memory", "score", "parts", "cosine", "relevance"))
_UNMARKED: Final = {field.name: field.default for field in fields(Hit) if field.name not in _RANKED}
"""What is said of a hit only after it was ranked."""


def with_signals(entry: RankedCandidate, memory: MemoryItem, policy: RecallPolicy) -> Hit:
    """Return a hit: relevance plus the small, bounded part of importance and confidence."""
    extra = policy.signals * (memory.importance + memory.confidence) / 2.0
    parts = {**entry.parts, "signals": extra} if extra else dict(entry.parts)
    return _hit(memory, sum(parts.values()), parts, entry.cosine, entry.relevance, **_UNMARKED)


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
    texts: set[str] = set()
    covered: set[str] = set()
    near, seen = _near(hits, vectors, policy), set[int]()
    for at, hit in enumerate(hits):
        repeats = any(_same_anchors(hit.memory, hits[other].memory) for other in near.get(at, ()) if other in seen)
        own = sources.get(hit.memory.id, frozenset())
        # An ageing fact stays: it brings a question with it.
        is_covered = hit.memory.id in covered or (bool(own & {h.memory.id for h in chosen}) and not hit.memory.aging)
        if repeats or hit.memory.content in texts or is_covered:
            later.append(hit)
            continue
        chosen.append(hit)
        texts.add(hit.memory.content)
        covered |= own
        seen.add(at)
        if len(chosen) == limit:
            break
    return (chosen + later)[:limit]


def _near(hits: Sequence[Hit], vectors: Mapping[str, Vector], policy: RecallPolicy) -> dict[int, list[int]]:
    """Return place -> the places before it whose vectors are nearly its own; most have none."""
    places = [at for at, hit in enumerate(hits) if hit.memory.id in vectors]
    if not places:
        return {}
    data = b"".join(vectors[hits[at].memory.id] for at in places)
    matrix = np.frombuffer(data, "<f4").reshape(len(places), -1)
    cosines = matrix @ matrix.T
    rows, columns = (cosines >= policy.duplicate_cosine).nonzero()
    found: dict[int, list[int]] = {}
    for one, other in zip(rows.tolist(), columns.tolist(), strict=True):
        if other < one:
            found.setdefault(places[one], []).append(places[other])
    return found


def _same_anchors(one: MemoryItem, other: MemoryItem) -> bool:
    """Return whether two texts that mean nearly the same give the same numbers, dates and names, and deny the same."""
    a, b = anchors(one.content), anchors(other.content)
    return (
        set(a.numbers) == set(b.numbers)
        and set(a.dates) == set(b.dates)
        and set(a.names) == set(b.names)
        and len(a.negations) == len(b.negations)
    )

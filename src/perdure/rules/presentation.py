"""How an answer is laid out: what is about one thing newest first, with links between newer and older.

Relevance chooses the hits; nothing here adds or removes one, changes a score, or says which of two holds.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import lru_cache
from itertools import combinations
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np

from perdure.formulas.changes import (
    DIFFERENCE,
    DIFFERENCE_BY_WORDS,
    ORDER,
    PairSignals,
    pair_chances,
)
from perdure.formulas.curve import Array
from perdure.records.memory import Kind, MemoryItem, Status
from perdure.records.patterns import lazy_pattern
from perdure.records.recall import Hit
from perdure.records.vector import Vector
from perdure.rules.alike_names import asks_for_another_name, pairs_of_one_name
from perdure.rules.differences import Statements, numbers_in, statements
from perdure.rules.language.record_numbers import are_other_records, series_labels
from perdure.rules.language.words import content_words, may_answer, query_words, shared_part
from perdure.rules.last_said import said_at
from perdure.rules.pair_signals import ComparedHit, Weight, pair_signals, say_otherwise, weigher

_KINDS: Final = (Kind.EPISODE, Kind.NOTE)
"""Facts follow each other by rules of their own, and a summary says what its sources say."""
_DECIDED_KINDS: Final = (Kind.FACT, Kind.NOTE)
_DAYS: Final = lazy_pattern(r" \((?:from|until) \d{4}-\d\d-\d\d[^()]{0,40}\)\Z")  # from or until when a fact holds
_AS_GOOD: Final = 0.95  # a fact with so much of the score of another value of its property answers as well
_MOST_WORDS: Final = 0.6  # a message with so much of a fact's or a note's words repeats it
_STATUSES: Final = (Status.ACTIVE, Status.ARCHIVED)
"""What has been taken back, or stands in another memory, says nothing any more."""
_COMPARES: Final = re.compile(r"\b(?:between|order)\b", re.IGNORECASE)
_BEFORE: Final = re.compile(
    r"\b(?:before|earlier|previous\w*|former\w*|original\w*|initial\w*|first|used to"
    r"|früher\w*|vorher\w*|davor|zuvor|ehemal\w*|ursprünglich\w*|zuerst"
    r"|avant|auparavant|précéd\w*|ancien\w*|antes|anterior\w*|prima|precedent\w*|vroeger|eerder|vorige)\b"
    r"|以前|之前|原来|前は",
    re.IGNORECASE,
)
"""A question that asks for the past, or compares, is not answered by the newest."""
_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")


class Bounds(NamedTuple):
    """How many hits are compared, and from which chance on (decision 20 has how they were chosen)."""

    compared: int = 10  # so many of the best hits may be marked
    among: int = 4  # so many of them may change places
    newer: float = 0.07  # from this chance on that the later of two answers in place of the earlier, it stands first
    # what lacks more than this share of the question's words that the earlier one has does not pass it: it is about
    # another thing of that kind ("my brother works", "my sister works"); more may be missing where it tells a change
    missing: float = 0.2
    missing_of_change: float = 0.7
    # nor what is less likely to answer than a share of the chance of a note that is sure to: two notes of one kind
    # ("the port of dev", "the port of prod") are alike, and what changes in a note is told by `update`
    sure: float = 0.9
    fits: float = 0.9
    fits_little: float = 0.1  # of any other note
    # nor what is hardly alike, nor, where it tells no change and is not much alike, what is far less likely to answer
    alike: float = 0.3
    much_alike: float = 0.5
    likely: float = 0.5
    differs: float = 0.5  # from this chance on that two say otherwise of one thing, they are marked


BOUNDS: Final = Bounds()
Pair = tuple[int, int]  # the places of two hits, the one that was said first before the other


def asks_for_earlier(question: str) -> bool:
    """Return whether a question asks what held before: "Where did Lena live before?"."""
    return _BEFORE.search(question) is not None


def keeps_order(question: str, hits: Iterable[Hit]) -> bool:
    """Return whether the newest does not answer a question: it asks for the past, compares, or names a day."""
    asks_for_past = _BEFORE.search(question) or _COMPARES.search(question)
    return asks_for_past is not None or any("dated" in hit.parts for hit in hits)


def newest_first(
    hits: Sequence[Hit], question: str, vectors: Mapping[str, Vector] = MappingProxyType({}), bounds: Bounds = BOUNDS
) -> list[Hit]:
    """Return the same hits, linked, the later of two that are about one thing in the place of the earlier.

    Whether the later one answers in place of the earlier, and whether the two say otherwise of one thing, are chances
    (formulas/changes.py). A question that asks for the past, or names a day, or a number that only one of the two has,
    keeps the order.
    """
    best = [hit.memory for hit in hits[: bounds.compared]]
    contents, by_person = [statements(memory.content) for memory in best], _by_person(best)
    pairs = [
        (i, j)
        for i, j in pairs_of_one_name(question, [memory.content for memory in best], _pairs(best))
        if max(i, j) < bounds.among or (by_person[i] and by_person[j] and say_otherwise(contents[i], contents[j]))
    ]
    signals = _signals(hits[: bounds.compared], pairs, contents, question, vectors)
    order = pair_chances(ORDER, signals)
    difference = pair_chances(DIFFERENCE if vectors else DIFFERENCE_BY_WORDS, signals)
    newer = {
        pair
        for pair, row, chance in zip(pairs, signals, order.tolist(), strict=True)
        if chance >= bounds.newer
        and max(pair) < bounds.among
        and may_stand_first(row, bounds)
        and _fits(hits, pair, question, bounds)
        and _is_of_one_thing(PairSignals(*row), hits, pair, bounds)
    }
    differing = {  # replies of assistants are not marked: nothing was measured on them
        pair
        for pair, row, chance in zip(pairs, signals, difference.tolist(), strict=True)
        if chance >= bounds.differs and may_differ(row) and all(by_person[at] for at in pair)
        if _is_of_one_thing(PairSignals(*row), hits, pair, bounds)
    }
    return arrange_hits(hits, question, newer, differing)


def may_stand_first(signals: Array, bounds: Bounds = BOUNDS) -> bool:
    """Return whether the later of two hits is about what the question names, as far as the earlier one is."""
    row = PairSignals(*signals)
    return row.missing <= (bounds.missing_of_change if row.changes else bounds.missing)


def _fits(hits: Sequence[Hit], pair: Pair, question: str, bounds: Bounds) -> bool:
    """Return whether the later of two hits may answer the question, too, where the earlier one is a note."""
    earlier, later = (hits[at] for at in pair)
    if earlier.memory.kind is not Kind.NOTE:
        return True
    least = bounds.fits if earlier.relevance >= bounds.sure else bounds.fits_little
    is_likely = later.relevance >= least * earlier.relevance
    return is_likely and not asks_for_another_name(question, earlier.memory.content, later.memory.content)


def _is_of_one_thing(signals: PairSignals, hits: Sequence[Hit], pair: Pair, bounds: Bounds) -> bool:
    """Return whether two hits are alike, and the later one tells a change, is much alike, or may well answer.

    "Orders are in PostgreSQL" and "no magic in the order module" share a word. Without vectors no likeness is known.
    """
    if signals.cosine and signals.cosine < bounds.alike:
        return False
    earlier, later = (hits[at] for at in pair)
    is_alike = signals.changes > 0 or signals.cosine >= bounds.much_alike
    return is_alike or later.relevance >= bounds.likely * earlier.relevance


def may_differ(signals: Array) -> bool:
    """Return whether two hits give other figures, or one denies what the other says: only such pairs are marked."""
    row = PairSignals(*signals)
    return row.differ > 0 or row.denial > 0


def arrange_hits(
    hits: Sequence[Hit], question: str, newer: AbstractSet[Pair], differing: AbstractSet[Pair]
) -> list[Hit]:
    """Return the same hits with links between pairs, those of ``newer`` in order of time if the question allows it."""
    best = [hit.memory for hit in hits]
    newer = {(i, j) for i, j in newer if _came_later(best[j], best[i])}
    shown = _with_links(hits, newer | differing, differing)
    if not newer or keeps_order(question, hits):
        return shown
    exchanged = {pair for pair in newer if not _names_one(question, best, pair)}
    return [shown[at] for at in _newest_order(len(hits), exchanged)]


def _came_later(one: MemoryItem, other: MemoryItem) -> bool:
    """Return whether a memory is newer: messages of one instant are in the order of their talk, notes in none."""
    both_said = one.kind is other.kind is Kind.EPISODE
    return both_said or said_at(one.state) > said_at(other.state)


def compare_hits(hits: Sequence[Hit], question: str, vectors: Mapping[str, Vector]) -> tuple[list[Pair], Array]:
    """Return the places of each two hits that may be about one thing, the one said first first, and their signals.

    The signals are rows of ``PairSignals``, shape [n, 11].
    """
    best = [hit.memory for hit in hits]
    pairs = _pairs(best)
    return pairs, _signals(hits, pairs, [statements(memory.content) for memory in best], question, vectors)


def _pairs(best: Sequence[MemoryItem]) -> list[Pair]:
    places = [at for at, m in enumerate(best) if m.kind in _KINDS and m.status in _STATUSES]
    at = {place: _said_at(best[place]) for place in places}
    by_person, series = _by_person(best), series_labels(memory.content for memory in best)
    return [
        (i, j) if at[i] < at[j] else (j, i)
        for i, j in combinations(places, 2)
        if _may_be_about_one_thing(best[i], best[j], of_people=by_person[i] and by_person[j])
        and not are_other_records(best[i].content, best[j].content, series)
    ]


def _signals(
    hits: Sequence[Hit],
    pairs: Sequence[Pair],
    contents: Sequence[Statements],
    question: str,
    vectors: Mapping[str, Vector],
) -> Array:
    """Return the signals of pairs, rows of ``PairSignals``, shape [n, 11]."""
    rows: list[PairSignals] = []
    if pairs:
        words, weight = statements(question).words, weigher(contents)
        order = sorted(range(len(hits)), key=lambda at: -hits[at].score)
        places = {at: place for place, at in enumerate(order)}
        found = {at: _compared_hit(places[at], hits[at], contents[at], words, weight) for pair in pairs for at in pair}
        total = max(1.0, weight(words))
        rows = [pair_signals(found[i], found[j], _cosine(hits, i, j, vectors), total, weight) for i, j in pairs]
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(PairSignals._fields))


def _compared_hit(place: int, hit: Hit, content: Statements, words: frozenset[str], weight: Weight) -> ComparedHit:
    answers = words & content.words
    return ComparedHit(place, hit.cosine or 0.0, content, answers, weight(answers))


def believed_first(hits: Sequence[Hit], settled: Mapping[str, Collection[str]]) -> list[Hit]:
    """Return the same hits; one that seemed to be newer than what holds instead of it stands behind that.

    ``settled`` has hit -> those that it is not newer than: it has been decided which one holds.
    """
    order = list(hits)
    if not settled:
        return order
    for hit in hits:
        behind = [h for h in order if hit.memory.id in h.newer and h.memory.id in settled.get(hit.memory.id, ())]
        at = order.index(hit)
        order.insert(max([at, *map(order.index, behind)]), order.pop(at))
    return [_without_settled(hit, settled) for hit in order]


def _without_settled(hit: Hit, settled: Mapping[str, Collection[str]]) -> Hit:
    """Return a hit that names no other as newer or older where it has been decided which of the two holds."""
    newer = tuple(i for i in hit.newer if hit.memory.id not in settled.get(i, ()))
    older = tuple(i for i in hit.older if i not in settled.get(hit.memory.id, ()))
    return replace(hit, newer=newer, older=older, differs=tuple(i for i in hit.differs if i in (*newer, *older)))


def facts_first(hits: Sequence[Hit]) -> list[Hit]:
    """Return the same hits, a fact directly before the first message that it took the place of.

    Who reads only the first hit reads what is believed.
    """
    facts = {hit.memory.id: hit for hit in hits if hit.memory.kind is Kind.FACT}
    if not any(hit.updated_by in facts for hit in hits):
        return list(hits)
    order: list[Hit] = []
    for hit in hits:
        ahead = facts.get(hit.updated_by or "")
        order += [one for one in (ahead, hit) if one is not None and one not in order]
    return order


def latest_of_conflicts_first(hits: Sequence[Hit], question: str) -> list[Hit]:
    """Return the same hits, of those in open conflict the one said later in the place of the earlier one.

    Nobody has decided which one holds, so the latest word is read first; so is the latest of several values of one
    property that answer alike well: "who is the contact?" asks for one. A question that asks for the past, or names a
    day, keeps the order.
    """
    order = list(hits)
    if keeps_order(question, hits):
        return order
    for hit in sorted(hits, key=lambda h: _said_at(h.memory), reverse=True):
        at = order.index(hit)
        ahead = (i for i, other in enumerate(order[:at]) if _is_rival(other, hit))
        order.insert(next(ahead, at), order.pop(at))
    return order


def _is_rival(earlier: Hit, later: Hit) -> bool:
    in_conflict = later.memory.id in earlier.contested_with or earlier.memory.id in later.contested_with
    is_other = _property(earlier) == _property(later) is not None and later.score >= _AS_GOOD * earlier.score
    return (in_conflict or is_other) and said_at(earlier.memory.state) < said_at(later.memory.state)


def _property(hit: Hit) -> list[str] | None:
    """Return of what a fact that holds now tells something, and what; None of other hits, and of what has days."""
    one, other = hit.memory, hit.ended or hit.interrupted or _DAYS.search(hit.memory.content)
    holds = (one.kind, one.status) == (Kind.FACT, Status.ACTIVE) and not other
    return one.content.split(": ", 2)[:2] if holds else None


def decided_first(hits: Sequence[Hit]) -> list[Hit]:
    """Return the same hits, a fact or a note before the first message that only repeats it.

    A reply of an assistant has the words of the question more often than what was decided has. Facts and notes do not
    pass what a person said later: that may be news.
    """
    order: list[Hit] = []
    for hit in hits:
        at = len(order)
        if hit.memory.kind in _DECIDED_KINDS and hit.memory.status is Status.ACTIVE and not hit.updated_by:
            at = next((i for i, other in enumerate(order) if _repeats(other.memory, hit.memory)), at)
        order.insert(at, hit)
    return order


def _repeats(message: MemoryItem, decided: MemoryItem) -> bool:
    """Return whether a message has most words and all numbers of a fact or note, or says little besides."""
    if message.kind is not Kind.EPISODE or (may_answer(message.speaker) and _said_at(message) > _said_at(decided)):
        return False
    content = decided.content
    if decided.kind is Kind.FACT:
        content = content.partition(": ")[2]  # whom it is about goes without saying where all is about that
        if not set(query_words(content.partition(": ")[2])) <= set(query_words(message.content)):
            return False
    one, other = _text_content(content), _text_content(message.content)
    return one.numbers <= other.numbers and shared_part(one.words, other.words) >= _MOST_WORDS


class _TextContent(NamedTuple):
    numbers: frozenset[str]
    words: frozenset[str]  # of content


@lru_cache(maxsize=1024)  # the hits of some answers: each is compared with each other one
def _text_content(text: str) -> _TextContent:
    """Return what a text says, as far as repeating it goes."""
    return _TextContent(frozenset(_NUMBER.findall(text)), frozenset(content_words(text)))


def _may_be_about_one_thing(one: MemoryItem, other: MemoryItem, *, of_people: bool) -> bool:
    """Return whether two hits are compared: of one person, or a reply of an assistant and what another session says.

    A note names no speaker, and may say what anybody said.
    """
    if of_people:
        return one.speaker == other.speaker or None in (one.speaker, other.speaker)
    return one.session != other.session  # within one it repeats what was just said


def _by_person(best: Sequence[MemoryItem]) -> list[bool]:
    return [may_answer(memory.speaker) for memory in best]


def _names_one(question: str, best: Sequence[MemoryItem], pair: Pair) -> bool:
    """Return whether a question names a number that one of two has and the other has not: it asks for that one."""
    numbers = numbers_in(question)
    if not numbers:
        return False
    one, other = (not numbers.isdisjoint(numbers_in(best[at].content)) for at in pair)
    return one != other


def _cosine(hits: Sequence[Hit], i: int, j: int, vectors: Mapping[str, Vector]) -> float:
    one, other = vectors.get(hits[i].memory.id), vectors.get(hits[j].memory.id)
    return float(np.frombuffer(one, "<f4") @ np.frombuffer(other, "<f4")) if one and other else 0.0


def _newest_order(count: int, pairs: AbstractSet[Pair]) -> list[int]:
    """Return places in an order in which the later of each pair stands first: the two take each other's place."""
    order = list(range(count))
    wrong = True
    while wrong:  # ends, since each exchange puts a later one in an earlier place
        wrong = False
        for i, j in combinations(range(count), 2):
            if (order[i], order[j]) in pairs:
                order[i], order[j] = order[j], order[i]
                wrong = True
    return order


def _with_links(hits: Sequence[Hit], pairs: AbstractSet[Pair], differing: AbstractSet[Pair]) -> list[Hit]:
    """Return hits that name those that they are about one thing with, the newest first."""
    best = [hit.memory for hit in hits]

    def ids(places: Iterable[int]) -> tuple[str, ...]:
        return tuple(m.id for m in sorted((best[i] for i in places), key=_said_at, reverse=True))

    linked = {at for pair in pairs for at in pair}
    return [
        replace(
            hit,
            newer=ids(j for i, j in pairs if i == at),
            older=ids(i for i, j in pairs if j == at),
            differs=ids(i if j == at else j for i, j in differing if at in (i, j)),
        )
        if at in linked or hit.newer or hit.older
        else hit
        for at, hit in enumerate(hits)
    ]


def _said_at(memory: MemoryItem) -> tuple[int, str]:
    return said_at(memory.state), memory.id

"""Which statements a later one takes the place of, as far as a summary goes: none of them is shown as current.

Nothing is decided here about the memories themselves: recall shows both, the newer first. What it marks, and what is
shown beside a prompt, is judged by the same rule.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from perdure.formulas.products import products_with_earlier, products_with_one
from perdure.records.memory import Kind, MemoryItem, Sort
from perdure.records.vector import Vector
from perdure.rules.differences import (
    Statements,
    denying_texts,
    differing_texts,
    numbers_in,
    statements,
    with_other_numbers,
)
from perdure.rules.doubted_facts import facts_of_replaced, facts_replaced
from perdure.rules.language.clauses import clauses, says_besides, speaks_of_a_part
from perdure.rules.language.first_day import begins_later
from perdure.rules.language.other_subjects import may_replace
from perdure.rules.language.record_numbers import record_numbers
from perdure.rules.language.replaced_values import (
    ReplacedValue,
    changes,
    content_words,
    replaced_values,
    returned_values,
    subjects,
)
from perdure.rules.language.word_holders import WordHolders
from perdure.rules.language.words import CALENDAR, may_answer
from perdure.rules.last_said import said_at
from perdure.rules.lifecycle.digest_lines import LONGEST_LINE, sort_of_memory
from perdure.rules.lifecycle.ended_memories import has_ended
from perdure.rules.lifecycle.parts_that_hold import partly_over, without_returned
from perdure.rules.source_trust import is_trusted, stored_trust

ALIKE: Final = 0.65
"""From this cosine on, two statements with other numbers are about one thing (rules/presentation.py)."""
_ABOUT_ONE_THING: Final = 0.5  # so alike, or with another word in common, two texts with one value are about the same
_COMMON: Final = 2  # so many words in common at least
_LATEST: Final = 3  # so many of the later ones about the same thing are named
_COMPARED: Final = 400  # so many of the latest statements are compared word by word
_HEAD: Final = 4000  # characters of a message that are read
_KINDS: Final = (Kind.EPISODE, Kind.NOTE)
_SILENT: Final = (Sort.QUESTION, Sort.SMALL_TALK)

_Pairs = NDArray[np.bool_]  # [later, earlier]


@dataclass(frozen=True, slots=True, eq=False)
class OlderStatements:
    """What later statements say of earlier ones."""

    ids: Sequence[str]  # the statements that were compared, in their order
    # [later, earlier]: which it takes the place of, or which note it speaks against; of what is a line at most
    successions: _Pairs
    over: set[str] = field(default_factory=set)  # memories whose statement a later one takes the place of
    # memory -> where it names values that earlier ones have, or what is over of it, in characters: the rest holds
    left_out: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    corrected: dict[str, str] = field(default_factory=dict)  # memory -> the latest that names its value as replaced
    # memory -> what of it holds no longer, values of a note and parts of a message, each with the latest that says so
    partly: dict[str, dict[str, str]] = field(default_factory=dict)
    # memory -> the latest about the same thing that say otherwise, or, of notes, are alike: without one it is not shown
    newer: dict[str, list[str]] = field(default_factory=dict)
    # fact or note -> the latest that likely make it untrue, or name its value as replaced: it is shown with that doubt
    doubted: dict[str, list[str]] = field(default_factory=dict)
    # the same of a note that lists several things, of which they name some: where it is shown it carries the doubt
    doubted_lists: dict[str, list[str]] = field(default_factory=dict)


def find_older(
    memories: Sequence[MemoryItem],
    vectors: Mapping[str, Vector],
    superseded: Collection[tuple[str, str]] = (),
    *,
    by_number: bool = True,
    sources: Mapping[str, Collection[str]] = MappingProxyType({}),
    about_one: Collection[tuple[str, str]] = (),
    today: date | None = None,
) -> OlderStatements:
    """Return what is over among some memories: a later one names its value as replaced, or gives another number.

    So is what a model said is likely untrue since a later one: ``superseded`` are (later, earlier) pairs; then another
    number is not looked at (``by_number``). Each is looked up among all at once. Facts are put in doubt, and put
    nothing in doubt: ``sources`` has fact -> what says it, ``about_one`` pairs that are known to be about one thing.
    What says that something is so from a day after ``today``, or until one before, is not compared.
    """
    messages = [m for m in memories if m.kind in _KINDS and may_answer(m.speaker) and sort_of_memory(m) not in _SILENT]
    messages = [
        m for m in messages if today is None or not (begins_later(m.content, m.state, today) or has_ended(m, today))
    ]
    messages.sort(key=lambda m: (said_at(m.state), m.id))
    replaced = facts_replaced((m for m in memories if m.kind is Kind.FACT), messages, vectors, sources, about_one)
    superseded = {*superseded, *_notes_of(replaced, sources, messages)}
    older = _older_among(messages, vectors, superseded, by_number=by_number)
    facts = _of_facts(
        memories, older.ids, {*superseded, *replaced, *facts_of_replaced(memories, sources, older.corrected)}
    )
    partly = without_returned(older.partly, messages, {*superseded, *about_one})
    return replace(older, newer={**older.newer, **facts}, doubted={**older.doubted, **facts}, partly=partly)


def _older_among(
    messages: Sequence[MemoryItem],
    vectors: Mapping[str, Vector],
    superseded: Collection[tuple[str, str]],
    *,
    by_number: bool,
) -> OlderStatements:
    """Return what is over among messages and notes, which are in the order in which they were said."""
    words = [content_words(m.content) for m in messages]
    rows = vector_rows([m.id for m in messages], vectors)
    left_out: dict[str, list[tuple[int, int]]] = {}
    partly: dict[str, dict[str, str]] = {}
    over = _replaced_pairs(messages, words, rows, left_out, partly)
    ids, corrected = [m.id for m in messages], over.copy()
    likeness = np.zeros(over.shape) if rows is None else products_with_earlier(rows)
    alike = np.tril(likeness >= ALIKE, -1)
    about = _about_one_thing(messages, words, alike) & ~with_other_numbers(
        [record_numbers(m.content) for m in messages]
    )
    said = np.array([m.kind is Kind.EPISODE for m in messages], np.bool_)
    notes_alike = alike & ~said[:, None] & ~said
    differing = _among(messages, about & ~notes_alike, differing_texts)
    others = differing & _comparable(messages)
    sure = _among(messages, others, denying_texts)
    others &= ~said | (sure | _of_the_same(messages, others) if by_number else sure)
    linked = _linked_pairs(ids, superseded)
    linked_whole = linked & ~_of_a_part(messages, linked)
    others |= linked_whole
    over |= others & said  # notes stay
    brief = np.array([len(m.content) <= LONGEST_LINE for m in messages], np.bool_)
    told = np.array([said_at(m.state) for m in messages], np.int64)
    newer = (corrected | differing | linked | others | notes_alike) & (told[:, None] > told)
    newer = np.ascontiguousarray(newer.T)  # [earlier, later]
    of_notes = ~said & (told[:, None] > told)
    doubted, lists = (_by_earlier(ids, (some & of_notes).T) for some in (linked_whole, linked & ~linked_whole))
    successions = (over | others) & brief[:, None]
    for earlier in np.flatnonzero(over.any(axis=0) & said).tolist():
        if _holds_in_part(messages, words, earlier, np.flatnonzero(over[:, earlier]).tolist(), left_out, partly):
            over[:, earlier] = corrected[:, earlier] = newer[earlier] = False
    return OlderStatements(
        ids,
        successions,
        {ids[at] for at in np.flatnonzero(over.any(axis=0))},
        left_out,
        {ids[earlier]: ids[later] for later, earlier in np.argwhere(corrected).tolist()},
        partly,
        _by_earlier(ids, newer),
        doubted,
        lists,
    )


def _by_earlier(ids: Sequence[str], pairs: _Pairs) -> dict[str, list[str]]:
    """Return earlier -> the latest of the later ones, of pairs as [earlier, later]."""
    earlier = np.flatnonzero(pairs.any(axis=1)).tolist()
    return {ids[at]: [ids[i] for i in np.flatnonzero(pairs[at])[-_LATEST:].tolist()] for at in earlier}


def _of_facts(
    memories: Sequence[MemoryItem], ids: Sequence[str], pairs: Collection[tuple[str, str]]
) -> dict[str, list[str]]:
    """Return fact -> the latest statements of ``ids``, and facts that interrupt it, of (later, earlier) pairs."""
    found, facts = defaultdict[str, list[str]](list), {m.id: 0 for m in memories if m.kind is Kind.FACT}
    places = {identity: at for at, identity in enumerate([*ids, *facts])}
    for later, fact in sorted(pairs, key=lambda pair: places.get(pair[0], 0)):
        if fact in facts and later in places:
            found[fact].append(later)
    return {fact: some[-_LATEST:] for fact, some in found.items()}


def _notes_of(
    replaced: Collection[tuple[str, str]], sources: Mapping[str, Collection[str]], messages: Sequence[MemoryItem]
) -> set[tuple[str, str]]:
    """Return the notes that say facts whose value is replaced, as (later, note).

    Of a message that says several things the rest would be left out with it.
    """
    notes = {m.id for m in messages if m.kind is Kind.NOTE}
    return {(later, note) for later, fact in replaced for note in sources.get(fact, ()) if note in notes}


def _holds_in_part(
    messages: Sequence[MemoryItem],
    words: Sequence[frozenset[str]],
    earlier: int,
    later: Sequence[int],
    left_out: dict[str, list[tuple[int, int]]],
    partly: dict[str, dict[str, str]],
) -> bool:
    """Return whether a part of a message still holds, and note what of it does not and what is left out of it."""
    memory = messages[earlier]
    found = partly_over(memory.content[:_HEAD], [words[at] for at in later])
    if found is None:
        return False
    partly.setdefault(memory.id, {}).update({part.text: messages[later[part.by]].id for part in found.parts})
    left_out.setdefault(memory.id, []).extend(found.left_out)
    return True


def _linked_pairs(ids: Sequence[str], pairs: Collection[tuple[str, str]]) -> _Pairs:
    """Return pairs of ids as [later, earlier]."""
    found = np.zeros((len(ids), len(ids)), np.bool_)
    places = {identity: at for at, identity in enumerate(ids)}
    for later, earlier in pairs:
        if later in places and earlier in places:
            found[places[later], places[earlier]] = True
    return found


def _of_a_part(messages: Sequence[MemoryItem], pairs: _Pairs) -> _Pairs:
    """Return those of some pairs in which the later speaks of a part of what the earlier tells."""
    found = np.zeros_like(pairs)
    for later, earlier in np.argwhere(pairs).tolist():
        found[later, earlier] = speaks_of_a_part(messages[later].content, messages[earlier].content)
    return found


def _replaced_pairs(
    messages: Sequence[MemoryItem],
    words: Sequence[frozenset[str]],
    rows: np.ndarray | None,
    left_out: dict[str, list[tuple[int, int]]],
    partly: dict[str, dict[str, str]],
) -> _Pairs:
    """Return which messages name a value as replaced that an earlier one says of the same thing, or take it back.

    A note that says more than the value is not over with it.
    """
    over = np.zeros((len(messages), len(messages)), np.bool_)
    replaced = [replaced_values(m.content) if is_trusted(stored_trust(m.metadata)) else () for m in messages]
    if not any(replaced):
        return over
    holders = WordHolders(words)
    owners = np.array([at for at, values in enumerate(replaced) for _ in values])
    named = WordHolders([value.words for values in replaced for value in values])
    gone, back = defaultdict[frozenset[str], list[int]](list), defaultdict[frozenset[str], list[int]](list)
    anywhere = np.zeros(len(messages), np.bool_)  # which say that something holds again, and not of what
    for at, values in enumerate(replaced):
        returned = returned_values(messages[at].content)
        for value_words, beside in returned:  # "back to npm" ends "pnpm, not npm"
            same = _of_one_thing(at, beside, holders, rows)
            over[at, [other for other in gone[value_words] if same[other] or not beside]] = True
        for value in values:
            earlier = holders.having_all(value.words)
            earlier[owners[named.having_all(value.words)]] = False  # they say themselves that it is over
            earlier[at:] = False
            same = _of_one_thing(at, words[at] - value.words - CALENDAR, holders, rows)
            earlier &= same & _counting_the_same(messages, at, value.words, earlier & same)
            earlier &= _of_no_other(messages, at, value, earlier)
            earlier[[other for other in back[value.words] if same[other] or anywhere[other]]] = True
            gone[value.words].append(at)
            more = [
                other
                for other in np.flatnonzero(earlier).tolist()
                if _says_more(messages[other], value.words, messages[at])
            ]
            for other in more:
                partly.setdefault(messages[other].id, {})[value.text] = messages[at].id
            over[at] |= earlier
            over[at, more] = False
            is_talk = messages[at].kind is Kind.EPISODE  # a note stands in the words that somebody chose for it
            if is_talk and (earlier.any() or value.past) and value.end > value.start:
                left_out.setdefault(messages[at].id, []).append((value.start, value.end))
        for value_words, beside in returned:
            back[value_words].append(at)
            anywhere[at] |= not beside
    return over


def _of_no_other(
    messages: Sequence[MemoryItem], at: int, value: ReplacedValue, among: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return which of some messages are not about another thing than the one that names their value as replaced."""
    found = among.copy()
    for other in np.flatnonzero(among).tolist():
        found[other] = may_replace(messages[other].content, messages[at].content, value)
    return found


def _says_more(memory: MemoryItem, value: frozenset[str], later: MemoryItem) -> bool:
    """Return whether a memory says more than a value that a later one replaces; of talk, whether it lists more."""
    if memory.kind is Kind.NOTE:
        return says_besides(memory.content, value)
    return speaks_of_a_part(later.content, memory.content)


def _counting_the_same(
    messages: Sequence[MemoryItem], at: int, value: frozenset[str], among: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return which of some messages have a value beside a word that a message has beside it, too, if it is a number.

    "300 lines, not 400" says nothing of "400 tables", even where both are of one review. "The 15th" has the number 15.
    """
    word = next(iter(value))
    if len(value) > 1 or not word[0].isdigit():
        return among
    number = min(numbers_in(word), default=word)
    own = statements(messages[at].content).numbers
    found = among.copy()
    for other in np.flatnonzero(among).tolist():
        its = statements(messages[other].content).numbers
        found[other] = any(number in its[word] for word in own.keys() & its.keys())
    return found


def _of_one_thing(at: int, words: frozenset[str], holders: WordHolders, rows: np.ndarray | None) -> NDArray[np.bool_]:
    """Return which messages have one of some words of a message, or are like it: they are about one thing."""
    same = holders.counts(words) > 0
    return same if rows is None else same | (products_with_one(rows, rows[at]) >= _ABOUT_ONE_THING)


def _comparable(messages: Sequence[MemoryItem]) -> _Pairs:
    """Return which may say otherwise than which: messages, of the same person or than a note."""
    speakers = {m.speaker: at for at, m in enumerate(messages)}
    by = np.array([speakers[m.speaker] for m in messages], np.int64)
    said = np.array([m.kind is Kind.EPISODE for m in messages], np.bool_)
    noted = np.array([m.kind is Kind.NOTE for m in messages], np.bool_)
    pairs: _Pairs = said[:, None] & (noted | (by[:, None] == by))
    return pairs


def _of_the_same(messages: Sequence[MemoryItem], pairs: _Pairs) -> _Pairs:
    """Return those of some pairs in which one number differs, in clauses that do not each have a word of their own.

    "The staging server listens on 8081" is of another thing than "the production server listens on 8082", and "phase 1
    ends on 12 May" than "phase 2 ends on 20 May". Of a list with other parts the number may be one part's.
    """
    found = np.zeros_like(pairs)
    for later, earlier in np.argwhere(pairs).tolist():
        before, since = messages[earlier].content, messages[later].content
        gone, new = numbers_in(before) - numbers_in(since), numbers_in(since)
        if len(gone) == 1 and not speaks_of_a_part(since, before):
            old = [content_words(clause) for clause in clauses(before) if numbers_in(clause) & gone]
            told = [content_words(clause) for clause in clauses(since) if numbers_in(clause)]
            found[later, earlier] = any(
                not (one - other - gone) or not (other - one - new) for one in old for other in told
            )
    return found


def _among(
    messages: Sequence[MemoryItem], pairs: _Pairs, found_in: Callable[[Sequence[Statements]], NDArray[np.bool_]]
) -> _Pairs:
    """Return those of some pairs that are found in their texts."""
    used = np.flatnonzero(pairs.any(axis=0) | pairs.any(axis=1))
    found = np.zeros_like(pairs)
    if len(used):
        found[np.ix_(used, used)] = found_in([statements(messages[at].content) for at in used.tolist()])
    return found & pairs


def _about_one_thing(messages: Sequence[MemoryItem], words: Sequence[frozenset[str]], alike: _Pairs) -> _Pairs:
    """Return the pairs that are about one thing.

    Those that are ``alike`` in meaning; and if the later one says that something changes, by half of their words, or by
    what they are about. What is longer than a line says more than one thing, so words do not tell that all of it is
    over.
    """
    pairs = alike.copy()
    brief = [at for at in range(len(messages))[-_COMPARED:] if len(messages[at].content) <= LONGEST_LINE]
    holders = WordHolders([words[at] for at in brief])
    topics = WordHolders([subjects(messages[at].content) for at in brief])
    # Numbers and identifiers are what changes.
    plain = np.array([sum(word.isalpha() for word in words[at]) for at in brief], np.int64)
    places = np.array(brief, np.int64)
    first = sorted(brief, key=lambda at: (messages[at].state.created_ms, messages[at].id))  # as they were told
    rank = {at: place for place, at in enumerate(first)}
    ranks = np.array([rank[at] for at in brief], np.int64)
    for place, newer in enumerate(brief):
        if changes(messages[newer].content):
            half = np.maximum(_COMMON, _ABOUT_ONE_THING * np.minimum(plain, plain[place]))
            alike = (holders.counts(words[newer]) >= half) | (topics.counts(subjects(messages[newer].content)) > 0)
            about = places[alike & (ranks < ranks[place])]  # an earlier one that was affirmed since is the later one
            pairs[np.maximum(about, newer), np.minimum(about, newer)] = True
    return pairs


def vector_rows(ids: Sequence[str], vectors: Mapping[str, Vector]) -> np.ndarray | None:
    """Return the vectors of memories as rows, zeros where one has none; None where none has one."""
    size = next((len(vectors[i]) // 4 for i in ids if i in vectors), 0)
    if not size:
        return None
    rows = [np.frombuffer(vectors[i], "<f4") if i in vectors else np.zeros(size, "<f4") for i in ids]
    return np.array(rows, dtype=np.float32)

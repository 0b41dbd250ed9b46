"""What MEMORY.md says of each memory, in which section and about whom; what passes, asks or is polite has no entry."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from typing import Final

import numpy as np

from perdure.formulas.products import products_with_earlier
from perdure.records.memory import Kind, MemoryItem, Sort
from perdure.records.patterns import lazy_pattern
from perdure.records.recall import TextCaveats
from perdure.records.vector import Vector
from perdure.rules.language.sentences import sentences
from perdure.rules.language.words import STOP_WORDS, has_name, may_answer
from perdure.rules.last_said import said_at, told_on
from perdure.rules.lasting import (
    is_passing,
    is_rule,
    is_supposed,
    is_unsure,
    lasting_sentences,
    leaves_open,
    names_within,
    without_redacted,
)
from perdure.rules.lifecycle.digest_lines import (
    day_of,
    render_line,
    says_only_a_secret,
    sort_of_memory,
    telling_sentences,
)
from perdure.rules.lifecycle.ended_memories import passed_on
from perdure.rules.lifecycle.older_statements import OlderStatements, vector_rows
from perdure.rules.lifecycle.said_already import cached_anchors, noted_ids, repeated_requests
from perdure.rules.source_trust import is_trusted, stored_trust
from perdure.rules.standing import gives_standing_order, states_rule
from perdure.rules.worth import is_small_talk

FACTS, RULES, NOTES, STATED, SAID, OPEN = (
    "Facts",  # what the store believes, and summaries
    "Rules and decisions",
    "Notes",
    "Statements",  # messages that name or number something that lasts; nobody asked to remember them
    "From conversations",
    "Open",
)
SECTIONS: Final = (FACTS, RULES, NOTES, STATED, SAID, OPEN)

ASSERTED: Final = 240  # bytes of sentences that are no questions with which a message says enough to count in full
SAID_FROM: Final = 60
"""So many of them make a message that may be shown though it neither names nor numbers anything that lasts."""
SLIGHT: Final = 0.5  # what a message that asserts next to nothing counts for
ANCHORS: Final = 3  # so many names, numbers and identifiers tell as much as a message may; a date counts twice
TELLING: Final = 2.0  # what they add to what a message counts for, which is at most 1 without them
LEAST: Final = 1.0
"""What was merely said and tells nothing that lasts has a line from here on: it is long, or names something."""
DELIBERATE: Final = 3.0
"""What a memory counts for that somebody asked for, decided, noted down or handed over: as much as a statement may."""
EVER_USED: Final = 4.0  # what having been recalled adds to value, 0 to 1, where what was merely said is shown, too
EVER_USED_BRIEF: Final = 0.3
"""What it adds in a brief digest, in which what was decided must not make room for what was asked for."""
COME_BACK_TO: Final = 3
"""What so many later messages come back to counts for more: up to twice its value, by their mean cosine."""
FULL_ACCESSES: Final = 3  # so many accesses count in full: what was asked for twice is asked for again
HALVINGS: Final = 3  # so often a message counts for half from the newest to the oldest of a store, at a session's start
BRIEF_SUBSTANCE: Final = 0.5
"""The power of what a message says in what it counts for at a session's start, where its place in time counts more."""
SAID_BRIEF: Final = 0.5  # what was merely said counts for this share at a session's start
STANDING: Final = 1.5
"""What a rule counts for at a session's start, beside other notes: it does not fade, and what is new hides it not."""
MOST_STANDING: Final = 5  # so many rules do: what holds now needs room as well
PASSED: Final = 0.25  # what an appointment counts for whose day is over
PINNED: Final = 10.0
_ASKS: Final = ("?", "？")  # noqa: RUF001  # the full-width mark is meant
_HEAD: Final = 4000
_WORDS: Final = lazy_pattern(r"[^\W\d_]{2}|[\u2e80-\U0003ffff]")
"""Two letters in a row, or one of a script that is written without spaces."""
_NAME: Final = lazy_pattern(r"(?<![.!?:\"\s])\s+([A-Z][^\W_]+)")


@dataclass(frozen=True, slots=True)
class DigestEntry:
    """A memory as it stands in a digest."""

    memory: MemoryItem
    section: str  # one of SECTIONS
    line: str  # what it says, with its day and its id, if it does not stand below its day
    worth: float  # what it is worth to a reader, before what it costs
    joined: tuple[str, ...] = ()  # the other memories that its line stands for
    day: str = ""  # the day below which it stands in its section
    newer: tuple[str, ...] = ()  # later memories about the same thing: it is not shown without one that has an entry
    passed: bool = False  # it tells of a day that is over, and stands behind what holds

    @property
    def measured_line(self) -> str:
        """The line with an id of digits alone, which costs most: what fits must not depend on chance."""
        if self.day:
            return self.line
        words, _, identity = self.line.rpartition("[")
        return f"{words}[{'0' * (len(identity) - 1)}]"


def entries_of(
    memories: Sequence[MemoryItem],
    older: OlderStatements,
    vectors: Mapping[str, Vector],
    over: Mapping[str, TextCaveats] = {},
    *,
    said: bool = True,
    year: int | None = None,
    today: date | None = None,
) -> list[DigestEntry]:
    """Return the entries of those memories that have something to say that holds.

    ``memories`` have whole texts and current signals, ``older`` is what later ones say of earlier ones; ``over`` says
    what of them holds no longer. With ``said`` what was merely said, or left open, may have an entry. Days of ``year``
    are written short; None writes ISO dates. An appointment of a day before ``today`` counts for less.
    """
    places = _places(memories, older)
    talked = _come_back_to(memories, vectors) if said else {}
    recency, standing = ({}, {}) if said else (_recency(memories), _standing(memories, places, older))
    found = []
    for memory in memories:
        if not memory.pinned and (memory.id in older.over or says_only_a_secret(memory.content)):
            continue
        place, shown = places[memory.id]
        section, counts = (place, 1.0) if said else _brief_place(memory, place)
        if not section:
            continue
        day = day_of(told_on(memory), year) if section == STATED and not said else ""
        own = over.get(memory.id, TextCaveats())
        if not own.remarks:
            in_doubt = memory.id in older.doubted or memory.id in older.doubted_lists
            own = replace(own, remarks=_remarks(memory, older), doubted=in_doubt)
        spans = _apart((*own.left_out, *older.left_out.get(memory.id, ())))
        passed = None if today is None or spans else passed_on(memory, today)
        if line := render_line(memory, shown, spans, year, bare=bool(day), over=own, passed=passed):
            value = recency.get(memory.id, memory.value) * (1.0 + talked.get(memory.id, 0.0))
            if memory.kind is not Kind.EPISODE or section == RULES:
                value = standing.get(memory.id, memory.value)
            is_last = passed is not None and not memory.pinned
            worth = (PASSED if is_last else 1.0) * counts * _worth(memory, section, value, brief=not said)
            newer = () if memory.pinned else tuple(older.newer.get(memory.id, ()))
            found.append(DigestEntry(memory, section, line, worth, day=day, newer=newer, passed=is_last))
    notes = [(e.memory.content, math.inf) for e in found if e.memory.kind is Kind.NOTE]
    noted = noted_ids([e.memory for e in found], notes) | repeated_requests([e.memory for e in found])
    kept = [e for e in found if e.memory.id not in noted]
    return sorted(kept, key=lambda e: (-e.worth, -said_at(e.memory.state), e.line))


def _remarks(memory: MemoryItem, older: OlderStatements) -> tuple[str, ...]:
    """Return what later ones say is over of a memory, without what is left out of its line."""
    gone = [memory.content[start:end] for start, end in older.left_out.get(memory.id, ())]
    return tuple(part for part in older.partly.get(memory.id, ()) if not any(part in text for text in gone))


def _apart(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return places in a text without those that begin within another: sentences, and words of sentences."""
    apart: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not apart or start >= apart[-1][1]:
            apart.append((start, end))
    return apart


def _brief_place(memory: MemoryItem, section: str) -> tuple[str, float]:
    """Return where a memory stands at a session's start, "" for nowhere, and for how much it counts there.

    What was merely said stands with what tells more, where there is room.
    """
    if section == SAID:
        return ("" if _only_asks(memory, sort_of_memory(memory)) else STATED), SAID_BRIEF
    return ("" if section == OPEN else section), 1.0


def is_meant_to_be_kept(memory: MemoryItem) -> bool:
    """Return whether somebody noted a memory down, handed it over, pinned it or asked to have it remembered."""
    if memory.pinned or memory.kind is not Kind.EPISODE:
        return memory.pinned or memory.kind is not Kind.SUMMARY
    return may_answer(memory.speaker) and sort_of_memory(memory) is Sort.REQUEST


def is_informative(memory: MemoryItem) -> bool:
    """Return whether a memory says something that may be shown unasked: no question, no small talk, no mere reply."""
    if memory.kind is not Kind.EPISODE:
        return True
    sort = sort_of_memory(memory)
    return (
        may_answer(memory.speaker)
        and sort not in (Sort.SMALL_TALK, Sort.REPLY)
        and not _only_asks(memory, sort)
        and _has_words(memory.content[:_HEAD])
    )


def _has_words(text: str) -> bool:
    """Return whether a message has a word: signs and numbers alone ("+1", "10-4") answer what is not shown beside."""
    return _WORDS.search(text) is not None


def _only_asks(memory: MemoryItem, sort: Sort) -> bool:
    """Return whether a message is a question, or only says what is to be done once."""
    if sort is not Sort.STATEMENT:
        return sort is Sort.QUESTION
    text = memory.content[:_HEAD]
    return not telling_sentences(text[start:end] for start, end in sentences(text))


def _places(memories: Sequence[MemoryItem], older: OlderStatements) -> dict[str, tuple[str, Sequence[str]]]:
    names = names_within(m.content[:_HEAD] for m in memories)
    places = {memory.id: _place(memory, names) for memory in memories}
    standing = np.array([places[i][0] in (STATED, RULES, NOTES) for i in older.ids], np.bool_)
    for at, newer in enumerate(older.ids):
        before = np.flatnonzero(older.successions[at] & standing)
        if places[newer][0] in ("", SAID) and len(before):
            places[newer] = (RULES if places[older.ids[before[0]]][0] == RULES else STATED), ()
            standing[at] = True
    return places


def _place(memory: MemoryItem, names: Collection[str]) -> tuple[str, Sequence[str]]:
    """Return the section of a memory, "" for none, and the sentences that stand there; none for all of them."""
    if memory.kind is not Kind.EPISODE:
        kind = NOTES if memory.kind is Kind.NOTE and not _gives_order(memory) else RULES
        return kind if memory.kind in (Kind.PROCEDURE, Kind.NOTE) else FACTS, ()
    if memory.pinned:
        return RULES, ()
    sort = sort_of_memory(memory)
    if not may_answer(memory.speaker) or not is_trusted(stored_trust(memory.metadata)):
        return "", ()  # others' words have no place among what holds, unless somebody pins them
    if sort is Sort.SMALL_TALK or not _has_words(memory.content[:_HEAD]):
        return "", ()
    if _only_asks(memory, sort) and not _gives_order(memory):
        asked_for = memory.access_count and sort is Sort.QUESTION and _has_substance(memory.content)
        return (SAID if asked_for else ""), ()
    return _place_of_statement(memory, sort, names)


def _gives_order(memory: MemoryItem) -> bool:
    """Return whether a message or note tells its reader what is to be done at all times."""
    if memory.kind is Kind.NOTE and states_rule(memory.content[:_HEAD]):
        return True
    return is_rule(memory.content[:_HEAD]) or gives_standing_order(memory.content[:_HEAD])


def _place_of_statement(memory: MemoryItem, sort: Sort, names: Collection[str]) -> tuple[str, Sequence[str]]:
    """Return the same of a message in which a person tells something."""
    shown: Sequence[str] = ()
    if sort is not Sort.REQUEST and is_unsure(memory.content[:_HEAD]):
        section = OPEN if leaves_open(memory.content[:_HEAD], names) else ""
    elif sort in (Sort.REQUEST, Sort.DECISION) or _gives_order(memory):
        section = RULES
    elif shown := [s for s in lasting_sentences(memory.content[:_HEAD], names) if not _is_polite(s)]:
        section = STATED
    else:
        section = SAID if memory.access_count or (_asserts(memory) and _has_substance(memory.content)) else ""
    return section, shown


@lru_cache(maxsize=16384)  # the sentences of all that a digest considers
def _is_polite(part: str) -> bool:
    """Return whether a sentence is small talk: "Good morning!" is one, though "Good" was a name elsewhere."""
    return is_small_talk(part)


def _asserts(memory: MemoryItem) -> bool:
    """Return whether what was merely said says enough, and more than of a passing moment."""
    parts = (memory.content[start:end] for start, end in sentences(memory.content[:_HEAD]))
    statement = " ".join(p for p in parts if not (_is_polite(p) or is_supposed(p)))
    return asserted_bytes(statement) >= SAID_FROM and not is_passing(statement)


def _has_substance(text: str) -> bool:
    """Return whether a text says enough for a line; of a script without capitals names are not known."""
    return information_score(without_redacted(text)) >= LEAST or text.upper() == text.lower()


def _come_back_to(memories: Sequence[MemoryItem], vectors: Mapping[str, Vector]) -> dict[str, float]:
    """Return how near people's later messages come to each of their messages, 0 to 1: the mean of the nearest."""
    messages = [m for m in memories if m.kind is Kind.EPISODE and may_answer(m.speaker)]
    messages.sort(key=lambda m: (m.state.created_ms, m.id))
    rows = vector_rows([m.id for m in messages], vectors)
    if rows is None:
        return {}
    later = np.clip(np.triu(products_with_earlier(rows).T, 1), 0.0, 1.0)
    nearest, each = np.zeros(len(messages)), np.arange(len(messages))
    for _ in range(COME_BACK_TO):  # sorting the rows would take 30 times as long
        best = later.argmax(axis=1)
        nearest += later[each, best]
        later[each, best] = 0.0
    return dict(zip((m.id for m in messages), (nearest / COME_BACK_TO).tolist(), strict=True))


def _recency(memories: Sequence[MemoryItem]) -> dict[str, float]:
    """Return what each message counts for by its place in time, the newest 1: of few lines the latest hold most."""
    messages = sorted(((said_at(m.state), m.id) for m in memories if m.kind is Kind.EPISODE), reverse=True)
    return {memory: 0.5 ** (HALVINGS * place / len(messages)) for place, (_, memory) in enumerate(messages)}


def _standing(
    memories: Sequence[MemoryItem], places: Mapping[str, tuple[str, Sequence[str]]], older: OlderStatements
) -> dict[str, float]:
    """Return what each of the most important rules counts for, as long as nothing says that it is over."""
    rules = [m for m in memories if places[m.id][0] == RULES and m.id not in older.doubted and _gives_order(m)]
    rules.sort(key=lambda m: (-m.importance, -said_at(m.state), m.id))
    return {m.id: STANDING * max(m.value, m.importance) for m in rules[:MOST_STANDING]}


def _worth(memory: MemoryItem, section: str, value: float, *, brief: bool) -> float:
    """Value now, plus what was ever asked for: value forgets old accesses within weeks, a digest must not.

    What was merely said counts for so much as it asserts, and for more where later messages come back to it; what
    somebody meant to be kept counts more.
    """
    deliberate = memory.kind is not Kind.EPISODE or section == RULES
    ever = math.log1p(memory.access_count) / math.log1p(FULL_ACCESSES)
    worth = value + (EVER_USED_BRIEF if brief else EVER_USED) * min(1.0, ever)
    if deliberate:
        worth *= DELIBERATE
    else:
        worth *= information_score(memory.content) ** (BRIEF_SUBSTANCE if brief else 1.0)
    return worth + (PINNED if memory.pinned else 0.0)


def information_score(text: str) -> float:
    """Return what a message says, 0.5 to 3: by how much it asserts, and by what it dates, names and numbers.

    docs/decisions/0030-memory-summary.md has the measurement.
    """
    found = cached_anchors(text[:_HEAD])
    details = 2 * len(set(found.dates)) + sum(len(set(some)) for some in (found.names, found.numbers, found.code))
    asserted = SLIGHT + (1.0 - SLIGHT) * min(1.0, asserted_bytes(text) / ASSERTED)
    return asserted * (1.0 + TELLING * min(1.0, details / ANCHORS))


def asserted_bytes(text: str) -> int:
    """Return the length of a message's sentences without its questions, in bytes: some characters are words."""
    text = text[:_HEAD]
    parts = (text[start:end] for start, end in sentences(text))
    return sum(len(part.encode("utf-8", "replace")) for part in parts if not part.endswith(_ASKS))


def by_topic(entries: Sequence[DigestEntry]) -> list[DigestEntry]:
    """Return entries so that those about one thing stand together: topics by their worth, the newest entry first.

    Appointments whose days are over come last.
    """
    found = topics(entries)
    most: dict[str, float] = {}
    for entry, topic in zip(entries, found, strict=True):
        most[topic] = max(entry.worth, most.get(topic, 0.0))

    def place(at: int) -> tuple[bool, bool, float, str, int, str]:
        topic, memory = found[at], entries[at].memory
        return entries[at].passed, not topic, -most[topic], topic, -said_at(memory.state), memory.id

    return [entries[at] for at in sorted(range(len(entries)), key=place)]


def topics(entries: Sequence[DigestEntry]) -> list[str]:
    """Return what each entry is about: a fact's subject, else the name in it that most of the others have, or ""."""
    names = [_names(entry.memory) for entry in entries]
    common = Counter(name for found in names for name in found)
    return [min((n for n in found if common[n] > 1), key=lambda n: (-common[n], n), default="") for found in names]


def _names(memory: MemoryItem) -> set[str]:
    if memory.kind is Kind.FACT:
        return {memory.content.partition(":")[0].casefold()}
    if memory.kind is Kind.EPISODE and memory.speaker and has_name(memory.speaker):
        return {memory.speaker.casefold()}
    return {name.casefold() for name in _NAME.findall(memory.content[:_HEAD])} - STOP_WORDS

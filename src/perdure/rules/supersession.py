"""Which statements are compared: a new message or note with the nearest of the same person, and with notes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final, NamedTuple

import numpy as np

from perdure.formulas.products import products_with_one
from perdure.records.digests import same_words
from perdure.records.memory import MESSAGE_SORTS, Kind, Record, Sort, Status
from perdure.records.vector import Vector
from perdure.rules.language.other_subjects import replaces_of_another
from perdure.rules.language.record_numbers import are_other_records, series_labels
from perdure.rules.language.sentences import sentences
from perdure.rules.language.words import may_answer
from perdure.rules.last_said import said_at
from perdure.rules.source_trust import is_trusted, stored_trust
from perdure.rules.worth import find_requests, sort_of

NEAREST: Final = 5  # so many of the nearest statements are compared with a new one
LEAST_COSINE: Final = 0.2  # from this cosine on; docs/decisions/0063-supersession-model.md
LONGEST: Final = 300
"""Characters of a statement; what the model was trained on is shorter, and of longer messages it can tell nothing."""
LIKELY_COSINE: Final = 0.3
"""Below this cosine the later statement is never more than possibly about the same: the model is wrong too often."""
POSSIBLE_FROM: Final = 0.4
"""From this chance on recall shows the later statement beside the earlier one (decision 63)."""
_ASKS: Final = ("?", "？", "؟")  # noqa: RUF001  # the marks of other scripts are meant
_BEHIND: Final = " \t\"'”\u2019»)]*_"
"""What may stand behind the mark of a question."""
_SILENT: Final = (Sort.QUESTION, Sort.SMALL_TALK)


class ComparedPair(NamedTuple):
    """Two statements, in the order in which they were made, with their cosine."""

    earlier: Record
    later: Record
    cosine: float


def is_statement(record: Record) -> bool:
    """Return whether a memory is a short note, or a short message in which a person states something."""
    content = record.content
    return (
        record.state.kind in (Kind.EPISODE, Kind.NOTE)
        and record.state.status is Status.ACTIVE
        and len(content.text) <= LONGEST
        and may_answer(content.speaker)
        and is_trusted(stored_trust(content.metadata))
        and _sort(record) not in _SILENT
    )


def _sort(record: Record) -> Sort:
    """Return what a message does, also of one that was stored before messages had sorts."""
    content = record.content
    if record.state.kind is Kind.NOTE or record.state.sort in MESSAGE_SORTS:
        return record.state.sort
    return sort_of(content.text, content.speaker or "user", answers=False)[0]


def stated_part(text: str) -> str:
    """Return a text without the sentences that ask: a question makes nothing untrue. All of it where all of it asks."""
    parts = [text[start:end] for start, end in sentences(text)]
    stated = [part for part in parts if not part.rstrip(_BEHIND).endswith(_ASKS)]
    return " ".join(stated) if 0 < len(stated) < len(parts) else text


def pairs_of(
    statements: Sequence[Record], vectors: Sequence[Vector], stored: Sequence[Sequence[tuple[Record, float]]]
) -> list[ComparedPair]:
    """Return each statement with the nearest of what is stored and of the statements before it in the list.

    ``stored`` are, for each statement, memories that are stored, with their cosines.
    """
    rows = np.array([np.frombuffer(vector, "<f4") for vector in vectors])
    found: list[ComparedPair] = []
    for at, statement in enumerate(statements):
        before = zip(statements[:at], products_with_one(rows[:at], rows[at]).tolist(), strict=True)
        found += _nearest_pairs(statement, [*stored[at], *before])
    return found


def _nearest_pairs(statement: Record, others: Iterable[tuple[Record, float]]) -> list[ComparedPair]:
    """Return a statement with the nearest of others, the nearest first: of the same person, or one of them a note.

    Beside each of the others stands its cosine.
    """
    near = [(other, cosine) for other, cosine in others if cosine >= LEAST_COSINE and _may_meet(statement, other)]
    near.sort(key=lambda one: (-one[1], one[0].id))
    series = series_labels(record.content.text for record in (statement, *(other for other, _ in near)))
    pairs = (_in_order(statement, other, cosine) for other, cosine in near)
    return list(islice((p for p in pairs if not _is_of_another(p, series)), NEAREST))


def _is_of_another(pair: ComparedPair, series: frozenset[str]) -> bool:
    """Return whether the two are about other records, or the later names a value as replaced, but of another thing."""
    earlier, later = pair.earlier.content.text, pair.later.content.text
    return are_other_records(earlier, later, series) or replaces_of_another(earlier, later)


def _may_meet(statement: Record, other: Record) -> bool:
    """Return whether one of two may make the other untrue: the same words again, or asked to be kept, do not."""
    if not is_statement(other) or _say_the_same(statement, other):
        return False
    of_one = other.content.speaker == statement.content.speaker
    return of_one or Kind.NOTE in (statement.state.kind, other.state.kind)  # a note may say what anybody said


def _say_the_same(one: Record, other: Record) -> bool:
    return not _told_by(one).isdisjoint(_told_by(other))


def _told_by(record: Record) -> set[str]:
    """Return the words of a memory, and of a message those that it asks to have remembered, which became notes."""
    text = record.content.text
    asked = find_requests(text) if record.state.kind is Kind.EPISODE and _sort(record) is Sort.REQUEST else ()
    return {same_words(words).rstrip(".") for words in (text, *(request.content for request in asked))}


def is_likely(pair: ComparedPair, chance: float, least: float) -> bool:
    """Return whether a pair is linked as likely superseded, by the model's chance and the least one of the policy."""
    return chance >= least and pair.cosine >= LIKELY_COSINE


def _in_order(one: Record, other: Record, cosine: float) -> ComparedPair:
    earlier, later = sorted((one, other), key=_said_at)
    return ComparedPair(earlier, later, cosine)


def _said_at(record: Record) -> tuple[int, str]:
    return said_at(record.state), record.id

"""Whose relatives are meant: "my sister Rita is allergic" is said of Rita, and says who the speaker's sister is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from perdure.knowledge.extraction.clauses import Clause, Word
from perdure.knowledge.extraction.lemmas import singular
from perdure.knowledge.extraction.parsed_clause import RawClaim
from perdure.knowledge.extraction.phrases import OWNERS, is_name, name_of, text_gap
from perdure.knowledge.extraction.vocabulary import KIN, ONLY, RELATIONS
from perdure.knowledge.records.facts import Learned
from perdure.rules.language.words import CALENDAR, word_set

_WHICH: Final = word_set("older younger elder eldest oldest youngest little big twin best close old dear late new good")
_ALL: Final = RELATIONS | KIN
_CLOSE: Final = frozenset(map(singular, KIN))
_MOST_NAMES: Final = 3
_AFTER: Final = word_set("i i'm i'd i'll i've me facebook happy")


@dataclass(frozen=True, slots=True)
class Relative:
    """Somebody told by a relation.

    Attributes:
        owner: Whose relative: ``I``, ``we``, ``he`` ...
        relation: In normal form: ``sister``, ``older_brother``.
        name: The words of the name, if one follows.
        at: Index of the first word after the relation; the name, if there is one, begins there.
        close: Everything that is said of such a relative is kept as the owner's.
    """

    owner: str
    relation: str
    name: tuple[Word, ...]
    at: int
    close: bool

    @property
    def one(self) -> bool:
        """Whether there is one of this relation at a time."""
        return self.relation.rpartition("_")[2] in {name_of([word]) for word in ONLY}


def relative_at(clause: Clause, at: int = 0) -> Relative | None:
    """Return the relative that is told at a word: "my sister", "our dog Rex"; None if none is."""
    words = clause.words
    if words[at].low not in OWNERS:
        return None
    noun = at + 1
    while noun < min(len(words), at + 3) and words[noun].low in _WHICH:
        noun += 1
    if noun >= len(words) or not (words[noun].low in _ALL or singular(words[noun].low) in KIN):
        return None
    stop = noun + 1
    while words[noun].low in _ALL and stop < min(len(words), noun + 1 + _MOST_NAMES) and _continues_name(words, stop):
        stop += 1
    relation = name_of([w.low for w in words[at + 1 : noun + 1]])
    close = words[noun].low in KIN or words[noun].low not in _ALL
    return Relative(OWNERS[words[at].low], relation, words[noun + 1 : stop], noun + 1, close)


def _continues_name(words: tuple[Word, ...], at: int) -> bool:
    word, before = words[at], words[at - 1]
    plain = is_name(word) and word.low not in CALENDAR and word.low not in _AFTER and not word.said.isupper()
    return plain and not text_gap(before, word) and not before.low.endswith("'s") and before.end + 1 == word.start


def relative_names(clause: Clause) -> Iterator[RawClaim]:
    """Yield who the relatives are that a clause names: "my sister Rita" is the speaker's ``sister_name``."""
    for at, word in enumerate(clause.words[:-2]):
        if word.low in {"my", "our"} and (found := relative_at(clause, at)) is not None and found.name:
            last = found.name[-1]
            short = last.said[:-2] if last.low.endswith("'s") else last.said
            value = found.name[0].start, last.start + len(short)
            name, span, many = f"{found.relation}_name", (word.start, value[1]), not found.one
            yield RawClaim(found.owner, name, value, span, Learned.STATEMENT, many=many, kind="name")


def of_relative(predicate: str) -> tuple[str, str] | None:
    """Return whose a predicate is that was kept for a close relative: ``sister_home`` is the ``sister``'s ``home``.

    None for what is no relative's, and for the relative's name.
    """
    words = predicate.split("_")
    at = next((i for i, word in enumerate(words) if word in _CLOSE), None)
    rest = "" if at is None else "_".join(words[at + 1 :])
    return None if at is None or rest in {"", "name"} else ("_".join(words[: at + 1]), rest)


def as_owners(owner: Relative, said: RawClaim) -> RawClaim | None:
    """Return what is said of a relative without a name as the owner's: ``daughter_allergy``; None if it says little."""
    if said.predicate in {"is", "do"} or said.predicate.startswith(f"{owner.relation}_"):
        return None if said.predicate in {"is", "do"} else said
    return replace(said, subject=owner.owner, predicate=f"{owner.relation}_{said.predicate}")

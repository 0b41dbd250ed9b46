"""What a message asserts, in a form that can be compared, and how its text is cut into clauses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from perdure.rules.language.sentences import sentences
from perdure.rules.language.words import STOP_WORDS
from perdure.rules.updates.statement_words import EMPTY, MONTHS, stem

LONGEST: Final = 4_000
"""Characters that are read of a text: what people say of themselves stands before the log that they paste."""
MOST: Final = 40
"""Statements of one text."""

Stems = frozenset[str]


@dataclass(frozen=True, slots=True)
class Assertion:
    """One thing that a text asserts.

    Attributes:
        sort: ``count``, ``money``, ``percent``, ``date`` or ``time`` (of a count with a unit, ``count:ms``), or
            ``denied`` or ``done``.
        value: In a normal form: 1200, 04-25, 15:00; empty for what was done or not.
        about: Stems of what is measured or counted; of a deed, the family of its verb.
        topic: Stems of the other content words of its clause, and of the clause that it goes on from; ``=have`` and
            ``=my`` where it says of all that somebody has.
        context: Stems of its whole sentence.
        quote: The clause.
        change: It says that the value has become so.
        was: The value before, where it says so.
        period: Per day, night, week, month or year; empty where it does not say.
        months: Numbers of the months that it is limited to.
        since: The date from which it holds, ``MM-DD``.
        whose: Whose it is: ``me``, or the name or pronoun of somebody else.
        kind: Stems of which of its measures it is: grocery, of a grocery budget.
        objects: Stems of what was done or not, the noun itself last.
        names: Names in its clause, lower case.
    """

    sort: str
    value: str
    about: Stems
    topic: Stems
    context: Stems
    quote: str
    change: bool = False
    was: str = ""
    period: str = ""
    months: frozenset[int] = frozenset()
    since: str = ""
    whose: str = "me"
    kind: Stems = frozenset()
    objects: tuple[str, ...] = ()
    names: Stems = frozenset()

    @property
    def words(self) -> Stems:
        """The stems of all that it is about."""
        return frozenset(w for w in self.about.union(self.topic, self.kind, self.objects) if w[0] != "=")


class AssertionClause(NamedTuple):
    """A part of a sentence."""

    text: str
    before: str
    """The clause before it in the same sentence; empty for the first."""
    context: Stems
    asks: bool
    """The sentence ends as a question."""


_CODE: Final = re.compile(r"```(?s:.*?)(?:```|\Z)")
_BREAK: Final = re.compile(
    r"""[,;](?=\s)(?!\s(?:\d{4}\b|like\s|such\sas\s|including\s))
      | \s[-–—]\s
      | [(](?=\w) | \)
      | \s(?=(?:but|so|because|although|whereas|while|though|especially|given|considering)\s)
      | \s(?=and\s(?:i|i've|i'm|i'll|we|we've|it|it's|he|she|they|my|how|what|can)\b)""",  # noqa: RUF001  # dashes
    re.VERBOSE | re.IGNORECASE,
)
_WORD: Final = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
_NAME: Final = re.compile(r"\b[A-Z][\w'-]+")


def clauses(text: str) -> Iterator[AssertionClause]:
    """Cut a text into clauses, blocks of code left out."""
    plain = _CODE.sub("\n", text).replace("’", "'")  # noqa: RUF001  # the typographic apostrophe is meant
    for start, end in sentences(plain):
        sentence = plain[start:end]
        context = frozenset(stems(sentence))
        before = ""
        for part in _BREAK.split(sentence):
            if stripped := part.strip():
                yield AssertionClause(stripped, before, context, sentence.endswith("?"))
                before = stripped


def words_of(text: str) -> list[str]:
    """Return a text's words in lower case, in order, without the possessive; compounds are taken apart."""
    return [part for w in _WORD.findall(text.lower()) for part in w.removesuffix("'s").split("-") if len(part) > 1]


def stems(text: str, empty: frozenset[str] = EMPTY) -> list[str]:
    """Return the stems of a text's content words, in order; months are none."""
    return [stem(w) for w in words_of(text) if w not in STOP_WORDS and w not in empty and w not in MONTHS]


def names_in(text: str) -> Stems:
    """Return the capitalised words of a clause that are no months, in lower case; its first word is none."""
    found = (m[0].lower().removesuffix("'s") for m in _NAME.finditer(text) if m.start())
    return frozenset(n for n in found if n not in STOP_WORDS and n not in MONTHS and not n.startswith("i'"))

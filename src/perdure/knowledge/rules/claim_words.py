"""What the words around a claim that was handed over say of its value: that it holds beside others, or did before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from perdure.records.outcome import GivenClaim
from perdure.rules.language.replaced_values import replaced_values
from perdure.rules.language.sentences import sentences
from perdure.rules.language.words import word_set

_WORD: Final = re.compile(r"\w+")
_ADDING: Final = word_set("also additionally auch ebenfalls también además aussi également anche inoltre também")
_ADDED: Final = re.compile(
    r"""\btoo\b(?=\s{0,3}(?:[^\w\s]|\Z)) | \bas[ ]well\b
      | (?<![今何誰])(?<=[^\W\u3040-\u309f])も(?![うのしっとちらく]) | 也(?![许許罢就])""",
    re.IGNORECASE | re.VERBOSE,
)
"""What is said to hold beside something: at the end of a clause in English, after a noun in Japanese."""
_CLAUSE_END: Final = re.compile(
    r"[,;:.!?](?=\s|\Z)|\s[-\u2013]\s|\u2014|\s(?:and|but|und|aber|sondern|et|mais|y|pero|sino|e|ma|mas)\s",
    re.IGNORECASE,
)
_ONLY_ADDS: Final = re.compile(
    r"\W*(?:too|as\s+well|also|additionally|auch|ebenfalls|también|además|aussi|également|anche|inoltre|também)\W*",
    re.IGNORECASE,
)
_LEFT: Final = re.compile(
    r"""\b(?: moved | relocated | no\s+longer | not\s.{1,40}any\s?more | instead | rather\s+than | replaced | switched
      | from\s+(?:\w+\s+){1,3}to | used\s+to\s+be | former(?:ly)?
      | von\s+(?:\w+\s+){1,3}(?:nach|zu|auf) | nicht\s+mehr | keine?[nmrs]?\s.{1,40}\smehr | statt | stattdessen
      | (?:um)?gezogen | gewechselt | umgestiegen
      | au\s+lieu | plutôt\s+que | ne\s.{1,40}\splus | déménagé | (?:en|em)\s+(?:vez|lugar) | ya\s+no
      | se\s+ha\s+mudado | se\s+mudó | mudou | já\s+não | não\s.{1,40}\smais | invece | non\s.{1,40}\spiù
      | (?:de|da)\s+(?:\w+\s+){1,3}(?:à|a|para)\s | trasferit[oa]
      )\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""What says that something else is over: "from Rome to", "no longer", "statt"."""


def adds_one(claim: GivenClaim, text: str) -> bool:
    """Whether the clause that says a claim says that its value holds beside others: "also", "too", "auch", "も".

    What a clause says of somebody else adds nothing, and neither does a text that says what is over: the reply to what
    takes another value's place names that value.
    """
    if _LEFT.search(text) or replaced_values(text):
        return False
    return any(map(_adds, _clauses_of(claim, text)))


def says_ended(claim: GivenClaim, text: str) -> bool:
    """Whether the clause that denies a value says that it held before: "no longer", "nicht mehr", "ya no"."""
    return claim.denied and any(map(_LEFT.search, _clauses_of(claim, text)))


def _clauses_of(claim: GivenClaim, text: str) -> Iterator[str]:
    value = claim.value.casefold()
    said = [text[start:end].casefold() for start, end in sentences(text)]
    said = [sentence for sentence in said if value in sentence] or [(claim.quote or text).casefold().rstrip(" .!?")]
    return (clause for sentence in said for clause in _clauses_with(value, sentence))


def _adds(clause: str) -> bool:
    return _ADDED.search(clause) is not None or not _ADDING.isdisjoint(_WORD.findall(clause))


def _clauses_with(value: str, sentence: str) -> Iterator[str]:
    """Yield the clauses that have a value, with what only adds behind them (", too"); a sentence of one clause too."""
    bounds = [0, *(at for end in _CLAUSE_END.finditer(sentence) for at in end.span()), len(sentence)]
    start = sentence.find(value)
    if start < 0 and len(bounds) == 2:  # noqa: PLR2004  # its beginning and its end
        yield sentence
    while start >= 0:
        begin = max(at for at in bounds[::2] if at <= start)
        ends = [at for at in bounds[1::2] if at >= start + len(value)]
        rest = sentence[ends[0] : ends[1]] if len(ends) > 1 else ""
        yield sentence[begin : ends[0]] + (rest if _ONLY_ADDS.fullmatch(rest) else "")
        start = sentence.find(value, ends[0])

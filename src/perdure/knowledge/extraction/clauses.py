"""Clauses: the parts of a message that state something, cut out of what asks, supposes, quotes or is code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from perdure.knowledge.extraction.dates import dates_in
from perdure.records.instant import Instant
from perdure.rules.language.sentences import sentences
from perdure.rules.language.words import word_set

_SPLIT: Final = re.compile(
    r""",(?=\s)(?!\s(?:19|20)\d\d\b)(?!\s(?:and\s)?not\b) | [;:](?=\s) | [—–…()\[\]] | \.{2,} | \s-{1,2}\s
      | \s(?=(?:and|but|so|because|since|cause|'cause|though|although|while|considering|which|when|if|until|unless|
        whereas|even\sthough|especially\ssince|so\sthat)\s
        (?:(?:also|then|now|that|since|recently|just)\s)?(?:i|we|my|our|they|he|she|it|you|the|has|have|can|could|how)
        (?:['’]\w+)?(?:\s|\Z))""",  # noqa: RUF001  # the typographic marks are meant
    re.IGNORECASE | re.VERBOSE,
)
_RULE: Final = re.compile(r"(?:please\s+)?(?:always|never)\s", re.IGNORECASE)
_CONDITION: Final = re.compile(r"\s*(?:when|if|unless|until|so\s+that)\b", re.IGNORECASE)
_WORD: Final = re.compile(r"(?:[^\s,;!?()\[\]\"“”`*]|(?<=\d),(?=\d))+")
_QUOTED: Final = re.compile(r"[\"“][^\"”\n]{1,400}[\"”]")
_LINE_OF_QUOTE: Final = re.compile(r"\s*(?:>|\|)|(?: {4}|\t)\S")
_MOST_WORDS: Final = 60
"""Words of a clause that are read: nobody says more before the verb that counts."""

_ASKING: Final = word_set("what how when where who whom whose why which")
_INVERTED: Final = word_set("is are was were do does did has have had can could would will should shall may am")
_ASKED: Final = word_set("i you we they he she it there this that these those the my our your any anyone anybody")
_WONDERING: Final = word_set(
    "wondering wonder wondered guess suppose imagine wish hope hoping think thinking thought believe"
)
_SUPPOSING: Final = word_set(
    "if unless when whenever whether until while before after once as suppose maybe perhaps imagine assuming let's"
)
LEADING: Final = word_set("""
    and but so because since though although cause 'cause well oh ah yeah yes yep hey hi wow thanks also then now plus
    actually honestly anyway btw currently recently lately luckily fortunately unfortunately sadly besides however
    anyhow basically especially considering even that sure ok okay right lol haha fyi first finally um hmm
    """)


TextSpan = tuple[int, int]
"""Where something stands in the text: first character, one past the last."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a clause: as said, in lower case with straight apostrophes, and where it stands in the text."""

    said: str
    low: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause that states something.

    Attributes:
        words: Its words, leading conjunctions and times left out.
        start: Where it begins in the text.
        end: Where it ends.
        at: The day that it names outside its value, if it names one: (start, end, instant) of each.
    """

    words: tuple[Word, ...]
    start: int
    end: int
    at: tuple[tuple[int, int, int], ...]

    @property
    def lows(self) -> list[str]:
        """Its words in lower case."""
        return [word.low for word in self.words]

    def low(self, at: int) -> str:
        """Return a word in lower case; empty where there is none."""
        return self.words[at].low if 0 <= at < len(self.words) else ""

    def find(self, low: str, first: int, last: int) -> int | None:
        """Return the index of a word between two others, the last excluded; None if it is not there."""
        return next((i for i in range(first, min(len(self.words), last)) if self.words[i].low == low), None)

    def day_at(self, at: int) -> tuple[int, int] | None:
        """Return where the day stands that a word belongs to; None if it belongs to none."""
        if not 0 <= at < len(self.words):
            return None
        return next(((s, e) for s, e, _ in self.at if s <= self.words[at].start < e), None)

    def day_beside(self, *places: TextSpan) -> Instant | None:
        """Return the day that it names beside some values."""
        return next((at for s, e, at in self.at if all(e <= p[0] or s >= p[1] for p in places)), None)


def statements(text: str) -> Iterator[tuple[int, int]]:
    """Return the sentences that may state something: no code, no quoted lines."""
    fenced = -1
    for start, end in sentences(text):
        if text.startswith("```", start):
            fenced = end
            continue
        line = text.rfind("\n", max(0, start - 8), start) + 1 or (0 if start < 8 else start)  # noqa: PLR2004
        if start >= fenced and not _LINE_OF_QUOTE.match(text[line : start + 1]):
            yield start, end


def clauses(text: str, start: int, end: int, said_at: int) -> list[Clause]:
    """Return the clauses of one sentence that state something.

    A clause that asks ends what is stated: what follows it belongs to the question. A sentence that ends with a
    question mark states only what stands before such a clause.
    """
    sentence = text[start:end]
    quoted = (
        [(start + q.start(), start + q.end()) for q in _QUOTED.finditer(sentence)]
        if '"' in sentence or "“" in sentence
        else []
    )
    found: list[Clause] = []
    asked = False
    before: tuple[Word, ...] = ()
    for begin, stop in _parts(sentence, start):
        words = _words(text, begin, stop)
        if not words or any(q <= words[0].start < r for q, r in quoted):
            continue
        if _asks(words):
            asked = True
            break
        if words[0].low == "according" and len(words) > 1 and words[1].low == "to":
            break  # what follows is somebody else's word
        if words[0].low == "which" and len(words) > 2 and words[1].low in {"has", "have", "was"}:  # noqa: PLR2004
            words = (*_antecedent(before), *words)
        before = words
        clause = _clause(text, words, stop, said_at)
        if clause is not None:
            found.append(clause)
    return found if asked or not sentence.endswith("?") else []


def _antecedent(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Return what "which" is about: the last noun phrase of the clause before, from its determiner on."""
    for at in range(len(words) - 2, max(-1, len(words) - 8), -1):
        if words[at].low in {"my", "our", "the"}:
            return words[at:]
    return ()


def _parts(sentence: str, offset: int) -> Iterator[tuple[int, int]]:
    begin = 0
    rule = sentence[:1] in "aAnNpP" and _RULE.match(sentence) is not None
    for cut in _SPLIT.finditer(sentence):
        if rule and _CONDITION.match(sentence, cut.end()):
            continue  # when it holds belongs to the rule
        if cut.start() > begin:
            yield offset + begin, offset + cut.start()
        begin = cut.end()
    if begin < len(sentence):
        yield offset + begin, offset + len(sentence)


def _words(text: str, start: int, end: int) -> tuple[Word, ...]:
    found = []
    for word in _WORD.finditer(text, start, end):
        said = word[0].rstrip(".:'’")  # noqa: RUF001
        if said and said not in "-–—#":  # noqa: RUF001
            begin = word.start()
            found.append(Word(said, said.lower().replace("’", "'"), begin, begin + len(said)))  # noqa: RUF001
            if len(found) >= _MOST_WORDS:
                break
    return tuple(found)


def _asks(words: tuple[Word, ...]) -> bool:
    lows = [word.low for word in words[:6]]
    while lows and lows[0] in LEADING and lows[0] != "which":
        lows = lows[1:]
    if not lows:
        return False
    if lows[0].split("'")[0] in _ASKING:
        return lows[0] != "which" or len(lows) < 2 or lows[1] not in {"has", "is", "was", "have"}  # noqa: PLR2004
    if lows[0] in _INVERTED and len(lows) > 1 and lows[1].split("'")[0] in _ASKED:
        return True
    return "wondering" in lows or lows[0] in {"any", "got", "should"} or lows[:2] == ["i", "wonder"]


def _clause(text: str, words: tuple[Word, ...], end: int, said_at: int) -> Clause | None:
    """Return a clause without what leads it in, or None if it supposes."""
    dates = tuple((d.start, d.end, d.at) for d in dates_in(text[words[0].start : end], said_at))
    shifted = tuple((words[0].start + s, words[0].start + e, at) for s, e, at in dates)
    at = 0
    while at < len(words):
        low = words[at].low
        if low in _SUPPOSING:
            return None
        if low == "since" and at + 2 < len(words) and words[at + 2].low == "last":
            return None
        day = next((e for s, e, _ in shifted if s == words[at].start), None)
        if day is not None:
            at = next((i for i, w in enumerate(words) if w.start >= day), len(words))
        elif low in LEADING:
            at += 1
        else:
            break
    if at >= len(words) or any(word.low in _WONDERING for word in words[at : at + 3]):
        return None
    return Clause(words[at:], words[at].start, end, shifted)

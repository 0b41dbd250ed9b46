"""What a text says no longer holds: "PostgreSQL instead of MySQL", "moved from Monday to Thursday", "config/ is gone".

English; in other languages a text replaces nothing here, and what it says stands beside what was said before.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from perdure.records.patterns import lazy_pattern
from perdure.rules.language.sentences import sentences
from perdure.rules.language.words import CALENDAR, STOP_WORDS, word_set

_WORD: Final = r"(?:[^\s,;:!?()]|(?<=\d)[,:](?=\d))+"
_OLD: Final = rf"(?P<old>{_WORD}(?:\s+{_WORD}){{0,3}}?)"
_END: Final = (
    r"(?=,(?!\d)|:(?!\d)|[;!?()]|\.(?:\s|\Z)|\s*\Z|\s+(?:for|because|as|since|and|but|so|when|if|which|that|any\s?more|now|from|in|on"
    r"|at|to|with|this|by)\b)"
)
_MOVES: Final = (
    r"\b(?:switch|mov|chang|migrat|shift|went|go|rais|increas|lower|reduc|decreas|postpon|resched|cut|renam)\w*\b"
)
_REMOVABLE: Final = (
    rf"(?:,\s{{0,9}}|\s{{1,9}})(?:instead\s+of|rather\s+than)\s+{_OLD}{_END}",
    rf",\s*(?:and\s+)?not\s+(?:(?:on|in|at|to|with|by|every)\s+)?{_OLD}{_END}",
    rf"(?<=\s)from\s+{_OLD}\s+(?=to\s)",
    (
        rf"\s(?:is|are|was|were)\s+no\s+longer\s+(?:(?:on|in|at|with|by)\s+)?{_OLD}[,;]\s*(?:but\s+|and\s+)?"
        r"(?:it|they|he|she|we|that)\b(?=\s)"
    ),
    rf"(?<=\s)(?:drop|dropped|abandon|abandoned|give\s+up|gave\s+up)\s+{_OLD}\s+and\s+",
    rf",\s*(?:and\s+|but\s+)?no\s+longer\s+(?:(?:on|in|at|with|by)\s+)?{_OLD}{_END}",
    rf",\s*(?:and\s+)?the\s+{_OLD}\s+one\s+(?:is|was|has\s+been)\s+(?:cancelled|canceled|dropped|gone|off)\b(?:\s+for\s+good)?",
)
_NOT_REMOVABLE: Final = (
    rf"\bno\s+longer\s+(?:\w+s?\s+)?(?:(?:on|in|at|with|by)\s+)?{_OLD}{_END}",
    rf"\b(?:dropped|replaced|cancelled|canceled|abandoned|got\s+rid\s+of)\s+{_OLD}{_END}",
    r"(?<![^\s,;:])(?P<old>[^\s,;:]+)\s+is\s+gone\b",
    (  # of names, days and numbers: "the leftovers are gone" takes nothing back
        rf"\bthe\s+(?=(?-i:[A-Z0-9])){_OLD}(?:\s+(?:ones?|slots?|days?|dates?|times?|runs?))?\s+(?:is|are|was|were)\s+"
        r"(?:gone|cancelled|canceled|dropped|over|off)\b"
    ),
    r"(?:\A|[,;:(.]\s|\b(?:because|since|as)\s)(?P<old>\d[^\s,;:]*)(?:\s\w+)?\s(?:was|were)\s(?:(?:way|far|much)\s)?too\s\w",
)
_PATTERNS: Final = tuple(
    (lazy_pattern(pattern, re.IGNORECASE), removable)
    for patterns, removable in ((_REMOVABLE, True), (_NOT_REMOVABLE, False))
    for pattern in patterns
)
_RETURNS: Final = tuple(
    lazy_pattern(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:back\s+(?:to|on)|revert\w*\s+to)\s+(?:using\s+)?(?:the\s+)?{_OLD}(?:{_END}|\s+after\b)",
        rf"(?:\A|[,;:.!]\s){_OLD}\s+it\s+is(?=\s*[,;.!]|\s*\Z)",
    )
)
"""What says that something holds again: "let's go back to npm", "scrap that, npm it is"."""
_DECIDING: Final = word_set(
    "let go going gone went scrap ok okay decide decided switch switched moved please after all"
)
"""What stands beside it and says not of what: "ok, let's go"."""
_CHANGES: Final = lazy_pattern(_MOVES, re.IGNORECASE)
_BEING: Final = lazy_pattern(r"\b(?:is|are|was|were|be|runs?|goes|lasts?)\s+\Z", re.IGNORECASE)
_NEVER: Final = lazy_pattern(r"\b(?:never|not)\b|n['’]t\b", re.IGNORECASE)  # noqa: RUF001  # the typographic apostrophe
_ON_TO: Final = lazy_pattern(r"to\s+\S+\s+to\b", re.IGNORECASE)
_NEAR: Final = 10  # characters before "from", for the verb there
_CLAUSE: Final = 40  # characters before it in which it may be denied
_FROM_HERE: Final = lazy_pattern(r"\b(?:now|instead|as\s+of|from\s+(?:[^\W_]+\s+){1,3}on)\b", re.IGNORECASE)
"""What else says that something is not as it was: "tickets are 12 euros now"."""
_SUBJECT: Final = lazy_pattern(
    r"\W*(?:(?:the|our|my|your|his|her|their|this|that|so|and|but|also|then|right|ok|okay|oh)\b\W+)*([^\W\d_]+)",
    re.IGNORECASE,
)
_TOKEN: Final = lazy_pattern(r"[^\W_]+(?:[./@:_-][^\W_]+)*")
_SLASH: Final = lazy_pattern(
    rf"(?<=day)/(?=(?:{'|'.join(sorted(d for d in CALENDAR if d.endswith('day')))})\b)", re.IGNORECASE
)
"""Between two days: "the Tuesday/Thursday slots" are those of both."""
_PLURAL_FROM: Final = 4
_HEAD: Final = 2000
_PAST: Final = (2, 3, 4, 5, 6)
"""The places of the patterns that only tell what was: "from Monday", "no longer on Monday", "drop Monday and"."""
_FROM: Final = 2
"""The place of the pattern that also needs a verb of change."""


def changes(text: str) -> bool:
    """Return whether a text says that something changes."""
    head = text[:_HEAD]
    return _CHANGES.search(head) is not None or _FROM_HERE.search(head) is not None


@lru_cache(maxsize=4096)
def subjects(text: str) -> frozenset[str]:
    """Return the words that a text's sentences begin with, articles aside, lower case: mostly what they are about."""
    head = text[:_HEAD]
    found = (_SUBJECT.match(head[start:end]) for start, end in sentences(head))
    return frozenset(_singular(m[1].lower()) for m in found if m and m[1].lower() not in STOP_WORDS)


class ReplacedValue(NamedTuple):
    """A value that a text says no longer holds."""

    start: int
    """Where the words begin that may be left out: the text then says what holds, and nothing else."""
    end: int
    """Where they end; the same as ``start`` where nothing may be left out."""
    past: bool
    """The words only say what was: they may be left out whatever was said before."""
    words: frozenset[str]
    """The content words of the value, as ``content_words`` returns them."""
    text: str
    """The value as it is named."""


@lru_cache(maxsize=4096)
def content_words(text: str) -> frozenset[str]:
    """Return the words of a text that say something, lower case and without plurals; paths and names stay whole."""
    return frozenset(content_words_in_order(text))


def content_words_in_order(text: str) -> list[str]:
    """Return the same words in their order, each as often as it stands there."""
    return [_singular(w) for w in _TOKEN.findall(text[:_HEAD].lower()) if w not in STOP_WORDS]


@lru_cache(maxsize=4096)
def replaced_values(text: str) -> tuple[ReplacedValue, ...]:
    """Return the values that a text says hold no longer; its first 2,000 characters count."""
    head = text[:_HEAD]
    found: list[ReplacedValue] = []
    for place, (pattern, removable) in enumerate(_PATTERNS):
        found += [
            ReplacedValue(
                match.start(),
                match.end() if removable else match.start(),
                place in _PAST,
                words,
                match["old"].rstrip("."),
            )
            for match in pattern.finditer(head)
            if (words := content_words(_SLASH.sub(" ", match["old"])))
            and not match["old"].lower().startswith("from ")  # "not from 8 to 16"
            and (place != _FROM or _is_moved(head, match.start(), match.end()))
        ]
    return tuple(found)


def _is_moved(text: str, start: int, end: int) -> bool:
    """Return whether "from A to" tells from where something was moved: not "is from 9 to 17", "from 80 to 82 to 79"."""
    return (
        _CHANGES.search(text, 0, start) is not None
        and _BEING.search(text, max(0, start - _NEAR), start) is None
        and _NEVER.search(text, max(0, start - _CLAUSE), start) is None
        and _ON_TO.match(text, end) is None
    )


class ReturnedValue(NamedTuple):
    """A value that a text says holds again."""

    words: frozenset[str]
    """Its content words."""
    beside: frozenset[str]
    """The other content words of the text: of what the value is; empty where it does not say."""


def returned_values(text: str) -> frozenset[ReturnedValue]:
    """Return the values that a text says hold again; its first 2,000 characters count."""
    head = text[:_HEAD]
    found = [match for pattern in _RETURNS for match in pattern.finditer(head)]
    return frozenset(
        ReturnedValue(
            words := content_words(match["old"]),
            content_words(f"{head[: match.start()]} {head[match.end() :]}") - words - CALENDAR - _DECIDING,
        )
        for match in found
    )


def _singular(word: str) -> str:
    plural = len(word) >= _PLURAL_FROM and word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if plural else word

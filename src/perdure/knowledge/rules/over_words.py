"""Where a text says what holds no longer, and whether it says more: by its clauses, whatever its language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from perdure.knowledge.extraction.references import USER
from perdure.knowledge.records.facts import Fact
from perdure.records.recall import TextCaveats
from perdure.rules.language.clauses import finer_clauses, whole_statements
from perdure.rules.language.replaced_values import content_words
from perdure.rules.language.sentences import sentences
from perdure.rules.language.words import CALENDAR, DAYS

_HEAD: Final = 4000  # characters of a text that are read; a longer one says more than its facts
_UNSPACED: Final = re.compile(r"[\u2e80-\U0003ffff]")
_LEAST_WORDS: Final = 2
_LEAST_BESIDES: Final = 4  # in the clause that says a fact, where words around it are often its own in other forms
_STEM: Final = 5  # so many letters tell a word, whatever its ending
_LEAST_LETTERS: Final = 3  # shorter words are articles and the like in many languages
_WHEN: Final = frozenset(word[:_STEM] for word in CALENDAR | DAYS)
"""Words that only say when something is so."""


@dataclass(frozen=True, slots=True)
class FactWords:
    """The words by which a text may say a fact."""

    about: str  # whom or what it is about, by name
    subject: frozenset[str]
    predicate: frozenset[str]
    value: frozenset[str]
    shown: str  # the value, in small letters

    @classmethod
    def of(cls, fact: Fact, content: str) -> FactWords:
        """Return the words of a fact, whose memory says ``content``: whom it is about comes first there."""
        subject, predicate = content.partition(": ")[0], fact.predicate.replace("_", " ")
        return cls(subject, _stems(subject), _stems(predicate), _stems(fact.value.text), fact.value.text.casefold())

    def is_named_in(self, clause: str) -> bool:
        """Whether a clause has a word of the predicate or the value."""
        return not (self.predicate | self.value).isdisjoint(_stems(clause)) or self.has_value(clause)

    def is_said_in(self, text: str) -> bool:
        """Whether a sentence of a text has the value and another word of the predicate."""
        parts = [text[start:end] for start, end in sentences(text[:_HEAD])]
        return any(self.has_value(part) and (self.predicate - self.value) & _stems(part) for part in parts)

    def is_told_in(self, text: str) -> bool:
        """Whether a sentence has the value and whom it is about; of who speaks, a word of the predicate instead."""
        parts = [text[start:end] for start, end in sentences(text[:_HEAD])]
        named = [_stems(part) for part in parts if self.has_value(part)]
        if self.about == USER:
            return any((self.predicate - self.value) & words for words in named)
        return bool(self.subject) and any(self.subject <= words for words in named)

    def has_value(self, clause: str) -> bool:
        """Whether a text has the value: all of its words, or in a script without spaces its characters."""
        whole = bool(self.value) and self.value <= _stems(clause)
        return whole or (_UNSPACED.search(self.shown) is not None and self.shown in clause.casefold())


def says_more(text: str, facts: Sequence[FactWords]) -> bool:
    """Return whether a text says clearly more than some facts.

    It does if it has a clause of at least two words, not counting stop words and those that the facts are about,
    without any word of their predicates and values. Where no clause has such a word, one of them says the facts in
    others. Beside a statement with a value, one word more of what the facts are about is enough. So are, in the clause
    that says a fact, four words besides.
    """
    if len(text) > _HEAD:
        return True
    parts = finer_clauses(text)
    beside = _beside(parts, facts)
    about = frozenset[str]().union(*(fact.subject for fact in facts))
    telling = [clause for clause in beside if _count(_stems(clause) - about) >= _LEAST_WORDS]
    if len(telling) > (0 if len(beside) < len(parts) else 1):
        return True
    stated = whole_statements(text)
    if any(fact.has_value(one) for fact in facts for one in stated) and any(
        about & _stems(one) and _stems(one) - about for one in _beside(stated, facts)
    ):
        return True
    told = about.union(*(fact.predicate | fact.value for fact in facts)) | _WHEN
    return any(_says_besides(clause, facts, told) for clause in parts if clause not in beside)


def _beside(parts: Iterable[str], facts: Sequence[FactWords]) -> list[str]:
    return [part for part in parts if not any(fact.is_named_in(part) for fact in facts)]


def _says_besides(clause: str, facts: Sequence[FactWords], told: frozenset[str]) -> bool:
    """Return whether a clause that says facts has other words than those by which it may say them."""
    named = _stems(clause)
    said = any(fact.has_value(clause) for fact in facts)
    besides = [word for word in named - told if len(word) >= _LEAST_LETTERS]
    return said and _UNSPACED.search(clause) is None and len(besides) >= _LEAST_BESIDES


def over_in_text(text: str, over: Sequence[tuple[FactWords, str]]) -> TextCaveats:
    """Return the sentences that say what is over, if others of two words remain; and what is to be said of the rest.

    Beside each fact stands what it says.
    """
    parts, spans, remarks = sentences(text[:_HEAD]), set[tuple[int, int]](), []
    for fact, content in over:
        found = [(start, end) for start, end in parts if fact.has_value(text[start:end])]
        found = found or [(start, end) for start, end in parts if fact.predicate & _stems(text[start:end])]
        spans |= {(a, b) for a, b in found if not fact.subject.isdisjoint(_stems(text[a:b]))} or set(found)
        remarks += [] if found else [content]
    if any(_count(_stems(text[start:end])) >= _LEAST_WORDS for start, end in parts if (start, end) not in spans):
        return TextCaveats(tuple(sorted(spans)), tuple(remarks))
    return TextCaveats((), tuple(content for _, content in over))


def _stems(text: str) -> frozenset[str]:
    return frozenset(word if _UNSPACED.search(word) else word[:_STEM] for word in content_words(text))


def _count(words: Iterable[str]) -> int:
    """Return how many words there are; in a script without spaces two characters count as one."""
    return sum(max(1, len(_UNSPACED.findall(word)) // 2) for word in words)

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
from perdure.rules.language.function_words import FUNCTION_WORDS, TIME_WORDS
from perdure.rules.language.replaced_values import content_words
from perdure.rules.language.sentences import sentences
from perdure.rules.language.spoken_values import has_words_of, is_number, says_value

_HEAD: Final = 4000  # characters of a text that are read; a longer one says more than its facts
_UNSPACED: Final = re.compile(r"[\u2e80-\U0003ffff]")
_LEAST_WORDS: Final = 2
_LEAST_BESIDES: Final = 4  # in the clause that says a fact, where words around it are often its own in other forms
_STEM: Final = 5  # so many letters tell a word, whatever its ending
_LEAST_LETTERS: Final = 3  # shorter words are articles and the like in languages without a list of these
_FUNCTION_WORDS: Final = frozenset[str]().union(*map(content_words, FUNCTION_WORDS))
_TIME_WORDS: Final = frozenset[str]().union(*map(content_words, TIME_WORDS))
_DATE: Final = re.compile(r"(?:19|20)\d\d(?:-\d\d){0,2}")


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
        """Whether a sentence of a text has the value and another word of the predicate, or says it in other words."""
        return any(self._is_said_by(text[start:end]) for start, end in sentences(text[:_HEAD]))

    def _is_said_by(self, sentence: str) -> bool:
        """Whether a sentence says a fact; a bare number is not enough beside what the fact is about."""
        names_predicate = not (self.predicate - self.value).isdisjoint(_stems(sentence))
        if names_predicate and self.has_value(sentence):
            return True
        is_said = has_words_of(sentence, self.about) and says_value(sentence, self.shown)
        return is_said and (names_predicate or not is_number(self.shown))

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

    It does if it has a clause of at least two words, not counting those that the facts are about, without any word of
    their predicates and values. Where no clause has such a word, one of them says the facts in others. Beside a
    statement with a value, one word more of what the facts are about is enough. So are, in the clause that says a fact,
    four words besides; there words that build sentences, or say when something is so, do not count.
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
    told = about.union(*(fact.predicate | fact.value for fact in facts))
    return any(_says_besides(clause, facts, told) for clause in parts if clause not in beside)


def _beside(parts: Iterable[str], facts: Sequence[FactWords]) -> list[str]:
    return [part for part in parts if not any(fact.is_named_in(part) for fact in facts)]


def _says_besides(clause: str, facts: Sequence[FactWords], told: frozenset[str]) -> bool:
    """Return whether a clause that says facts has other words than those by which it may say them."""
    said = any(fact.has_value(clause) for fact in facts)
    besides = [word for word in _telling_stems(clause) - told if len(word) >= _LEAST_LETTERS]
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
    return _stems_of(content_words(text))


def _stems_of(words: Iterable[str]) -> frozenset[str]:
    return frozenset(word if _UNSPACED.search(word) else word[:_STEM] for word in words)


def _telling_stems(text: str) -> frozenset[str]:
    """Return the stems of those words that tell something else than when it is so."""
    slight = {w for w in content_words(text) if w in _FUNCTION_WORDS or w in _TIME_WORDS or _DATE.fullmatch(w)}
    return _stems_of(content_words(text) - slight)


def _count(words: Iterable[str]) -> int:
    """Return how many words there are; in a script without spaces two characters count as one."""
    return sum(max(1, len(_UNSPACED.findall(word)) // 2) for word in words)

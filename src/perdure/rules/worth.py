"""What a message is worth keeping: its sort, by who says it and how, and what it asks to have remembered.

Features that hold in every language come first: role, length, question marks, digits, names and identifiers, whether it
answers a question. Lists of words only help.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from perdure.records.memory import Sort, Trust
from perdure.records.patterns import lazy_pattern
from perdure.rules.language.markdown import without_markup
from perdure.rules.language.requests import words_to_remember
from perdure.rules.language.sentences import sentences
from perdure.rules.language.words import word_set
from perdure.rules.language.worth_words import DECIDES, REMEMBER, SMALL_TALK
from perdure.rules.lasting import is_rule
from perdure.rules.pattern_extraction import NoteCandidate, find_candidates
from perdure.rules.source_trust import is_person, is_trusted, takes_over

_ASKING: Final = lazy_pattern(r"[?\uff1f\u061f\u037e\u055e\u1367\u2047\u2048\u2049][\s\W]*\Z")
"""A sentence's question mark: Latin, full-width, Arabic, Greek, Armenian, Ethiopic."""
_WORD: Final = lazy_pattern(r"[^\W_]+")
_ALSO_ASKS: Final = lazy_pattern(r"\bplease\s+(?:remember|note|keep)\s+(?:that|this|it)\b", re.IGNORECASE)
"""A request beside what is to be remembered: it need not begin its sentence."""
_TELLING: Final = lazy_pattern(r"[0-9]|[^\W\d_][_/.@:\\][^\W\d_]|[a-z][A-Z]|`")
"""Digits, identifiers, paths, addresses and code: whatever is short and has one says something."""
_SIGNS: Final = lazy_pattern(
    r"(?<!\S)(?:[+-]1|[0-9]{1,2}[/-][0-9]{1,2}|[0-9]{1,3}%|(?:[a-z]|[A-Za-z][a-z]|[a-z]{3})8|[A-Za-z]8r)[!.]*(?!\S)"
)
"""Votes, scores and codes that agree ("+1", "10/10", "10-4"), and words of chats in which 8 is a syllable ("gn8")."""
_LONE_NUMBER: Final = lazy_pattern(r"\s*[0-9]{1,2}[!.]*\s*")
_NAME: Final = lazy_pattern(r"(?<![.!?。！？\s])\s+[A-Z][^\W\d_]+")  # noqa: RUF001  # full-width marks are meant
_IDEOGRAPHS: Final = "\u2e80"  # scripts from here on are written without spaces; two letters count as a word
_HEAD: Final = 2000  # characters that are looked at: what a message does shows in its beginning
_BRIEF: Final = 2  # words that say nothing by themselves, unless they answer a question
_SAID_BESIDE: Final = 4  # so many words besides a question make a statement that also asks
PATTERNS: Final = frozenset({"explicit", "important"})
_OPENS: Final = lazy_pattern(r"remember\b|note\s+that\b|(?:important|note|key point):", re.IGNORECASE)
"""Not "save" and "store": to a coding agent those are about files."""
_POLITE: Final = word_set("""
    please also and but so ok okay yes no now then hey well just must always can could would you
    """)
_ASKED: Final = 0.95  # confidence of what is asked for politely: that of what is asked for plainly
_MAY: Final = lazy_pattern(r"\byou (?:can|could|would)\b")  # "you could remember that as a trick" advises
_POINTS: Final = lazy_pattern(r"(?:one|it|this|that|these|those|them)\b[^:]*\Z", re.IGNORECASE)
"""Words that stand for what was said before: "remember that one" asks for the sentence before it."""


def _phrases(lists: Iterable[str]) -> re.Pattern[str]:
    """Return an expression of the phrases of some lists, each as whole words."""
    listed = {phrase.strip() for text in lists for line in text.splitlines() for phrase in line.split("|")} - {""}
    found = (_whole(phrase) for phrase in sorted(listed, key=lambda p: (-len(p), p)))
    return lazy_pattern("|".join(found), re.IGNORECASE)


def _whole(phrase: str) -> str:
    """Return an expression of a phrase that does not stand within a word, where its script has spaces."""
    first, last = (r"\b" if c.isalnum() and c < _IDEOGRAPHS else "" for c in (phrase[0], phrase[-1]))
    return first + re.escape(phrase) + last


_SMALL_TALK: Final = frozenset(word for words in SMALL_TALK.values() for word in words.split())
_DECIDES: Final = _phrases(DECIDES.values())
_REMEMBER: Final = _phrases(REMEMBER.values())


def sort_of(text: str, role: str, *, answers: bool = False) -> tuple[Sort, str]:
    """Return what a message does, and by what that shows.

    Of a long text the first 2,000 characters count. ``answers`` says that the message before it asks something.
    """
    head = text[:_HEAD]
    if _is_small_talk(head, answers=answers) or (not answers and _agrees_in_signs(head)):
        return Sort.SMALL_TALK, "small talk"
    if not is_person(role):
        return Sort.REPLY, f"said by the {role.lower()}"
    return _sort_of_persons(head, answers=answers)


def _sort_of_persons(text: str, *, answers: bool) -> tuple[Sort, str]:
    if takes_over(text):
        return Sort.STATEMENT, "tells its reader to ignore instructions"
    parts = [text[start:end] for start, end in sentences(text) if not text.startswith("```", start)]
    statements = [part for part in parts if not _ASKING.search(part)]
    if find_requests(text) or any(_REMEMBER.match(part) or _ALSO_ASKS.search(part) for part in statements):
        return Sort.REQUEST, "asks to remember it"
    decides = any(_DECIDES.search(part) for part in statements)
    if decides or is_rule(text):
        return Sort.DECISION, "decides or corrects" if decides else "says what is always or never done"
    if len(statements) < len(parts) and all(_is_small_talk(part, answers=False) for part in statements):
        return Sort.QUESTION, "a question"
    if len(statements) < len(parts) and sum(map(_size, statements)) < _SAID_BESIDE:
        return Sort.QUESTION, "a question"
    return Sort.STATEMENT, "answers a question" if answers else "a statement"


def is_small_talk(text: str) -> bool:
    """Return whether a message says nothing, as ``sort_of`` finds it; without looking at what else it may do."""
    return _is_small_talk(text[:_HEAD], answers=False)


def is_polite(text: str) -> bool:
    """Return whether a message only thanks, greets or agrees: all of its words are polite ones, and it asks nothing."""
    words = _WORD.findall(text[:_HEAD].lower())
    return bool(words) and _SMALL_TALK.issuperset(words) and not (ends_with_question(text) or _tells(text[:_HEAD]))


def ends_with_question(text: str) -> bool:
    """Return whether a message ends with a question."""
    return _ASKING.search(text) is not None


def _is_small_talk(text: str, *, answers: bool) -> bool:
    """Return whether a text says nothing: no word but polite ones, or next to none and nothing that tells."""
    words = _WORD.findall(text.lower())
    if not words:
        return not _tells(text)
    if ends_with_question(text) or _tells(text):
        return False
    if all(word in _SMALL_TALK for word in words):
        return True
    return not answers and _size(text) <= _BRIEF and not _NAME.search(text)


def _agrees_in_signs(text: str) -> bool:
    """Return whether a whole message is votes, scores and the like beside polite words, or one small number.

    Beside another word, and after a question, the same signs tell something: "Coverage 100%", "Gate 10-4".
    """
    rest, found = _SIGNS.subn(" ", text)
    if not found:
        return _LONE_NUMBER.fullmatch(text) is not None
    return (
        not _tells(rest)
        and all(word in _SMALL_TALK for word in _WORD.findall(rest.lower()))
        and not ends_with_question(rest)
    )


def _tells(text: str) -> bool:
    return _TELLING.search(text) is not None


def _size(text: str) -> float:
    """Return how many words a text has; of scripts without spaces two letters count as one."""
    return sum(len(word) / 2 if max(word) >= _IDEOGRAPHS else 1.0 for word in _WORD.findall(text))


def find_requests(text: str, trust: Trust = Trust.USER) -> list[NoteCandidate]:
    """Return what a text asks to have remembered, in its order.

    A request opens its sentence, polite words aside. "Do you remember it?" and "I remember that" ask for nothing, "Can
    you remember that it is Thursday?" does. The confidence is that of the pattern. Only a user may ask: what a tool, a
    web page or the assistant itself says is data.
    """
    if not is_trusted(trust):
        return []
    starts = {start: text[start:end] for start, end in sentences(text)}
    plain = [c for c in find_candidates(text, most=len(text)) if c.pattern in PATTERNS and _asks(c, starts, text)]
    polite = [asked for start, part in starts.items() if (asked := _asked_politely(start, part))]
    opened = {asked.start for asked in polite}
    others = [c for c in plain if _sentence_at(starts, c) not in opened]
    return sorted([*polite, *others], key=lambda c: c.start)


def _asked_politely(start: int, part: str) -> NoteCandidate | None:
    """Return what a sentence asks to have remembered, if it says so politely or in another language than English."""
    place = words_to_remember(part)
    if place is None or _POINTS.match(content := without_markup(part[slice(*place)])):
        return None
    return NoteCandidate(content, _ASKED, "explicit", start, start + len(part))


def _sentence_at(starts: Iterable[int], candidate: NoteCandidate) -> int:
    return max((start for start in starts if start <= candidate.start), default=0)


def _asks(candidate: NoteCandidate, starts: dict[int, str], text: str) -> bool:
    begin = _sentence_at(starts, candidate)
    before = _WORD.findall(text[begin : candidate.start].lower())
    if starts.get(begin, "").endswith("?") or not _POLITE.issuperset(before) or _MAY.search(" ".join(before)):
        return False
    return _OPENS.match(text, candidate.start) is not None and not _POINTS.match(candidate.content)

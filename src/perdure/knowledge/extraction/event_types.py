"""What a message does: ask, state, command, correct or confirm, and how much that matters."""

from __future__ import annotations

import re
from typing import Final

from perdure.knowledge.languages import WORDS, expression
from perdure.knowledge.records.facts import EventType
from perdure.rules.language.sentences import sentences
from perdure.rules.language.words import word_set

BASE: Final = {
    EventType.QUESTION: 0.4,
    EventType.STATEMENT: 0.6,
    EventType.COMMAND: 0.7,
    EventType.CORRECTION: 0.9,
    EventType.CONFIRMATION: 0.8,
}
"""Importance of an episode by what its message does."""

_GROUNDED: Final = 0.1  # added to the importance of what an authority confirms
_OPEN: Final = frozenset({EventType.QUESTION, EventType.STATEMENT, EventType.COMMAND})
"""Between these a language model may decide."""

_HEAD: Final = 400  # characters of a sentence that are looked at from each end: what it does shows there
_GREETING: Final = 3  # a sentence of so few words may stand before the one that counts ("Thanks!", "Hey John.")

_DENIAL: Final = expression("event_types.denial")
_POLITELY: Final = expression("event_types.politely")
_BARE_NO: Final = expression("event_types.bare_no")
_ACTUALLY: Final = expression("event_types.actually")
_NO_BUT: Final = expression("event_types.no_but")
_MEANT: Final = expression("event_types.meant")
_RATHER: Final = expression("event_types.rather")
_YES: Final = expression("event_types.yes")
_AFFIRMS: Final = expression("event_types.affirms")
_STILL: Final = expression("event_types.still")
_AFFIRMING_WORDS: Final = 10

_ASKS: Final = expression("event_types.asks")
_POLITE: Final = expression("event_types.polite")
_WORD: Final = expression("event_types.word")
_ASKED_FOR: Final = word_set("""
    tell explain say think know recommend suggest help believe guess remember imagine see clarify describe elaborate
    advise understand mind like
    """)
"""After "can you": a question for words, not a commitment to act."""
_REMEMBER_TO: Final = expression("event_types.remember_to")

_ASKING: Final = expression("event_types.asking")
_STILL_WORD: Final = expression("event_types.still_word")
_SO: Final = expression("event_types.so")


def event_of(text: str) -> EventType:
    """Return what a message does.

    Words of correction and confirmation count at the opening of a clause only: "Actually, they prefer Thursday"
    corrects, "I actually like it" does not; "No, thanks" refuses and corrects nothing. A message that asks to have
    something remembered states it. Of several sentences a correction counts before a confirmation, then the last word:
    a question, a command, else a statement. Linear in the text's length.
    """
    parts = [text[start:end] for start, end in sentences(text) if not text.startswith("```", start)]
    if not parts:
        return EventType.STATEMENT
    opening = _opening_sentence(parts)
    if is_correction(opening) or any(_says_wrong(sentence) for sentence in parts):
        return EventType.CORRECTION
    if _confirms(opening):
        return EventType.CONFIRMATION
    for sentence in (parts[-1], opening):
        if _asks(sentence):
            return EventType.QUESTION
        if _commands(sentence):
            return EventType.COMMAND
    return EventType.STATEMENT


def event_by_model(rules: EventType, model: EventType | None) -> EventType:
    """Return what a message does, where a language model was asked too.

    Rules alone say what corrects or confirms: that changes what is believed. Among questions, statements and commands
    rules see only how sentences open, and the model's word counts; but what asks never becomes a statement.
    """
    if rules is EventType.QUESTION and model is EventType.STATEMENT:
        return rules
    return model if model in _OPEN and rules in _OPEN else rules


def reweigh_importance(importance: float, before: EventType, after: EventType) -> float:
    """Return the importance of an episode that turns out to do something else, 0 to 1; what it gained since stays."""
    return max(0.0, min(1.0, importance + BASE[after] - BASE[before]))


def grounded_importance(importance: float) -> float:
    """Return the importance of what an authority confirms, 0 to 1."""
    return min(1.0, importance + _GROUNDED)


def event_importance(event: EventType, entities: int) -> float:
    """Return the importance of an episode at birth, 0 to 1: 0.05 for each entity that it names, at most 0.2."""
    return max(0.0, min(1.0, BASE[event] + min(0.2, 0.05 * max(0, entities))))


def is_correction(sentence: str) -> bool:
    """Return whether a sentence, the first of its message that is no greeting, opens like a correction or ends so."""
    return correction_at(sentence) is not None


def correction_at(sentence: str) -> int | None:
    """Return where a sentence goes on after its words of correction: 0 if it ends in ", not X", None if it has none."""
    if sentence.endswith("?"):
        return None
    head = sentence[:_HEAD]
    found = next((m for opening in (_ACTUALLY, _MEANT, _DENIAL, _NO_BUT) if (m := opening.match(head))), None)
    if found:
        return found.end()
    return 0 if _RATHER.search(sentence[-_HEAD:]) else None


def is_bare_denial(text: str) -> bool:
    """Return whether a message says only that something is wrong, without saying what is right.

    "That's wrong" and "No, that's not right" do; "No, Thursday" and "No, thanks" do not.
    """
    parts = [text[start:end] for start, end in sentences(text[: 4 * _HEAD])]
    if not parts or len(text) > 4 * _HEAD:
        return False
    wrong = 0
    for sentence in parts:
        found = _DENIAL.match(sentence) or _BARE_NO.match(sentence)
        if found and not _WORD.search(sentence, found.end()):
            wrong += 1
        elif _WORD.search(sentence, _POLITELY.match(sentence).end()):  # type: ignore[union-attr]  # matches nothing too
            return False
    return wrong > 0


def asks_whether_still(text: str) -> bool:
    """Return whether a turn asks if something that was noted is still right: what a "yes" then confirms."""
    for start, end in sentences(text):
        sentence = text[max(start, end - _HEAD) : end]
        if sentence.endswith("?") and (
            _SO.search(sentence) or (_STILL_WORD.search(sentence) and _ASKING.search(sentence))
        ):
            return True
    return False


def _opening_sentence(parts: list[str]) -> str:
    for sentence in parts[:3]:
        if len(_WORD.findall(sentence[:_HEAD])) > _GREETING or is_correction(sentence) or _YES.match(sentence[:_HEAD]):
            return sentence
    return parts[0]


def _says_wrong(sentence: str) -> bool:
    head = sentence[:_HEAD]
    return not sentence.endswith("?") and (_DENIAL.match(head) or _MEANT.match(head)) is not None


def _confirms(sentence: str) -> bool:
    if sentence.endswith("?"):
        return False
    head = sentence[:_HEAD]
    found = _YES.match(head)
    if found is None:
        return _STILL.match(head) is not None
    words = _WORD.findall(found["rest"])
    if not words:
        return True
    short = len(words) <= _AFFIRMING_WORDS and "but" not in (word.lower() for word in words)
    return short and _AFFIRMS.search(found["rest"]) is not None


def _asks(sentence: str) -> bool:
    if _requests(sentence):
        return False
    return sentence.endswith("?") or _ASKS.match(sentence[:_HEAD]) is not None


def _commands(sentence: str) -> bool:
    if _REMEMBER_TO.match(sentence):
        return True
    return _requests(sentence) or (not sentence.endswith("?") and _first_verb(sentence) in WORDS["commands"])


def _requests(sentence: str) -> bool:
    """Return whether somebody is asked to act: "could you schedule ...?", "please send ..."."""
    polite = _POLITE.match(sentence[:_HEAD])
    is_addressed = polite is not None and re.search(r"\byou\b|\bplease\b", polite[0], re.IGNORECASE) is not None
    verb = _first_verb(sentence)
    return is_addressed and verb in WORDS["commands"] and verb not in _ASKED_FOR


def _first_verb(sentence: str) -> str:
    polite = _POLITE.match(sentence[:_HEAD])
    word = _WORD.match(sentence, polite.end() if polite else 0)
    return word[0].lower() if word else ""

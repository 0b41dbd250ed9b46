"""What a message does: ask, state, command, correct or confirm, and how much that matters."""

from __future__ import annotations

import re
from typing import Final

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

_GROUNDED: Final = 0.1
"""Added to the importance of what an authority confirms."""
_OPEN: Final = frozenset({EventType.QUESTION, EventType.STATEMENT, EventType.COMMAND})
"""Between these a language model may decide."""

_HEAD: Final = 400
"""Characters of a sentence that are looked at from each end: what it does shows there."""
_GREETING: Final = 3
"""A sentence of so few words may stand before the one that counts ("Thanks!", "Hey John.")."""

_SOFT: Final = r"(?:(?:oh|ah|well|hmm+|wait|sorry|hey|hi|ok|okay|but|and|so|um+|thanks)\b[\s,.!…-]{0,3}){0,4}"
_DENIED: Final = (
    r"(?:(?:that|this|it)(?:['’]s|\s+is|\s+was)|you(?:['’]re|\s+are))\s+"  # noqa: RUF001  # typographic apostrophe
    r"(?:(?:just|simply|totally|completely|all|actually)\s+)?"
    r"(?:wrong|incorrect|false|untrue|mistaken|outdated|"
    r"(?:not|no\s+longer)\s+(?:right|correct|true|accurate|so|the\s+case|what\s+i\s+said)(?:\s+any\s?more)?)\b"
    r"|(?:that|this|it)\s+isn['’]t\s+(?:right|correct|true|accurate|so|the\s+case)(?:\s+any\s?more)?\b"  # noqa: RUF001
    r"|(?:wrong|incorrect|not\s+(?:true|right|correct|any\s?more))(?=\s*[.!,;:]|\s*\Z)"
    r"|you\s+(?:got|have)\s+(?:that|it|this)\s+wrong\b"
)
_NO: Final = r"(?:no|nope|nah)(?:\s*[,.;:!—–-]+\s*|\s*\Z|\s+(?=(?:that|it|this)(?:['’]s|\s+is)\b))"  # noqa: RUF001
_REFUSED: Final = (
    r"(?:thanks|thank\s+you|thx|ty\b|worries|problem|need\b|not\s+(?:yet|really|now|today|at\s+all|that\s+i)|"
    r"nothing|never\b|i\s+(?:don|didn|haven|hadn|won|can|couldn|wouldn|am\s+not|do\s+not|did\s+not|have\s+not|have\s+never)|"
    r"i['’](?:m\s+not|ve\s+n|d\b|ll\b)|we\s+(?:don|didn|haven|can)|i\s+(?:think|guess|just|never)\b|"  # noqa: RUF001
    r"(?:it|that|this)(?:['’]s|\s+is)\s+(?:ok|okay|fine|alright|all|good|great|not\s+(?:that|too|so))\b|"  # noqa: RUF001
    r"(?:wait|way|kidding|doubt|rush|pressure|idea|clue|please|sorry|let|what|why|how|who|where|when|do|don|you)\b)"
)
_DENIAL: Final = re.compile(rf"{_SOFT}(?:{_NO})?(?:{_DENIED})", re.IGNORECASE)
_POLITELY: Final = re.compile(_SOFT, re.IGNORECASE)
_BARE_NO: Final = re.compile(rf"{_SOFT}(?:no|nope|nah)\s*[.!]*\s*\Z", re.IGNORECASE)
_ACTUALLY: Final = re.compile(rf"{_SOFT}(?:{_NO})?actually\b\s*,?\s*(?=\w)", re.IGNORECASE)
_NO_BUT: Final = re.compile(rf"{_SOFT}(?:{_NO})(?!{_REFUSED})(?=[\w$€£])", re.IGNORECASE)
_MEANT: Final = re.compile(
    rf"{_SOFT}(?:{_NO})?(?:i\s+meant\b(?!\s+(?:to|it|well|that\s+as)\b)|correction\s*[:,-]|(?:let\s+me|to)\s+correct\s+(?:that|"
    r"myself|this)\b|scratch\s+that\b|i\s+misspoke\b)",
    re.IGNORECASE,
)
_RATHER: Final = re.compile(
    r",\s+(?:and\s+)?not\s+(?!(?:really|yet|now|sure|bad|at\s+all|that|just|only|much|even)\b)(?:on\s+|at\s+|in\s+|the\s+)?[\w$€£][^,;:]{0,40}?[.!]*\Z",
    re.IGNORECASE,
)
_YES: Final = re.compile(
    rf"{_SOFT}(?:yes|yep|yeah|yup|correct|exactly|right|indeed|confirmed|affirmative|sure|absolutely)\b(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_AFFIRMS: Final = re.compile(
    r"\b(?:works?|correct|right|true|still|fine|accurate|exactly|confirmed|confirm|valid|the\s+case|perfect|indeed|"
    r"(?:it|that|this|he|she)(?:['’]s|\s+is|\s+does|\s+did)\s*[.!]*\Z|(?:they|we|you)\s+(?:are|do|did)\s*[.!]*\Z|"  # noqa: RUF001
    r"i\s+(?:do|am|did|have)\s*[.!]*\Z|please|of\s+course|sounds\s+good|go\s+ahead)",
    re.IGNORECASE,
)
_STILL: Final = re.compile(
    r"(?:that|this|it|all|[\w-]+(?:\s[\w-]+){0,3})(?:['’]s|\s+(?:is|are|was|does|remains?))\s+(?:all\s+)?(?:still\s+)"  # noqa: RUF001
    r"(?:right|correct|true|accurate|valid|the\s+case|fine|good|current|up\s+to\s+date)\b"
    r"|(?:that|this|it)(?:['’]s|\s+is)\s+(?:right|correct|true|accurate)\s*(?:[.!,]|\Z)"  # noqa: RUF001
    r"|(?:i|we)\s+(?:can\s+)?confirm\b|still\s+(?:right|correct|true|accurate|valid)\b",
    re.IGNORECASE,
)
_AFFIRMING_WORDS: Final = 10

_ASKS: Final = re.compile(
    r"(?:(?:and|so|but|hey|hi|ok|okay|well|then|also)\b[\s,]{1,3}){0,3}"
    r"(?:(?:what|how|when|where|who|whom|whose|why|which)(?:['’]s|['’]re|\b)(?!\s+(?:a|an)\b)(?!ever)|"  # noqa: RUF001
    r"(?:is|are|was|were|do|does|did|has|have|had|can|could|would|will|should|shall|may|am)\s+"
    r"(?:i|you|we|they|he|she|it|there|this|that|these|those|the|my|our|your|any\w*)\b)",
    re.IGNORECASE,
)
_POLITE: Final = re.compile(
    r"(?:(?:please|now|then|and|so|ok|okay|well|hey|hi|just|also|first|next|finally|kindly|go\s+ahead\s+and|go|"
    r"let['’]s|(?:can|could|would|will)\s+you(?:\s+(?:please|just|kindly|also))?|"  # noqa: RUF001
    r"i\s+(?:need|want|would\s+like|['’]d\s+like)\s+you\s+to)\b[\s,:]{1,3}){0,5}",  # noqa: RUF001
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"[^\W\d_]+")
COMMANDS: Final = word_set("""
    add adjust analyse analyze append apply approve archive arrange assign attach book build buy call cancel change
    check clean clear close commit compare compile complete compute confirm configure connect contact convert copy count
    create delete deliver deploy design disable display download draft edit email enable erase estimate execute expand
    export extract fetch fill find finish fix forget format forward generate get give hand hire implement import include
    increase insert install invite invoice keep launch list load look lower mail make mark merge message modify move
    notify open order organise organize outline pause pay pick place plan post prepare print process publish pull push
    put raise read rebuild redo reduce refactor refund register release reload remind remove rename replace reply report
    request reschedule reserve reset restart restore resume retry return review revise rewrite run save schedule search
    select sell send set setup share ship show shorten sign sort split start stop store submit summarise summarize
    switch sync take tell test track transfer translate try turn undo uninstall unsubscribe update upgrade upload use
    validate verify wait walk watch write
    """)
"""Verbs with which somebody is asked to act."""
_ASKED_FOR: Final = word_set("""
    tell explain say think know recommend suggest help believe guess remember imagine see clarify describe elaborate
    advise understand mind like
    """)
"""After "can you": a question for words, not a commitment to act."""
_REMEMBER_TO: Final = re.compile(r"(?:please\s+)?(?:remember|don['’]t\s+forget)\s+to\b", re.IGNORECASE)  # noqa: RUF001

_ASKING: Final = re.compile(
    r"\b(?:is|are|was|does|do|did|has|have|would|can)\b|['’]s\b|['’]re\b",  # noqa: RUF001
    re.IGNORECASE,
)
_STILL_WORD: Final = re.compile(r"\bstill\b", re.IGNORECASE)
_SO: Final = re.compile(
    r"\b(?:is|are|was)\s+(?:that|this|it|these|those)\s+(?:information\s+|note\s+)?"
    r"(?:accurate|right|correct|true|valid|current|up\s+to\s+date)\b|"
    r"\b(?:correct|right|accurate)\s*\?\s*\Z|\bhas\s+(?:that|this|it|anything)\s+changed\b",
    re.IGNORECASE,
)


def event_of(text: str) -> EventType:
    """Return what a message does.

    Words of correction and confirmation count at the opening of a clause only: "Actually, they prefer Thursday"
    corrects, "I actually like it" does not; "No, thanks" refuses and corrects nothing. A message that asks to have
    something remembered states it. Of several sentences a correction counts before a confirmation, then the last word:
    a question, a command, else a statement. Linear in the text's length.
    """
    said = [text[start:end] for start, end in sentences(text) if not text.startswith("```", start)]
    if not said:
        return EventType.STATEMENT
    opening = _opening(said)
    if is_correction(opening) or any(_says_wrong(sentence) for sentence in said):
        return EventType.CORRECTION
    if _confirms(opening):
        return EventType.CONFIRMATION
    for sentence in (said[-1], opening):
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
    """Return the importance of an episode at birth, 0 to 1.

    Args:
        event: What the message does.
        entities: How many entities it names, 0 or more; 0.05 for each, at most 0.2.
    """
    return max(0.0, min(1.0, BASE[event] + min(0.2, 0.05 * max(0, entities))))


def is_correction(sentence: str) -> bool:
    """Return whether a sentence opens like a correction, or ends in ", not X".

    Args:
        sentence: One that counts: the first of its message, greetings aside.
    """
    if sentence.endswith("?"):
        return False
    head, tail = sentence[:_HEAD], sentence[-_HEAD:]
    openings = (_DENIAL, _ACTUALLY, _NO_BUT, _MEANT)
    return any(opening.match(head) for opening in openings) or _RATHER.search(tail) is not None


def correction_at(sentence: str) -> int | None:
    """Return where a sentence goes on after the words with which it opens as a correction; None if it does not."""
    head = sentence[:_HEAD]
    if sentence.endswith("?"):
        return None
    found = _ACTUALLY.match(head) or _MEANT.match(head) or _DENIAL.match(head) or _NO_BUT.match(head)
    if found:
        return found.end()
    return 0 if _RATHER.search(sentence[-_HEAD:]) else None


def is_bare_denial(text: str) -> bool:
    """Return whether a message says only that something is wrong, without saying what is right.

    "That's wrong" and "No, that's not right" do; "No, Thursday" and "No, thanks" do not.
    """
    said = [text[start:end] for start, end in sentences(text[: 4 * _HEAD])]
    if not said or len(text) > 4 * _HEAD:
        return False
    wrong = 0
    for sentence in said:
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


def _opening(said: list[str]) -> str:
    """Return the first sentence that is more than a greeting."""
    for sentence in said[:3]:
        if len(_WORD.findall(sentence[:_HEAD])) > _GREETING or is_correction(sentence) or _YES.match(sentence[:_HEAD]):
            return sentence
    return said[0]


def _says_wrong(sentence: str) -> bool:
    """Return whether a sentence corrects wherever it stands."""
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
    return _requests(sentence) or (not sentence.endswith("?") and _first_verb(sentence) in COMMANDS)


def _requests(sentence: str) -> bool:
    """Return whether somebody is asked to act: "could you schedule ...?", "please send ..."."""
    polite = _POLITE.match(sentence[:_HEAD])
    asked = polite is not None and re.search(r"\byou\b|\bplease\b", polite[0], re.IGNORECASE) is not None
    verb = _first_verb(sentence)
    return asked and verb in COMMANDS and verb not in _ASKED_FOR


def _first_verb(sentence: str) -> str:
    polite = _POLITE.match(sentence[:_HEAD])
    word = _WORD.match(sentence, polite.end() if polite else 0)
    return word[0].lower() if word else ""

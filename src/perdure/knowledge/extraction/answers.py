"""What a yes or a no says: the question that it answers, worded as a statement of whoever answers."""

from __future__ import annotations

import re
from typing import Final

from perdure.knowledge.extraction.words import past_form
from perdure.knowledge.languages import WORDS, expression
from perdure.rules.language.sentences import sentences

_SHORT: Final = 5  # words that may follow a yes or a no: "Yes, that's still right."
_YES: Final = expression("answers.yes")
_NO: Final = expression("answers.no")
_DENYING: Final = expression("answers.denying")
_WORD: Final = expression("answers.word")
_TAG: Final = expression("answers.tag")
_NOTED: Final = expression("answers.noted")
_LEAD: Final = expression("answers.lead")
_DO: Final = expression("answers.do")
_ARE: Final = expression("answers.are")
_IS: Final = expression("answers.is")
_MINE: Final = {"you": "I", "your": "my", "are": "am", "yours": "mine", "you're": "I'm", "you've": "I've"}
_LONGEST: Final = 300


def says_yes(text: str) -> bool | None:
    """Return whether a message is a short yes (True) or a bare no (False); None for all else."""
    message = text.strip()
    yes, no = _YES.match(message), _NO.match(message)
    if yes and len(_WORD.findall(yes["rest"])) <= _SHORT and "but" not in yes["rest"].lower() and "?" not in message:
        return True
    return False if no and _DENYING.fullmatch(no["rest"]) else None


def opens_with_no(text: str) -> bool:
    """Return whether a message begins with a no, whatever follows."""
    return _NO.match(text.strip()) is not None


def statement_of(turn: str) -> str | None:
    """Return the question at the end of a turn as a statement of whoever answers it; None where it is none.

    "Do you live in Lyon?" is "I live in Lyon", "Is your landlord still Mr. Petrov?" is "my landlord is Mr. Petrov".
    """
    turn = turn[-4 * _LONGEST :]
    spans = sentences(turn)
    last = turn[slice(*spans[-1])] if spans else ""
    question = last.strip().replace("’", "'").rpartition(": ")[2]  # noqa: RUF001
    if not question.endswith("?") or len(question) > _LONGEST:
        return None
    question = _LEAD.sub("", question, count=1) if _LEAD.match(question) else question
    tag = _TAG.search(question)
    if tag:
        return _in_first_person(question[: tag.start()])
    noted = _NOTED.match(question)
    question = question.rstrip("? ")
    return _in_first_person(question[noted.end() :]) if noted else _invert(question)


def _invert(question: str) -> str | None:
    plain = question[0].lower() + question[1:]
    if found := _DO.fullmatch(plain):
        who = "I" if found["who"] == "you" else found["who"]
        return f"{who} {_in_first_person(found['rest'])}" if not found["not"] else None
    if found := _ARE.fullmatch(plain):
        return f"I am {_in_first_person(found['rest'])}" if not found["not"] else None
    if found := _IS.fullmatch(plain):
        return _attribute(found["whose"].lower(), found["rest"].split())
    return _in_first_person(question) if plain.startswith(("you ", "your ", "you're ")) else None


def _attribute(whose: str, words: list[str]) -> str | None:
    """Return "my landlord is Mr. Petrov" of "your", ["landlord", "still", "Mr.", "Petrov"]."""
    for at in range(1, min(len(words), 5)):
        word = words[at]
        if past_form(word.lower()):
            return None  # "is your name spelled Hana?"
        if word == "still" or word[0].isupper() or not word[0].isalpha() or word in WORDS["prepositions"] | {"called"}:
            rest = words[at + (word == "still") :]
            owner = {"your": "my"}.get(whose, whose)
            return " ".join([owner, *words[:at], "is", *rest]) if rest else None
    return None


def _in_first_person(words: str) -> str:
    """Return words with "you" turned into "I"."""
    return re.sub(r"\b(?:you're|you've|yours|your|you|are)\b", lambda m: _swap(words, m), words, flags=re.IGNORECASE)


def _swap(words: str, found: re.Match[str]) -> str:
    low = found[0].lower()
    if low == "are":
        return "am" if words[: found.start()].lower().rstrip().endswith("you") else found[0]
    return _MINE[low]

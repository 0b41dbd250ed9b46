"""Who "they" or "she" is: the entity of the session's last messages that a pronoun refers to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Final

from perdure.knowledge.extraction.entity_names import LEGAL, AmbiguousName, Names, ResolvedName, normal_name
from perdure.knowledge.extraction.mentions import mentions
from perdure.knowledge.languages import WORDS
from perdure.knowledge.records.facts import Entity
from perdure.records.memory import ROLES
from perdure.rules.language.words import word_set

WINDOW: Final = 10  # messages back that a word may refer to
USER: Final = "user"
ASSISTANT: Final = "assistant"

FIRST_PERSON: Final = word_set("i me my mine myself we us our ours ourselves")
_PERSON: Final = word_set("he him his himself she her hers herself")
_MANY: Final = word_set("they them their theirs themselves")
_THING: Final = word_set("it its itself")
_PRONOUNS: Final = FIRST_PERSON | _PERSON | _MANY | _THING
_DESCRIBED: Final = re.compile(r"(?:the|this|that|our|my|your) \w+")
"""Somebody or something that is described and not named: nobody guesses who or what."""
_FIRM: Final = frozenset(LEGAL) | WORDS["firm_words"]
_TYPES: Final[dict[str, str]] = {
    "organization": "organisation",
    "company": "organisation",
    "customer": "organisation",
    "people": "person",
    "project": "thing",
    "product": "thing",
    "place": "thing",
}
_BEFORE: Final = 40
_PLACED: Final = re.compile(
    r"\b(?:liv(?:e[sd]?|ing)|bas(?:ed|ing)|located|resid(?:e[sd]?|ing)|born|grew\s+up|mov(?:e[sd]?|ing)|relocat(?:e[sd]?|ing)|"
    r"fl(?:y|ew|ying)|travel(?:s|led|ed|l?ing)?|went|drove)\s+(?:back\s+|over\s+)?(?:in|to|near|from)\s+(?:the\s+)?\Z",
    re.IGNORECASE,
)
"""What stands before a place."""
_RECORD: Final = re.compile(r"[a-z]+(?: \d+)+|[a-z]+\d{3,}")


def speaker_name(speaker: str | None) -> str:
    """Return whose word the first person is: a name, ``user``, or ``assistant`` for the other roles."""
    if not speaker or speaker.lower() in {"user", "human"}:
        return USER
    return ASSISTANT if speaker.lower() in ROLES else speaker


def sort_of(entity: Entity) -> str:
    """Return what an entity is, as far as its type or its name says: person, organisation, thing, or empty."""
    if entity.type:
        return _TYPES.get(entity.type, entity.type)
    form = normal_name(entity.name)
    if _RECORD.fullmatch(form):
        return "thing"
    return "organisation" if " " in form and _FIRM.intersection(form.split()) else ""


def fits(pronoun: str, entity: Entity) -> bool:
    """Return whether a pronoun, in lower case, may mean an entity, by what is known of its sort."""
    sort = sort_of(entity)
    if pronoun in _PERSON:
        return sort in {"person", ""}
    return sort != ("thing" if pronoun in _MANY else "person")


def may_refer(words: str) -> bool:
    """Whether words name nobody by themselves: a pronoun, or a description such as "the customer"."""
    lower = " ".join(words.lower().split())
    return lower in _PRONOUNS or _DESCRIBED.fullmatch(lower) is not None


class Referents:
    """Whom the last messages of a session name. The same texts and names always give the same.

    Nothing is read before somebody asks. Only names count, not what pronouns were taken to mean: what a word refers to
    then depends on ``WINDOW`` messages and on nothing else, so that a batch and one message after another agree.
    ``texts`` come before this one, oldest first; only the last ``WINDOW`` are looked at.
    """

    def __init__(self, texts: Sequence[str], names: Names, fuzzy: float) -> None:
        self._texts = tuple(texts[-WINDOW:])
        self._names = names
        self._fuzzy = fuzzy

    def refer(self, word: str, before: str = "", speaker: str | None = None) -> str | None:
        """Return the entity that a pronoun refers to; None for a description, where nobody fits, or where several do.

        It is the one that fits of the last message in which one fits. A name that may mean several entities counts as
        all of them: what comes after it is not settled by what came before. ``I`` and ``our`` are the speaker.
        ``before`` is what the same message says before the word.
        """
        pronoun = word.strip().lower()
        if pronoun in FIRST_PERSON:
            return self._speaker(speaker)
        just_named = self._named_entities(before) if before else ()
        for named in (just_named, *self._earlier) if pronoun in _PRONOUNS else ():
            fitting = [i for i in named if fits(pronoun, self._names.entity(i))]
            if fitting:
                return fitting[0] if len(fitting) == 1 else None
        return None

    def _speaker(self, speaker: str | None) -> str | None:
        found = self._names.resolve(speaker_name(speaker), self._fuzzy)
        if isinstance(found, ResolvedName):
            return found.id
        return speaker_name(speaker) if speaker_name(speaker) in {USER, ASSISTANT} else None

    @cached_property
    def _earlier(self) -> tuple[tuple[str, ...], ...]:
        return tuple(self._named_entities(text) for text in reversed(self._texts))

    def _named_entities(self, text: str) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for mention in mentions(text, self._names.known):
            if _PLACED.search(text[max(0, mention.start - _BEFORE) : mention.start]):
                continue  # "she lives in Porto": nobody says "they" of Porto
            resolution = self._names.resolve(mention.quote, self._fuzzy)
            if isinstance(resolution, ResolvedName):
                found[resolution.id] = None
            elif isinstance(resolution, AmbiguousName):
                found |= dict.fromkeys(identity for identity, _ in resolution.candidates)
        return tuple(found)

"""Questions to a person about what is stored, as sentences: whether a fact is still so, and which of two holds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Final

from perdure.records.instant import Instant, from_instant
from perdure.records.memory import Kind, MemoryItem, Trust
from perdure.rules.language.verbs import COMMON_VERBS
from perdure.rules.language.word_forms import is_plural
from perdure.rules.language.words import word_set

USER: Final = "user"
ABOUT_ONESELF: Final = word_set("""
    name first_name last_name full_name surname nickname age birthday birth_date birth_year date_of_birth
    """)
"""What nobody is asked about themselves, however long ago they said it."""
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_SPOKEN: Final = {"allergy": "allergic to", "fear": "afraid of", "spouse": "married to"}
"""Predicate -> how people say it."""
_PLACES: Final = word_set("to of with from about in at on for by as into against")
_ENGLISH_WORD: Final = re.compile(r"[a-z0-9][a-z0-9'’./&+-]*|[A-Z0-9]{2,}")  # noqa: RUF001  # the typographic apostrophe
"""Nouns of other languages may have a capital, and other letters."""
_OTHER_LANGUAGES: Final = word_set("""
    im am zum zur vom beim bei der das den dem des und mit von für auf aus nach hat ist
    de del la las el los le les du au aux di della dello delle il lo da dos em y et en con pour avec
    van het een voor met
    """)
"""Words between the nouns of a predicate that show that it is not in English."""
_THIRD_PERSON: Final = re.compile(r"[^su]s$")
_BEGINS: Final = re.compile(r" \(from (?P<day>\d{4}-\d\d-\d\d)(?: (?P<ends>until \d{4}-\d\d-\d\d))?\)$")
_LONGEST: Final = 200
FEW: Final = 3  # sides of a conflict that are told: the newest


def answers_to(*, is_fact: bool, is_contested: bool = False, is_open: bool = False) -> tuple[str, ...]:
    """Return the verdicts by which a person may answer a question about a memory.

    Only questions about a fact with a subject and a predicate can be muted, and only an open review settled.
    """
    if is_fact:
        return ("confirm", "deny", "correct", *(("both",) if is_contested else ()), "mute")
    return ("keep", "drop", "correct") if is_open else ("confirm", "deny", "correct")


def confirmation_question(memory: MemoryItem, said_at: Instant, trust: Trust) -> str:
    """Return the question whether a fact is still so; it names who told it, the day and the value."""
    who = {Trust.USER: "You told me", Trust.EXTERNAL: "I read"}.get(trust, "I noted")
    return f"{who} on {day_in_words(said_at)}{_told(memory)}. Is that still so?"


def contradiction_question(memories: Sequence[MemoryItem], trust: Mapping[str, Trust]) -> str:
    """Return the question which of some memories holds, those that were said first named first.

    Of very many, the first of ``memories`` and the newest are named, and the others counted. ``trust`` has whose word
    each is.
    """
    said = {Trust.USER: "you said", Trust.EXTERNAL: "I read"}
    asked, *others = memories
    newest = sorted(others, key=_when_said)[1 - FEW :]
    sides = sorted((asked, *newest), key=_when_said)
    who = [said.get(trust[m.id], "I noted") for m in sides]
    days = [day_in_words(m.state.created_ms) for m in sides]
    first, *rest = (f"on {day} {by}{_told(m)}" for day, by, m in zip(days, who, sides, strict=True))
    left = len(others) - len(newest)
    more = [f"and {left:,} more {'says' if left == 1 else 'say'} otherwise"] if left else []
    return f"{first[0].upper()}{first[1:]}; {'; '.join([*rest, *more])}. Which holds?"


def _told(memory: MemoryItem) -> str:
    """Return what a memory says as the end of "I noted": a clause after "that", a quote after a colon."""
    clause = clause_of(memory)
    return f": {clause}" if clause.startswith('"') else f" that {clause}"


def _when_said(memory: MemoryItem) -> tuple[Instant, str]:
    return memory.state.created_ms, memory.id


def duplicate_question(memory: MemoryItem, others: Sequence[MemoryItem]) -> str:
    """Return the question whether a memory is needed beside others that say nearly the same."""
    besides = "; ".join(f"on {day_in_words(m.state.created_ms)}: {clause_of(m)}" for m in others)
    noted = f"On {day_in_words(memory.state.created_ms)} I noted: {clause_of(memory)}"
    return f"{noted}; {besides}. Is the first needed beside {'the other' if len(others) == 1 else 'the others'}?"


def day_in_words(at: Instant) -> str:
    """Return a day as people write it: ``5 January 2026``."""
    moment = from_instant(at)
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}"


def without_begun_day(memory: MemoryItem, today: date) -> MemoryItem:
    """Return a memory; a fact that was planned without the day from which it holds, once that has come."""
    found = _BEGINS.search(memory.content) if memory.kind is Kind.FACT else None
    if found is None or found["day"] > today.isoformat():
        return memory
    ends = f" ({found['ends']})" if found["ends"] else ""
    return replace(memory, content=f"{memory.content[: found.start()]}{ends}")


def clause_of(memory: MemoryItem) -> str:
    """Return what a memory says as a clause: ``Mia is allergic to peanuts``, ``your employer is Brightline``.

    What is not stored as a subject, a predicate and a value is quoted, and so is a fact whose predicate is not in
    English: no clause is made of it.
    """
    text = " ".join(memory.content.split())
    name, _, rest = text.partition(": ")
    predicate, _, value = rest.partition(": ")
    if memory.kind is not Kind.FACT or not value or not _is_english(predicate):
        return f'"{text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"}"'
    no, value = ("not ", value.removeprefix("not ")) if value.startswith("not ") else ("", value)
    you, predicate = name == USER, _SPOKEN.get(predicate, predicate)
    first, _, second = predicate.partition(" ")
    first = _BARE.get(first, first)
    if first in COMMON_VERBS and (not second or second in _PLACES):
        verb = first if you else _third_person(first)
        clause = f"{'you do' if you else f'{name} does'} not {first}" if no else f"{'you' if you else name} {verb}"
        return f"{clause}{second and ' '}{second} {value}"
    if second and predicate.rpartition(" ")[2] in _PLACES:
        if _THIRD_PERSON.search(first) and not (you or no):
            return f"{name} {predicate} {value}"
        return f"{'you are' if you else f'{name} is'} {no}{predicate} {value}"
    return f"{'your' if you else _possessive(name)} {predicate} {'are' if _is_plural(predicate) else 'is'} {no}{value}"


def _is_english(predicate: str) -> bool:
    """Return whether a predicate may be English, by its letters and small words."""
    words = predicate.split()
    return all(map(_ENGLISH_WORD.fullmatch, words)) and _OTHER_LANGUAGES.isdisjoint(words)


def _is_plural(predicate: str) -> bool:
    """Return whether a predicate stands for several things: "wheels", but not "number of wheels"."""
    words = predicate.split()
    end = next((at for at, word in enumerate(words) if at and word in _PLACES), len(words))
    return bool(words) and is_plural(words[end - 1])


def _third_person(verb: str) -> str:
    if verb == "have":
        return "has"
    if verb.endswith("y") and verb[-2] not in "aeou":
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(("s", "x", "ch", "sh", "o")) else f"{verb}s"


_BARE: Final = {_third_person(verb): verb for verb in COMMON_VERBS}
"""Verb as it is said of somebody -> in its bare form."""


def _possessive(name: str) -> str:
    return f"{name}'" if name.endswith("s") else f"{name}'s"

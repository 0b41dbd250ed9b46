"""What a query says in words: its discriminating words, and whom it names."""

from __future__ import annotations

import re
from typing import Final

from perdure.records.memory import ROLES

_LISTED: Final = """
a about above after again against all am an and any are aren as at be because been before being below between both but
by can cannot could couldn d did didn do does doesn doing don down during each few for from further had hadn has hasn
have haven having he her here hers herself him himself his how i if in into is isn it its itself just ll m me might
mightn more most must mustn my myself need needn no nor not now o of off on once only or other our ours ourselves out
over own re s same shan she should shouldn so some such t than that the their theirs them themselves then there these
they this those through to too under until up ve very was wasn we were weren what when where which while who whom
whose why will with won would wouldn y you your yours yourself yourselves
"""
STOP_WORDS: Final = frozenset(_LISTED.split())

_ANSWERING: Final = ROLES - {"user", "human"}
_WORD: Final = re.compile(r"[^\W_]+")  # letters and digits of any script, as the index of words splits them
_CAPITALISED: Final = re.compile(r"\b[A-Z][\w'’-]*")  # noqa: RUF001  # the typographic apostrophe is meant
_POSSESSIVE: Final = re.compile(r"['’]s?$")  # noqa: RUF001  # as above
_FIRST_PERSON: Final = frozenset({"i", "my", "me", "mine", "myself"})


def query_words(text: str) -> tuple[str, ...]:
    """Return a query's words in order, lower case, each once, without stop words."""
    return tuple(dict.fromkeys(w for w in _WORD.findall(text.lower()) if w not in STOP_WORDS))


def named_in(text: str) -> frozenset[str]:
    """Return whom a query names: capitalised words in lower case; ``user`` where it speaks in the first person."""
    found = {_POSSESSIVE.sub("", w.lower()) for w in _CAPITALISED.findall(text)} - STOP_WORDS - {""}
    if _FIRST_PERSON & set(_WORD.findall(text.lower())):
        found.add("user")
    return frozenset(found)


def is_named(speaker: str | None, names: frozenset[str]) -> bool:
    """Return whether a speaker, or one word of the speaker's name, is among the names."""
    if not speaker or not names:
        return False
    lower = speaker.lower()
    return lower in names or not names.isdisjoint(_WORD.findall(lower))


def may_answer(speaker: str | None) -> bool:
    """Return whether a speaker's turns count as answers (an assistant's replies to everything do not discriminate)."""
    return speaker is None or speaker.lower() not in _ANSWERING

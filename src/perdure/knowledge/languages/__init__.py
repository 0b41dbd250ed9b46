"""Words and patterns by which messages are read: English only, and whoever imports them is bound to it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

_NAMED: Final = re.compile(r"<([a-z_]+\.[a-z_]+)>")


@dataclass(frozen=True, slots=True)
class Language:
    """The words and patterns of a language, as its file has them."""

    name: str  # in English
    words: Mapping[str, frozenset[str]]  # list -> its words, lower case
    tables: Mapping[str, Mapping[str, str]]  # table -> entry -> what it says: contractions, units
    regex: Mapping[str, str]  # name -> a regular expression
    patterns: tuple[str, ...]  # one a line: ``live in|near PLACE = home``


@cache
def language(code: str) -> Language:
    """Return a language by its code, read once."""
    data = tomllib.loads(files(__package__).joinpath(f"{code}.toml").read_text("utf-8"))
    return Language(
        data["name"],
        {name: frozenset(words.split()) for name, words in data["words"].items()},
        data["tables"],
        data["regex"],
        tuple(data["patterns"].strip().splitlines()),
    )


def expression(name: str) -> re.Pattern[str]:
    """Return a regular expression of English, what it names inside filled in."""
    known = language("en").regex
    pattern, before = known[name], ""
    while pattern != before:
        pattern, before = _NAMED.sub(lambda found: known.get(found[1], found[0]), pattern), pattern
    return re.compile(pattern, re.IGNORECASE | re.VERBOSE)


WORDS: Final = language("en").words  # the lists of English words

"""Names as lists and addresses have them: the last word first, a part alone, run together in an address."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from perdure.knowledge.extraction.entity_names import name_words, word_form
from perdure.knowledge.extraction.mentions import PLAIN, names_by_capital

SHORTEST: Final = 3  # letters of a part by which somebody may be meant
_INSIDE: Final = 4  # letters of a part that is looked for inside of a longer word of an address, or with an ending
_ENDING: Final = 2  # letters that languages put behind a name: Svens, Svena, Svenin
_APOSTROPHES: Final = "'\u2018\u2019\u02bb\u02bc"
_ADDRESS: Final = re.compile(r"(?<![\w.+-])[\w.+-]*@[\w-]+")  # an address up to its host, or @name
_CUT: Final = re.compile(r"[\W\d_]+")


def find_reversed(text: str, forms: Iterable[str]) -> Iterator[str]:
    """Yield where a text has a name with its last word first, as it is written there: "Roe, Anna" or "Roe Anna".

    No name ends where another capitalised word follows: of "Bo Roe, Anna Lund" neither half is turned.

    Args:
        text: A message.
        forms: Normal forms of names.
    """
    lower = text.casefold()
    turned = [[*words[-1:], *words[:-1]] for form in forms if len(words := form.split()) > 1]
    wanted = [words for words in turned if words[0] in lower]
    spans = name_words(text) if wanted else []
    found = [word_form(text[a:b]) for a, b in spans]
    for words in wanted:
        for at in range(len(found) - len(words) + 1):
            last = at + len(words) - 1
            if found[at : last + 1] == words and _is_name(text, spans, at, last):
                yield text[spans[at][0] : spans[last][1]]


def _is_name(text: str, spans: list[tuple[int, int]], first: int, last: int) -> bool:
    """Whether words are one name: a comma at most behind the first, and no further word of a name behind the last."""
    gaps = [text[spans[at][1] : spans[at + 1][0]].strip() for at in range(first, min(last + 1, len(spans) - 1))]
    inside, behind = gaps[: last - first], gaps[last - first :]
    longer = behind == [""] and text[spans[last + 1][0]].isupper()
    return inside[0] in ("", ",") and not any(inside[1:]) and not longer


def parts_of(forms: Iterable[str]) -> frozenset[str]:
    """Return the words of names by which somebody may be meant: a first name, a surname."""
    return frozenset(word for form in forms for word in form.split() if len(word) >= SHORTEST)


def may_name(text: str, parts: Collection[str]) -> bool:
    """Return whether a text has a part of a name: as a capitalised word, or in an address."""
    lower = text.casefold()
    near = {part for part in parts if part in lower}
    if not near:
        return False
    words = (word for a, b in name_words(text) for word in re.split(r"[-_]", text[a:b]) if word[:1].isupper())
    if not (near - PLAIN).isdisjoint(map(word_form, words)):
        return True
    plain = near & PLAIN
    return (bool(plain) and names_by_capital(text, plain)) or any(
        _in_address(address[0].casefold(), near) for address in _ADDRESS.finditer(text)
    )


def may_name_changed(text: str, parts: Collection[str]) -> bool:
    """Return whether a text has a part of a name as no name is written: in small letters, or with an ending.

    An ending is "s" ("svens mother", "Svens Nummer"), or up to two letters behind four or more of a capitalised word
    ("Svenin"). Words of the language are left out: "wills" says nothing of Will.
    """
    lower = text.casefold()
    near = {part for part in parts if part in lower} - PLAIN
    for start, end in name_words(text) if near else ():
        for word in re.split(r"[-_]", text[start:end]):
            form, is_capitalised = word_form(word), word[:1].isupper()
            if any(form.startswith(p) and _is_ending(form[len(p) :], p, free=is_capitalised) for p in near):
                return True
    return False


def _is_ending(ending: str, part: str, *, free: bool) -> bool:
    """Whether letters behind a part of a name are its ending; ``free`` for any two behind a longer part."""
    letters = ending.lstrip(_APOSTROPHES)
    if letters in ("", "s"):
        return True
    return free and len(part) >= _INSIDE and len(letters) <= _ENDING and letters.isalpha()


def _in_address(address: str, parts: Collection[str]) -> bool:
    words = _CUT.split(address)
    return any(part in words or (len(part) >= _INSIDE and part in address) for part in parts)

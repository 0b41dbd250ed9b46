"""Whether what a name is given is a secret, or a word, a variable, a path, a date, a placeholder."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Final, Generic, TypeVar

from perdure.records.patterns import lazy_pattern
from perdure.rules.language.words import word_set

_STAND_INS: Final = r"(?i)your|example|change.?me|placeholder|redacted|dummy|sample|insert|xxx|\.\.\.|\*\*|123456789$"
_STANDS_IN: Final = lazy_pattern(_STAND_INS)
_PLACEHOLDER: Final = lazy_pattern(
    rf"{_STAND_INS}|1password"
    r"|^[^0-9]*(?:pass|pwd|secret|token|(?:^|[._-])(?:api|my|the|some)[._-]?key)[^0-9]*[0-9]{0,4}$"
    r"|^(?:null|none|true|false|undefined|required|optional)$"
)
_CODE: Final = lazy_pattern(
    r"[$%@#&*]?[A-Za-z_]\w*+(?:(?:\.|->|::)[A-Za-z_]\w*+)+|[/.~][\w./-]*+|(?:[a-z0-9_.-]++/)+[\w.-]*+"
    r"|[a-z]\w*+(?::\w++)+|\$[A-Za-z_]\w*+|%\w+%?|0x[0-9a-fA-F]{1,8}|[$€£]\d[\d.,]*+(?:/.*+)?"
    r"|[a-z][a-z0-9+.-]{1,20}://.*+|(?:@|[a-z]++:)?(?:[a-z0-9_-]++\.)+[a-z]{2,24}(?::\d++)?(?:/.*+)?|localhost:.*+"
    r"|[A-Z][A-Z0-9]*+(?:_[A-Z0-9]++)+|--[a-z][\w-]*+(?:=.*+)?|[a-z_]++=[\d.]++"
    r"|(?:[\w.-]++/)*+[\w-]++\.[a-z]{1,4}(?:::\w++)++"
)
_DATE: Final = lazy_pattern(
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*+|\d{1,2}:\d\d.*+|[\d.,]++(?:%|[a-zA-Z]{1,6})?|v?\d++(?:\.\w++)+(?:-\w++)?"
)
_SAMPLE: Final = lazy_pattern(r"EXAMPLE|([Xx0])\1{7}|\*{3}|\.{3}")
_SLUG: Final = lazy_pattern(
    r"[a-z]{2,}+(?:[-_.:][a-z]{2,}+)*(?:[-_.:]?v?\d{1,4}(?:[-_.:][a-z]{2,}+)*|[-_.:](?:[-_.:][a-z]{2,}+)*)?"
)
"""Words and a number: ``db-credentials7``, ``mailer2``, ``web-tls-2026``."""
_PARTS: Final = lazy_pattern(
    r"(?:[A-Za-z]{1,40}\d{0,2}|\d{1,4}[A-Za-z]{0,2})(?:[-_.:/+](?:[A-Za-z]{1,40}\d{0,2}|\d{1,4}[A-Za-z]{0,2})){2,20}"
)
"""Words and numbers side by side: ``svc-payments-eu1-v2``. What is made by chance mixes both within a part."""
_REFERRED: Final = lazy_pattern(r"[A-Za-z_]\w{0,80}?(?:Secret|Token|Key|Credential)s?(?![a-z])\w{0,80}")
"""A name in code that says what it holds: ``MLDSA44PrivateKey``."""
_PHRASE: Final = lazy_pattern(r"[A-Za-z]{3,}+(?:[-_.+][A-Za-z]{3,}+){3,}")
_WORDS_OF_PHRASE: Final = lazy_pattern(r"[^\W_]+")
_OF_RULES: Final = word_set("""
    a an the of for and or with to be is are was must should please enter your required not wrong incorrect invalid
    empty short long at least characters words used expected again bitte eingeben geben muss introduzca entrez saisissez
    veuillez inserisci digite voer
    """)
"""Words of what tells how a passphrase must be, or asks for one."""
_NAMES_SECRET: Final = lazy_pattern(r"(?i)pass|kennw|contrase|senha|phrase|wachtwoord")
_SHORTEST_KEY: Final = 12
_SHORTEST_RANDOM: Final = 16
_SHORTEST_PHRASE: Final = 18
_SHORTEST_PASSWORD: Final = 6
_FEW: Final = 4
_MARKS: Final = frozenset("!@#$%^&*?+=")
T = TypeVar("T")


def is_placeholder(value: str) -> bool:
    """Whether a value stands for a secret instead of being one: ``your_api_key``, ``********``, ``<password>``."""
    return bool(_PLACEHOLDER.search(value)) or len(set(value)) < _FEW


def is_sample(value: str) -> bool:
    """Whether a key is one of those that documentation shows: ``AKIA...EXAMPLE``, ``.../XXXXXXXX``."""
    return _SAMPLE.search(value) is not None


def is_plain(value: str) -> bool:
    """Whether a value is a placeholder, a variable, a call, a path or an address."""
    return is_placeholder(value) or bool(_CODE.fullmatch(value))


def is_password(value: str) -> bool:
    """Whether a value that is given as a password is one: letters and digits, digits alone, or four words."""
    if len(value) < _SHORTEST_PASSWORD or is_plain(value):
        return False
    letters, digits = _has_letter(value), _has_digit(value)
    if letters and not digits:
        return is_passphrase(value)
    return letters or value.isdigit() or bool(_MARKS & set(value) and digits)


def is_passphrase(value: str) -> bool:
    """Whether a value is four words or more, joined: ``correct-horse-battery-staple``."""
    return len(value) >= _SHORTEST_PHRASE and bool(_PHRASE.fullmatch(value))


def is_network_key(value: str) -> bool:
    """Whether a value that is given as the key of a wireless network is one: 8 characters or more, and a digit."""
    return len(value) >= 8 and _has_digit(value) and not (_STANDS_IN.search(value) or _CODE.fullmatch(value))  # noqa: PLR2004  # as WPA asks


def is_spoken_phrase(value: str) -> bool:
    """Whether what is quoted as a passphrase is one: three words and a number, or four words, none of them a rule's."""
    words = _WORDS_OF_PHRASE.findall(value.lower())
    if len(words) < (_FEW if not _has_digit(value) else _FEW - 1) or not _OF_RULES.isdisjoint(words):
        return False
    return not (_STANDS_IN.search(value) or _NAMES_SECRET.search(value))


def is_spoken_password(value: str) -> bool:
    """Whether what is quoted as a password, several words, is one: a number is among them."""
    return _has_digit(value) and is_spoken_phrase(value)


def is_beside_key_id(value: str) -> bool:
    """Whether what stands beside the id of a key is its secret."""
    return is_made_by_chance(value) and not is_sample(value)


def is_strong(value: str) -> bool:
    """Whether a value can hardly be a word of a sentence: three sorts of characters, or many changes between sorts."""
    if len(value) < 8 or is_plain(value) or _DATE.fullmatch(value) or _SLUG.fullmatch(value):  # noqa: PLR2004  # as most rules for passwords
        return False
    sorts = _has_letter(value) and _has_digit(value), _has_case(value), bool(_MARKS & set(value[:-1]))
    return sorts[0] and (sorts[1] or sorts[2] or is_random(value))


def is_key(value: str) -> bool:
    """Whether a value that is given as a key or a token is one: letters and digits, 12 characters or more."""
    if len(value) < _SHORTEST_KEY or is_plain(value) or _DATE.fullmatch(value) or _SLUG.fullmatch(value):
        return False
    return _has_letter(value) and _has_digit(value) and not (_REFERRED.fullmatch(value) or _PARTS.fullmatch(value))


def is_random(value: str) -> bool:
    """Whether a value is long, and letters and digits stand in it as if by chance."""
    return len(value) >= _SHORTEST_RANDOM and is_key(value) and _changes(value) * 8 >= len(value)


def is_scattered(value: str) -> bool:
    """Whether the sorts of characters of a value change at every other place, as in no word: ``rg50kiTcqZ7``."""
    return is_strong(value) and _changes(value) * 2 >= len(value)


def is_mixed(value: str) -> bool:
    """Whether two digits or more stand in a value as in no name: ``Gr1msel99``, ``Abc!1234``, but not ``Server01``."""
    if not is_strong(value) or sum(1 for c in value if c.isdigit()) < 2:  # noqa: PLR2004  # one is a name's: OAuth2
        return False
    return bool(_MARKS & set(value)) or _changes(value) >= _FEW


def is_made_by_chance(value: str) -> bool:
    """Whether capitals, small letters and digits change in a long value as in no name: ``wJalrXUtn7FEMI2K9bPxRfi``."""
    digits = sum(1 for c in value if c.isdigit())
    return _has_case(value) and digits > 1 and is_strong(value) and _changes(value) * 5 >= len(value) * 2


def _changes(value: str) -> int:
    """Return how often a character of one sort follows one of another: lower case, upper case, digit, other."""
    sorts = [0 if c.islower() else 1 if c.isupper() else 2 if c.isdigit() else 3 for c in value]
    return sum(1 for one, other in pairwise(sorts) if one != other)


def _has_letter(value: str) -> bool:
    return any(c.isalpha() for c in value)


def _has_digit(value: str) -> bool:
    return any(c.isdigit() for c in value)


def _has_case(value: str) -> bool:
    return any(c.isupper() for c in value) and any(c.islower() for c in value)


class PrefilteredPatterns(Generic[T]):
    """Tests of texts, each with its clues: fixed texts of which one must be there."""

    def __init__(self, items: Iterable[tuple[Iterable[str], T]]) -> None:
        self._items: list[T] = []
        self._places: dict[str, list[int]] = {}
        for clues, item in items:
            for clue in clues:
                self._places.setdefault(clue.lower(), []).append(len(self._items))
            self._items.append(item)
        stems = [clue for clue in self._places if not any(other in clue and other != clue for other in self._places)]
        self._clues_of = {stem: [clue for clue in self._places if stem in clue] for stem in stems}
        """Clue that holds no other one -> those that hold it, itself among them: where it is not, they are not."""
        self.plain_stems = [stem for stem in stems if stem.isascii()]
        """One of them stands in each ASCII text, in lower case, that is put to a test."""

    def among(self, lower: str) -> list[T]:
        """Return the tests that a text in lower case is put to, in the order that was given."""
        stems = [stem for stem in (self.plain_stems if lower.isascii() else self._clues_of) if stem in lower]
        if not stems:
            return []
        present = [clue for stem in stems for clue in self._clues_of[stem] if clue in lower]
        return [self._items[place] for place in sorted({place for clue in present for place in self._places[clue]})]

"""Which full stops belong to a word or to the number of a day, and end no sentence."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from perdure.rules.language.words import STOP_WORDS, word_set

_TITLES: Final = word_set("""
    mr mrs ms mx messrs dr prof st mt gen gov hon rev capt sgt sra srta mme mlle dña dra dott sig dhr mevr drs ir fr hr
    """)
"""A name follows them, whatever letter it begins with."""
_INTRODUCING: Final = word_set("e.g i.e eg ie vs approx ca bzw z.b d.h u.a p.ej d'env bl.a t.ex bijv")
"""What they introduce follows them."""
_ALSO_INITIALS: Final = word_set("hr fr ir fa bd av ul")  # in capitals they stand for something else: "We asked HR."
_BEFORE_NAMES: Final = word_set("ul av avda pza bd abt fa")  # of streets and firms: a name or a number follows
_BEFORE_NUMBERS: Final = word_set("""
    no nr num núm vol pp fig sec art jan feb mar apr jun jul aug sep sept oct nov dec ext tel min max apt cad esc godz
    kap pok pág cap kl ch
    """)
_INSIDE: Final = word_set("al etc inc ltd co corp dept sr jr ave blvd rd a.m p.m u.s u.k usw appt univ")
"""A sentence may end with them: it goes on if a small letter follows, or a bracket."""
_STREETS: Final = ("str", "pl", "gt")  # the ends of long words, before the number of a house: "Hauptstr. 12"
_LONGEST: Final = 40  # characters of a word that are read
_LEAST_LETTERS: Final = 2
_DAY_DIGITS: Final = 2
_VOWELS: Final = frozenset("aeiouyæøœıаеёиоуыэюяєіїαεηιουω")  # noqa: RUF001  # other scripts are meant
_MONTHS: Final = word_set("""
    januar jänner februar feber märz marts mars mai maj juni juli august september oktober november dezember december
    desember januari februari augusti ledna února března dubna května června července srpna září října listopadu
    prosince
    """)
_SHARED_MONTHS: Final = word_set("august september november december mars")
"""Those that begin a sentence in English, too: "There are 4. August is free"."""
_BETWEEN_DAYS: Final = word_set("bis und")  # "vom 7. bis 18. Juli"
_BEFORE_ORDINALS: Final = word_set(
    "am ab vom zum zur bis im ins der die den dem seit jeden jede jedes jeder ihr sein unser mein dein"
)
"""What stands before an ordinal in German: "im 3. Stock"; a count that ends a sentence has none of them before it."""
_NEXT_WORD: Final = re.compile(r"[ \t]+(?=\S)(?:([^\W\d_]+)|(\d)|([(\[]))?")
_GOES_ON_WITH_WORD: Final = re.compile(r"[ \t]+[^\W\d_]")


def belongs_to_a_word(text: str, mark: int, plain: frozenset[str]) -> bool:
    """Return whether the full stop at a place belongs to an abbreviation, an initial or the number of a day.

    So it is where more of the sentence follows on its line; ``plain`` are the words that are no names.
    """
    if mark == 0 or text[mark - 1].isspace():
        return False
    before = text[max(0, mark - _LONGEST) : mark].split()
    word = before[-1].lstrip("([\"'“„")
    after = _NEXT_WORD.match(text, mark + 1)
    if not word or after is None:
        return False
    following, digit, bracket = after.groups()
    if word.isdecimal():
        lead = before[-2] if len(before) > 1 else ""
        is_date = not _GOES_ON_WITH_WORD.match(text, after.end())
        return len(word) <= _DAY_DIGITS and _goes_on_from_day(lead, following or "", plain, is_date=is_date)
    if len(word) == 1 and word.isupper() and word != "I":  # "J. Ito", but not "Plan B. Then we left"
        return (following or "")[:1].isupper() and (following or "").lower() not in STOP_WORDS
    if digit is not None:
        is_unit = len(before) > 1 and before[-2][-1].isdecimal()  # "30 Hz. 12 players": it stands behind its number
        return _goes_on_to_number(word, is_unit=is_unit)
    return _goes_on_to_word(word, following or "", plain, bracket=bracket is not None)


def _goes_on_from_day(lead: str, after: str, plain: frozenset[str], *, is_date: bool) -> bool:
    """Return whether what follows a number and a full stop goes on with its sentence, as after a German ordinal."""
    low = after.lower()
    leads = lead.lower() in _BEFORE_ORDINALS
    if low in _MONTHS:
        surely = low not in _SHARED_MONTHS or after.islower()
        return surely or is_date or leads or not lead or not lead[-1].isalnum()
    return low in _BETWEEN_DAYS or (leads and bool(after) and low not in plain)


def _goes_on_to_number(word: str, *, is_unit: bool) -> bool:
    """Return whether a number that follows an abbreviation belongs to its sentence."""
    low = word.lower()
    if low in _ALSO_INITIALS and word.isupper():
        return False
    known = low in _TITLES or low in _INTRODUCING or low in _BEFORE_NAMES or low in _BEFORE_NUMBERS
    return known or low.endswith(_STREETS) or (_has_no_vowel(word) and not is_unit)


def _goes_on_to_word(word: str, after: str, plain: frozenset[str], *, bracket: bool) -> bool:
    """Return whether a word, a mark or a bracket that follows an abbreviation goes on with its sentence."""
    low = word.lower()
    if low in _ALSO_INITIALS and word.isupper():
        return False
    if low in _TITLES or low in _INTRODUCING:
        return True
    if low in _BEFORE_NAMES:
        return after[:1].isupper() and after.lower() not in plain
    return low in _INSIDE and (bracket or after[:1].islower())


def _has_no_vowel(word: str) -> bool:
    """Return whether a word cannot be spoken, and has no capitals within, as names of things and firms have them."""
    if len(word) < _LEAST_LETTERS or not word.isalpha() or not word[1:].islower():
        return False
    return _VOWELS.isdisjoint(unicodedata.normalize("NFD", word.lower()))

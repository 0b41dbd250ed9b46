"""Whether a sentence says a value as people speak: "Tuesdays at six" says "Tuesday 18:00", "four nodes" "4".

Whoever notes a message down writes its numbers and times in a form of their own. English, German, French, Spanish,
Italian, Portuguese, Dutch.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Final

from perdure.rules.language.dates import MONTH_OF, WEEKDAY_OF
from perdure.rules.language.function_words import FUNCTION_WORDS
from perdure.rules.language.words import NUMBER_WORDS

_NAMES: Final = """
2 zwei deux dos twee dois
3 drei trois tres drie três
4 vier quatre cuatro quattro quatro
5 fünf cinq cinco cinque vijf
6 sechs seis zes
7 sieben sept siete sette zeven sete
8 acht huit ocho otto oito
9 neun neuf nueve nove negen
10 zehn dix diez dieci tien dez
11 elf onze undici
12 zwölf douze doce dodici twaalf doze
13 dreizehn treize trece tredici dertien treze
14 vierzehn quatorze catorce quattordici veertien
15 fünfzehn quinze quince quindici vijftien
16 sechzehn seize dieciséis sedici zestien
17 siebzehn dix-sept diecisiete diciassette
18 achtzehn dix-huit dieciocho diciotto
19 neunzehn dix-neuf diecinueve diciannove
20 zwanzig vingt veinte venti twintig vinte
30 dreissig trente treinta trenta dertig trinta
40 vierzig quarante cuarenta quaranta veertig quarenta
45 fünfundvierzig quarante-cinq quarantacinque
50 fünfzig cinquante cincuenta cinquanta vijftig cinquenta
60 sechzig soixante sesenta sessanta zestig sessenta
90 neunzig noventa novanta negentig
100 hundert cent cien cento honderd cem
"""
"""Without those that are more common words of another language: "once", "due", "sei"."""
_NUMBERS: Final = {
    **{word: number for word, number in NUMBER_WORDS.items() if number.isdigit()},
    **{word: line.split()[0] for line in _NAMES.strip().split("\n") for word in line.split()[1:]},
}
_DAYS: Final = frozenset((*WEEKDAY_OF, *MONTH_OF))
_WORD: Final = re.compile(r"\d{1,2}[:h]\d\d(?!\d)|\d{1,3}(?:[.,]\d{3})+(?!\d)|\d+(?:[.,]\d+)?|[^\W\d_]+(?:-[^\W\d_]+)*")
_QUANTITY: Final = re.compile(r"(\d+(?:[.,]\d+)*)\s?([^\W\d_]{1,3})")
_CLOCK: Final = re.compile(r"(\d{1,2})[:h]\d\d")
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
_HALF_DAY: Final = 12
_STEM: Final = 5  # so many letters tell a word, whatever its ending
_LEAST_LETTERS: Final = 3  # of a word that may be the beginning of another


def says_value(sentence: str, value: str) -> bool:
    """Return whether a sentence has half of a value's words or more, one of its numbers and days among them.

    Behind the number of "30 s" a word with the same letter must stand.
    """
    if quantity := _QUANTITY.fullmatch(_plain(value)):
        spoken = pairwise(_WORD.findall(_plain(sentence)))
        return any(_forms(quantity[1]) & _forms(number) and unit[0] == quantity[2][0] for number, unit in spoken)
    words, said = _words(value), _words(sentence)
    found = [word for word in words if any(_is_same(word, other) for other in said)]
    exact = [word for word in words if _is_exact(word)]
    return bool(found) and 2 * len(found) >= len(words) and (not exact or any(map(_is_exact, found)))


def is_number(value: str) -> bool:
    """Return whether a value is a number alone, which may be one of something else as well."""
    return len(found := _WORD.findall(_plain(value))) == 1 and found[0][0].isdigit() and ":" not in found[0]


def has_words_of(sentence: str, name: str) -> bool:
    """Return whether a sentence has all words of a name, whatever their endings: "Mia" of "Mia's"."""
    words, said = _words(name), _words(sentence)
    return bool(words) and all(any(_is_same(word, other) for other in said) for word in words)


@lru_cache(maxsize=4096)  # each message is held against several facts
def _words(text: str) -> tuple[frozenset[str], ...]:
    """Return the words of a text, function words aside, each in the forms in which it may stand elsewhere."""
    found = _WORD.findall(_plain(text))
    return tuple(forms for word in found if (forms := _forms(word)))


def _plain(text: str) -> str:
    return text.casefold().replace("€", " eur")


def _forms(word: str) -> frozenset[str]:
    if clock := _CLOCK.fullmatch(word):
        hour = int(clock[1])
        return frozenset((str(hour), str(hour % _HALF_DAY or _HALF_DAY)))
    if _THOUSANDS.fullmatch(word):
        return frozenset((re.sub(r"[.,]", "", word),))
    if word[0].isdigit():
        return frozenset((word.lstrip("0") or "0",))
    if number := _NUMBERS.get(word):
        return frozenset((number,))
    return frozenset() if word in FUNCTION_WORDS else frozenset((word,))


def _is_same(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether two words are one: numbers where they are equal, others where they begin alike."""
    if not one.isdisjoint(other):
        return True
    (short, *_), (long, *_) = sorted((sorted(one), sorted(other)), key=lambda forms: len(forms[0]))
    if short[0].isdigit() or long[0].isdigit() or len(short) < _LEAST_LETTERS:
        return False
    return long.startswith(short[:_STEM])


def _is_exact(word: frozenset[str]) -> bool:
    """Return whether a word is a number, a weekday or a month."""
    return any(form[0].isdigit() or form in _DAYS or form.rstrip("s") in _DAYS for form in word)

"""Words that name a day from the one on which they are said ("yesterday"), and where in a text they do.

Some of them are other words in another language: "hier" is yesterday in French, and here in German and Dutch. Those
count only where the text shows its language. None counts in code, a path, an option, a quotation or a name.
"""

from __future__ import annotations

import re
from bisect import bisect
from functools import lru_cache
from typing import Final

from perdure.records.patterns import lazy_pattern
from perdure.rules.language.words import word_set

_WORDS: Final = {
    "en": {"today": 0, "yesterday": -1, "tomorrow": 1, "the day before yesterday": -2, "the day after tomorrow": 2},
    "de": {"heute": 0, "gestern": -1, "vorgestern": -2, "morgen": 1, "übermorgen": 2},
    "fr": {"aujourd'hui": 0, "aujourd\u2019hui": 0, "hier": -1, "avant-hier": -2, "demain": 1, "après-demain": 2},
    "es": {"hoy": 0, "ayer": -1, "anteayer": -2, "mañana": 1, "pasado mañana": 2},
    "it": {"oggi": 0, "ieri": -1, "l'altro ieri": -2, "domani": 1, "dopodomani": 2},
    "pt": {"hoje": 0, "ontem": -1, "anteontem": -2, "amanhã": 1, "depois de amanhã": 2},
    "nl": {"vandaag": 0, "gisteren": -1, "eergisteren": -2, "morgen": 1, "overmorgen": 2},
}
SHIFT_OF: Final = {word: shift for words in _WORDS.values() for word, shift in words.items()}
"""How many days from the one on which it is said: "yesterday" is -1."""
_LANGUAGES: Final = {word: frozenset(k for k, words in _WORDS.items() if word in words) for word in SHIFT_OF}
_OTHER_WORDS: Final = {"hier": ("de", "nl"), "morgen": ("en",)}
"""In which languages a word is another one, or a name: in Danish and Norwegian, too, "morgen" is the morning."""
_SURNAMES: Final = frozenset({"ayer", "hoy"})
_MUCH: Final = 2  # so many more common words of another language show that a text is in that one
_ARTICLES: Final = {
    "en": word_set("the a an this that my your our his her their its"),
    "de": word_set("das dem des der den die ein eine einen einem am zum vom im jeden jeder guten diesen diesem"),
    "fr": word_set("le un ce"),
    "es": word_set("el la una esta cada toda misma buena"),
    "it": word_set("il un"),
    "pt": word_set("o um"),
    "nl": word_set("de het een deze elke iedere goede"),
}
"""Before a noun that is written as a day: "la mañana" is the morning, "the today view" a view."""
COMMON_WORDS: Final = {
    "en": word_set("""the and is are was were of to with for not it we he she they has have had will this that at by a
        on from or but my our your s t i me us no all do did can ll ve re m if so as be been there what when who"""),
    "de": word_set("""der die das und ist sind war waren ein eine einen mit für nicht auf wir ich er sie es im am zum
        zur vom bei den dem des von wird werden wurde hat haben auch noch nach aus ab bis seit um so in uhr gilt steht
        liegt"""),
    "fr": word_set("""le la les des un une du de est et en au aux il elle on nous vous je ne pas que qui sur avec pour
        dans par ce cette sont été était a ont ai avons j qu depuis"""),
    "es": word_set("""el la los las un una de del y es está son con por para no se que en al lo su mi nos ha han fue era
        desde hasta hay a"""),
    "it": word_set("""il lo la gli le i un una di del della dei e è sono con per non si che al alla nel nella ha hanno
        da abbiamo a"""),
    "pt": word_set("o a os as um uma de do da dos das e é está são com por para não se que em no na ao à foi tem já"),
    "nl": word_set("""de het een en is zijn was met voor niet op wij we ik hij zij ze van naar bij te uit aan ook om dat
        deze dit wordt werd heeft hebben kan moet er je tot in staat ligt"""),
}
_LETTERS: Final = lazy_pattern(r"[^\W\d_]+")
_ASIDE: Final = lazy_pattern(
    r"`[^`\n]{1,200}`|\"[^\"\n]{1,200}\"|[\u201c\u201e][^\u201c\u201d\n]{1,200}[\u201c\u201d]|«[^»\n]{1,200}»"
    r"|»[^«\n]{1,200}«|(?<!\w)['\u2018](?=\S)[^\n]{1,200}?(?<=\S)['\u2019](?!\w)"
)
"""Code and quotations."""
_BEFORE: Final = lazy_pattern(r"(?:\A|[\s(\[\u2013\u2014¿¡]|\b(?:[dl]|dell|all|qu)['\u2019])\Z", re.IGNORECASE)
_AFTER: Final = lazy_pattern(
    r"(?:['\u2019]s)?(?:\Z|\s|[\u2013\u2014]|[.,;:!?\u2026)\]]{1,4}(?=\Z|\s))(?!\s{0,2}=|\s{0,2}\([^()\n]{0,40}\d|\s?e[nm]\sd[ií]a\b)",
    re.IGNORECASE,
)
"""A date that follows in brackets says already which day it is; "hoy en día" is nowadays."""
_BEGINS: Final = lazy_pattern(r"(?:\A|[.!?:;\u2026\u2013\u2014(\[¿¡\n][\"'\u201d\u2019)\]]{0,2})\s{0,3}(?:[-*•]\s)?\Z")
_LAST_WORD: Final = lazy_pattern(r"(\S{1,40})\s{1,3}\Z")
_LONGEST_BEFORE: Final = 48


def names_day(text: str, start: int, end: int) -> bool:
    """Return whether the words there are plain prose about a day, if words as these name one; linear in the text.

    They are not in code, a path, an option, a quotation or a capitalised name, nor do they follow an article or mean
    something else in the language that the text shows.
    """
    word = " ".join(text[start:end].lower().split())
    before = text[max(0, start - _LONGEST_BEFORE) : start]
    if not (_BEFORE.search(before) and _AFTER.match(text, end)) or _is_name(text, start, before):
        return False
    previous = last[1].lower() if (last := _LAST_WORD.search(before)) else ""
    if previous.endswith("=") or (previous[:1] == "-" and previous[1:].strip("-")):
        return False
    if word in _LANGUAGES and not _is_in_language(text, start, word, previous, text[end : end + 1]):
        return False
    asides = _asides(text)
    at = bisect(asides, (start, start)) - 1
    return at < 0 or start >= asides[at][1]


@lru_cache(maxsize=64)
def _asides(text: str) -> list[tuple[int, int]]:
    """Return where code and quotations are, in the text's order."""
    return [aside.span() for aside in _ASIDE.finditer(text)]


def _is_name(text: str, start: int, before: str) -> bool:
    """Return whether a word has a capital that is not that of a sentence's first word."""
    return text[start].isupper() and not text.isupper() and not _BEGINS.search(before)


def _is_in_language(text: str, start: int, word: str, previous: str, following: str) -> bool:
    """Return whether a word names a day in the language that a text shows, and is no noun there."""
    languages, counts = _LANGUAGES[word], _common_words(text)
    own = max(counts[language] for language in languages)
    others = [many for language, many in counts.items() if language not in languages]
    if word in _OTHER_WORDS:
        is_of_language = own > max(counts[language] for language in _OTHER_WORDS[word])
    elif word in _SURNAMES and text[start].isupper():
        is_of_language = own > 0 and own >= max(others)
    else:
        is_of_language = max(others) - own < _MUCH
    is_owner = following in ("'", "\u2019")  # "our yesterday's call"
    return is_of_language and (is_owner or all(previous not in _ARTICLES[language] for language in languages))


@lru_cache(maxsize=512)
def _common_words(text: str) -> dict[str, int]:
    """Return how many of a text's words are common ones of each language."""
    words = _LETTERS.findall(text.lower())
    return {language: sum(word in common for word in words) for language, common in COMMON_WORDS.items()}

"""Words by which statements are read: stems, families of verbs, what measures, what tells of change."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from perdure.rules.language.verbs import IRREGULAR_PASTS
from perdure.rules.language.words import CALENDAR, word_set

_MONTHS: Final = """
january jan, february feb, march mar, april apr, may, june jun, july jul, august aug, september sep sept, october oct,
november nov, december dec
"""
MONTHS: Final = {name: i for i, names in enumerate(_MONTHS.split(","), 1) for name in names.split()}
"""Month, in full or short, to its number."""
PERIODS: Final = {
    "daily": "day",
    "nightly": "night",
    "weekly": "week",
    "monthly": "month",
    "yearly": "year",
    "annual": "year",
    **{name: name for name in ("day", "night", "week", "month", "year")},
}

_FAMILIES: Final = (
    "use download install adopt",
    "complete finish do solve attempt",
    "attend join",
    "write draft",
    "visit",
    "miss skip",
    "buy purchase",
    "submit",
    "begin start",
)
"""Verbs of which one says that the other was done as well, so far as "never" denies both."""
_SAME_FORM: Final = word_set(
    "news series species physics mathematics politics always plus minus bus gas yes this us is was has thing something "
    "anything nothing everything king ring spring string wing during morning evening bed red need feed speed seed"
)
_LONGEST_STEM: Final = 40


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Return a word's stem: without plural, -ing, -ed, -ly and a last e; close enough to compare, not to show."""
    word = IRREGULAR_PASTS.get(word, word)
    if len(word) < 4 or word in _SAME_FORM or len(word) > _LONGEST_STEM:  # noqa: PLR2004  # "is", "bus"
        return word
    if word in PERIODS:
        return PERIODS[word]
    if word.endswith("ies"):
        word = word[:-3] + "y"
    elif word.endswith(("sses", "xes", "zes", "ches", "shes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for suffix in ("ing", "ed", "ly"):
        base = word.removesuffix(suffix)
        if base != word and len(base) > (3 if suffix == "ly" else 2) and re.search(r"[aeiouy]", base):  # "ring"
            doubled = suffix != "ly" and base[-1] == base[-2] and base[-1] not in "lsz"
            word = base[:-1] if doubled else base
            break
    return word[:-1] if word.endswith("e") and len(word) > 3 else word  # noqa: PLR2004  # "see"


FAMILY: Final = {stem(verb): stem(names.split()[0]) for names in _FAMILIES for verb in names.split()}
"""Stem of a verb to that of its family."""

EMPTY: Final = word_set("""
    also already always actually anything around back bit come could currently especially even ever find feel
    everything get give go good got great help happen hear i'd i'll i'm i've idea it's just keep kinda kind know let
    let's like long look lot make mean much may maybe need new nice one ones please pretty put question quite really
    recently right see seem show since something soon still stuff sure take tell thank thanks that's thing things
    think today total try trying use used using very wanna want was way well will wonder wondering worried worry
    work working would yeah year yes yet can't don't didn't haven't hasn't isn't won't i'd we're we've you're
    there's what's current recent able make making made sort start starting started since per okay hey wow time
    times first last next week month day
    """)
"""Words that are in what anybody says: sharing one of them does not show that two speak of the same."""
MEASURES: Final = frozenset(
    form
    for w in word_set("""
    budget limit allowance quota goal target deadline rent salary wage price cost fee fare rate score grade accuracy
    coverage count balance fund saving income revenue weight height distance length size speed pace rating capacity
    usage temperature membership average percentage memory size bill mortgage payment contribution expense subscription
    minimum maximum headcount attendance time
    """)
    for form in (w, w + "s")
)
"""What has one value at a time, so that a new value takes the place of the old one."""
SINGLE: Final = frozenset(stem(w) for w in word_set("rent salary wage weight height mortgage"))
"""Measures of which a person has one."""
DATED: Final = frozenset(
    form
    for w in word_set("""
    deadline due appointment meeting interview exam test launch release wedding party trip flight event webinar session
    workshop conference presentation visit call recital concert race tournament surgery
    """)
    for form in (w, w + "s")
)
"""What takes place at one time, which may be moved."""
UNITS: Final = {
    **dict.fromkeys(("ms", "milliseconds", "millisecond"), "ms"),
    **dict.fromkeys(("s", "sec", "secs", "seconds", "second"), "s"),
    **dict.fromkeys(("min", "mins", "minutes", "minute"), "min"),
    **dict.fromkeys(("h", "hr", "hrs", "hours", "hour"), "h"),
    **dict.fromkeys(("days", "day"), "day"),
    **dict.fromkeys(("weeks", "week"), "week"),
    **dict.fromkeys(("months", "month"), "month"),
    **dict.fromkeys(("km", "kilometers", "kilometres"), "km"),
    **dict.fromkeys(("mi", "miles", "mile"), "mi"),
    **dict.fromkeys(("kg", "kilos", "kilograms"), "kg"),
    **dict.fromkeys(("lb", "lbs", "pounds"), "lb"),
    **dict.fromkeys(("mb",), "mb"),
    **dict.fromkeys(("gb",), "gb"),
    **dict.fromkeys(("points", "point"), "point"),
}
"""Units, to the form in which they are compared."""
NO_NOUN: Final = CALENDAR | word_set(
    "of in on at to for and or by with from out per the a is are was as i time times way ago old"
)
"""What is not counted by the number before it."""

CHANGED: Final = (
    "increased|raised|adjusted|extended|changed|updated|reduced|lowered|moved|pushed|rescheduled|bumped|boosted|revised"
    "|shifted|dropped|upgraded|switched|grew|grown|improved|postponed|expanded|rose|risen|fell|fallen|climbed|doubled"
    "|jumped|decreased|shortened|reset|brought"
)
"""Forms of the past: what is to be changed has not changed."""

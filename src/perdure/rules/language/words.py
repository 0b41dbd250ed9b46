"""Words: which of them discriminate, whom a query names, and which carry what a text must not lose."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from typing import Final

from perdure.records.memory import ROLES

_COMMON_WORDS: Final = """
a about above after again against all am an and any are aren as at be because been before being below between both but
by can cannot could couldn d did didn do does doesn doing don down during each few for from further had hadn has hasn
have haven having he her here hers herself him himself his how i if in into is isn it its itself just ll m me might
mightn more most must mustn my myself need needn no nor not now o of off on once only or other our ours ourselves out
over own re s same shan she should shouldn so some such t than that the their theirs them themselves then there these
they this those through to too under until up ve very was wasn we were weren what when where which while who whom
whose why will with won would wouldn y you your yours yourself yourselves
"""


def word_set(words: str) -> frozenset[str]:
    """Return the words of a list that is written as one text."""
    return frozenset(words.split())


STOP_WORDS: Final = word_set(_COMMON_WORDS)

_ANSWERING: Final = ROLES - {"user", "human"}
_WORD: Final = re.compile(r"[^\W_]+")  # letters and digits of any script, as the index of words splits them
_CAPITALISED: Final = re.compile(r"\b[A-Z][\w'’-]*")  # noqa: RUF001  # the typographic apostrophe is meant
_WITHIN: Final = re.compile(r"(?<!^)(?<![.?!]\s)(?<![¿¡])\b[A-Z][\w'’-]*")  # noqa: RUF001  # as above
_OPENING: Final = " \t\r\n\"'([*-\u2013\u2014\u00ab\u2018-\u201e"
QUESTION_WORDS: Final = word_set("""
    qué quién quiénes cuál cuáles cuándo cuánto cuánta cuántos cuántas cómo dónde adónde
    qui quoi quel quelle quels quelles quand comment combien où pourquoi
    wer wen wem wessen was wann wo wohin woher wie wieso weshalb warum welche welcher welches welchen welchem
    chi cosa quale quali quanto quanta quanti quante quando dove come perché
    quem qual quais quantos quantas onde aonde porquê
    """)
_POSSESSIVE: Final = re.compile(r"['’]s?$")  # noqa: RUF001  # as above
_CONTENT: Final = 4
_IDEOGRAPHS: Final = "\u2e80"  # scripts from here on are written without spaces
_FIRST_PERSON: Final = frozenset({"i", "my", "me", "mine", "myself"})


def query_words(text: str) -> tuple[str, ...]:
    """Return a query's words in order, lower case, each once, without stop words."""
    return tuple(dict.fromkeys(w for w in _WORD.findall(text.lower()) if w not in STOP_WORDS))


def shared_words(one: str, other: str) -> float:
    """Return how much of the shorter of two texts the other says too, 0 to 1: words of four letters or more, numbers.

    Of scripts without spaces (Chinese, Japanese) two letters count as a word.
    """
    return shared_part(content_words(one), content_words(other))


def shared_part(one: AbstractSet[str], other: AbstractSet[str]) -> float:
    """Return how much of the smaller of two sets of words is in the other one, 0 to 1."""
    return len(one & other) / max(1, min(len(one), len(other)))


def content_words(text: str) -> set[str]:
    """Return the words of a text that tell what it is about: of four letters or more, and numbers."""
    words = set(_WORD.findall(text.lower())) - STOP_WORDS
    found = {word for word in words if len(word) >= _CONTENT or word.isdigit()}
    if not text.isascii():
        for word in words:
            if word[0] >= _IDEOGRAPHS:
                found.discard(word)
                found |= {word[i : i + 2] for i in range(len(word) - 1)}
    return found


def people_named(text: str) -> frozenset[str]:
    """Return whom a query names: capitalised words in lower case; ``user`` where it speaks in the first person."""
    found = {_POSSESSIVE.sub("", w.lower()) for w in _CAPITALISED.findall(text)} - STOP_WORDS - {""}
    if _FIRST_PERSON & set(_WORD.findall(text.lower())):
        found.add("user")
    return frozenset(found)


def names_in(text: str) -> frozenset[str]:
    """Return the words of a query that are probably names, lower case: capitalised, and not the first of a sentence."""
    found = (_WORD.findall(word.lower()) for word in _WITHIN.findall(text.lstrip(_OPENING)))
    return frozenset(words[0] for words in found if words) - STOP_WORDS - QUESTION_WORDS


def is_named(speaker: str | None, names: frozenset[str]) -> bool:
    """Return whether a speaker, or one word of the speaker's name, is among the names."""
    if not speaker or not names:
        return False
    lower = speaker.lower()
    return lower in names or not names.isdisjoint(_WORD.findall(lower))


def has_name(speaker: str | None) -> bool:
    """Return whether a speaker has a name, and not only a role: of two people both tell and ask."""
    return speaker is not None and speaker.lower() not in ROLES


def may_answer(speaker: str | None) -> bool:
    """Return whether a speaker's turns count as answers (an assistant's replies to everything do not discriminate)."""
    return speaker is None or speaker.lower() not in _ANSWERING


# What a shorter or a merged text must not lose (rules/language/tokens.py, rules/meaning_guard.py).

NEGATIONS: Final = word_set("no not never none nobody nothing nowhere neither nor without")
MODALS: Final = word_set("can could may might must shall should will would ought")
_NUMBER_NAMES: Final = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen twenty
"""
_TENS: Final = "thirty forty fifty sixty seventy eighty ninety"
_QUANTITIES: Final = "hundred thousand million billion dozen half twice double triple first second third"
NUMBER_WORDS: Final[dict[str, str]] = {
    **{word: str(number) for number, word in enumerate(_NUMBER_NAMES.split())},
    **{word: str(10 * number) for number, word in enumerate(_TENS.split(), 3)},
    **{word: word for word in _QUANTITIES.split()},
}
"""Their values where they have one in digits; the others are numbers too, and stay words."""
CALENDAR: Final = word_set(
    "january february march april may june july august september october november december jan feb mar apr jun jul aug "
    "sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri "
    "sat sun"
)
DATES_BY_CAPITAL: Final = word_set("march may august jan mar jun aug sep oct dec mon wed fri sat sun")
"""A date only with a capital: people march, and they may."""
DAYS: Final = word_set("today yesterday tomorrow tonight noon midnight")

_TURNING_WORDS: Final = word_set("""
    all any both each every everyone everybody everything few fewer fewest half less least many more most much only
    several some various another other same such
    if unless until till except but or than whether although though because instead rather
    almost nearly barely hardly scarcely rarely seldom sometimes often usually always maybe perhaps probably possibly
    supposedly allegedly once still yet already again anymore ever
    false true wrong fake former formerly previously future
    """)
TURNING_VERBS: Final = word_set("""
    stop stops stopped stopping quit quits avoid avoids avoided fail fails failed failing refuse refuses refused deny
    denies denied cease ceased forget forgets forgot lack lacks lacked miss misses missed pretend pretends pretended
    try tries tried want wants wanted plan plans planned hope hopes hoped think thinks thought believe believes believed
    say says said claim claims claimed consider considers considered doubt doubts doubted
    """)
TURNING: Final = _TURNING_WORDS | TURNING_VERBS
"""Words that turn or limit what stands beside them: a text that has one more of them says something else."""

QUANTITIES: Final = word_set("""
    all any both each every everyone everybody everything few fewer half less least many more most much only several
    some various another other almost nearly barely hardly next last this these previous following
    """)
"""Words that say how many, or which of them."""

RELATIONS: Final = word_set("""
    before after since during while from to into onto on off in out up down over under above below between through
    against behind beside near with for by of at about as and so this these those here who whom whose which what when
    where why how was were been had did used have has having own
    """)
"""Words that say how the others belong together: little by themselves, but no two are the same."""

PEOPLE: Final = word_set("""
    i me my mine myself you your yours yourself yourselves he him his himself she her hers herself we us our ours
    ourselves they them their theirs themselves
    """)
IGNORABLE: Final = word_set("""
    a an the is are am be being do does doing that there it its very really also please oh hey
    """)
"""Words without which a sentence still says the same."""

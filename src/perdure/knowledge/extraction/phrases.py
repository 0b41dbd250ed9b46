"""Phrases: subjects, the words of a value, and the names that they give to what is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from perdure.knowledge.extraction.clauses import Clause, TextSpan, Word
from perdure.knowledge.extraction.lemmas import past_form, singular
from perdure.rules.language.words import NUMBER_WORDS, STOP_WORDS, word_set

PEOPLE: Final = word_set("i we they he she")
OWNERS: Final = {"my": "I", "our": "we", "his": "he", "her": "she", "their": "they", "its": "it"}
DETERMINERS: Final = word_set("a an the my our your his her their its this that these those some any new another")
PREPOSITIONS: Final = word_set("""
    to for at in on with from into about as by over under near during through since until after before without within
    between among around across against toward towards via per instead like because due while
    """)
PARTICLES: Final = word_set("up out down back off over away around along")
VERB_PREPOSITIONS: Final = word_set("to for at in on with from into about as of")
_ENDS: Final = word_set("""
    that which who whom whose where when while because cause so but if unless than then since until though although
    yesterday today tomorrow tonight now recently lately again too together ago already before soon yet anymore though
    considering including especially i i'm i've i'd i'll we we're we've they they're he he's she she's it it's you
    you're there is are was were has have had will would could should can might may do does did really just also
    currently regularly there's not helped helping makes made
    """)
_NO_VALUE: Final = word_set("""
    it that this them you me us him her there so how what why who where when all everything something anything nothing
    everyone someone things stuff one ones more lot lots bit most much many both myself yourself ourselves themselves
    himself herself each your yours here to not that's it's what's same kind sort way
    """)
WEEKDAYS: Final = word_set("monday tuesday wednesday thursday friday saturday sunday weekday weekend")
DAYPARTS: Final = word_set("morning afternoon evening night noon midday")
_OTHER_ACTS: Final = word_set("""
    it get go my works lives goes plays likes loves hates wants uses runs teaches studies speaks prefers gets makes
    takes needs
    """)
"""After "and" they begin another act: "lives in Lyon and works at Acme"."""
_ACTS: Final = word_set("work live go play study teach run volunteer travel commute")
_LONGEST: Final = 10


@dataclass(frozen=True, slots=True)
class Phrase:
    """Some words in a row: ``words[first:last]`` of a clause."""

    words: tuple[Word, ...]

    @property
    def start(self) -> int:
        """Where it begins in the text."""
        return self.words[0].start

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.words[-1].end

    @property
    def place(self) -> TextSpan:
        """Where it stands."""
        return self.start, self.end

    @property
    def lows(self) -> list[str]:
        """Its words in lower case."""
        return [word.low for word in self.words]

    @property
    def said(self) -> str:
        """Its words as said."""
        return " ".join(word.said for word in self.words)


def is_name(word: Word) -> bool:
    """Return whether a word is written like a proper name and is no other word at the beginning of a sentence."""
    bare = word.low.split("'")[0]
    return (
        word.said[:1].isupper()
        and bare not in STOP_WORDS
        and bare not in OWNERS
        and bare not in _NO_VALUE
        and word.said[0].isalpha()
    )


def is_identifier(word: Word) -> bool:
    """Return whether a word is written like a name that programs use: ``pg-stage-2``, ``docs.acme.dev``."""
    inner = word.said[1:]
    if any(c in inner for c in "_/.@:") or (word.said[0] == "#" and inner):
        return True
    digits = any(c.isdecimal() for c in word.said)
    return digits and (word.said[0].isalpha() or ("-" in inner and word.said.replace("-", "").isdecimal()))


def is_number(low: str) -> bool:
    """Return whether a word is a number, in digits or words."""
    if low[:1].isalpha():
        return NUMBER_WORDS.get(low, "").isdecimal()
    return low.lstrip("$€£~").replace(",", "")[:1].isdecimal()


def phrase_at(clause: Clause, at: int, *, short: bool = False) -> Phrase | None:
    """Return the noun phrase that begins at a word: determiners left out, ended by what begins something else.

    None if nothing is named there: pronouns, "a lot", "so much".

    Args:
        clause: Where it stands.
        at: Index of its first word.
        short: End it at "of" and "and" too.
    """
    words = clause.words
    while at < len(words) and words[at].low in DETERMINERS:
        at += 1
    if at >= len(words) or words[at].low in _NO_VALUE:
        return None
    stop = at
    days = [(s, e) for s, e, _ in clause.at]
    joined = words[at].low.endswith("ing")
    while stop < min(len(words), at + _LONGEST):
        low = words[stop].low
        if stop > at and text_gap(words[stop - 1], words[stop]):
            break
        if (
            low in PREPOSITIONS
            and joined
            and stop > at
            and low not in {"because", "like", "since", "until", "after", "before", "while"}
        ):
            joined = False  # "going to concerts" is one thing, its preposition no end
        elif low in _ENDS or low in PREPOSITIONS or (short and low in {"of", "and", "or"}):
            break
        if (low == "any" and _no_more(words, stop)) or (low in {"and", "or", "&"} and not _joins_noun(words, stop)):
            break
        if any(s <= words[stop].start < e for s, e in days):
            break
        stop += 1
    while stop > at and (words[stop - 1].low in {"and", "or", "of", "&"} | DETERMINERS | PREPOSITIONS):
        stop -= 1
    return Phrase(words[at:stop]) if stop > at else None


def text_gap(one: Word, other: Word) -> bool:
    """Return whether more than a space stands between two words: a comma, a quote."""
    return other.start - one.end > 2  # noqa: PLR2004


def _no_more(words: Sequence[Word], at: int) -> bool:
    return at + 1 < len(words) and words[at + 1].low in {"more", "longer"}


def _joins_noun(words: Sequence[Word], at: int) -> bool:
    """Return whether "and" joins another noun rather than another act."""
    if at + 1 >= len(words):
        return False
    low = words[at + 1].low
    if low in _ACTS and at + 2 < len(words) and words[at + 2].low in VERB_PREPOSITIONS:
        return False  # "I live in Lyon and work at Acme"
    return low not in _ENDS and low not in PREPOSITIONS and not past_form(low) and low not in _OTHER_ACTS


def name_of(lows: Sequence[str]) -> str:
    """Return words as the name of a predicate: ``_`` between singulars, without determiners."""
    kept = [singular(low.replace("'s", "").replace("'", "")) for low in lows if low not in DETERMINERS and low != "of"]
    return "_".join("".join(c if c.isalnum() else "_" for c in word).strip("_") for word in kept if word)


def named_day(phrase: Phrase) -> tuple[Phrase, str] | None:
    """Return the weekday or part of the day in a phrase, and what it is the day of: ``Friday deliveries``.

    The second is a predicate's beginning: ``delivery_day``, ``meeting_time``, or ``day`` where nothing is named.
    """
    for at, word in enumerate(phrase.words):
        bare = singular(word.low)
        if bare in WEEKDAYS or bare in DAYPARTS:
            others = [w.low for i, w in enumerate(phrase.words) if i != at and w.low not in {"on", "in", "and"}]
            if len(others) > 3:  # noqa: PLR2004
                return None
            kind = "day" if bare in WEEKDAYS else "time"
            named = name_of(others)
            return Phrase((word,)), f"{named}_{kind}" if named else kind
    return None

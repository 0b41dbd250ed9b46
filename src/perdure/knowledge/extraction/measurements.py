"""Numbers and days beside what they measure: "3 cats", "my $35 monthly budget", "with 95% accuracy"."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from perdure.knowledge.extraction.clauses import Clause, TextSpan
from perdure.knowledge.extraction.kinds import kind_of
from perdure.knowledge.extraction.lemmas import singular
from perdure.knowledge.extraction.parsed_clause import Parsed, RawClaim, claim_at
from perdure.knowledge.extraction.phrases import (
    DETERMINERS,
    OWNERS,
    PREPOSITIONS,
    Phrase,
    is_name,
    is_number,
    name_of,
    phrase_at,
    text_gap,
)
from perdure.knowledge.extraction.vocabulary import COUNTING, RELATIONS
from perdure.knowledge.records.facts import Learned
from perdure.knowledge.records.predicates import Predicates
from perdure.rules.language.words import word_set

_ENDING: Final = word_set("""
    and or but so which that who is are was were has have had to of in on at for with from by up i we they he she it my
    our when where now since starting correct so-far total
    """)
_BEFORE_VALUES: Final = word_set("about around now on to at by roughly approximately over set just")
_LONGEST_NAME: Final = 6
"""Words that a name before "of $50" may have."""
_PER: Final = word_set("per a an each every")
_RATES: Final = word_set("daily weekly monthly yearly annually")
_TIMES: Final = word_set("second minute hour day week month year min sec time am pm hr decade")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_NUMBER: Final = re.compile(
    r"[$€£]?\d[\d,.]*(?:k|m|bn)?(?:%|ms|s|kg|km|cm|mm|m|g|gb|mb|tb|lbs?|mph|min|h|usd|eur)?(?:/\w+)?", re.IGNORECASE
)
_SCALED: Final = re.compile(r"\d[\d,.]*(?:k|m|mn|bn)", re.IGNORECASE)
_MONEY: Final = word_set("usd eur gbp chf dollar dollars euro euros pound pounds yen franc francs rupees yuan")
"""What may stand after "50k": without it the value would lose its currency."""
_NEWER: Final = word_set("new updated revised increased adjusted current extended reduced latest")
_AIMING: Final = word_set("aiming targeting targets target aim")


def measure_at(clause: Clause, at: int) -> tuple[TextSpan, list[str], int] | None:
    """Return a number with its unit that begins at a word: where it stands, what is counted, where it ends.

    Years, versions and "one" are no measures. What is counted is up to three words: ``classification problems``.
    """
    words, first = clause.words, clause.low(at)
    if first in {"", "one"} or not is_number(first):
        return None
    digits = first[0].isdecimal() or first[0] in "$€£"
    if digits and (not _NUMBER.fullmatch(first) or _YEAR.fullmatch(first) or clause.day_at(at)):
        return None
    noun: list[str] = []
    stop = at + 1
    if not (first[0] in "$€£" or (first[-1].isalpha() and first[0].isdecimal()) or first[-1] == "%"):
        while stop < len(words) and len(noun) < 3 and _counts(clause, stop):  # noqa: PLR2004
            noun.append(words[stop].low)
            stop += 1
        while noun and noun[-1].endswith("ly"):
            noun, stop = noun[:-1], stop - 1
    stop += bool(_SCALED.fullmatch(first)) and clause.low(at + 1) in _MONEY
    stop = _after_rate(clause, stop)
    return (words[at].start, words[stop - 1].end), noun, stop


def _after_rate(clause: Clause, stop: int) -> int:
    """Return where a value ends with its rate: "weekly", "per month"."""
    if clause.low(stop) in _RATES:
        return stop + 1
    return stop + 2 if clause.low(stop) in _PER and singular(clause.low(stop + 1)) in _TIMES else stop


def _counts(clause: Clause, at: int) -> bool:
    word = clause.words[at]
    return (
        word.low.replace("-", "").isalpha()
        and word.low not in _ENDING | PREPOSITIONS | _RATES
        and not text_gap(clause.words[at - 1], word)
    )


def owner_and_name(phrase: Phrase) -> tuple[str, str]:
    """Return whose attribute a noun phrase names, and its name: "Ann's phone" -> ``Ann``, ``phone``.

    "my X" is the speaker's, and so is "my sister's phone", called ``sister_phone``; "the X of Y" and "the X at Y" are
    Y's, "X for Y" is called ``Y_X``, a bare "the X" is the speaker's.
    """
    words = phrase.words
    for at, word in enumerate(words[:-1]):
        if word.low.endswith("'s"):
            named = [w.low for w in words[at + 1 :]]
            if at and words[0].low in OWNERS and word.low[:-2] in RELATIONS:
                return OWNERS[words[0].low], name_of([*(w.low for w in words[1:at]), word.low[:-2], *named])
            return Phrase(words[: at + 1]).said[:-2], name_of(named)
    owner = OWNERS.get(words[0].low, "I")
    rest = [w for w in words if w.low not in DETERMINERS and w.low not in _NEWER]
    for at, word in enumerate(rest):
        if at and at + 1 < len(rest) and word.low in {"for", "of", "in", "on", "to", "at", "with"}:
            outer = rest[at + 1 :]
            if words[0].low == "the" and (word.low == "of" or (word.low in {"at", "with"} and is_name(outer[0]))):
                return " ".join(w.said for w in outer), name_of([w.low for w in rest[:at]])
            return owner, name_of([*(w.low for w in outer), *(w.low for w in rest[:at])])
    return owner, name_of([w.low for w in rest])


def value_at(clause: Clause, at: int) -> tuple[TextSpan | None, bool]:
    """Return where the value that begins at a word stands, and whether it is a number or a day."""
    while clause.low(at) in _BEFORE_VALUES:
        at += 1
    if (day := clause.day_at(at)) is not None:
        return (clause.words[at].start, day[1]), True
    if (found := measure_at(clause, at)) is not None:
        place, noun, after = found
        is_range = clause.low(after) == "to" and not noun and "from" not in clause.lows
        beyond = measure_at(clause, after + 1) if is_range else None  # "8 to 10 am" is one value
        return (place if beyond is None else (place[0], beyond[0][1])), True
    phrase = phrase_at(clause, at)
    return (None if phrase is None else phrase.place), False


def read_count(parsed: Parsed, at: int, lemma: str) -> list[RawClaim]:
    """Return how many of something somebody has or has done, where such a number grows; else nothing."""
    found = measure_at(parsed.clause, at)
    if found is None or parsed.denied:
        return []
    place, noun, after = found
    if not noun or singular(noun[-1]) in _TIMES or lemma not in COUNTING | {"add"}:
        return []
    verb = "" if lemma in {"have", "own", "add"} else f"{lemma}_"
    claim = claim_at(parsed, f"{verb}{name_of(noun)}_count", place, kind="measure", many=False)
    if lemma != "add":
        return [claim]
    whole = parsed.phrase_at(after + 1) if parsed.low_at(after) == "to" else None  # "added 3 tests to the suite"
    return [] if whole is None else [replace(claim, subject=f"{parsed.words[after + 1].said} {whole.said}")]


def read_passing(clause: Clause, predicates: Predicates) -> list[RawClaim]:
    """Return attributes that a clause names in passing: "my $35 monthly budget", "with 95% accuracy"."""
    found: list[RawClaim] = []
    for at, word in enumerate(clause.words):
        before = clause.low(at - 1)
        day = clause.day_at(at)
        if day is not None and (before in OWNERS or before in {"the", *_NEWER}):
            found += _before(clause, at, day, predicates, "date")
        elif (measure := measure_at(clause, at)) is not None:
            place, noun, _ = measure
            priced = word.low[0] in "$€£" and (before in OWNERS or before in {"the", "a", *_NEWER})
            if priced or (word.low.endswith("%") and before in {"with", "a"}):
                found += _before(clause, at, place, predicates, "measure")
            elif noun and _is_goal(clause, at):
                found.append(_passing(clause, at, f"{name_of(noun)}_goal", place, "I"))
            elif at > 1 and before == "of":
                found += _of(clause, at, place, predicates)
    return found


def _is_goal(clause: Clause, at: int) -> bool:
    """Return whether a number is aimed at: "aiming for 10 books", "targeting 1,200 words"."""
    before, earlier = clause.low(at - 1), clause.low(at - 2)
    return before in _AIMING or (before in {"for", "of", "at"} and earlier in {*_AIMING, "goal"})


def _before(clause: Clause, at: int, place: TextSpan, predicates: Predicates, sort: str) -> list[RawClaim]:
    """Return the attribute whose value stands before it: "my April 20 deadline for the draft"."""
    words = clause.words
    after = next((i for i, w in enumerate(words) if w.start >= place[1]), len(words))
    phrase = phrase_at(clause, after)
    if phrase is None:
        return []
    named = phrase.lows
    last = after + len(phrase.words)
    if clause.low(last) == "for" and (topic := phrase_at(clause, last + 1, short=True)):
        named = [*topic.lows[-3:], *named]
    name = predicates.name(name_of(named))
    if kind_of(predicates, name) != sort or len(named) > 7:  # noqa: PLR2004
        return []
    newer = not _NEWER.isdisjoint((clause.low(at - 1), clause.low(at - 2)))
    said = _passing(clause, at, name, place, OWNERS.get(clause.low(at - 1), "I"), newer=newer)
    return [replace(said, span=(words[at - 1].start, max(phrase.end, place[1])))]


def _of(clause: Clause, at: int, place: TextSpan, predicates: Predicates) -> list[RawClaim]:
    """Return the attribute whose value stands after it: "a budget of $50"."""
    words, begin = clause.words, at - 2
    while (
        begin > 0
        and at - begin < _LONGEST_NAME
        and words[begin - 1].low not in PREPOSITIONS
        and words[begin].low not in DETERMINERS - _NEWER
    ):
        begin -= 1
    head = Phrase(words[begin : at - 1])
    owner, named = owner_and_name(head)
    name = predicates.name(named)
    if head.lows[0] not in {*OWNERS, "a", "the", "an"} or not named or kind_of(predicates, name) != "measure":
        return []
    said = _passing(clause, at, name, place, owner, newer=not _NEWER.isdisjoint(head.lows))
    return [replace(said, span=(head.start, place[1]))]


def _passing(clause: Clause, at: int, name: str, place: TextSpan, owner: str, *, newer: bool = False) -> RawClaim:
    span = clause.words[max(0, at - 1)].start, place[1]
    learned = Learned.CORRECTION if newer else Learned.STATEMENT
    kind = "measure" if name.endswith(("_goal", "_count")) else ""
    return RawClaim(owner, name, place, span, learned, kind=kind, many=False)

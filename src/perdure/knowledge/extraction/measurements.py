"""Numbers and days beside what they measure: "3 cats", "my $35 monthly budget", "with 95% accuracy"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from perdure.knowledge.extraction.clauses import Clause, Word
from perdure.knowledge.extraction.lemmas import singular
from perdure.knowledge.extraction.naming_verbs import (
    COUNTING,
    RELATIONS,
    Parsed,
    RawClaim,
    TextSpan,
)
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
from perdure.knowledge.extraction.predicates import Predicates
from perdure.knowledge.records.facts import Learned
from perdure.records.instant import Instant
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
_SORTS: Final = {"measure", "date", "status", "contact", "address", "job", "name", "policy", "preference"}


def measure_at(clause: Clause, at: int) -> tuple[TextSpan, list[str], int] | None:
    """Return a number with its unit that begins at a word: where it stands, what is counted, where it ends.

    Years, versions and "one" are no measures. What is counted is up to three words: ``classification problems``.
    """
    words = clause.words
    if at >= len(words) or words[at].low == "one" or not is_number(words[at].low):
        return None
    first = words[at].low
    if first[0].isdecimal() or first[0] in "$€£":
        if not _NUMBER.fullmatch(first) or _YEAR.fullmatch(first):
            return None
        if any(s <= words[at].start < e for s, e, _ in clause.at):
            return None
    noun: list[str] = []
    stop = at + 1
    if not (first[0] in "$€£" or (first[-1].isalpha() and first[0].isdecimal()) or first[-1] == "%"):
        while stop < len(words) and len(noun) < 3 and _counts(clause, stop):  # noqa: PLR2004
            noun.append(words[stop].low)
            stop += 1
        while noun and noun[-1].endswith("ly"):
            noun, stop = noun[:-1], stop - 1
    stop = _after_rate(words, stop + _is_money(words, at))
    return (words[at].start, words[stop - 1].end), noun, stop


def _is_money(words: Sequence[Word], at: int) -> bool:
    """Return whether a number like 50k is followed by its currency: without it the value would lose it."""
    return bool(_SCALED.fullmatch(words[at].low)) and at + 1 < len(words) and words[at + 1].low in _MONEY


def _after_rate(words: Sequence[Word], stop: int) -> int:
    """Return where a value ends with its rate: "weekly", "per month"."""
    if stop < len(words) and words[stop].low in _RATES:
        stop += 1
    elif stop + 1 < len(words) and words[stop].low in _PER and singular(words[stop + 1].low) in _TIMES:
        stop += 2
    return stop


def _counts(clause: Clause, at: int) -> bool:
    word = clause.words[at]
    plain = word.low.replace("-", "").isalpha()
    return (
        plain
        and word.low not in _ENDING
        and word.low not in PREPOSITIONS
        and not text_gap(clause.words[at - 1], word)
        and word.low not in _RATES
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
            return " ".join(w.said for w in words[: at + 1])[:-2], name_of(named)
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
    words = clause.words
    while at < len(words) and words[at].low in _BEFORE_VALUES:
        at += 1
    if at >= len(words):
        return None, False
    for start, end, _ in clause.at:
        if start <= words[at].start < end:
            return (words[at].start, end), True
    if (found := measure_at(clause, at)) is not None:
        place, noun, after = found
        range_ = after < len(words) and words[after].low == "to" and not noun and "from" not in clause.lows
        beyond = measure_at(clause, after + 1) if range_ else None  # "8 to 10 am" is one value
        return (place if beyond is None else (place[0], beyond[0][1])), True
    phrase = phrase_at(clause, at)
    return (None, False) if phrase is None else ((phrase.start, phrase.end), False)


def claim_at(parsed: Parsed, name: str, place: TextSpan, **more: object) -> RawClaim:
    """Return what a clause says with this name and value; ``more`` are other fields of ``Said``."""
    since = since_beside(parsed.clause, place)
    span = min(parsed.clause.start, place[0]), place[1]
    said = RawClaim(parsed.who, name, place, span, Learned.STATEMENT, denied=parsed.denied, since=since)
    return replace(said, **more)  # type: ignore[arg-type]


def claim_of(parsed: Parsed, predicate: str, phrase: Phrase, learned: Learned, **more: object) -> RawClaim:
    """Return what a clause says with a noun phrase as its value; ``more`` are other fields of ``Said``.

    What ended is told by its whole clause: "I don't like tea any more" says when it ceased to be so.
    """
    value = phrase.start, phrase.end
    last = parsed.words[-1].end if parsed.ended else parsed.words[parsed.at].end
    span = parsed.clause.start, max(phrase.end, last)
    since = since_beside(parsed.clause, value)
    tier = Learned.CORRECTION if parsed.ended else learned
    said = RawClaim(parsed.who, predicate, value, span, tier, since=since, denied=parsed.denied)
    return replace(said, **more)  # type: ignore[arg-type]


def since_beside(clause: Clause, *places: TextSpan) -> Instant | None:
    """Return the day that a clause names beside its values."""
    return next((at for s, e, at in clause.at if all(e <= p[0] or s >= p[1] for p in places)), None)


def read_count(parsed: Parsed, at: int, lemma: str) -> list[RawClaim]:
    """Return how many of something somebody has or has done, where such a number grows; else nothing."""
    found = measure_at(parsed.clause, at)
    if found is None or parsed.denied:
        return []
    place, noun, after = found
    if not noun or singular(noun[-1]) in _TIMES or lemma not in COUNTING | {"add"}:
        return []
    if lemma == "add":
        if after < len(parsed.words) and parsed.words[after].low == "to" and after + 1 < len(parsed.words):
            whole = phrase_at(parsed.clause, after + 1)
            if whole is not None:
                owner = f"{parsed.words[after + 1].said} {' '.join(w.said for w in whole.words)}"
                return [claim_at(parsed, f"{name_of(noun)}_count", place, subject=owner, kind="measure", many=False)]
        return []
    verb = "" if lemma in {"have", "own"} else f"{lemma}_"
    return [claim_at(parsed, f"{verb}{name_of(noun)}_count", place, kind="measure", many=False)]


def read_passing(clause: Clause, predicates: Predicates) -> list[RawClaim]:
    """Return attributes that a clause names in passing: "my $35 monthly budget", "with 95% accuracy"."""
    found: list[RawClaim] = []
    words = clause.words
    for at, word in enumerate(words):
        day = next(((s, e) for s, e, _ in clause.at if s <= word.start < e), None)
        if day is not None and at and (words[at - 1].low in OWNERS or words[at - 1].low in {"the", *_NEWER}):
            found += _before(clause, at, day, predicates, {"date"})
        elif (measure := measure_at(clause, at)) is not None:
            place, noun, _ = measure
            if (
                word.low[0] in "$€£"
                and at
                and (words[at - 1].low in OWNERS or words[at - 1].low in {"the", "a", *_NEWER})
            ) or (at and word.low.endswith("%") and words[at - 1].low in {"with", "a"}):
                found += _before(clause, at, place, predicates, {"measure"})
            elif noun and _is_goal(clause, at):
                found.append(_passing(clause, at, f"{name_of(noun)}_goal", place, "I"))
            elif at > 1 and words[at - 1].low == "of":
                found += _of(clause, at, place, predicates)
    return found


def _is_goal(clause: Clause, at: int) -> bool:
    """Return whether a number is aimed at: "aiming for 10 books", "targeting 1,200 words"."""
    before = [word.low for word in clause.words[max(0, at - 3) : at]]
    if not before:
        return False
    return before[-1] in _AIMING or (
        before[-1] in {"for", "of", "at"} and len(before) > 1 and before[-2] in {*_AIMING, "goal"}
    )


def _before(clause: Clause, at: int, place: TextSpan, predicates: Predicates, sorts: set[str]) -> list[RawClaim]:
    """Return the attribute whose value stands before it: "my April 20 deadline for the draft"."""
    words = clause.words
    after = next((i for i, w in enumerate(words) if w.start >= place[1]), len(words))
    phrase = phrase_at(clause, after) if after < len(words) else None
    if phrase is None:
        return []
    named = [w.low for w in phrase.words]
    last = after + len(phrase.words)
    if last + 1 < len(words) and words[last].low == "for" and (topic := phrase_at(clause, last + 1, short=True)):
        named = [*topic.lows[-3:], *named]
    name = predicates.name(name_of(named))
    if predicates.row(name).type not in sorts or len(named) > 7:  # noqa: PLR2004
        return []
    newer = bool(_NEWER & {w.low for w in words[max(0, at - 2) : at]})
    said = _passing(
        clause, at, name, place, OWNERS.get(words[at - 1].low, "I"), Learned.CORRECTION if newer else Learned.STATEMENT
    )
    return [_with_span(said, (words[at - 1].start, max(phrase.end, place[1])))]


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
    if head.lows[0] not in set(OWNERS) | {"a", "the", "an"}:
        return []
    owner, named = owner_and_name(head)
    name = predicates.name(named)
    if not named or predicates.row(name).type != "measure":
        return []
    learned = Learned.CORRECTION if _NEWER & set(head.lows) else Learned.STATEMENT
    return [_with_span(_passing(clause, at, name, place, owner, learned), (head.start, place[1]))]


def _with_span(said: RawClaim, span: TextSpan) -> RawClaim:
    return replace(said, span=span)


def _passing(
    clause: Clause, at: int, name: str, place: TextSpan, owner: str, learned: Learned = Learned.STATEMENT
) -> RawClaim:
    span = clause.words[max(0, at - 1)].start, place[1]
    return RawClaim(
        owner, name, place, span, learned, kind="measure" if name.endswith(("_goal", "_count")) else "", many=False
    )

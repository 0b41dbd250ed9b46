"""Quantities that a clause states: the value, what it measures, and whether it has become so."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final, NamedTuple

from perdure.rules.language.words import NUMBER_WORDS, STOP_WORDS
from perdure.rules.updates.statement_words import (
    CHANGED,
    DATED,
    EMPTY,
    MEASURES,
    MONTHS,
    NO_NOUN,
    PERIODS,
    SINGLE,
    UNITS,
    stem,
)
from perdure.rules.updates.statements import Assertion, AssertionClause, Stems, stems, words_of

_MONTH: Final = "(?:" + "|".join(sorted(MONTHS, key=len, reverse=True)) + ")"
_DATE: Final = (
    rf"\b(?:{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?|\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH})\b(?:,? \d{{4}}\b)?"
)
_FIGURE: Final = r"\d[\d,]*(?:\.\d+)?"
_IN_WORDS: Final = "|".join(w for w, v in NUMBER_WORDS.items() if v.isdigit() and int(v) > 1)
_VALUE: Final = re.compile(
    rf"(?P<date>{_DATE})"
    r"|(?P<time>(?<![\w:.])(?:1[0-2]|[1-9])(?::[0-5]\d)? ?[ap]\.?m\b)"
    rf"|(?P<money>[$€£] ?{_FIGURE}(?: ?k\b)?|(?<![\w.,]){_FIGURE} (?:dollars|euros|bucks)\b)"
    rf"|(?P<percent>(?<![\w.,-]){_FIGURE} ?(?:%|percent\b))"
    rf"|(?P<count>(?<![\w.,/:$€£#-]){_FIGURE}(?![\w.:/°-]*\d|[/-]|st\b|nd\b|rd\b|th\b)|\b(?:{_IN_WORDS})\b(?!-))",
    re.IGNORECASE,
)
_DIFFERENCE: Final = re.compile(
    r"\b(?:by|another|extra|additional|over|under|than|about to|version|v|part|chapter|step) ?$", re.IGNORECASE
)
_PART: Final = re.compile(
    r" ?(?:more|less|extra|additional|other|over|off|new|out of|of (?:the|my|our|them)|years? old|ago|-|–)(?!\w)|/\d",  # noqa: RUF001
    re.IGNORECASE,
)
_UNREAL: Final = re.compile(
    r"\b(?:if|should|would|could|might|maybe|perhaps|unless|wants? to|wanted|hop(?:e|ing)|plan(?:s|ning)?|thinking"
    r"|going to|gonna|will|i'll|let's|aim(?:ing|s|ed)? to|trying to|need to|used to|how (?:can|do|to)|can you"
    r"|suggest\w*|wish|instead|have to|decide)\b",
    re.IGNORECASE,
)
_GOES_ON: Final = re.compile(
    r"^(?:which\b|(?:and |but |so |because )?(?:i (?:just )?(?:\w+ ){1,2}(?:that )?)?(?:it|it's)\b)", re.IGNORECASE
)
_SINCE: Final = re.compile(
    rf"\b(?:starting|from|as of|since|effective|beginning)(?: on| in)? ({_DATE})(?! to\b)", re.IGNORECASE
)
_PER: Final = re.compile(
    r"(?:/ ?|\b(?:per|a|an|each|every) )(day|night|week|month|year)\b|\b(daily|nightly|weekly|monthly|yearly|annual)\b",
    re.IGNORECASE,
)
_WHOSE: Final = re.compile(
    r"(?:\b(his|her|their|your|its)|\b(?!it's|that's|what's|here's|there's|let's|he's|she's)(\w+)'s)(?= )",
    re.IGNORECASE,
)
_BECAME: Final = re.compile(
    rf"\b(?<!to )(?:{CHANGED})\b(?: [\w'-]+){{0,7}} to(?: about| around| only| just)? ?$"
    r"|\b(?:reached|(?:is|are|it's|has|have|at|covers) now"
    r"|now (?:at|is|has|have|costs?|pays?|covers?|stands? at|around))"
    r"(?: about| around| only| just)? ?$",
    re.IGNORECASE,
)
_NEW: Final = re.compile(
    r"\b(?:my|our|the|a|has|have) (?:[\w'-]+ )?"
    r"(?:new|increased|revised|adjusted|updated|raised|extended|reduced|lowered) (?:[\w'-]+ ){0,5}(?:of |is |to )?$",
    re.IGNORECASE,
)
_LABEL: Final = re.compile(
    r"\b(chapter|section|phase|sprint|part|unit|week|day|level|room|team|group|batch|stage|step|grade|season) (\d+)\b",
    re.IGNORECASE,
)
_HAVE: Final = re.compile(r"(?:^|\b)(?:i|we)(?:'ve)?(?: now)? (?:have|own|got) ?$", re.IGNORECASE)
_OWN: Final = re.compile(r"\b(?:my|our|the new) ", re.IGNORECASE)
_PHRASE_ENDS: Final = re.compile(r"[.,;]| (?:and|but|so|which|to|on|at|due|for|by|is|was|as) ", re.IGNORECASE)
_AT: Final = re.compile(r"\b(?:to|is|of|for|on|was|from|at)(?: be)?(?: on)? ?$", re.IGNORECASE)
_OF_WHAT: Final = frozenset(stem(w) for w in ("time", "size", "rate", "count", "score", "length", "number", "speed"))


_MOST: Final = 16
"""Values of one clause: more are a table."""
_REACH: Final = 240
"""Characters on each side of a value in which stands what it measures."""


class _Place(NamedTuple):
    """A value in its clause."""

    sort: str
    text: str
    own: str
    """What stands between the value before it and this one."""
    after: str


def find_quantities(clause: AssertionClause) -> Iterator[Assertion]:
    """Return the quantities that a clause states: what has one value, or a number of things."""
    text, since = clause.text, ""
    if found := _SINCE.search(text):
        since = _date(found[1])
        text = text[: found.start()] + text[found.end() :]
    was, end, carried = "", 0, ""
    for match in islice(_VALUE.finditer(text), _MOST):
        own = text[max(end, match.start() - _REACH) : match.start()]
        place = _Place(str(match.lastgroup), match[0], own, text[match.end() : match.end() + _REACH])
        end = match.end()
        if re.search(r"\bfrom(?: a| an| about)? ?$", place.own, re.IGNORECASE):
            was = _normal(place.sort, place.text) if re.match(r"[\w %/]{0,20}\bto\b", place.after) else ""
            carried = place.own
            continue
        before = was if re.match(r"[\w %/]{0,20}\bto\b(?: a| about)? ?$", place.own) else ""
        said = _quantity(
            clause, place._replace(own=carried + place.own), begins=text[max(0, match.start() - _REACH) : match.start()]
        )
        was, carried = "", ""
        if said is not None:
            yield replace(said, since=since, was=before, change=said.change or bool(before))


def _quantity(clause: AssertionClause, place: _Place, begins: str) -> Assertion | None:
    if place.sort not in ("date", "time") and (_DIFFERENCE.search(place.own) or _PART.match(place.after)):
        return None
    before = f"{clause.before} " if clause.before and _GOES_ON.match(clause.text) else ""
    noun, unit = _counted_noun(place.after) if place.sort == "count" else ((), "")
    about, kind = _measure(place, noun, unit, before, begins)
    unreal = bool(_UNREAL.search(begins))
    if not about or (unreal and (noun or not _OWN.search(f"{place.own} {place.after[:30]}"))):
        return None
    whole = f"{before}{clause.text}"
    topic = {*stems(whole), *_frame(begins, noun, about)}
    per = _PER.search(place.after[:25]) or _PER.search(whole)
    whose = _WHOSE.search(place.own)
    return Assertion(
        f"{place.sort}:{unit}" if unit else place.sort,
        _normal(place.sort, place.text),
        about,
        frozenset(topic) - about,
        clause.context,
        clause.text,
        change=not unreal and bool(_BECAME.search(begins) or (not noun and _NEW.search(begins))),
        period=PERIODS[next(g for g in per.groups() if g).lower()] if per else "",
        months=_months(place.own),
        whose="me" if whose is None else next(g for g in whose.groups() if g).lower(),
        kind=kind,
    )


def _measure(place: _Place, noun: tuple[str, ...], unit: str, before: str, begins: str) -> tuple[Stems, Stems]:
    """Return stems of what the value is one of, which is counted or a measure named beside it, and of its kind.

    The kind are the words before the measure's noun and what it is for: a grocery budget, a goal for a car.
    """
    if noun:
        labels = {f"{m[1].lower()} {m[2]}" for m in _LABEL.finditer(begins)}
        return frozenset({stem(noun[-1])}), frozenset(stems(" ".join(noun[:-1]))) | labels
    measures = DATED if place.sort in ("date", "time") else MEASURES
    near = words_of(before + place.own)
    behind = words_of(_PHRASE_ENDS.split(place.after)[0])[:5]
    at = next((i for i in range(len(near) - 1, -1, -1) if near[i] in measures), None)
    after = next((i for i, w in enumerate(behind) if w in measures), None)
    if place.sort in ("date", "time") and not _AT.search(place.own):
        at = None
    purpose = re.match(r"[\w ]{0,30}\bfor ((?:[\w'-]+ ?){1,4})", place.after)
    more = stems(purpose[1]) if purpose else []
    if after is not None and (at is None or re.search(r"\b(?:my|our|a|the|new)(?: new)? ?$", place.own)):
        return _measure_name(behind, after), frozenset([*_modifiers(behind[:after]), *more])
    if at is not None:
        named = _measure_name(near, at)
        kinds = [*_modifiers(near[:at]), *_complement(near[at + 1 :]), *more]
        return named, frozenset(kinds) - {part for n in named for part in n.split()}
    if place.sort == "count" and not unit:
        plurals = [w for w in words_of(before) if w.endswith("s") and w not in STOP_WORDS and w not in EMPTY]
        return frozenset(stem(w) for w in plurals), frozenset(more)
    return frozenset(), frozenset()


def _measure_name(words: Sequence[str], at: int) -> Stems:
    """Return a measure's stem; of times and sizes, with the word before: a response time is no build time."""
    noun = stem(words[at])
    return frozenset({f"{stem(words[at - 1])} {noun}" if noun in _OF_WHAT and at else noun})


def _modifiers(words: Sequence[str]) -> list[str]:
    """Return the stems of the content words that stand directly before a noun."""
    found: list[str] = []
    for word in reversed(words[-4:]):
        if word in STOP_WORDS or re.fullmatch(CHANGED, word):
            break
        if word not in PERIODS:
            found += stems(word)
    return found


def _complement(words: Sequence[str]) -> list[str]:
    """Return the stems of what a noun is of: the response time of the login page."""
    if not words or words[0] not in {"of", "for", "on", "in"}:
        return []
    end = next((i for i, w in enumerate(words) if re.fullmatch(rf"{CHANGED}|is|was|to|at|has", w)), len(words))
    return stems(" ".join(words[1 : min(end, 5)]))


def _frame(begins: str, noun: tuple[str, ...], about: Stems) -> set[str]:
    """Return a mark that two statements share if each says all that there is: "I have 3 cats", "my rent"."""
    if noun:
        return {"=have"} if _HAVE.search(begins) else set()
    return {"=my"} if about <= SINGLE and re.search(r"\b(?:my|our)\b", begins, re.IGNORECASE) else set()


def _counted_noun(after: str) -> tuple[tuple[str, ...], str]:
    """Return the words of the noun that a number counts, or its unit."""
    found: list[str] = []
    glued = re.match(r"([a-zA-Z]{1,3})\b", after)
    if glued:
        return (), UNITS.get(glued[1].lower(), "")
    for m in re.finditer(r" ([^\W\d_]+(?:[-'][^\W\d_]+)*)", after[:60]):
        word = m[1].lower()
        if m.start() != sum(len(w) + 1 for w in found) or word in STOP_WORDS or word in NO_NOUN or len(found) == 4:  # noqa: PLR2004  # a noun has so many words
            break
        if not found and word in UNITS:
            return (), UNITS[word]
        found.append(word)
        if word.endswith("s") and not word.endswith("ss"):
            break
    return tuple(found), ""


def _months(text: str) -> frozenset[int]:
    return frozenset(MONTHS[w] for w in words_of(re.sub(_DATE, " ", text, flags=re.IGNORECASE)) if w in MONTHS)


def _normal(sort: str, text: str) -> str:
    if sort == "date":
        return _date(text)
    if sort == "time":
        hour, minute = re.match(r"(\d+)(?::(\d\d))?", text).groups()  # type: ignore[union-attr]  # it is a time
        return f"{int(hour) % 12 + (12 if 'p' in text.lower() else 0):02}:{minute or '00'}"
    if text[0].isalpha():
        return NUMBER_WORDS[text.lower()]
    number = float(re.sub(r"[^\d.]", "", text).rstrip(".")) * (1000 if text.lower().endswith("k") else 1)
    return f"{number:.10g}"


def _date(text: str) -> str:
    month = next(MONTHS[w] for w in re.findall(r"[a-z]+", text.lower()) if w in MONTHS)
    day = re.search(r"\d{1,2}", text)
    return f"{month:02}-{int(day[0]):02}" if day else f"{month:02}"

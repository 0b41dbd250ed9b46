"""What is done as a rule: "always ship on Friday", "we deploy on Thursdays", "they want deliveries before noon"."""

from __future__ import annotations

from typing import Final

from perdure.knowledge.extraction.clauses import Clause, Word
from perdure.knowledge.extraction.event_types import COMMANDS
from perdure.knowledge.extraction.lemmas import base_verb, past_form, singular
from perdure.knowledge.extraction.measurements import claim_of, owner_and_name
from perdure.knowledge.extraction.naming_verbs import NOT_EVENTS, Parsed, RawClaim, TextSpan
from perdure.knowledge.extraction.phrases import (
    DAYPARTS,
    DETERMINERS,
    OWNERS,
    WEEKDAYS,
    Phrase,
    is_number,
    name_of,
    named_day,
    phrase_at,
)
from perdure.knowledge.extraction.predicates import Predicates
from perdure.knowledge.records.facts import Learned
from perdure.rules.language.words import word_set

_NEXT: Final = word_set("before after until at on by past between")
_COMMON: Final = word_set(
    "ship call deliver send email use invoice schedule pay order book deploy contact knock bill text"
)
"""Verbs of a rule that is told without a subject: "always ship on Friday"."""
_ORDERED: Final = (COMMANDS | _COMMON | word_set("commit ask run squash rebase log document tag lint")) - word_set(
    "look get give take wait find turn walk tell raise try keep start stop pick place watch share hand lower count"
)
"""Verbs with which "always" and "never" begin a rule; others begin small talk: "never mind", "always look up"."""
_HAPPENING: Final = word_set("happen happens start starts begin begin begins end ends run runs take takes is are")
_FAR: Final = 6
_WAYS: Final = word_set("email e-mail mail post phone fax text sms courier letter chat")
OBJECTS: Final = word_set("to you me him her them us it that this a an some more something someone")
"""After "want" they begin a wish, nothing that recurs."""
_WANTED: Final = word_set("want wants accept accepts")


def read_policy(clause: Clause, predicates: Predicates) -> list[RawClaim]:
    """Return a rule that is told: "always ship on Friday", "we never call before 9"."""
    words = clause.words
    at = 1 if words[0].low in {"we", "they", "please", "you"} and len(words) > 1 else 0
    if at + 2 >= len(words) or words[at].low not in {"always", "never"}:
        return []
    verb = words[at + 1].low
    plain = verb.rpartition("-")[2]
    if verb != base_verb(verb) or (at == 0 and plain not in _ORDERED) or verb in NOT_EVENTS - _ORDERED:
        return []
    who = words[0].said if words[0].low in {"we", "they"} else "we"
    denied, after = words[at].low == "never", at + 2
    place: TextSpan = words[after - 1].start, words[-1].end
    predicate, kind = "policy", ""
    rest = Phrase(words[after:])
    days = None if set(rest.lows) & {"when", "if", "unless"} else named_day(rest) if len(rest.words) <= 4 else None  # noqa: PLR2004
    if days is not None:
        day, named = days
        predicate, place = predicates.name(f"{verb}_{named}"), (day.start, day.end)
        kind = "policy"
    elif words[after].low in _NEXT and after + 1 < len(words) and is_number(words[after + 1].low):
        predicate, place, kind = predicates.name(f"{verb}_time"), (words[after].start, words[-1].end), "policy"
    span = words[0].start, words[-1].end
    return [RawClaim(who, predicate, place, span, Learned.PREFERENCE, denied=denied, kind=kind)]


def days_at(clause: Clause, at: int, *, one: bool = False) -> tuple[Phrase, str] | None:
    """Return the weekdays on which something recurs, and the name of that day.

    "delivers on Fridays" is the ``deliver_day``, "deliveries on Fridays" and "Friday deliveries" the ``delivery_day``.

    Args:
        clause: Where it stands.
        at: Index of the verb or the noun.
        one: "On Friday" counts too: the verb before says that it recurs.
    """
    words = clause.words
    for on in range(at + 1, min(len(words) - 1, at + _FAR)):
        every = words[on].low == "every"
        if words[on].low != "on" and not every:
            continue
        day = _weekdays(clause, on + 1, plural=not (one or every))
        if day is None:
            return None
        last = words[on - 1 - (words[on - 1].low == "on")]
        noun = on > at + 1 and ((last.low.endswith("s") and last.low != "us") or _has_determiner(clause, last))
        return day, f"{singular(last.low) if noun else base_verb(words[at].low)}_day"
    phrase = phrase_at(clause, at)
    days = None if phrase is None else named_day(phrase)
    return days if days is not None and days[1] not in {"day", "time"} else None


def _has_determiner(clause: Clause, word: Word) -> bool:
    """Return whether a word has a determiner before it: "a release"."""
    before = clause.words.index(word) - 1
    return before >= 0 and clause.words[before].low in DETERMINERS


def _weekdays(clause: Clause, at: int, *, plural: bool) -> Phrase | None:
    """Return "Fridays", "Mondays and Thursdays", with "every" before it also "Friday" and "second Thursday"."""
    words, stop = clause.words, at
    while stop < len(words) and (
        singular(words[stop].low) in WEEKDAYS or words[stop].low in {"and", "second", "other"}
    ):
        stop += 1
    if stop == at or words[stop - 1].low == "and" or (plural and not words[stop - 1].low.endswith("s")):
        return None
    return Phrase(words[at:stop]) if singular(words[stop - 1].low) in WEEKDAYS else None


def read_routine(parsed: Parsed, predicates: Predicates) -> list[RawClaim]:
    """Return on which days somebody does something as a rule, and when somebody wants to have it."""
    low = parsed.words[parsed.at].low
    if low in _WANTED:
        return _wish(parsed, predicates)
    if (
        set(parsed.aux) - {"do", "does"}
        or parsed.never
        or past_form(low)
        or low.endswith("ing")
        or low in {"go", "goes", "have", "has"}
    ):
        return []
    if (found := days_at(parsed.clause, parsed.at)) is None or " " in found[1]:
        return []
    day, name = found
    if parsed.words[parsed.at + 1].start == day.start or day.words[0].start > parsed.words[-1].start:
        return []
    return [claim_of(parsed, predicates.name(name), day, Learned.PREFERENCE, kind="policy", many=False)]


def read_recurring_event(parsed: Parsed, predicates: Predicates) -> list[RawClaim]:
    """Return on which days something happens: "deploys happen on Fridays", "our sprint starts on Mondays"."""
    low = parsed.words[parsed.at].low
    if parsed.phrase is None or parsed.denied or low not in _HAPPENING or parsed.at + 2 > len(parsed.words) - 1:
        return []
    day = _weekdays(parsed.clause, parsed.at + 2, plural=True) if parsed.words[parsed.at + 1].low == "on" else None
    if day is None:
        return []
    owner, named = owner_and_name(parsed.phrase)
    verb = base_verb(low)
    name = f"{named}_{verb}_day" if verb in {"start", "begin", "end"} else f"{named}_day"
    return [claim_of(parsed, predicates.name(name), day, Learned.PREFERENCE, kind="policy", many=False, subject=owner)]


def _wish(parsed: Parsed, predicates: Predicates) -> list[RawClaim]:
    """Return when somebody wants what recurs: "they want deliveries on Thursday", "accept calls before noon"."""
    at = parsed.at + 1
    learned = Learned.CORRECTION if parsed.denied else Learned.PREFERENCE
    if at >= len(parsed.words) or parsed.words[at].low in OBJECTS:
        return []
    if (found := days_at(parsed.clause, at, one=True)) is not None:
        day, name = found
        named = name if parsed.denied else f"{name}_preference"
        return [claim_of(parsed, predicates.name(named), day, learned, kind="preference", many=False)]
    noun = parsed.words[at].low
    if noun.endswith("s") and [w.low for w in parsed.words[at + 1 : at + 2]] == ["by"] and len(parsed.words) == at + 3:
        way = Phrase(parsed.words[at + 2 :])
        named = f"{name_of([noun])}_preference"
        return [claim_of(parsed, named, way, learned, kind="preference", many=False)] if way.lows[0] in _WAYS else []
    if not noun.endswith("s") or at + 2 >= len(parsed.words) or parsed.words[at + 1].low not in {*_NEXT, "in"}:
        return []
    rest = parsed.words[at + 1 :]
    timed = is_number(rest[1].low) or rest[-1].low.rstrip("s") in DAYPARTS
    if not timed or len(rest) > 4 or rest[0].low in OWNERS:  # noqa: PLR2004
        return []
    begin = 2 if rest[0].low == "in" and rest[1].low == "the" else 0
    name = predicates.name(f"{name_of([noun])}_time_preference")
    return [claim_of(parsed, name, Phrase(rest[begin:]), learned, kind="preference", many=False)]

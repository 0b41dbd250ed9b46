"""What is done as a rule: "always ship on Friday", "we deploy on Thursdays", "they want deliveries before noon"."""

from __future__ import annotations

from typing import Final

from perdure.knowledge.extraction.clauses import Clause, TextSpan
from perdure.knowledge.extraction.event_types import COMMANDS
from perdure.knowledge.extraction.lemmas import base_verb, past_form, singular
from perdure.knowledge.extraction.measurements import owner_and_name
from perdure.knowledge.extraction.parsed_clause import Parsed, RawClaim, claim_of
from perdure.knowledge.extraction.phrases import (
    DAYPARTS,
    DETERMINERS,
    WEEKDAYS,
    Phrase,
    is_number,
    name_of,
    named_day,
    phrase_at,
)
from perdure.knowledge.extraction.vocabulary import NOT_EVENTS
from perdure.knowledge.records.facts import Learned
from perdure.knowledge.records.predicates import Predicates
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
_CONDITIONS: Final = word_set("when if unless")


def read_policy(clause: Clause, predicates: Predicates) -> list[RawClaim]:
    """Return a rule that is told: "always ship on Friday", "we never call before 9"."""
    words = clause.words
    at = 1 if words[0].low in {"we", "they", "please", "you"} and len(words) > 1 else 0
    verb = clause.low(at + 1)
    if not clause.low(at + 2) or words[at].low not in {"always", "never"} or verb != base_verb(verb):
        return []
    if (at == 0 and verb.rpartition("-")[2] not in _ORDERED) or verb in NOT_EVENTS - _ORDERED:
        return []
    who = words[0].said if words[0].low in {"we", "they"} else "we"
    after = at + 2
    place: TextSpan = words[at + 1].start, words[-1].end
    predicate, kind = "policy", ""
    rest = Phrase(words[after:])
    short = len(rest.words) <= 4 and _CONDITIONS.isdisjoint(rest.lows)  # noqa: PLR2004
    if short and (days := named_day(rest)) is not None:
        predicate, place, kind = predicates.name(f"{verb}_{days[1]}"), days[0].place, "policy"
    elif rest.lows[0] in _NEXT and is_number(clause.low(after + 1)):
        predicate, place, kind = predicates.name(f"{verb}_time"), rest.place, "policy"
    denied, span = words[at].low == "never", (words[0].start, words[-1].end)
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
        last = on - 1 - (words[on - 1].low == "on")
        low = words[last].low
        plural = low.endswith("s") and low != "us"
        noun = on > at + 1 and (plural or clause.low(last - 1) in DETERMINERS)  # "a release on Fridays"
        return day, f"{singular(low) if noun else base_verb(words[at].low)}_day"
    phrase = phrase_at(clause, at)
    days = None if phrase is None else named_day(phrase)
    return days if days is not None and days[1] not in {"day", "time"} else None


def _weekdays(clause: Clause, at: int, *, plural: bool) -> Phrase | None:
    """Return "Fridays", "Mondays and Thursdays", with "every" before it also "Friday" and "second Thursday"."""
    stop = at
    while singular(clause.low(stop)) in WEEKDAYS or clause.low(stop) in {"and", "second", "other"}:
        stop += 1
    last = clause.low(stop - 1) if stop > at else ""
    if singular(last) not in WEEKDAYS or (plural and not last.endswith("s")):
        return None
    return Phrase(clause.words[at:stop])


def read_routine(parsed: Parsed) -> list[RawClaim]:
    """Return on which days somebody does something as a rule, and when somebody wants to have it."""
    low = parsed.low
    if low in _WANTED:
        return _wish(parsed)
    if set(parsed.aux) - {"do", "does"} or parsed.never or low in {"go", "goes", "have", "has"}:
        return []
    if past_form(low) or low.endswith("ing"):
        return []
    if (found := days_at(parsed.clause, parsed.at)) is None or " " in found[1]:
        return []
    day, name = found
    if parsed.words[parsed.at + 1].start == day.start or day.words[0].start > parsed.words[-1].start:
        return []
    return [claim_of(parsed, parsed.predicates.name(name), day, Learned.PREFERENCE, kind="policy", many=False)]


def read_recurring_event(parsed: Parsed) -> list[RawClaim]:
    """Return on which days something happens: "deploys happen on Fridays", "our sprint starts on Mondays"."""
    if parsed.phrase is None or parsed.denied or parsed.low not in _HAPPENING:
        return []
    on = parsed.low_at(parsed.at + 1) == "on"
    day = _weekdays(parsed.clause, parsed.at + 2, plural=True) if on else None
    if day is None:
        return []
    owner, named = owner_and_name(parsed.phrase)
    verb = base_verb(parsed.low)
    name = parsed.predicates.name(f"{named}_{verb}_day" if verb in {"start", "begin", "end"} else f"{named}_day")
    return [claim_of(parsed, name, day, Learned.PREFERENCE, kind="policy", many=False, subject=owner)]


def _wish(parsed: Parsed) -> list[RawClaim]:
    """Return when somebody wants what recurs: "they want deliveries on Thursday", "accept calls before noon"."""
    at = parsed.at + 1
    noun = parsed.low_at(at)
    if noun in {"", *OBJECTS}:
        return []
    if (found := days_at(parsed.clause, at, one=True)) is not None:
        day, name = found
        return [_wanted(parsed, parsed.predicates.name(name if parsed.denied else f"{name}_preference"), day)]
    rest = parsed.words[at + 1 :]
    if not noun.endswith("s") or len(rest) < 2:  # noqa: PLR2004
        return []
    if rest[0].low == "by" and len(rest) == 2:  # noqa: PLR2004
        return [_wanted(parsed, f"{name_of([noun])}_preference", Phrase(rest[1:]))] if rest[1].low in _WAYS else []
    timed = is_number(rest[1].low) or rest[-1].low.rstrip("s") in DAYPARTS
    if rest[0].low not in {*_NEXT, "in"} or not timed or len(rest) > 4:  # noqa: PLR2004
        return []
    begin = 2 if (rest[0].low, rest[1].low) == ("in", "the") else 0
    return [_wanted(parsed, parsed.predicates.name(f"{name_of([noun])}_time_preference"), Phrase(rest[begin:]))]


def _wanted(parsed: Parsed, name: str, value: Phrase) -> RawClaim:
    learned = Learned.CORRECTION if parsed.denied else Learned.PREFERENCE
    return claim_of(parsed, name, value, learned, kind="preference", many=False)

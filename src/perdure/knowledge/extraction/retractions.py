"""What holds no more: "no longer smokes", "stopped Friday deliveries", "cancelled Netflix"."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from perdure.knowledge.extraction.habits import days_at
from perdure.knowledge.extraction.lemmas import base_verb, singular
from perdure.knowledge.extraction.parsed_clause import Parsed, RawClaim, claim_of
from perdure.knowledge.extraction.phrases import (
    DETERMINERS,
    PARTICLES,
    VERB_PREPOSITIONS,
    WEEKDAYS,
    Phrase,
    is_name,
)
from perdure.knowledge.extraction.vocabulary import EMPTY_HEADS, PREFERRING, STOPPING
from perdure.knowledge.records.facts import Learned
from perdure.rules.language.words import word_set

_CANCELLING: Final = word_set("cancel discontinue unsubscribe")
_OF_DAYS: Final = STOPPING | _CANCELLING | word_set("end drop cease")
_SUBSCRIBED: Final = word_set("subscription membership plan account licence license")
_NOT_OWN: Final = word_set("his her their its the your that this it on to")
_NO_USE: Final = word_set("it that this them being having getting seeing working")


def find_ending(parsed: Parsed, low: str) -> int | None:
    """Return where begins what holds no more: after "no longer", "used to", "stopped", "gave up"; else None.

    Beyond the last word where the clause says only that nothing ended ("never gives up"), or not what.
    """
    at, follows = parsed.at, parsed.low_at(parsed.at + 1)
    if (low, follows) == ("no", "longer"):
        return at + 2
    if (low, follows) == ("used", "to"):
        verb = parsed.low_at(at + 2)
        usual = set(parsed.aux) & {"am", "is", "are", "was", "were", "get", "got"} or verb in _NO_USE
        no_verb = verb.endswith("ing") or verb in {"the", "a", "my", "your"}
        return len(parsed.words) if usual or no_verb else at + 2
    return _stopped(parsed, base_verb(low), follows)


def _stopped(parsed: Parsed, lemma: str, follows: str) -> int | None:
    given = (lemma, follows) == ("give", "up")
    after = parsed.at + 1 + (given or (lemma, follows) == ("unsubscribe", "from"))
    if lemma in _OF_DAYS and _days_of(parsed, after) is not None:
        return after
    if lemma in _CANCELLING:
        return after if _is_subscribed(parsed, after) else len(parsed.words)
    if lemma == "drop" and _dropped(parsed, after):
        return after
    if lemma not in STOPPING and not given:
        return None
    if parsed.denied or parsed.low_at(after) in {"", *_NOT_OWN}:
        return len(parsed.words)
    return after if parsed.low_at(after).endswith("ing") or lemma != "stop" else len(parsed.words)


def _dropped(parsed: Parsed, at: int) -> bool:
    """Return whether something is used no more: "dropped support for Node 16", "dropped Jira"."""
    after = parsed.words[at:]
    supported = [w.low for w in after[:2]] == ["support", "for"]
    return supported or (not parsed.denied and len(after) == 1 and is_name(after[0]))


def read_retraction(parsed: Parsed, at: int) -> list[RawClaim]:
    """Return what holds no more, told as a correction that is denied.

    Args:
        parsed: The clause.
        at: Where begins what ended: "smokes", "smoking", "Friday deliveries", "Netflix".
    """
    verb, low = base_verb(parsed.low), parsed.low_at(at)
    if not low or (parsed.denied and verb in _OF_DAYS):
        return []
    if (days := _days_of(parsed, at)) is not None:
        day, name = days
        phrase = parsed.phrase_at(at + (low in DETERMINERS))
        said = _no_more(parsed, parsed.predicates.name(name), day, many=False, kind="preference")
        return [said if phrase is None else replace(said, span=(said.span[0], max(said.span[1], phrase.end)))]
    if low == "support" and verb == "drop":  # "dropped support for Node 16"
        phrase = parsed.phrase_at(at + 2)
        return [] if phrase is None else [_no_more(parsed, "support", phrase, kind="activity", many=True)]
    if verb in _CANCELLING or low in {"a", "my", "our"}:
        return _unused(parsed, at)
    return _undone(parsed, at)


def _undone(parsed: Parsed, at: int) -> list[RawClaim]:
    """Return the act or the state that ended: "smoking", "live in Lyon", "a vegetarian"."""
    if parsed.low not in {"no", "used"} and not parsed.low_at(at).endswith("ing"):
        return _unused(parsed, at)  # "gave up coffee", "quit Facebook"
    verb = base_verb(parsed.low_at(at))
    if verb in {"be", "have"}:
        phrase, name = parsed.phrase_at(at + 1), {"be": "is", "have": "have"}[verb]
    elif verb in PREFERRING or verb == "want":
        phrase, name = parsed.phrase_at(at + 1), PREFERRING.get(verb, "preference")
    else:
        name, after = verb_name(parsed, at, verb)
        phrase = parsed.phrase_at(after)
        if phrase is None:
            phrase, name = Phrase(parsed.words[at : at + 1]), "do"
    if phrase is None:
        return []
    known = parsed.predicates.name(name)
    plain = parsed.sort_of(known) == "attribute"
    return [_no_more(parsed, known, phrase, **({"kind": "activity", "many": True} if plain else {}))]


def _unused(parsed: Parsed, at: int) -> list[RawClaim]:
    """Return a thing that is no longer used: "Netflix", "my gym membership", "our Netflix subscription"."""
    phrase = parsed.phrase_at(at, short=True)
    if phrase is None or set(phrase.lows) & EMPTY_HEADS:
        return []
    if phrase.lows[-1] == "job":
        return _left(parsed, phrase)
    if len(phrase.words) > 1 and phrase.lows[-1] in _SUBSCRIBED and is_name(phrase.words[0]):
        phrase = Phrase(phrase.words[:-1])
    return [_no_more(parsed, "use", phrase, many=True)]


def _left(parsed: Parsed, job: Phrase) -> list[RawClaim]:
    """Return whom somebody works for no longer: "quit my job at Globex"."""
    after = parsed.after(job)
    firm = parsed.phrase_at(after + 1, short=True) if parsed.low_at(after) in {"at", "with"} else None
    return [_no_more(parsed, "employer", firm)] if firm is not None and is_name(firm.words[0]) else []


def _no_more(parsed: Parsed, predicate: str, phrase: Phrase, **more: Any) -> RawClaim:
    return claim_of(parsed, predicate, phrase, Learned.CORRECTION, denied=True, **more)


def _is_subscribed(parsed: Parsed, at: int) -> bool:
    """Return whether what is cancelled was used until then: Netflix, a membership; no meeting, no trip."""
    phrase = parsed.phrase_at(at, short=True)
    if phrase is None or parsed.denied:
        return False
    named = all(is_name(w) or w.low in {"prime", "premium", "plus"} for w in phrase.words)
    return named or phrase.lows[-1] in _SUBSCRIBED


def _days_of(parsed: Parsed, at: int) -> tuple[Phrase, str] | None:
    """Return the weekday that ended and what it was the day of: "Friday deliveries", "delivering on Fridays"."""
    if not any(singular(w.low) in WEEKDAYS for w in parsed.words[at : at + 6]):
        return None
    wanted = base_verb(parsed.words[at].low) in {*PREFERRING, "want", "accept"}
    return days_at(parsed.clause, at + wanted, one=True)


def verb_name(parsed: Parsed, at: int, lemma: str) -> tuple[str, int]:
    """Return what a verb with its particle and preposition is called, and where its object begins."""
    name, after = lemma, at + 1
    for follows in (PARTICLES, VERB_PREPOSITIONS):
        low = parsed.low_at(after)
        if low in follows and (follows is PARTICLES or parsed.clause.day_at(after) is None):
            name, after = f"{name}_{low}", after + 1
    return name, after

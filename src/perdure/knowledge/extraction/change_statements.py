"""How attributes change: "moved to Lyon", "increased from $50 to $80", "upgraded to Django 5.0"."""

from __future__ import annotations

from typing import Final

from perdure.knowledge.extraction.attributes_of_people import version_at
from perdure.knowledge.extraction.clauses import Clause
from perdure.knowledge.extraction.lemmas import base_verb
from perdure.knowledge.extraction.measurements import claim_at, measure_at, owner_and_name, since_beside, value_at
from perdure.knowledge.extraction.naming_verbs import CHANGING, MOVING, PLACES, SWITCHING, Parsed, RawClaim, TextSpan
from perdure.knowledge.extraction.phrases import OWNERS, Phrase, is_name, name_of, named_day, phrase_at
from perdure.knowledge.extraction.plain_values import timed_name
from perdure.knowledge.extraction.predicates import Predicates
from perdure.knowledge.records.facts import Learned

_FAR: Final = 14
"""Words after a verb among which its "to" is looked for."""
_Change = tuple[str, str, TextSpan]
"""Whose attribute, its name, where its new value stands."""


def read_changes(parsed: Parsed, predicates: Predicates) -> list[RawClaim]:
    """Return what a clause says that something became: "switched from A to B", "increased to $550"."""
    words, at = parsed.words, parsed.at
    lemma = base_verb(words[at].low)
    changing = {words[at].low, f"{lemma}d", f"{lemma}ed"} & CHANGING
    if parsed.denied or not changing or words[at].low.endswith("ing"):
        return []
    to = _index(parsed.clause, "to", at + 1, at + _FAR)
    if to is None and lemma in {"reach", "hit"}:
        to = at
    if to is None or to + 1 >= len(words):
        return []
    place, measured = value_at(parsed.clause, to + 1)
    measured = measured or (place is not None and timed_name(parsed, "", place) is not None)
    since_word = _index(parsed.clause, "from", at + 1, to)
    what = (
        None
        if place is None
        else _changed_attribute(parsed, lemma, place, predicates, since_word or to, measured=measured)
    )
    if place is None or what is None:
        return []
    owner, name, value = what
    versioned = name.endswith("_version")
    before = since_word
    if before is None and not measured:
        before = _index(parsed.clause, "from", to + 1, len(words) - 1)
    old = None if before is None else value_at(parsed.clause, before + 1)[0]
    if versioned and before is not None:
        was = version_at(parsed, before + 1)
        old = (was[1].start, was[1].end) if was is not None and was[0] == name else None
    sort = ("measure" if measured else "status") if predicates.row(name).type == "attribute" else ""
    sort = "address" if name.endswith("_location") else "setting" if versioned else sort
    if sort == "measure" and (when := timed_name(parsed, name, value)) is not None:
        name, sort = when, "date"
    return [
        claim_at(
            parsed,
            name,
            value,
            span=(parsed.clause.start, max(place[1], old[1] if old else 0)),
            subject=owner,
            old=old,
            learned=Learned.CORRECTION,
            since=since_beside(parsed.clause, value, *([old] if old else [])),
            many=False,
            kind=sort,
        )
    ]


def _index(clause: Clause, low: str, first: int, last: int) -> int | None:
    return next((i for i in range(first, min(len(clause.words), last)) if clause.words[i].low == low), None)


def _changed_attribute(
    parsed: Parsed, lemma: str, place: TextSpan, predicates: Predicates, stop: int, *, measured: bool
) -> _Change | None:
    """Return what changed: the subject, "it" by what is counted, the verb's object, or where somebody lives."""
    words = parsed.words
    if parsed.phrase is not None:
        return _attribute(parsed.phrase, place, predicates, measured=measured)
    begin = next(i for i, w in enumerate(words) if w.end > place[0])
    if parsed.who == "it":
        counted = measure_at(parsed.clause, begin)
        return ("it", f"{name_of(counted[1])}_count", place) if counted and counted[1] else None
    if stop > parsed.at + 1:  # "extended my goal to ..."
        phrase = Phrase(words[parsed.at + 1 : stop])
        own = phrase.lows[0] in OWNERS or phrase.lows[0] in {"the", "its"}
        found = _attribute(phrase, place, predicates, measured=measured) if own else None
        return (parsed.who, *found[1:]) if found and phrase.lows[0] == "its" else found
    return _new_state(parsed, lemma, begin, predicates)


def _new_state(parsed: Parsed, lemma: str, begin: int, predicates: Predicates) -> _Change | None:
    """Return what somebody has now: a version, a plan, a home, another tool."""
    value = phrase_at(parsed.clause, begin)
    if value is None:
        return None
    direct = parsed.words[parsed.at + 1].low in {"to", "from"}
    version = version_at(parsed, begin) if direct and value.lows[0] != "net" else None
    if version is not None:
        return parsed.who, version[0], (version[1].start, version[1].end)
    if direct and (named := _term_named_after(parsed, value, predicates)) is not None:
        return named
    if direct and value.lows[-1] in {"plan", "tier"} and len(value.words) > 1:
        return parsed.who, "plan", (value.start, value.end)
    if lemma in MOVING and not any(any(c.isupper() for c in w.said[1:]) for w in value.words):
        return (parsed.who, "home", (value.start, value.end)) if is_name(value.words[0]) else None
    return _switched_to(parsed, value, predicates) if lemma in SWITCHING | MOVING and direct else None


def _term_named_after(parsed: Parsed, value: Phrase, predicates: Predicates) -> _Change | None:
    """Return what is named after its value: "switched to NET 45 payment terms" is about the payment terms."""
    for many in (2, 1):
        name = predicates.name(name_of(value.lows[-many:])) if len(value.words) > many else ""
        if name and predicates.row(name).type == "policy":
            return parsed.who, name, (value.start, value.words[-many - 1].end)
    return None


def _attribute(phrase: Phrase, place: TextSpan, predicates: Predicates, *, measured: bool) -> _Change | None:
    owner, named = owner_and_name(phrase)
    name = predicates.name(named)
    if named.rpartition("_")[2] in PLACES and not measured:
        name = f"{named}_location"
    known = measured or predicates.row(name).type != "attribute"
    return (owner, name, place) if named and known else None


def _switched_to(parsed: Parsed, value: Phrase, predicates: Predicates) -> _Change | None:
    """Return "switched to Thursday deliveries" as a preference, "to Obsidian" as what is used."""
    if (days := named_day(value)) is not None:
        return parsed.who, predicates.name(f"{days[1]}_preference"), (days[0].start, days[0].end)
    return (parsed.who, "use", (value.start, value.end)) if parsed.phrase is None else None

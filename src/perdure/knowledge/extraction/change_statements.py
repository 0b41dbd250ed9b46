"""How attributes change: "moved to Lyon", "increased from $50 to $80", "upgraded to Django 5.0"."""

from __future__ import annotations

from typing import Final, NamedTuple

from perdure.knowledge.extraction.attributes_of_people import version_at
from perdure.knowledge.extraction.clauses import TextSpan
from perdure.knowledge.extraction.lemmas import base_verb
from perdure.knowledge.extraction.measurements import measure_at, owner_and_name, value_at
from perdure.knowledge.extraction.parsed_clause import Parsed, RawClaim, claim_at
from perdure.knowledge.extraction.phrases import OWNERS, Phrase, is_name, name_of, named_day
from perdure.knowledge.extraction.plain_values import timed_name
from perdure.knowledge.extraction.vocabulary import CHANGING, MOVING, PLACES, SWITCHING
from perdure.knowledge.records.facts import Learned

_FAR: Final = 14
"""Words after a verb among which its "to" is looked for."""


class _Change(NamedTuple):
    """Whose attribute changed, its name, where its new value stands."""

    owner: str
    name: str
    place: TextSpan


def read_changes(parsed: Parsed) -> list[RawClaim]:
    """Return what a clause says that something became: "switched from A to B", "increased to $550"."""
    low, at, clause = parsed.low, parsed.at, parsed.clause
    lemma = base_verb(low)
    if parsed.denied or low.endswith("ing") or not {low, f"{lemma}d", f"{lemma}ed"} & CHANGING:
        return []
    to = clause.find("to", at + 1, at + _FAR)
    if to is None and lemma in {"reach", "hit"}:
        to = at
    place, measured = (None, False) if to is None else value_at(clause, to + 1)
    if to is None or place is None:
        return []
    measured = measured or timed_name(parsed, "", place) is not None
    since_word = clause.find("from", at + 1, to)
    change = _changed_attribute(parsed, lemma, place, since_word or to, measured=measured)
    if change is None:
        return []
    before = since_word
    if before is None and not measured:
        before = clause.find("from", to + 1, len(parsed.words) - 1)
    old = None if before is None else _old_value(parsed, change.name, before + 1)
    return [_claim(parsed, change, place, old, measured=measured)]


def _old_value(parsed: Parsed, name: str, at: int) -> TextSpan | None:
    """Return where the value stands that an attribute had; of a version only one of the same program."""
    if not name.endswith("_version"):
        return value_at(parsed.clause, at)[0]
    was = version_at(parsed, at)
    return was[1].place if was is not None and was[0] == name else None


def _claim(parsed: Parsed, change: _Change, place: TextSpan, old: TextSpan | None, *, measured: bool) -> RawClaim:
    name, sort = change.name, ""
    if name.endswith("_location"):
        sort = "address"
    elif name.endswith("_version"):
        sort = "setting"
    elif parsed.sort_of(name) == "attribute":
        sort = "measure" if measured else "status"
    if sort == "measure" and (when := timed_name(parsed, name, change.place)) is not None:
        name, sort = when, "date"
    return claim_at(
        parsed,
        name,
        change.place,
        span=(parsed.clause.start, max(place[1], old[1] if old else 0)),
        subject=change.owner,
        old=old,
        learned=Learned.CORRECTION,
        since=parsed.clause.day_beside(change.place, *([old] if old else [])),
        many=False,
        kind=sort,
    )


def _changed_attribute(parsed: Parsed, lemma: str, place: TextSpan, stop: int, *, measured: bool) -> _Change | None:
    """Return what changed: the subject, "it" by what is counted, the verb's object, or where somebody lives."""
    words = parsed.words
    if parsed.phrase is not None:
        return _attribute(parsed, parsed.phrase, place, measured=measured)
    begin = next(i for i, w in enumerate(words) if w.end > place[0])
    if parsed.who == "it":
        counted = measure_at(parsed.clause, begin)
        return _Change("it", f"{name_of(counted[1])}_count", place) if counted and counted[1] else None
    if stop > parsed.at + 1:  # "extended my goal to ..."
        phrase = Phrase(words[parsed.at + 1 : stop])
        first = phrase.lows[0]
        found = _attribute(parsed, phrase, place, measured=measured) if first in {*OWNERS, "the"} else None
        return found._replace(owner=parsed.who) if found and first == "its" else found
    return _new_state(parsed, lemma, begin)


def _new_state(parsed: Parsed, lemma: str, begin: int) -> _Change | None:
    """Return what somebody has now: a version, a plan, a home, another tool."""
    value = parsed.phrase_at(begin)
    if value is None:
        return None
    direct = parsed.low_at(parsed.at + 1) in {"to", "from"}
    version = version_at(parsed, begin) if direct and value.lows[0] != "net" else None
    if version is not None:
        return _Change(parsed.who, version[0], version[1].place)
    if direct and (named := _term_named_after(parsed, value)) is not None:
        return named
    if direct and value.lows[-1] in {"plan", "tier"} and len(value.words) > 1:
        return _Change(parsed.who, "plan", value.place)
    if lemma in MOVING and not any(any(c.isupper() for c in w.said[1:]) for w in value.words):
        return _Change(parsed.who, "home", value.place) if is_name(value.words[0]) else None
    return _switched_to(parsed, value) if lemma in SWITCHING | MOVING and direct else None


def _term_named_after(parsed: Parsed, value: Phrase) -> _Change | None:
    """Return what is named after its value: "switched to NET 45 payment terms" is about the payment terms."""
    for many in (2, 1):
        name = parsed.predicates.name(name_of(value.lows[-many:])) if len(value.words) > many else ""
        if name and parsed.sort_of(name) == "policy":
            return _Change(parsed.who, name, (value.start, value.words[-many - 1].end))
    return None


def _attribute(parsed: Parsed, phrase: Phrase, place: TextSpan, *, measured: bool) -> _Change | None:
    owner, named = owner_and_name(phrase)
    name = parsed.predicates.name(named)
    if named.rpartition("_")[2] in PLACES and not measured:
        name = f"{named}_location"
    known = measured or parsed.sort_of(name) != "attribute"
    return _Change(owner, name, place) if named and known else None


def _switched_to(parsed: Parsed, value: Phrase) -> _Change | None:
    """Return "switched to Thursday deliveries" as a preference, "to Obsidian" as what is used."""
    if (days := named_day(value)) is not None:
        return _Change(parsed.who, parsed.predicates.name(f"{days[1]}_preference"), days[0].place)
    return _Change(parsed.who, "use", value.place) if parsed.phrase is None else None

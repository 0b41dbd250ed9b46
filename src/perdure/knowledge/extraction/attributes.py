"""Attributes: what "my budget is $50", "our staging database is pg-stage-2", "my doctor is Dr Lee" say."""

from __future__ import annotations

from typing import Final

from perdure.knowledge.extraction.change_statements import read_changes
from perdure.knowledge.extraction.clauses import TextSpan
from perdure.knowledge.extraction.habits import read_recurring_event
from perdure.knowledge.extraction.lemmas import base_verb
from perdure.knowledge.extraction.measurements import measure_at, owner_and_name, value_at
from perdure.knowledge.extraction.parsed_clause import Parsed, RawClaim, claim_at
from perdure.knowledge.extraction.phrases import Phrase, name_of
from perdure.knowledge.extraction.places import read_location
from perdure.knowledge.extraction.plain_values import (
    is_description,
    is_person,
    is_state,
    is_unowned,
    is_value,
    timed_name,
)
from perdure.knowledge.extraction.vocabulary import CHANGING, EMPTY_HEADS, RELATIONS, ROLES
from perdure.knowledge.records.facts import Learned
from perdure.rules.language.words import word_set

_BE: Final = word_set("am is are be been")
_SORTS: Final = word_set("status contact address job name policy preference hobby")
_FIRM: Final = word_set("contact address job name")
"""Sorts whose value is never how somebody does: "my phone is dead" names no phone."""
_LONGEST: Final = 6
"""Words that the name of an attribute may have beside its last."""


def read_attributes(parsed: Parsed) -> list[RawClaim]:
    """Return what a clause says of somebody's attribute: "my budget is $50", "the deadline is April 25"."""
    owner, named = ("", "") if parsed.phrase is None else owner_and_name(parsed.phrase)
    low = parsed.low
    if parsed.phrase is None or not named or named.count("_") > _LONGEST:
        return []
    if low in CHANGING:
        return read_changes(parsed)
    if found := read_location(parsed, owner, named) or read_recurring_event(parsed):
        return found
    if low in {"has", "have"}:
        return _counted(parsed)
    if not set(parsed.aux) & _BE or parsed.denied or base_verb(low) in {"go", "be"}:
        return []
    return _being(parsed, parsed.phrase, owner, named)


def _counted(parsed: Parsed) -> list[RawClaim]:
    found = measure_at(parsed.clause, parsed.at + 1)
    if found is None or not found[1]:
        return []
    return [claim_at(parsed, f"{name_of(found[1])}_count", found[0], kind="measure", many=False)]


def _being(parsed: Parsed, phrase: Phrase, owner: str, named: str) -> list[RawClaim]:
    """Return what an attribute is; a relation is a name, a thing without sort needs a number, a day or a name."""
    place, measured = value_at(parsed.clause, parsed.at)
    if place is None:
        return []
    name, head = parsed.predicates.name(named), named.rpartition("_")[2]
    relation, _, rest = named.partition("_")
    if relation in RELATIONS and rest:  # "my sister's phone number"
        name = f"{relation}_{parsed.predicates.name(rest)}"
    kind = parsed.sort_of(name)
    if parsed.low == "to" and not measured and kind != "status":
        return []  # "my job is to listen"; what somebody plans to do is the plan
    if head in RELATIONS and kind != "setting":
        kin = claim_at(parsed, f"{name}_name", place, subject=owner, kind="name", many=False)
        return [kin] if is_person(parsed, place) and not measured else []
    learned = Learned.PREFERENCE if named.startswith(("favorite", "favourite")) else Learned.STATEMENT
    one = {"many": False, "kind": "preference"} if learned is Learned.PREFERENCE else {}
    if kind in {"attribute", "setting"}:
        found = _thing(parsed, phrase, (name, head, kind), place, measured=measured)
        name, one = (found[0], {"many": False, "kind": found[1]}) if found else ("", one)
    elif not measured and _is_loose(parsed, phrase, head, kind, place):
        return []
    return [claim_at(parsed, name, place, subject=owner, learned=learned, **one)] if name else []


def _is_loose(parsed: Parsed, phrase: Phrase, head: str, kind: str, place: TextSpan) -> bool:
    """Return whether words may only tell how an attribute does: "my phone is dead" names no phone."""
    if is_person(parsed, place) and head in ROLES:
        return False
    words = parsed.words_at(place)
    if kind not in _SORTS or is_unowned(phrase) or "and" in phrase.lows:
        return True
    return (kind in _FIRM and is_state(words)) or (kind == "hobby" and is_description(words))


def _thing(
    parsed: Parsed, phrase: Phrase, called: tuple[str, str, str], place: TextSpan, *, measured: bool
) -> tuple[str, str] | None:
    """Return the name and the sort of what a thing without a sort of its own is; None if that tells nothing.

    Args:
        parsed: The clause.
        phrase: Its subject.
        called: The attribute's name, its last word, its kind.
        place: Where the value stands.
        measured: It is a number or a day.
    """
    name, head, kind = called
    if (when := timed_name(parsed, name, place)) is not None:
        return None if head in EMPTY_HEADS else (when, "date")
    if measured and kind == "attribute":
        return None if head in EMPTY_HEADS else (name, "measure")
    fits = measured or is_value(parsed, phrase, head, place, known=kind == "setting")
    return (name, kind) if fits else None

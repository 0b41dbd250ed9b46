"""Attributes: what "my budget is $50", "our staging database is pg-stage-2", "my doctor is Dr Lee" say."""

from __future__ import annotations

from typing import Final

from perdure.knowledge.extraction.change_statements import read_changes
from perdure.knowledge.extraction.habits import read_recurring_event
from perdure.knowledge.extraction.lemmas import base_verb
from perdure.knowledge.extraction.measurements import claim_at, measure_at, owner_and_name, value_at
from perdure.knowledge.extraction.naming_verbs import (
    CHANGING,
    EMPTY_HEADS,
    RELATIONS,
    ROLES,
    Parsed,
    RawClaim,
    TextSpan,
)
from perdure.knowledge.extraction.phrases import Phrase, name_of
from perdure.knowledge.extraction.places import read_location
from perdure.knowledge.extraction.plain_values import (
    is_description,
    is_person,
    is_state,
    is_unowned,
    is_value,
    timed_name,
    words_at,
)
from perdure.knowledge.extraction.predicates import Predicates
from perdure.knowledge.records.facts import Learned
from perdure.rules.language.words import word_set

_BE: Final = word_set("am is are be been")
_SORTS: Final = word_set("status contact address job name policy preference hobby")
_FIRM: Final = word_set("contact address job name")
"""Sorts whose value is never how somebody does: "my phone is dead" names no phone."""
_LONGEST: Final = 6
"""Words that the name of an attribute may have beside its last."""


def read_attributes(parsed: Parsed, predicates: Predicates) -> list[RawClaim]:
    """Return what a clause says of somebody's attribute: "my budget is $50", "the deadline is April 25"."""
    owner, named = ("", "") if parsed.phrase is None else owner_and_name(parsed.phrase)
    low = parsed.words[parsed.at].low
    if parsed.phrase is None or not named or named.count("_") > _LONGEST:
        return []
    if low in CHANGING:
        return read_changes(parsed, predicates)
    if found := read_location(parsed, owner, named) or read_recurring_event(parsed, predicates):
        return found
    if low in {"has", "have"} or not set(parsed.aux) & _BE:
        return _counted(parsed) if low in {"has", "have"} else []
    if parsed.denied or base_verb(low) in {"go", "be"}:
        return []
    return _being(parsed, parsed.phrase, owner, named, predicates)


def _counted(parsed: Parsed) -> list[RawClaim]:
    found = measure_at(parsed.clause, parsed.at + 1)
    if found is None or not found[1]:
        return []
    return [claim_at(parsed, f"{name_of(found[1])}_count", found[0], kind="measure", many=False)]


def _being(parsed: Parsed, phrase: Phrase, owner: str, named: str, predicates: Predicates) -> list[RawClaim]:
    """Return what an attribute is; a relation is a name, a thing without sort needs a number, a day or a name."""
    place, measured = value_at(parsed.clause, parsed.at)
    if place is None:
        return []
    name, head = predicates.name(named), named.rpartition("_")[2]
    relation, _, rest = named.partition("_")
    if relation in RELATIONS and rest:  # "my sister's phone number"
        name = f"{relation}_{predicates.name(rest)}"
    kind = predicates.row(name).type
    if parsed.words[parsed.at].low == "to" and not measured and kind != "status":
        return []  # "my job is to listen"; what somebody plans to do is the plan
    if head in RELATIONS and kind != "setting":
        kin = claim_at(parsed, f"{name}_name", place, subject=owner, kind="name", many=False)
        return [kin] if is_person(parsed, place) and not measured else []
    learned = Learned.PREFERENCE if named.startswith(("favorite", "favourite")) else Learned.STATEMENT
    if kind in {"attribute", "setting"}:
        found = _thing(parsed, phrase, (name, head, kind), place, measured=measured)
        return (
            [claim_at(parsed, found[0], place, subject=owner, learned=learned, kind=found[1], many=False)]
            if found
            else []
        )
    loose = kind not in _SORTS or is_unowned(phrase) or "and" in phrase.lows
    loose = loose or (kind in _FIRM and is_state(words_at(parsed, place)))
    loose = loose or (kind == "hobby" and is_description(words_at(parsed, place)))
    loose = loose and not (is_person(parsed, place) and head in ROLES)
    if not measured and loose:
        return []
    one = {"many": False, "kind": "preference"} if learned is Learned.PREFERENCE else {}
    return [claim_at(parsed, name, place, subject=owner, learned=learned, **one)]


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

"""Attributes: "my budget is $50", "our API response time dropped from 250 to 180 ms"."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, NamedTuple

from perdure.knowledge.extraction.clauses import Clause
from perdure.knowledge.extraction.patterns import span_of
from perdure.knowledge.extraction.raw_claims import (
    MOST,
    RawClaim,
    claim_of,
    from_to,
    join_words,
    name_of,
    value_kind,
    value_words,
)
from perdure.knowledge.extraction.words import OWNERS, Word, Words, base_verb, is_name
from perdure.knowledge.languages import WORDS
from perdure.knowledge.records.facts import FactOrigin, Predicates
from perdure.records.memory import Sort

_DATES: Final = frozenset({"date", "day", "time"})  # kinds of values that say when


class Attribute(NamedTuple):
    """Whose attribute some words name, and its name."""

    owner: str
    words: Words


def attribute_of(words: Words) -> Attribute | None:
    """Return whose attribute some words name: "my budget", "Ann's number"."""
    low = words[0].low
    owned = next((i for i, w in enumerate(words) if w.low == "'s"), None)
    if owned is None:
        return _clean(OWNERS[low], words[1:]) if low in OWNERS else None
    owner, noun = words[:owned], words[owned + 1 :]
    if low in OWNERS and len(owner) > 1 and owner[-1].low in WORDS["kin"] and [w.low for w in noun] == ["name"]:
        return _clean(OWNERS[low], (*owner[1:], *noun))
    return _clean(join_words(owner), noun) if all(is_name(w) for w in owner) else None


def _clean(owner: str, noun: Words) -> Attribute | None:
    noun = tuple(w for w in noun if w.low not in WORDS["newer"] | WORDS["determiners"])
    timed = len(noun) > 1 and noun[-1].low == "time"  # "my response time", not "my time"
    if not noun or len(noun) > MOST or (noun[-1].low in WORDS["no_attributes"] and not timed):
        return None
    odd = WORDS["stops"] | WORDS["prepositions"] | WORDS["joining"] | WORDS["superlatives"] | {"'s"}
    return None if any(w.low in odd or not _is_noun(w) for w in noun) else Attribute(owner, noun)


def _is_noun(word: Word) -> bool:
    return word.form[0].isalnum() and all(c.isalnum() or c in "._&/-" for c in word.form)


def read_attribute(clause: Clause, predicates: Predicates) -> list[RawClaim]:
    """Return what a clause says of the attribute that its subject names."""
    if found := read_office(clause):
        return found
    attribute = attribute_of(clause.subject)
    if attribute is None:
        return []
    changing = clause
    if clause.verb == "be" and clause.rest:
        changing = replace(clause, verb=base_verb(clause.rest[0].low), rest=clause.rest[1:])
    if changing.verb in WORDS["changing"]:
        places = from_to(changing)
        has_new_value = places is not None and not places[0] and places[2] and not clause.denied
        return (
            changed_attributes(changing, attribute, places[1], places[2], predicates)
            if has_new_value and places
            else []
        )
    return _attribute_value(clause, attribute, predicates) if clause.verb == "be" and not clause.past else []


def read_office(clause: Clause) -> list[RawClaim]:
    """Return who holds an office, mentioned in passing: "my supervisor Dr. Nkemelu is only in on Mondays"."""
    words = clause.subject
    at = next((i for i, w in enumerate(words) if w.low in WORDS["offices"]), 0)
    name = words[at + 1 :]
    if words[0].low not in OWNERS or not 1 <= at <= 2 or not name or len(name) > MOST:  # noqa: PLR2004
        return []
    if not all(is_name(w) or w.low in WORDS["titles"] for w in name):
        return []
    owner, span = OWNERS[words[0].low], (words[0].start, name[-1].end)
    return [RawClaim(owner, name_of(words[1 : at + 1]), span_of(name), span, many=False, kind="contact")]


def changed_attributes(
    clause: Clause, attribute: Attribute, new: Words, old: Words, predicates: Predicates
) -> list[RawClaim]:
    """Return that an attribute has a new value: a number, a day or a code, or any that names the one before."""
    value = value_kind(clause, new)
    name, kind = _predicate_and_sort(attribute, value, predicates)
    if not (old or value in {"number", "date", "day", "code"}):
        return []
    more: dict[str, Any] = {"old": span_of(old)} if old else {}
    return [claim_of(clause, attribute.owner, name, new, learned=FactOrigin.CORRECTION, many=False, kind=kind, **more)]


def _predicate_and_sort(attribute: Attribute, value: str, predicates: Predicates) -> tuple[str, str]:
    name = predicates.name(name_of(attribute.words))
    sort = predicates.row(name).sort
    if sort is Sort.ATTRIBUTE and value in _DATES:
        return (name if name.endswith(value) else f"{name}_{value}"), "date"
    return name, "measure" if sort is Sort.ATTRIBUTE and value == "number" and not predicates.has(name) else ""


def _attribute_value(clause: Clause, attribute: Attribute, predicates: Predicates) -> list[RawClaim]:
    at = int(bool(clause.rest) and clause.rest[0].low in {"on", "at", "called", "named"})
    words = value_words(clause, clause.rest[at:])
    value = value_kind(clause, words) if words else ""
    placed = at and clause.rest[0].low in {"on", "at"}
    if not words or (placed and value not in _DATES) or words[0].low in {"no", "yes", "ok", "okay", "true", "false"}:
        return []
    if attribute.words[-1].low in WORDS["offices"] | WORDS["kin"]:
        return _holder(clause, attribute, words, predicates) if value == "name" else []
    name, kind = _predicate_and_sort(attribute, value, predicates)
    favorite = name.startswith("favorite_")
    if value == "phrase" and (clause.denied or not favorite):
        return []
    more: dict[str, Any] = {"learned": FactOrigin.PREFERENCE, "kind": "preference"} if favorite else {"kind": kind}
    if name.endswith("_name") and any(w.low in WORDS["kin"] for w in attribute.words[-2:-1]):
        more["kind"] = "name"  # "my dog's name is Pepper"; in "my middle name is Trouble" it may be a joke
    many = predicates.row(name).many and not favorite
    return [claim_of(clause, attribute.owner, name, words, many=many, **more)]


def _holder(clause: Clause, attribute: Attribute, words: Words, predicates: Predicates) -> list[RawClaim]:
    """Return who somebody's landlord or sister is, by name."""
    if not all(is_name(w) or w.low in WORDS["linking"] | WORDS["titles"] for w in words):
        return []
    head = attribute.words[-1].low
    kin = head in WORDS["kin"]
    name = f"{name_of(attribute.words)}_name" if kin else predicates.name(name_of(attribute.words))
    many = kin and head not in WORDS["single_kin"]
    return [claim_of(clause, attribute.owner, name, words, many=many, kind="name" if kin else "contact")]

"""Attributes: "my budget is $50", "Ann's number changed to 555-0199", "the staging database runs on port 5433"."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Final, NamedTuple

from perdure.knowledge.extraction.clauses import Clause
from perdure.knowledge.extraction.kinds import kind_of
from perdure.knowledge.extraction.lemmas import base_verb, singular
from perdure.knowledge.extraction.patterns import (
    Match,
    is_identifier,
    match,
    measure_end,
    span_of,
)
from perdure.knowledge.extraction.phrases import MOST, from_to, value_kind, value_words
from perdure.knowledge.extraction.raw_claims import RawClaim, claim_of, name_of, said
from perdure.knowledge.extraction.words import OWNERS, Word, Words, is_name
from perdure.knowledge.languages import WORDS
from perdure.knowledge.records.facts import Learned
from perdure.knowledge.records.predicates import Predicates

_TYPED: Final = {
    "name": "name",
    "contact": "name number code",
    "address": "name number code",
    "job": "name number code",
    "date": "date day",
    "measure": "number date",
    "attribute": "name number code date day time",
}


class Attribute(NamedTuple):
    """Whose attribute the subject of a clause names, and its name."""

    owner: str
    words: Words
    unowned: bool = False


def attribute_of(words: Words) -> Attribute | None:  # noqa: PLR0911  # one for each form
    """Return whose attribute some words name; None where they name none with a clean noun."""
    low = words[0].low
    owned = next((i for i, w in enumerate(words) if w.low == "'s"), None)
    if owned is not None:
        owner, noun = words[:owned], words[owned + 1 :]
        if low in OWNERS and owner[-1].low in WORDS["kin"]:
            owner, noun = (), (*owner[1:], *noun)
            return _clean(OWNERS[low], noun)
        owner = owner[1:] if low == "the" and len(owner) > 1 and owner[-1].low not in WORDS["parties"] else owner
        return _clean(said(owner), noun)
    place = next((i for i, w in enumerate(words) if i and w.low in {"of", "at", "for", "with", "in"}), None)
    if place is not None:
        outer = words[place + 1 :]
        inner = words[1:place] if low in OWNERS or low == "the" else words[:place]
        if not outer or not inner:
            return None
        if low == "the" and all(is_name(w) or is_identifier(w) or w.low in WORDS["linking"] for w in outer):
            return _clean(said(outer), inner)
        return _clean(OWNERS.get(low, "I"), (*outer, *inner)) if low in OWNERS else None
    if low in OWNERS:
        return _clean(OWNERS[low], words[1:])
    if low == "favorite":
        return _clean("I", words)
    return _clean("I", words[1:] if low == "the" else words, unowned=True)


def _clean(owner: str, noun: Words, *, unowned: bool = False) -> Attribute | None:
    noun = tuple(w for w in noun if w.low not in WORDS["newer"] | WORDS["determiners"])
    timed = len(noun) > 1 and noun[-1].low == "time"
    if not noun or len(noun) > MOST or (noun[-1].low in WORDS["no_attributes"] and not timed):
        return None
    if any(w.low in WORDS["superlatives"] for w in noun):
        return None
    odd = WORDS["stops"] | WORDS["prepositions"] | WORDS["joining"] | {"'s"}
    if any(w.low in odd or not re.fullmatch(r"[^\W_][\w.&/-]*", w.form) for w in noun):
        return None
    return Attribute(owner, noun, unowned)


def read_attribute(clause: Clause, predicates: Predicates) -> list[RawClaim]:  # noqa: PLR0911  # one for each form
    """Return what a clause says of what its subject names: an attribute of somebody, or a thing."""
    attribute = attribute_of(clause.subject)
    if attribute is None:
        return []
    bare = attribute.unowned and clause.subject[0].low != "the"
    if bare and not predicates.has(predicates.name(name_of(attribute.words))):
        return []
    if clause.verb == "be" and clause.rest and base_verb(clause.rest[0].low) in WORDS["changing"]:
        changed = replace(clause, verb=base_verb(clause.rest[0].low), rest=clause.rest[1:])
        return _attribute_change(changed, attribute, predicates)
    if clause.verb in WORDS["changing"]:
        return _attribute_change(clause, attribute, predicates)
    if (fit := match("thing", clause)) is not None:
        return _of_thing(clause, attribute, fit, predicates)
    if clause.verb in {"end", "expire", "start", "begin"}:
        return _bounded(clause, attribute, predicates)
    if clause.verb == "have":
        return _counted(clause, attribute)
    return _being(clause, attribute, predicates) if clause.verb == "be" and not clause.past else []


def _counted(clause: Clause, attribute: Attribute) -> list[RawClaim]:
    """Return how many of something a thing or somebody's group has: "our team has nine people"."""
    stop = measure_end(clause, 0)
    if stop is None or stop < 2 or clause.denied or attribute.unowned or not is_plural(clause.rest[stop - 1]):  # noqa: PLR2004
        return []
    name = f"{name_of(attribute.words)}_{name_of(clause.rest[1:stop])}_count"
    return [claim_of(clause, attribute.owner, name, clause.rest[:stop], kind="measure", many=False)]


def is_plural(word: Word) -> bool:
    """Return whether a word tells of several."""
    return singular(word.low) != word.low or word.low in {"people", "employees"}


def _bounded(clause: Clause, attribute: Attribute, predicates: Predicates) -> list[RawClaim]:
    """Return when something begins or ends: "my lease expires on 1 February"."""
    at = int(bool(clause.rest) and clause.rest[0].low in {"on", "at"})
    words = value_words(clause, clause.rest[at:])
    kind = value_kind(clause, words) if words else ""
    if kind not in {"date", "day", "time"} or clause.denied or clause.past:
        return []
    bound = {"end": "end", "expire": "end"}.get(clause.verb, "start")
    name = predicates.name(f"{name_of(attribute.words)}_{bound}_{kind}")
    return [claim_of(clause, attribute.owner, name, words, kind="date", many=False)]


def _attribute_change(clause: Clause, attribute: Attribute, predicates: Predicates) -> list[RawClaim]:
    places = from_to(clause)
    if clause.denied or places is None or places[0]:
        return []
    return changed(clause, attribute, places[1], places[2], predicates)


def changed(clause: Clause, attribute: Attribute, new: Words, old: Words, predicates: Predicates) -> list[RawClaim]:
    """Return that an attribute has a new value in the place of an old one."""
    value = value_kind(clause, new)
    name, kind = _named(attribute, value, predicates)
    if not name:
        return []
    if attribute.unowned and value in {"date", "day", "time"} and not predicates.has(name_of(attribute.words)):
        attribute, name = attribute._replace(owner=said(attribute.words)), value
    more: dict[str, Any] = {"old": span_of(old)} if old else {}
    return [claim_of(clause, attribute.owner, name, new, learned=Learned.CORRECTION, many=False, kind=kind, **more)]


def _named(attribute: Attribute, value: str, predicates: Predicates) -> tuple[str, str]:
    """Return the predicate and its sort of an attribute with a value of some kind; empty if they do not fit."""
    name = predicates.name(name_of(attribute.words))
    kind = kind_of(predicates, name)
    allowed = _TYPED.get(kind, "")
    timed = value in {"date", "day", "time"} and kind in {"policy", "measure", "setting"}
    if allowed and value not in allowed.split() and not timed:
        return "", ""
    if kind in {"attribute", "setting"} and value in {"date", "day", "time"}:
        suffix = "" if name.endswith(value) else f"_{value}"
        return f"{name}{suffix}", "date"
    if kind == "attribute":
        kind = "measure" if value == "number" else "attribute"
    return name, kind


def read_office(clause: Clause) -> list[RawClaim]:
    """Return who holds an office, told in passing: "my supervisor Dr. Nkemelu is only in on Mondays"."""
    words = clause.subject
    at = next((i for i, w in enumerate(words) if w.low in WORDS["offices"]), 0)
    name = words[at + 1 :]
    if words[0].low not in OWNERS or not 1 <= at <= 2 or not name or len(name) > MOST:  # noqa: PLR2004
        return []
    if not all(is_name(w) or w.low in WORDS["titles"] for w in name):
        return []
    owner, span = OWNERS[words[0].low], (words[0].start, name[-1].end)
    return [RawClaim(owner, name_of(words[1 : at + 1]), span_of(name), span, many=False, kind="contact")]


def _of_thing(clause: Clause, attribute: Attribute, fit: Match, predicates: Predicates) -> list[RawClaim]:
    """Return what is said of a thing: "the staging database runs on port 5433" is a fact about the staging database."""
    name = predicates.name(fit.pattern.predicate)
    more: dict[str, Any] = {"kind": fit.pattern.kind, "many": "many" in fit.pattern.flags}
    if attribute.unowned and name == "location" and len(attribute.words) < 2:  # noqa: PLR2004
        return []
    if name == "_version":
        name = f"{name_of(fit.value[:-1])}_version"
    if name == "name" and attribute.words[-1].low in WORDS["offices"] | WORDS["persons"]:
        return [claim_of(clause, attribute.owner, name_of(attribute.words), fit.value, many=False, kind="contact")]
    return [claim_of(clause, said(attribute.words), name, fit.value, **more)]


def _being(clause: Clause, attribute: Attribute, predicates: Predicates) -> list[RawClaim]:  # noqa: PLR0911  # one for each form
    """Return what an attribute is, where the value is one of its sort."""
    rest = clause.rest
    at = int(bool(rest) and rest[0].low in {"on", "at", "called", "named"})
    placed = at and rest[0].low in {"on", "at"}
    article = len(rest) > at and rest[at].low in {"a", "an"}
    words = value_words(clause, rest[at:])
    if not words or (len(words) == 1 and words[0].low in WORDS["evaluations"]):
        return []
    value = value_kind(clause, words)
    head = attribute.words[-1].low
    if placed and value not in {"date", "day", "time"}:
        return []
    if head in WORDS["offices"] | WORDS["kin"]:
        if (
            value != "name"
            or article
            or not all(is_name(w) or w.low in WORDS["linking"] | WORDS["titles"] for w in words)
        ):
            return []
        kin = head in WORDS["kin"]
        name = f"{name_of(attribute.words)}_name" if kin else predicates.name(name_of(attribute.words))
        many = kin and head not in WORDS["single_kin"]
        return [claim_of(clause, attribute.owner, name, words, many=many, kind="name" if kin else "contact")]
    if attribute.unowned and not predicates.has(predicates.name(name_of(attribute.words))):
        return _of_itself(clause, attribute, words, value)
    name, kind = _named(attribute, value, predicates)
    if not name or not _fits(clause, attribute, words, value, kind, predicates.has(name)):
        return []
    favorite = name.startswith("favorite_")
    more: dict[str, Any] = {"learned": Learned.PREFERENCE, "kind": "preference"} if favorite else {"kind": kind}
    many = predicates.row(name).many and not favorite
    return [claim_of(clause, attribute.owner, name, words, many=many, **more)]


def _of_itself(clause: Clause, attribute: Attribute, words: Words, value: str) -> list[RawClaim]:
    """Return what a thing is that belongs to nobody: "the shop wifi is Fluffy_5G", "the party is on 3 May"."""
    if value in {"date", "day", "time"}:
        return [claim_of(clause, said(attribute.words), value, words, many=False, kind="date")]
    named = value == "code" or (value == "name" and len(attribute.words) > 1)
    return [claim_of(clause, said(attribute.words), "name", words, many=False)] if named else []


def _fits(clause: Clause, attribute: Attribute, words: Words, value: str, kind: str, known: bool) -> bool:
    """Return whether a value says what an attribute is rather than how it does: "my editor is slow" does not."""
    low = words[0].low
    if value == "phrase":
        loose = low.endswith(("ing", "ed", "ly", "ful", "ous", "able", "ible")) or low in WORDS["evaluations"]
        favorite = kind == "preference" or name_of(attribute.words) == "hobby"
        loose = loose or (attribute.unowned and len(attribute.words) < 2)  # noqa: PLR2004
        return (known or favorite) and not clause.denied and (favorite or not loose) and low not in WORDS["evaluations"]
    if value == "name" and attribute.unowned:
        return known or attribute.words[-1].low in WORDS["offices"]
    shouted = low in {"no", "yes", "ok", "okay", "true", "false"}
    return not shouted and not (value == "name" and kind == "measure")

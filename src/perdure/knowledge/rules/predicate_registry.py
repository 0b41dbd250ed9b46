"""The registry of predicates: their names, sorts and numbers of values, shipped or a person's own."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final

import numpy as np

from perdure.knowledge.extraction.words import base_verb, singular
from perdure.knowledge.records.facts import UNNAMED, Fact, Predicate, ValueKind
from perdure.knowledge.records.results import SynonymQuestion
from perdure.records.errors import PolicyError
from perdure.records.instant import Instant
from perdure.records.memory import FACT_SORTS, Document, Shelf, Sort
from perdure.records.vector import Vector

_LONGEST: Final = 100
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SPELLINGS: Final = {"favourite": "favorite", "colour": "color", "centre": "center", "licence": "license"}
"""One spelling for both sides of the ocean."""
_ARTICLES: Final = frozenset({"a", "an", "the"})
_BETWEEN: Final = frozenset({"of", "on"})
"""What goes before these is described by what follows: day of delivery is delivery day."""
_MOST: Final = 1000
_KEPT: Final = 1000  # names
_SYNONYMS, _PREDICATES = "synonyms", "predicates"


_ONE_OF_SEVERAL: Final = frozenset({"favorite", "main", "primary", "default", "preferred", "native"})
_LATIN: Final = "\u024f"  # its last letter


def _least_ending(name: str) -> int:
    """Return of how many letters a name is that longer words end with: "Nussallergie", "食物过敏"."""
    return 7 if name[:1] <= _LATIN else 2


@dataclass(frozen=True, slots=True, eq=False)  # few are made; each is told from others by itself
class Registry:
    """The shipped predicates together with a person's own, which win."""

    table: Mapping[str, Predicate]  # predicate in normal form -> what is known of it
    synonyms: Mapping[str, str]  # normal form -> predicate
    answers: Mapping[str, frozenset[str]]  # word of a question -> words of the predicates that answer it
    by_words: Mapping[frozenset[str], str] = field(init=False)  # the words of a name of several -> the name
    endings: frozenset[str] = field(init=False)  # names that a longer word may end with

    def __post_init__(self) -> None:
        names = {**self.synonyms, **{name: name for name in self.table}}
        words = {frozenset(synonym.split("_")): predicate for synonym, predicate in names.items() if "_" in synonym}
        object.__setattr__(self, "by_words", words)
        endings = frozenset(name for name in self.table if "_" not in name and len(name) >= _least_ending(name))
        object.__setattr__(self, "endings", endings)

    def name(self, words: str) -> str:
        """Return the normal form of a predicate: lower case, singulars, ``_`` between words, synonyms replaced.

        Names of the same words mean the same: ``day of delivery``, ``deliveryDays`` and ``delivery_day``.
        """
        return _name_of(self, words)

    def find_name(self, words: str) -> str:
        """Return the same, looked for anew."""
        parts = _parts(words)
        known = "_".join(parts) or UNNAMED
        if known not in self.table and known not in self.synonyms:
            known = "_".join(_reorder(parts)) or UNNAMED
        if known not in self.table and known not in self.synonyms and "_" in known:
            known = self.by_words.get(frozenset(known.split("_")), known)
        seen: set[str] = set()
        while known in self.synonyms and known not in seen:
            seen.add(known)
            known = self.synonyms[known]
        return known

    def row(self, name: str) -> Predicate:
        """Return what is known of a predicate in normal form: its own row, or that of its last words.

        Of several one is the favorite or the main one.
        """
        if found := _row_of(self, name):
            single = name not in self.table and name.partition("_")[0] in _ONE_OF_SEVERAL
            return replace(found, many=False) if single else found
        return Predicate(Sort.PREFERENCE) if name.startswith("favorite_") else Predicate()

    def has(self, name: str) -> bool:
        """Whether the table names a predicate in normal form, by its last words or its end: no answer changes it."""
        return _row_of(self, name) is not None

    def sort(self, name: str, read_sort: str) -> Sort:
        """Return the sort of a predicate: the table's, else that which its reader found."""
        if self.has(name):
            return self.row(name).sort
        read_sort = _SORT_ALIASES.get(read_sort, read_sort)
        return Sort(read_sort) if read_sort in FACT_SORTS and read_sort != Sort.ATTRIBUTE else self.row(name).sort

    def find_row(self, name: str) -> Predicate | None:
        """Return what the table says of a name, by its last words or its end."""
        parts = name.split("_")
        for start in range(len(parts)):
            if (row := self.table.get("_".join(parts[start:]))) is not None:
                return row
        last = parts[-1]
        ending = next((last[at:] for at in range(len(last)) if last[at:] in self.endings), None)
        return None if ending is None else self.table[ending]

    def asked_predicates(self, words: Iterable[str]) -> frozenset[str]:
        """Return the words of the predicates that a question may mean: "Where does Ana live?" asks for a home.

        "What does she want?" asks for whatever she prefers, likes or enjoys; "how old" for an age, "how many" for a
        count. What no predicate is called by means nothing here. ``words`` are in lower case; each may be given by
        itself to see what it means.
        """
        found: set[str] = set()
        for word in words:
            verb = base_verb(word) or word
            for form in (word, verb, singular(word)):
                found |= self.answers.get(form, frozenset())
                found |= {form} if form in self.table else set()
            for form in (word, verb, *(f"{verb}_{place}" for place in ("in", "at", "for", "as", "to"))):
                if (name := self.synonyms.get(form)) is not None:
                    found |= set(name.split("_"))
        return frozenset(found)

    def akin(self, one: str, other: str) -> bool:
        """Return whether two predicates may be about the same: a family that a matcher may look through.

        They share their last word, and one has every word of the other: ``day_preference`` and
        ``delivery_day_preference``, ``deadline`` and ``draft_deadline``. ``value``, the predicate of a correction that
        names none, is akin to all: its ``old`` value says which fact is meant.
        """
        if UNNAMED in (one, other):
            return True
        first, second = one.split("_"), other.split("_")
        return first[-1] == second[-1] and (set(first) <= set(second) or set(second) <= set(first))


@lru_cache(_KEPT)
def _name_of(registry: Registry, words: str) -> str:
    return registry.find_name(words)


@lru_cache(_KEPT)
def _row_of(registry: Registry, name: str) -> Predicate | None:
    return registry.find_row(name)


_SORT_ALIASES: Final = {
    "policy": "rule",
    "address": "place",
    "name": "identity",
    "date": "plan",
    "status": "state",
    "possession": "relation",
    "hobby": "preference",
    "condition": "health",
}
"""Words by which readers of messages call a sort -> the sort."""


def shipped_registry(data: Mapping[str, Any]) -> Registry:
    """Return the predicates that Perdure comes with.

    Args:
        data: The parsed file: ``one`` and ``many`` (sort -> predicates), ``same`` (predicate -> synonyms), ``asked``
            (word of a question -> words of predicates), ``asked_as`` (word of a question -> words of other languages).
    """
    table = {
        predicate: Predicate(Sort(sort), many=key == "many")
        for key in ("one", "many")
        for sort, names in data[key].items()
        for predicate in names.split()
    }
    synonyms = {"_".join(_parts(word)): target for target, words in data["same"].items() for word in words.split()}
    registry = Registry(table, synonyms, {word: frozenset(names.split()) for word, names in data["asked"].items()})
    spoken = {
        other: registry.asked_predicates([word])
        for word, others in data["asked_as"].items()
        for other in others.split()
    }
    return replace(registry, answers={**spoken, **registry.answers})


def registry_from(shipped: Registry, own: Mapping[str, Any], name: str) -> Registry:
    """Return the shipped predicates merged with a person's own.

    Args:
        shipped: Those that Perdure comes with.
        own: ``{"synonyms": {"ship day": "delivery_day"}, "predicates": {"hobby": {"sort", "many"}}}``, from a parsed
            TOML file; other tables (``authorities``) are not read here.
        name: The file of a person's own, for messages.

    Raises:
        PolicyError: Something of a person's own is refused; all faults are listed.
    """
    if not own.keys() & {_SYNONYMS, _PREDICATES}:
        return shipped
    table, synonyms, problems = dict(shipped.table), dict(shipped.synonyms), list[str]()
    for predicate, row in _entries(own, _PREDICATES, name, problems):
        try:
            table[_normal_name(predicate)] = _row(row, table.get(_normal_name(predicate)) or Predicate())
        except (TypeError, ValueError) as error:
            problems.append(f"{name}, [predicates.{predicate}]: {error}")
    for synonym, target in _entries(own, _SYNONYMS, name, problems):
        try:
            synonyms[_normal_name(synonym)] = _normal_name(target)
        except (TypeError, ValueError) as error:
            problems.append(f"{name}, [synonyms] {synonym!r}: {error}")
    problems += [f"{name}, [synonyms] {start!r}: it leads back to itself." for start in _circles(synonyms)]
    if problems:
        raise PolicyError(tuple(problems), remedy='Write [synonyms] a = "b" and [predicates.NAME] sort, many.')
    return Registry(table, synonyms, shipped.answers)


def readable_name(predicate: str) -> str:
    """Return a predicate as it is read, and as its vector is made."""
    return predicate.replace("_", " ")


def _parts(words: str) -> list[str]:
    """Return the words of a name as singulars, in one spelling."""
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", _HUMP.sub(" ", words)).casefold())
    # Marks belong to words: Indian and Semitic scripts write vowels with them.
    split = "".join(c if c.isalnum() or unicodedata.category(c)[0] == "M" else " " for c in text).split()
    forms = [_SPELLINGS.get(form, form) for form in map(singular, split)]
    return [form for form in forms if form not in _ARTICLES] or forms


def _reorder(parts: list[str]) -> list[str]:
    at = next((i for i in range(1, len(parts) - 1) if parts[i] in _BETWEEN), None)
    return parts if at is None else _reorder([*parts[at + 1 :], *parts[:at]])


def _entries(data: Mapping[str, Any], key: str, name: str, problems: list[str]) -> Iterator[tuple[Any, Any]]:
    found = data.get(key, {})
    if not isinstance(found, Mapping) or len(found) > _MOST:
        problems.append(f"{name}: [{key}] must be a table of at most {_MOST} entries.")
        return
    yield from found.items()


def _normal_name(words: Any) -> str:
    if not isinstance(words, str):
        raise TypeError("a name must be a text.")
    name = "_".join(_parts(words))
    if not 0 < len(name) <= _LONGEST:
        raise ValueError(f"{words[:40]!r} is no name: use up to {_LONGEST} letters, digits and _.")
    return name


def _row(row: Any, before: Predicate) -> Predicate:
    if not isinstance(row, Mapping):
        raise TypeError("it is not a table.")
    if unknown := sorted(set(row) - {"sort", "many"}):
        raise TypeError(f"there is no key {unknown[0]!r}; the keys are many, sort.")
    sort, many = row.get("sort", before.sort), row.get("many", before.many)
    if sort not in FACT_SORTS:
        raise TypeError(f"sort must be one of {', '.join(FACT_SORTS)}.")
    if not isinstance(many, bool):
        raise TypeError("many must be true or false.")
    return Predicate(Sort(sort), many)


def _circles(synonyms: Mapping[str, str]) -> list[str]:
    found = []
    for start in synonyms:
        at, seen = start, set()
        while at in synonyms and at not in seen:
            seen.add(at)
            at = synonyms[at]
        if at in seen and at == start:
            found.append(start)
    return found


SAME: Final = "same:"
"""Names of documents about two names begin so; the name that would stay follows, the id is the one that would go."""
_SHARE: Final = 0.6


class SynonymAnswer(StrEnum):
    """What a person said of two names."""

    OPEN = "open"
    SAME = "same"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class SynonymPair:
    """Two names of predicates, and what was said of them."""

    goes: str  # the name that is replaced where they are the same
    stays: str  # the other
    said: SynonymAnswer  # what a person said
    cosine: float  # how alike they are
    fact: str  # the fact that brought the question up: it is asked about
    other: str  # the fact of the other name
    at: Instant  # since when it is asked

    @property
    def key(self) -> frozenset[str]:
        """Both names: a pair is asked about once, whichever comes first."""
        return frozenset((self.goes, self.stays))

    def document(self) -> Document:
        """Return its document."""
        data = {"said": self.said.value, "cosine": round(self.cosine, 4), "at_ms": self.at}
        return Document(Shelf.LESSON, self.goes, SAME + self.stays, {**data, "fact": self.fact, "other": self.other})


def pairs_of(documents: Iterable[Document]) -> list[SynonymPair]:
    """Return the pairs of names among documents of the shelf LESSON."""
    return [_pair(d.id, d.name.removeprefix(SAME), d.data) for d in documents if d.name.startswith(SAME)]


def _pair(goes: str, stays: str, data: Mapping[str, Any]) -> SynonymPair:
    answer, fact, other = SynonymAnswer(data["said"]), str(data["fact"]), str(data["other"])
    return SynonymPair(goes, stays, answer, float(data["cosine"]), fact, other, int(data["at_ms"]))


def asked_pairs(documents: Iterable[Document]) -> tuple[SynonymQuestion, ...]:
    """Return the pairs that were asked about, for people."""
    return tuple(SynonymQuestion(p.goes, p.stays, p.said.value, p.cosine) for p in pairs_of(documents))


def canonical_name(name: str, pairs: Iterable[SynonymPair]) -> str:
    """Return the name of a predicate that a person said is the same; itself if there is none."""
    same, seen = {p.goes: p.stays for p in pairs if p.said is SynonymAnswer.SAME}, {name}
    while (name := same.get(name, name)) not in seen:
        seen.add(name)
    return name


def word_nearness(one: Fact, other: Fact) -> float:
    """Return how alike the predicates of two facts are by their words, 0 to 1; 0 where they share too little.

    It takes two words and three in five, or one word where both say the same text or day.
    """
    words, others = set(one.predicate.split("_")), set(other.predicate.split("_"))
    shared = len(words & others)
    share = shared / len(words | others)
    same = one.value.norm == other.value.norm and one.value.kind in (ValueKind.TEXT, ValueKind.DATE)
    return share if (shared > 1 and share >= _SHARE) or (shared and same) else 0.0


def cosine(one: Vector, other: Vector) -> float:
    """Return the cosine of two unit vectors."""
    return float(np.frombuffer(one, "<f4") @ np.frombuffer(other, "<f4"))


def comparable(one: Fact, other: Fact, predicates: Registry) -> bool:
    """Whether two facts of one entity may be about the same: other names, values of one sort, not told apart already.

    Two names that the table has (a person's own or the shipped one) are two.
    """
    if one.predicate == other.predicate or one.value.kind is not other.value.kind:
        return False
    return not (one.predicate in predicates.table and other.predicate in predicates.table)


def new_pair(new: Fact, other: Fact, cosine: float, at: Instant, predicates: Registry) -> SynonymPair:
    """Return the question about two names: the one that a table has stays, else the one that was there before."""
    rank = {f.id: (f.predicate in predicates.table, predicates.has(f.predicate), f is other) for f in (new, other)}
    stays, goes = sorted((new, other), key=lambda f: rank[f.id], reverse=True)
    return SynonymPair(goes.predicate, stays.predicate, SynonymAnswer.OPEN, cosine, new.id, other.id, at)

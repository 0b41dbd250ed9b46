"""Documents beside memories: small JSON objects on named shelves, for what is neither a memory nor a number of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

UNREAD: Final = "unread"  # the name of a document of the shelf LEARNED

CONFLICT_WITH: Final = "conflict:"
"""How the name of a question begins that asks which of two facts is right; the id of the earlier one follows."""


class Shelf(StrEnum):
    """What sort of document it is, and so what ``id`` and ``name`` stand for."""

    EDGE = "edge"  # a memory's membership in a hyperedge: id is the memory, name the edge; data has kind, role, weight
    # an open question about a memory: id is the memory, name what is asked; data has why and since when
    REVIEW = "review"
    OUTCOME = "outcome"  # what became of a hit: id is the memory, name the recall; data has outcome, query, at_ms
    FORM = "form"  # what a shorter form keeps: id is the memory, name the form; data has tokens and preservation
    # a session of an agent: id is the session; data has where its transcript is and how far it was taken in
    SESSION = "session"
    # how far a session was learned from: id is the session; data has the last message and those just before. Of
    # the name UNREAD: which messages a language model could not be asked about; data has their number as unread
    LEARNED = "learned"
    UPKEEP = "upkeep"  # a task of upkeep: id is the task; data has when it last ran and how it ended
    # what a memory of kind fact is about: id is the memory, name the key ``entity|predicate``; data is the fact's
    FACT = "fact"
    # whom a fact is about: id is the memory, name the entity; data is empty. Of all facts, also those that were
    ABOUT = "about"
    # somebody or something that facts are about: id is the entity, name is empty; data has name, type,
    # merged_into
    ENTITY = "entity"
    ALIAS = "alias"  # a name of an entity: id is the entity, name the name's normal form; data has it as written
    # a memory is about an entity, or names it: id is the memory, name the entity; data has the role and the words
    MENTION = "mention"
    # two facts that cannot both hold: id is the one known earlier, name the later one; data has sides and outcome
    CONFLICT = "conflict"
    # the summary of an entity: id is the memory, name the entity; data has what it was made of. Under the
    # entity's own id, name empty: which summary is its latest
    PROFILE = "profile"
    # what an authority said of a memory: id is the memory, name the authority; data has outcome, value, at_ms
    CHECK = "check"
    # how fast facts of a sort change: id is the predicate's type; data has counts, the rate and its interval
    RATE = "rate"
    # what a person's answers taught about a predicate: id is the predicate, name which answer; data says what. Of
    # two predicates that may be the same: id is the one that would go, name ``same:`` and the other
    LESSON = "lesson"
    # what is left of an erased memory: id is the memory, name a salted digest of its key; data has when, by whom,
    # why and a salted digest of its words. Under the id and name ``salt``: the salt
    ERASED = "erased"
    # what follows what: id is the memory, name ``trigger>then``; data has both as topics, counts and confidence
    PROCEDURE = "procedure"


@dataclass(frozen=True, slots=True)
class Document:
    """One document."""

    shelf: Shelf  # what sort it is
    id: str  # which memory, session or task it is about
    name: str  # which of several about the same; may be empty
    data: Mapping[str, Any]  # plain JSON data

"""Entities as documents: what changes when one is made, named, mentioned, merged with another or split."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from perdure.knowledge.extraction.entity_names import normal_name
from perdure.knowledge.records.facts import Entity, Span, fact_key
from perdure.records.memory import Document, Shelf
from perdure.records.plan import Change
from perdure.rules.document_edits import DocumentEdits, document_change

ROLES: Final = ("subject", "speaker", "named")
"""What a memory has to do with an entity, the closest first."""


def new_entity_changes(entity: Entity, because: str = "") -> list[Change]:
    """Return the changes that bring a new entity with its names; its own name is one of them."""
    aliases = {normal_name(entity.name): entity.name, **entity.aliases}
    reason = because or f"new entity {entity.id}"
    data = {"name": entity.name, "type": entity.type, "merged_into": entity.merged_into}
    first = document_change(Shelf.ENTITY, entity.id, "", None, data, reason)
    return [first, *(alias_change(entity.id, written, reason) for form, written in aliases.items() if form)]


def alias_change(identity: str, written: str, because: str = "") -> Change:
    """Return the change that gives an entity another name."""
    reason = because or f"a name of {identity}"
    return document_change(Shelf.ALIAS, identity, normal_name(written), None, {"name": written}, reason)


def mention_change(
    memory: str, identity: str, role: str, words: Iterable[tuple[Span, str]], because: str = ""
) -> Change:
    """Return the change that records that a memory is about an entity, or names it.

    Args:
        memory: Its id.
        identity: The entity.
        role: One of ``ROLES``.
        words: Where, and by which of the entity's names (normal form): a pronoun has the name that it stands for.
        because: The reason for the journal.
    """
    places = [{"start": s.start, "end": s.end, "quote": s.quote, "alias": alias} for s, alias in words]
    data = {"role": role, "words": places}
    return document_change(Shelf.MENTION, memory, identity, None, data, because or f"{role}: {identity}")


def merge(edits: DocumentEdits, into: Entity, other: Document, facts: Iterable[Document]) -> None:
    """Make one entity part of another: its names, mentions and facts move.

    Args:
        edits: The names of the other entity and the mentions of both were read.
        into: The one that stays, with its aliases.
        other: The document of the one that goes; it stays and says where to.
        facts: Documents of the other's facts; they get the new subject, and the name that goes with it.
    """
    because = f"{other.id} merged into {into.id}"
    edits.read([other])
    edits.put(Shelf.ENTITY, other.id, "", {**other.data, "merged_into": into.id}, because)
    for (identity, form), data in edits.shelf(Shelf.ALIAS).items():
        if identity == other.id:
            edits.put(Shelf.ALIAS, identity, form, None, because)
            if form not in into.aliases:
                edits.put(Shelf.ALIAS, into.id, form, data, because)
    for (memory, entity), data in edits.shelf(Shelf.MENTION).items():
        if entity == other.id:
            mine = edits.get(Shelf.MENTION, memory, into.id)
            edits.put(Shelf.MENTION, memory, entity, None, because)
            edits.put(Shelf.MENTION, memory, into.id, data if mine is None else _together(mine, data), because)
    for fact in facts:
        move_fact(edits, fact, into.id, because)


def _together(one: Mapping[str, Any], two: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mention that says what two say: the closer role, all words, in order."""
    words = {(w["start"], w["end"], w["alias"]): w for w in (*one["words"], *two["words"])}
    role = next((role for role in ROLES if role in (one["role"], two["role"])), one["role"])
    return {**one, "role": role, "words": [words[key] for key in sorted(words)]}


def move_fact(edits: DocumentEdits, fact: Document, subject: str, because: str) -> None:
    """Make a fact one about another entity."""
    before = str(fact.data["subject"])
    edits.read([fact, Document(Shelf.ABOUT, fact.id, before, {})])
    edits.put(Shelf.FACT, fact.id, fact.name, None, because)
    key = fact_key(subject, str(fact.data["predicate"]))
    edits.put(Shelf.FACT, fact.id, key, {**fact.data, "subject": subject}, because)
    edits.put(Shelf.ABOUT, fact.id, before, None, because)
    edits.put(Shelf.ABOUT, fact.id, subject, {}, because)


def split_mentions(
    edits: DocumentEdits, mentions: Iterable[Document], alias: str, identity: str, because: str
) -> dict[str, bool]:
    """Make the mentions that used a name (normal form) another entity's.

    Returns:
        Memory -> whether it used no other name of the entity; a memory that used both is about both.
    """
    used = {}
    for mention in mentions:
        words = mention.data["words"]
        mine = [w for w in words if w["alias"] == alias]
        if mine:
            rest = [w for w in words if w["alias"] != alias]
            used[mention.id] = not rest
            left = {**mention.data, "words": rest} if rest else None
            edits.read([mention])
            edits.put(Shelf.MENTION, mention.id, mention.name, left, because)
            edits.put(Shelf.MENTION, mention.id, identity, {**mention.data, "words": mine}, because)
    return used


def sources_using(fact: Document, used: Mapping[str, bool]) -> tuple[bool, bool]:
    """Return whether some source of a fact used a name, and whether all of them used no other."""
    memories: Collection[str] = [str(source["memory"]) for source in fact.data["sources"]]
    return any(m in used for m in memories), bool(memories) and all(used.get(m, False) for m in memories)

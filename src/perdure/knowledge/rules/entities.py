"""Entities as documents: what a plan changes when one is born, named, mentioned, merged with another or split."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from perdure.knowledge.extraction.entity_names import normal_name
from perdure.knowledge.records.facts import Entity, Span, fact_key
from perdure.records.document import Document, Shelf
from perdure.records.plan import Change, Target

ROLES: Final = ("subject", "speaker", "named")
"""What a memory has to do with an entity, the closest first."""


def document_change(
    shelf: Shelf,
    key: tuple[str, str],
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
    because: str,
) -> Change:
    """Return the change of one document; ``key`` is its id and name."""
    row = {"shelf": shelf, "name": key[1]}
    sides = [None if data is None else {**row, "data": dict(data)} for data in (before, after)]
    return Change(Target.DOCUMENT, key[0], sides[0], sides[1], because)


def entity_data(entity: Entity) -> dict[str, Any]:
    """Return what the document of an entity holds."""
    return {"name": entity.name, "type": entity.type, "merged_into": entity.merged_into}


def new_entity_changes(entity: Entity, because: str = "") -> list[Change]:
    """Return the changes that bring a new entity with its names; its own name is one of them."""
    aliases = {normal_name(entity.name): entity.name, **entity.aliases}
    reason = because or f"new entity {entity.id}"
    first = document_change(Shelf.ENTITY, (entity.id, ""), None, entity_data(entity), reason)
    return [first, *(alias_change(entity.id, written, reason) for form, written in aliases.items() if form)]


def alias_change(identity: str, written: str, because: str = "") -> Change:
    """Return the change that gives an entity another name."""
    reason = because or f"a name of {identity}"
    return document_change(Shelf.ALIAS, (identity, normal_name(written)), None, {"name": written}, reason)


def alias_removal(alias: Document, because: str) -> Change:
    """Return the change that takes a name away."""
    return document_change(Shelf.ALIAS, (alias.id, alias.name), alias.data, None, because)


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
    return document_change(Shelf.MENTION, (memory, identity), None, data, because or f"{role}: {identity}")


def merge_changes(
    into: Entity,
    other: Document,
    aliases: Iterable[Document],
    mentions: Iterable[Document],
    facts: Iterable[Document],
) -> list[Change]:
    """Return the changes by which one entity becomes part of another: names, mentions and facts move.

    Args:
        into: The one that stays, with its aliases.
        other: The document of the one that goes; it stays and says where to.
        aliases: Of the other.
        mentions: Of both.
        facts: Documents of the other's facts; they get the new subject, and the name that goes with it.
    """
    because = f"{other.id} merged into {into.id}"
    changes = []
    if other.data.get("merged_into") != into.id:
        changes.append(
            document_change(Shelf.ENTITY, (other.id, ""), other.data, {**other.data, "merged_into": into.id}, because)
        )
    for alias in aliases:
        changes.append(alias_removal(alias, because))
        if alias.name not in into.aliases:
            changes.append(document_change(Shelf.ALIAS, (into.id, alias.name), None, alias.data, because))
    there = list(mentions)
    mine = {d.id: d.data for d in there if d.name == into.id}
    for mention in (d for d in there if d.name == other.id):
        before = mine.get(mention.id)
        changes.append(document_change(Shelf.MENTION, (mention.id, other.id), mention.data, None, because))
        after = mention.data if before is None else _together(before, mention.data)
        changes.append(document_change(Shelf.MENTION, (mention.id, into.id), before, after, because))
    return [*changes, *(change for fact in facts for change in move_fact(fact, into.id, because))]


def _together(one: Mapping[str, Any], two: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mention that says what two say: the closer role, all words, in order."""
    words = {(w["start"], w["end"], w["alias"]): w for w in (*one["words"], *two["words"])}
    role = next((role for role in ROLES if role in (one["role"], two["role"])), one["role"])
    return {**one, "role": role, "words": [words[key] for key in sorted(words)]}


def move_fact(fact: Document, subject: str, because: str) -> list[Change]:
    """Return the changes by which a fact is about another entity."""
    key = fact_key(subject, str(fact.data["predicate"]))
    return [
        document_change(Shelf.FACT, (fact.id, fact.name), fact.data, None, because),
        document_change(Shelf.FACT, (fact.id, key), None, {**fact.data, "subject": subject}, because),
        document_change(Shelf.ABOUT, (fact.id, str(fact.data["subject"])), {}, None, because),
        document_change(Shelf.ABOUT, (fact.id, subject), None, {}, because),
    ]


def split_mentions(
    mentions: Iterable[Document], alias: str, identity: str, because: str
) -> tuple[list[Change], dict[str, bool]]:
    """Return the changes by which the mentions that used a name become another entity's, and who used it.

    Args:
        mentions: Of the entity that has the name.
        alias: The name's normal form.
        identity: The other entity.
        because: The reason for the journal.

    Returns:
        The changes; memory -> whether it used no other name. A memory that used both is about both.
    """
    changes, used = [], {}
    for mention in mentions:
        words = mention.data["words"]
        mine = [w for w in words if w["alias"] == alias]
        if not mine:
            continue
        rest = [w for w in words if w["alias"] != alias]
        used[mention.id] = not rest
        left = {**mention.data, "words": rest} if rest else None
        changes.append(document_change(Shelf.MENTION, (mention.id, mention.name), mention.data, left, because))
        after = {**mention.data, "words": mine}
        changes.append(document_change(Shelf.MENTION, (mention.id, identity), None, after, because))
    return changes, used


def sources_using(fact: Document, used: Mapping[str, bool]) -> tuple[bool, bool]:
    """Return whether some source of a fact used a name, and whether all of them used no other."""
    memories: Collection[str] = [str(source["memory"]) for source in fact.data["sources"]]
    return any(m in used for m in memories), bool(memories) and all(used.get(m, False) for m in memories)

"""Who and what goes when memories are erased: whom a name means, and entities that nothing else names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from perdure.knowledge.extraction.entity_names import Names, UnknownName, normal_name
from perdure.knowledge.extraction.mentions import PLAIN, mentions, names_by_capital
from perdure.knowledge.extraction.name_parts import find_reversed, may_name, may_name_changed, parts_of
from perdure.knowledge.operations.alias_index import names_of
from perdure.knowledge.operations.entities import find_entity
from perdure.knowledge.operations.name_index import NameIndex
from perdure.knowledge.operations.unsaid_names import names_said, near
from perdure.operations.documents import all_records, find_documents, find_documents_named, find_records
from perdure.operations.ports import Context
from perdure.records.errors import NotFound
from perdure.records.memory import ROLES, Record, Shelf
from perdure.records.recall import Filters
from perdure.rules.erasure import Subject

_TOLD: Final = 5  # ids of memories that an error tells
_NAMING: Final = (Shelf.ABOUT, Shelf.MENTION, Shelf.PROFILE)
"""Shelves whose documents have the id of an entity as their name."""


def subject_of(ctx: Context, namespace: str, name: str) -> Subject:
    """Return what is known of somebody or something, and the memories that are about them, name them or are theirs.

    Where nobody of that name is known, as where nothing is learned, texts and speakers alone decide.

    Raises:
        NotFound: Nothing names them.
        InvalidInput: Several may be meant.
    """
    names = names_of(ctx, namespace)
    form = normal_name(name)
    unknown = name not in names.entities and isinstance(names.resolve(name, ctx.policy.knowledge.fuzzy), UnknownName)
    family = () if unknown else _family(names, find_entity(ctx, names, name, namespace))
    forms = {form for i in family for form in names.entity(i).aliases} or {form} - {""}
    found = _memories_named(ctx, namespace, family)
    known = {w for i in family for w in names.entity(i).aliases.values()} or {name.strip()}
    turned, possible, changed, parts = set[str](), list[str](), list[str](), parts_of(forms)
    written: dict[str, str] = {}
    for record in all_records(ctx, namespace, Filters(include_archived=True)) if forms else ():
        text = record.content.text
        written_turned = set(find_reversed(text, forms))
        turned |= written_turned
        if written_turned or _names_one_of(text, forms) or _said_by(record, forms):
            found.add(record.id)
            if (quote := _name_in(text, forms)) and quote not in known:
                written[record.id] = quote
        elif may_name(said := f"{text}\n{record.content.speaker or ''}", parts):
            possible.append(record.id)
        elif may_name_changed(said, parts):
            changed.append(record.id)
    possible += changed  # the likely ones first
    if not found and not family:
        raise NotFound(
            f"No memory in {namespace} names {name[:60]!r}, and nobody of that name has spoken.",
            remedy=f"Check the spelling and the namespace; metadata and tags are not looked at.{_looks(possible)}",
        )
    called = tuple(sorted(w for w in {*known, *forms, *turned} if w.casefold() not in ROLES))
    return Subject(found, family, called, tuple(i for i in possible if i not in found), written)


def _looks(possible: Sequence[str]) -> str:
    """Return what to do about memories that have a part of a name alone; empty where there are none."""
    if not possible:
        return ""
    more = f" and {len(possible) - _TOLD:,} more" if len(possible) > _TOLD else ""
    return f" A part of the name stands in {', '.join(possible[:_TOLD])}{more}: erase what is about them by its id."


def orphans(ctx: Context, namespace: str, erased: Collection[str], more: Collection[str] | None) -> Iterator[str]:
    """Yield the entities that are known from erased memories alone: what stays neither is about them nor names them.

    Args:
        ctx: The store and the policy.
        namespace: Where.
        erased: Memories that go.
        more: Entities that may have become unknown besides those that the erased memories name; None for all.
    """
    names = names_of(ctx, namespace)
    named = {d.name for shelf in _NAMING for d in find_documents(ctx, namespace, shelf, sorted(erased))}
    for record in find_records(ctx, namespace, sorted(erased)) if more is not None else ():
        named |= {identity for form in names_said(record.content, names.known) for identity in names.known[form]}
    families = _families(names, names.entities if more is None else {*named, *more})
    owners = {i: stands for stands, some in families.items() for i in some}
    for shelf in _NAMING:
        for d in find_documents_named(ctx, namespace, shelf, sorted(owners)):
            if d.id not in erased:
                families.pop(owners[d.name], None)
    forms = {stands: {f for i in some for f in names.entity(i).aliases} for stands, some in families.items()}
    records = all_records(ctx, namespace, Filters(include_archived=True)) if forms else ()
    for stands in forms.keys() - _still_named((r for r in records if r.id not in erased), forms):
        yield from families[stands]


def _still_named(records: Iterable[Record], forms: Mapping[str, Collection[str]]) -> set[str]:
    """Return those of some entities that a memory names, or whose words it is; each with the forms of its names."""
    owners: dict[str, list[str]] = {}
    for entity, some in forms.items():
        for form in some:
            owners.setdefault(form, []).append(entity)
    index, found = NameIndex(owners), set[str]()
    for record in records:
        for entity in {i for form in index.possible_in(record.content.text) for i in owners[form]} - found:
            if _names_one_of(record.content.text, near(record.content.text, forms[entity])):
                found.add(entity)
        speaker = record.content.speaker or ""
        found.update(owners.get(normal_name(speaker), ()) if speaker.lower() not in ROLES else ())
    return found


def _families(names: Names, identities: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the entities that some ids stand for, each with those that were merged into it; roles are left out."""
    merged: dict[str, list[str]] = {}
    for i in sorted(names.entities):
        merged.setdefault(names.current_entity(i), []).append(i)
    standing = sorted({names.current_entity(i) for i in identities if i in names.entities})
    found = {stands: (stands, *(i for i in merged[stands] if i != stands)) for stands in standing}
    return {stands: family for stands, family in found.items() if not {*family} & ROLES}


def _family(names: Names, identity: str) -> tuple[str, ...]:
    """Return the entity that an id stands for, and those that were merged into it."""
    stands = names.current_entity(identity)
    return stands, *(i for i in sorted(names.entities) if i != stands and names.current_entity(i) == stands)


def _memories_named(ctx: Context, namespace: str, family: Collection[str]) -> set[str]:
    """Return the memories that are linked to one of some entities."""
    shelves = (Shelf.ABOUT, Shelf.MENTION) if family else ()
    return {d.id for shelf in shelves for d in find_documents_named(ctx, namespace, shelf, family)}


def _names_one_of(text: str, forms: Collection[str]) -> bool:
    """Return whether a text names somebody, also within a longer name: "Dr. Anna Roe"."""
    if not forms:
        return False
    if _name_in(text, forms):
        return True
    plain = PLAIN.intersection(forms)
    return bool(plain) and names_by_capital(text, plain)


def _name_in(text: str, forms: Collection[str]) -> str:
    """Return how a text names somebody first, with what belongs to the name there; empty where it does not."""
    found = (m.quote for m in mentions(text, forms) if any(f" {form} " in f" {m.name} " for form in forms))
    return next(found, "")


def _said_by(record: Record, forms: Collection[str]) -> bool:
    """Return whether somebody is the speaker of a memory; a role is nobody's name."""
    speaker = record.content.speaker or ""
    return speaker.lower() not in ROLES and normal_name(speaker) in forms

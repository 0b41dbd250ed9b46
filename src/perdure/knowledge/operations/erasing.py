"""Who and what goes when memories are erased: whom a name means, and entities that nothing else names."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from perdure.knowledge.extraction.entity_names import Names, Unknown, normal_name
from perdure.knowledge.extraction.mentions import PLAIN, mentions, names_by_capital
from perdure.knowledge.operations.alias_index import names_of
from perdure.knowledge.operations.entities import find_entity
from perdure.knowledge.operations.unsaid_names import names_said, near
from perdure.operations.documents import all_records, find_documents, find_documents_named, find_records
from perdure.operations.ports import Context
from perdure.records.errors import NotFound
from perdure.records.memory import ROLES, Record, Shelf
from perdure.records.recall import Filters
from perdure.rules.erasure import Subject

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
    unknown = name not in names.entities and isinstance(names.resolve(name, ctx.policy.knowledge.fuzzy), Unknown)
    family = () if unknown else _family(names, find_entity(ctx, names, name, namespace))
    forms = {form for i in family for form in names.entity(i).aliases} or {form} - {""}
    found = _memories_named(ctx, namespace, family)
    records = all_records(ctx, namespace, Filters(include_archived=True)) if forms else ()
    found |= {r.id for r in records if _names_one_of(r.content.text, forms) or _said_by(r, forms)}
    if not found and not family:
        raise NotFound(
            f"No memory in {namespace} names {name[:60]!r}, and nobody of that name has spoken.",
            remedy="Check the spelling and the namespace; metadata and tags are not looked at.",
        )
    written = {w for i in family for w in names.entity(i).aliases.values()} or {name.strip()}
    called = tuple(sorted(w for w in {*written, *forms} if w.casefold() not in ROLES))
    return Subject(found, family, called)


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
    candidates = names.entities if more is None else {*named, *more}
    families = {names.standing(i): _family(names, i) for i in candidates if i in names.entities}
    families = {i: some for i, some in families.items() if not {*some} & ROLES}
    owners = {i: stands for stands, some in families.items() for i in some}
    for shelf in _NAMING:
        for d in find_documents_named(ctx, namespace, shelf, sorted(owners)):
            if d.id not in erased:
                families.pop(owners[d.name], None)
    forms = {stands: {f for i in some for f in names.entity(i).aliases} for stands, some in families.items()}
    for record in all_records(ctx, namespace, Filters(include_archived=True)) if forms else ():
        if record.id not in erased:
            for stands, some in list(forms.items()):
                if _said_by(record, some) or _names_one_of(record.content.text, near(record.content.text, some)):
                    del forms[stands]
    for stands in forms:
        yield from families[stands]


def _family(names: Names, identity: str) -> tuple[str, ...]:
    """Return the entity that an id stands for, and those that were merged into it."""
    stands = names.standing(identity)
    return stands, *(i for i in sorted(names.entities) if i != stands and names.standing(i) == stands)


def _memories_named(ctx: Context, namespace: str, family: Collection[str]) -> set[str]:
    """Return the memories that are linked to one of some entities."""
    shelves = (Shelf.ABOUT, Shelf.MENTION) if family else ()
    return {d.id for shelf in shelves for d in find_documents_named(ctx, namespace, shelf, family)}


def _names_one_of(text: str, forms: Collection[str]) -> bool:
    """Return whether a text names somebody, also within a longer name: "Dr. Anna Roe"."""
    if not forms:
        return False
    if any(f" {form} " in f" {mention.name} " for mention in mentions(text, forms) for form in forms):
        return True
    plain = PLAIN.intersection(forms)
    return bool(plain) and names_by_capital(text, plain)


def _said_by(record: Record, forms: Collection[str]) -> bool:
    """Return whether somebody is the speaker of a memory; a role is nobody's name."""
    speaker = record.content.speaker or ""
    return speaker.lower() not in ROLES and normal_name(speaker) in forms

"""Entities as a person sees and mends them: listed, shown, named, merged, split. Each change is a plan with undo."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from perdure.knowledge.extraction.entity_names import Ambiguous, Names, Resolved, entity_id, normal_name
from perdure.knowledge.operations.alias_index import names_of
from perdure.knowledge.operations.conflict_detection import merge_conflicts
from perdure.knowledge.records.entity_results import AliasChange, EntityMerge, EntitySplit, EntityView
from perdure.knowledge.records.facts import Entity
from perdure.knowledge.rules.entities import (
    alias_change,
    alias_removal,
    document_change,
    merge_changes,
    move_fact,
    new_entity_changes,
    sources_using,
    split_mentions,
)
from perdure.operations.documents import find_documents, pages, write_documents
from perdure.operations.ports import Context
from perdure.operations.writing import retried
from perdure.records.document import Document, Shelf
from perdure.records.errors import InvalidInput, NotFound
from perdure.records.instant import from_instant
from perdure.records.memory import State, Status
from perdure.records.plan import Change
from perdure.rules.learning_hint import untaught


def entities(ctx: Context, namespace: str, limit: int) -> list[EntityView]:
    """Return the entities of a namespace by id, without those that were merged into others and without facts."""
    names = names_of(ctx, namespace)
    chosen = sorted(i for i, e in names.entities.items() if e.merged_into is None)[:limit]
    families = {i: [i] for i in chosen}
    for identity, entity in names.entities.items():
        if entity.merged_into is not None and (stands := names.standing(identity)) in families:
            families[stands].append(identity)
    return [_view(ctx, namespace, names, family) for family in families.values()]


def entity(ctx: Context, name: str, namespace: str) -> EntityView:
    """Return one entity with the ids of its facts, by id or name.

    Raises:
        NotFound: Nobody is called that.
        InvalidInput: Several are.
    """
    names = names_of(ctx, namespace)
    identity = find_entity(ctx, names, name, namespace)
    family = [identity, *(i for i in sorted(names.entities) if i != identity and names.standing(i) == identity)]
    facts = [d.id for d in _facts_of(ctx, namespace, family)]
    return _view(ctx, namespace, names, family, facts)


def find_entity(ctx: Context, names: Names, name: str, namespace: str) -> str:
    """Return whom an id or a name means; a merged entity is the one that stands for it.

    Raises:
        NotFound: Nobody.
        InvalidInput: Several: the answer names them, and nothing is guessed.
    """
    if name in names.entities:
        return names.standing(name)
    found = names.resolve(name, ctx.policy.knowledge.fuzzy)
    if isinstance(found, Resolved):
        return found.id
    if isinstance(found, Ambiguous):
        listed = ", ".join(f"{i} ({score:.2f})" for i, score in found.candidates)
        raise InvalidInput(f"{_quote(name)} is ambiguous: which of {listed}?", remedy="Use one of these ids.")
    raise NotFound(
        f"There is no entity {_quote(name)} in {namespace}.",
        remedy="Use an id or a name that `entity list` shows."
        if names.entities
        else untaught(ctx.policy.knowledge) or "Nobody is known there yet; another namespace may have them.",
    )


def alias(ctx: Context, target: str, name: str, namespace: str, *, remove: bool) -> AliasChange:
    """Give an entity another name, or take one away.

    Raises:
        NotFound: There is no such entity, or it has no such name to take away.
        InvalidInput: The name is none, is what another entity is called by itself, or is the entity's only or own name.
    """
    form = _form(name)

    def attempt() -> AliasChange:
        names = names_of(ctx, namespace)
        identity = find_entity(ctx, names, target, namespace)
        if remove:
            change = _alias_removal(ctx, names, identity, form, namespace)
            done = _apply(ctx, namespace, [change], f"alias: {change.because}")
            return AliasChange(identity, name, removed=True, operations=done)
        others = tuple(sorted({names.standing(i) for i in names.known.get(form, ())} - {identity}))
        _check_own(names, form, identity)
        if form in names.entity(identity).aliases:
            return AliasChange(identity, name, shared_with=others)
        because = f"{identity} is also called {_quote(name)}"
        done = _apply(ctx, namespace, [alias_change(identity, name, because)], f"alias: {because}")
        return AliasChange(identity, name, shared_with=others, operations=done)

    return retried(attempt)


def _check_own(names: Names, form: str, identity: str) -> None:
    """Refuse a circle: what somebody is called by itself is nobody else's other name."""
    for other in map(names.standing, names.known.get(form, ())):
        if other != identity and form == normal_name(names.entity(other).name):
            raise InvalidInput(
                f"That is what {other} is called itself.",
                remedy=f"If they are the same, merge {other} into {identity}.",
            )


def _alias_removal(ctx: Context, names: Names, identity: str, form: str, namespace: str) -> Change:
    known = names.entity(identity)
    if form not in known.aliases:
        raise NotFound(f"{identity} has no such name.", remedy=f"`entity show {identity}` lists them.")
    if len(known.aliases) == 1 or form == normal_name(known.name):
        raise InvalidInput(
            f"That is what {identity} is called itself.", remedy="Split it off, or merge the entity into another."
        )
    (document,) = (d for d in _aliases(ctx, namespace, identity) if d.name == form)
    return alias_removal(document, f"{_quote(known.aliases[form])} is no name of {identity} any longer")


def merge(ctx: Context, into: str, other: str, namespace: str) -> EntityMerge:
    """Make one entity part of another: its names, mentions and facts move.

    The facts get the new subject. Where two that are believed contradict each other, both stay and a person is asked.
    What another process brought meanwhile is moved by merging them once more.

    Raises:
        NotFound: One of them is not there.
        InvalidInput: They are one already, or a name is ambiguous.
    """

    def attempt() -> EntityMerge:
        names = names_of(ctx, namespace)
        stays, goes = _merge_sides(ctx, names, into, other, namespace)
        aliases = _aliases(ctx, namespace, goes)
        mentions = _mentions(ctx, namespace, goes)
        facts = list(_facts_of(ctx, namespace, [goes]))
        mentioned = find_documents(ctx, namespace, Shelf.MENTION, [m.id for m in mentions])
        there = [d for d in mentioned if d.name in (stays, goes)]
        (document,) = (d for d in ctx.store.documents.find(namespace, Shelf.ENTITY, [goes]))
        changes = merge_changes(names.entity(stays), document, aliases, there, facts)
        changes += merge_conflicts(ctx, namespace, stays, [d.id for d in facts], ctx.clock())
        note = f"merge_entities: {goes} into {stays}, {len(mentions)} memories, {len(facts)} facts"
        done = _apply(ctx, namespace, changes, note, "merge_entities")
        written = tuple(str(d.data["name"]) for d in aliases)
        return EntityMerge(stays, goes, written, len(mentions), tuple(d.id for d in facts), done)

    return retried(attempt)


def _merge_sides(ctx: Context, names: Names, into: str, other: str, namespace: str) -> tuple[str, str]:
    """Return the entity that stays and the one that goes."""
    stays = find_entity(ctx, names, into, namespace)
    goes = other if other in names.entities else find_entity(ctx, names, other, namespace)
    if goes == stays:
        raise InvalidInput(
            f"Both are {stays}.", remedy="Merge two different entities; `undo` takes an earlier merge back."
        )
    if names.standing(goes) not in (goes, stays):
        goes = names.standing(goes)
    return stays, goes


def split(ctx: Context, source: str, name: str, namespace: str) -> EntitySplit:
    """Make a name of an entity, with the mentions that used it, an entity of its own.

    A fact goes with it if every memory that it comes from used this name and no other.

    Raises:
        NotFound: There is no such entity, or it has no such name.
        InvalidInput: It is its only name.
    """
    form = _form(name)

    def attempt() -> EntitySplit:
        names = names_of(ctx, namespace)
        identity = find_entity(ctx, names, source, namespace)
        known = names.entity(identity)
        if form not in known.aliases:
            raise NotFound(f"{identity} has no such name.", remedy=f"`entity show {identity}` lists them.")
        if len(known.aliases) == 1:
            raise InvalidInput(f"{identity} has no other name.", remedy="Give it one first.")
        written = known.aliases[form]
        new = Entity(entity_id(written, names.entities), written, known.type)
        because = f"{_quote(written)} split off {identity} as {new.id}"
        (document,) = (d for d in _aliases(ctx, namespace, identity) if d.name == form)
        changes = [
            alias_removal(document, because),
            *new_entity_changes(new, because),
            *_rename_changes(ctx, namespace, known, form, because),
        ]
        parts, used = split_mentions(_mentions(ctx, namespace, identity), form, new.id, because)
        facts, left = [], []
        for fact in _facts_of(ctx, namespace, [identity]):
            some, only = sources_using(fact, used)
            if only:
                facts.append(fact.id)
                parts.extend(move_fact(fact, new.id, because))
            elif some:
                left.append(fact.id)
        done = _apply(ctx, namespace, [*changes, *parts], f"split_entity: {because}", "split_entity")
        return EntitySplit(new.id, identity, written, len(used), tuple(facts), tuple(left), done)

    return retried(attempt)


def _rename_changes(ctx: Context, namespace: str, known: Entity, form: str, because: str) -> list[Change]:
    """Return the change that calls an entity by another of its names, if it loses its own."""
    if form != normal_name(known.name):
        return []
    (document,) = ctx.store.documents.find(namespace, Shelf.ENTITY, [known.id])
    after = next(written for f, written in sorted(known.aliases.items()) if f != form)
    return [document_change(Shelf.ENTITY, (known.id, ""), document.data, {**document.data, "name": after}, because)]


# --- reading


def _aliases(ctx: Context, namespace: str, identity: str) -> list[Document]:
    return ctx.store.documents.find(namespace, Shelf.ALIAS, [identity])


def _mentions(ctx: Context, namespace: str, identity: str) -> list[Document]:
    return ctx.store.documents.find_named(namespace, Shelf.MENTION, [identity])


def _facts_of(ctx: Context, namespace: str, ids: Iterable[str]) -> Iterator[Document]:
    """Return what all facts about some entities say, also those that are not believed any longer."""
    about = ctx.store.documents.find_named(namespace, Shelf.ABOUT, list(ids))
    return find_documents(ctx, namespace, Shelf.FACT, sorted({d.id for d in about}))


def _view(ctx: Context, namespace: str, names: Names, family: Sequence[str], facts: Sequence[str] = ()) -> EntityView:
    """Return an entity as it is told, with what was found under entities merged into it."""
    known = names.entity(family[0])
    found = ctx.store.documents.find_named(namespace, Shelf.MENTION, family)
    states: list[State] = [
        state
        for page in pages(sorted({d.id for d in found}))
        for state, _ in ctx.store.states(namespace, page).values()
    ]
    seen = [state.created_ms for state in states]
    shared = {f: tuple(i for i in names.known[f] if names.standing(i) != known.id) for f in known.aliases}
    return EntityView(
        id=known.id,
        name=known.name,
        type=known.type,
        aliases=tuple(written for _, written in sorted(known.aliases.items())),
        memories=sum(state.status is Status.ACTIVE for state in states),
        facts=tuple(facts),
        first_seen=from_instant(min(seen)) if seen else None,
        last_seen=from_instant(max(seen)) if seen else None,
        merged=tuple(family[1:]),
        shared={form: ids for form, ids in shared.items() if ids},
    )


# --- writing


def _apply(
    ctx: Context, namespace: str, changes: Sequence[Change], note: str, operation: str = "alias"
) -> tuple[str, ...]:
    return write_documents(ctx, namespace, operation, changes, note)


def _form(name: str) -> str:
    form = normal_name(name)
    if not form:
        raise InvalidInput(
            f"{_quote(name)} is no name.", remedy="A name has letters or digits, at most 200, and is no pronoun."
        )
    return form


def _quote(name: str) -> str:
    """Return a name as it is quoted in a sentence."""
    return repr(name if len(name) <= 60 else f"{name[:57]}...")  # noqa: PLR2004  # one line

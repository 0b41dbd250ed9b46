"""Entities as a person sees and edits them: listed, shown, named, merged, split. Each change is a plan with undo."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from perdure.knowledge.extraction.entity_names import AmbiguousName, Names, ResolvedName, entity_id, normal_name
from perdure.knowledge.operations.alias_index import names_of
from perdure.knowledge.operations.conflicts_beside import merge_conflicts, split_conflicts
from perdure.knowledge.records.facts import Entity
from perdure.knowledge.records.results import AliasChange, EntityMerge, EntitySplit, EntityView
from perdure.knowledge.rules import entities as entity_rules
from perdure.operations.documents import find_documents, find_records, find_states, write_documents
from perdure.operations.ports import Context
from perdure.operations.writing import retry
from perdure.records.errors import InvalidInput, NotFound
from perdure.records.instant import from_instant
from perdure.records.memory import Document, Kind, Shelf, State, Status
from perdure.records.plan import Change
from perdure.records.recall import Filters
from perdure.rules.document_edits import DocumentEdits
from perdure.rules.learning_hint import no_learning_hint


def entities(ctx: Context, namespace: str, limit: int, seen: Filters) -> list[EntityView]:
    """Return the entities of a namespace by id, without those that were merged into others and without facts.

    Those that only memories of another session than that of ``seen`` name are left out.
    """
    names = names_of(ctx, namespace)
    chosen = sorted(i for i, e in names.entities.items() if e.merged_into is None)
    families = {i: [i] for i in chosen}
    for identity, entity in names.entities.items():
        if entity.merged_into is not None and (stands := names.current_entity(identity)) in families:
            families[stands].append(identity)
    views = (_view(ctx, namespace, names, family, seen) for family in families.values())
    return list(islice((view for view in views if view is not None), limit))


def entity(ctx: Context, name: str, namespace: str, seen: Filters) -> EntityView:
    """Return one entity with the ids of its facts, by id or name; without what only another session may see."""
    names = names_of(ctx, namespace)
    identity = find_entity(ctx, names, name, namespace)
    family = [identity, *names.merged_into((identity,))]
    facts = [d.id for d in _facts_of(ctx, namespace, family)]
    if (view := _view(ctx, namespace, names, family, seen, facts)) is None:
        raise _not_found(ctx, names, name, namespace)
    return view


def find_entity(ctx: Context, names: Names, name: str, namespace: str) -> str:
    """Return whom an id or a name means; a merged entity is the one that stands for it."""
    if name in names.entities:
        return names.current_entity(name)
    found = names.resolve(name, ctx.policy.knowledge.fuzzy)
    if isinstance(found, ResolvedName):
        return found.id
    if isinstance(found, AmbiguousName):
        listed = ", ".join(f"{i} ({score:.2f})" for i, score in found.candidates)
        raise InvalidInput(f"{_quote(name)} is ambiguous: which of {listed}?", remedy="Use one of these ids.")
    raise _not_found(ctx, names, name, namespace)


def _not_found(ctx: Context, names: Names, name: str, namespace: str) -> NotFound:
    has_facts = any(kind == Kind.FACT for _, kind, *_ in ctx.store.tally(None))  # somebody hands them over
    hint = "" if has_facts else no_learning_hint(ctx.policy.knowledge)
    nobody = hint or "Nobody is known there yet; another namespace may have them."
    remedy = "Use an id or a name that `entity list` shows." if names.entities else nobody
    return NotFound(f"There is no entity {_quote(name)} in {namespace}.", remedy=remedy)


@dataclass(slots=True)
class _Editor:
    ctx: Context
    namespace: str
    names: Names = field(init=False)
    edits: DocumentEdits = field(default_factory=DocumentEdits)

    def __post_init__(self) -> None:
        self.names = names_of(self.ctx, self.namespace)

    def find(self, name: str) -> str:
        """Return whom an id or a name means."""
        return find_entity(self.ctx, self.names, name, self.namespace)

    def documents_naming(self, shelf: Shelf, identity: str) -> list[Document]:
        """Return the documents of a shelf that name an entity."""
        return self.ctx.store.documents.find_named(self.namespace, shelf, [identity])

    def of(self, shelf: Shelf, identity: str) -> list[Document]:
        """Return the documents of a shelf about an entity."""
        return self.ctx.store.documents.find(self.namespace, shelf, [identity])

    def remove_alias(self, identity: str, form: str, because: str) -> None:
        """Take a name away."""
        self.edits.read(self.of(Shelf.ALIAS, identity))
        self.edits.put(Shelf.ALIAS, identity, form, None, because)

    def aliases(self, identity: str, form: str) -> dict[str, str]:
        """Return normal form -> name of an entity that has a name of that form."""
        aliases = dict(self.names.entity(identity).aliases)
        if form not in aliases:
            raise NotFound(f"{identity} has no such name.", remedy=f"`entity show {identity}` lists them.")
        return aliases

    def write(self, note: str, operation: str, more: Sequence[Change] = ()) -> tuple[str, ...]:
        """Write what was changed, and more changes, and return the operation's id; empty where there is none."""
        changes = [*self.edits.changes(), *more]
        return write_documents(self.ctx, self.namespace, operation, changes, f"{operation}: {note}")


def alias(ctx: Context, target: str, name: str, namespace: str, *, remove: bool) -> AliasChange:
    """Give an entity another name, or take one away."""
    form = _form(name)
    change = _remove_alias if remove else _add_alias
    return retry(lambda: change(_Editor(ctx, namespace), target, name, form))


def _remove_alias(editor: _Editor, target: str, name: str, form: str) -> AliasChange:
    identity = editor.find(target)
    aliases = editor.aliases(identity, form)
    if len(aliases) == 1 or form == normal_name(editor.names.entity(identity).name):
        raise InvalidInput(
            f"That is what {identity} is called itself.", remedy="Split it off, or merge the entity into another."
        )
    because = f"{_quote(aliases[form])} is no name of {identity} any longer"
    editor.remove_alias(identity, form, because)
    return AliasChange(identity, name, removed=True, operations=editor.write(because, "alias"))


def _add_alias(editor: _Editor, target: str, name: str, form: str) -> AliasChange:
    names, identity = editor.names, editor.find(target)
    others = tuple(sorted({names.current_entity(i) for i in names.known.get(form, ())} - {identity}))
    for other in others:  # what somebody is called by itself is nobody else's other name
        if form == normal_name(names.entity(other).name):
            raise InvalidInput(
                f"That is what {other} is called itself.",
                remedy=f"If they are the same, merge {other} into {identity}.",
            )
    if form in names.entity(identity).aliases:
        return AliasChange(identity, name, shared_with=others)
    because = f"{identity} is also called {_quote(name)}"
    editor.edits.absorb([entity_rules.alias_change(identity, name, because)])
    return AliasChange(identity, name, shared_with=others, operations=editor.write(because, "alias"))


def merge(ctx: Context, into: str, other: str, namespace: str) -> EntityMerge:
    """Make one entity part of another: its names, mentions and facts move.

    The facts get the new subject. Where two that are believed contradict each other, both stay and a person is asked.
    What another process brought meanwhile is moved by merging them once more.
    """
    return retry(lambda: _merge(_Editor(ctx, namespace), into, other))


def _merge(editor: _Editor, into: str, other: str) -> EntityMerge:
    ctx, place = editor.ctx, editor.namespace
    stays, goes = _merge_sides(editor, into, other)
    aliases, mentions = editor.of(Shelf.ALIAS, goes), editor.documents_naming(Shelf.MENTION, goes)
    facts = list(_facts_of(ctx, place, [goes]))
    both = find_documents(ctx, place, Shelf.MENTION, [m.id for m in mentions])
    editor.edits.read([*aliases, *(d for d in both if d.name in (stays, goes))])
    (document,) = editor.of(Shelf.ENTITY, goes)
    entity_rules.merge(editor.edits, editor.names.entity(stays), document, facts)
    conflicts = merge_conflicts(ctx, place, stays, [d.id for d in facts], ctx.clock())
    note = f"{goes} into {stays}, {len(mentions)} memories, {len(facts)} facts"
    operation = editor.write(note, "merge_entities", conflicts)
    written = tuple(str(d.data["name"]) for d in aliases)
    return EntityMerge(stays, goes, written, len(mentions), tuple(d.id for d in facts), operation)


def _merge_sides(editor: _Editor, into: str, other: str) -> tuple[str, str]:
    names, stays = editor.names, editor.find(into)
    goes = other if other in names.entities else editor.find(other)
    if goes == stays:
        raise InvalidInput(
            f"Both are {stays}.", remedy="Merge two different entities; `undo` takes an earlier merge back."
        )
    return stays, goes if names.current_entity(goes) in (goes, stays) else names.current_entity(goes)


def split(ctx: Context, source: str, name: str, namespace: str) -> EntitySplit:
    """Make a name of an entity, with the mentions that used it, an entity of its own.

    A fact goes with it if every memory that it comes from used this name and no other.
    """
    form = _form(name)
    return retry(lambda: _split(_Editor(ctx, namespace), source, name, form))


def _split(editor: _Editor, source: str, name: str, form: str) -> EntitySplit:
    edits, identity = editor.edits, editor.find(source)
    known, mentions = editor.names.entity(identity), editor.documents_naming(Shelf.MENTION, identity)
    if form not in known.aliases and entity_rules.is_used(mentions, form):  # it was taken for another name
        aliases = {**known.aliases, form: " ".join(name.split())}
    else:
        aliases = editor.aliases(identity, form)
    if len(aliases) == 1:
        raise InvalidInput(f"{identity} has no other name.", remedy="Give it one first.")
    written = aliases[form]
    new = Entity(entity_id(written, editor.names.entities), written, known.type)
    because = f"{_quote(written)} split off {identity} as {new.id}"
    if form in known.aliases:
        editor.remove_alias(identity, form, because)
    edits.absorb(entity_rules.new_entity_changes(new, because))
    if form == normal_name(known.name):  # it is called by another of its names
        (document,) = editor.of(Shelf.ENTITY, identity)
        edits.read([document])
        other = next(alias for f, alias in sorted(aliases.items()) if f != form)
        edits.put(Shelf.ENTITY, identity, "", {**document.data, "name": other}, because)
    used = entity_rules.split_mentions(edits, mentions, form, new.id, because)
    moved, remaining = [], []
    for fact in _facts_of(editor.ctx, editor.namespace, [identity]):
        some, only = entity_rules.sources_using(fact, used)
        if only:
            moved.append(fact.id)
            entity_rules.move_fact(edits, fact, new.id, because)
        elif some:
            remaining.append(fact.id)
    conflicts = split_conflicts(editor.ctx, editor.namespace, moved, editor.ctx.clock())
    operation = editor.write(because, "split_entity", conflicts)
    return EntitySplit(new.id, identity, written, len(used), tuple(moved), tuple(remaining), operation)


def _facts_of(ctx: Context, namespace: str, ids: Iterable[str]) -> Iterator[Document]:
    """Return what all facts about some entities say, also those that are not believed any longer."""
    about = ctx.store.documents.find_named(namespace, Shelf.ABOUT, list(ids))
    return find_documents(ctx, namespace, Shelf.FACT, sorted({d.id for d in about}))


def _view(
    ctx: Context, namespace: str, names: Names, family: Sequence[str], seen: Filters, facts: Sequence[str] = ()
) -> EntityView | None:
    """Return an entity as it is shown, with what was found under entities merged into it.

    None where all memories that name it, or are facts about it, are of another session than that of ``seen``.
    """
    known, documents = names.entity(family[0]), ctx.store.documents
    mentions = {d.id for d in documents.find_named(namespace, Shelf.MENTION, family)}
    about = {d.id for d in documents.find_named(namespace, Shelf.ABOUT, family)}
    stored = find_states(ctx, namespace, sorted(mentions | about))
    visible = _visible(ctx, namespace, stored, seen)
    if stored and not visible:
        return None
    states = [stored[i] for i in sorted(mentions & visible)]
    instants = [state.created_ms for state in states]
    shared = {f: tuple(i for i in names.known[f] if names.current_entity(i) != known.id) for f in known.aliases}
    return EntityView(
        id=known.id,
        name=known.name,
        type=known.type,
        aliases=tuple(written for _, written in sorted(known.aliases.items())),
        memories=sum(state.status is Status.ACTIVE for state in states),
        facts=tuple(i for i in facts if i in visible),
        first_seen=from_instant(min(instants)) if instants else None,
        last_seen=from_instant(max(instants)) if instants else None,
        merged=tuple(family[1:]),
        shared={form: ids for form, ids in shared.items() if ids},
    )


def _visible(ctx: Context, namespace: str, stored: Mapping[str, State], seen: Filters) -> set[str]:
    """Return those of some memories that who asks may see."""
    private = [i for i, state in stored.items() if not seen.sees(state.scope, None)]
    own = find_records(ctx, namespace, private) if seen.seen_inside is not None else ()
    return stored.keys() - set(private) | {r.id for r in own if seen.sees(r.state.scope, r.content.session)}


def _form(name: str) -> str:
    form = normal_name(name)
    if not form:
        raise InvalidInput(
            f"{_quote(name)} is no name.",
            remedy="A name has letters or digits, at most 200 characters, and is not a pronoun.",
        )
    return form


def _quote(name: str) -> str:
    return repr(name if len(name) <= 60 else f"{name[:57]}...")  # noqa: PLR2004  # one line

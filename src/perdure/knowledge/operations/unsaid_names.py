"""Names that nobody says any longer once memories are erased, and what is to become of the documents that hold them."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from perdure.knowledge.extraction.entity_names import Names, entity_id, name_words, normal_name, word_form
from perdure.knowledge.extraction.mentions import PLAIN, names_by_capital, without_addresses
from perdure.knowledge.operations.alias_index import names_of
from perdure.operations.documents import all_records, find_records, find_states
from perdure.operations.ports import Context
from perdure.operations.transfer import pages
from perdure.records.memory import ROLES, Content, Shelf
from perdure.records.plan import ERASED, Change, Target
from perdure.records.recall import Filters
from perdure.rules.document_edits import document_change
from perdure.rules.erasure import UnusedNames

_LINKING: Final = (Shelf.ABOUT, Shelf.MENTION, Shelf.PROFILE)
"""Shelves whose documents have a memory as their id and an entity as their name."""
_WITH_WORDS: Final = (Target.MEMORY, Target.DOCUMENT)  # rows that hold names
_NUMBERED: Final = re.compile(r"-\d+\Z")  # how an id ends that was taken already
_UNSPACED: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\U0010ffff]+")
"""A run of a script that puts no spaces between words."""
_INNER: Final = str.maketrans("", "", ".'\u2019")  # marks that a normal form leaves out inside of a word
_MOST_WORDS: Final = 12  # of a name that is looked for in texts
_ERASED: Final = normal_name(ERASED)
_BECAUSE: Final = "nobody says this name any longer"


@dataclass(slots=True)
class _Known:
    """Everything that entities were ever called, from documents and from what the journal still says of them."""

    called: dict[str, dict[str, set[str]]] = field(default_factory=dict)  # entity -> normal form -> as written
    linked: set[str] = field(default_factory=set)  # entities that erased memories were ever linked to
    undone: dict[str, Content] = field(default_factory=dict)  # memory that is in no table -> its words

    @classmethod
    def read(cls, ctx: Context, namespace: str, names: Names, erased: Collection[str]) -> _Known:
        """Read the names that are known now, and those in the journal: before a rename, a split or an undo."""
        known = cls()
        for identity, entity in names.entities.items():
            for written in (entity.name, *entity.aliases.values()):
                known.add(identity, written)
        for page in pages(ctx.store.transfer, (namespace, "journal"), None):
            for line in page:
                for side in (line["before"], line["after"]) if line["target"] in _WITH_WORDS else ():
                    if side is not None and (row := _parse_side(side)):
                        known.take(line["target"], line["id"], row, erased)
        for identity in find_states(ctx, namespace, [*known.undone]):
            del known.undone[identity]
        return known

    def add(self, identity: str, written: str, form: str | None = None) -> None:
        form = normal_name(written) if form is None else form
        if form and form not in ROLES and form != _ERASED:
            self.called.setdefault(identity, {}).setdefault(form, set()).add(written)

    def take(self, target: str, identity: str, row: Mapping[str, Any], erased: Collection[str]) -> None:
        """Take in what one side of a line says."""
        if target == Target.MEMORY and "text" in row and identity not in erased:
            self.undone[identity] = Content(str(row["text"]), speaker=row.get("speaker"))
        if target != Target.DOCUMENT:
            return
        data = row.get("data", {})
        match row.get("shelf"):
            case Shelf.ALIAS:
                self.add(identity, str(data.get("name", row["name"])), str(row["name"]))
            case Shelf.ENTITY:
                self.add(identity, str(data.get("name", "")))
            case shelf if shelf in _LINKING and identity in erased:
                self.linked.add(str(row["name"]))


def unsaid_names(
    ctx: Context, namespace: str, erased: Collection[str], going: Collection[str], called: Collection[str]
) -> UnusedNames:
    """Return the names that only erased memories said, with what has to change where an entity stays that had one.

    A name is said where it stands in a memory's text, as whole words, or is its speaker's. What an undo took out of the
    tables says nothing: where it has such a name, it goes as well.

    Args:
        ctx: The store and the policy.
        namespace: Where.
        erased: Memories that go.
        going: Entities that go with all their names.
        called: Names that were asked for.
    """
    names = names_of(ctx, namespace)
    known = _Known.read(ctx, namespace, names, erased)
    for name in called:
        known.add("", name)
    forms = {form for some in known.called.values() for form in some}
    gone = {form for i in ("", *going) for form in known.called.get(i, ())}
    gone |= {form for i in known.linked for form in known.called.get(i, ()) if _made_of(i, _ids_of([form]))}
    for record in find_records(ctx, namespace, sorted(erased)) if forms - gone else ():
        gone |= names_said(record.content, forms)
    for record in all_records(ctx, namespace, Filters(include_archived=True)):
        if not gone:
            return UnusedNames()
        content = record.content
        if record.id not in erased and near(f"{content.speaker} {content.text}", gone):
            gone -= names_said(content, gone)
    gone |= {form for form in forms - gone if _within(form, gone - PLAIN)}  # it holds a name that goes
    staying = [e for i, e in names.entities.items() if i not in going]
    gone -= {f for e in staying if e.merged_into is None and gone.issuperset(e.aliases) for f in [normal_name(e.name)]}
    if not gone:
        return UnusedNames()
    secret, plain_ids = _ids_of(gone), _ids_of(forms - gone)
    ids = {i for i in known.called if i not in ROLES and _made_of(i, secret) and not _made_of(i, plain_ids)}
    undone = {i for i, content in known.undone.items() if names_said(content, gone)}
    written = {w for some in known.called.values() for form in gone.intersection(some) for w in some[form]}
    plain = frozenset(name for name in {*gone, *ids, *going} if name in PLAIN or name in ROLES)
    changes = tuple(change for e in staying for change in _changes(ctx, namespace, names, e.id, gone))
    return UnusedNames(
        frozenset(gone), tuple(sorted({*written, *gone, *ids})), plain, frozenset(ids), frozenset(undone), changes
    )


def _changes(ctx: Context, namespace: str, names: Names, identity: str, gone: AbstractSet[str]) -> Iterator[Change]:
    """Yield the changes that take names away from an entity that stays; it goes by another of its names."""
    entity = names.entity(identity)
    if gone & entity.aliases.keys():
        for document in ctx.store.documents.find(namespace, Shelf.ALIAS, [identity]):
            if document.name in gone:
                yield document_change(Shelf.ALIAS, identity, document.name, document.data, None, _BECAUSE)
    other = next((written for form, written in sorted(entity.aliases.items()) if form not in gone), None)
    if normal_name(entity.name) in gone and other is not None:
        for document in ctx.store.documents.find(namespace, Shelf.ENTITY, [identity]):
            yield document_change(Shelf.ENTITY, identity, "", document.data, {**document.data, "name": other}, _BECAUSE)


def _made_of(identity: str, ids: Container[str]) -> bool:
    """Whether an id is one of some that names give, or one of them with a number."""
    return identity in ids or _NUMBERED.sub("", identity) in ids


def _ids_of(forms: Iterable[str]) -> frozenset[str]:
    return frozenset(entity_id(form, ()) for form in forms)


def near(text: str, forms: Collection[str]) -> Collection[str]:
    """Return the names that may stand in a text: most texts are passed over by this alone."""
    if not text.isascii():
        return forms
    folded = text.casefold().translate(_INNER)
    return [form for form in forms if form.partition(" ")[0] in folded]


def names_said(content: Content, forms: Container[str]) -> set[str]:
    """Return those of some names that a memory says: as whole words of its text, outside of addresses, or its speaker.

    A word of the language is a name only where it is written as one.
    """
    text, speaker = content.text, content.speaker or ""
    found = set[str]()
    if _within(text, forms):  # of most texts nothing more is asked
        found = _within(without_addresses(text), forms)
        found -= {form for form in found if form in PLAIN and not names_by_capital(text, {form})}
    return found if speaker.lower() in ROLES else found | _within(speaker, forms)


def _within(text: str, forms: Container[str]) -> set[str]:
    found = set[str]()
    words = [form for a, b in name_words(text) for form in word_form(text[a:b]).split()]
    for first, joined in enumerate(words):
        for after in (*words[first + 1 : first + _MOST_WORDS], ""):
            if joined in forms:
                found.add(joined)
            joined = f"{joined} {after}"  # noqa: PLW2901  # a word longer each time
    if not text.isascii():
        for run in _UNSPACED.findall(unicodedata.normalize("NFKC", text).casefold()):
            parts = (run[a:b] for a in range(len(run)) for b in range(a + 1, a + 1 + _MOST_WORDS))
            found |= {part for part in parts if part in forms}
    return found


def _parse_side(side: str) -> dict[str, Any]:
    """Return a side of a line; nothing where it cannot be read, as nothing will be left of such a line."""
    found = None
    with suppress(ValueError):
        found = json.loads(side)
    return found if isinstance(found, dict) else {}

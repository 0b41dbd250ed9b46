"""Names that nobody says any longer once memories are erased, and what is to become of the documents that hold them."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from perdure.knowledge.extraction.entity_names import Names, entity_id, name_words, normal_name, word_form
from perdure.knowledge.extraction.mentions import PLAIN, names_by_capital
from perdure.knowledge.operations.alias_index import names_of
from perdure.operations.documents import all_records, find_records
from perdure.operations.ports import Context
from perdure.operations.transfer import pages
from perdure.records.memory import ROLES, Shelf
from perdure.records.plan import ERASED, Change, Target
from perdure.records.recall import Filters
from perdure.rules.document_edits import document_change
from perdure.rules.erasure import Unsaid

_LINKING: Final = (Shelf.ABOUT, Shelf.MENTION, Shelf.PROFILE)
"""Shelves whose documents have a memory as their id and an entity as their name."""
_NUMBERED: Final = re.compile(r"-\d+\Z")  # how an id ends that was taken already
_UNSPACED: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\U0010ffff]")
"""A letter of a script that puts no spaces between words."""
_MOST_WORDS: Final = 12  # of a name that is looked for in texts
_BECAUSE: Final = "nobody says this name any longer"


@dataclass(slots=True)
class _Known:
    """Everything that entities were ever called, from documents and from what the journal still says of them."""

    called: dict[str, dict[str, set[str]]] = field(default_factory=dict)  # entity -> normal form -> as written
    linked: set[str] = field(default_factory=set)  # entities that erased memories were ever linked to
    undone: dict[str, tuple[str, str]] = field(default_factory=dict)  # memory that is in no table -> (text, speaker)

    @classmethod
    def read(cls, ctx: Context, namespace: str, names: Names, erased: Collection[str]) -> _Known:
        """Read the names that are known now, and those in the journal: before a rename, a split or an undo."""
        known = cls()
        for identity, entity in names.entities.items():
            for written in (entity.name, *entity.aliases.values()):
                known.add(identity, written)
        for page in pages(ctx.store.transfer, (namespace, "journal"), None):
            for line in page:
                for side in (line["before"], line["after"]):
                    if side is not None and (row := _parsed(side)):
                        known.take(line["target"], line["id"], row, erased)
        for page in _paged(known.undone):
            for identity in ctx.store.states(namespace, page):
                del known.undone[identity]
        return known

    def add(self, identity: str, written: str, form: str | None = None) -> None:
        form = normal_name(written) if form is None else form
        if form and form not in ROLES and written != ERASED:
            self.called.setdefault(identity, {}).setdefault(form, set()).add(written)

    def take(self, target: str, identity: str, row: Mapping[str, Any], erased: Collection[str]) -> None:
        """Take in what one side of a line says."""
        if target == Target.MEMORY and "text" in row and identity not in erased:
            self.undone[identity] = (str(row["text"]), str(row.get("speaker") or ""))
        if target != Target.DOCUMENT:
            return
        data = row.get("data", {})
        match row.get("shelf"):
            case Shelf.ALIAS:
                self.add(identity, str(data.get("name", row["name"])), str(row["name"]))
            case Shelf.ENTITY:
                self.add(identity, str(data.get("name", identity)))
            case shelf if shelf in _LINKING and identity in erased:
                self.linked.add(str(row["name"]))


def unsaid_names(ctx: Context, namespace: str, erased: Collection[str], going: Collection[str]) -> Unsaid:
    """Return the names that only erased memories said, with what has to change where an entity stays that had one.

    A name is said where it stands in a memory's text, as whole words, or is its speaker's. What an undo took out of the
    tables says nothing: where it has such a name, it goes as well.

    Args:
        ctx: The store and the policy.
        namespace: Where.
        erased: Memories that go.
        going: Entities that go with all their names.
    """
    names = names_of(ctx, namespace)
    known = _Known.read(ctx, namespace, names, erased)
    forms = {form for called in known.called.values() for form in called}
    gone = {form for i in going for form in known.called.get(i, ())}
    gone |= {form for i in known.linked for form in known.called.get(i, ()) if _made_of(i, {form})}
    for record in find_records(ctx, namespace, sorted(erased)) if forms - gone else ():
        gone |= names_said(record.content.text, record.content.speaker, forms)
    for record in all_records(ctx, namespace, Filters(include_archived=True)) if gone else ():
        if record.id not in erased:
            gone -= names_said(record.content.text, record.content.speaker, gone)
    gone |= {form for form in forms - gone if names_said(form, None, gone)}  # it holds a name that goes
    staying = [e for i, e in names.entities.items() if i not in going]
    gone -= {f for e in staying if e.merged_into is None and gone.issuperset(e.aliases) for f in [normal_name(e.name)]}
    if not gone:
        return Unsaid()
    kept = forms - gone
    ids = {i for i in known.called if i not in ROLES and _made_of(i, gone) and not _made_of(i, kept)}
    undone = {i for i, (text, speaker) in known.undone.items() if names_said(text, speaker, gone)}
    written = {w for called in known.called.values() for form, some in called.items() if form in gone for w in some}
    plain = frozenset(form for form in gone if form in PLAIN)
    changes = tuple(change for e in staying for change in _changes(ctx, namespace, names, e.id, gone))
    return Unsaid(frozenset(gone), tuple(sorted({*written, *gone, *ids})), plain, frozenset(ids), frozenset(undone), changes)


def _changes(ctx: Context, namespace: str, names: Names, identity: str, gone: Collection[str]) -> Iterator[Change]:
    """Yield the changes that take names away from an entity that stays; it goes by another of its names."""
    entity = names.entity(identity)
    for document in ctx.store.documents.find(namespace, Shelf.ALIAS, [identity]) if gone & entity.aliases.keys() else ():
        if document.name in gone:
            yield document_change(Shelf.ALIAS, identity, document.name, document.data, None, _BECAUSE)
    other = next((written for form, written in sorted(entity.aliases.items()) if form not in gone), None)
    if normal_name(entity.name) in gone and other is not None:
        for document in ctx.store.documents.find(namespace, Shelf.ENTITY, [identity]):
            yield document_change(
                Shelf.ENTITY, identity, "", document.data, {**document.data, "name": other}, _BECAUSE
            )


def _made_of(identity: str, forms: Collection[str]) -> bool:
    """Whether an id was made of one of some names."""
    made = {entity_id(form, ()) for form in forms}
    return identity in made or _NUMBERED.sub("", identity) in made


def names_said(text: str, speaker: str | None, forms: Collection[str]) -> set[str]:
    """Return those of some names that a memory says: as whole words, or as its speaker."""
    found = set[str]()
    words = [form for a, b in name_words(text) for form in word_form(text[a:b]).split()]
    for first in range(len(words)):
        joined = (" ".join(words[first : first + many]) for many in range(1, _MOST_WORDS + 1))
        found |= {form for form in joined if form in forms}
    plain = {form for form in found if form in PLAIN}
    found -= {form for form in plain if not names_by_capital(text, {form})}
    found |= {form for form in [normal_name(speaker or "")] if form in forms}
    if _UNSPACED.search(text):
        folded = unicodedata.normalize("NFKC", text).casefold()
        found |= {form for form in forms if _UNSPACED.search(form) and form in folded}
    return found


def _parsed(side: str) -> dict[str, Any]:
    found = json.loads(side)
    return found if isinstance(found, dict) else {}


def _paged(ids: Iterable[str]) -> Iterator[list[str]]:
    listed = list(ids)
    yield from (listed[start : start + 1000] for start in range(0, len(listed), 1000))

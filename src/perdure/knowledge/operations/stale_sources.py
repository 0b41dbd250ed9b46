"""Which messages and notes say what is not believed any longer, and what stands in its place."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from perdure.knowledge.extraction.entity_names import names_in
from perdure.knowledge.extraction.references import USER
from perdure.knowledge.records.facts import Fact
from perdure.operations.documents import derived_from, find_documents
from perdure.operations.ports import Context
from perdure.records.memory import SUPERSEDES, MemoryItem, Scope, Shelf
from perdure.rules.lifecycle.digest_lines import LONGEST_LINE

_MOST_SAID: Final = 1000  # facts, those learned last, whose words notes are held against
_WORD: Final = re.compile(r"\w+")


def outdated_messages(
    ctx: Context, namespace: str, messages: Sequence[str], shown: Collection[str] = ()
) -> dict[str, str]:
    """Return message -> what stands in the place of what it said, where none of its facts is believed any longer.

    That is the newer fact; the message's own, no longer believed, where nothing took its place. Of a message that says
    more than one thing one is enough, where the fact in its place is among ``shown``: that is what is asked about.
    """
    said = derived_from(ctx, namespace, messages)
    facts = sorted({fact for some in said.values() for fact in some})
    told = ctx.store.documents.find(namespace, Shelf.FACT, facts) if facts else []
    retired = {d.id for d in told if d.data.get("retired_ms") is not None}
    gone = {m: max(some) for m, some in said.items() if some and retired.issuperset(some)}
    newer = {m: _successor(ctx, namespace, fact) for m, fact in gone.items()}
    for message in said.keys() - newer.keys() if shown else ():
        standing = (_successor(ctx, namespace, fact) for fact in sorted(retired.intersection(said[message])))
        if found := next((fact for fact in standing if fact in shown), None):
            newer[message] = found
    return newer


def hidden_beside(ctx: Context, namespace: str, notes: Sequence[MemoryItem]) -> set[str]:
    """Return the notes of which a fact is not believed any longer, and the facts that the other notes say.

    So what still holds is shown once: in the words of its note, or where these say more that is over, as a fact. A note
    that is too long to be shown whole hides none of its facts.
    """
    said = derived_from(ctx, namespace, [note.id for note in notes])
    told = find_documents(ctx, namespace, Shelf.FACT, sorted({fact for some in said.values() for fact in some}))
    now = ctx.clock()
    facts = [Fact.from_data(d.id, d.data) for d in told]
    retired = {f.id for f in facts if f.retired is not None or f.has_ended(now)}
    over = {note for note, facts in said.items() if not retired.isdisjoint(facts)}
    whole = [n for n in notes if n.id not in over and len(n.content) <= LONGEST_LINE]
    return over | {fact for note in whole for fact in said.get(note.id, ())}


def outdated_notes(ctx: Context, namespace: str, notes: Sequence[MemoryItem]) -> dict[str, str]:
    """Return note -> what stands in the place of what it says, where a fact of its words is not believed any longer.

    A note that holds the words of a fact that is believed is not among them. The facts of a session are left to it.
    """
    forms = sorted({form for note in notes for form in names_in(note.content)})
    documents = ctx.store.documents
    known = documents.find_named(namespace, Shelf.ALIAS, forms) if forms else []
    about = documents.find_named(namespace, Shelf.ABOUT, sorted({USER, *(d.id for d in known)})) if notes else []
    facts = documents.find(namespace, Shelf.FACT, sorted({d.id for d in about})[-_MOST_SAID:]) if about else []
    said = [(_words(s["quote"]), d.id, d.data.get("retired_ms") is None) for d in facts for s in d.data["sources"]]
    found: dict[str, str] = {}
    for note in notes:
        words = _words(note.content)
        of = [(fact, holds) for quote, fact, holds in said if quote in words]
        if of and not any(holds for _, holds in of):
            found[note.id] = _successor(ctx, namespace, max(fact for fact, _ in of))
    states = ctx.store.states(namespace, sorted(set(found.values()))) if found else {}
    shared = {i for i, (state, _) in states.items() if state.scope is Scope.LONG_TERM}
    return {note: fact for note, fact in found.items() if fact in shared}


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _successor(ctx: Context, namespace: str, fact: str) -> str:
    """Return the fact that is believed in the place of one that was; itself where there is none."""
    seen = {fact}
    while newer := [o for o, kind, _ in ctx.store.links_to(namespace, fact) if kind == SUPERSEDES and o not in seen]:
        fact = max(newer)
        seen.add(fact)
    return fact

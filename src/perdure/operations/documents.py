"""Reading documents and records page by page, and writing documents as an operation of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final, TypeVar

from perdure.operations.ports import Context
from perdure.operations.store_protocol import Documents
from perdure.records.memory import DERIVED, SUPERSEDES, Document, Kind, Record, Shelf, State, Trust
from perdure.records.plan import Change
from perdure.records.recall import Filters

PAGE: Final = 2000  # rows that one statement returns at most
T = TypeVar("T")


def pages(items: Iterable[T]) -> Iterator[list[T]]:
    """Yield items in parts of at most ``PAGE``."""
    rest = iter(items)
    while page := list(islice(rest, PAGE)):
        yield page


def all_documents(ctx: Context, namespace: str, shelf: Shelf, *, strict: bool = False) -> Iterator[Document]:
    """Yield all documents of a shelf; where ``strict`` is given, one that is damaged raises StoreDamaged."""
    after = ("", "")
    while page := _reader(ctx, strict=strict).page(namespace, shelf, after, PAGE):
        after = page[-1].id, page[-1].name
        yield from page


def ids_through(fetch: Callable[[str], list[str]]) -> Iterator[str]:
    """Yield the ids that a store returns page by page: ``fetch`` gets the last id of the page before."""
    after = ""
    while page := fetch(after):
        after = page[-1]
        yield from page


def all_ids(ctx: Context, namespace: str) -> Iterator[str]:
    """Yield the ids of all memories, in order."""
    return ids_through(lambda after: ctx.store.all_ids(namespace, after, PAGE))


def all_records(ctx: Context, namespace: str, filters: Filters) -> Iterator[Record]:
    """Yield all memories that pass the filters, newest first."""
    before = None
    while page := ctx.store.list_records(namespace, filters, PAGE, before):
        before = page[-1].state.created_ms, page[-1].id
        yield from page


def _reader(ctx: Context, *, strict: bool) -> Documents:
    return ctx.store.documents.strict if strict else ctx.store.documents


def find_documents(
    ctx: Context, namespace: str, shelf: Shelf, ids: Iterable[str], *, strict: bool = False
) -> Iterator[Document]:
    """Yield the documents of a shelf about some memories, sessions, tasks or entities; ``strict`` as above."""
    for page in pages(ids):
        yield from _reader(ctx, strict=strict).find(namespace, shelf, page)


def find_documents_named(
    ctx: Context, namespace: str, shelf: Shelf, names: Iterable[str], *, strict: bool = False
) -> Iterator[Document]:
    """Yield the documents of a shelf that have one of some names; ``strict`` as above."""
    for page in pages(names):
        yield from _reader(ctx, strict=strict).find_named(namespace, shelf, page)


def find_records(ctx: Context, namespace: str, ids: Iterable[str]) -> Iterator[Record]:
    """Yield memories by id; those that are not there are left out."""
    for page in pages(ids):
        yield from ctx.store.get(namespace, page)


def whose_words(ctx: Context, namespace: str, facts: Mapping[str, Mapping[str, Any]]) -> dict[str, Trust]:
    """Return fact -> whose word it is, of facts with what their documents say.

    A person's only where a message or an answer says it. Whoever handed a note over need not be a person: what it says
    was noted.
    """
    sources = {i: [s["memory"] for s in data["sources"]] for i, data in facts.items()}
    states = find_states(ctx, namespace, sorted({memory for some in sources.values() for memory in some}))
    messages = {i for i, state in states.items() if state.kind is Kind.EPISODE}
    answered = {i for i, data in facts.items() if not data["sources"] and data["learned"] == "correction"}
    said = answered | {i for i, some in sources.items() if not messages.isdisjoint(some)}
    words = {i: Trust(data["trust"]) for i, data in facts.items()}
    return {i: Trust.ASSISTANT if w is Trust.USER and i not in said else w for i, w in words.items()}


def derived_from(ctx: Context, namespace: str, memories: Iterable[str]) -> dict[str, list[str]]:
    """Return memory -> the facts that rest on it; those that nothing rests on have none."""
    found: dict[str, list[str]] = {}
    for page in pages(memories):
        page_ids = set(page)
        for fact, kind, memory in ctx.store.links_at(namespace, page):
            if kind == DERIVED and memory in page_ids:
                found.setdefault(memory, []).append(fact)
    return found


def find_states(ctx: Context, namespace: str, ids: Iterable[str]) -> dict[str, State]:
    """Return memory -> its stored state; those that are not there are left out."""
    found: dict[str, State] = {}
    for page in pages(ids):
        found |= {identity: state for identity, (state, _) in ctx.store.states(namespace, page).items()}
    return found


def successors(ctx: Context, namespace: str, memories: Iterable[str]) -> dict[str, str]:
    """Return memory -> the last of those that took its place one after the other; itself where there is none."""
    newer: dict[str, str] = {}
    given = list(dict.fromkeys(memories))
    seen, new = set(given), set(given)
    while new:
        links = [link for page in pages(sorted(new)) for link in ctx.store.links_at(namespace, page)]
        found = {other: i for i, kind, other in sorted(links) if kind == SUPERSEDES and other in new}
        newer |= found
        new = set(found.values()) - seen
        seen |= new
    return {i: _last(newer, i) for i in given}


def _last(newer: Mapping[str, str], identity: str) -> str:
    passed = {identity}
    while (following := newer.get(identity, identity)) not in passed:
        identity = following
        passed.add(identity)
    return identity


def write_documents(
    ctx: Context, namespace: str, operation: str, changes: Iterable[Change], note: str
) -> tuple[str, ...]:
    """Write changes of documents as one operation, and return its id; empty where there is nothing to write."""
    from perdure.operations.decisions import begin, write  # noqa: PLC0415  # only where it is used

    decisions = begin(ctx, namespace, ctx.clock())
    decisions.add(changes)
    written = write(ctx, decisions, operation, note)
    return () if written is None else (written,)

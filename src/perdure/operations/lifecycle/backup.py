"""A backup of a namespace's vault: an export of its most valuable memories alone, which `perdure import` reads."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from perdure.operations.erased_names import holds_name
from perdure.operations.store_protocol import Store
from perdure.operations.transfer import FORMAT, HEAD, TAIL, pages
from perdure.records.memory import Shelf, Tier
from perdure.records.plan import ErasedNames
from perdure.records.transfer import PARTS, Line
from perdure.rules.transfer import TallyCounter

_NAMED_AS = frozenset({Shelf.ABOUT, Shelf.MENTION, Shelf.PROFILE})
"""Shelves whose documents have the id of an entity as their name."""
_LEFT_OUT = frozenset({"recall", "operation", "journal"})


def vault(store: Store, place: str) -> Iterator[Line]:
    """Yield the vault of a namespace as plain data: head, rows, tail, as an export has them.

    Vectors, links between its memories, waiting accesses and documents go with them; the journal does not.
    """
    spaces = [
        {"model": s.model, "dimensions": s.dimensions, "version": s.version, "active": active}
        for s, active in store.transfer.spaces()
    ]
    yield {HEAD: FORMAT, "rows": 0, "spaces": spaces}
    vault_ids: set[str] = set()
    tail = []
    for part in PARTS:
        counter = TallyCounter()
        for row in _rows(store, place, part, vault_ids):
            counter.add(row)
            yield {"part": part, "namespace": place, **row}
        tally = counter.tally()
        tail.append({"namespace": place, "part": part, "rows": tally.rows, "digest": tally.digest})
    yield {TAIL: FORMAT, "parts": tail}


def without_memories(lines: Iterable[Line], ids: Collection[str], names: ErasedNames) -> Iterator[Line]:
    """Yield a backup without what it holds of some memories and entities, and without documents that hold a name.

    Documents about memories that stay have other ids of entities where these are made of a name. The tail counts what
    is left.
    """
    named = holds_name(names)
    counts: dict[tuple[str, str], TallyCounter] = {}
    for line in (_with_other_ids(line, names.ids) for line in lines):
        if TAIL in line:
            parts = [{**part, **_summary(counts.get((part["namespace"], part["part"])))} for part in line["parts"]]
            yield {**line, "parts": parts}
        elif HEAD in line:
            yield line
        elif {line.get("id"), line.get("other"), line.get("name")}.isdisjoint(ids) and not (
            line["part"] == "document" and named("document", line)
        ):
            row = {k: v for k, v in line.items() if k not in {"part", "namespace"}}
            counts.setdefault((line["namespace"], line["part"]), TallyCounter()).add(row)
            yield line


def _with_other_ids(line: Line, ids: Mapping[str, str]) -> Line:
    """Return a line of a backup with other ids for entities: they stand in a document's name, and a fact says whose."""
    entity, bar, rest = str(line.get("name")).partition("|")
    if line.get("part") != "document" or entity not in ids or not (bar or line["shelf"] in _NAMED_AS):
        return line
    data = {**line["data"], "subject": ids[entity]} if line["data"].get("subject") == entity else line["data"]
    return {**line, "name": f"{ids[entity]}{bar}{rest}", "data": data}


def _summary(counter: TallyCounter | None) -> dict[str, Any]:
    tally = (counter or TallyCounter()).tally()
    return {"rows": tally.rows, "digest": tally.digest}


def _rows(store: Store, place: str, part: str, vault_ids: set[str]) -> Iterator[Line]:
    """Yield the rows of a part that belong to the vault; ``vault_ids`` is filled while memories are read."""
    if part in _LEFT_OUT:
        return
    for page in pages(store.transfer, (place, part), None):
        for row in page:
            if part == "memory":
                if row["tier"] != Tier.VAULT:
                    continue
                vault_ids.add(row["id"])
            if part == "namespace" or (row["id"] in vault_ids and (part != "link" or row["other"] in vault_ids)):
                yield row

"""Hyperedges: memories that belong together, kept as one document for each member."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from perdure.records.consolidation_results import Edge
from perdure.records.errors import InvalidInput
from perdure.records.memory import Document, Shelf
from perdure.records.plan import Change
from perdure.rules.document_edits import DocumentEdits
from perdure.rules.validation.values import checked_id, checked_text

MOST_WEIGHT: Final = 10.0
MOST_MEMBERS: Final = 1000


def checked_members(members: Any) -> dict[str, str]:
    """Return member -> role of what a caller gave: a list of ids, or a mapping of ids to roles."""
    if isinstance(members, str) or not isinstance(members, Iterable):
        raise InvalidInput(
            "members must be a list of ids, or a mapping of ids to roles.", remedy="Pass at least two ids."
        )
    roles = dict(members) if isinstance(members, Mapping) else dict.fromkeys(members, "")
    if len(roles) > MOST_MEMBERS:
        raise InvalidInput(
            f"{len(roles):,} members were given; {MOST_MEMBERS} are allowed.", remedy="Use several edges."
        )
    return {
        checked_id(i, "a member's id"): role and checked_text(role, "a role", longest=200) for i, role in roles.items()
    }


def read_edges(documents: Iterable[Document], visible: Iterable[str]) -> list[Edge]:
    """Return the edges that some documents tell of, by id; members that are not visible are not shown."""
    shown = set(visible)
    found: dict[str, list[Document]] = {}
    for document in documents:
        found.setdefault(document.name, []).append(document)
    return [
        Edge(
            name,
            some[0].data["kind"],
            some[0].data["weight"],
            {d.id: d.data.get("role", "") for d in some if d.id in shown},
        )
        for name, some in sorted(found.items())
    ]


def join_edge(
    edge: str, members: Mapping[str, str], documents: Sequence[Document], *, kind: str, weight: float
) -> list[Change]:
    """Return the changes that bring members with their roles into an edge.

    An edge that exists, as its documents say, keeps its kind and its weight; a member of it may get another role.
    """
    if len({*members, *(d.id for d in documents)}) < 2:  # noqa: PLR2004  # an edge joins
        raise InvalidInput("An edge needs at least two memories.", remedy="Pass another member.")
    base = {**(documents[0].data if documents else {"kind": kind, "weight": weight, "counted": 0}), "role": ""}
    edits = DocumentEdits(documents)
    for identity, role in members.items():
        before = edits.get(Shelf.EDGE, identity, edge) or base
        because = f"added to the edge {edge} ({before['kind']}, weight {before['weight']:g})"
        edits.put(Shelf.EDGE, identity, edge, {**before, "role": role or before.get("role", "")}, because)
    return edits.changes()


class EdgeUse:
    """Edges as an operation changes them: each document is written once, whatever happens to it."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._edits = DocumentEdits(documents)
        self._because: dict[tuple[str, str], str] = {}

    def members(self) -> dict[str, list[str]]:
        """Return edge -> members, both in order."""
        found: dict[str, list[str]] = {}
        for edge, identity in sorted((name, identity) for identity, name in self._edits.shelf(Shelf.EDGE)):
            found.setdefault(edge, []).append(identity)
        return found

    def _get(self, edge: str, identity: str) -> Mapping[str, Any]:
        return self._edits.get(Shelf.EDGE, identity, edge) or {}

    def _put(self, edge: str, identity: str, because: str, **data: Any) -> None:
        self._because[edge, identity] = because
        self._edits.put(Shelf.EDGE, identity, edge, {**self._get(edge, identity), **data}, because)

    def inherit(self, keeper: str, losers: Sequence[str], accesses: int) -> None:
        """Bring the memory that stands for others into their edges, with their roles.

        Its accesses so far do not count as uses of the edges that it joins.
        """
        for edge, members in self.members().items():
            heir = next((identity for identity in members if identity in losers), None)
            if heir is None or keeper in members:
                continue
            self._put(edge, keeper, f"added to the edge {edge} in place of {heir}", **self._get(edge, heir))
            for member in [*members, keeper] if accesses else ():
                because = self._because.get(
                    (edge, member), f"{accesses} accesses of {keeper} do not count as use of {edge}"
                )
                self._put(edge, member, because, counted=int(self._get(edge, member).get("counted", 0)) + accesses)

    def strengthen(self, accesses: Mapping[str, int], gain: float) -> int:
        """Raise each edge's weight by its members' accesses since it was last raised, and return how many rose.

        Each access of a visible member adds ``gain``; the weight is at most 10.
        """
        risen = 0
        for edge, members in self.members().items():
            total = sum(accesses.get(identity, 0) for identity in members)
            first = self._get(edge, members[0])
            new, weight = total - int(first.get("counted", 0)), float(first["weight"])
            if new <= 0:
                continue
            raised = max(weight, min(MOST_WEIGHT, round(weight + gain * new, 6)))
            risen += raised > weight
            because = f"weight {weight:g} to {raised:g}: {new} accesses of its members since it was last raised"
            for identity in members:
                earlier = self._because.get((edge, identity))
                reasons = because if earlier is None else f"{earlier}; {because}"
                self._put(edge, identity, reasons, weight=raised, counted=total)
        return risen

    def changes(self) -> list[Change]:
        """Return what changed."""
        return self._edits.changes()

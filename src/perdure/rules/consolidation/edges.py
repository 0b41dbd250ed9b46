"""Hyperedges: memories that belong together, kept as one document for each member."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from perdure.records.consolidation_results import Edge
from perdure.records.document import Document, Shelf
from perdure.records.errors import InvalidInput
from perdure.records.plan import Change, Target
from perdure.rules.validation.values import checked_id, checked_text

MOST_WEIGHT: Final = 10.0
MOST_MEMBERS: Final = 1000


def checked_members(members: Any) -> dict[str, str]:
    """Return member -> role of what a caller gave: a list of ids, or a mapping of ids to roles.

    Raises:
        InvalidInput: It is neither, or too long.
    """
    if isinstance(members, str) or not isinstance(members, Iterable):
        raise InvalidInput("members must be a list of ids, or a mapping id -> role.", remedy="Name two memories.")
    given = dict(members) if isinstance(members, Mapping) else dict.fromkeys(members, "")
    if len(given) > MOST_MEMBERS:
        raise InvalidInput(f"{len(given):,} members were given; {MOST_MEMBERS} are allowed.", remedy="Use several.")
    return {
        checked_id(i, "a member's id"): role and checked_text(role, "a role", longest=200) for i, role in given.items()
    }


def checked_weight(weight: Any) -> float:
    """Return an edge's weight: above 0, at most 10."""
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight <= MOST_WEIGHT:
        raise InvalidInput(f"weight must be above 0 and at most {MOST_WEIGHT:g}, not {weight!r}.", remedy="Try 1.0.")
    return float(weight)


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
    edge: str, members: Mapping[str, str], there: Sequence[Document], *, kind: str, weight: float
) -> list[Change]:
    """Return the changes that bring members into an edge; an edge that exists keeps its kind and its weight.

    Args:
        edge: Its id.
        members: Member -> role; one that is in it already may get another role.
        there: The edge's documents.
        kind: What joins them, if the edge is new.
        weight: How strongly, if the edge is new.

    Raises:
        InvalidInput: The edge would have fewer than two members.
    """
    if len({*members, *(d.id for d in there)}) < 2:  # noqa: PLR2004  # an edge joins
        raise InvalidInput("An edge joins at least two memories.", remedy="Name another member.")
    base = dict(there[0].data) if there else {"kind": kind, "weight": weight, "counted": 0}
    known = {d.id: dict(d.data) for d in there}
    changes = []
    for identity, role in sorted(members.items()):
        before = known.get(identity)
        after = {**(before or base), "role": role or (before or {}).get("role", "")}
        if after != before:
            because = f"joined {edge} ({after['kind']}, weight {after['weight']:g})"
            changes.append(edge_change(edge, identity, before, after, because))
    return changes


def edge_change(
    edge: str, identity: str, before: Mapping[str, Any] | None, after: Mapping[str, Any], because: str
) -> Change:
    """Return the change of one membership."""
    row = {"shelf": Shelf.EDGE, "name": edge}
    old = None if before is None else {**row, "data": dict(before)}
    return Change(Target.DOCUMENT, identity, old, {**row, "data": dict(after)}, because)


class Strengthening:
    """Edges as an operation changes them: each document is written once, whatever happens to it.

    Args:
        documents: All documents of the edges in question.
    """

    def __init__(self, documents: Iterable[Document]) -> None:
        self._before = {(d.name, d.id): dict(d.data) for d in documents}
        self._after = {key: dict(data) for key, data in self._before.items()}
        self._because: dict[tuple[str, str], str] = {}

    def members(self) -> dict[str, list[str]]:
        """Return edge -> members."""
        found: dict[str, list[str]] = {}
        for edge, identity in sorted(self._after):
            found.setdefault(edge, []).append(identity)
        return found

    def inherit(self, keeper: str, losers: Sequence[str], accesses: int) -> None:
        """Bring the memory that stands for others into their edges, with their roles.

        Args:
            keeper: The memory that stands for the others.
            losers: The others.
            accesses: To the keeper, so far: they are no use of the edges that it joins.
        """
        for edge, identity in sorted(self._before):
            if identity in losers and (edge, keeper) not in self._after:
                self._after[edge, keeper] = dict(self._after[edge, identity])
                self._because[edge, keeper] = f"joined {edge}, where it stands for {identity}"
                for member in self.members()[edge] if accesses else ():
                    data = self._after[edge, member]
                    data["counted"] = int(data.get("counted", 0)) + accesses
                    self._because.setdefault((edge, member), f"{accesses} accesses of {keeper} are no use of {edge}")

    def strengthen(self, accesses: Mapping[str, int], gain: float) -> int:
        """Raise each edge's weight by its members' accesses since it was last raised, and return how many rose.

        Args:
            accesses: Visible member -> accesses in all.
            gain: Added for each access; the weight is at most 10.
        """
        risen = 0
        for edge, members in self.members().items():
            total = sum(accesses.get(identity, 0) for identity in members)
            first = self._after[edge, members[0]]
            new, weight = total - int(first.get("counted", 0)), float(first["weight"])
            if new <= 0:
                continue
            raised = max(weight, min(MOST_WEIGHT, round(weight + gain * new, 6)))
            risen += raised > weight
            told = f"weight {weight:g} to {raised:g}: {new} accesses of its members since it was last raised"
            for identity in members:
                self._after[edge, identity] |= {"weight": raised, "counted": total}
                before = self._because.get((edge, identity))
                self._because[edge, identity] = told if before is None else f"{before}; {told}"
        return risen

    def changes(self) -> list[Change]:
        """Return what changed."""
        return [
            edge_change(edge, identity, self._before.get((edge, identity)), data, self._because[edge, identity])
            for (edge, identity), data in sorted(self._after.items())
            if data != self._before.get((edge, identity))
        ]

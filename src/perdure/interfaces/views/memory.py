"""Views of single memories, of lists of them, and of what was decided about one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from perdure.interfaces.views import Request
from perdure.interfaces.views.blocks import Block, Foreign, Identifier, Line, Pairs, Quote, Table, Text
from perdure.interfaces.views.values import cell, counted, undo, when
from perdure.records.consolidation_results import Edge, EdgeChange
from perdure.records.memory import MemoryItem
from perdure.records.outcome import Outcome

_NUMBERS: Final = ("importance", "confidence", "strength", "retention", "value")
_OPTIONAL: Final = ("tags", "speaker", "session", "task", "source", "metadata")
_BRIEF: Final = 100
_DONE: Final = {
    "pin": "Pinned",
    "unpin": "Unpinned",
    "deny": "Denied",
    "same": "Treated as the same",
    "forget": "Archived",
    "keep": "Kept",
    "drop": "Archived",
    "both": "Both kept",
    "different": "Kept apart",
}
"""Verb, or verdict of ``review`` -> what is said of the memory that it changed, where that is not the verb with ed."""


def view_memory_item(m: MemoryItem, _: Request) -> Iterator[Block]:
    """Show one memory whole."""
    pairs: dict[str, Text] = {
        "id": m.id,
        "namespace": Foreign(m.namespace),
        "kind": m.kind.value,
        "scope, tier": f"{m.scope}, {m.tier}",
        "form": f"{m.form}, {counted(m.tokens, 'token')}",
        "status": _status(m),
        "happened": when(m.created_at),
        "stored": when(m.recorded_at),
        "next check": when(m.due_at),
        **{name: f"{getattr(m, name):.3f}" for name in _NUMBERS},
        "accesses": f"{m.access_count:,}",
        **{name: cell(name, value) for name in _OPTIONAL if (value := getattr(m, name))},
    }
    yield Pairs(tuple(pairs.items()))
    yield Quote(m.content, whole=True)


def view_list(memories: Sequence[MemoryItem], request: Request) -> Iterator[Block]:
    """Show a page of memories, newest first."""
    if not memories:
        yield Line(("No memories in ", Foreign(request.namespace), " pass the filters."))
        return
    yield Table(("id", "when", "kind", "tier", "status", "value", "content"), tuple(_row(m) for m in memories))
    if len(memories) == request.arguments.get("limit"):
        yield Line(("Older ones follow with before=", Identifier(memories[-1].id), "."), reader="model")


def _row(m: MemoryItem) -> tuple[Text, ...]:
    value, content = f"{m.value:.2f}", Foreign(m.content, _BRIEF)
    return (Identifier(m.id), when(m.created_at), m.kind.value, m.tier.value, _status(m), value, content)


def view_outcome(done: Outcome, request: Request) -> Iterator[Block]:
    """Show what a verb did to one memory, and how it is undone if it changed anything."""
    m = done.memory
    verb = "different" if request.arguments.get("yes") is False else request.arguments.get("verdict") or request.verb
    said = _DONE.get(verb, verb.removesuffix("e").capitalize() + "ed") if done.changed else "Nothing changed:"
    where = (" in ", Foreign(m.namespace)) if verb == "remember" else ()
    yield Line((f"{said} ", Identifier(m.id), f" ({m.kind}, {_status(m)}, {m.tier})", *where, "."))
    yield from undo([done.operation])


def view_edge_change(done: EdgeChange, _: Request) -> Iterator[Block]:
    """Show by which edge memories were joined."""
    yield Line(("Joined by the edge ", Foreign(done.edge), "."))
    yield from undo(done.operations)


def view_edges(found: Sequence[Edge], _: Request) -> Iterator[Block]:
    """Show edges with their whole ids, which ``relate`` takes."""
    names = ("kind", "weight", "members")
    rows = tuple((Foreign(e.id), *(cell(name, getattr(e, name)) for name in names)) for e in found)
    yield Table(("edge", *names), rows)


def _status(m: MemoryItem) -> str:
    return f"{m.status} (pinned)" if m.pinned else m.status.value

"""Views of single memories, of lists of them, and of what was decided about one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from perdure.interfaces.views import Request
from perdure.interfaces.views.blocks import Block, Foreign, Identifier, Line, Pairs, Quote, Table, Text, command
from perdure.interfaces.views.values import cell, counted, undo, when
from perdure.records.consolidation_results import Edge, EdgeChange
from perdure.records.memory import MemoryItem
from perdure.records.outcome import Outcome, Remembered

_NUMBERS: Final = ("importance", "confidence", "strength", "retention", "value")
_OPTIONAL: Final = ("tags", "speaker", "session", "task", "source", "metadata")
_BRIEF: Final = 100
_RELATED_BESIDE: Final = 60
"""Characters of a related memory where predicates are told besides."""
_PREDICATES: Final = 60
_MOST_SUBJECTS: Final = 1
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


def view_remembered(done: Remembered, request: Request) -> Iterator[Block]:
    """Show what was stored, what became of its facts, and what it may be compared with."""
    head, *end = view_outcome(done, request)
    yield head
    facts = done.facts
    counts = {"new": facts.created, "confirmed": facts.reinforced, "no longer believed": facts.retired}
    if told := [f"{len(ids):,} {what}" for what, ids in counts.items() if ids]:
        yield Line(f"Facts: {', '.join(told)}.")
    if facts.asked:
        yield Line(("A person is asked about ", cell("", facts.asked), ": ", command("review")), tone="warning")
    if done.related:
        yield Line(("Maybe about the same. If one of these no longer holds: ", command("update", id=...)))
        length = _RELATED_BESIDE if done.predicates else _BRIEF
        for other in done.related:
            words = Foreign(other.content[:length], length)
            yield Line((Identifier(other.id), f" {other.created_at} ", words), item=True)
    for known in done.predicates[:_MOST_SUBJECTS]:
        names = ", ".join(name.replace("_", " ") for name in known.predicates)
        yield Line(("Known of ", Foreign(known.subject), ": ", Foreign(names[:_PREDICATES])))
    yield from end


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

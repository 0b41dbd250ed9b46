"""Views of single memories, of lists of them, and of what was decided about one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Final

from perdure.interfaces.views import Request
from perdure.interfaces.views.blocks import Block, Foreign, Identifier, Line, Pairs, Quote, Table, Text, command
from perdure.interfaces.views.values import cell, counted, undo, when
from perdure.records.consolidation_results import Edge, EdgeChange
from perdure.records.memory import MemoryItem
from perdure.records.outcome import KnownPredicates, Outcome, RelatedMemory, Remembered

_NUMBERS: Final = ("importance", "confidence", "strength", "retention", "value")
_OPTIONAL: Final = ("tags", "speaker", "session", "task", "source", "metadata")
_BRIEF: Final = 100
_REPLY: Final = 120  # tokens that a model reads of what became of a memory, at most
_AROUND: Final = 36  # of them for the first line, the heading of the related memories and the last line
_EACH: Final = 7  # for the id and the day of a related memory
_PREDICATES: Final = 20  # for a subject and its predicates
_ASKED: Final = 3
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
        yield Line(("No memories in ", Foreign(request.namespace), " match the filters."))
        return
    yield Table(("id", "when", "kind", "tier", "status", "value", "content"), tuple(_row(m) for m in memories))
    if len(memories) == request.arguments.get("limit"):
        yield Line(("Next page: before=", Identifier(memories[-1].id), "."), reader="model")


def _row(m: MemoryItem) -> tuple[Text, ...]:
    value, content = f"{m.value:.2f}", Foreign(m.content, _BRIEF)
    return (Identifier(m.id), when(m.created_at), m.kind.value, m.tier.value, _status(m), value, content)


def view_outcome(done: Outcome, request: Request) -> Iterator[Block]:
    """Show what a verb did to one memory, and how it is undone if it changed anything."""
    m = done.memory
    where = (" in ", Foreign(m.namespace)) if request.verb == "remember" else ()
    yield Line((_said(done, request), Identifier(m.id), f" ({m.kind}, {_status(m)}, {m.tier})", *where, "."))
    yield from undo([done.operation])


def _said(done: Outcome, request: Request) -> str:
    verb = "different" if request.arguments.get("yes") is False else request.arguments.get("verdict") or request.verb
    return f"{_DONE.get(verb, verb.removesuffix('e').capitalize() + 'ed')} " if done.changed else "Nothing changed: "


def view_remembered(done: Remembered, request: Request) -> Iterator[Block]:
    """Show what was stored, what became of its facts, and what it may be compared with."""
    head, *end = view_outcome(done, request)
    yield replace(head, reader="person") if isinstance(head, Line) else head
    yield Line((_said(done, request), Identifier(done.id), "."), reader="model")
    facts = done.facts
    counts = {"new": facts.created, "confirmed": facts.reinforced, "no longer believed": facts.retired}
    told = [f"{len(ids):,} {what}" for what, ids in counts.items() if ids]
    yield from view_beside(f"Facts: {', '.join(told)}." if told else "", facts.asked, done.related, done.predicates)
    yield from end


def view_beside(
    head: str, asked: Sequence[str], related: Sequence[RelatedMemory], predicates: Sequence[KnownPredicates]
) -> Iterator[Block]:
    """Show what became of facts and what they may be compared with, in at most 120 tokens with what stands around it.

    Args:
        head: What became of the facts; empty for nothing to say.
        asked: Ids of the facts that a person is asked about.
        related: Earlier memories that may be about the same thing.
        predicates: What else is known of those whom the facts are about.
    """
    room: float = _REPLY - _AROUND
    if head:
        yield Line(head)
        room -= _tokens(head)
    if asked:
        yield Line(("A person is asked about ", cell("", asked[:_ASKED]), ": ", command("review")), tone="warning")
        room -= _EACH + 3 * len(asked[:_ASKED])
    last = []
    for known in predicates[:1]:
        subject = _fitting(known.subject, _PREDICATES / 2)
        names = _fitting(", ".join(name.replace("_", " ") for name in known.predicates), _PREDICATES - _tokens(subject))
        last.append(Line(("Known of ", Foreign(subject), ": ", Foreign(names))))
        room -= _tokens(f"Known of '{subject}': '{names}'")
        for pair in known.near[:1]:
            new, there = (_fitting(name.replace("_", " "), _PREDICATES / 2) for name in pair)
            last.append(Line(("Use the known name if ", Foreign(new), " means ", Foreign(there), ".")))
            room -= _tokens(f"Use the known name if '{new}' means '{there}'.")
    yield from _related(related, room)
    yield from last


def _related(related: Sequence[RelatedMemory], room: float) -> Iterator[Block]:
    """Show what a memory may be compared with; each gets its share of the tokens that are left."""
    if related:
        yield Line(("If one of these no longer holds: ", command("update", id=...)))
    for left, other in zip(range(len(related), 0, -1), related, strict=True):
        words = _fitting(other.content[:_BRIEF], room / left - _EACH)
        room -= _EACH + _tokens(words)
        yield Line((Identifier(other.id), f" {other.created_at} ", Foreign(words, _BRIEF)), item=True)


def _tokens(text: str) -> float:
    """Return no fewer tokens than a text has: a Latin letter counts as two sevenths, one of another script as one."""
    return sum(1.0 if letter > "\u024f" else 4 / 7 if letter in '"\\' else 2 / 7 for letter in text)


def _fitting(text: str, room: float) -> str:
    """Return the beginning of a text that has at most so many tokens."""
    spent = list(accumulate(map(_tokens, text)))
    return text[: bisect_right(spent, room)]


def view_edge_change(done: EdgeChange, _: Request) -> Iterator[Block]:
    """Show by which edge memories were joined."""
    yield Line(("Linked by the edge ", Foreign(done.edge), "."))
    yield from undo(done.operations)


def view_edges(found: Sequence[Edge], _: Request) -> Iterator[Block]:
    """Show edges with their whole ids, which ``relate`` takes."""
    names = ("kind", "weight", "members")
    rows = tuple((Foreign(e.id), *(cell(name, getattr(e, name)) for name in names)) for e in found)
    yield Table(("edge", *names), rows)


def _status(m: MemoryItem) -> str:
    return f"{m.status} (pinned)" if m.pinned else m.status.value

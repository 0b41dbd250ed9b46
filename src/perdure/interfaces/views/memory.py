"""Views of single memories, lists of them, and what was decided about one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from perdure.interfaces.views.blocks import (
    Block,
    Foreign,
    Identifier,
    Line,
    Pairs,
    Quote,
    Span,
    Table,
    Text,
    counted,
    joined,
    undo,
    when,
)

if TYPE_CHECKING:
    from perdure.interfaces.views import Request
    from perdure.records.memory import Memory
    from perdure.records.outcome import Outcome

_BRIEF: Final = 100
_DONE: Final = {
    "remember": "Remembered",
    "pin": "Pinned",
    "unpin": "Unpinned",
    "archive": "Archived",
    "restore": "Restored",
    "move": "Moved",
    "settle": "Settled",
    "confirm": "Confirmed",
    "deny": "Denied",
    "correct": "Corrected",
    "both": "Both kept",
    "same": "Treated as one",
    "different": "Kept apart",
    "mute": "Muted",
}
"""Verb, or verdict of ``answer`` -> what is said of the memory that it changed."""


def view_memory(memory: Memory, _: Request) -> Iterator[Block]:
    """Show one memory whole."""
    yield Pairs(tuple(_pairs(memory)))
    yield Quote(memory.content, whole=True)


def _pairs(m: Memory) -> Iterator[tuple[str, Text]]:
    yield "id", m.id
    yield "namespace", Foreign(m.namespace)
    yield "kind", m.kind.value
    yield "scope, tier", f"{m.scope}, {m.tier}"
    yield "form", f"{m.form}, {counted(m.tokens, 'token')}"
    yield "status", _status(m)
    yield "happened", when(m.created_at)
    yield "stored", when(m.recorded_at)
    yield "next check", when(m.due_at)
    for name in ("importance", "confidence", "strength", "retention", "value"):
        yield name, f"{getattr(m, name):.3f}"
    yield "accesses", f"{m.access_count:,}"
    if m.tags:
        yield "tags", joined(Foreign(tag) for tag in m.tags)
    for name in ("speaker", "session", "task", "source"):
        if text := getattr(m, name):
            yield name, Foreign(text)
    if m.metadata:
        yield "metadata", Foreign(str(dict(m.metadata)))


def view_memories(memories: Sequence[Memory], request: Request) -> Iterator[Block]:
    """Show a page of memories, newest first."""
    if not memories:
        yield Line(("No memories in ", _namespace(request.arguments), " pass the filters."))
        return
    columns = ("id", "when", "kind", "tier", "status", "value", "content")
    yield Table(columns, tuple(_row(m) for m in memories))
    if len(memories) == request.arguments.get("limit"):
        yield Line(("Older ones follow with before=", Identifier(memories[-1].id), "."), reader="model")


def _row(m: Memory) -> tuple[Text, ...]:
    value, content = f"{m.value:.2f}", Foreign(m.content, _BRIEF)
    return (Identifier(m.id), when(m.created_at), m.kind.value, m.tier.value, _status(m), value, content)


def view_outcome(done: Outcome, request: Request) -> Iterator[Block]:
    """Show what a verb did to one memory, and how it is undone if it changed anything."""
    memory = done.memory
    now: tuple[Span, ...] = (f" ({_status(memory)}, {memory.tier})",)
    if request.verb == "remember":
        now = (f" ({memory.kind}, {_status(memory)}, {memory.tier}) in ", Foreign(memory.namespace))
    verb = str(request.arguments.get("verdict", "")) if request.verb == "answer" else request.verb
    said = f"{_DONE.get(verb, 'Changed')} " if done.changed else "Nothing changed: "
    yield Line((said, Identifier(memory.id), *now, "."))
    yield from undo([done.operation])


def view_namespaces(names: Sequence[str], _: Request) -> Iterator[Block]:
    """Show all namespaces."""
    for name in names:
        yield Line(Foreign(name))
    if not names:
        yield Line("There is no namespace yet; remember makes one.")


def _status(memory: Memory) -> str:
    return f"{memory.status} (pinned)" if memory.pinned else memory.status.value


def _namespace(arguments: Mapping[str, object]) -> Foreign:
    return Foreign(str(arguments.get("namespace") or "default"))

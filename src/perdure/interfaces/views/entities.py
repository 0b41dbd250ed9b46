"""What people see of entities."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from perdure.interfaces.views.rendering import brief, counted, new_table, show_undo, shown
from perdure.knowledge.records.entity_results import AliasChange, EntityMerge, EntitySplit, EntityView
from perdure.records.instant import Instant, text_of


def show_entities(out: Console, found: Sequence[EntityView], hint: str = "") -> None:
    """Draw a list of entities; where there are none, what may be the reason."""
    if not found:
        out.print(f"No entities. {hint}".strip())
        return
    table = new_table("id", "name", "also", "memories", "last seen")
    for e in found:
        also = brief(", ".join(a for a in e.aliases if a != e.name))
        row = (e.id, e.name, also, f"{e.memories:,}", _when(e.last_seen))
        table.add_row(*(Text(shown(cell)) for cell in row))
    out.print(table)


def show_entity(out: Console, e: EntityView) -> None:
    """Draw one entity."""
    out.print(Text(shown(f"{e.name} ({e.id}{', ' + e.type if e.type else ''})"), style="bold"))
    out.print(Text(shown(f"Names: {', '.join(e.aliases)}")))
    out.print(f"{counted(e.memories, 'memory')}, first seen {_when(e.first_seen)}, last seen {_when(e.last_seen)}.")
    if e.facts:
        out.print(Text(f"Facts: {', '.join(e.facts)}"))
    if e.merged:
        out.print(Text(f"Stands for: {', '.join(e.merged)}"))
    for form, others in (e.shared or {}).items():
        out.print(Text(shown(f"{form!r} is ambiguous: also {', '.join(others)}"), style="yellow"))


def show_alias(out: Console, done: AliasChange) -> None:
    """Draw what became of a name."""
    name = shown(brief(done.alias))
    if not done.changed:
        out.print(Text(f"{done.entity} is called {name} already."))
    else:
        told = f"{name} is no name of {done.entity} any longer." if done.removed else f"{done.entity} is also {name}."
        out.print(Text(told))
    if done.shared_with:
        out.print(Text(f"The name is ambiguous: also {', '.join(done.shared_with)}.", style="yellow"))
    show_undo(out, [done.operation] if done.operation else [])


def show_merge(out: Console, done: EntityMerge) -> None:
    """Draw what a merge moved."""
    if done.operation is None:
        out.print(Text(f"{done.other} is part of {done.into} already."))
        return
    moved = f"{counted(done.memories, 'memory')}, {counted(len(done.facts), 'fact')}"
    out.print(Text(shown(f"{done.other} is part of {done.into} now: {moved}, names {', '.join(done.aliases)}.")))
    show_undo(out, [done.operation])


def show_split(out: Console, done: EntitySplit) -> None:
    """Draw what a split took along."""
    moved = f"{counted(done.memories, 'memory')}, {counted(len(done.facts), 'fact')}"
    out.print(Text(shown(f"{done.alias} is an entity of its own now: {done.entity}, {moved}.")))
    if done.left:
        out.print(Text(f"Facts that stay with {done.source}: {', '.join(done.left)}"))
    show_undo(out, [done.operation])


def _when(at: Instant | None) -> str:
    return "never" if at is None else text_of(at)

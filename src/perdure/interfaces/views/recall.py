"""Views of a recall, and of why a memory was not in its answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from perdure.interfaces.views.blocks import (
    Block,
    Foreign,
    Identifier,
    Line,
    Quote,
    Text,
    command,
    joined,
    sum_of,
    when,
)

if TYPE_CHECKING:
    from perdure.interfaces.views import Request
    from perdure.records.memory import Memory
    from perdure.records.recall import Absence, Hit, Recall

_OTHERS: Final = 5
"""Other namespaces that are named where nothing was found."""


def view_recall(found: Recall, request: Request) -> Iterator[Block]:
    """Show the hits of a recall; where there are none, say where else to look."""
    if not found.hits:
        yield Line("Nothing known: nothing stored is related to this.")
        yield Line("Do not guess.", reader="model")
        yield from _elsewhere(request)
    places = {hit.memory.id: place for place, hit in enumerate(found.hits, 1)}
    for place, hit in enumerate(found.hits, 1):
        yield from _hit(place, hit, places)
    if found.hits and found.id:
        yield Line(("Say what became of them: ", command("used", memory_ids=..., recall_id=found.id)), tone="faint")
    if found.note:
        yield Line(f"Note: {found.note}.", tone="warning")


def _elsewhere(request: Request) -> Iterator[Block]:
    here = request.arguments.get("namespace") or "default"
    others = [name for name in request.notes.get("namespaces", ()) if name != here]
    if others:
        listed = joined([Foreign(name) for name in others[:_OTHERS]])
        more = f" and {len(others) - _OTHERS:,} more" if len(others) > _OTHERS else ""
        yield Line(("Looked in namespace ", Foreign(here), "; this store also has ", *listed, f"{more}."))


def _hit(place: int, hit: Hit, places: Mapping[str, int]) -> Iterator[Block]:
    memory = hit.memory
    facts = (Identifier(memory.id), *_marks(memory))
    yield Quote(memory.content, facts, tuple(_doubts(hit, places)), place, memory.speaker)
    yield Line(f"score {hit.score:.3f} = {sum_of(hit.parts)}", tone="faint", item=True, reader="person")
    if hit.question:
        how = (
            command("answer", id=Identifier(memory.id), verdict=...)
            if memory.aging
            else command("why", id=Identifier(memory.id))
        )
        yield Line(("Ask the person: ", Foreign(hit.question), " Then: ", how), tone="warning", item=True)


def _marks(memory: Memory) -> Iterator[Text]:
    """Yield what is to be known of a memory before its words are relied on."""
    yield f"{memory.kind}, {memory.tier}"
    yield when(memory.created_at)
    yield f"confidence {memory.confidence:.2f}"
    if memory.status != "active":
        yield memory.status.value
    if memory.pinned:
        yield "pinned"
    if memory.form != "full":
        yield f"shortened to {memory.form}"
    if memory.session:
        yield ("session ", Foreign(memory.session))
    if memory.tags:
        yield ("tags ", *joined(Foreign(tag) for tag in memory.tags))


def _doubts(hit: Hit, places: Mapping[str, int]) -> Iterator[Text]:
    """Yield what else is known about what a hit says."""
    if hit.memory.aging:
        yield "stale: not confirmed for a long time"
    if hit.updated_by:
        yield ("a later message says otherwise: ", *_place(hit.updated_by, places))
    for other in hit.contested_with:
        if other == hit.memory.id:
            yield "contradicts itself: ask which is right"
        else:
            yield ("conflicts with ", *_place(other, places), ": ask which is right")


def _place(identity: str, places: Mapping[str, int]) -> tuple[str | Identifier, ...]:
    return (f"number {places[identity]}",) if identity in places else (Identifier(identity),)


def view_absence(found: Absence, _: Request) -> Iterator[Block]:
    """Show what kept a memory out of an answer."""
    yield Line((Foreign(found.explanation),))
    score = "" if not found.parts else f" · score {sum(found.parts.values()):.3f} = {sum_of(found.parts)}"
    rank = "" if found.rank is None else f" · rank {found.rank}"
    yield Line(f"kept out by: {found.kept_out_by}{rank}{score}", tone="faint")

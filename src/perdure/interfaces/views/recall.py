"""Views of a recall, of why a memory was not in its answer, and of what a person is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from perdure.interfaces.views import Request
from perdure.interfaces.views.blocks import Block, Foreign, Identifier, Line, Quote, Text, command
from perdure.interfaces.views.memory import view_outcome
from perdure.interfaces.views.values import joined, sum_of, when
from perdure.records.memory import MemoryItem
from perdure.records.recall import Absence, Hit, Recall
from perdure.records.signal_results import Review
from perdure.rules.lifecycle.stale_facts import unconfirmed_since

_OTHERS = 5  # other namespaces that are named where nothing was found


def view_recall(found: Recall, request: Request) -> Iterator[Block]:
    """Show the hits of a recall; where there are none, say where else to look."""
    if not found.hits:
        yield Line("No stored memory matches.", reader="person")
        yield Line("No stored memory matches. Do not guess.", reader="model")
        yield from _elsewhere(request)
    places = {hit.memory.id: place for place, hit in enumerate(found.hits, 1)}
    for hit in found.hits:
        yield from _hit(hit, places)
    if any(hit.question for hit in found.hits):
        yield from _how_to_answer()
    if found.hits and found.id:
        yield Line(("Report how they were used: ", command("used", ids=..., recall_id=found.id)), tone="faint")
    if found.note:
        yield Line(f"Note: {found.note.removeprefix('no stored memory matches: ')}.", tone="warning")


def _elsewhere(request: Request) -> Iterator[Block]:
    others = [name for name in request.notes.get("namespaces", ()) if name != request.namespace]
    if others:
        named = joined([*(Foreign(name) for name in others[:_OTHERS]), *(["…"] if len(others) > _OTHERS else [])])
        yield Line(("Searched namespace ", Foreign(request.namespace), "; the store also has ", named, "."))


def _hit(hit: Hit, places: Mapping[str, int]) -> Iterator[Block]:
    memory = hit.memory
    facts = (Identifier(memory.id), *_marks(memory), f"relevance {hit.relevance:.0%}")
    yield Quote(memory.content, facts, tuple(_doubts(hit, places)), places[memory.id], memory.speaker)
    yield Line(f"score {hit.score:.2f} = {sum_of(hit.parts)}", tone="faint", item=True, reader="person")
    if hit.question:
        yield Line(("Ask the person: ", Foreign(hit.question)), tone="warning", item=True)


def _marks(memory: MemoryItem) -> Iterator[Text]:
    """Yield what is to be known of a memory before its words are relied on."""
    yield f"{memory.kind}, {memory.tier}"
    yield when(memory.created_at)
    if not memory.aging:  # of what nobody confirmed for long the day says more than a small number
        yield f"confidence {memory.confidence:.2f}"
    if memory.status != "active":
        yield memory.status.value
    if memory.pinned:
        yield "pinned"
    if memory.form != "full":
        yield f"shown as {memory.form}"
    if memory.session:
        yield ("session ", Foreign(memory.session))
    if memory.tags:
        yield ("tags ", joined(Foreign(tag) for tag in memory.tags))


def _doubts(hit: Hit, places: Mapping[str, int]) -> Iterator[Text]:
    """Yield what else is known about what a hit says."""

    def named(identity: str) -> Text:
        return f"number {places[identity]}" if identity in places else Identifier(identity)

    if hit.memory.aging:
        yield f"not confirmed since {unconfirmed_since(hit.memory.state)}"
    if hit.updated_by:
        yield ("a later message says otherwise: ", named(hit.updated_by))
    for name, others in (("newer", hit.newer), ("older", hit.older)):
        for other in others:
            yield (f"{name}, compare: " if other in hit.differs else f"{name}: ", named(other))
    for other in hit.contested_with:
        yield ("conflicts with ", named(other), ": ask which is right")


def view_absence(found: Absence, _: Request) -> Iterator[Block]:
    """Show what kept a memory out of an answer."""
    yield Line(f"Not returned ({found.kept_out_by}): {found.explanation}.")
    if found.rank is not None:
        yield Line(f"rank {found.rank}, score {sum(found.parts.values()):.3f} = {sum_of(found.parts)}", tone="faint")


def view_review(found: Review, request: Request) -> Iterator[Block]:
    """Show what an answer did, and the open questions."""
    if found.answered is not None:
        yield from view_outcome(found.answered, request)
    for number, q in enumerate(found.questions, 1):
        facts = (Identifier(q.id), f"since {q.since}", f"value at risk {q.value_at_risk:.2f}", Foreign(q.why))
        yield Quote(q.question, facts, number=number)
        if q.same:
            yield Line("The verdict is same or different.", item=True)
    if found.questions:
        yield from _how_to_answer()
    elif found.answered is None:
        yield Line(("No open questions in ", Foreign(request.namespace), "."))


def _how_to_answer() -> Iterator[Line]:
    verdicts = "; verdict is confirm, deny, correct (with a value), both or mute"
    yield Line(("Record the person's answer: ", command("review", id=..., verdict=...), verdicts), tone="faint")

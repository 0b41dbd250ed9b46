"""Views of what was brought in: conversations, notes from a text, learned facts, copies, what a session leaves."""

from __future__ import annotations

from collections.abc import Iterator

from perdure.interfaces.views import Request
from perdure.interfaces.views.blocks import Block, Foreign, Identifier, Line, Pairs, Quote, command
from perdure.interfaces.views.values import counted, ending, first, joined, undo
from perdure.knowledge.records.fact_results import Learnt
from perdure.records.consolidation_results import Crystal, PromotionResult
from perdure.records.extraction_results import ExtractResult
from perdure.records.report import Ingested
from perdure.records.transfer import Moved


def view_ingested(done: Ingested, request: Request) -> Iterator[Block]:
    """Show what an ingest brought in, and whether facts were looked for in it."""
    files = f" from {counted(request.notes['files'], 'file')}" if "files" in request.notes else ""
    echoes = f", {done.echoes:,} only repeated what was recalled" if done.echoes else ""
    known = f"; {done.skipped:,} already known{echoes}."
    yield Line((f"Stored {counted(done.added, 'memory')}{files} in ", Foreign(request.namespace), known))
    if done.used:
        yield Line(f"{counted(done.used, 'recalled memory')} marked as helpful.")
    if done.operations and (no_facts := request.notes.get("no_facts")) is not None:
        learned = "No facts were learned from it; why:" if no_facts else "Facts were looked for in it:"
        yield Line((learned, " ", command("facts")), tone="faint", reader="person")
    yield from undo(done.operations)


def view_extract_result(done: ExtractResult, request: Request) -> Iterator[Block]:
    """Show what was found in a text."""
    namespace = Foreign(request.arguments.get("namespace") or "extracted")
    found = f"; {done.candidates_found:,} found, {done.deduplicated_count:,} already known."
    yield Line((f"Stored {counted(done.memories_created, 'memory')} in ", namespace, found))
    for m in done.extractions:
        stored = Identifier(m.memory_id) if m.memory_id else "not stored"
        yield Quote(m.content, (stored, m.pattern_matched, f"confidence {m.confidence:.2f}"))
    yield from undo(done.operations)


def view_learnt(done: Learnt, _: Request) -> Iterator[Block]:
    """Show what messages taught."""
    if not done.messages:
        yield Line("Nothing new: these messages have been learned from before.")
        return
    facts = f"{counted(len(done.created), 'new fact')}, {len(done.reinforced):,} confirmed"
    yield Line(f"{counted(done.messages, 'message')} read: {facts}, {len(done.retired):,} no longer believed.")
    if done.asked:
        asked = joined(Identifier(i) for i in done.asked)
        yield Line(("A person is asked about ", asked, ": ", command("review")), tone="warning")
    yield from undo(done.operations)


def view_promotion_result(done: PromotionResult, request: Request) -> Iterator[Block]:
    """Show what is promoted from a session, or would be."""
    promoted = f"{'Promoted' if done.confirmed else 'Would promote'} {counted(done.promoted_count, 'memory')} of "
    needed = f"needed: confidence {done.threshold:.2f}, {counted(int(done.median), 'access')}"
    made = f" to long term, {counted(done.crystallized_count, 'summary')} made; {needed}."
    yield Line((promoted, Foreign(done.session), made))
    yield from first([Line(Identifier(i), tone="faint", item=True) for i in done.promoted])
    yield from first([_summary(c) for c in done.summaries])
    yield from ending(done, request)


def _summary(c: Crystal) -> Quote:
    return Quote(c.content, (Identifier(c.id), f"stands for {counted(len(c.members), 'memory')}"))


def view_moved(done: Moved, request: Request) -> Iterator[Block]:
    """Show what a copy or an import brought to a store."""
    verb = "Imported" if request.verb == "import" else "Copied"
    rows = f"{counted(done.written, 'row')} written, {counted(sum(done.parts.values()), 'row')} verified"
    took = f" in {request.notes['seconds']:.1f} s: {rows}."
    yield Line((f"{verb} {counted(done.namespaces, 'namespace')} to ", Foreign(request.notes["store"]), took))
    yield Pairs(tuple((part, f"{rows:,}") for part, rows in done.parts.items()))
    if not done.whole:
        yield Line("The file was cut short: only what was there of it is stored.", tone="warning")

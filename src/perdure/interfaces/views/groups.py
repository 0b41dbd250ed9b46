"""What people see of several memories at once: duplicates, edges, tasks, sessions, extraction."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from perdure.interfaces.views.rendering import brief, counted, new_table, show_report, show_undo, shown
from perdure.interfaces.views.signals import show_rest
from perdure.records.consolidation_results import (
    ConsolidateResult,
    Edge,
    PromotionResult,
    Refused,
    SessionResult,
    TaskResult,
)
from perdure.records.extraction_results import ExtractResult

_SHOWN = 20


def show_consolidation(out: Console, done: ConsolidateResult) -> None:
    """Draw which memories became one, or would."""
    would = "would go" if done.dry_run else "went"
    out.print(
        f"{counted(done.groups_found, 'group')} of {counted(done.examined, 'memory')}; "
        f"{done.memories_merged:,} {would} into others."
    )
    if done.groups:
        table = new_table("id", "what", "label", "likeness", "others")
        for g in done.groups[:_SHOWN]:
            others = ", ".join(i for i in g.member_ids if i != g.representative_id)
            row = (g.representative_id, g.action_taken, g.label, f"{g.avg_similarity:.2f}", others)
            table.add_row(*(Text(cell) for cell in row))
        out.print(table)
    show_rest(out, len(done.groups))
    _apart(out, done.refusals)
    for note in done.notes:
        out.print(Text(shown(note), style="yellow"))
    if done.dry_run and done.memories_merged:
        out.print("Nothing was written; --apply does it.")
    show_undo(out, done.operations)


def show_extraction(out: Console, done: ExtractResult, namespace: str) -> None:
    """Draw what was found in a text."""
    out.print(
        f"Stored {counted(done.memories_created, 'memory')} in {shown(namespace)} of {done.candidates_found:,} found; "
        f"{done.deduplicated_count:,} known already."
    )
    for m in done.extractions:
        out.print(shown(brief(m.content)))
        stored = m.memory_id or "not stored"
        out.print(Text(f"   {m.pattern_matched} · confidence {m.confidence:.2f} · {stored}", style="dim"))
    show_undo(out, done.operations)


def show_edges(out: Console, found: Sequence[Edge]) -> None:
    """Draw the edges of a memory."""
    if not found:
        out.print("No edges.")
        return
    table = new_table("id", "kind", "weight", "members")
    for e in found:
        members = ", ".join(f"{i} ({role})" if role else i for i, role in e.members.items())
        table.add_row(*(Text(shown(cell)) for cell in (e.id, e.kind, f"{e.weight:.2f}", members)))
    out.print(table)


def show_task(out: Console, done: TaskResult) -> None:
    """Draw what became of a task's memories."""
    told = "Would complete" if done.dry_run else "Completed"
    out.print(
        f"{told} {shown(done.task)}: {counted(done.promoted_count, 'memory')} out of the task, "
        f"{done.merged_count:,} merged, {counted(done.edges_strengthened, 'edge')} strengthened."
    )
    if done.long_term:
        out.print(f"{len(done.long_term):,} without a session go to long term.")
    _apart(out, done.refusals)
    show_undo(out, done.operations)


def show_promotion(out: Console, done: PromotionResult) -> None:
    """Draw what is promoted from a session, or would be."""
    told = "Promoted" if done.confirmed else "Would promote"
    out.print(
        f"{told} {counted(done.promoted_count, 'memory')} of {shown(done.session)} to long term, with "
        f"{counted(done.crystallized_count, 'summary')}; needed: confidence {done.threshold:.2f}, "
        f"{done.median:g} accesses."
    )
    for identity in done.promoted[:_SHOWN]:
        out.print(Text(f"  {identity}", style="dim"))
    show_rest(out, len(done.promoted))
    for c in done.summaries:
        out.print(shown(brief(c.content)))
        out.print(Text(f"   {c.id} · stands for {len(c.members)} · confidence {c.confidence:.2f}", style="dim"))
    if not done.confirmed and done.promoted:
        out.print("Nothing was written; --confirm does it.")
    show_undo(out, done.operations)


def show_session_end(out: Console, done: SessionResult) -> None:
    """Draw what the end of a session did."""
    if not done.anew:
        out.print(f"{shown(done.session)} had ended at {done.ended_at}; nothing was left to do.")
        return
    out.print(f"Ended {shown(done.session)}; {counted(len(done.tasks), 'open task')} completed.")
    if done.promotion is not None:
        p = done.promotion
        out.print(f"Promoted {counted(p.promoted_count, 'memory')}, {counted(p.crystallized_count, 'summary')} made.")
    if done.report is not None and (done.report.moved or done.report.held):
        show_report(out, done.report, operations=False)
    show_undo(out, done.operations)


def _apart(out: Console, refusals: Sequence[Refused]) -> None:
    for f in refusals[:_SHOWN]:
        out.print(Text(f"  stay apart: {f.a} and {f.b}: {shown(f.because)}", style="dim"))
    show_rest(out, len(refusals))

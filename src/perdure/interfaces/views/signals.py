"""What people see of signals and forms: decay, reinforcement, use, open questions, budgets."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from perdure.interfaces.views.rendering import brief, counted, new_table, show_undo, shown
from perdure.records.compression_results import CompressionReport, FitResult
from perdure.records.signal_results import DecayResult, Question, ReinforceResult, Used, WeakenResult

_SHOWN = 20
_PREVIEW = 60


def show_decay(out: Console, found: DecayResult) -> None:
    """Draw what importance has decayed to."""
    dry = " Nothing was written; --apply writes it down and sweeps." if found.dry_run else ""
    out.print(
        f"{counted(found.memories_analyzed, 'memory')} looked at, {found.memories_decayed:,} worth less than their "
        f"base; mean factor {found.avg_decay_factor:.2f}.{dry}"
    )
    if not found.decayed_memories:
        return
    table = new_table("id", "importance", "factor", "days", "accesses", "content")
    for m in found.decayed_memories[:_SHOWN]:
        change = f"{m.old_importance:.2f} > {m.new_importance:.2f}"
        row = (m.id, change, f"{m.decay_factor:.2f}", f"{m.days_since_access:,}", f"{m.access_count:,}")
        table.add_row(*(Text(cell) for cell in (*row, brief(m.content_preview, _PREVIEW))))
    out.print(table)
    show_rest(out, len(found.decayed_memories))


def show_reinforced(out: Console, done: ReinforceResult) -> None:
    """Draw a reinforcement."""
    out.print(f"Reinforced {counted(done.memories_reinforced, 'memory')}.")
    if done.reinforced:
        table = new_table("id", "importance", "boost", "content")
        for m in done.reinforced[:_SHOWN]:
            change = f"{m.old_importance:.2f} > {m.new_importance:.2f}"
            row = (m.id, change, f"{m.boost_applied:+.3f}", brief(m.content_preview, _PREVIEW))
            table.add_row(*(Text(cell) for cell in row))
        out.print(table)
    show_rest(out, len(done.reinforced))
    _missing(out, done.not_found)


def show_weakened(out: Console, done: WeakenResult) -> None:
    """Draw a weakening."""
    out.print(f"Weakened {counted(done.memories_weakened, 'memory')}.")
    if done.weakened:
        table = new_table("id", "strength", "content")
        for m in done.weakened[:_SHOWN]:
            change = f"{m.old_strength:.2f} > {m.new_strength:.2f}"
            table.add_row(Text(m.id), Text(change), Text(brief(m.content_preview, _PREVIEW)))
        out.print(table)
    show_rest(out, len(done.weakened))
    _missing(out, done.not_found)


def show_used(out: Console, done: Used) -> None:
    """Draw what was made of an outcome."""
    if done.outcome == "unused":
        out.print("Noted as unused; nothing is changed by that.")
    else:
        known = f"; known already for {len(done.repeated):,}" if done.repeated else ""
        out.print(f"Counted as {done.outcome} for {counted(len(done.counted), 'memory')}{known}.")
    _missing(out, done.not_found)
    show_undo(out, done.operations)


def show_questions(out: Console, found: Sequence[Question], namespace: str, hint: str = "") -> None:
    """Draw open questions; where there are none, what may be the reason."""
    if not found:
        out.print(f"No open questions in {shown(namespace)}. {hint}".strip())
    for rank, q in enumerate(found, 1):
        out.print(Text.assemble((f"{rank}. ", "bold"), shown(q.question)))
        out.print(Text(f"   {q.id} · since {q.since} · at risk {q.value_at_risk:.2f}", style="dim"))
        out.print(Text(f"   {shown(q.why)}", style="dim"))
        if q.same:
            out.print(Text(f"   Answer with: perdure same {q.id}, or same {q.id} --no", style="dim"))
    if found:
        out.print(Text("Answer with: perdure confirm ID, deny ID, correct ID VALUE, both ID, or mute ID", style="dim"))


def show_fit(out: Console, done: FitResult) -> None:
    """Draw how a namespace was brought, or would be brought, within a budget."""
    told = "would show" if done.dry_run else "shows"
    out.print(
        f"{shown(done.namespace)} {told} {done.after:,} tokens (before: {done.before:,}, budget: {done.budget:,})."
    )
    for move, count in done.tally.items():
        out.print(f"  {count:,} x {shown(move)}")
    for one in done.changed[:_SHOWN]:
        out.print(Text(f"  {one.id}  {shown(one.move)}", style="dim"))
    show_rest(out, len(done.changed))
    if done.held:
        out.print(Text(f"Held: {shown(done.held)}", style="yellow"))
    if done.dry_run and done.changed:
        out.print("Nothing was written; --apply does it.")
    show_undo(out, done.operations)


def show_compression(out: Console, found: CompressionReport) -> None:
    """Draw what compression saves and keeps."""
    out.print(f"{shown(found.namespace)} shows {found.visible_tokens:,} tokens.")
    if found.forms:
        table = new_table("form", "memories", "tokens", "whole", "times shorter", "meaning kept", "efficiency")
        for form, f in found.forms.items():
            kept, efficiency = ("-" if v is None else f"{v:.2f}" for v in (f.preservation, f.efficiency))
            row = (form, f"{f.memories:,}", f"{f.tokens:,}", f"{f.whole:,}", f"{f.ratio:.1f}", kept, efficiency)
            table.add_row(*(Text(cell) for cell in row))
        out.print(table)
    if found.queries:
        out.print(
            f"{counted(found.queries, 'past recall')} asked again: precision {found.precision:.2f}, "
            f"recall {found.recall:.2f}, F1 {found.f1:.2f}."
        )
    else:
        out.print("There is no past recall to ask again.")


def show_rest(out: Console, total: int) -> None:
    """Say how many more there are than are drawn."""
    if total > _SHOWN:
        out.print(f"  … and {total - _SHOWN:,} more; --json lists all.")


def _missing(out: Console, ids: Sequence[str]) -> None:
    if ids:
        out.print(Text(f"Not found, or hidden: {shown(', '.join(ids))}", style="yellow"))

"""What people see of learning: rates, procedures, back-tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.text import Text

from perdure.interfaces.views.rendering import brief, counted, new_table, show_undo, shown
from perdure.interfaces.views.signals import show_rest
from perdure.knowledge.records.learning_results import ProceduresResult, RatesResult
from perdure.records.backtest_results import BacktestResult

_SHOWN: Final = 20
_QUERY: Final = 50


def show_rates(out: Console, found: RatesResult, hint: str = "") -> None:
    """Draw how fast facts of each sort change; where there are none, what may be the reason."""
    if not found.rates:
        told = f"There are no facts in {shown(found.namespace)}; facts would lose {found.default:g} a day."
        out.print(f"{told} {hint}".strip())
    else:
        table = new_table("sort", "facts", "changes", "days", "a day", "90 % interval", "ask after", "in use")
        for r in found.rates:
            interval = f"{r.low:.4f} to {r.high:.4f}"
            use = "yes" if r.in_use else f"no: {r.because}"
            numbers = (f"{r.facts:,}", f"{r.changes:,}", f"{r.exposure_days:,.0f}", f"{r.rate:.4f}", interval)
            row = (r.type or "(none)", *numbers, f"{r.validation_days:,.0f} days", use)
            table.add_row(*(Text(shown(cell)) for cell in row))
        out.print(table)
        out.print(f"Confidence falls by e^(-rate x days); where no rate is in use, by {found.default:g}.")
    if found.predicates:
        table = new_table("predicate", "several", "one", "has", "because")
        for t in found.predicates:
            cells = (t.predicate, f"{t.several:,}", f"{t.one:,}", t.in_use or "as the policy says", t.because)
            table.add_row(*(Text(shown(cell)) for cell in cells))
        out.print(table)
        out.print("Values at once, as a person's answers say.")
    for pair in found.alike:
        told = {"open": "asked", "same": "one", "different": "kept apart"}[pair.said]
        out.print(Text(shown(f"{pair.goes} and {pair.stays}: {told} (alike by {pair.cosine:.2f})")))
    if not found.learned and any(r.in_use for r in found.rates):
        out.print("Nothing was written; --learn does it.")
    show_undo(out, found.operations)


def show_procedures(out: Console, done: ProceduresResult, days: float) -> None:
    """Draw what was learned, changed or retired, or would be, in so many days."""
    out.print(
        f"{counted(done.messages, 'message')} of {counted(done.sessions, 'session')} of {days:g} days looked at: "
        f"{counted(len(done.procedures), 'procedure')} new or changed, {done.unchanged:,} as before."
    )
    for p in done.procedures[:_SHOWN]:
        out.print(shown(brief(p.content)))
        out.print(Text(f"   {p.move} · confidence {p.confidence:.2f} · {shown(p.because)}", style="dim"))
    show_rest(out, len(done.procedures))
    if done.dry_run and done.procedures:
        out.print("Nothing was written; --apply does it.")
    show_undo(out, done.operations)


def show_backtest(out: Console, found: BacktestResult) -> None:
    """Draw what would have been missing, beside the policy in force."""
    out.print(
        f"{counted(found.recalls, 'recall')} with {counted(found.hits, 'hit')}, {found.useful:,} of them found useful."
    )
    table = new_table("", f"in force ({found.now.preset})", f"other ({found.other.preset})")
    for name, of in _FIGURES:
        table.add_row(Text(name), *(Text(_figure(getattr(side, of))) for side in (found.now, found.other)))
    out.print(table)
    for m in found.lost[:_SHOWN]:
        useful = "useful; " if m.useful else ""
        out.print(Text(f"  {m.at}  {brief(m.query, _QUERY)}: {m.id}", style="yellow" if m.useful else ""))
        out.print(Text(f"      {useful}{shown(m.because)}", style="dim"))
    show_rest(out, len(found.lost))
    _notes(out, found.notes)


_FIGURES: Final = tuple(
    {
        "past hits missing": "missing",
        "past hits in a shorter form": "short",
        "precision": "precision",
        "recall": "recall",
        "memories in view": "visible",
        "archived": "hidden",
        "in a shorter form": "shortened",
        "moved between tiers": "moved",
        "tokens in view": "tokens",
    }.items()
)


def _figure(value: object) -> str:
    if value is None:
        return "not told"
    return f"{value:.3f}" if isinstance(value, float) else f"{value:,}"


def _notes(out: Console, notes: Sequence[str]) -> None:
    for note in notes:
        out.print(Text(f"Note: {note}.", style="dim"))

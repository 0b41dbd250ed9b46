"""What people see of facts: value, how sure, since when, from where, what contradicts and what replaced them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.text import Text

from perdure.interfaces.views.rendering import brief, counted, new_table, show_undo, shown
from perdure.knowledge.records.answer_results import AnswerSheet
from perdure.knowledge.records.fact_results import FactLine, Learnt, Summaries, Timeline
from perdure.records.fact_reasons import FactReasons

_QUOTE = 40
_VALUE = 40
_BELIEVED = ("active", "aging")


def show_learnt(out: Console, done: Learnt) -> None:
    """Draw what messages taught."""
    if not done.messages:
        out.print("Nothing new: what was said there was learned from already.")
        return
    out.print(
        f"{counted(done.messages, 'message')} read: {counted(len(done.created), 'fact')} new, "
        f"{len(done.reinforced):,} confirmed, {len(done.retired):,} not believed any longer."
    )
    if done.asked:
        out.print(Text(f"A person is asked about {', '.join(done.asked)}: perdure review", style="yellow"))
    show_undo(out, done.operations)


def show_facts(out: Console, found: Sequence[FactLine], hint: str = "") -> None:
    """Draw facts as a table; where there are none, what may be the reason."""
    if not found:
        out.print(f"No facts. {hint}".strip())
        return
    table = new_table("id", "about", "what", "value", "sure", "since", "said", "remarks")
    values = {f.id: brief(f.value, _VALUE) for f in found}
    for f in found:
        what = f.predicate.replace("_", " ")
        row = (f.id, f.name, what, values[f.id], f"{f.confidence:.2f}", _day(f.valid_from), _quote(f))
        table.add_row(*(Text(shown(cell)) for cell in (*row, "; ".join(_remarks(f, values)))))
    out.print(table)
    for f in found:
        if f.question:
            out.print(Text(shown(f"Ask: {f.question} ({f.id})"), style="yellow"))


def show_timeline(out: Console, found: Timeline) -> None:
    """Draw what was true of an entity, and believed, oldest first."""
    out.print(Text(shown(f"{found.name} ({found.entity})"), style="bold"))
    if not found.facts:
        out.print("No facts.")
        return
    table = new_table("id", "true", "believed", "what", "value", "state", "sure", "remarks")
    values = {f.id: brief(f.value, _VALUE) for f in found.facts}
    for f in found.facts:
        true, believed = _true(f.valid_from, f.valid_to, f.state), _period(f.believed_from, f.believed_to)
        sure = f"{f.confidence:.2f}" if f.state in _BELIEVED else "-"
        what = f.predicate.replace("_", " ")
        row = (f.id, true, believed, what, values[f.id], f.state, sure, "; ".join(_links(f, values)))
        table.add_row(*(Text(shown(cell)) for cell in row))
    out.print(table)


def show_summaries(out: Console, done: Summaries) -> None:
    """Draw the summaries that were made or are due."""
    if not done.made:
        out.print("No summary is due.")
    for summary in done.made:
        out.print(Text(shown(summary.id or summary.entity), style="bold"))
        out.print(shown(summary.text))
        out.print(Text(f"  stands for {counted(len(summary.sources), 'memory')}", style="dim"))
    if done.dry_run and done.made:
        out.print("Nothing was written; --apply does it.")
    show_undo(out, done.operations)


def show_sheet(out: Console, sheet: AnswerSheet) -> None:
    """Draw an answer sheet."""
    out.print(shown(sheet.text))


def show_reasons(out: Console, r: FactReasons) -> None:
    """Draw why a fact is believed or not."""
    out.print(Text(shown(f"\n{r.says}"), style="bold"))
    true = f"true {_true(r.valid_from, r.valid_to, r.state)}, believed {_period(r.believed_from, r.believed_to)}"
    out.print(shown(f"This fact is {r.state}. It {r.learned}; word of: {r.trust}; {true}."))
    for sentence in r.next:
        out.print(shown(f"  {sentence}"))
    out.print("\nSaid")
    for s in r.sources:
        who = f" {s.speaker}" if s.speaker else ""
        gone = "" if s.found else " (not there any longer)"
        out.print(shown(f'  {s.at or "?"}{who}: "{s.quote}" in {s.memory}[{s.start}:{s.end}]{gone}'))
    if not r.sources:
        out.print(f"  by {'an authority' if r.trust == 'authority' else 'a person in answer'}, not in a message")
    out.print("\nConfidence")
    for c in r.confidence:
        before = "      " if c.before is None else f"{c.before:.2f} >"
        out.print(shown(f"  {c.at}  {before} {c.after:.2f}  {c.because}"))
    for title, lines in (("Conflicts", _conflicts(r)), ("Checks", _checks(r))):
        if lines:
            out.print(f"\n{title}")
        for line in lines:
            out.print(shown(f"  {line}"))


def _conflicts(r: FactReasons) -> list[str]:
    return [
        f"{c.at}  {c.value} ({c.confidence:.2f}) against {c.other_value} ({c.other_confidence:.2f}) of {c.with_id}: "
        f"{c.told}"
        for c in r.conflicts
    ]


def _checks(r: FactReasons) -> list[str]:
    return [f"{c.at}  {c.authority}: {c.outcome}{f'; it has {c.value}' if c.value else ''}" for c in r.checks]


def _remarks(f: FactLine, values: Mapping[str, str]) -> list[str]:
    """What a reader must know besides the value."""
    told = [] if f.state == "active" else [f.state]
    said = "said" if len(f.sources) >= f.confirmations else "said or confirmed"
    told += [f"{said} {f.confirmations} times"] if f.confirmations > 1 else []
    told += [] if f.trust == "user" else [f"word of: {f.trust}"]
    return told + _links(f, values)


def _links(f: FactLine, values: Mapping[str, str]) -> list[str]:
    """Who sees it, what contradicts it, replaced it, was replaced: by value where that is on the list, else by id."""
    told = [f"in session {f.session} only"] if f.session else []
    told += [f"contested by {', '.join(values.get(i, i) for i in f.contested)}"] if f.contested else []
    told += [f"replaced by {', '.join(values.get(i, i) for i in f.superseded_by)}"] if f.superseded_by else []
    replaced = [values[i] for i in f.supersedes if i in values]
    return told + ([f"replaces {', '.join(replaced)}"] if replaced else [])


def _quote(f: FactLine) -> str:
    """Return the latest words that said it; a person's own answer has none."""
    return f'"{brief(f.sources[-1][1], _QUOTE)}"' if f.sources else f"({f.learned})"


def _true(begin: str, end: str, state: str) -> str:
    """When something was true; what was denied as it began never was, what was replaced may have been for a while."""
    if begin != end:
        return _period(begin, end)
    return "never" if state == "invalidated" else f"on {_day(begin)} at most"


def _period(begin: str, end: str) -> str:
    if not end:
        return f"since {_day(begin)}"
    return f"on {_day(begin)} only" if _day(begin) == _day(end) else f"{_day(begin)} to {_day(end)}"


def _day(moment: str) -> str:
    return moment.partition(" ")[0]

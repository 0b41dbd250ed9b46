"""The demonstration, step by step in the terminal. Everything shown is what the engine did, nothing is prepared."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Literal, cast

from rich.console import Console
from rich.markdown import Markdown
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table

from perdure import compose
from perdure.interfaces.demo.history import FOLLOWED, NAMESPACE, SimulatedClock, SimulatedLife, live, notes, sessions
from perdure.interfaces.demo.plots import page
from perdure.interfaces.files.named_file import atomic_file
from perdure.interfaces.views.journal import operation_text, reason_text
from perdure.knowledge.records.results import FactLine
from perdure.memory import Memory
from perdure.records.errors import InvalidInput
from perdure.records.outcome import FactClaim
from perdure.records.recall import Hit

POSTGRES = "postgres"  # the store that stands for a throw-away server

DEPLOY_DAY = "deploy_day"

BUDGET = 750  # tokens of MEMORY.md in the demonstration; small, so that it fits a screen


def run(
    out: Path = Path("demo-output"),
    *,
    store: str | None = None,
    embedder: str | None = None,
    console: Console | None = None,
) -> Path:
    """Play the demonstration, and return the HTML file with the plots.

    Args:
        out: The folder for the store, MEMORY.md and the plots; emptied of an earlier demonstration first.
        store: ``postgres`` plays it on a throw-away server; a URL on that one; in a file in the folder if None.
        embedder: Overrides the policy's, for example ``none``.
        console: Where to print.
    """
    if embedder not in (None, "local", "none"):
        raise InvalidInput(f"embedder must be local or none, not {embedder!r}.", remedy="Choose one of them.")
    show = console or Console(highlight=False)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(
            f"The folder {out} cannot be created ({error.strerror}).", remedy="Choose another one with --out."
        ) from error
    if store == POSTGRES:
        with compose.local_postgres() as url:
            html = _play(out, url, embedder, show)
        show.print("This server was temporary. To start one that stays: perdure postgres", soft_wrap=True)
        return html
    if store is None:
        _make_room(out)
    address = str(out / "northwall.db") if store is None else store
    html = _play(out, address, embedder, show)
    if store is None:
        show.print(f"Store: {address}. Look around: perdure --store {address} -n {NAMESPACE} stats", soft_wrap=True)
        show.print(f"See it in a browser: perdure serve --store {address} --no-maintenance", soft_wrap=True)
        show.print("The conversation ended in June: maintenance would at once move what has become due since.")
    return html


def _play(out: Path, address: str, embedder: str | None, show: Console) -> Path:
    started = time.perf_counter()
    clock = SimulatedClock(sessions()[0].began)
    name = cast("Literal['local', 'none'] | None", embedder)
    with compose.open(address, policy={"days": {"zone": "UTC"}}, clock=clock, embedder=name) as memory:
        _check_empty(memory)
        show.rule("Perdure: five months of one conversation, on a simulated clock")
        life = live(memory, clock, budget=BUDGET)
        _show_remembered(show, memory, life)
        _show_answers(show, life)
        _show_moves(show, life)
        _show_memory_file(show, memory, life, out)
        _show_reasons(show, memory, life)
        _show_undo(show, memory)
        reversals = _reversals(memory)
        policy = memory.policy.tiers
        thresholds = {"leaves hot below": policy.hot_keep_value, "leaves warm below": policy.warm_keep_value}
    with atomic_file(html := out / "five-months.html") as file:
        file.write(page(life.values, life.tiers, thresholds, reversals).encode())
    show.rule()
    show.print(f"{(life.tiers[-1][0] - life.tiers[0][0]).days} days passed in {time.perf_counter() - started:.1f} s.")
    show.print(f"Plots: {html}    MEMORY.md: {out / 'MEMORY.md'}", soft_wrap=True)
    return html


def _check_empty(memory: Memory) -> None:
    """Refuse a server on which the demonstration was played before: all of it would be there twice."""
    if NAMESPACE in memory.namespaces():
        raise InvalidInput(
            f"The store already has a namespace {NAMESPACE}.", remedy="Use another store, or omit --store."
        )


def _make_room(out: Path) -> None:
    """Remove the store that an earlier demonstration left, and nothing else."""
    for name in ("northwall.db", "northwall.db-wal", "northwall.db-shm"):
        (out / name).unlink(missing_ok=True)


def _show_remembered(show: Console, memory: Memory, life: SimulatedLife) -> None:
    show.rule("1. What was remembered", align="left")
    by = memory.stats(NAMESPACE).space or "keywords only (install the extra 'local' for semantic search)"
    show.print(
        f"{life.messages} messages in {life.sessions} sessions were stored unchanged. Embedder: {by}.", markup=False
    )
    now = memory.facts(namespace=NAMESPACE, limit=100)
    handed_over = f"The agent handed {len(notes())} decisions over as facts, and Maya pinned them."
    show.print(f"{handed_over} Later ones replaced {life.replaced} notes and messages. Believed:")
    for fact in now:
        show.print(f"  {fact.name}: {fact.predicate.replace('_', ' ')}: {fact.shown_value}", markup=False)
    again = memory.ingest([m for s in sessions() for m in s.messages], NAMESPACE)
    show.print(f"Ingested a second time: {again.added} added, {again.skipped} skipped.")


def _show_answers(show: Console, life: SimulatedLife) -> None:
    show.rule("2. What recall answered, and why", align="left")
    table = Table("Asked", "Question", "Best answers", "Relevance, score and its parts", show_lines=True)
    for question, at, answer in life.answers.values():
        if answer.nothing_known:
            table.add_row(f"{at:%b %d}", question.text, "[dim]nothing found[/dim]", _short(answer.note))
            continue
        best, *others = answer.hits
        parts = ", ".join(f"{name} {value:.2f}" for name, value in best.parts.items())
        runner_up = "".join(f"\n[dim]also {_dated_text(hit)}[/dim]" for hit in others[:1])
        wrong = "" if question.hint else "[yellow]wrong: nobody spoke of this[/yellow]\n"
        figures = f"relevance {best.relevance:.0%}; {best.score:.2f} = {parts}"
        table.add_row(f"{at:%b %d}", question.text, wrong + _dated_text(best) + runner_up, figures)
    show.print(table)
    unsaid = [answer.nothing_known for question, _, answer in life.answers.values() if not question.hint]
    show.print(f"Of {len(unsaid)} questions about what nobody spoke of, {sum(unsaid)} rightly found nothing.")


def _show_moves(show: Console, life: SimulatedLife) -> None:
    show.rule("3. What moved as time passed", align="left")
    table = Table("Month", "Moves between tiers", "In hot, warm, cold, vault at the month's end")
    months: dict[str, Counter[str]] = {}
    ends: dict[str, dict[str, int]] = {}
    for (day, report), (_, tiers) in zip(life.sweeps, life.tiers, strict=True):
        months.setdefault(f"{day:%B %Y}", Counter()).update(report.tally)
        ends[f"{day:%B %Y}"] = tiers
    for month, moves in months.items():
        moves_text = ", ".join(f"{move} {count}" for move, count in moves.most_common())
        table.add_row(
            month, moves_text or "none", ", ".join(str(ends[month].get(t, 0)) for t in ("hot", "warm", "cold", "vault"))
        )
    show.print(table)
    woken = [m for _, report in life.sweeps for m in report.moved if m.move in ("cold to warm", "warm to hot")]
    if woken:
        show.print(f"One of {len(woken)} memories that moved back up: {woken[-1].because}.")


def _show_memory_file(show: Console, memory: Memory, life: SimulatedLife, out: Path) -> None:
    show.rule(f"4. MEMORY.md within {BUDGET} tokens, after one month and at the end", align="left")
    details = memory.digest_details(NAMESPACE, BUDGET)
    with atomic_file(out / "MEMORY.md") as file:
        file.write(details.text.encode())
    for title, text in (("after one month", life.early_digest), ("at the end", details.text)):
        shown = "\n".join(line for line in text.splitlines() if not line.startswith("<!--"))
        show.print(Panel(Markdown(shown), title=title))

    show.print("\n".join(f"Not in it any more: {reversal}" for reversal in _reversals(memory)), markup=False)
    show.print(f"At most {details.tokens} tokens, {len(details.ids)} memories.")


def _reversals(memory: Memory) -> list[str]:
    """Return a sentence for each decision that another one took the place of, with the days of both."""
    facts = memory.facts(namespace=NAMESPACE, past=True, limit=100)
    now = {(f.subject, f.predicate): f for f in facts if not f.superseded_by and f.state != "superseded"}
    return [
        f"{old.name}, {old.predicate.replace('_', ' ')}: {old.shown_value} from {old.valid_from[:10]} until "
        f"{old.valid_to[:10]}, {new.shown_value} since {new.valid_from[:10]}."
        for old in facts
        if old.superseded_by and (new := now.get((old.subject, old.predicate)))
    ]


def _show_reasons(show: Console, memory: Memory, life: SimulatedLife) -> None:
    show.rule("5. Why one of them holds, and why another is where it is", align="left")
    day = _deploy_day(memory)
    show.print(f"[bold]deploy day[/bold]: {escape(memory.why(day.id).summary)}")
    for fact in memory.timeline(day.subject, namespace=NAMESPACE).facts:
        if fact.predicate == DEPLOY_DAY:
            until = f" until {fact.valid_to[:10]}" if fact.valid_to else ""
            quotes = "; ".join(_short(quote, 70) for _, quote in fact.sources)
            show.print(f"  {fact.shown_value} from {fact.valid_from[:10]}{until}, {fact.state}: {quotes}", markup=False)
    label = next(iter(FOLLOWED))
    identity = life.followed[label]
    why = memory.why(identity)
    show.print(f"[bold]{label}[/bold]: {why.summary}")
    show.print(f"  value {why.signals['value']}")
    entries = [entry for entry in why.history if entry.target == "memory"]
    for entry in entries[:1] + entries[-3:]:
        show.print(f"  {entry.at}  {operation_text(entry)}: {reason_text(entry)}", soft_wrap=True)


def _show_undo(show: Console, memory: Memory) -> None:
    show.rule("6. Undo", align="left")
    day = _deploy_day(memory)
    _deploy_lines(show, memory, day.subject, "MEMORY.md and facts say")
    wrong: FactClaim = {"subject": day.name, "predicate": day.predicate, "value": "Friday"}
    updated = memory.update(day.sources[-1][0], "Deploy day is Friday at 10:00.", [wrong])
    _deploy_lines(show, memory, day.subject, "An agent misheard and updated it; now they say")
    memory.undo(updated)
    _deploy_lines(show, memory, day.subject, "After undo they say")
    forecast = memory.forecast(365 * 3, namespace=NAMESPACE, details=True)
    archived = [m for m in forecast.moved if m.move.endswith("archived")]
    when = f"the first on {archived[0].at}" if archived else "none"
    show.print(
        f"If nothing were recalled for three years, {len(archived)} would be archived (hidden, not deleted): {when}."
    )


def _deploy_day(memory: Memory) -> FactLine:
    return next(f for f in memory.facts(namespace=NAMESPACE) if f.predicate == DEPLOY_DAY)


def _deploy_lines(show: Console, memory: Memory, subject: str, title: str) -> None:
    lines = [line for line in memory.digest(NAMESPACE, BUDGET).splitlines() if "eploy day" in line]
    facts = [
        f"  fact: {f.predicate.replace('_', ' ')}: {f.shown_value}" for f in memory.facts(subject, namespace=NAMESPACE)
    ]
    show.print(
        "\n".join([f"{title}:", *(f"  {line}" for line in lines), *(f for f in facts if "deploy" in f)]), markup=False
    )


def _dated_text(hit: Hit) -> str:
    return escape(f"{hit.memory.created_at:%b %d}: {_short(hit.memory.content)}")


def _short(text: str, limit: int = 110) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"

"""What people see in the terminal: tables, lists and progress. Text from memories is shown, never interpreted."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from perdure.records.instant import text_of, to_instant
from perdure.records.memory import MemoryItem
from perdure.records.recall import Hit, Recall
from perdure.records.report import Ingested, Report, Stats
from perdure.records.transfer import Moved
from perdure.rules.escaping import terminal_text

_PIPE_WIDTH = 160
_MOVES_SHOWN = 20
_LINE = 100


def terminal() -> Console:
    """Return the console for answers. It obeys NO_COLOR; nothing in brackets is taken as markup."""
    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    return Console(markup=False, highlight=False, emoji=False, soft_wrap=width is not None, width=width)


def shown(text: str) -> str:
    """Return text with control characters made visible, so that a memory cannot steer the terminal."""
    return terminal_text(text)


@contextmanager
def progress(title: str) -> Iterator[Callable[[int, int], None] | None]:
    """Show a progress bar on standard error if that is a terminal; yields what to call with (done, total), or None."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _when(moment: datetime | None) -> str:
    return "never" if moment is None else text_of(to_instant(moment))


def brief(text: str, longest: int = _LINE) -> str:
    """Return text on one line, cut where it is longer."""
    line = shown(" ".join(text.split()))
    return line if len(line) <= longest else line[: longest - 1] + "…"


def new_table(*columns: str) -> Table:
    """Return an empty table; ids are not broken."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, no_wrap=column == "id", overflow="fold")
    return table


def draw_pairs(out: Console, pairs: Mapping[str, Any]) -> None:
    """Draw names and values below each other."""
    table = Table.grid(padding=(0, 2))
    for name, value in pairs.items():
        table.add_row(Text(name, style="bold"), Text(shown(str(value))))
    out.print(table)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, for example ``1 file`` or ``1,200 files``."""
    return f"{number:,} {noun if number == 1 else noun.removesuffix('y') + 'ies' if noun[-1] == 'y' else noun + 's'}"


def show_pairs(out: Console, pairs: Mapping[str, Any]) -> None:
    """Draw names and values."""
    if pairs:
        draw_pairs(out, {name.replace("_", " "): value for name, value in pairs.items()})
    else:
        out.print("Nothing to do.")


def show_names(out: Console, names: Sequence[str]) -> None:
    """Draw one name on each line."""
    for name in names:
        out.print(shown(name))
    if not names:
        out.print("There is no namespace yet; 'perdure remember' makes one.")


def sum_of(parts: Mapping[str, float]) -> str:
    """Return parts as they add up, without those that add nothing."""
    return " + ".join(f"{name} {value:.3f}" for name, value in parts.items() if round(value, 3)) or "nothing"


def _warnings(hit: Hit, places: Mapping[str, int]) -> Iterator[str]:
    """Say what else is known about what a hit says."""
    if hit.updated_by:
        yield f"a later message says otherwise: {_place(hit.updated_by, places)}"
    for other in hit.contested_with:
        if other == hit.memory.id:
            yield "it contradicts itself: ask which is right"
        else:
            yield f"contested: {_place(other, places)} says otherwise; ask which is right"


def _place(identity: str, places: Mapping[str, int]) -> str:
    return f"number {places[identity]}" if identity in places else identity


def show_recall(out: Console, answer: Recall, namespace: str = "", others: Sequence[str] = ()) -> None:
    """Draw the hits of a recall, each with its score parts; where there are none, say where else to look."""
    if not answer.hits:
        out.print("Nothing known.")
        if others:
            listed = ", ".join(others[:5]) + (", …" if len(others) > 5 else "")  # noqa: PLR2004  # as many as fit a line
            out.print(shown(f"Looked in namespace {namespace}; this store also has {listed} (-n NAME)."))
    places = {hit.memory.id: rank for rank, hit in enumerate(answer.hits, 1)}
    for rank, hit in enumerate(answer.hits, 1):
        memory = hit.memory
        who = f"{memory.speaker}: " if memory.speaker else ""
        out.print(Text.assemble((f"{rank}. ", "bold"), shown(who + memory.content)))
        told = [memory.id, str(memory.kind), str(memory.tier), _when(memory.created_at)]
        told += [f"session {memory.session}"] if memory.session else []
        told += ["pinned"] if memory.pinned else []
        told += [] if memory.status == "active" else [str(memory.status)]
        told += [f"sure {memory.confidence:.2f}"] if memory.kind == "fact" else []
        told += ["ageing"] if memory.aging else []
        told += [] if memory.form == "full" else [f"shortened to its {memory.form}"]
        out.print(Text("   " + shown(" · ".join(told)), style="dim"))
        for warning in _warnings(hit, places):
            out.print(Text(f"   {warning}", style="yellow"))
        out.print(Text(f"   score {hit.score:.3f} = {sum_of(hit.parts)}", style="dim"))
        if hit.question:
            how = "confirm, deny or correct" if hit.memory.aging else "why"
            out.print(Text(shown(f"   Ask: {hit.question} (perdure {how})"), style="yellow"))
    if answer.hits and answer.id:
        out.print(Text(f"Say what helped with: perdure used MEMORY_ID --recall {answer.id}", style="dim"))
    if answer.note:
        out.print(Text(f"Note: {shown(answer.note)}", style="yellow"))


def show_memories(out: Console, memories: Sequence[MemoryItem], namespace: str) -> None:
    """Draw a table of memories."""
    if not memories:
        out.print(f"No memories in {shown(namespace)} pass the filters.")
        return
    table = new_table("id", "when", "kind", "tier", "status", "value", "content")
    for m in memories:
        state = f"{m.status} (pinned)" if m.pinned else str(m.status)
        row = (m.id, _when(m.created_at), str(m.kind), str(m.tier), state, f"{m.value:.2f}", brief(m.content))
        table.add_row(*(Text(cell) for cell in row))
    out.print(table)


def show_ingested(out: Console, done: Ingested, files: int, namespace: str, *, taught: bool = True) -> None:
    """Draw what an ingest brought in, and whether facts were looked for in it."""
    read = f"{counted(done.added, 'memory')} from {counted(files, 'file')}"
    out.print(f"Stored {read} in {shown(namespace)}; {done.skipped:,} known already.")
    if taught and done.operations:
        out.print(Text("Facts were looked for in it: perdure facts", style="dim"))
    elif done.added:
        out.print(Text("No facts were learned from it; 'perdure facts' tells how to have that.", style="dim"))
    show_undo(out, done.operations)


def show_memory(out: Console, memory: MemoryItem) -> None:
    """Draw one memory whole."""
    pairs: dict[str, Any] = {
        "id": memory.id,
        "namespace": memory.namespace,
        "kind": memory.kind,
        "scope, tier": f"{memory.scope}, {memory.tier}",
        "form": f"{memory.form}, {counted(memory.tokens, 'token')}",
        "status": f"{memory.status} (pinned)" if memory.pinned else memory.status,
        "happened": _when(memory.created_at),
        "stored": _when(memory.recorded_at),
        "next look": _when(memory.due_at),
        "importance": f"{memory.importance:.3f}",
        "confidence": f"{memory.confidence:.3f}",
        "strength": f"{memory.strength:.3f}",
        "retention": f"{memory.retention:.3f}",
        "value": f"{memory.value:.3f}",
        "accesses": memory.access_count,
    }
    optional = {
        "tags": ", ".join(memory.tags),
        "speaker": memory.speaker,
        "session": memory.session,
        "task": memory.task,
        "source": memory.source,
        "metadata": dict(memory.metadata),
    }
    draw_pairs(out, {**pairs, **{name: value for name, value in optional.items() if value}})
    out.print()
    out.print(shown(memory.content))


def show_report(out: Console, report: Report, *, foreseen: bool = False, operations: bool = True) -> None:
    """Draw what a sweep did or would do, or what a forecast foresees."""
    told = "foreseen" if foreseen else "to make" if report.dry_run else "made"
    looked = "" if foreseen else f"; {counted(report.examined, 'memory')} due or accessed"
    out.print(f"{counted(len(report.moved), 'move')} {told}{looked}.")
    for move, count in report.tally.items():
        out.print(f"  {count:,} x {shown(move)}")
    for moved in report.moved[:_MOVES_SHOWN]:
        because = moved.because if moved.because.startswith(moved.move) else f"{moved.move}: {moved.because}"
        out.print(Text(f"  {moved.at}  {moved.id}  {shown(because)}", style="dim"))
    if len(report.moved) > _MOVES_SHOWN:
        out.print(f"  … and {len(report.moved) - _MOVES_SHOWN:,} more; --json lists all.")
    for held in report.held:
        out.print(
            Text(
                f"Held in {shown(held.namespace)}: {counted(len(held.ids), 'move')}. {shown(held.because)}",
                style="yellow",
            )
        )
    show_undo(out, report.operations if operations else ())


def show_plans(out: Console, answer: Mapping[str, Any]) -> None:
    """Draw plans that were written to a file, or applied."""
    if not answer["plans"]:
        out.print("There is nothing to do.")
    for plan in answer["plans"]:
        out.print(
            f"{shown(plan['operation'])} in {shown(plan['namespace'])}: {counted(plan['changes'], 'change')}, "
            f"hides {plan['hides']:,}, shortens {plan['shortens']:,}. {shown(plan['note'])}"
        )
    if answer["applied"]:
        show_undo(out, [plan["id"] for plan in answer["plans"]])
    else:
        out.print(f"Apply it with: perdure apply {shown(answer['file'])}")


def show_upkeep(out: Console, found: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
    """Draw when each task of upkeep last ran in each namespace, and how it ended."""
    for place, tasks in found.items():
        for task, data in tasks.items():
            times = f"last {text_of(data['last_ms'])}, next {text_of(data['next'])}"
            told = f"{shown(place)}: {task} {data['outcome']}, {times}. {shown(str(data.get('note', '')))}"
            out.print(Text(told, style="" if data["outcome"] == "done" else "yellow"))
    if not any(found.values()):
        out.print("Nothing has run by the schedule yet.")


def show_undo(out: Console, operations: Sequence[str]) -> None:
    """Draw how operations are taken back, the last one first."""
    if len(operations) > 1:
        out.print("To take all of it back, go in this order.")
    for operation in reversed(operations):
        out.print(f"Undo: perdure undo {operation}")


def show_stats(out: Console, found: Stats, store: str, hint: str = "") -> None:
    """Draw how a store is doing; where it has no facts, what may be the reason."""
    counts = ("tiers", "statuses", "kinds")
    pairs: dict[str, Any] = {
        "store": store,
        "memories": f"{found.memories:,} in {counted(found.namespaces, 'namespace')}",
    }
    for name in counts:
        pairs[name] = ", ".join(f"{key} {count:,}" for key, count in getattr(found, name).items()) or "none"
    if found.value_percentiles:
        told = ", ".join(f"{key} {value:.2f}" for key, value in found.value_percentiles.items())
        pairs["value"] = f"{told} (of {found.sampled:,})"
    pairs |= {
        "due": f"{found.due_now:,} now, {found.due_soon:,} within 7 days",
        "review suggested": f"{found.review_suggested:,} of {found.sampled:,}",
        "found by words only": f"{found.without_vector:,}",
        "embedding space": found.space or "none",
    }
    if found.model is not None:
        use = found.model
        told = f"{counted(use.calls, 'call')} ({use.failures:,} failed), {use.seconds:.1f} s"
        pairs["language model"] = f"{told}; tokens: {use.tokens_in:,} in, {use.tokens_out:,} out"
    if hint and "fact" not in found.kinds:
        pairs["facts"] = f"none. {hint}"
    draw_pairs(out, pairs)
    if found.at_risk:
        out.print("\nHigh value, and archived within 30 days if nothing happens")
        for identity, value, when in found.at_risk:
            out.print(f"  {identity}  value {value:.2f}  {when}")


def show_digest(out: Console, found: Mapping[str, Any]) -> None:
    """Draw a digest, or what became of its file. The length goes to standard error, so that the text can be piped."""
    how = "counted by the embedder's tokenizer" if found["exact"] else "estimated on the high side"
    size = f"{counted(len(found['ids']), 'memory')}, {found['tokens']:,} tokens ({how}), profile {found['profile']}"
    file = found["file"]
    if file is None:
        sys.stdout.write(shown_lines(found["text"]))
        print(size, file=sys.stderr)
    elif "stale" in found:
        out.print(f"{shown(file)} is {'stale; write it with --out alone' if found['stale'] else 'up to date'}.")
    else:
        out.print(f"{shown(file)} was {'written' if found['written'] else 'up to date'}: {size}.")


def shown_lines(text: str) -> str:
    """Return text unchanged for a pipe, and with control characters made visible for a terminal."""
    return shown(text) if sys.stdout.isatty() else text


def show_check(out: Console, faults: Sequence[str], store: str) -> None:
    """Draw what is wrong with a store."""
    for fault in faults:
        out.print(Text(shown(fault), style="red"))
    if faults:
        out.print(f"{shown(store)} has {counted(len(faults), 'fault')}. Restore a copy of the file.")
    else:
        out.print(f"{shown(store)} is sound.")


def show_steps(out: Console, steps: Sequence[str]) -> None:
    """Print what a migration did."""
    for step in steps:
        out.print(shown(step), soft_wrap=True, markup=False, highlight=False)
    if not steps:
        out.print("Nothing to do: the tables are up to date.")


def show_moved(out: Console, done: Moved, verb: str, store: str, seconds: float) -> None:
    """Draw what a copy or an import brought to a store."""
    out.print(
        f"{verb} {counted(done.namespaces, 'namespace')} to {shown(store)} in {seconds:.1f} s: "
        f"{counted(done.written, 'row')} written, {counted(sum(done.parts.values()), 'row')} verified."
    )
    draw_pairs(out, {part: f"{rows:,}" for part, rows in done.parts.items()})
    if not done.whole:
        out.print(Text("The file was cut short: only what was there of it is stored.", style="yellow"))

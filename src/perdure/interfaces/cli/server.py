"""Commands for a store on a server: its tables, and workers that keep it."""

from __future__ import annotations

import os
import platform
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from perdure.interfaces.cli.call import Call, Exit, print_json
from perdure.interfaces.views import Request, view_of
from perdure.interfaces.views.blocks import Line, PlainText
from perdure.records.errors import InvalidInput, StoreBusy, StoreUnavailable
from perdure.rules.escaping import terminal_line
from perdure.verbs.lazy import lazy_modules

if TYPE_CHECKING:
    from types import FrameType

    from perdure import compose
    from perdure.records.report import Upkept
else:
    (compose,) = lazy_modules("perdure", "compose")
_LOOK_SECONDS = 30.0


def migrate(
    call: Call,
    url: Annotated[
        str | None, typer.Argument(metavar="URL", help="The server. Default: the store given with --store.")
    ] = None,
    distribute: Annotated[
        bool, typer.Option("--distribute", help="Distribute the tables over a Citus cluster.")
    ] = False,
) -> None:
    """Create or upgrade the tables of a PostgreSQL server. Safe to run twice."""
    address = url or call.store
    if not compose.is_server(address):
        why = "Only servers are migrated: a file is upgraded when it is opened."
        raise InvalidInput(why, remedy="Pass a server: `perdure migrate postgresql://user@host/database`.")
    steps: list[str] = []
    done = compose.migrate(address, say=steps.append, distribute=distribute)
    lines = [Line(step) for step in steps or ["Nothing to do: the tables are up to date."]]
    call.answer({"migrations": done, "steps": steps}, *lines)


def maintain(
    call: Call,
    once: Annotated[bool, typer.Option("--once", help="Run what is due once, then exit; for cron and timers.")] = False,
    every: Annotated[
        float | None,
        typer.Option(
            "--every",
            metavar="SECONDS",
            help="Sweep again after this pause. Default: check every 30 s what is due by the policy's schedule.",
            min=0.1,
        ),
    ] = None,
    owner: Annotated[
        str | None,
        typer.Option("--owner", metavar="NAME", help="This worker's name. Default: host name and process id."),
    ] = None,
    status: Annotated[
        bool, typer.Option("--status", help="Only show when each task last ran, how it ended and when it is due next.")
    ] = False,
) -> Exit:
    """Run the scheduled maintenance: sweeps, decay reports, backups of the vault. Several workers may run at once."""
    if status:
        _show_state(call)
        return Exit.OK
    name, pause = owner or f"{platform.node()}-{os.getpid()}", every or _LOOK_SECONDS
    with stopping() as stopped, call.memory(create=True) as memory:
        known: dict[str, int] = {}
        run = partial(memory.upkeep, name, eager=once or every is not None, stop=stopped.is_set, known=known)
        if once:
            report = run()
            _show_round(call, report)
            return Exit.FAILED if report.failed else Exit.OK
        print(f"{name} maintains {call.shown_store}, every {pause:g} s, until Ctrl-C.", file=sys.stderr)
        while not stopped.is_set():
            _run_round(call, run)
            stopped.wait(pause)
    return Exit.OK


def _run_round(call: Call, run: Callable[[], Upkept]) -> None:
    """Run one of many rounds; a store that cannot be reached may be reached in the next."""
    try:
        report = run()
    except (StoreUnavailable, StoreBusy) as error:
        print(str(error), file=sys.stderr)
    else:
        if report.swept.swept or report.runs or report.failed:
            _show_round(call, report)


def _show_state(call: Call) -> None:
    with call.memory() as memory:
        places = memory.namespaces() if call.namespace is None else [call.namespace]
        found = {place: memory.upkeep_state(place) for place in places}
    call.answer(found, *view_of(found, Request("upkeep_state")))


def postgres(
    call: Call,
    folder: Annotated[
        str | None, typer.Option("--folder", metavar="FOLDER", help="Data folder. Default: a temporary one.")
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", min=1024, max=65535, help="The port, with --folder. Default: any free port.")
    ] = None,
) -> None:
    """Run a local PostgreSQL server for trying Perdure, until Ctrl-C. Needs the extra postgres-local."""
    with stopping() as stopped, compose.local_postgres(Path(folder) if folder else None, port=port) as url:
        call.answer(
            {"url": url},
            PlainText(
                f"export PERDURE_STORE='{url}'\n\nThe tables of Perdure are set up. Stop the server with Ctrl-C."
            ),
        )
        sys.stdout.flush()
        stopped.wait()


def _show_round(call: Call, kept: Upkept) -> None:
    if call.as_json:
        print_json(kept.to_dict())
        sys.stdout.flush()
        return
    report = kept.swept
    print(
        f"{report.swept} of {report.due} due namespaces swept, "
        f"{report.moves} moves, {report.counted} accesses counted, {report.held} held back"
        + (f"; {report.kept} kept by other workers" if report.kept else "")
        + (f"; {report.lost} taken over by other workers" if report.lost else ""),
        flush=True,
    )
    for run in kept.runs:
        if run.outcome == "done" and run.task != "sweep":
            print(f"  {terminal_line(run.namespace)}: {run.task}: {terminal_line(run.note)}", flush=True)
    for place, problem in kept.failed.items():
        print(f"  {terminal_line(place)}: {terminal_line(problem)}", file=sys.stderr)


@contextmanager
def stopping() -> Iterator[threading.Event]:
    """Set an event at SIGTERM or Ctrl-C: the namespace at hand is finished, then the worker ends."""
    stopped = threading.Event()

    def stop(_number: int, _frame: FrameType | None) -> None:
        stopped.set()

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

"""Commands that run until they are stopped: workers, the HTTP service, a server; and a server's tables."""

from __future__ import annotations

import logging
import os
import platform
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from perdure.interfaces.cli.call import Call, Exit, print_json
from perdure.interfaces.cli.setup import Tools, extra_needed
from perdure.interfaces.views import Request, view_of
from perdure.interfaces.views.blocks import Block, Identifier, Line, Pairs, PlainText, Untrusted
from perdure.interfaces.views.values import counts_in_words, pluralize
from perdure.records.errors import InvalidInput, StoreBusy, StoreUnavailable
from perdure.rules.escaping import terminal_line
from perdure.verbs.declaration import lazy_modules

if TYPE_CHECKING:
    from types import FrameType

    from perdure import compose
    from perdure.interfaces.views import maintenance, terminal
    from perdure.memory import Memory
    from perdure.records import report
else:
    (compose,) = lazy_modules("perdure", "compose")
    maintenance, terminal = lazy_modules("perdure.interfaces.views", "maintenance", "terminal")
    (report,) = lazy_modules("perdure.records", "report")
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
        message = "Only servers are migrated: a file is upgraded when it is opened."
        raise InvalidInput(message, remedy="Pass a server: `perdure migrate postgresql://user@host/database`.")
    steps: list[str] = []
    migrations = compose.migrate(address, say=steps.append, distribute=distribute)
    lines = [Line(step) for step in steps or ["Nothing to do: the tables are up to date."]]
    call.answer({"migrations": migrations, "steps": steps}, *lines)


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
    with stopping() as stopped, call.memory(create=True, lasting=not once) as memory:
        compose.check_alert_secret(memory.policy.alerts)
        known: dict[str, int] = {}
        run = partial(memory.upkeep, name, eager=once or every is not None, stop=stopped.is_set, known=known)
        if once:
            with _no_log_of_failures(), terminal.progress("Maintaining") as show:
                done = run(progress=show)
            _show_round(call, done)
            return Exit.FAILED if done.failed else Exit.OK
        print(f"{name} maintains {call.shown_store}, every {pause:g} s, until Ctrl-C.", file=sys.stderr)
        while not stopped.is_set():
            _run_round(call, run)
            stopped.wait(pause)
    return Exit.OK


@contextmanager
def _no_log_of_failures() -> Iterator[None]:
    """Keep failures of tasks out of the log: they are printed with the round. Tracebacks of defects stay."""
    log = logging.getLogger("perdure.operations.lifecycle.task_runs")

    def is_traceback(record: logging.LogRecord) -> bool:
        return record.exc_info is not None

    log.addFilter(is_traceback)
    try:
        yield
    finally:
        log.removeFilter(is_traceback)


def _run_round(call: Call, run: Callable[[], report.MaintenanceResult]) -> None:
    """Run one of many rounds; a store that cannot be reached may be reached in the next."""
    try:
        with _no_log_of_failures():
            done = run()
    except (StoreUnavailable, StoreBusy) as error:
        print(str(error), file=sys.stderr)
    else:
        if done.swept.swept or done.runs or done.failed:
            _show_round(call, done)


def _show_state(call: Call) -> None:
    with call.memory() as memory:
        place = call.namespace
        states = memory.upkeep_states() if place is None else {place: memory.upkeep_state(place)}
    call.answer(states, *view_of(states, Request("upkeep_state")))


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


def _show_round(call: Call, upkept: report.MaintenanceResult) -> None:
    if call.as_json:
        print_json(upkept.to_dict())
        sys.stdout.flush()
        return
    swept = upkept.swept
    print(
        f"{swept.swept} of {swept.due} due namespaces swept, "
        f"{swept.moves} moves, {swept.counted} accesses counted, {swept.held} held back"
        + (f"; {swept.kept} kept by other workers" if swept.kept else "")
        + (f"; {swept.lost} taken over by other workers" if swept.lost else ""),
        flush=True,
    )
    for run in upkept.runs:
        if run.outcome == "done" and run.task != "sweep":
            print(f"  {terminal_line(run.namespace)}: {run.task}: {terminal_line(run.note)}", flush=True)
    for namespace, problem in upkept.failed.items():
        print(f"  {terminal_line(namespace)}: {terminal_line(problem)}", file=sys.stderr)


@contextmanager
def stopping() -> Iterator[threading.Event]:
    """Set an event at SIGTERM or Ctrl-C: the namespace at hand is finished, then the worker ends."""
    stopped = threading.Event()

    def stop(_number: int, _frame: FrameType | None) -> None:
        stopped.set()

    previous = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield stopped
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


Traces = Literal["off", "spans", "content"]
AllowedHosts = Annotated[
    list[str] | None,
    typer.Option("--allowed-host", metavar="NAME", help="Another Host header to accept, for example of a proxy."),
]
Proxies = Annotated[
    list[str] | None,
    typer.Option(
        "--proxy", metavar="ADDRESS", help="A proxy on another machine whose X-Forwarded headers are trusted."
    ),
]
RootPath = Annotated[
    str | None,
    typer.Option("--root-path", metavar="PATH", help="The path of the service at a proxy that strips it."),
]
MemoryFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--memory-file", metavar="NAMESPACE=FILE", help="A MEMORY.md file to show beside what would be written now."
    ),
]
_CALLER: Final = (
    "Calls of one token (without tokens: about one namespace) that a worker runs at once; 0 for half of --threads."
)
CallerThreads = Annotated[int, typer.Option("--caller-threads", min=0, max=256, help=_CALLER)]


def serve(  # noqa: PLR0913, PLR0917  # the options of a command
    call: Call,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="The port; 0 for a free one.")] = 8766,
    tools: Annotated[Tools, typer.Option("--tools", help="The MCP tools at /mcp; as for mcp --profile.")] = "agent",
    allowed_host: AllowedHosts = None,
    proxy: Proxies = None,
    root_path: RootPath = None,
    memory_file: MemoryFiles = None,
    workers: Annotated[
        int, typer.Option("--workers", min=1, max=256, help="Processes that answer; each uses about one core.")
    ] = 1,
    threads: Annotated[int, typer.Option("--threads", min=1, max=256, help="Calls that a worker runs at once.")] = 8,
    waiting: Annotated[
        int, typer.Option("--waiting", min=0, max=10_000, help="Calls that may wait; more are refused with 503.")
    ] = 64,
    caller_threads: CallerThreads = 0,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", min=0.1, max=3600, help="How long a call may take.")
    ] = 60.0,
    rate: Annotated[
        float, typer.Option("--rate", metavar="NUMBER", min=0, help="Calls a second of one token; 0 for no limit.")
    ] = 0.0,
    traces: Annotated[
        Traces, typer.Option("--traces", help="OpenTelemetry spans of calls; with content also questions and memories.")
    ] = "off",
    log: Annotated[bool, typer.Option("--log", help="Write a line of JSON for each call, without content.")] = False,
    no_maintenance: Annotated[
        bool,
        typer.Option(
            "--no-maintenance", help="Run no maintenance beside the service; the page Plans shows what is due."
        ),
    ] = False,
) -> None:
    """Serve the store over HTTP: every command as a route, a description at /openapi.json. Needs the extra server."""
    with extra_needed("The service", "server"):
        from perdure.interfaces.http.serve import serve as run  # noqa: PLC0415  # an extra, and start-up time

        network: dict[str, Any] = {"allowed_hosts": allowed_host or (), "proxies": proxy or ()}
        limits: dict[str, Any] = {"threads": threads, "waiting": waiting, "caller_threads": caller_threads}
        limits |= {"call_seconds": timeout, "rate": rate}
        limits["root_path"] = root_path or ""
        shown: dict[str, Any] = {"namespace": call.place, "tools": tools, "memory_file": memory_file or ()}
        beside: dict[str, Any] = {"traces": traces, "log": log, "maintenance": not no_maintenance}
        run(call.prepared_store(), call.policy, host, port, workers=workers, **network, **limits, **shown, **beside)


_SHOWN_OPERATIONS: Final = 12  # that a picture shows
_MOST_OPERATIONS: Final = 500  # between two looks
_SAMPLE_SIZE: Final = 400  # memories that the figures rest on


@dataclass(frozen=True, slots=True)
class StoreSnapshot:
    """What is seen of a store at a moment."""

    stats: report.Stats
    alerts: Sequence[report.Alert]
    operations: Sequence[report.Operation]  # newest first

    def since(self, before: StoreSnapshot | None) -> list[report.Operation]:
        """Return the operations that another look did not see, oldest first."""
        known = {o.id for o in before.operations} if before else set()
        return [o for o in reversed(self.operations) if o.id not in known] if before else []


def watch(
    call: Call,
    every: Annotated[float, typer.Option("--every", metavar="SECONDS", help="Pause between two looks.", min=0.1)] = 2.0,
    once: Annotated[bool, typer.Option("--once", help="Look once, then exit.")] = False,
) -> Exit:
    """Show what happens to the store as it happens: operations, what needs attention, what is due.

    In a terminal one picture is drawn again; elsewhere, and with --json, each operation is a line. Ctrl-C ends it, with
    exit code 0.
    """
    with stopping() as stopped, call.memory(lasting=not once) as memory, _screen(once=once or call.as_json) as screen:
        before = _look_again(call, memory, None, screen)
        while not once and not stopped.wait(every):
            before = _look_again(call, memory, before, screen)
    return Exit.OK


def _look_again(call: Call, memory: Memory, before: StoreSnapshot | None, screen: Any) -> StoreSnapshot | None:
    """Look once more and show what is new; a store that does not answer may answer at the next look."""
    try:
        now = _look(memory, call.namespace)
    except (StoreUnavailable, StoreBusy) as error:
        print(str(error), file=sys.stderr)
        return before
    _show_news(call, now, before, screen)
    return now


def _look(memory: Memory, namespace: str | None) -> StoreSnapshot:
    operations = [
        o for o in memory.history(namespace=namespace, limit=_MOST_OPERATIONS) if isinstance(o, report.Operation)
    ]
    return StoreSnapshot(memory.stats(namespace, sample=_SAMPLE_SIZE), memory.alerts(namespace), operations)


def _screen(*, once: bool) -> Any:
    """Return what redraws a picture; nothing where lines are printed."""
    if once or not sys.stdout.isatty():
        return nullcontext()
    from rich.live import Live as Redrawn  # noqa: PLC0415  # rich loads only where it draws

    return Redrawn(auto_refresh=False)


def _show_news(call: Call, now: StoreSnapshot, before: StoreSnapshot | None, screen: Any) -> None:
    if screen is not None:
        _redraw(screen, now)
    elif call.as_json:
        _print_news_json(now, before)
    elif before is None:
        call.answer(None, *_picture_blocks(now))
    else:
        call.answer(None, *(_line(o) for o in now.since(before)), *_alert_news(now, before))
    sys.stdout.flush()


def _print_news_json(now: StoreSnapshot, before: StoreSnapshot | None) -> None:
    if before is None or _are_other_alerts(now, before):
        print_json({"alerts": [a.to_dict() for a in now.alerts]})
    for operation in now.since(before):
        print_json({"operation": operation.to_dict()})


def _redraw(screen: Any, now: StoreSnapshot) -> None:
    from rich.text import Text  # noqa: PLC0415  # rich loads only where it draws

    from perdure.interfaces.views.terminal import draw, terminal  # noqa: PLC0415  # as above

    console = terminal()
    with console.capture() as drawn:
        draw(console, _picture_blocks(now))
    screen.update(Text.from_ansi(drawn.get()), refresh=True)


def _picture_blocks(now: StoreSnapshot) -> Iterator[Block]:
    yield Line(
        f"{pluralize(now.stats.memories, 'memory')} in view at {now.stats.at:%Y-%m-%d %H:%M:%S} UTC", tone="strong"
    )
    yield Pairs(
        (
            ("tiers", counts_in_words(now.stats.tiers)),
            ("due", f"{now.stats.due_now:,} now, {now.stats.due_soon:,} within 7 days"),
            ("questions", f"{now.stats.questions:,} to a person"),
        )
    )
    yield from maintenance.looked_into(now.stats)
    yield from view_of(list(now.alerts), Request("alerts"))
    yield from view_of(list(now.operations[:_SHOWN_OPERATIONS]), Request("history"))


def _line(operation: report.Operation) -> Line:
    parts = (f": {operation.operation} ", Identifier(operation.id), " ", Untrusted(operation.note))
    return Line((f"{operation.at}  ", Untrusted(operation.namespace), *parts))


def _alert_news(now: StoreSnapshot, before: StoreSnapshot) -> list[Block]:
    return view_of(list(now.alerts), Request("alerts")) if _are_other_alerts(now, before) else []


def _are_other_alerts(now: StoreSnapshot, before: StoreSnapshot) -> bool:
    """Whether alerts came or went: the values of those that stay move all the time."""
    return [(a.name, a.namespace) for a in now.alerts] != [(a.name, a.namespace) for a in before.alerts]

"""The command that shows in a terminal what happens to a store, as it happens."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from perdure.interfaces.cli.call import Call, Exit, print_json
from perdure.interfaces.cli.server import stopping
from perdure.interfaces.views import Request, view_of
from perdure.interfaces.views.blocks import Block, Foreign, Identifier, Line, Pairs
from perdure.interfaces.views.values import counted, tally
from perdure.records.errors import StoreBusy, StoreUnavailable
from perdure.records.report import Operation

if TYPE_CHECKING:
    from perdure.memory import Memory
    from perdure.records.report import Alert, Stats

_OPERATIONS: Final = 12  # that a picture shows
_MISSED: Final = 500  # most operations between two looks that are told
_SAMPLE: Final = 400  # memories that the figures rest on


@dataclass(frozen=True, slots=True)
class Look:
    """What is seen of a store at a moment."""

    stats: Stats
    alerts: Sequence[Alert]
    operations: Sequence[Operation]  # newest first

    def since(self, before: Look | None) -> list[Operation]:
        """Return the operations that another look did not see, oldest first."""
        known = {o.id for o in before.operations} if before else set()
        return [o for o in reversed(self.operations) if o.id not in known] if before else []


def watch(
    call: Call,
    every: Annotated[float, typer.Option("--every", metavar="SECONDS", help="Look so often.", min=0.1)] = 2.0,
    once: Annotated[bool, typer.Option("--once", help="Look once, then exit.")] = False,
) -> Exit:
    """Show what happens to the store as it happens: operations, what needs attention, what is due. Ctrl-C ends it.

    In a terminal one picture is drawn anew; elsewhere, and with --json, each operation is a line.
    """
    with stopping() as stopped, call.memory() as memory, _screen(once=once or call.as_json) as screen:
        before = _next(call, memory, None, screen)
        while not once and not stopped.wait(every):
            before = _next(call, memory, before, screen)
    return Exit.OK


def _next(call: Call, memory: Memory, before: Look | None, screen: Any) -> Look | None:
    """Look once more and tell what is new; a store that does not answer may answer at the next look."""
    try:
        now = _look(memory, call.namespace)
    except (StoreUnavailable, StoreBusy) as error:
        print(str(error), file=sys.stderr)
        return before
    _tell(call, now, before, screen)
    return now


def _look(memory: Memory, place: str | None) -> Look:
    operations = [o for o in memory.history(namespace=place, limit=_MISSED) if isinstance(o, Operation)]
    return Look(memory.stats(place, sample=_SAMPLE), memory.alerts(place), operations)


def _screen(*, once: bool) -> Any:
    """Return what redraws a picture; nothing where lines are printed."""
    if once or not sys.stdout.isatty():
        return nullcontext()
    from rich.live import Live as Redrawn  # noqa: PLC0415  # rich loads only where it draws

    return Redrawn(auto_refresh=False)


def _tell(call: Call, now: Look, before: Look | None, screen: Any) -> None:
    if screen is not None:
        _redraw(screen, now)
    elif call.as_json:
        _tell_as_json(now, before)
    elif before is None:
        call.answer(None, *_picture(now))
    else:
        call.answer(None, *(_line(o) for o in now.since(before)), *_news(now, before))
    sys.stdout.flush()


def _tell_as_json(now: Look, before: Look | None) -> None:
    if before is None or before.alerts != now.alerts:
        print_json({"alerts": [a.to_dict() for a in now.alerts]})
    for operation in now.since(before):
        print_json({"operation": operation.to_dict()})


def _redraw(screen: Any, now: Look) -> None:
    from rich.text import Text  # noqa: PLC0415  # rich loads only where it draws

    from perdure.interfaces.views.terminal import draw, terminal  # noqa: PLC0415  # as above

    console = terminal()
    with console.capture() as drawn:
        draw(console, _picture(now))
    screen.update(Text.from_ansi(drawn.get()), refresh=True)


def _picture(now: Look) -> Iterator[Block]:
    yield Line(
        f"{counted(now.stats.memories, 'memory')} in view at {now.stats.at[:19].replace('T', ' ')} UTC", tone="strong"
    )
    yield Pairs(
        (
            ("tiers", tally(now.stats.tiers)),
            ("due", f"{now.stats.due_now:,} now, {now.stats.due_soon:,} within 7 days"),
            ("questions", f"{now.stats.questions:,} to a person"),
        )
    )
    yield from view_of(list(now.alerts), Request("alerts"))
    yield from view_of(list(now.operations[:_OPERATIONS]), Request("history"))


def _line(operation: Operation) -> Line:
    what = (f": {operation.operation} ", Identifier(operation.id), " ", Foreign(operation.note))
    return Line((f"{operation.at}  ", Foreign(operation.namespace), *what))


def _news(now: Look, before: Look) -> list[Block]:
    same = [(a.name, a.namespace) for a in now.alerts] == [(a.name, a.namespace) for a in before.alerts]
    return [] if same else view_of(list(now.alerts), Request("alerts"))

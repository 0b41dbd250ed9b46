"""Measured rows and their Markdown table, shared by the benchmark scripts."""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import sys
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True)
class Row:
    """One measured operation; ``floor`` is what the machine itself takes for the same bytes, in the same run."""

    operation: str
    measured: float
    unit: str
    target: float | None = None
    floor: float | None = None
    at_least: bool = False
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where there is none."""
        if self.target is None:
            return None
        return self.measured >= self.target if self.at_least else self.measured <= self.target

    def cells(self) -> list[str]:
        """Return the row of the table."""
        sign = "≥" if self.at_least else "≤"
        return [
            self.operation + (f" ({self.note})" if self.note else ""),
            f"{_number(self.measured)} {self.unit}",
            "" if self.floor is None else f"{_number(self.floor)} {self.unit}",
            "" if not self.floor else f"{self.measured / self.floor:.1f} x",
            "" if self.target is None else f"{sign} {_number(self.target)} {self.unit}",
            {None: "", True: "yes", False: "**missed**"}[self.met],
        ]


HEAD = ["operation", "measured", "floor", "ratio", "target", "met"]


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def table(rows: Sequence[Row]) -> str:
    """Return the Markdown table of some rows."""
    lines = [HEAD, ["---"] * len(HEAD), *[row.cells() for row in rows]]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def say(text: str) -> None:
    """Tell how far a long measurement is."""
    print(text, file=sys.stderr, flush=True)


def judged(rows: Sequence[Row]) -> int:
    """Say which targets are missed, and return the exit status: 1 where one is."""
    judgements = [row.met for row in rows if row.met is not None]
    missed = [row.operation for row in rows if row.met is False]
    say(f"MISSED {len(missed)} of {len(judgements)} targets: {', '.join(missed)}" if missed else "No target is missed.")
    return 1 if missed else 0


def finished(rows: Sequence[Row], *, as_json: bool) -> None:
    """Print what a script measured, and end with status 1 where a target is missed; as JSON, run.py judges."""
    print(json.dumps([asdict(row) for row in rows]) if as_json else table(rows))
    if not as_json and judged(rows):
        sys.exit(1)


def parser(text: str | None) -> argparse.ArgumentParser:
    """Return the argument parser that all scripts share."""
    made = argparse.ArgumentParser(description=(text or "").partition("\n")[0])
    made.add_argument("--json", action="store_true", help="print the rows as JSON, for run.py")
    return made


def interleaved(rounds: int, **calls: Callable[[int], Any]) -> dict[str, float]:
    """Run several measurements in turns, so that a busy moment hits all of them; return their medians in ms."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            call(number)
            times[name].append((time.perf_counter() - start) * 1e3)
    return {name: statistics.median(values) for name, values in times.items()}


@dataclass(frozen=True)
class Spent:
    """What the processes of a call took: medians in seconds."""

    wall: float
    processor: float


def processes(rounds: int, **calls: Callable[[int], Any]) -> dict[str, Spent]:
    """Run calls that start processes and wait for them, in turns; return the time by the clock and of processors."""
    walls: dict[str, list[float]] = {name: [] for name in calls}
    worked: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(rounds):
        for name, call in calls.items():
            before, start = _children(), time.perf_counter()
            call(number)
            walls[name].append(time.perf_counter() - start)
            worked[name].append(_children() - before)
    return {name: Spent(statistics.median(walls[name]), statistics.median(worked[name])) for name in calls}


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def against(
    operation: str, spent: Spent, floor: Spent, note: str, *, times: float = 1.0, more: float = 0.0
) -> list[Row]:
    """Return the rows of processor and wall time against a floor; at most ``times`` the floor and ``more`` seconds."""
    return [
        Row(f"{operation}, {what}", ours, "s", times * least + more, least, note=note)
        for what, ours, least in (
            ("CPU", spent.processor, floor.processor),
            ("wall", spent.wall, floor.wall),
        )
    ]

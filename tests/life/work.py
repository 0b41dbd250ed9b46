"""How much work calls are, in numbers that no other process changes: calls of Python functions, and steps of SQLite."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from cProfile import Profile
from dataclasses import dataclass, field
from typing import Any, Final

import apsw

from life.driver import START, Player
from perdure.operations.lifecycle.gates import recall_gate
from perdure.records.report import SweepReport

VERBS: Final = ("remember", "recall", "sweep")
"""What a user waits for, and what runs by itself."""
MOST: Final = 1.5
"""What a memory takes and a call costs at the end of a life, as a multiple of the beginning's, at most."""
FEWEST_CALLS: Final = 5
FEWEST_MEMORIES: Final = 10
"""What a beginning needs to be compared with: of fewer single ones decide."""
EARLY: Final = (0.1, 0.25)
LATE: Final = (0.85, 1.0)
"""The parts of a life that are compared, as shares of its length. What lies between is not counted: counting costs."""


def days_of(part: tuple[float, float], length: int) -> range:
    """Return the days of a part of a life that is so many days long."""
    return range(*(round(share * length) for share in part))


@dataclass(frozen=True, slots=True)
class Call:
    """What one call of a life was: its day, Python functions called, steps of SQLite, and memories it looked at.

    A sweep looks at those that are due or were accessed; other calls at all that were stored by then. Sweeps that ask
    past recalls whether something may be hidden are left out: that is work for each recall.
    """

    day: int
    functions: int
    steps: int
    memories: int


@dataclass(slots=True)
class Work:
    """What the calls of a life were, by verb, and for each day how many bytes a memory takes, gaps left out."""

    calls: dict[str, list[Call]] = field(default_factory=lambda: {verb: [] for verb in VERBS})
    bytes_each: dict[int, float] = field(default_factory=dict)
    _paused: bool = False
    _steps: int = 0
    _before: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Prepared statement -> its runs and steps so far: APSW counts each run of its own from zero, SQLite's index of
    words adds them up."""

    @contextmanager
    def of_sqlite(self) -> Iterator[None]:
        """Count the steps of connections that are opened meanwhile, as long as they live."""

        def watch(connection: apsw.Connection) -> None:
            connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, self._count_steps)

        apsw.connection_hooks.append(watch)
        try:
            yield
        finally:
            apsw.connection_hooks.remove(watch)

    @contextmanager
    def of(self, player: Player) -> Iterator[None]:
        """Count what a player's calls are meanwhile."""
        memory: Any = player.memory
        for verb in VERBS:
            setattr(memory, verb, self._counted(player, verb, getattr(memory, verb)))
        try:
            yield
        finally:
            for verb in VERBS:
                delattr(memory, verb)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Leave out what is called meanwhile."""
        self._paused = True
        try:
            yield
        finally:
            self._paused = False

    def _counted(self, player: Player, verb: str, call: Callable[..., Any]) -> Callable[..., Any]:
        compared = {day for part in (EARLY, LATE) for day in days_of(part, player.life.length)}

        def run(*args: Any, **kwargs: Any) -> Any:
            day = (player.clock.now - START).days
            if self._paused or day not in compared:
                return call(*args, **kwargs)
            self._steps = 0
            counter = Profile(builtins=False)  # in C: a function of ours would cost as much as the call
            result = counter.runcall(call, *args, **kwargs)
            entered = counter.getstats()
            memories = result.examined if isinstance(result, SweepReport) else max(1, len(player.told.texts))
            if memories and all(one.code is not recall_gate.__code__ for one in entered):
                own = (
                    Work._count_steps.__code__
                )  # called for each statement, those that SQLite's index of words runs too
                functions = sum(one.callcount for one in entered if one.code is not own)
                self.calls[verb].append(Call(day, functions, self._steps, memories))
            return result

        return run

    def weigh(self, player: Player, day: int) -> None:
        """Write down how many bytes a memory takes in the evening of a day that is compared."""
        if all(day not in days_of(part, player.life.length) for part in (EARLY, LATE)):
            return
        stored = max(1, sum(player.memory.stats().statuses.values()) + len(player.told.erased))
        self.bytes_each[day] = player.memory.compact(dry_run=True).bytes_after / stored

    def _count_steps(self, told: Mapping[str, Any]) -> None:
        status = told["stmt_status"]
        runs, steps = status["SQLITE_STMTSTATUS_RUN"], status["SQLITE_STMTSTATUS_VM_STEP"]
        runs_before, before = self._before.get(told["id"], (0, 0))
        self._before[told["id"]] = runs, steps
        self._steps += steps - before if runs > runs_before else steps

    def steps_of(self, call: Callable[[], Any]) -> int:
        """Return how many steps SQLite takes for a call."""
        self._steps = 0
        call()
        return self._steps

    def growth(self, length: int) -> Iterator[tuple[str, float, float]]:
        """Yield (what, at the beginning, at the end): medians of 10 to 25 % of a life, and of the last 15 %.

        The functions of a call that stores or finds do not depend on how many memories there are. There the lower
        quartile is compared: a memory with facts takes three times as many as one without, and what a call is given
        differs more in a life than what it costs.
        """
        early, late = days_of(EARLY, length), days_of(LATE, length)
        sizes = [statistics.median(self.bytes_each[day] for day in days) for days in (early, late)]
        yield "bytes for each memory", *sizes
        for verb, calls in self.calls.items():
            one, other = ([call for call in calls if call.day in days] for days in (early, late))
            few = min(len(one), len(other)) < FEWEST_CALLS
            if few or (verb != "sweep" and statistics.median(call.memories for call in one) < FEWEST_MEMORIES):
                continue
            for name in ("functions", "steps"):
                each = [_for_each(verb, [(getattr(c, name), c.memories) for c in some]) for some in (one, other)]
                yield f"{verb}, {name} for each memory", *each
            if verb != "sweep":
                yield f"{verb}, functions", *(_lower_quartile(c.functions for c in some) for some in (one, other))

    def grows_with_the_store_alone(self, length: int) -> Iterator[str]:
        """Neither what a memory takes nor what a call costs for each grows in a life."""
        for what, early, late in self.growth(length):
            if late > MOST * early:
                yield f"{what}: {early:.4g} at the beginning, {late:.4g} at the end"


def _for_each(verb: str, calls: Sequence[tuple[int, int]]) -> float:
    """Return work for each memory; of all sweeps together, since one that looks at two costs hardly more than one."""
    if verb == "sweep":
        return sum(work for work, _ in calls) / sum(memories for _, memories in calls)
    return statistics.median(work / memories for work, memories in calls)


def _lower_quartile(values: Iterable[int]) -> float:
    return statistics.quantiles(values, n=4)[0]

"""Which worker runs a task of a namespace, and what is written down about it: once for all that is due."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from perdure.operations.documents import write_documents
from perdure.operations.extension import TaskResult
from perdure.operations.lifecycle.maintain import LEASE_MS
from perdure.operations.monitoring import upkeep_states
from perdure.operations.ports import Context
from perdure.records.errors import ConflictError, PerdureError, StoreUnavailable
from perdure.records.instant import Instant
from perdure.records.memory import Document, Shelf
from perdure.records.policy_lifecycle import UpkeepPolicy
from perdure.records.report import TaskRun
from perdure.records.store_rows import UpkeepState
from perdure.rules.document_edits import DocumentEdits
from perdure.rules.lifecycle.schedule import Data, Task, begin_run, earliness, fail_run, finish_run, next_run

Work = Callable[[Context, str], TaskResult]
_Write = tuple[Data | None, Data, str]  # what a task's document says, what it is to say, and why
_Writes = dict[Task, _Write]
_LONGEST_NOTE: Final = 1000
_log = logging.getLogger(__name__)


def state(ctx: Context, place: str) -> dict[str, Mapping[str, Any]]:
    """Return what is written down about each task of a namespace."""
    return {d.id: d.data for d in ctx.store.documents.find(place, Shelf.UPKEEP, [t.value for t in Task])}


def states(ctx: Context) -> dict[str, dict[str, Mapping[str, Any]]]:
    """Return namespace -> what is written down about each task of it."""
    return {
        one.namespace: state(ctx, one.namespace) if one.tasks is None else dict(sorted(one.tasks.items()))
        for one in upkeep_states(ctx)
    }


@dataclass(slots=True)
class TaskRuns:
    """The runs of one worker in one round, and the tasks that it is written into."""

    ctx: Context
    owner: str
    eager: bool = field(kw_only=True)
    tell: Callable[[int], None] = field(kw_only=True)  # told how many sweeps were begun
    swept: int = 0
    runs: list[TaskRun] = field(default_factory=list)
    begun: dict[tuple[str, Task], Data] = field(default_factory=dict)

    @property
    def _policy(self) -> UpkeepPolicy:
        return self.ctx.policy.upkeep

    def begin(self, place: str) -> bool:
        """Whether a sweep is due by the schedule, or wanted now, and this worker is the one that runs it."""
        self.swept += 1
        self.tell(self.swept)
        return self._try_claim(place, Task.SWEEP) is None or self.eager

    def end(self, place: str, problem: str, *, moved: bool) -> None:
        """Write down how a sweep ended; not where another worker is about to.

        A sweep of the minute before was written down and one is enough, unless this one moved something.
        """
        if (place, Task.SWEEP) in self.begun:
            self._end_all(place, {Task.SWEEP: self._run_end(place, Task.SWEEP, problem, ("swept", {}))})
        elif moved:
            before = state(self.ctx, place).get(Task.SWEEP)
            if before is not None and before["outcome"] != "running":
                self._end_all(place, {Task.SWEEP: self._sweep_note(before, "swept")})

    def look(self, status: UpkeepState, quiet: MutableMapping[str, Instant], tasks: Mapping[Task, Work]) -> None:
        """Run those tasks of a namespace that are due, and note when to look again."""
        place, now = status.namespace, self.ctx.clock()
        known = state(self.ctx, place) if status.tasks is None else status.tasks
        asked = quiet.get(place, now) <= now
        nexts = {task: self._next_due(place, task, known.get(task), now) for task in tasks}
        due = [task for task, at in nexts.items() if asked and at <= now]
        nexts |= self._begin_all(place, due, known)
        nexts |= self._run_begun(place, {task: tasks[task] for task in due if (place, task) in self.begun})
        if asked:
            quiet[place] = min(nexts.values())

    def _begin_all(self, place: str, due: Sequence[Task], known: Mapping[str, Data]) -> dict[Task, Instant]:
        """Write this worker into all tasks that are due, at once; return when to look again at those that it lost.

        That a sweep was wanted, and that none is known of the last hour because nothing was due, is written as well.
        """
        now, policy = self.ctx.clock(), self._policy
        claims = {task: begin_run(known.get(task), now, self.owner, policy) for task in due}
        writes: _Writes = {t: (known.get(t), after, f"{self.owner} begins the {t}") for t, after in claims.items()}
        if self._lacks_sweep(known):
            writes[Task.SWEEP] = self._sweep_note(known.get(Task.SWEEP), "nothing was due")
        with suppress(PerdureError):  # whatever it is, each is tried by itself
            if not writes or self._write(place, writes):
                self.begun |= {(place, task): after for task, after in claims.items()}
                return {}
        known = state(self.ctx, place)
        if self._lacks_sweep(known):
            self._write_or_tell(place, {Task.SWEEP: self._sweep_note(known.get(Task.SWEEP), "nothing was due")})
        waits = {task: self._next_due(place, task, known.get(task), now) for task in due}
        waits |= {task: self._try_claim(place, task) or now for task, at in waits.items() if at <= now}
        return {task: at for task, at in waits.items() if (place, task) not in self.begun}

    def _lacks_sweep(self, known: Mapping[str, Data]) -> bool:
        """Whether a sweep is wanted, and none is known of the last hour, or how long else lies between two."""
        now = self.ctx.clock()
        due = next_run(Task.SWEEP, known.get(Task.SWEEP), now, self._policy, early=1.0)
        return self.eager and due <= now

    def _sweep_note(self, before: Data | None, note: str) -> _Write:
        """Return what is to be written down of a sweep that nothing was written of when it began."""
        now, policy = self.ctx.clock(), self._policy
        ended = finish_run(begin_run(before, now, self.owner, policy), Task.SWEEP, note, policy, {})
        return before, ended, f"{Task.SWEEP}: {note}"

    def run(self, place: str, task: Task, work: Work) -> None:
        """Run a task if it is due."""
        if self._try_claim(place, task) is None:
            self._run_begun(place, {task: work})

    def _run_begun(self, place: str, tasks: Mapping[Task, Work]) -> dict[Task, Instant]:
        """Run tasks that this worker is written into, and return when each is next due.

        Their ends are written at once; those that a worker wrote nothing of when it died are run again. Where one took
        long, its end does not wait for the others, and before each of these the worker writes itself in anew.
        """
        ended: _Writes = {}
        nexts: dict[Task, Instant] = {}
        try:
            for task, work in tasks.items():
                if self.ctx.clock() - self.begun[place, task]["last_ms"] > LEASE_MS:
                    nexts |= self._end_all(place, ended)
                    ended = {}
                    if not self._begin_anew(place, task):
                        continue
                ended[task] = self._run_one(place, task, work)
        finally:
            nexts |= self._end_all(place, ended)
        return nexts

    def _begin_anew(self, place: str, task: Task) -> bool:
        running = self.begun.pop((place, task))
        return self._write_begun(place, task, running, begin_run(running, self.ctx.clock(), self.owner, self._policy))

    def _run_one(self, place: str, task: Task, work: Work) -> _Write:
        """Run a task, and return what is to be written down about it."""
        problem = ""
        outcome: TaskResult = ("", {})
        try:
            outcome = work(self.ctx, place)
        except StoreUnavailable:
            raise  # it would be so in every namespace
        except PerdureError as error:
            problem = str(error)
        except Exception as error:  # noqa: BLE001  # whatever it is, the other namespaces must not wait for it
            _log.exception("The %s of %s failed unexpectedly.", task, place)
            problem = f"{type(error).__name__}: {error}"
        return self._run_end(place, task, problem, outcome)

    def _next_due(self, place: str, task: Task, before: Data | None, now: Instant) -> Instant:
        """Return when a task is next due, not after now if it is or is wanted, by what is written down about it."""
        if self.eager and task in {Task.SWEEP, Task.EMBED} and (before is None or before["last_ms"] <= now - LEASE_MS):
            return now
        early = 1.0 if self.eager else earliness(self.owner, place, task)
        return next_run(task, before, now, self._policy, early=early)

    def _try_claim(self, place: str, task: Task) -> Instant | None:
        """As ``_claim``; trouble in one namespace is reported, and the others go on."""
        try:
            return self._claim(place, task)
        except StoreUnavailable:
            raise
        except PerdureError as error:
            self._trouble(place, task, error)
            return self.ctx.clock() + LEASE_MS

    def _trouble(self, place: str, task: Task, error: PerdureError) -> None:
        _log.warning("The %s of %s failed: %s", task, place, error)
        self.runs.append(TaskRun(place, task.value, "failed", str(error)))

    def _claim(self, place: str, task: Task) -> Instant | None:
        """Write this worker into a task that is due; else return when to look again."""
        now = self.ctx.clock()
        before = state(self.ctx, place).get(task)
        if (due := self._next_due(place, task, before, now)) > now:
            return due
        if not self._write_begun(place, task, before, begin_run(before, now, self.owner, self._policy)):
            return now + 1  # another worker was faster; what it wrote is read at the next round
        return None

    def _run_end(self, place: str, task: Task, problem: str, outcome: TaskResult) -> _Write:
        """Return what is to be written down about a run that ended."""
        running = self.begun.pop((place, task))
        note, more = outcome
        if problem:
            _log.warning("The %s of %s failed: %s", task, place, problem)
            return running, fail_run(running, problem, self.ctx.clock(), self._policy), f"{task} failed: {problem}"
        return running, finish_run(running, task, note, self._policy, more), f"{task}: {note}"

    def _end_all(self, place: str, ended: _Writes) -> dict[Task, Instant]:
        """Write down how runs ended, at once, or else each by itself; return when each task is next due."""
        whole = False
        with suppress(PerdureError):  # what cannot be written stays "running", and so is tried again after a while
            whole = len(ended) > 1 and self._write(place, ended)
        for task, one in ended.items():
            if whole or self._write_or_tell(place, {task: one}):
                self.runs.append(TaskRun(place, task.value, one[1]["outcome"], one[1]["note"]))
        now = self.ctx.clock()
        return {task: self._next_due(place, task, after, now) for task, (_, after, _) in ended.items()}

    def _write_or_tell(self, place: str, writes: _Writes) -> bool:
        """Write documents of tasks; False, and told as a failure of these, where that is refused."""
        try:
            self._write(place, writes)
        except StoreUnavailable:
            raise
        except PerdureError as error:
            for task in writes:
                self._trouble(place, task, error)
            return False
        return True

    def _write_begun(self, place: str, task: Task, before: Data | None, running: Data) -> bool:
        """Write this worker into a task; False if another one was faster."""
        if not self._write(place, {task: (before, running, f"{self.owner} begins the {task}")}):
            return False
        self.begun[place, task] = running
        return True

    def _write(self, place: str, writes: _Writes) -> bool:
        """Write the documents of tasks if they are as they were read; False if another worker was faster."""
        edits = DocumentEdits(
            Document(Shelf.UPKEEP, task.value, "", before)
            for task, (before, _, _) in writes.items()
            if before is not None
        )
        for task, (_, after, note) in writes.items():
            edits.put(Shelf.UPKEEP, task.value, "", after, note[:_LONGEST_NOTE])
        note = "; ".join(note for _, _, note in writes.values())
        try:
            write_documents(self.ctx, place, "upkeep", edits.changes(), note[:_LONGEST_NOTE])
        except ConflictError:
            return False
        return True

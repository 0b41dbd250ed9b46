"""Write the plans of the statements that hot verbs send to a server, as EXPLAIN (ANALYZE, BUFFERS) tells them.

server_speed.py calls it. There is a folder for each call and a file for each statement that the call sends: its plan in
the last call of several, and how many memories there were. A statement is explained behind a savepoint, taken back,
and then run. What is sent to find what is due is planned without its values, as the server does once the
statement is prepared.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psycopg import sql

import perdure
from made import NOW_MS
from perdure.records.instant import from_instant
from perdure.stores.postgres.session import PostgresSession

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from server_speed import Asked

PLANS = Path(__file__).parent / "plans"
WIDTH = 150
LEFT_OUT = ("InitPlan", "Result", "One-Time Filter: starts_with(current_setting(")
"""Lines of what row-level security asks once for each table, the same in all plans."""

EXPLAIN = "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF)"
VALUE = re.compile(r"%\((\w+)\)b")


class Explained:
    """What the statements of one call did: their plans, and how often each was sent."""

    def __init__(self, run: Callable[..., Any], *, prepared: bool) -> None:
        self.run, self.prepared = run, prepared
        self.cursors: dict[str, Any] = {}
        self.sent: Counter[str] = Counter()

    def __call__(self, session: PostgresSession, name: str, text: str, bindings: dict[str, Any]) -> Any:
        """Explain a statement, then run it; both go out with what else is sent together."""
        self.sent[name] += 1
        with session.together():
            if self.prepared:
                self.cursors[name] = self._without_values(session, name, text, {**bindings})
            else:
                session.connection.execute("SAVEPOINT explained")
                self.cursors[name] = self.run(session, name, f"{EXPLAIN} {text}", {**bindings})
                session.connection.execute("ROLLBACK TO SAVEPOINT explained")
            return self.run(session, name, text, bindings)

    def _without_values(self, session: PostgresSession, name: str, text: str, bindings: dict[str, Any]) -> Any:
        query, bound = session._bound(name, text, bindings)  # noqa: SLF001  # plans are of what it sends
        names = list(dict.fromkeys(VALUE.findall(query)))
        numbered = VALUE.sub(lambda found: f"${names.index(found[1]) + 1}", query).replace("%%", "%")
        values = sql.SQL(", ").join(sql.Literal(bound[one]) for one in names)
        execute = session.connection.execute
        execute("SET LOCAL plan_cache_mode = force_generic_plan")
        execute(sql.SQL("PREPARE explained AS ") + sql.SQL(numbered))  # type: ignore[arg-type]  # text of the registry
        given = sql.SQL("({})").format(values) if names else sql.SQL("")
        cursor = execute(sql.SQL(f"{EXPLAIN} EXECUTE explained") + given)
        execute("DEALLOCATE explained")
        return cursor


@contextmanager
def explaining(*, prepared: bool = False) -> Iterator[Explained]:
    """Explain all statements of a block."""
    run = PostgresSession._run  # noqa: SLF001  # as above
    told = Explained(run, prepared=prepared)

    def explained(session: PostgresSession, name: str, text: str, bindings: dict[str, Any]) -> Any:
        return told(session, name, text, bindings)

    try:
        PostgresSession._run = explained  # type: ignore[method-assign]  # noqa: SLF001  # as above
        yield told
    finally:
        PostgresSession._run = run  # type: ignore[method-assign]  # noqa: SLF001  # as above


def write(folder: str, told: Explained, about: str) -> None:
    """Write the plans of a call, and how often each statement was sent."""
    place = PLANS / folder
    place.mkdir(parents=True, exist_ok=True)
    for name, cursor in told.cursors.items():
        kept = [line[:WIDTH] for (line,) in cursor.fetchall() if not any(part in line for part in LEFT_OUT)]
        times = f", sent {told.sent[name]} times" if told.sent[name] > 1 else ""
        (place / f"{name}.txt").write_text("\n".join([f"-- {about}{times}", *kept]) + "\n", "utf-8")


def write_plans(url: str, asked: Asked, notes: list[str], about: str) -> None:
    """Write the plans of recalls, a remember and sweeps over one namespace; each call was made once before."""
    with perdure.open(url, policy={}, clock=lambda: from_instant(NOW_MS), embedder=asked.given) as memory:
        new = iter(notes)
        calls: list[tuple[str, Callable[[], Any], bool]] = [
            ("recall", lambda: memory.recall(asked.questions[0], limit=10, touch=False), False),
            ("recall-tag", lambda: memory.recall(asked.questions[1], limit=10, touch=False, tags=["decision"]), False),
            ("remember", lambda: memory.remember(next(new)), False),
            ("counted", lambda: memory.recall(asked.questions[2], limit=10), False),
            ("sweep-after-recall", memory.sweep, False),
            ("idle-sweep", memory.sweep, True),
        ]
        memory.sweep()
        for folder, call, prepared in calls:
            if folder != "sweep-after-recall":
                call()
            with explaining(prepared=prepared) as told:
                call()
            if folder == "counted":  # the rest of it is a recall
                told.cursors = {name: told.cursors[name] for name in ("insert_recall", "insert_access")}
            write(folder, told, about)


def write_tenant_plans(store: Any, now: int, about: str) -> None:
    """Write the plans of what a worker asks first of many namespaces, and of their counts."""
    with explaining(prepared=True) as told:
        store.due_namespaces(now, "same")
    write("many-namespaces", told, about)
    with explaining() as told:
        store.tally("ns-5")
        store.tally(None)
    write("many-namespaces", told, about)


def clear() -> None:
    """Remove the plans of an earlier run."""
    shutil.rmtree(PLANS, ignore_errors=True)

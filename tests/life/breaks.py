"""The engine broken from outside, one rule or one write at a time: each break, and what a life must say of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Final
from unittest import mock

from perdure.knowledge.extension import Knowledge
from perdure.records.recall import Outdated
from perdure.records.memory import Kind
from perdure.records.plan import Change, Plan, Target
from perdure.rules.lifecycle.digest import DigestBudget
from perdure.rules.lifecycle.ration import Budget
from perdure.stores.sqlite.store import SqliteStore

Make = Callable[[Any], Any]
"""Takes a function of the engine, and returns what stands for it."""


@dataclass(frozen=True, slots=True)
class Break:
    """One rule or write path that does what it must not, and what a life must notice.

    Attributes:
        what: What the engine does wrong, in words.
        instead: Functions of the engine, each with what stands for it: an address, or a class and a name.
        life: Kind of user, seed, and days of the life that must notice it.
        check: The check that tells of it, as ``test_lives.CHECKS`` names it.
        fault: What the fault says, as a regular expression.
    """

    what: str
    instead: Sequence[tuple[str | tuple[type, str], Make]]
    life: tuple[str, int, int]
    check: str
    fault: str

    @contextmanager
    def made(self) -> Iterator[None]:
        """Break the engine as long as this lasts."""
        with ExitStack() as stack:
            for where, make in self.instead:
                stack.enter_context(_standing_in(where, make))
            yield


def _standing_in(where: str | tuple[type, str], make: Make) -> Any:
    if isinstance(where, tuple):
        return mock.patch.object(*where, make(getattr(*where)))
    patcher = mock.patch(where)
    original, _ = patcher.get_original()
    return mock.patch(where, make(original))


# --- what stands for a function


def applying(change: Callable[[Plan], Plan | None]) -> Make:
    """Have plans written as ``change`` makes them; None for not at all."""

    def make(apply: Any) -> Any:
        def run(self: SqliteStore, plan: Plan, **more: Any) -> None:
            if (changed := change(plan)) is not None:
                apply(self, changed, **more)

        return run

    return make


def returning(value: Any) -> Make:
    """Have a function return something, whatever it is asked."""
    return lambda _: lambda *_, **__: value


def with_result(change: Callable[[Any], Any]) -> Make:
    """Have a function return what ``change`` makes of its answer."""
    return lambda call: lambda *given, **more: change(call(*given, **more))


def with_argument(place: int, change: Callable[[Any], Any]) -> Make:
    """Have a function called with what ``change`` makes of one of its arguments."""

    def make(call: Any) -> Any:
        def run(*given: Any, **more: Any) -> Any:
            return call(*given[:place], change(given[place]), *given[place + 1 :], **more)

        return run

    return make


APPLY: Final = (SqliteStore, "apply")


def every_fifth(operation: str) -> Callable[[Plan], Plan | None]:
    """Leave out every fifth plan of an operation."""
    met = count(1)
    return lambda plan: None if plan.operation == operation and next(met) % 5 == 0 else plan


def changes(change: Callable[[Plan, Change], Change | None]) -> Callable[[Plan], Plan]:
    """Make each change of a plan another one, or leave it out."""

    def of(plan: Plan) -> Plan:
        made = (change(plan, one) for one in plan.changes)
        return replace(plan, changes=tuple(one for one in made if one is not None))

    return of


def including_hidden(filters: Any) -> Any:
    return replace(filters, include_archived=True)

"""A store as plans that are not written yet would leave it: what a dry run plans next must start from there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from perdure.operations.store_protocol import Pairs, Store
from perdure.records.instant import DAY_MS, Instant
from perdure.records.memory import Record, State, Status
from perdure.records.plan import Plan, Target
from perdure.records.store_rows import Details

_STATE: Final = frozenset(State.__slots__)


class PlannedStore:
    """Reads a store with the plans of a sweep laid over one of its namespaces; everything else is as it is stored.

    What a sweep changes is seen: states, what is shown, accesses that were counted in, and what counts against the
    loss budget. Searches find what is stored, documents are those that are stored: a sweep writes measures of forms
    that nothing after it takes again. Nothing may be written through it.
    """

    def __init__(self, store: Store, namespace: str, plans: Sequence[Plan]) -> None:
        self._store, self._namespace = store, namespace
        self._rows: dict[str, dict[str, Any]] = {}
        self._counted: dict[str, set[Instant]] = {}
        for change in (change for plan in plans for change in plan.changes):
            if change.target is Target.MEMORY:
                self._rows.setdefault(change.id, {}).update(change.after or {})
            elif change.target is Target.ACCESS and change.before is not None:
                self._counted.setdefault(change.id, set()).add(change.before["at_ms"])
        self._gone = Counter(
            int(row["status_ms"]) // DAY_MS for row in self._rows.values() if row.get("status") == Status.ARCHIVED
        )
        stored = store.states(namespace, sorted(self._rows))
        self._shrunk = sum(_tokens(state) - _tokens(self._state(i, state)) for i, (state, _) in stored.items())

    def __getattr__(self, name: str) -> Any:
        if name in ("apply", "count"):
            raise AttributeError(f"{name} would write what is only planned")
        return getattr(self._store, name)

    def get(self, namespace: str, ids: Sequence[str]) -> list[Record]:
        """Return records as ``Store.get`` does."""
        found = self._store.get(namespace, ids)
        return found if namespace != self._namespace else [self._record(r) for r in found]

    def details(self, namespace: str, ids: Sequence[str]) -> Details:
        """Return details as ``Store.details`` does."""
        return self._store.details(namespace, ids)._replace(records=self.get(namespace, ids))

    def states(self, namespace: str, ids: Sequence[str]) -> dict[str, tuple[State, str]]:
        """Return states as ``Store.states`` does."""
        found = self._store.states(namespace, ids)
        if namespace != self._namespace:
            return found
        return {i: (self._state(i, state), self._rows.get(i, {}).get("op", op)) for i, (state, op) in found.items()}

    def accesses(self, namespace: str, ids: Sequence[str], until: Instant) -> dict[str, Pairs]:
        """Return accesses as ``Store.accesses`` does."""
        found = self._store.accesses(namespace, ids, until)
        if namespace != self._namespace:
            return found
        return {i: left for i, some in found.items() if (left := self._uncounted_accesses(i, some))}

    def visible_tokens(self, namespace: str) -> int:
        """Return tokens as ``Store.visible_tokens`` does."""
        return self._store.visible_tokens(namespace) - (self._shrunk if namespace == self._namespace else 0)

    def visible_count(self, namespace: str) -> int:
        """Return a count as ``Store.visible_count`` does."""
        hidden = self._gone.total() if namespace == self._namespace else 0
        return self._store.visible_count(namespace) - hidden

    def gone_by_day(self, namespace: str, since: Instant) -> list[tuple[int, str, int]]:
        """Return losses as ``Store.gone_by_day`` does."""
        planned = self._gone if namespace == self._namespace else Counter[int]()
        more = [(day, "sweep", many) for day, many in sorted(planned.items()) if day >= since // DAY_MS]
        return [*self._store.gone_by_day(namespace, since), *more]

    def _record(self, record: Record) -> Record:
        row = self._rows.get(record.id, {})
        shown = row.get("shown", record.content.shown)
        return replace(
            record,
            state=self._state(record.id, record.state),
            content=record.content if shown == record.content.shown else replace(record.content, shown=shown),
            op=row.get("op", record.op),
            accesses=self._uncounted_accesses(record.id, record.accesses),
        )

    def _state(self, identity: str, state: State) -> State:
        row = self._rows.get(identity, {})
        return replace(state, **{name: value for name, value in row.items() if name in _STATE})

    def _uncounted_accesses(self, identity: str, accesses: Iterable[tuple[Instant, int]]) -> Pairs:
        counted = self._counted.get(identity, set())
        return tuple(pair for pair in accesses if pair[0] not in counted)


def _tokens(state: State) -> int:
    return state.tokens if state.status is Status.ACTIVE else 0

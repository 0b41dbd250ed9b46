"""A store as plans that are not written yet would leave it: what a dry run plans next must start from there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from perdure.operations.store_protocol import Pairs, Store
from perdure.records.instant import DAY_MS, Instant
from perdure.records.memory import Document, Record, Shelf, State, Status
from perdure.records.plan import Plan, Target
from perdure.rules.document_edits import DocumentEdits

_STATE: Final = frozenset(State.__slots__)


class PlannedStore:
    """Reads a store with the plans of a sweep laid over one of its namespaces; everything else is as it is stored.

    What a sweep changes is seen: states, what is shown, accesses that were counted in, measures of forms, and what
    counts against the loss budget. Searches find what is stored. Nothing may be written through it.
    """

    def __init__(self, store: Store, namespace: str, plans: Sequence[Plan]) -> None:
        self._store, self._namespace = store, namespace
        self._rows: dict[str, dict[str, Any]] = {}
        self._counted: dict[str, set[Instant]] = {}
        self._measures = DocumentEdits()
        for change in (change for plan in plans for change in plan.changes):
            if change.target is Target.MEMORY:
                self._rows.setdefault(change.id, {}).update(change.after or {})
            elif change.target is Target.ACCESS and change.before is not None:
                self._counted.setdefault(change.id, set()).add(change.before["at_ms"])
            elif change.target is Target.DOCUMENT:
                self._measures.absorb([change])
        self._gone = Counter(
            int(row["status_ms"]) // DAY_MS for row in self._rows.values() if row.get("status") == Status.ARCHIVED
        )
        stored = store.states(namespace, sorted(self._rows))
        self._shrunk = sum(_tokens(state) - _tokens(self._state(i, state)) for i, (state, _) in stored.items())
        self.documents = _PlannedDocuments(store, namespace, self._measures)

    def __getattr__(self, name: str) -> Any:
        if name in ("apply", "count"):
            raise AttributeError(f"{name} would write what is only planned")
        return getattr(self._store, name)

    def get(self, namespace: str, ids: Sequence[str]) -> list[Record]:
        """Return records as ``Store.get`` does."""
        found = self._store.get(namespace, ids)
        return found if namespace != self._namespace else [self._record(r) for r in found]

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
        return {i: left for i, some in found.items() if (left := self._waiting(i, some))}

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
            accesses=self._waiting(record.id, record.accesses),
        )

    def _state(self, identity: str, state: State) -> State:
        row = self._rows.get(identity, {})
        return replace(state, **{name: value for name, value in row.items() if name in _STATE})

    def _waiting(self, identity: str, accesses: Iterable[tuple[Instant, int]]) -> Pairs:
        counted = self._counted.get(identity, set())
        return tuple(pair for pair in accesses if pair[0] not in counted)


class _PlannedDocuments:
    """Documents with the planned measures of forms."""

    def __init__(self, store: Store, namespace: str, planned: DocumentEdits) -> None:
        self._documents, self._namespace, self._planned = store.documents, namespace, planned

    def __getattr__(self, name: str) -> Any:
        return getattr(self._documents, name)

    def find(self, namespace: str, shelf: Shelf, ids: Sequence[str]) -> list[Document]:
        """Return documents as ``Documents.find`` does."""
        found = {(d.id, d.name): d for d in self._documents.find(namespace, shelf, ids)}
        if namespace == self._namespace:
            wanted = frozenset(ids)
            planned: Mapping[tuple[str, str], Mapping[str, Any]] = self._planned.shelf(shelf)
            found |= {key: Document(shelf, *key, data) for key, data in planned.items() if key[0] in wanted}
        return [found[key] for key in sorted(found)]


def _tokens(state: State) -> int:
    return state.tokens if state.status is Status.ACTIVE else 0

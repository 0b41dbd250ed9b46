"""Writing a plan, in every store: which statement a change needs. A store brings the statements."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from itertools import groupby

from perdure.records.errors import StoreError
from perdure.records.plan import Change, Plan, Target
from perdure.stores.rows import Shape, shape_of


class PlanWriter(ABC):
    """Writes one plan inside a transaction; neighbouring changes of one shape are written together."""

    plan: Plan

    def write_all(self) -> None:
        """Write the plan's changes in their order.

        Raises:
            StoreError: A change is none that a plan can make.
        """
        for shape, changes in groupby(self.plan.changes, key=shape_of):
            self._write(shape, list(changes))

    def _write(self, shape: Shape, changes: list[Change]) -> None:
        target, action, columns = shape
        if target is Target.MEMORY and action == "update":
            self._update(columns, changes)
            return
        handlers: dict[tuple[Target, str], Callable[[list[Change]], None]] = {
            (Target.MEMORY, "insert"): self._insert_memories,
            (Target.MEMORY, "delete"): self._delete_memories,
            (Target.VECTOR, "insert"): self._insert_vectors,
            (Target.VECTOR, "delete"): self._delete_vectors,
            (Target.LINK, "insert"): self._insert_links,
            (Target.LINK, "delete"): self._delete_links,
            (Target.ACCESS, "insert"): self._insert_accesses,
            (Target.ACCESS, "delete"): self._delete_accesses,
            (Target.NAMESPACE, "update"): self._update_namespace,
            (Target.DOCUMENT, "insert"): self._insert_documents,
            (Target.DOCUMENT, "update"): self._update_documents,
            (Target.DOCUMENT, "delete"): self._delete_documents,
        }
        if (target, action) not in handlers:
            raise StoreError(f"A plan cannot {action} a {target.value}.", remedy="Report this; nothing was written.")
        handlers[target, action](changes)

    @abstractmethod
    def _insert_memories(self, changes: list[Change]) -> None: ...
    @abstractmethod
    def _delete_memories(self, changes: list[Change]) -> None: ...
    @abstractmethod
    def _update(self, columns: tuple[str, ...], changes: list[Change]) -> None: ...
    @abstractmethod
    def _insert_vectors(self, changes: list[Change]) -> None: ...
    @abstractmethod
    def _delete_vectors(self, changes: list[Change]) -> None: ...
    @abstractmethod
    def _insert_links(self, changes: list[Change]) -> None: ...
    @abstractmethod
    def _delete_links(self, changes: list[Change]) -> None: ...
    @abstractmethod
    def _insert_accesses(self, changes: list[Change]) -> None: ...
    @abstractmethod
    def _delete_accesses(self, changes: list[Change]) -> None: ...
    @abstractmethod
    def _update_namespace(self, changes: list[Change]) -> None: ...
    @abstractmethod
    def _insert_documents(self, changes: list[Change]) -> None: ...
    @abstractmethod
    def _update_documents(self, changes: list[Change]) -> None: ...
    @abstractmethod
    def _delete_documents(self, changes: list[Change]) -> None: ...

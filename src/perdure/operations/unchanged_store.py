"""A store that writes only while some memories are as somebody saw them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from perdure.operations.store_protocol import Store
from perdure.records.errors import ConflictError
from perdure.records.plan import Plan, Target
from perdure.records.store_rows import Lease, TransactionView


class UnchangedStore:
    """Refuses to write once some memories were changed after it was made, whoever changed them.

    Args:
        store: What is read and written.
        ids: The memories; those that are none are left aside.
    """

    def __init__(self, store: Store, ids: Collection[str]) -> None:
        self._store = store
        places = {identity: store.locate(identity) for identity in ids}
        self._operations = {
            i: op for i, place in places.items() if place is not None for _, op in store.states(place, [i]).values()
        }

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def apply(
        self, plan: Plan, *, fence: Lease | None = None, check: Callable[[TransactionView], None] | None = None
    ) -> None:
        """Write a plan as ``Store.apply`` does.

        Raises:
            ConflictError: One of the memories was changed.
        """

        def check_unchanged(view: TransactionView) -> None:
            if check is not None:
                check(view)
            untouched = [identity for identity in self._operations if identity not in read]
            self._refuse_changed({record.id: record.op for record in view.get(untouched)} if untouched else {})

        # A plan's first change of a memory says at which operation it was read, and is refused where that is past.
        changes = (c for c in reversed(plan.changes) if c.target is Target.MEMORY)
        read = {c.id: c.before["op"] for c in changes if c.before and "op" in c.before}
        self._refuse_changed(read)
        self._store.apply(plan, fence=fence, check=check_unchanged)

    def _refuse_changed(self, found: Mapping[str, str]) -> None:
        seen = self._operations
        if changed := tuple(i for i, operation in found.items() if operation != seen.get(i, operation)):
            raise ConflictError(
                "The memory was changed meanwhile; nothing was written.", changed, remedy="Look at it again."
            )

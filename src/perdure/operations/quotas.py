"""Quotas of namespaces, held where everything that writes passes: inside the transaction that applies a plan."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, Final, NamedTuple, cast

from perdure.operations.store_protocol import Store
from perdure.records.errors import QuotaExceeded
from perdure.records.plan import Plan, Row, Target
from perdure.records.policy_lifecycle import LimitPolicy
from perdure.records.store_rows import Lease, TransactionView, Usage

_REMEDIES: Final = {
    "memories": "Forget or merge memories (`perdure consolidate`), or raise limits.namespace_memories.",
    "tokens": "Forget or shorten memories, or raise limits.namespace_tokens.",
    "bytes": "Erase memories for good (`perdure erase ID --reason WHY`), or raise limits.namespace_bytes.",
}
_EXEMPT: Final = "repair"  # brings back what was there before


class _Counted(NamedTuple):
    version: int  # of the namespace
    usage: Usage  # at most what the namespace takes


def check_usage(namespace: str, usage: Usage, limits: LimitPolicy) -> None:
    """Check what a namespace takes against its quotas."""
    for name, remedy in _REMEDIES.items():
        most, found = getattr(limits, f"namespace_{name}"), getattr(usage, name)
        if most and found > most:
            raise QuotaExceeded(
                f"The namespace {namespace!r} may hold {most:,} {name}, and would hold {found:,}; nothing was written.",
                namespace,
                name,
                remedy=remedy,
            )


def with_quotas(store: Store, limits: LimitPolicy) -> Store:
    """Return a store that holds the quotas of a policy; the very store where it has none."""
    is_limited = limits.namespace_memories or limits.namespace_tokens or limits.namespace_bytes
    return cast("Store", StoreWithQuotas(store, limits)) if is_limited else store


class StoreWithQuotas:
    """A store whose plans may not grow a namespace beyond its quotas. See operations/store_protocol.py.

    What a namespace takes is counted once and then added up; it is counted again when another process has written, and
    before anything is refused.
    """

    def __init__(self, inner: Store, limits: LimitPolicy) -> None:
        self._inner, self._limits = inner, limits
        self._lock = Lock()
        self._known: dict[str, _Counted] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def apply(
        self, plan: Plan, *, fence: Lease | None = None, check: Callable[[TransactionView], None] | None = None
    ) -> None:
        """Write a plan, as the store does, if the namespace stays within its quotas or does not grow."""
        if plan.operation == _EXEMPT or not _grows(plan):
            self._inner.apply(plan, fence=fence, check=check)
            return
        found: list[_Counted] = []

        def look(view: TransactionView) -> None:
            if check is not None:
                check(view)
            found.append(self._count(plan, view))

        self._inner.apply(plan, fence=fence, check=look)
        if found:
            with self._lock:
                self._known[plan.namespace] = found[-1]

    def _count(self, plan: Plan, view: TransactionView) -> _Counted:
        version = view.version()
        with self._lock:
            cached = self._known.get(plan.namespace)
        if cached is not None and cached.version == version - 1 and not _returns(plan):
            usage = cached.usage + _added_usage(plan)
            try:
                check_usage(plan.namespace, usage, self._limits)
            except QuotaExceeded:
                pass  # it may have shrunk meanwhile
            else:
                return _Counted(version, usage)
        usage = view.usage()
        check_usage(plan.namespace, usage, self._limits)
        return _Counted(version, usage)


def _grows(plan: Plan) -> bool:
    return _returns(plan) or any(c.target is Target.MEMORY and c.before is None for c in plan.changes)


def _returns(plan: Plan) -> bool:
    """Whether a plan brings memories back into view, or back to a longer form."""
    return any(
        c.target is Target.MEMORY and c.before is not None and c.after is not None and _gains(c.before, c.after)
        for c in plan.changes
    )


def _gains(before: Row, after: Row) -> bool:
    shown = after.get("status") == "active" and before.get("status") != "active"
    return shown or int(after.get("tokens", 0)) > int(before.get("tokens", 0))


def _added_usage(plan: Plan) -> Usage:
    """Return what a plan's new memories take; what it takes away is not looked at."""
    rows = [c.after for c in plan.changes if c.target is Target.MEMORY and c.before is None and c.after is not None]
    return sum((_of_row(row) for row in rows), Usage())


def _of_row(row: Row) -> Usage:
    size = len(str(row["text"]).encode()) + len(_text(row["metadata"]).encode())
    return Usage(1, int(row["tokens"]), size) if row["status"] == "active" else Usage(0, 0, size)


def _text(metadata: object) -> str:
    return json.dumps(metadata, ensure_ascii=False) if isinstance(metadata, Mapping) else str(metadata)

"""A plan: everything an operation would change, as a value that can be shown, applied, journalled and inverted.

May live here: frozen data and the inverse. May not: deciding what to change, or changing it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from perdure.records.instant import Instant, text_of

Row = Mapping[str, Any]
"""Column -> value. For an update only the columns that change; for an insert or a delete the whole row."""


class Target(StrEnum):
    """Which kind of row a change is about."""

    MEMORY = "memory"
    VECTOR = "vector"
    LINK = "link"
    ACCESS = "access"
    RECALL = "recall"
    NAMESPACE = "namespace"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class Change:
    """One row before and after.

    Attributes:
        target: The kind of row.
        id: The memory the row belongs to.
        before: What must be there for the change to apply; None inserts.
        after: What will be there; None deletes.
        because: The reason, in words and numbers.
    """

    target: Target
    id: str
    before: Row | None
    after: Row | None
    because: str = ""

    def inverse(self) -> Change:
        """Return the change that takes this one back."""
        return replace(self, before=self.after, after=self.before)


@dataclass(frozen=True, slots=True)
class Plan:
    """A set of changes to one namespace that is applied whole or not at all.

    Attributes:
        id: The operation's id (UUIDv7).
        operation: The verb, for example ``sweep``.
        namespace: The one namespace that the plan touches.
        at: The instant the plan was made.
        changes: In the order in which they are applied.
        policy: The policy's version (a digest), kept in the journal.
        note: One line for people.
        undoes: The operation that this one takes back, if any.
    """

    id: str
    operation: str
    namespace: str
    at: Instant
    changes: tuple[Change, ...]
    policy: str = ""
    note: str = ""
    undoes: str | None = None

    @property
    def hides(self) -> int:
        """How many memories the plan takes out of view; the loss budget counts it."""
        return len({c.id for c in self.changes if _shown(c.before) and not _shown(c.after, default=True)})

    def inverse(self, *, id: str, at: Instant) -> Plan:  # noqa: A002  # the field's name
        """Return the plan that takes this one back, as a new operation.

        Args:
            id: The new operation's id.
            at: The instant of the undo.
        """
        changes = tuple(change.inverse() for change in reversed(self.changes))
        return replace(
            self,
            id=id,
            at=at,
            operation="undo",
            changes=changes,
            undoes=self.id,
            note=f"takes back {self.operation} {self.id} of {text_of(self.at)}",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain JSON data (vectors are left out)."""
        return {
            "id": self.id,
            "operation": self.operation,
            "namespace": self.namespace,
            "at": text_of(self.at),
            "note": self.note,
            "undoes": self.undoes,
            "hides": self.hides,
            "policy": self.policy,
            "changes": [
                {
                    "target": c.target.value,
                    "id": c.id,
                    "before": _visible(c.before),
                    "after": _visible(c.after),
                    "because": c.because,
                }
                for c in self.changes
            ],
        }


def _shown(row: Row | None, *, default: bool = False) -> bool:
    """Whether a row says that its memory is in view; ``default`` where it says nothing about it."""
    return default if row is None or "status" not in row else row["status"] == "active"


def _visible(row: Row | None) -> dict[str, Any] | None:
    if row is None:
        return None
    return {k: v for k, v in row.items() if not isinstance(v, bytes)}

"""What is moved from one store to another: parts, their columns, how much of each there is."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Final

from perdure.records.memory import State

Line = dict[str, Any]  # one row of a part as plain JSON data; bytes are base64 text

Cursor = tuple[int | str, ...]  # where a reader of a part stands; only the store that gave it understands it

COLUMNS: Final[dict[str, tuple[str, ...]]] = {
    "namespace": ("created_ms", "policy"),
    "memory": (
        *("id", "op", "session", "turn", "speaker", *(f.name for f in fields(State))),
        *("text", "tags", "source", "task", "metadata", "shown", "keys"),
    ),
    "vector": ("id", "space", "data"),
    "link": ("id", "kind", "other", "weight"),
    "access": ("id", "at_ms", "times"),
    "recall": ("id", "at_ms", "query", "hits"),
    "document": ("shelf", "id", "name", "data"),
    "operation": ("id", "operation", "at_ms", "changes", "hides", "policy", "note", "undoes", "digest", "actor"),
    "journal": ("operation", "position", "target", "id", "before", "after", "because"),
}
"""Part -> its columns. The parts are moved in this order: what others refer to comes first."""

PARTS: Final = tuple(COLUMNS)


@dataclass(frozen=True, slots=True)
class Tally:
    """How much of a part there is."""

    rows: int  # how many rows
    digest: str  # 32 hexadecimal digits, the same for the same rows in any order


@dataclass(frozen=True, slots=True)
class TransferResult:
    """What a copy or an import did; both sides held the same rows when it ended."""

    namespaces: int  # how many
    parts: dict[str, int]  # part -> rows that both sides hold
    written: int  # rows written by this run; the others were there from an earlier one
    # whether the input said what it should hold, and it does, and an import's rows fit their journal
    whole: bool = True
    redacted: int = 0  # rows of the input that were brought in without the secrets in them

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {
            "namespaces": self.namespaces,
            "parts": dict(self.parts),
            "rows": sum(self.parts.values()),
            "written": self.written,
            "whole": self.whole,
            "redacted": self.redacted,
            "verified": self.whole,
        }

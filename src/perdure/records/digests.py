"""Digests of what is written, by which a check finds damage. They tell accidents from data, not attackers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any, Final

from perdure.records.canonical_json import canonical
from perdure.records.plan import Row

DIGESTS: Final = "digests"
"""Key of a journal line that stores something: digests of what the line itself does not repeat."""

_ABSENT: Final = "\x00"  # stands for a value that is not there; no text holds it
_BETWEEN: Final = b"\x1f"


def digest_of(*parts: str | bytes | None) -> int:
    """Return 63 bits of texts and bytes, in their order."""
    data = [
        part if isinstance(part, bytes) else (_ABSENT if part is None else part).encode("utf-8", "surrogatepass")
        for part in (*parts, b"")  # a mark stands behind each part
    ]
    return int.from_bytes(blake2b(_BETWEEN.join(data), digest_size=8).digest(), "big") >> 1


def digests_of(row: Row, vector: bytes | None) -> dict[str, int]:
    """Return column -> digest of what the journal does not repeat about a new memory.

    Args:
        row: The memory's row.
        vector: Its int8 vector, if it has one.
    """
    found = {"text": digest_of(row["text"])}
    if row.get("shown") is not None:
        found["shown"] = digest_of(row["shown"])
    if row.get("metadata"):
        found["metadata"] = metadata_digest(row["metadata"])
    if vector:
        found["vector"] = digest_of(vector)
    return found


def metadata_digest(metadata: Mapping[str, Any]) -> int:
    """Return the digest of metadata; a number is the same, however a store writes it."""
    return digest_of(canonical(metadata))


def operation_digest(operation: Row, lines: Iterable[Row]) -> int:
    """Return the digest of an operation and of its journal lines, which come in their order."""
    head = [None if operation[name] is None else str(operation[name]) for name in _OPERATION]
    if operation["actor"] is not None:  # earlier versions know none: their digests stay as they are
        head.append(operation["actor"])
    return digest_of(*head, *(line[name] for line in lines for name in _LINE))


_OPERATION: Final = ("id", "operation", "at_ms", "changes", "hides", "policy", "note", "undoes")
_LINE: Final = ("target", "id", "before", "after", "because")

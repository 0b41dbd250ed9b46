"""Looking for damage, in every store: what must hold between the tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

RULES: Final = {
    "memories_without_content": "memories without content",
    "contents_without_memory": "contents without a memory",
    "memories_without_words": "memories missing from the keyword index",
    "vectors_without_memory": "vectors without a memory",
    "vectors_of_wrong_size": "vectors of the wrong size",
    "lines_without_operation": "journal lines without an operation",
    "short_journals": "operations with missing journal lines",
    "accesses_without_memory": "accesses without a memory",
    "keys_without_memory": "idempotency keys without a memory",
    "memories_without_namespace": "memories without a namespace",
}
"""Statement that counts -> what it counts."""


def broken_rules(count: Callable[[str], int], own: Mapping[str, str]) -> list[str]:
    """Return what is wrong, one sentence each.

    Args:
        count: Runs a statement that counts.
        own: Rules of one engine besides.
    """
    counts = {what: count(name) for name, what in {**RULES, **own}.items()}
    return [f"{number} {what}." for what, number in counts.items() if number]

"""Looking for damage: what must hold between the tables, and whether the second fence stands."""

from __future__ import annotations

from typing import Final

from perdure.stores.postgres.schema import Standing
from perdure.stores.postgres.server import Server

_RULES: Final = {
    "check_content": "memories without content",
    "check_memory": "contents without a memory",
    "check_words": "memories that words do not find",
    "check_documents": "namespaces whose counts of words are wrong",
    "check_vectors": "vectors without a memory",
    "check_sizes": "vectors of the wrong size",
    "check_journal": "journal lines without an operation",
    "check_operations": "operations whose journal is short",
    "check_accesses": "accesses to no memory",
    "check_keys": "idempotency keys of no memory",
    "check_namespaces": "memories in no namespace",
}


def faults(server: Server, standing: Standing) -> list[str]:
    """Return what is wrong, one sentence each."""
    found = []
    if standing.unfenced:
        found.append("The role bypasses row-level security: use one that is no superuser and has no BYPASSRLS.")
    for name, what in _RULES.items():
        count = sum(int(n) for (n,) in server.everywhere(lambda s, name=name: s.rows(name)))  # type: ignore[misc]
        if count:
            found.append(f"{count} {what}.")
    return found

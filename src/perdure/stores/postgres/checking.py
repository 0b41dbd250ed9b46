"""Looking for damage on a server: what must hold between the tables, and whether row-level security holds the role."""

from __future__ import annotations

from typing import Final

from perdure.stores.checking import broken_rules
from perdure.stores.postgres.schema import SchemaStatus
from perdure.stores.postgres.server import Server

OWN_RULES: Final = {"wrong_word_counts": "namespaces with wrong word counts"}


def find_faults(server: Server, schema: SchemaStatus) -> list[str]:
    """Return what is wrong, one sentence each."""
    found = []
    if schema.unfenced:
        found.append("The role bypasses row-level security: use one that is not a superuser and has no BYPASSRLS.")

    def count(name: str) -> int:
        return sum(int(n) for (n,) in server.everywhere(lambda s: s.rows(name)))

    return found + broken_rules(count, OWN_RULES)

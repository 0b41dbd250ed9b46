"""Looking for damage on a server: what must hold between the tables, and whether row-level security holds the role."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from perdure.records.damage import CheckScope, Fault
from perdure.records.errors import StoreDamaged
from perdure.stores.checking import RULES, broken_rules, journal_faults
from perdure.stores.postgres.rebuilding import schema_faults, word_faults
from perdure.stores.postgres.schema import SchemaStatus
from perdure.stores.postgres.server import Server
from perdure.stores.spaces import space_faults
from perdure.stores.words import Stemmer

OWN_RULES: Final = {
    "wrong_word_counts": "namespaces with wrong word counts",
    "wrong_posting_counts": "entries of the index of words with a wrong count of memories",
    "wrong_last_rows": "namespaces whose last row is before that of a memory",
}


def _space_faults(server: Server, count: Callable[..., int]) -> Iterator[Fault]:
    spaces = server.admin(lambda s: s.rows("spaces"), reading=True)
    yield from space_faults(spaces, lambda number: count("memories_without_vector", space=number))


def _row_faults(
    server: Server, namespaces: Callable[[], Sequence[str]], scope: CheckScope, stemmer: Stemmer
) -> Iterator[Fault]:
    for namespace in namespaces():
        yield from journal_faults(server.read, namespace, scope)
        if scope.whole:
            yield from word_faults(server, namespace, stemmer)


def find_faults(
    server: Server, schema: SchemaStatus, namespaces: Callable[[], Sequence[str]], scope: CheckScope, stemmer: Stemmer
) -> Iterator[Fault]:
    """Yield what is wrong."""
    incomplete = False
    for fault in schema_faults(server):
        incomplete |= fault.columns[0] in ("table", "column")
        yield fault
    if schema.unfenced:
        message = "The role bypasses row-level security: use one that is not a superuser and has no BYPASSRLS."
        yield Fault("schema", message)

    def count(name: str, **bindings: int) -> int:
        return sum(int(n) for (n,) in server.everywhere(lambda s: s.rows(name, **bindings), limited=False))

    steps: list[Iterator[Fault]] = [_space_faults(server, count)]
    steps += [broken_rules(count, {name: rule}) for name, rule in {**RULES, **OWN_RULES}.items()]
    steps += [_row_faults(server, namespaces, scope, stemmer)]
    for step in steps:
        try:
            yield from step
        except StoreDamaged as error:
            if not incomplete:  # else what keeps the rest from being looked at is named already
                yield Fault("server", error.message)
    for node in server.unreachable:
        yield Fault("server", f"The node {node} of the cluster cannot be reached; it was not checked.")

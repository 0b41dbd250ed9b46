"""What was affirmed: whether anything was written since it was last said, and how it stood at an earlier instant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from perdure.operations.ports import Context
from perdure.records.instant import Instant
from perdure.records.memory import LIKELY_SUPERSEDES, Kind, Record
from perdure.records.plan import Change, Row, Target
from perdure.records.recall import Filters
from perdure.rules.last_said import said_at


def heard_since(ctx: Context, record: Record) -> bool:
    """Return whether anything was written in the namespace since a memory was last said, or together with it.

    If not, whoever says it again only repeats the last word.
    """
    place = record.namespace
    if ctx.store.operations_ahead(place, said_at(record.state), 1):
        return True
    return any(c.target is Target.MEMORY and c.id != record.id for c in ctx.store.changes(place, record.op))


def affirmed_by(
    ctx: Context, namespace: str, records: Sequence[Record], links: Iterable[tuple[str, str, str]], filters: Filters
) -> tuple[list[Record], list[tuple[str, str, str]]]:
    """Return memories and their links as they were at the time that a question asks about, as far as affirming goes.

    Their journal tells when they were affirmed before, and which links that removed or turned round; what is older than
    its horizon counts as never affirmed.
    """
    then = min(at for at in (filters.as_of, filters.known_at) if at is not None)
    found, former = list[Record](), set(links)
    for record in records:
        if record.state.kind is Kind.FACT or said_at(record.state) <= then:
            found.append(record)
            continue
        validated, operations = _affirmed_before(ctx, record, then)
        found.append(replace(record, state=replace(record.state, validated_ms=validated)))
        for operation in operations:
            former = _without(former, ctx.store.changes(namespace, operation))
    return found, sorted(former)


def _affirmed_before(ctx: Context, record: Record, then: Instant) -> tuple[Instant | None, list[str]]:
    """Return when a memory was last affirmed by an instant, and the operations that affirmed it since, latest first."""
    at, operations = record.state.validated_ms, list[str]()
    for line in reversed(ctx.store.journal(record.namespace, record.id)):
        if at is None or at <= then:
            break
        if line.target == Target.MEMORY and "validated_ms" in (line.after or {}):
            at = (line.before or {}).get("validated_ms")
            operations.append(line.operation_id)
    return (None if at is None or at > then else at), operations


def _without(links: set[tuple[str, str, str]], changes: Sequence[Change]) -> set[tuple[str, str, str]]:
    """Return links as they were before an operation removed or turned round some that call a memory untrue."""
    of_links = [change for change in changes if change.target is Target.LINK]
    made = set(_calling_untrue((change.id, change.after) for change in of_links))
    return (links - made) | set(_calling_untrue((change.id, change.before) for change in of_links))


def _calling_untrue(rows: Iterable[tuple[str, Row | None]]) -> Iterator[tuple[str, str, str]]:
    for identity, row in rows:
        if row is not None and row.get("kind") == LIKELY_SUPERSEDES:
            yield identity, LIKELY_SUPERSEDES, str(row["other"])

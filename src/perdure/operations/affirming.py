"""What was affirmed: whether that is news, what a reply says of it, and how it stood at an earlier instant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from perdure.operations.ports import Context
from perdure.records.instant import Instant
from perdure.records.memory import LIKELY_SUPERSEDES, MAY_SUPERSEDE, STANDS_FOR, Kind, Record
from perdure.records.outcome import Outcome
from perdure.records.plan import Change, Row, Target
from perdure.records.recall import Filters
from perdure.rules.decisions import Decisions
from perdure.rules.last_said import said_at

Written = TypeVar("Written", bound=Outcome)


def written_since(ctx: Context, namespace: str, records: Sequence[Record]) -> bool:
    """Return whether anything was written in a namespace since some memories were last said, or stored with them.

    If not, whoever says them again only repeats the last words. What they replaced is not stored with them.
    """
    ids, operations = {record.id for record in records}, sorted({record.op for record in records})
    first = min(said_at(record.state) for record in records)
    # An operation may be dated a little later than what it stored.
    own = {record.op for record in records if said_at(record.state) == first}
    if any(identity not in own for identity, *_ in ctx.store.operations_ahead(namespace, first, len(own) + 1)):
        return True
    written = (change for operation in operations for change in ctx.store.changes(namespace, operation))
    return any(c.target is Target.MEMORY and c.before is None and c.id not in ids for c in written)


def with_changed_links(done: Written, decisions: Decisions) -> Written:
    """Return an outcome that says which links no longer call its memory untrue, where it wrote that."""
    removed, turned = decisions.changed_links.get(done.id, ((), ())) if done.changed else ((), ())
    return replace(done, links_removed_from=removed, links_turned_round=turned) if removed or turned else done


def affirmed_by(
    ctx: Context, namespace: str, records: Sequence[Record], links: Iterable[tuple[str, str, str]], filters: Filters
) -> tuple[list[Record], list[tuple[str, str, str]]]:
    """Return memories and their links as they were at the time that a question asks about, as far as affirming goes.

    Their journal tells when they were affirmed before, and which links that removed or turned round; what is older than
    its horizon counts as never affirmed.
    """
    then = filters.then or 0
    affirmed = {r.id for r in records if r.state.kind is not Kind.FACT and said_at(r.state) > then}
    links = list(links)
    merged = _said_by(ctx, namespace, [(i, o) for i, kind, o in links if kind == STANDS_FOR and i in affirmed], then)
    found, former = list[Record](), set(links)
    for record in records:
        if record.id not in affirmed:
            found.append(record)
            continue
        before, operations = _affirmed_before(ctx, record, then)
        last = max(said_at(before.state), merged.get(record.id, 0))
        again = last if last > before.state.created_ms else before.state.validated_ms
        found.append(replace(before, state=replace(before.state, validated_ms=again)))
        for operation in operations:
            former = _without(former, ctx.store.changes(namespace, operation))
    return found, sorted(former)


def _said_by(ctx: Context, namespace: str, pairs: Sequence[tuple[str, str]], then: Instant) -> dict[str, Instant]:
    """Return memory -> when the last of those that it stands for, each as (memory, other), was said by an instant."""
    states = ctx.store.states(namespace, sorted({other for _, other in pairs})) if pairs else {}
    said: dict[str, Instant] = {}
    for identity, other in pairs:
        if other in states and (at := said_at(states[other][0])) <= then:
            said[identity] = max(at, said.get(identity, 0))
    return said


def _affirmed_before(ctx: Context, record: Record, then: Instant) -> tuple[Record, list[str]]:
    """Return a memory as it was said by an instant, and the operations that affirmed it since, latest first.

    One into which earlier ones were merged since has its own first day again.
    """
    at, created, operations = record.state.validated_ms, record.state.created_ms, list[str]()
    for line in reversed(ctx.store.journal(record.namespace, record.id)):
        if at is None or at <= then:
            break
        if line.target == Target.MEMORY and "validated_ms" in (line.after or {}):
            before = line.before or {}
            at, created = before.get("validated_ms"), before.get("created_ms", created)
            operations.append(line.operation_id)
    at = None if at is None or at > then else at
    return replace(record, state=replace(record.state, validated_ms=at, created_ms=created)), operations


def _without(links: set[tuple[str, str, str]], changes: Sequence[Change]) -> set[tuple[str, str, str]]:
    """Return links as they were before an operation removed or turned round some that call a memory untrue."""
    of_links = [change for change in changes if change.target is Target.LINK]
    made = set(_calling_untrue((change.id, change.after) for change in of_links))
    return (links - made) | set(_calling_untrue((change.id, change.before) for change in of_links))


def _calling_untrue(rows: Iterable[tuple[str, Row | None]]) -> Iterator[tuple[str, str, str]]:
    for identity, row in rows:
        if row is not None and row.get("kind") in (LIKELY_SUPERSEDES, MAY_SUPERSEDE):
            yield identity, row["kind"], str(row["other"])

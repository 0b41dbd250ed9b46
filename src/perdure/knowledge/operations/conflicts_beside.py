"""What contradicts a fact that comes back or changes hands, and what no longer does."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.knowledge.operations.apply_claims import ClaimWriter, same_audience
from perdure.knowledge.operations.displaced import lost_before
from perdure.knowledge.operations.fact_session import FactSession
from perdure.knowledge.records.facts import Fact
from perdure.knowledge.rules.claim_resolution import KnownFact
from perdure.knowledge.rules.fact_records import link_change
from perdure.knowledge.rules.given_claims import outranks
from perdure.operations.ports import Context
from perdure.records.instant import Instant
from perdure.records.memory import INTERRUPTS, Document, Kind, Record, Shelf, Status, Trust
from perdure.records.plan import Change, Target


def restore_conflicts(
    ctx: Context, record: Record, now: Instant, since: str = "", planned: Sequence[Change] = ()
) -> list[Change]:
    """Return the conflicts and questions that bringing a fact back opens; none of what is no fact.

    Args:
        ctx: Store and policy.
        record: The memory that is brought back: hidden, or not stored.
        now: The instant.
        since: Facts that no operation changed after this one are left out, where the memory is hidden; none are if it
            is empty.
        planned: What stores the memory, if it is not stored, with the conflicts that come back with it.
    """
    if record.state.kind is not Kind.FACT or (record.state.status is Status.ACTIVE and not planned):
        return []
    work = FactSession(ctx, record.namespace, now)
    work.read([record.id])
    is_stored = record.id in work.facts
    if not is_stored:
        work.take_in_planned(record, _documents(planned))
    if record.id not in work.facts or (is_stored and record.state.status is Status.ACTIVE):
        return []
    (own,) = work.known_facts([record.id], now)
    beside = work.about(own.fact.subject, own.fact.predicate, now)
    if own.fact.is_upcoming(now) and not since:  # what holds now ends for it (operations/planned_facts.py)
        beside = []
    writer = ClaimWriter(work)
    for other in (k for k in beside if k.fact.id != record.id and own.fact.contradicts(k.fact)):
        other_record = work.record(other.fact.id)
        is_new = other_record.op > since if is_stored else not _had_conflict(work, record.id, other.fact.id)
        is_settled = not since and _is_settled(work, own, other)
        if is_new and not is_settled and same_audience(work.record(record.id), other_record):
            because = f"{own.fact.shown_value} was brought back beside {other.fact.shown_value}"
            writer.contest(own, other, now, because)
    return work.edits.changes()


def _documents(planned: Sequence[Change]) -> list[Document]:
    rows = ((c.id, c.after) for c in planned if c.target is Target.DOCUMENT)
    return [Document(Shelf(row["shelf"]), i, row["name"], row["data"]) for i, row in rows if row is not None]


def _is_settled(work: FactSession, own: KnownFact, other: KnownFact) -> bool:
    """Whether it is known which of two facts holds: one takes the other's place again, or only for a time."""
    interrupts = _interrupts(work, own, other) or _interrupts(work, other, own)
    return interrupts or lost_before(work, other, own.fact) is not None


def _interrupts(work: FactSession, one: KnownFact, other: KnownFact) -> bool:
    """Whether a fact was said to hold for a time in the place of another, which nobody has said again since."""
    link = (one.fact.id, INTERRUPTS, other.fact.id)
    is_later = one.fact.ends_before(other.fact) and other.last_said <= one.last_said
    return is_later and link in work.ctx.store.links_at(work.namespace, [one.fact.id])


def _had_conflict(work: FactSession, one: str, other: str) -> bool:
    """Whether it was decided once, or asked, which of two facts holds."""
    return any(work.edits.get(Shelf.CONFLICT, *pair) is not None for pair in ((one, other), (other, one)))


def merge_conflicts(ctx: Context, namespace: str, stays: str, facts: Sequence[str], now: Instant) -> list[Change]:
    """Return the conflicts and questions that come up because facts of one entity become another's.

    What holds for a time interrupts what it contradicts, as if it had been said of one, and nobody is asked.
    """
    work = FactSession(ctx, namespace, now)
    work.read(facts)
    writer = ClaimWriter(work)
    for identity in facts:
        own = next(iter(work.known_facts([identity] if identity in work.facts else [], now)), None)
        if own is None or own.state.status is not Status.ACTIVE:
            continue
        for other in work.about(stays, own.fact.predicate, now):
            _meet(writer, own, other, now)
        for planned in work.known_facts([f.id for f in work.upcoming_facts(stays, own.fact.predicate)], now):
            _meet(writer, own, planned, now)
    return work.changes()


def _meet(writer: ClaimWriter, own: KnownFact, other: KnownFact, now: Instant) -> None:
    """Let one of two facts that are said of one since a merge interrupt the other, or ask which is right."""
    work, one, two = writer.work, own.fact, other.fact
    if not (one.contradicts(two) and same_audience(work.record(one.id), work.record(two.id))):
        return
    because = f"{one.shown_value} and {two.shown_value} are said of one since a merge"
    if pair := _interrupting(one, two):
        work.link(link_change(INTERRUPTS, *pair, because))
    elif not two.is_upcoming(now):  # what is planned is met on its day
        writer.contest(own, other, now, because)


def _interrupting(one: Fact, other: Fact) -> tuple[str, str] | None:
    """Return which of two facts holds in the place of the other one for a time, with that one; None if neither does."""
    for shorter, longer in ((one, other), (other, one)):
        if shorter.ends_before(longer) and longer.trust is not Trust.AUTHORITY and not outranks(longer, shorter.trust):
            return shorter.id, longer.id
    return None


def split_conflicts(ctx: Context, namespace: str, facts: Sequence[str], now: Instant) -> list[Change]:
    """Return the changes that close the conflicts of facts that become another entity's with those that stay.

    Neither interrupts the other any longer.
    """
    work = FactSession(ctx, namespace, now)
    work.read(facts)
    writer = ClaimWriter(work)
    for identity in facts:
        for older, newer in work.open_conflicts(identity):
            if not {older, newer} <= set(facts):
                writer.close_conflict(older, newer, "answered", "they are said of two since a split")
    for one, kind, other in ctx.store.links_at(namespace, sorted(facts)) if facts else ():
        if kind == INTERRUPTS and not {one, other} <= set(facts):
            row = {"kind": INTERRUPTS, "other": other, "weight": 1.0}
            work.link(Change(Target.LINK, one, row, None, "they are said of two since a split"))
    return work.changes()

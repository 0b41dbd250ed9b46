"""Why no answer can be given about a memory that is not in view, and which memory to answer about instead."""

from __future__ import annotations

from perdure.operations.documents import successors
from perdure.operations.ports import Context
from perdure.records.errors import InvalidInput
from perdure.records.instant import Instant, day_at
from perdure.records.memory import STANDS_FOR, Kind, Record, Status


def refused_as_hidden(ctx: Context, record: Record, verb: str) -> InvalidInput:
    """Return the error that says why a memory that is not in view cannot be answered about, and what to do."""
    identity, status = record.id, record.state.status
    if status is Status.ARCHIVED:
        return InvalidInput(f"{identity} is archived, so it is not in view.", remedy="Use `restore` first.")
    if status is Status.INVALIDATED:
        return InvalidInput(
            f"{identity} was said to be wrong, so it is not in view.",
            remedy="If it holds after all, undo the operation that said so; `why` lists it. Or remember it again.",
        )
    instead = _instead(ctx, record)
    if instead is None:
        return InvalidInput(
            f"{identity} no longer holds, so it is not in view, and no other memory stands in its place.",
            remedy="If it holds after all, remember it again.",
        )
    how = "merged into" if status is Status.CONSOLIDATED else "replaced by"
    if instead.state.status is not Status.ACTIVE:
        return InvalidInput(
            f"{identity} was {how} {instead.id}, and that one is {instead.state.status}: neither is in view.",
            remedy="If the old words hold after all, remember them again.",
        )
    if status is Status.CONSOLIDATED:
        remedy = f"{'Confirm' if verb == 'confirm' else 'Answer about'} {instead.id}, which stands for both."
        return InvalidInput(f"{identity} was {how} {instead.id}, so it is not in view.", remedy=remedy)
    old = (
        "use `correct` for {} with the old value"
        if record.state.kind is Kind.FACT
        else "use `update` for {} with the old words"
    )
    again = f"If the old one holds after all, {old.format(instead.id)}."
    first = (
        f"If {instead.id} is right, use `confirm` for that one." if verb == "confirm" else f"Answer about {instead.id}."
    )
    return InvalidInput(f"{identity} was {how} {instead.id}, so it is not in view.", remedy=f"{first} {again}")


def refused_as_ended(ctx: Context, record: Record, end: Instant, follower: str) -> InvalidInput:
    """Return the error that says that a fact has ended and so cannot be confirmed, and what to do if it holds again.

    Args:
        ctx: The store, and more.
        record: The fact.
        end: When it ended.
        follower: What took its place then; empty where nothing was planned to.
    """
    day = day_at(end, ctx.policy.days.tz)
    told = f"{record.id} ended on {day}, so nobody can confirm that it still holds."
    again = "If it holds again, remember it again, with the fact and without valid_to."
    later = next(iter(ctx.store.get(record.namespace, [follower])), None) if follower else None
    if later is not None and later.state.status is Status.ACTIVE:
        told = f"{record.id} ended on {day}: {later.id} took its place."
        again = f"If the old one holds again, use `correct` for {later.id} with the old value."
    return InvalidInput(told, remedy=again)


def _instead(ctx: Context, record: Record) -> Record | None:
    """Return what stands in the place of a memory that was replaced, or merged into another."""
    place, start = record.namespace, record.id
    if record.state.status is Status.CONSOLIDATED:
        start = next((i for i, kind, _ in ctx.store.links_to(place, start) if kind == STANDS_FOR), start)
    last = successors(ctx, place, [start])[start]
    return next(iter(ctx.store.get(place, [last])), None) if last != record.id else None

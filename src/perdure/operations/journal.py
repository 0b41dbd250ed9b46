"""Looking back and taking back: history, undo, and applying a plan made earlier."""

from __future__ import annotations

from dataclasses import replace

from perdure.operations.ports import Context
from perdure.operations.writing import found
from perdure.records.errors import ConflictError, GateStopped, InvalidInput, NotFound
from perdure.records.instant import DAY_MS
from perdure.records.plan import Change, Plan, Target
from perdure.records.report import Entry, Operation
from perdure.rules.upkeep import Budget


def history(
    ctx: Context, identity: str | None, *, namespace: str | None = None, limit: int = 100
) -> list[Entry] | list[Operation]:
    """Return a memory's journal, oldest first; or, without an id, the newest operations first."""
    if identity is None:
        return ctx.store.operations(namespace, limit)
    place = namespace if namespace is not None else ctx.store.locate(identity)
    entries = ctx.store.journal(place, identity) if place is not None else []
    if not entries:
        found(ctx, identity, namespace)
    return entries


def undo(ctx: Context, operation_id: str) -> Plan:
    """Take an operation back, and return the plan that did it.

    Raises:
        NotFound: There is no such operation.
        InvalidInput: It was taken back already.
        ConflictError: A row has changed since; the error lists the memories, and nothing was written.
    """
    operation = ctx.store.operation(operation_id)
    if operation is None:
        raise NotFound(f"There is no operation {operation_id!r}.", remedy="`perdure history` lists operations.")
    if operation.undone_by is not None:
        raise InvalidInput(
            f"The operation {operation_id} was taken back by {operation.undone_by} already.",
            remedy="Undo that one to bring it back.",
        )
    changes = _completed(ctx, operation)
    now = ctx.clock()
    whole = Plan(operation.id, operation.operation, operation.namespace, now, changes, ctx.policy.version)
    plan = whole.inverse(id=ctx.ids(now), at=now)
    plan = replace(plan, note=f"takes back {operation.operation} of {operation.at}")
    try:
        ctx.store.apply(plan)
    except ConflictError as error:
        raise ConflictError(
            f"{len(error.ids) or 'Some'} of the memories have changed since {operation.operation} of {operation.at}; "
            f"nothing was written. Changed: {_latest(ctx, operation, error.ids)}.",
            error.ids,
            remedy="Undo the later operations first.",
        ) from error
    return plan


def _completed(ctx: Context, operation: Operation) -> tuple[Change, ...]:
    """Return an operation's changes with the whole rows of what it stored, which the journal tells only briefly."""
    changes = ctx.store.changes(operation.namespace, operation.id)
    stored = [c.id for c in changes if c.before is None and c.target in (Target.MEMORY, Target.VECTOR)]
    linking = {c.id for c in changes if c.target is Target.LINK}
    images = ctx.store.images(operation.namespace, stored)
    waiting = ctx.store.accesses(operation.namespace, stored, ctx.clock() + 36_525 * DAY_MS)
    result: list[Change] = []
    for change in changes:
        if change.before is None and change.target is Target.MEMORY:
            if change.id not in images:
                raise ConflictError(
                    f"The memory {change.id} is gone.", (change.id,), remedy="Undo what removed it first."
                )
            # The row must still be as this operation left it.
            result.append(
                replace(change, after={**images[change.id], "op": (change.after or {}).get("op", operation.id)})
            )
            result += _loose_ends(ctx, operation, change.id, linking)
            result += [
                Change(Target.ACCESS, change.id, None, {"at_ms": at, "times": times}, "accessed meanwhile")
                for at, times in waiting.get(change.id, ())
            ]
        elif change.target is Target.LINK and not _linked(ctx, operation, change):
            continue
        elif change.before is None and change.target is Target.VECTOR and change.id in images:
            result.append(replace(change, after={**(change.after or {}), "int8": images[change.id]["int8"]}))
        else:
            result.append(change)
    return tuple(result)


def _loose_ends(ctx: Context, operation: Operation, identity: str, own: set[str]) -> list[Change]:
    """Links that later memories made to one that is taken back: they go with it, and come back with it."""
    return [
        Change(Target.LINK, other, None, {"kind": kind, "other": identity, "weight": weight}, "linked meanwhile")
        for other, kind, weight in ctx.store.links_to(operation.namespace, identity)
        if other not in own
    ]


def _linked(ctx: Context, operation: Operation, change: Change) -> bool:
    """Whether a link that the operation made is still there: it goes with either of its memories."""
    if change.before is not None or change.after is None:
        return True
    links = ctx.store.links_to(operation.namespace, change.after["other"])
    return (change.id, change.after["kind"]) in {(other, kind) for other, kind, _ in links}


def _latest(ctx: Context, operation: Operation, ids: tuple[str, ...]) -> str:
    listed = []
    for identity in ids[:10]:
        entries = ctx.store.journal(operation.namespace, identity)
        last = f" (by {entries[-1].operation} {entries[-1].operation_id})" if entries else ""
        listed.append(f"{identity}{last}")
    more = f" and {len(ids) - 10} more" if len(ids) > 10 else ""  # noqa: PLR2004  # as many as fit a message
    return ", ".join(listed) + more


def apply(ctx: Context, plan: Plan) -> Plan:
    """Apply a plan that was made earlier (a dry run returned it), if the store has not moved on since.

    Raises:
        ConflictError: A before-image no longer holds; nothing was written.
        GateStopped: The plan would hide more than the loss budget allows.
    """
    now = ctx.clock()
    budget = Budget(ctx.store.visible_count(plan.namespace), ctx.store.hidden_since(plan.namespace, now - now % DAY_MS))
    if refusal := budget.refusal(plan.hides, ctx.policy.gates):
        raise GateStopped(
            f"The plan was stopped by the {refusal}.", remedy="Raise gates.* in the policy, or make a smaller plan."
        )
    ctx.store.apply(plan)
    return plan

"""Looking back and taking back: history, undo, and applying a plan made earlier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from perdure.operations.changed_memories import memories_of
from perdure.operations.documents import PAGE, pages
from perdure.operations.identify import LAST, operations_of
from perdure.operations.lifecycle.gates import apply_gated
from perdure.operations.ports import Context
from perdure.operations.repair import REPAIR, check_nothing_lost, check_undoable
from perdure.operations.undo_past_erasures import ERASE, rebase_on_erasures
from perdure.operations.undo_past_maintenance import (
    MAINTENANCE,
    blocking_entries,
    later_entries,
    rebase_on_maintenance,
)
from perdure.operations.undo_refusals import check_brings_back
from perdure.operations.undone_conflicts import new_conflicts
from perdure.operations.undone_entities import with_entities
from perdure.operations.undone_ties import with_ties
from perdure.operations.writing import read_after, read_record
from perdure.records.access import Role
from perdure.records.errors import (
    ConflictError,
    InvalidInput,
    NotAllowed,
    NotFound,
    OlderThanHorizon,
    PartlyStored,
    PerdureError,
)
from perdure.records.identifier import is_uuid
from perdure.records.instant import DAY_MS, Instant
from perdure.records.memory import CONFLICT_WITH, DERIVED, Shelf
from perdure.records.plan import Change, Plan, Target
from perdure.records.report import NOTES, JournalEntry, Operation
from perdure.records.store_results import ApplyResult, UndoResult

_INSTANT: Final = 13  # characters of a UUIDv7 that are its instant
_MOST_LISTED: Final = 10  # ids that a message lists


def history(
    ctx: Context, identity: str | None, *, namespace: str | None = None, limit: int = 100, notes: bool = False
) -> list[JournalEntry] | list[Operation]:
    """Return a memory's journal, oldest first; or, without an id, the newest operations first.

    ``notes``: also operations by which hooks and maintenance write something down for themselves.
    """
    if identity is None:
        return ctx.store.operations(namespace, limit, without=() if notes else NOTES)
    place = namespace if namespace is not None else ctx.store.locate(identity)
    entries = ctx.store.journal(place, identity) if place is not None else []
    if not entries:
        read_record(ctx, identity, namespace)
    return entries


def undo(ctx: Context, operation_id: str, role_of: Callable[[str], Role]) -> UndoResult:
    """Take an operation back; ``last`` means the newest one that can be, and that the caller's token may take back.

    ``role_of`` returns the role that an operation needs, by its name.
    """
    operation = _last_operation(ctx, role_of) if operation_id == LAST else ctx.store.operation(operation_id)
    if operation is None:
        raise NotFound(
            f"There is no operation {operation_id!r}.",
            remedy="Each change names the operation that undoes it, and `why` of a memory lists those that changed it.",
        )
    operation = _effective_operation(ctx, operation)
    _check_role(ctx, operation, role_of)
    if operation.undone_by is not None:
        raise InvalidInput(
            f"The operation {operation.id} was already undone by {operation.undone_by}.",
            remedy=f"To redo it, undo {operation.undone_by}.",
        )
    if operation.operation == ERASE:
        raise InvalidInput(
            f"The operation {operation.id} erased memories for good; it cannot be undone.",
            remedy="A backup made elsewhere before it may still hold them.",
        )
    if operation.operation == REPAIR:
        check_nothing_lost(operation.id, ctx.store.changes(operation.namespace, operation.id))
    changes = _whole_changes(ctx, operation)
    if operation.operation == REPAIR:
        check_undoable(operation.id, changes)
    check_brings_back(operation, changes)
    about = memories_of(ctx, operation, changes)
    plan = _take_back(ctx, operation, changes)
    none: tuple[str, ...] = ()
    others = read_after(ctx, plan.id, lambda: _rest_of_run(ctx, operation), none)
    if not about:  # what is done again is there only now
        about = read_after(ctx, plan.id, lambda: memories_of(ctx, operation, changes), about)
    return UndoResult(operation.id, plan.note, (plan,), (plan.id,), others, about)


def _take_back(ctx: Context, operation: Operation, changes: tuple[Change, ...]) -> Plan:
    """Take changes back, and return the plan that did; what erasures or maintenance did since keeps nobody from it."""
    try:
        return _apply_inverse(ctx, operation, changes)
    except ConflictError as error:
        first = error
    rebased = rebase_on_maintenance(ctx, operation, rebase_on_erasures(ctx, operation, changes))
    try:
        if rebased != changes:
            return _apply_inverse(ctx, operation, rebased)
    except ConflictError as error:
        first = error
    raise ConflictError(
        f"{len(first.ids) or 'Some'} of the memories have changed since {operation.operation} of {operation.at}; "
        f"nothing was written. Changed: {_list_with_operations(ctx, operation, first.ids)}.",
        first.ids,
        remedy="Undo the later operations first.",
    ) from first


def _apply_inverse(ctx: Context, operation: Operation, changes: tuple[Change, ...]) -> Plan:
    now = ctx.clock()
    whole = Plan(operation.id, operation.operation, operation.namespace, now, changes, ctx.policy.version)
    plan = whole.inverse(id=ctx.ids(now), at=now)
    note = f"undoes {operation.operation} of {operation.at}"
    plan = replace(plan, changes=(*plan.changes, *new_conflicts(ctx, operation, plan, now)), note=note)
    ctx.store.apply(plan)
    return plan


def _rest_of_run(ctx: Context, undone: Operation) -> tuple[str, ...]:
    """Return the operations that the same call made and that are not undone, newest first.

    A call of maintenance makes several, at one instant, where it changes many memories.
    """
    if undone.operation not in MAINTENANCE or not is_uuid(undone.id):
        return ()
    ids = ctx.store.find_operations(undone.id[:_INSTANT], PAGE)
    others = [
        o for o in map(operations_of(ctx, undone.namespace), reversed(ids)) if o is not None and o.id != undone.id
    ]
    of_run = [o for o in others if (o.operation, o.actor) == (undone.operation, undone.actor)]
    return tuple(o.id for o in of_run if _effective_operation(ctx, o).undone_by is None)


def _effective_operation(ctx: Context, operation: Operation) -> Operation:
    """Return the operation that made things as they are: of one that was undone and redone, the redo."""
    find = operations_of(ctx, operation.namespace)
    while operation.undone_by is not None:
        undo = find(operation.undone_by)
        if undo is None or undo.undone_by is None:
            return operation
        redo = find(undo.undone_by)
        if redo is None:
            return operation
        operation = redo
    return operation


def _last_operation(ctx: Context, role_of: Callable[[str], Role]) -> Operation:
    """Return the newest operation that the caller may take back; where there is none, the newest of all."""
    newest = ctx.store.operations(None, PAGE, without=NOTES)
    own = [o for o in newest if o.may_be_last(operations_of(ctx, o.namespace))]
    if not own:
        raise NotFound(
            "There is no operation to undo.",
            remedy="Each change names the operation that undoes it, and `why` of a memory lists those that changed it.",
        )
    if ctx.grant is None:
        return own[0]
    grant = ctx.grant
    return next((o for o in own if grant.allows(role_of(_made_by(ctx, o)))), own[0])


def _made_by(ctx: Context, operation: Operation) -> str:
    """Return the name of an operation, or of the one that it took back or brought back; empty where that is gone."""
    made: Operation | None = operation
    while made is not None and made.undoes is not None:
        made = operations_of(ctx, made.namespace)(made.undoes)
    return "" if made is None else made.operation


def _check_role(ctx: Context, operation: Operation, role_of: Callable[[str], Role]) -> None:
    if ctx.grant is None:
        return
    needed = role_of(_made_by(ctx, operation))
    if not ctx.grant.allows(needed):
        raise NotAllowed(
            f"To undo {operation.operation} {operation.id} needs a token with the role {needed}; "
            f"this one has {ctx.grant.role}.",
            remedy="Ask who has such a token, or undo an operation of your own by its id.",
        )


def _whole_changes(ctx: Context, operation: Operation) -> tuple[Change, ...]:
    """Return an operation's changes with the whole rows of what it stored, which the journal tells only briefly."""
    lines = ctx.store.changes(operation.namespace, operation.id)
    if any(c.trimmed for c in lines):
        raise OlderThanHorizon(
            f"The operation {operation.id} of {operation.at} is older than the journal's horizon: what it changed is "
            "no longer kept, so it cannot be undone. Nothing was written.",
            remedy="`perdure history` says what it did; a backup from before it holds the memories as they were.",
        )
    changes = [c for c in lines if c.before is not None or c.after is not None]  # lines of what was erased say nothing
    if lines and not changes:
        raise InvalidInput(
            f"All that {operation.operation} {operation.id} changed was erased for good; nothing is left to undo.",
            remedy="`why` of a memory lists the operations that changed it.",
        )
    stored = [c.id for c in changes if c.before is None and c.target in (Target.MEMORY, Target.VECTOR)]
    anew = {c.id for c in changes if c.after is None and c.target is Target.MEMORY}.intersection(stored)  # by a repair
    changes = [c for c in changes if c.target is not Target.ACCESS or c.id not in anew]
    linking = {c.id for c in changes if c.target is Target.LINK}
    documents = {(c.id, c.after["shelf"], c.after["name"]) for c in changes if c.target is Target.DOCUMENT and c.after}
    images = ctx.store.images(operation.namespace, stored)
    waiting = ctx.store.accesses(operation.namespace, stored, ctx.clock() + 36_525 * DAY_MS)
    first = _columns_as_stored(changes)
    result: list[Change] = []
    for change in changes:
        if change.before is None and change.target is Target.MEMORY:
            if change.id not in images:
                raise ConflictError(
                    f"The memory {change.id} no longer exists.",
                    (change.id,),
                    remedy="First undo the operation that removed it.",
                )
            # The row must still be as this operation left it.
            born = {**images[change.id], **first.get(change.id, {}), "op": (change.after or {}).get("op", operation.id)}
            result.append(replace(change, after=born))
            if change.id not in anew:  # what has come to it since goes with it
                result += _loose_ends(ctx, operation, change.id, linking)
                result += _documents(ctx, operation, change.id, documents)
                result += _accesses(change.id, waiting.get(change.id, ()))
        elif change.before is None and change.target is Target.VECTOR and change.id in images:
            result.append(replace(change, after={**(change.after or {}), "int8": images[change.id]["int8"]}))
        else:
            result.append(change)
    return with_entities(ctx, operation, with_ties(ctx, operation, result))


def _columns_as_stored(changes: Sequence[Change]) -> dict[str, dict[str, Any]]:
    """Return, for what was stored and changed in one operation, the columns as they were stored."""
    first: dict[str, dict[str, Any]] = {}
    for change in reversed(changes):
        if change.before is not None and change.after is not None and change.target is Target.MEMORY:
            first[change.id] = {**first.get(change.id, {}), **change.before}
    return first


def _accesses(identity: str, waiting: Sequence[tuple[Instant, int]]) -> list[Change]:
    because = "accessed in the meantime"
    return [Change(Target.ACCESS, identity, None, {"at_ms": at, "times": n}, because) for at, n in waiting]


def _loose_ends(ctx: Context, operation: Operation, identity: str, own: set[str]) -> list[Change]:
    """Links that later memories made to one that is taken back: they go with it, and come back with it."""
    links = [link for link in ctx.store.links_to(operation.namespace, identity) if link[0] not in own]
    resting = tuple(other for other, kind, _ in links if kind == DERIVED)
    if resting:
        raise ConflictError(
            f"{len(resting)} {'fact depends' if len(resting) == 1 else 'facts depend'} on {identity}; "
            "nothing was written.",
            resting,
            remedy="First undo the learn operation that used it; `perdure history` lists it.",
        )
    return [
        Change(Target.LINK, other, None, {"kind": kind, "other": identity, "weight": weight}, "linked in the meantime")
        for other, kind, weight in links
    ]


def _documents(ctx: Context, operation: Operation, identity: str, removed: set[tuple[str, str, str]]) -> list[Change]:
    """Documents that later operations kept about a memory that is taken back: they go, and come back, with it.

    ``removed`` names those that the plan removes already; what is found is added to it.
    """
    documents = ctx.store.documents.strict
    found = {
        (d.id, d.shelf.value, d.name): d
        for d in (
            *documents.find_about(operation.namespace, identity),
            *documents.find_named(operation.namespace, Shelf.CONFLICT, [identity]),
            *documents.find_named(operation.namespace, Shelf.REVIEW, [f"{CONFLICT_WITH}{identity}"]),
        )
    }
    later = [found[key] for key in found if key not in removed]
    removed.update(found)
    return [
        Change(
            Target.DOCUMENT,
            d.id,
            None,
            {"shelf": d.shelf, "name": d.name, "data": dict(d.data)},
            "stored in the meantime",
        )
        for d in later
    ]


def _list_with_operations(ctx: Context, operation: Operation, ids: tuple[str, ...]) -> str:
    """Return memories for a message, each with the operation that changed it last, if that is a later one."""
    entries = {i: later_entries(ctx, operation, i) for i in ids[:_MOST_LISTED]}
    find = operations_of(ctx, operation.namespace)
    last = {i: (blocking_entries(find, some) or some)[-1] for i, some in entries.items() if some}
    labels = [f"{i} (by {line.operation} {line.operation_id})" for i, line in last.items()] or list(entries)
    return _list_ids(labels, len(labels) + len(ids[_MOST_LISTED:]))


def apply(ctx: Context, plans: Sequence[Plan], accept_loss: str | None = None) -> ApplyResult:
    """Apply plans that were made earlier (a dry run returned them), if the store has not moved on since.

    All are compared with the store before the first is written; each is then one transaction.
    """
    for plan in plans:
        if plan.policy not in ("", ctx.policy.version):
            raise ConflictError(
                f"The plan was made under policy version {plan.policy}; the current version is {ctx.policy.version}.",
                remedy="Make the plan again under the current policy.",
            )
    if changed := _changed_since(ctx, plans):
        raise ConflictError(
            f"{len(changed)} of the memories have changed since the plan was made; nothing was written. "
            f"Changed: {_list_ids(changed, len(changed))}.",
            changed,
            remedy="Make a new plan.",
        )
    applied: list[Plan] = []
    for plan in plans:
        try:
            applied.append(apply_gated(ctx, plan, accept_loss=accept_loss))
        except PerdureError as error:
            if not applied:
                raise
            raise PartlyStored(
                f"{len(applied)} of {len(plans)} plans were applied; the next was refused: {error.message}",
                len(applied),
                tuple(p.id for p in applied),
                remedy="Undo the applied plans with `undo`, or make a new plan for the rest.",
            ) from error
    return ApplyResult(tuple(applied), tuple(plan.id for plan in applied))


def _changed_since(ctx: Context, plans: Sequence[Plan]) -> tuple[str, ...]:
    """Return the memories that another operation has changed since the first of some plans for them was made.

    A later plan for the same memory goes on from what the first one leaves.
    """
    expected: dict[str, dict[str, str]] = {}
    for plan in plans:
        first = expected.setdefault(plan.namespace, {})
        for change in plan.changes:
            if change.target is Target.MEMORY and change.before is not None and "op" in change.before:
                first.setdefault(change.id, change.before["op"])
    changed: list[str] = []
    for namespace, operations in expected.items():
        for page in pages(operations):
            current = ctx.store.states(namespace, page)
            changed += [i for i in page if i not in current or current[i][1] != operations[i]]
    return tuple(changed)


def _list_ids(named: Sequence[str], total: int) -> str:
    more = f" and {total - _MOST_LISTED} more" if total > _MOST_LISTED else ""
    return ", ".join(named[:_MOST_LISTED]) + more

"""Repairing what a whole check finds: rows as the journal says, derived data anew, texts from an undamaged copy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from perdure.operations.ports import Context
from perdure.operations.store_protocol import Store
from perdure.records.damage import LOST, WHOLE, Fault
from perdure.records.errors import ConflictError, InvalidInput, StoreDamaged
from perdure.records.plan import Change, Plan, Row, Target
from perdure.records.store_results import RepairResult

REPAIR: Final = "repair"
_ROWS: Final = {"memory", "content", "vector", "link", "document"}
_DERIVED: Final = {"rule", "schema", "words", "codes", "space", "recall", "unreadable"}
_REBUILT: Final = "Search indexes and counts are made anew from the rows; triggers that are not Perdure's are dropped."
_JOURNAL: Final = {"lines_without_operation", "short_journals", "missing_operations"}
"""Rules between the tables whose breach says that lines or operations were lost."""
_ODD: Final = (LookupError, ValueError, TypeError, AttributeError, OverflowError, RecursionError)
"""What a value ends in that nobody wrote: it must not keep other memories from being repaired."""
_PAGE: Final = 200  # memories that are repaired by one operation


def repair(ctx: Context, *, copy: Store | None = None, dry_run: bool = True) -> RepairResult:
    """Repair a store, or say what would be repaired.

    Args:
        ctx: Store, policy, clock, ids.
        copy: An undamaged copy of the store, such as a backup: altered and lost texts come from there.
        dry_run: Only say it.
    """
    faults = ctx.store.check(WHOLE)
    derived = any(_is_derived(fault) for fault in faults)
    present = faults
    # First of all: a foreign trigger acts on repairs, a lost policy hides rows, and what is no JSON is in their way.
    if any(_is_derived(fault) or fault.part == "document" for fault in faults) and not dry_run:
        ctx.store.rebuild(keep_texts=True)  # lost memories are restored with them
        present = ctx.store.check(WHOLE)
    plans = [] if _has_lost_lines(present) else [plan for plan in _plans(ctx, present, copy) if plan.changes]
    if dry_run:
        repaired = {(plan.namespace, change.id) for plan in plans for change in plan.changes}
        remaining = [f for f in faults if not _is_derived(f) and (f.namespace, f.id) not in repaired]
        return _result(faults, _repairs(plans, derived=derived), remaining, dry_run=True)
    plans = [done for plan in plans for done in _apply(ctx, plan, copy, _doubted(present, plan.namespace))]
    remaining = ctx.store.check(WHOLE) if faults else []
    if any(_is_derived(fault) for fault in remaining):
        ctx.store.rebuild(keep_texts=any(_may_need_texts(fault) for fault in remaining))
        remaining = ctx.store.check(WHOLE)
    repairs = _repairs(plans, derived=derived)
    return _result(faults, repairs, remaining, tuple(plan.id for plan in plans))


def _result(
    faults: Sequence[Fault],
    repairs: tuple[str, ...],
    remaining: Sequence[Fault],
    operations: tuple[str, ...] = (),
    *,
    dry_run: bool = False,
) -> RepairResult:
    needs_copy = any(not fault.reembeds for fault in remaining)
    return RepairResult(dry_run, _texts(faults), repairs, _texts(remaining), operations, needs_copy)


def check_undoable(operation: str, changes: Sequence[Change]) -> None:
    """Check that taking a repair back brings no document that no verb could read.

    Raises:
        InvalidInput: A document was of another form than that which the repair put in its place, or was no object.
    """
    was = {_place(c, c.before): c.before["data"] for c in changes if c.target is Target.DOCUMENT and c.before}
    became = {_place(c, c.after): c.after["data"] for c in changes if c.target is Target.DOCUMENT and c.after}
    for place, data in was.items():
        if not (_are_alike(data, became[place]) if place in became else isinstance(data, dict)):
            raise InvalidInput(
                f"The repair {operation} cannot be undone: the document {' '.join(place)} could not be read before the "
                "repair, so it is not put back.",
                remedy="Nothing is to be done: it is as the journal says.",
            )


def _place(change: Change, row: Row) -> tuple[str, str, str]:
    return str(row["shelf"]), change.id, str(row["name"])


def _are_alike(one: Any, other: Any) -> bool:
    """Whether two documents have the same keys with values of the same types, as far as both have one."""
    if not (isinstance(one, dict) and isinstance(other, dict)) or one.keys() != other.keys():
        return False
    pairs = [(one[key], other[key]) for key in one]
    return all(a is None or b is None or _kind(a) is _kind(b) for a, b in pairs)


def _kind(value: Any) -> type:
    return float if type(value) is int else type(value)


def _repairs(plans: Sequence[Plan], *, derived: bool) -> tuple[str, ...]:
    """Return what some plans repair, one sentence for each memory, and what is made anew beside them."""
    return (*(text for plan in plans for text in _describe_repairs(plan)), *([_REBUILT] if derived else ()))


def _has_lost_lines(faults: Sequence[Fault]) -> bool:
    """Return whether lines or operations are missing in the journal: then any row may be right."""
    return any(fault.part == "rule" and _JOURNAL.intersection(fault.columns) for fault in faults)


def _is_derived(fault: Fault) -> bool:
    """Return whether a fault is of what is made from rows; the journal is not."""
    return fault.part in _DERIVED and not _JOURNAL.intersection(fault.columns)


def _may_need_texts(fault: Fault) -> bool:
    """Return whether a text without a memory may be that of a memory which can still be restored."""
    return fault.message == LOST or fault.part == "operation" or bool(_JOURNAL.intersection(fault.columns))


def _plans(ctx: Context, faults: Sequence[Fault], copy: Store | None) -> Iterator[Plan]:
    for namespace, ids in _damaged_ids(faults).items():
        for start in range(0, len(ids), _PAGE):
            yield from _planned(ctx, namespace, ids[start : start + _PAGE], copy, _doubted(faults, namespace))


def _planned(
    ctx: Context, namespace: str, ids: Sequence[str], copy: Store | None, doubted: Sequence[str]
) -> Iterator[Plan]:
    """Yield the plan of some memories; if one of them is in the way of the others, the plans of each."""
    try:
        yield _plan(ctx, namespace, ids, {} if copy is None else copy.images(namespace, ids), doubted)
    except (*_ODD, StoreDamaged):
        if len(ids) > 1:
            for identity in ids:
                yield from _planned(ctx, namespace, [identity], copy, doubted)


def _apply(ctx: Context, plan: Plan, copy: Store | None, doubted: Sequence[str]) -> Iterator[Plan]:
    """Apply a plan, and yield it; if one memory is in the way of the others, those of each that can be repaired."""
    ids = list(dict.fromkeys(change.id for change in plan.changes))
    try:
        ctx.store.apply(plan)
    except (*_ODD, ConflictError, StoreDamaged):
        alone = [p for i in ids for p in _planned(ctx, plan.namespace, [i], copy, doubted)] if len(ids) > 1 else []
        for one in alone:
            yield from _apply(ctx, one, copy, doubted)
    else:
        yield plan


def _doubted(faults: Sequence[Fault], namespace: str) -> list[str]:
    return [fault.id or "" for fault in faults if fault.part == "operation" and fault.namespace == namespace]


def _damaged_ids(faults: Sequence[Fault]) -> Mapping[str, list[str]]:
    """Return namespace -> the memories and other ids that rows are wrong about."""
    found: dict[str, dict[str, None]] = {}
    for fault in faults:
        if fault.part in _ROWS and fault.namespace is not None and fault.id is not None:
            found.setdefault(fault.namespace, {})[fault.id] = None
    return {namespace: list(ids) for namespace, ids in found.items()}


def _plan(ctx: Context, namespace: str, ids: Sequence[str], copies: Mapping[str, Row], doubted: Sequence[str]) -> Plan:
    now = ctx.clock()
    identity = ctx.ids(now)
    changes = ctx.store.repairs(namespace, ids, identity, copies, doubted)
    return Plan(identity, REPAIR, namespace, now, tuple(changes), ctx.policy.version, f"repair: {len(ids)} damaged")


def _describe_repairs(plan: Plan) -> list[str]:
    """Return one sentence for each memory that a plan repairs."""
    by_id: dict[str, list[Change]] = {}
    for change in plan.changes:
        by_id.setdefault(change.id, []).append(change)
    return [f"{plan.namespace}, {identity}: {_describe_changes(changes)}" for identity, changes in by_id.items()]


def _describe_changes(changes: Sequence[Change]) -> str:
    restored = Counter(change.target.value for change in changes if change.after)
    anew = {c.after["space"] for c in changes if c.target is Target.VECTOR and c.after}  # never changed where it is
    gone = [(c.target, c.before) for c in changes if c.before and not c.after]
    deleted = Counter(t.value for t, row in gone if t is not Target.VECTOR or row["space"] not in anew)
    columns = sorted({c for change in changes if change.before and change.after for c in change.after} - {"op"})
    named = f" ({', '.join(columns)})" if columns else ""
    parts = [f"{_count_rows(restored)} restored{named}"] if restored else []
    parts += [f"{_count_rows(deleted)} deleted"] if deleted else []
    next_step = " Run `perdure reembed`, which makes the vector anew." if deleted[Target.VECTOR.value] else ""
    return f"{', '.join(parts)}.{next_step}"


def _count_rows(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{kind} row" if n == 1 else f"{n} {kind} rows" for kind, n in counts.items())


def _texts(faults: Sequence[Fault]) -> tuple[str, ...]:
    return tuple(str(fault) for fault in faults)

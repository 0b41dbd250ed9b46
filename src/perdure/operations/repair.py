"""Repairing what a whole check finds: rows as the journal says, derived data again, texts from an undamaged copy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, Final

from perdure.operations.documents import all_documents
from perdure.operations.lost_operations import kept_operations
from perdure.operations.ports import Context
from perdure.operations.store_protocol import Store
from perdure.records.damage import CONFIRMED, LOST, REMOVED, WHOLE, Fault, RepairSources
from perdure.records.errors import ConflictError, InvalidInput, StoreDamaged
from perdure.records.instant import Instant
from perdure.records.memory import Shelf
from perdure.records.plan import Change, Plan, Row, Target
from perdure.records.store_results import RepairResult

REPAIR: Final = "repair"
_ROWS: Final = {"memory", "content", "vector", "link", "document"}
_DERIVED: Final = {"file", "rule", "schema", "words", "codes", "space", "recall", "unreadable"}
_REBUILT: Final = "Search indexes and counts are made again from the rows; triggers that are not Perdure's are dropped."
_WRITTEN_ANEW: Final = (
    "The file is written anew from what can be read of its pages; as it was, it is kept as {}, which `undo` does not "
    "bring back. Rows that cannot be read come from the journal and from a copy (--source)."
)
_LOST_LINES: Final = (("lines",), ("short_journals",), ("missing_operations",))
_JOURNAL: Final = {"lines_without_operation", "short_journals", "missing_operations"}
"""Rules between the tables whose breach says that lines or operations were lost."""
_ODD: Final = (LookupError, ValueError, TypeError, AttributeError, OverflowError, RecursionError)
"""What a value ends in that nobody wrote: it must not keep other memories from being repaired."""
_PAGE: Final = 200  # memories that are repaired by one operation


def repair(
    ctx: Context,
    *,
    source: str | None = None,
    removes_lost: bool = False,
    by: str | None = None,
    dry_run: bool = True,
) -> RepairResult:
    """Repair a store, or say what would be repaired.

    Args:
        ctx: Store, policy, clock, ids.
        source: Where an undamaged copy of the store is, such as a backup: altered and lost texts come from there.
        removes_lost: Remove memories whose words nothing brings back, and take lost parts of the journal as lost.
        by: Who says so.
        dry_run: Only say it.

    Raises:
        NotFound: There is no store at ``source``.
    """
    with nullcontext() if source is None or ctx.open_copy is None else ctx.open_copy(source) as copy:
        return _repair(ctx, copy, removes_lost=removes_lost, by=by, dry_run=dry_run)


def confirmed_losses(ctx: Context) -> int:
    """Return how many losses somebody confirmed, in all namespaces: memories, and operations of the journal."""
    lost = [d.data for place in ctx.store.namespaces() for d in all_documents(ctx, place, Shelf.LOST)]
    return sum(int(data.get("operations", 1)) for data in lost)


def _repair(ctx: Context, copy: Store | None, *, removes_lost: bool, by: str | None, dry_run: bool) -> RepairResult:
    faults = ctx.store.check(WHOLE)
    present, copies = faults, kept_copies(ctx)
    # First of all: a foreign trigger acts on repairs, a lost policy hides rows, and what is no JSON is in their way.
    if any(_is_derived(fault) or fault.part == "document" for fault in faults) and not dry_run:
        ctx.store.rebuild(keep_texts=True)  # lost memories are restored with them
        present = ctx.store.check(WHOLE)
    kept, present = _restore_operations(ctx, copy, present, dry_run=dry_run)
    confirming = list(_confirmations(ctx, present, by)) if removes_lost else []
    if confirming and not dry_run:
        for plan in confirming:
            ctx.store.apply(plan)
        present = ctx.store.check(WHOLE)
    elif confirming:
        present = [fault for fault in present if not _is_lost_line(fault)]
    sources = _Sources(copy, present, by if removes_lost else None, removes_lost)
    plans = [] if _has_lost_lines(present) else [plan for plan in _plans(ctx, sources) if plan.changes]
    if dry_run:
        repaired = {(plan.namespace, change.id) for plan in plans for change in plan.changes}
        remaining = [f for f in present if not _is_derived(f) and (f.namespace, f.id) not in repaired]
        return _result(
            faults, (*kept, *_repairs([*confirming, *plans]), *_made_anew(faults, _to_be_kept(ctx, faults))), remaining
        )
    plans = [*confirming, *(done for plan in plans for done in _apply(ctx, plan, sources))]
    remaining = ctx.store.check(WHOLE) if faults else []
    if any(_is_derived(fault) for fault in remaining):
        ctx.store.rebuild(keep_texts=any(_may_need_texts(fault) for fault in remaining))
        remaining = ctx.store.check(WHOLE)
    set_aside = next((path for path in kept_copies(ctx) if path not in copies), None)
    done = (*kept, *_repairs(plans), *_made_anew(faults, set_aside))
    written = tuple(plan.id for plan in plans)
    return replace(_result(faults, done, remaining), dry_run=False, operations=written, kept=set_aside)


def _restore_operations(
    ctx: Context, copy: Store | None, faults: list[Fault], *, dry_run: bool
) -> tuple[list[str], list[Fault]]:
    """Bring lost and altered operations back from a copy; return what is said of it, and the faults that are left."""
    if copy is None or not any(_is_of_journal(fault) for fault in faults):
        return [], faults
    kept = kept_operations(ctx.store, copy, faults)
    texts = [str(one) for one in kept]
    if dry_run:
        restored = {one.row["id"] for one in kept}
        return texts, [fault for fault in faults if fault.part != "operation" or fault.id not in restored]
    for one in kept:
        ctx.store.restore_operation(one.namespace, one.number, one.row, one.lines)
    return texts, ctx.store.check(WHOLE) if kept else faults


def _result(faults: Sequence[Fault], repairs: tuple[str, ...], remaining: Sequence[Fault]) -> RepairResult:
    """Return the result of a dry run."""
    needs_copy = any(not fault.reembeds for fault in remaining)
    return RepairResult(
        dry_run=True, faults=_texts(faults), repairs=repairs, left=_texts(remaining), needs_copy=needs_copy
    )


def check_nothing_lost(operation: str, changes: Sequence[Change]) -> None:
    """Check that taking a repair back does not ask for what was lost."""
    if lost := next((change.id for change in changes if change.because == REMOVED), None):
        raise InvalidInput(
            f"The repair {operation} cannot be undone: it removed {lost}, whose words are lost.",
            remedy="Restore a backup that has them beside the store, and remember them again.",
        )


def check_undoable(operation: str, changes: Sequence[Change]) -> None:
    """Check that taking a repair back brings no document that no verb could read."""
    was = {_place(c, c.before): c.before["data"] for c in changes if c.target is Target.DOCUMENT and c.before}
    became = {_place(c, c.after): c.after["data"] for c in changes if c.target is Target.DOCUMENT and c.after}
    for place, data in was.items():
        if not (_are_alike(data, became[place]) if place in became else isinstance(data, dict)):
            raise InvalidInput(
                f"The repair {operation} cannot be undone: the document {' '.join(place)} could not be read before the "
                "repair, so it is not put back.",
                remedy="Nothing needs to be done: it is as the journal says.",
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


def _repairs(plans: Sequence[Plan]) -> tuple[str, ...]:
    """Return what some plans repair, one sentence for each memory, in the order of their ids: a store has no order."""
    return tuple(sorted(text for plan in plans for text in _describe_repairs(plan)))


def kept_copies(ctx: Context) -> tuple[str, ...]:
    """Return where the store is as it was before repairs and restores."""
    return () if ctx.kept_copies is None else ctx.kept_copies.paths()


def _to_be_kept(ctx: Context, faults: Sequence[Fault]) -> str | None:
    """Return where a repair would keep the file as it is; None where it would not write it anew."""
    if ctx.kept_copies is None or not any(fault.part == "file" for fault in faults):
        return None
    return ctx.kept_copies.next_path()


def _made_anew(faults: Sequence[Fault], kept: str | None) -> list[str]:
    """Return what is said of what is made again beside the rows: of a file, where it is kept as it was."""
    found = [] if kept is None else [_WRITTEN_ANEW.format(kept)]
    return [*found, *([_REBUILT] if any(_is_derived(fault) for fault in faults) else [])]


def _is_of_journal(fault: Fault) -> bool:
    """Return whether a fault is of an operation or of its lines."""
    return fault.part == "operation" or bool(_JOURNAL.intersection(fault.columns))


def _has_lost_lines(faults: Sequence[Fault]) -> bool:
    """Return whether lines or operations are missing in the journal: then any row may be right."""
    return any(fault.part == "rule" and _JOURNAL.intersection(fault.columns) for fault in faults)


def _is_derived(fault: Fault) -> bool:
    """Return whether a fault is of what is made from rows; the journal is not."""
    return fault.part in _DERIVED and not _JOURNAL.intersection(fault.columns)


def _may_need_texts(fault: Fault) -> bool:
    """Return whether a text without a memory may be that of a memory which can still be restored."""
    return fault.message == LOST or fault.part == "operation" or bool(_JOURNAL.intersection(fault.columns))


@dataclass(frozen=True, slots=True)
class _Sources:
    """What a repair goes by besides the journal."""

    copy: Store | None
    faults: Sequence[Fault]
    by: str | None  # who said that what is lost may go
    removes_lost: bool

    def of(self, namespace: str, ids: Sequence[str]) -> RepairSources:
        """Return what there is for some memories."""
        copies = {} if self.copy is None else self.copy.images(namespace, ids)
        doubted = [f.id or "" for f in self.faults if f.part == "operation" and f.namespace == namespace]
        return RepairSources(copies, doubted, self.removes_lost)


def _plans(ctx: Context, sources: _Sources) -> Iterator[Plan]:
    for namespace, ids in _damaged_ids(sources.faults).items():
        for start in range(0, len(ids), _PAGE):
            yield from _repair_plans(ctx, namespace, ids[start : start + _PAGE], sources)


def _is_lost_line(fault: Fault) -> bool:
    """Whether a fault says that lines of the journal or operations are gone; nothing brings those back."""
    return fault.columns in _LOST_LINES


def _confirmations(ctx: Context, faults: Sequence[Fault], by: str | None) -> Iterator[Plan]:
    """Yield the plans that put on record what is lost of the journal: operations, and where none is left how many."""
    now, found = ctx.clock(), dict[str, list[Change]]()
    for fault in faults:
        if fault.columns == ("lines",) and fault.namespace is not None and fault.id is not None:
            found.setdefault(fault.namespace, []).append(_confirmation(fault.id, now, by))
        elif fault.columns == ("missing_operations",) and (places := ctx.store.namespaces()):
            more = {"operations": fault.count}
            found.setdefault(places[0], []).append(_confirmation(ctx.ids(now), now, by, **more))
    for namespace, changes in found.items():
        note = f"repair: {len(changes)} confirmed losses"
        yield Plan(ctx.ids(now), REPAIR, namespace, now, tuple(changes), ctx.policy.version, note)


def _confirmation(identity: str, now: Instant, by: str | None, **more: int) -> Change:
    data = {"at_ms": now, "by": by, **more}
    return Change(Target.DOCUMENT, identity, None, {"shelf": Shelf.LOST, "name": "", "data": data}, CONFIRMED)


def _repair_plans(ctx: Context, namespace: str, ids: Sequence[str], sources: _Sources) -> Iterator[Plan]:
    """Yield the plan of some memories; if one of them is in the way of the others, the plans of each."""
    try:
        yield _plan(ctx, namespace, ids, sources)
    except (*_ODD, StoreDamaged):
        if len(ids) > 1:
            for identity in ids:
                yield from _repair_plans(ctx, namespace, [identity], sources)


def _apply(ctx: Context, plan: Plan, sources: _Sources, *, alone: bool = False) -> Iterator[Plan]:
    """Apply a plan, and yield it; if one memory is in the way of the others, those of each that can be repaired."""
    try:
        ctx.store.apply(plan)
    except (*_ODD, ConflictError, StoreDamaged):
        for identity in () if alone else dict.fromkeys(change.id for change in plan.changes):
            for one in _repair_plans(ctx, plan.namespace, [identity], sources):
                if one.changes:
                    yield from _apply(ctx, one, sources, alone=True)
    else:
        yield plan


def _damaged_ids(faults: Sequence[Fault]) -> Mapping[str, list[str]]:
    found: dict[str, dict[str, None]] = {}
    for fault in faults:
        if fault.part in _ROWS and fault.namespace is not None and fault.id is not None:
            found.setdefault(fault.namespace, {})[fault.id] = None
    return {namespace: list(ids) for namespace, ids in found.items()}


def _plan(ctx: Context, namespace: str, ids: Sequence[str], sources: _Sources) -> Plan:
    now = ctx.clock()
    identity = ctx.ids(now)
    changes = ctx.store.repairs(namespace, ids, identity, sources.of(namespace, ids))
    removed = dict.fromkeys(
        change.id for change in changes if change.because == REMOVED and change.target is Target.MEMORY
    )
    losses = (_confirmation(memory, now, sources.by) for memory in removed)
    return Plan(
        identity, REPAIR, namespace, now, (*changes, *losses), ctx.policy.version, f"repair: {len(ids)} damaged"
    )


def _describe_repairs(plan: Plan) -> list[str]:
    by_id: dict[str, list[Change]] = {}
    for change in plan.changes:
        by_id.setdefault(change.id, []).append(change)
    return [f"{plan.namespace}, {identity}: {_describe_changes(changes)}" for identity, changes in by_id.items()]


def _describe_changes(changes: Sequence[Change]) -> str:
    if any(change.because == REMOVED for change in changes):
        return "It is lost: neither the journal nor a copy has its words, and so it is removed."
    if any(change.because == CONFIRMED for change in changes):
        return "It is put on record as lost."
    restored = Counter(change.target.value for change in changes if change.after)
    anew = {c.after["space"] for c in changes if c.target is Target.VECTOR and c.after}  # never changed where it is
    gone = [(c.target, c.before) for c in changes if c.before and not c.after]
    deleted = Counter(t.value for t, row in gone if t is not Target.VECTOR or row["space"] not in anew)
    columns = sorted({c for change in changes if change.before and change.after for c in change.after} - {"op"})
    named = f" ({', '.join(columns)})" if columns else ""
    parts = [f"{_count_rows(restored)} restored{named}"] if restored else []
    parts += [f"{_count_rows(deleted)} deleted"] if deleted else []
    next_step = " Run `perdure reembed`, which makes the vector again." if deleted[Target.VECTOR.value] else ""
    return f"{', '.join(parts)}.{next_step}"


def _count_rows(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{kind} row" if n == 1 else f"{n} {kind} rows" for kind, n in counts.items())


def _texts(faults: Sequence[Fault]) -> tuple[str, ...]:
    return tuple(str(fault) for fault in faults)

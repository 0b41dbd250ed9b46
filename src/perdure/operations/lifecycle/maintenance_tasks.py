"""Upkeep on a schedule: sweeps, reports, backups, verifications, trimming, each run by one of many workers."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from typing import Final

from perdure.operations.compact import compact_if_it_pays
from perdure.operations.erase import Selection, archived_since, erase
from perdure.operations.extension import TaskResult
from perdure.operations.lifecycle.backup import vault
from perdure.operations.lifecycle.digest import write_summary
from perdure.operations.lifecycle.maintain import LEASE_MS, maintain
from perdure.operations.lifecycle.sweep import hidden_by
from perdure.operations.lifecycle.task_runs import TaskRuns, Work, state
from perdure.operations.monitoring import alerts, overdue_places, tell_alerts, tells_alerts, upkeep_states
from perdure.operations.ports import Context, Progress
from perdure.operations.reembed import embed_waiting
from perdure.records.damage import CheckScope
from perdure.records.errors import StoreReadOnly
from perdure.records.instant import DAY_MS, Instant
from perdure.records.memory import Tier
from perdure.records.report import MaintenanceResult
from perdure.records.store_rows import UpkeepState
from perdure.rules.lifecycle.schedule import Task
from perdure.rules.lifecycle.signals import memory_items
from perdure.rules.statistics import count_memories, percentiles

SAMPLE: Final = 1000
SOON_DAYS: Final = 30
SHOWN_FAULTS: Final = 20
ERASED_AT_ONCE: Final = 1000  # archived memories that one run erases; the rest goes the next day
_PAGES: Final = 2000
"""Transactions of one run, each of at most 200 operations or some 200 lines; the rest goes the next day."""


def upkeep(
    ctx: Context,
    *,
    owner: str,
    eager: bool = False,
    ttl: int = LEASE_MS,
    stop: Callable[[], bool] = lambda: False,
    known: MutableMapping[str, Instant] | None = None,
    progress: Progress | None = None,
) -> MaintenanceResult:
    """Run what is due by the schedule in every namespace: sweeps, then reports, backups, verifications.

    Each task of a namespace has a document that says when it last ran; a worker begins by writing itself into it, and
    of many workers that try, one succeeds. A run that fails is written down and tried again later; the others go on.
    """
    if ctx.store.read_only:
        raise StoreReadOnly("The store is read-only, so maintenance cannot run.", remedy="Use a writable store.")
    count = 0 if progress is None else len(ctx.store.namespaces())

    def tell(done: int) -> None:
        if progress is not None:
            progress(done, max(done, count))

    turns = TaskRuns(ctx, owner, eager=eager, tell=tell)
    for place in overdue_places(ctx):  # a sweep makes these moves, and then nobody would be told
        if not stop():
            turns.run(place, Task.ALERT, _alert)
    swept = maintain(ctx, owner=owner, ttl=ttl, stop=stop, turns=turns)
    quiet: MutableMapping[str, Instant] = {} if known is None else known
    for number, status in enumerate(upkeep_states(ctx, lacking=ctx.embedder is not None)):
        if stop():
            break
        turns.look(status, quiet, {**_tasks(ctx, status, first=not number), **ctx.extension.tasks(ctx)})
        tell(number + 1)
    return MaintenanceResult(swept, tuple(turns.runs))


def _in_view(work: Work) -> Work:
    """Return work that reads alone so that a small namespace, of which there may be thousands, is read as cheaply."""

    def run(ctx: Context, place: str) -> TaskResult:
        few = sum(count for *_, count in ctx.store.tally(place)) <= SAMPLE
        return ctx.store.viewing(place, lambda: work(ctx, place)) if few else work(ctx, place)

    return run


@_in_view
def _report(ctx: Context, place: str) -> TaskResult:
    """Count a namespace by tier, say how much of it fades, and keep that."""
    now, counts = ctx.clock(), count_memories(ctx.store.tally(place))
    step, soon = 1 + counts.visible // SAMPLE, now + SOON_DAYS * DAY_MS
    sample = memory_items(ctx.store.sample_records(place, step, SAMPLE), ctx.policy, now)
    report = {
        "at_ms": now,
        "memories": counts.visible,
        "tiers": counts.tiers,
        "statuses": counts.statuses,
        "hidden_soon": hidden_by(ctx, place, soon),
        "soon_days": SOON_DAYS,
        "importance": percentiles([m.importance for m in sample]),
        "sampled": len(sample),
    }
    active = [a.to_dict() for a in alerts(ctx, place)]
    alert_note = f", {len(active)} alerts (perdure alerts)" if active else ""
    note = f"{counts.visible} visible, {report['hidden_soon']} would be hidden in {SOON_DAYS} days{alert_note}"
    return note, {"report": {**report, "alerts": active}}


def _backup(ctx: Context, place: str) -> TaskResult:
    count = sum(n for _, _, tier, _, n in ctx.store.tally(place) if tier == Tier.VAULT)
    if not count:
        return "nothing in the vault", {"file": None, "memories": 0}
    if ctx.backups is None:
        return "no folder for backups: set upkeep.backup_folder in the policy", {"file": None, "memories": count}
    file = ctx.backups.write(place, ctx.clock(), vault(ctx.store, place))
    return f"{count} memories in {file}", {"file": file, "memories": count}


@_in_view
def _check(ctx: Context, place: str) -> TaskResult:
    """Compare a share of a namespace with its journal, and again the shares in which something was wrong."""
    shares = ctx.policy.upkeep.check_days
    checked = state(ctx, place).get(Task.CHECK, {}).get("shares", {})
    due_shares = sorted({ctx.clock() // DAY_MS % shares} | {int(share) for share in checked if int(share) < shares})
    found = {str(s): [str(f) for f in ctx.store.check(CheckScope(share=(s, shares)), place)] for s in due_shares}
    faults = [fault for some in found.values() for fault in some]
    damaged = {share: len(some) for share, some in found.items() if some}
    note = f"{len(faults)} faults: {faults[0]}" if faults else "no damage found"
    return note, {"shares": damaged, "found": len(faults), "faults": faults[:SHOWN_FAULTS]}


def _erase(ctx: Context, place: str) -> TaskResult:
    days = ctx.policy.upkeep.erase_archived_days
    until = ctx.clock() - int(days * DAY_MS)
    due = archived_since(ctx, place, until)[:ERASED_AT_ONCE]
    if not due:
        return "nothing to erase", {"erased": 0, "operations": []}
    selection, reason = Selection(due), f"archived for {days:g} days (upkeep.erase_archived_days)"
    word = erase(ctx, place, selection, reason=reason).confirm
    erased = erase(ctx, place, selection, reason=reason, by="maintenance", confirm=word, dry_run=False)
    count = len(erased.memories) + len(erased.derived)
    return f"{count} erased for good", {"erased": count, "operations": list(erased.operations)}


def _trim(ctx: Context, place: str) -> TaskResult:
    """Trim what is older than the journal's horizon, going on where the last run ended."""
    previous = state(ctx, place).get(Task.TRIM, {})
    done = trim(ctx, place, str(previous.get("last", "")))
    remark = f", {done.damaged} left: something about them is damaged" if done.damaged else ""
    note = f"{done.operations} operations trimmed{remark}; the journal has {done.size:,} characters"
    return note, {"last": done.last, "operations": done.operations, "damaged": done.damaged, "journal": done.size}


def _digest(ctx: Context, place: str) -> TaskResult:
    return write_summary(ctx, place), {}


def _embed(ctx: Context, place: str) -> TaskResult:
    return embed_waiting(ctx, place)


def _alert(ctx: Context, place: str) -> TaskResult:
    run = state(ctx, place).get(Task.ALERT, {})
    return tell_alerts(ctx, place, run.get("firing", {}), since=run.get("first_ms", run.get("last_ms", 0)))


def _compact(ctx: Context, _: str) -> TaskResult:
    return compact_if_it_pays(ctx)


def _index(ctx: Context, place: str) -> TaskResult:
    """Build the index for the vectors of a large namespace; its searches are approximate from then on."""
    found = ctx.store.optimize(place, ctx.clock(), ctx.policy.upkeep.index_above)
    return f"{found['vectors']} vectors are searched by an index", {"vectors": found["vectors"]}


def _tasks(ctx: Context, status: UpkeepState, *, first: bool) -> dict[Task, Work]:
    place = status.namespace
    erasing = {Task.ERASE: _erase} if ctx.policy.upkeep.erase_archived_days else {}
    checking = {Task.CHECK: _check} if ctx.policy.upkeep.check_days else {}
    trimming = {Task.TRIM: _trim} if ctx.policy.journal.horizon_days else {}
    waiting = {Task.EMBED: _embed} if status.lacks else {}
    telling = {Task.ALERT: _alert} if tells_alerts(ctx) else {}
    has_summary = ctx.summary is not None and place == ctx.policy.digest.namespace
    above = ctx.policy.upkeep.index_above
    indexes = 0 < above <= status.vectors and ctx.store.lacks_index(place, above)
    indexing = {Task.INDEX: _index} if indexes else {}
    return {
        **waiting,
        **telling,
        **indexing,
        Task.REPORT: _report,
        Task.BACKUP: _backup,
        **checking,
        **erasing,
        **trimming,
        **({Task.COMPACT: _compact} if first and ctx.policy.upkeep.compact_share < 1 else {}),
        **({Task.DIGEST: _digest} if has_summary else {}),
    }


@dataclass(frozen=True, slots=True)
class TrimRun:
    """What one run did."""

    last: str  # the last operation that was looked at
    operations: int  # how many lost their images
    damaged: int  # how many were left as they are, because something about them is damaged
    size: int  # characters that the lines of the journal have now


def trim(ctx: Context, place: str, after: str) -> TrimRun:
    """Trim a namespace's operations that are older than the horizon, the oldest first, page by page.

    ``after`` is the last operation that an earlier run looked at; empty for none.
    """
    until = ctx.clock() - int(ctx.policy.journal.horizon_days * DAY_MS)
    operations = damaged = 0
    for _ in range(_PAGES):
        page = ctx.store.trim_journal(place, until, after)
        operations, damaged, after = operations + page.operations, damaged + page.damaged, page.last
        if page.end:
            break
    return TrimRun(after, operations, damaged, ctx.store.journal_bytes(place))

"""What of a namespace's figures a person should see: each alert has its threshold in the policy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any, Final

from perdure.records.instant import from_instant
from perdure.records.policy_lifecycle import AlertPolicy
from perdure.records.report import Alert, Stats
from perdure.records.store_rows import Unwritable, WaitingNamespace

_LEAST_CHANGES = 100  # fewer journalled changes in a day are no growth that matters
_HELD_PREFIX = "held back by the "
BUDGET = "loss budget"
WHY: Final[Mapping[Unwritable, str]] = {
    "read-only": "the store is read-only",
    "gone": "the store's file was removed or replaced; put it back, or restart what has it open",
    "full": "the disk is full, or the store may not grow; free some space",
}
"""Why a store takes no writes -> how it is told."""
_HOUR_SECONDS = 3600.0
_DAY_SECONDS = 24 * _HOUR_SECONDS


def gate_of(reasons: Sequence[str]) -> str:
    """Return the gate that held a memory back last, by the reasons of its journal, oldest first; empty for none."""
    gates = [reason.removeprefix(_HELD_PREFIX) for reason in reasons if reason.startswith(_HELD_PREFIX)]
    return gates[-1].partition(":")[0] if gates else ""


def find_alerts(
    found: Stats,
    namespace: str,
    tasks: Mapping[str, Mapping[str, Any]],
    keys: AlertPolicy,
    now: datetime,
    unwritable: Unwritable = "",
    *,
    in_use: bool = True,
    ahead: tuple[int, str] = (0, ""),
) -> list[Alert]:
    """Return the alerts of a namespace whose value reaches the threshold; a threshold of 0 turns one off.

    ``tasks`` has what is written down about the last run of each task of maintenance; ``in_use`` is whether anything
    was written since the oldest due move began to wait; ``ahead`` is how many operations are dated ahead, and which.
    """
    rows = (
        ("operations_ahead", "critical", ahead[0], ahead[1], ()),
        *_of_store(unwritable),
        *_of_maintenance(found.overdue_since, tasks, now, in_use=in_use),
        *_of_memories(found, now),
    )
    return _alerts_reaching(rows, namespace, keys)


def find_recorded_alerts(
    waiting: WaitingNamespace, tasks: Mapping[str, Mapping[str, Any]], keys: AlertPolicy, now: datetime
) -> list[Alert]:
    """Return the alerts of a namespace whose memories are not looked at.

    What waits now is told, whatever the report of the last run of its task says.
    """
    since = None if waiting.overdue is None else from_instant(waiting.overdue)
    in_use = waiting.written is not None and waiting.overdue is not None and waiting.written > waiting.overdue
    rows = list(_of_maintenance(since, tasks, now, in_use=in_use))
    if waiting.held is not None:
        rows.append(_of_held(from_instant(waiting.held), "", (), now))
    recorded = tasks.get("report", {}).get("report", {}).get("alerts", ())
    rows += [
        (a["name"], a["severity"], a["value"], a["message"], tuple(a["ids"]))
        for a in recorded
        if a["name"] not in _KNOWN_WITHOUT_LOOKING
    ]
    return _alerts_reaching(rows, waiting.namespace, keys)


_KNOWN_WITHOUT_LOOKING: Final = frozenset({"unwritable", "overdue_hours", "damage", "failures", "held_days"})
_Row = tuple[str, str, float, str, tuple[str, ...]]  # name, severity, value, message, ids


def _alerts_reaching(rows: Iterable[_Row], namespace: str, keys: AlertPolicy) -> list[Alert]:
    return [
        Alert(name, severity, namespace, round(value, 4), float(threshold), message, ids)
        for name, severity, value, message, ids in rows
        if (threshold := getattr(keys, name, 0)) and value >= threshold
    ]


def _of_store(unwritable: Unwritable) -> Iterator[_Row]:
    if unwritable:
        yield "unwritable", "critical", 1, f"nothing can be stored: {WHY[unwritable]}", ()


def _of_maintenance(
    overdue: datetime | None, tasks: Mapping[str, Mapping[str, Any]], now: datetime, *, in_use: bool
) -> Iterator[_Row]:
    if overdue is not None:
        hours = (now - overdue).total_seconds() / _HOUR_SECONDS
        since = f"moves have been waiting for a sweep since {_minute(overdue)}"
        if in_use:
            yield "overdue_hours", "critical", hours, f"{since}: run `perdure maintain --once`", ()
        else:  # nobody has missed it
            yield (
                "overdue_hours",
                "info",
                hours,
                f"{since}, and nothing was stored since: the next session makes them",
                (),
            )
    damaged = tasks.get("check", {}).get("found", 0)
    if damaged:
        first = tasks["check"]["faults"][0]
        note = f"damaged rows: {damaged}, the first: {first} See `perdure check --full`, then `perdure repair`"
        yield "damage", "critical", damaged, note, ()
    for task, data in tasks.items():
        failures = int(data.get("failures", 0))
        note = (
            f"the {task} has failed {'once' if failures == 1 else f'{failures} times in a row'}: {data.get('note', '')}"
        )
        yield "failures", "critical", failures, note, ()


def _of_memories(found: Stats, now: datetime) -> Iterator[_Row]:
    day = found.journal.day if found.journal else 0
    if day >= _LEAST_CHANGES:
        each = day / max(1, found.memories)
        yield "journal_changes", "warning", each, f"the journal took in {day:,} changes within a day", ()
    risky = tuple(i for i, _, _ in found.at_risk)
    memories, them = ("memory", "it") if len(risky) == 1 else ("memories", "them")
    note = f"{len(risky)} valuable {memories} would be archived within 30 days; pin or use {them} to keep {them}"
    yield "at_risk", "warning", len(risky), note, risky
    share = found.fading / max(1, found.memories)
    memories = "memory" if found.memories == 1 else "memories"
    note = f"{found.fading:,} of {found.memories:,} {memories} would be archived within 30 days"
    yield "fading_share", "warning", share, note, tuple(i for i, _, _ in found.about_to_fade)
    if found.held_first:
        gates = ", ".join(f"{gate} {count:,}" for gate, count in found.held.items())
        yield _of_held(found.held_first[0][1], f" ({gates})", tuple(i for i, _ in found.held_first), now)
    refusals, _ = found.journal.events.get("held", (0, 0)) if found.journal else (0, 0)
    note = f"gates held back {refusals:,} {'move' if refusals == 1 else 'moves'} anew within a day"
    yield "gate_refusals", "warning", refusals, note, ()
    if found.value_by_form:
        form, mean = min(found.value_by_form.items(), key=itemgetter(1))
        note = f"memories shown in the form {form} have a mean value of {mean:.2f}"
        yield "lacking_value", "warning", 1 - mean, note, ()
    wait = "question waits" if found.questions == 1 else "questions wait"
    yield "questions", "info", found.questions, f"{found.questions:,} {wait} for a person (perdure review)", ()
    near = tuple(i for i, _, _ in found.vault_candidates)
    yield (
        "vault_candidates",
        "info",
        len(near),
        f"{len(near)} {'memory is' if len(near) == 1 else 'memories are'} nearly worth the vault",
        near,
    )


def _of_held(since: datetime, gates: str, ids: tuple[str, ...], now: datetime) -> _Row:
    days = (now - since).total_seconds() / _DAY_SECONDS
    note = f"gates have held moves back since {_minute(since)}{gates}; `sweep` with accept_loss carries them out"
    return "held_days", "warning", days, note, ids


def _minute(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M}"

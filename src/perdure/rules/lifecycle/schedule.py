"""When upkeep runs by itself: intervals, the spread between workers, and what is written down about each run."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any
from zlib import crc32

from perdure.records.instant import DAY_MS, HOUR_MS, Instant
from perdure.records.policy_lifecycle import UpkeepPolicy

_MINUTE_MS = 60_000
_LONGEST_NOTE = 2000

Data = Mapping[str, Any]
"""{last_ms, outcome, failures, next, note, ...}: when a task last began, how it ended, when it is next due.

One that did not end well has ``first_ms``: when the first of its runs began that did not.
"""


class Task(StrEnum):
    """What upkeep does in each namespace."""

    SWEEP = "sweep"
    EMBED = "embed"  # only where memories lack vectors that an embedder could make
    ALERT = "alert"  # only where the policy says whom to tell of alerts
    REPORT = "report"
    BACKUP = "backup"
    LEARN = "learn"  # only where the policy lets facts be learned
    VERIFY = "verify"  # only where the knowledge file names authorities
    DIGEST = "digest"  # only in the namespace whose digest the policy keeps in a file
    CHECK = "check"  # only where the policy says in how many days everything is checked once
    TRIM = "trim"  # only where the policy says how long the journal keeps what operations changed
    INDEX = "index"  # only where a large namespace of a server has no index for its vectors
    COMPACT = "compact"  # for the whole store, in its first namespace
    ERASE = "erase"  # only where the policy says after how long archived memories are erased


def interval(task: Task, policy: UpkeepPolicy) -> int:
    """Return the milliseconds between two runs of a task."""
    return int(
        {
            Task.SWEEP: policy.sweep_minutes * _MINUTE_MS,
            Task.EMBED: policy.sweep_minutes * _MINUTE_MS,
            Task.ALERT: policy.sweep_minutes * _MINUTE_MS,
            Task.REPORT: policy.report_hours * HOUR_MS,
            Task.BACKUP: policy.backup_days * DAY_MS,
            Task.LEARN: policy.learn_hours * HOUR_MS,
            Task.VERIFY: policy.verify_hours * HOUR_MS,
            Task.DIGEST: policy.sweep_minutes * _MINUTE_MS,
            Task.ERASE: DAY_MS,
            Task.TRIM: DAY_MS,
            Task.COMPACT: DAY_MS,
            Task.INDEX: DAY_MS,
            Task.CHECK: DAY_MS,
        }[task]
    )


def next_run(task: Task, data: Data | None, now: Instant, policy: UpkeepPolicy, *, early: float) -> Instant:
    """Return when a task is next due; not after ``now`` if it is due.

    However many runs were missed, one catches up: the next is counted from the run, not from the plan. ``early`` is how
    much of the jitter a worker comes early, 0 to 1 (``earliness``).
    """
    if data is None:
        return now
    span = interval(task, policy)
    if data["last_ms"] > now + span:  # a clock was far ahead, and is mended
        return now
    if data["outcome"] != "done":
        return int(min(data["next"], now + policy.retry_minutes * _MINUTE_MS))
    return int(min(data["next"], data["last_ms"] + span) - policy.jitter * span * early)


def earliness(owner: str, namespace: str, task: Task) -> float:
    """Return how much of the jitter a worker comes early, from 0 to below 1: always the same for the same three."""
    return crc32(f"{owner}\0{namespace}\0{task}".encode()) / 2**32


def begin_run(data: Data | None, now: Instant, owner: str, policy: UpkeepPolicy) -> dict[str, Any]:
    """Return what is written down when a worker begins; if it dies, another one tries after the retry time."""
    before = dict(data or {})
    if before.get("outcome", "done") != "done":
        before.setdefault("first_ms", before["last_ms"])
    return {
        **before,
        "last_ms": now,
        "outcome": "running",
        "owner": owner,
        "failures": int(before.get("failures", 0)),
        "next": now + int(policy.retry_minutes * _MINUTE_MS),
    }


def finish_run(running: Data, task: Task, note: str, policy: UpkeepPolicy, more: Data) -> dict[str, Any]:
    """Return what is written down about a run that ended well."""
    ended = {"outcome": "done", "failures": 0, "note": note, "next": running["last_ms"] + interval(task, policy)}
    return {name: value for name, value in {**running, **more, **ended}.items() if name != "first_ms"}


def fail_run(running: Data, problem: str, now: Instant, policy: UpkeepPolicy) -> dict[str, Any]:
    """Return what is written down about a run that failed; it is tried again after the retry time."""
    ended = {"outcome": "failed", "failures": running["failures"] + 1, "note": problem[:_LONGEST_NOTE]}
    return {**running, **ended, "next": now + int(policy.retry_minutes * _MINUTE_MS)}

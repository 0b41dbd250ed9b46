"""What the caller of a repair is told."""

from __future__ import annotations

from dataclasses import dataclass

from perdure.records.outcome import Written


@dataclass(frozen=True, slots=True)
class RepairResult(Written):
    """What was wrong with a store, what was repaired, and what is left."""

    dry_run: bool  # whether nothing was written
    faults: tuple[str, ...]  # what a whole check found, one sentence each
    repairs: tuple[str, ...]  # what was done about it, or would be
    left: tuple[str, ...]  # what is still wrong; in a dry run, what nothing is known about
    operations: tuple[str, ...] = ()  # ids of the operations that changed rows, oldest first; ``undo`` takes them back

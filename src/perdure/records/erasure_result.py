"""What the caller of an erasure is told."""

from __future__ import annotations

from dataclasses import dataclass

from perdure.records.outcome import Written


@dataclass(frozen=True, slots=True)
class ErasureResult(Written):
    """What was erased, or would be.

    Attributes:
        dry_run: Whether nothing was erased.
        confirm: The word to pass as ``confirm`` to erase exactly this.
        memories: The memories that were asked for, oldest first.
        derived: Memories that rest on them alone, or summarise or merge them; they go too.
        redacted: Memories that rest on others as well; they stay, without the words that were quoted.
        restored: Memories that an erased summary or merged memory stood for; they come back into view.
        entities: People and things whose names go.
        backups: Backups that were rewritten without them.
        searched: How many passages of the erased texts were searched for afterwards.
        places: Where a passage was still found, one sentence each; empty if nowhere.
        unreachable: What could not be searched or cleaned, one sentence each.
        operations: Ids of the operations. An erasure cannot be undone.
    """

    dry_run: bool
    confirm: str
    memories: tuple[str, ...]
    derived: tuple[str, ...] = ()
    redacted: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    backups: tuple[str, ...] = ()
    searched: int = 0
    places: tuple[str, ...] = ()
    unreachable: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()

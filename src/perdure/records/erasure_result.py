"""What the caller of an erasure is told."""

from __future__ import annotations

from dataclasses import dataclass

from perdure.records.outcome import Written


@dataclass(frozen=True, slots=True)
class ErasureResult(Written):
    """What was erased, or would be."""

    dry_run: bool  # whether nothing was erased
    confirm: str  # the word to pass as ``confirm`` to erase exactly this
    memories: tuple[str, ...]  # the memories that were asked for, oldest first
    derived: tuple[str, ...] = ()  # memories that rest on them alone, or summarise or merge them; they go too
    # memories that rest on others as well; they stay, without the words that were quoted
    redacted: tuple[str, ...] = ()
    # memories that an erased summary or merged memory stood for; they come back into view
    restored: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()  # people and things whose names go
    backups: tuple[str, ...] = ()  # backups that were rewritten without them
    searched: int = 0  # how many passages of the erased texts were searched for afterwards
    places: tuple[str, ...] = ()  # where a passage was still found, one sentence each; empty if nowhere
    unreachable: tuple[str, ...] = ()  # what could not be searched or cleaned, one sentence each
    operations: tuple[str, ...] = ()  # ids of the operations. An erasure cannot be undone

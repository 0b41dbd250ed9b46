"""How large a store is, and what compacting it gave back."""

from __future__ import annotations

from dataclasses import dataclass

from perdure.records.json_record import JsonRecord


@dataclass(frozen=True, slots=True)
class StoreSize:
    """What a store takes on disk."""

    bytes: int  # of the file, or of the tables and their indexes
    unused: int  # about how many of them compacting gives back; 0 where the store cannot say


@dataclass(frozen=True, slots=True)
class CompactResult(JsonRecord):
    """What a store takes on disk, before and after."""

    dry_run: bool  # whether nothing was written
    bytes_before: int  # of the file, or of a server's tables; 0 where others share them
    bytes_after: int  # in a dry run about what it would be
    notes: tuple[str, ...] = ()  # what a person should know or do besides, one sentence each

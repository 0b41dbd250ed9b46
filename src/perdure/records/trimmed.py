"""What trimming the journal did."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TrimmedPage:
    """What one transaction did."""

    last: str  # the last operation that was looked at; empty if there was none
    operations: int = 0  # how many lost their images
    damaged: int = 0  # how many were left as they are, because something about them is not as it was written
    end: bool = False  # whether no older operation is left

"""What a namespace takes, and what of it a plan may add to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class Usage:
    """What a namespace takes."""

    memories: int = 0  # in view
    tokens: int = 0  # of what those show
    bytes: int = 0  # of the texts and metadata of all memories, also of those out of view

    def __add__(self, other: Self) -> Usage:
        return Usage(self.memories + other.memories, self.tokens + other.tokens, self.bytes + other.bytes)

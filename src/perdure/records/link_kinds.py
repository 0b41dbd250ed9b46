"""Kinds of links that several parts read: from a memory to the one that it rests on or replaces."""

from __future__ import annotations

from typing import Final

DERIVED: Final = "derived_from"  # from a fact to the memory that says it
SUPERSEDES: Final = "supersedes"  # from the memory that holds now to the one that it replaced
STANDS_FOR: Final = "summarizes"
"""From a memory to one that it stands for: one that was merged into it, or a source of a summary."""

"""When something was last said: what was confirmed or remembered again counts as said then, not on its first day."""

from __future__ import annotations

from datetime import datetime

from perdure.records.instant import Instant, from_instant
from perdure.records.memory import Kind, MemoryItem, State


def said_at(state: State) -> Instant:
    """Return when a memory was last said: its own instant, or that at which it was confirmed or remembered again."""
    return state.created_ms if state.validated_ms is None else max(state.created_ms, state.validated_ms)


def told_on(memory: MemoryItem) -> datetime:
    """Return when a note or a message was last said, and when a fact was learned: its confirmations do not date it."""
    zone = memory.created_at.tzinfo
    return memory.created_at if memory.kind is Kind.FACT else from_instant(said_at(memory.state)).astimezone(zone)


def was_affirmed(state: State) -> bool:
    """Return whether a memory was confirmed or remembered again after it was first said."""
    return said_at(state) > state.created_ms


def said_after(state: State, other: State) -> Instant:
    """Return since when a memory is the later one of two: its first day, or when it was said again after the other."""
    return state.created_ms if state.created_ms > said_at(other) else said_at(state)

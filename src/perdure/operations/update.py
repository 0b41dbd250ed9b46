"""Saying what holds now: a memory's words are replaced by others, or it is archived."""

from __future__ import annotations

from perdure.operations.lifecycle.pinning_archiving import archive
from perdure.operations.ports import Context
from perdure.records.outcome import Outcome


def update(ctx: Context, identity: str, content: str) -> Outcome:
    """Store what holds now, and supersede what it replaces."""
    raise NotImplementedError


def forget(ctx: Context, identity: str, reason: str | None) -> Outcome:
    """Archive a memory at a person's request."""
    return archive(ctx, identity, reason or "forgotten by request")

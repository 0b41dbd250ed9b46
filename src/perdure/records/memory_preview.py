"""What is read of a memory to tell whether it is about the same thing as another one."""

from __future__ import annotations

from typing import NamedTuple

from perdure.records.instant import Instant
from perdure.records.memory import Kind, Scope, Status


class MemoryPreview(NamedTuple):
    """A memory's text and who may see it."""

    id: str
    kind: Kind
    scope: Scope
    status: Status
    session: str | None
    created_ms: Instant  # when it happened or was said
    text: str

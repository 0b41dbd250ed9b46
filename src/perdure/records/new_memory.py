"""What a caller wants remembered, after it was checked at the door."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from perdure.records.instant import Instant
from perdure.records.memory import Kind, Scope
from perdure.records.sort import Sort


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory to be. All values have passed rules/validation/inputs.py."""

    text: str
    kind: Kind
    scope: Scope
    importance: float
    confidence: float
    at: Instant
    tags: tuple[str, ...] = ()
    source: str | None = None
    speaker: str | None = None
    session: str | None = None
    task: str | None = None
    turn: int | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    pinned: bool = False
    key: str | None = None  # an idempotency key: the same key stores nothing twice
    # it is a message of a conversation: it enters hot while it is among the last ones of its session
    message: bool = False
    redacted: tuple[str, ...] = ()  # what was replaced in it before storing, secret by secret: ``aws access key``
    sort: Sort = Sort.ATTRIBUTE  # what a fact is about, or what a message does
    worth: str = ""  # where its importance comes from; empty where nothing is to be told

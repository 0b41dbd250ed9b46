"""Short ways to states, memories, candidates and pools for tests of rules."""

from __future__ import annotations

from typing import Final

import numpy as np

from perdure.records.memory import Content, Draft, Kind, MemoryItem, Record, Scope, State, Status, Tier
from perdure.records.policy import Policy
from perdure.records.recall import Candidate, CandidateColumns, Pool
from perdure.rules.insertion import PreparedDraft, initial_states
from perdure.rules.lifecycle.signals import memory_items

HOUR: Final = 3_600_000
DAY: Final = 24 * HOUR
START: Final = 1_767_225_600_000
"""2026-01-01T00:00Z."""


def state(**fixed: object) -> State:
    """A warm long-term note of START, unless said otherwise."""
    values: dict[str, object] = {
        "kind": Kind.NOTE,
        "scope": Scope.LONG_TERM,
        "tier": Tier.WARM,
        "status": Status.ACTIVE,
        "pinned": False,
        "importance": 0.5,
        "confidence": 0.8,
        "uniqueness": 1.0,
        "created_ms": START,
        "recorded_ms": START,
        "anchor_ms": START,
        "tier_ms": START,
        "status_ms": START,
    }
    return State(**{**values, **fixed})  # type: ignore[arg-type]


def born(policy: Policy, *, near: tuple[float, ...] = (), **fixed: object) -> State:
    """The state in which a note starts at START, given the cosines to its nearest neighbours."""
    values: dict[str, object] = {
        "text": "words",
        "kind": Kind.NOTE,
        "scope": Scope.LONG_TERM,
        "importance": 0.5,
        "confidence": 0.8,
        "at": START,
    }
    draft = Draft(**{**values, **fixed})  # type: ignore[arg-type]
    return initial_states(
        [PreparedDraft("m", draft, None, tuple((str(i), c) for i, c in enumerate(near)))], policy, START
    )[0]


def memory(
    identity: str,
    text: str = "words",
    *,
    policy: Policy | None = None,
    now: int = START,
    speaker: str | None = None,
    tags: tuple[str, ...] = (),
    **fixed: object,
) -> MemoryItem:
    """A memory as a caller sees it."""
    record = Record("default", identity, state(**fixed), Content(text, tags, speaker=speaker))
    return memory_items([record], policy or Policy(), now)[0]


def candidate(identity: str, cosine: float | None = None, bm25: float = 0.0, **fixed: object) -> Candidate:
    """A candidate without session or speaker, unless said otherwise."""
    values: dict[str, object] = {"session": None, "turn": None, "speaker": None, "asks": False, "said_at": START}
    return Candidate(identity, cosine, bm25, **{**values, **fixed})  # type: ignore[arg-type]


def pool(
    *candidates: Candidate, coverage: float = 0.0, most_words: int = 0, vectors: bool = True, **more: float
) -> Pool:
    return Pool(CandidateColumns.of(candidates), coverage, most_words, vectors, **more)  # type: ignore[arg-type]


def direction(*numbers: float) -> bytes:
    """A unit vector."""
    row = np.array(numbers, dtype="<f4")
    return (row / np.linalg.norm(row)).astype("<f4").tobytes()

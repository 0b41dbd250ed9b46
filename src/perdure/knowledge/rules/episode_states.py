"""The states of an episode, as a table: what happened cannot become wrong, only be stood for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class EpisodeState(StrEnum):
    """What an episode is. ``created`` is an instant, not stored; the others are statuses."""

    CREATED = "created"
    ACTIVE = "active"
    CONSOLIDATED = "consolidated"
    ARCHIVED = "archived"


class EpisodeEvent(StrEnum):
    """What may happen to an episode."""

    STORED = "stored"
    SUBSUMED = "subsumed"
    """Another memory says everything that it says, and stands for it."""
    FADED = "faded"
    RESTORED = "restored"


@dataclass(frozen=True, slots=True)
class EpisodeTransition:
    """One row of the table."""

    source: EpisodeState
    event: EpisodeEvent
    target: EpisodeState
    when: str


EPISODES: Final = (
    EpisodeTransition(
        EpisodeState.CREATED, EpisodeEvent.STORED, EpisodeState.ACTIVE, "taken in: one message, one episode"
    ),
    EpisodeTransition(
        EpisodeState.ACTIVE,
        EpisodeEvent.SUBSUMED,
        EpisodeState.CONSOLIDATED,
        "consolidate or the end of a task merged it into one that says all of it; undo brings it back",
    ),
    EpisodeTransition(
        EpisodeState.ACTIVE, EpisodeEvent.FADED, EpisodeState.ARCHIVED, "by hand, or by a rule of the tiers' table"
    ),
    EpisodeTransition(
        EpisodeState.ARCHIVED, EpisodeEvent.RESTORED, EpisodeState.ACTIVE, "brought back by hand, or stored again"
    ),
)

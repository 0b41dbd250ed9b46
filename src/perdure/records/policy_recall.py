"""The keys of the policy that decide how memories are found and ranked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, tzinfo

from perdure.records.policy_key import protected_key, store_key


@dataclass(frozen=True, slots=True)
class DayPolicy:
    """Where days are that are named without a time: "yesterday", "until Friday", 2026-11-21."""

    zone: str = store_key(
        "local", "Their time zone: a name such as Europe/Berlin, UTC, or local for that of the machine Perdure runs on."
    )

    @property
    def tz(self) -> tzinfo | None:
        """The zone; None for that of this machine. ValueError or KeyError where there is none of that name."""
        if self.zone == "local":
            return None
        if self.zone == "UTC":
            return UTC
        from zoneinfo import ZoneInfo  # noqa: PLC0415  # start-up time

        return ZoneInfo(self.zone)


@dataclass(frozen=True, slots=True)
class RecallPolicy:
    """How memories are found and ranked."""

    rescored: int = store_key(200, "Number of nearest memories by 1-bit code whose exact cosine is computed.", 20, 5000)
    candidates: int = store_key(50, "Best memories of each search that are ranked.", 20, 2000)
    lexical_weight: float = store_key(
        0.1, "Weight of keyword search against semantic search if no memory has the query's rare words.", 0, 1
    )
    lexical_by_coverage: float = store_key(
        0.3, "Added to lexical_weight, times the share of the query that the best memory covers.", 0, 1
    )
    cosine_anchor: float = store_key(
        0.4, "The best cosine counts as at least this, so that noise is not amplified.", 0.01, 1
    )
    neighbour: float = store_key(0.2, "Weight of the better score of the two neighbouring messages.", 0, 1)
    answer: float = store_key(2.0, "Weight of the previous message's score if it asks and this one answers.", 1, 5)
    session: float = store_key(0.4, "Weight of the best score in the memory's session.", 0, 1)
    named: float = store_key(0.2, "Added when the question names the memory's speaker.", 0, 1)
    asking: float = store_key(
        0.1, "Share of its own similarity that a message with a question loses, if its speaker has a name.", 0, 1
    )
    dated: float = store_key(
        0.3, "Added when the memory is from the days, month or year that the question names.", 0, 1
    )
    signals: float = store_key(
        0.02, "Maximum that importance and confidence may add; only enough to break ties.", 0, 0.3
    )
    hit_share: float = store_key(
        0.2,
        "A hit's own similarity (semantic, keyword, neighbours) must be at least this share of the best one's; up to "
        "twice that where words and meaning agree on the best one.",
        0,
        1,
    )
    duplicate_cosine: float = store_key(0.96, "A hit with this cosine to a better one is placed last.", 0.5, 1)
    answer_chance: float = store_key(
        0.1, "No memory matches if the estimated chance that one answers is below this; 0 always answers.", 0, 1
    )
    words_of: str = store_key(
        "whole",
        "What keyword search uses for a shortened memory: its whole text, or the text shown.",
        choices=("whole", "shown"),
    )
    log_entries: int = protected_key(
        5000, "Past recalls kept for each namespace, for canaries and back-tests.", 0, 1_000_000
    )
    cells_above: int = store_key(
        300_000,
        "Number of vectors in a namespace from which `perdure optimize` makes its search approximate.",
        1000,
        100_000_000,
    )

    def words_share(self, coverage: float) -> float:
        """Return the share of words in the score, 0 to 1, where the best memory covers so much of the query."""
        return self.lexical_weight + self.lexical_by_coverage * coverage

    def for_limit(self, limit: int) -> RecallPolicy:
        """Return a policy whose searches bring up at least as many as are wanted."""
        if limit <= self.candidates:
            return self
        return replace(self, candidates=limit, rescored=max(self.rescored, 2 * limit))

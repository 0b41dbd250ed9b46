"""The door for verbs about several memories: thresholds, strategies and members are checked before anything is read."""

from __future__ import annotations

from typing import Any, Final, Literal

from perdure.records.errors import InvalidInput, given
from perdure.rules.consolidation.edges import checked_members, checked_weight
from perdure.rules.consolidation.merging import MergeStrategy
from perdure.rules.validation.values import checked_choice

__all__ = [
    "checked_flag",
    "checked_groups",
    "checked_members",
    "checked_pairs",
    "checked_strategy",
    "checked_threshold",
    "checked_weight",
]

_LOWEST: Final = 0.7
_HIGHEST: Final = 0.99
_MOST_GROUPS: Final = 100


def checked_threshold(value: Any) -> float:
    """Return a threshold of likeness, 0.7 to 0.99."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not _LOWEST <= value <= _HIGHEST:
        raise InvalidInput(
            f"similarity_threshold must be a number from {_LOWEST} to {_HIGHEST}, not {given(value)}.",
            remedy="Try 0.85.",
        )
    return float(value)


def checked_strategy(value: Any) -> MergeStrategy:
    """Return what stays of a group."""
    return checked_choice(value, MergeStrategy, "strategy")


def checked_groups(value: Any) -> int:
    """Return how many groups at most, 1 to 100."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST_GROUPS:
        raise InvalidInput(
            f"max_groups must be a whole number from 1 to {_MOST_GROUPS}, not {given(value)}.",
            remedy="Run it again for what is left.",
        )
    return value


def checked_pairs(value: Any) -> Literal["all", "recorded"]:
    """Return which pairs are looked at."""
    if value == "all":
        return "all"
    if value == "recorded":
        return "recorded"
    raise InvalidInput(f"pairs must be 'all' or 'recorded', not {given(value)}.", remedy="Pick one of them.")


def checked_flag(value: Any, name: str) -> bool:
    """Return a switch."""
    if isinstance(value, bool):
        return value
    raise InvalidInput(f"{name} must be True or False, not {given(value)}.", remedy="Pass a bool.")

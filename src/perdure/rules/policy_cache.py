"""What is made of a policy, kept for those asked about lately: hashing one takes longer than looking."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, TypeVar

from perdure.records.policy import Policy

T = TypeVar("T")
_MOST_KEPT: Final = 8


class PolicyCache(Generic[T]):
    """Makes something of each policy once; policies never change."""

    def __init__(self, make: Callable[[Policy], T]) -> None:
        self._make = make
        self._known: list[tuple[Policy, T]] = []

    def __call__(self, policy: Policy) -> T:
        """Return what was made of a policy."""
        for known, value in self._known:
            if known is policy:
                return value
        value = self._make(policy)
        self._known = [(policy, value), *self._known[: _MOST_KEPT - 1]]
        return value

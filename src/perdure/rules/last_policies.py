"""What is made of a policy, kept for those asked about lately: hashing one takes longer than looking."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, TypeVar

from perdure.records.policy import Policy

T = TypeVar("T")
_KEPT: Final = 8


class LastPolicies(Generic[T]):
    """Makes something of each policy once; policies never change.

    Args:
        make: Policy -> what is kept for it.
    """

    def __init__(self, make: Callable[[Policy], T]) -> None:
        self._make = make
        self._known: list[tuple[Policy, T]] = []

    def __call__(self, policy: Policy) -> T:
        """Return what was made of a policy."""
        for known, made in self._known:
            if known is policy:
                return made
        made = self._make(policy)
        self._known = [(policy, made), *self._known[: _KEPT - 1]]
        return made

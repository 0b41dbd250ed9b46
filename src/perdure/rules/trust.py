"""Whose word it is: what is derived from several sources is trusted as little as the least trusted of them.

May live here: the order of trust. May not: where it is kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from perdure.records.knowledge import Trust

_ORDER: Final = tuple(Trust)
"""From the most to the least trusted."""


def trust_of(role: str, source: str | None) -> Trust:  # noqa: ARG001
    """Return whose word a message is."""
    if role.lower() in {"user", "human"}:
        return Trust.USER
    return Trust.ASSISTANT if role.lower() in {"assistant", "ai", "bot"} else Trust.EXTERNAL


def least(trusts: Iterable[Trust]) -> Trust:
    """Return the least trusted of some sources; a user's word where there are none."""
    return max(trusts, key=_ORDER.index, default=Trust.USER)

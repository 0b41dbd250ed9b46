"""How far a session was learned from: which messages need not be looked at again.

Ids are in the order of their making, but two processes may make some at the same instant, and their clocks may differ:
so the ids of the last minute are kept, and what lies among them unlearned is found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

OVERLAP_MS: Final = 60_000
MOST: Final = 1000
"""Ids that are kept; of a batch that is larger the last ones."""


def near(mark: Mapping[str, Any]) -> frozenset[str]:
    """Return the messages that were learned last."""
    return frozenset(str(i) for i in mark.get("near", ()))


def floor(mark: Mapping[str, Any]) -> str:
    """Return the id up to which everything was learned; empty where nothing was."""
    return str(mark.get("floor", ""))


def advance(mark: Mapping[str, Any], learned: Iterable[str], recent: Sequence[str]) -> dict[str, Any]:
    """Return what is written down after more messages were learned from.

    Args:
        mark: What was written down before.
        learned: Ids of the messages.
        recent: The session's last messages, for whom "they" are.
    """
    known = sorted(near(mark) | set(learned))
    begin = max(floor(mark), _before(known[-1]))
    kept = [i for i in known if i > begin]
    if len(kept) > MOST:
        begin = kept[-MOST - 1]
        kept = kept[-MOST:]
    return {"floor": begin, "near": kept, "recent": list(recent)}


def _before(identity: str) -> str:
    """Return the least id of an overlap's length before a UUIDv7; an id of another form is its own."""
    plain = identity.replace("-", "")[:12]
    try:
        at = int(plain, 16)
    except ValueError:
        return identity
    text = f"{max(0, at - OVERLAP_MS):012x}"
    return f"{text[:8]}-{text[8:]}"

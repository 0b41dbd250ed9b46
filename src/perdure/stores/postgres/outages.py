"""What does not answer: the server, or nodes of a cluster. One caller waits for it, the others are told at once."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Final

from perdure.records.errors import PerdureError

PATIENCE: Final = 30.0
"""What was lost is waited for so long, by whoever needs it; a restart or a failover takes a few seconds."""

PAUSE: Final = 5.0
"""What has not come back by then is tried again by one caller at most in so many seconds."""

SERVER: Final = ""  # the server that the URL names. A node of a cluster is known by its host and port


@dataclass(slots=True)
class _Outage:
    since: float
    tried: float
    told: PerdureError


class Outages:
    """What does not answer now, since when, and which namespaces lie there. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._down: dict[str, _Outage] = {}
        self._homes: dict[str, str] = {}

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes of the cluster that do not answer."""
        with self._lock:
            return tuple(sorted(node for node in self._down if node != SERVER))

    def check(self, place: str | None) -> None:
        """Let a transaction begin, or refuse it at once.

        Args:
            place: The namespace that it is about; empty where it needs every node, None where only the server.

        Raises:
            PerdureError: What it needs has not answered for a while, and another caller has just tried.
        """
        if not self._down:
            return
        with self._lock:
            now = time.monotonic()
            for name in self._needed(place):
                outage = self._down[name]
                waits = (place != "" or name == SERVER) and now < outage.since + PATIENCE
                if not waits and now < outage.tried + PAUSE:
                    raise type(outage.told)(outage.told.message, remedy=outage.told.remedy)
                outage.tried = now

    def note(self, node: str, place: str | None, told: PerdureError) -> float:
        """Note that a node did not answer, and return until when it is worth waiting for it."""
        with self._lock:
            now = time.monotonic()
            outage = self._down.setdefault(node, _Outage(now, now, told))
            outage.tried, outage.told = now, told
            if place:
                self._homes[place] = node
            return outage.since + PATIENCE

    def clear(self, place: str | None) -> None:
        """Note that a transaction succeeded: what it needed is back."""
        if not self._down:
            return
        with self._lock:
            for name in self._needed(place):
                del self._down[name]
            self._homes = {other: node for other, node in self._homes.items() if node in self._down}

    def _needed(self, place: str | None) -> list[str]:
        """Return what a transaction needs of that which is down."""
        needed = set(self._down) if place == "" else {SERVER, self._homes.get(place or "", SERVER)}
        return sorted(needed & self._down.keys())

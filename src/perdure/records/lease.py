"""A lease: the right of one worker to keep one namespace for a while."""

from __future__ import annotations

from dataclasses import dataclass, replace

from perdure.records.instant import Instant


@dataclass(frozen=True, slots=True)
class Lease:
    """Who keeps a namespace. Clocks differ between workers: what counts when writing is the epoch, never the time."""

    namespace: str  # which one
    owner: str  # the worker's name
    epoch: int  # how often the lease has changed hands; a write under an older epoch is refused
    until: Instant  # when others may take it, by the clock of whoever looks
    ttl: int  # milliseconds that it lasts from each write on

    def extended(self, now: Instant) -> Lease:
        """Return the lease as it is after a write at an instant."""
        return replace(self, until=max(self.until, now + self.ttl))

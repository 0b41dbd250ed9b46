"""Whether a store can serve, for who watches a service."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoreHealth:
    """What a store says of itself when it is asked anew."""

    schema: int  # number of its schema
    writable: bool  # as far as can be said without writing


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether a memory can serve, and whether its maintenance keeps up."""

    store: StoreHealth
    worker_lag_seconds: float  # for how long the oldest due move has been waiting for a sweep

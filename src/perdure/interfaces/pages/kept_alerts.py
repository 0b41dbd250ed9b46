"""Alerts as `perdure alerts` counts them. In a large namespace that takes a second: it is done beside the pages."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime
from threading import Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import WeakKeyDictionary

from perdure.records.errors import PerdureError
from perdure.rules.alerts import find_alerts

if TYPE_CHECKING:
    from perdure.memory import Memory
    from perdure.records.report import Alert, Stats

SECONDS: Final = 60.0  # for how long what was counted is shown; then it is counted again beside the page
_log = logging.getLogger(__name__)


class ShownAlerts(NamedTuple):
    """What needs attention in a namespace."""

    alerts: Sequence[Alert]
    sampled: int  # the memories that they were estimated from; 0 where all count that the command counts


class _CountedAlerts(NamedTuple):
    at: float
    alerts: Sequence[Alert]


class KeptAlerts:
    """Alerts of all memories and namespaces that pages were asked for. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: WeakKeyDictionary[Memory, dict[str, _CountedAlerts]] = WeakKeyDictionary()
        self._counting: set[tuple[int, str]] = set()

    def of(self, memory: Memory, namespace: str, stats: Stats) -> ShownAlerts:
        """Return the alerts of a namespace; its figures are of a sample if it is large."""
        estimated = _estimate(memory, namespace, stats)
        if stats.sampled >= stats.memories:
            return ShownAlerts(estimated, 0)
        with self._lock:
            kept = self._kept.get(memory, {}).get(namespace)
        if kept is None or monotonic() - kept.at >= SECONDS:
            self._start(memory, namespace)
        return ShownAlerts(estimated, stats.sampled) if kept is None else ShownAlerts(kept.alerts, 0)

    def _start(self, memory: Memory, namespace: str) -> None:
        key = (id(memory), namespace)
        with self._lock:
            if key in self._counting:
                return
            self._counting.add(key)
        Thread(target=self._count, args=(memory, namespace, key), name="perdure-alerts", daemon=True).start()

    def _count(self, memory: Memory, namespace: str, key: tuple[int, str]) -> None:
        try:
            counted = _CountedAlerts(monotonic(), memory.alerts(namespace))
            with self._lock:
                self._kept.setdefault(memory, {})[namespace] = counted
        except PerdureError as error:
            _log.warning("Alerts of %s could not be counted: %s", namespace, error)
        finally:
            with self._lock:
                self._counting.discard(key)


def _estimate(memory: Memory, namespace: str, stats: Stats) -> list[Alert]:
    now = datetime.fromisoformat(stats.at)
    tasks = memory.upkeep_state(namespace)
    return find_alerts(stats, namespace, tasks, memory.policy.alerts, now, memory.unwritable)


KEPT: Final = KeptAlerts()  # those of this process

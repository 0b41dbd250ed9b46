"""The first page: what is known, how it is doing, what happened lately, what needs a person; alerts are kept."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from threading import Lock, Thread
from time import monotonic
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

from markupsafe import Markup

from perdure.interfaces.pages.page_request import OFFERED, Answer, HtmlPage, PageRequest
from perdure.interfaces.pages.plots import Bar, columns, stacked_bar
from perdure.interfaces.views.values import pluralize
from perdure.memory import Memory
from perdure.records.errors import PerdureError
from perdure.records.report import Alert, Size, Stats
from perdure.rules.alerts import find_alerts

SAMPLE: Final = 400  # so many memories the figures rest on at most: the page is drawn again whenever something happens
_DIGEST_BYTES: Final = 8
_OPERATIONS: Final = 12
_MOST_LISTED: Final = 5
_NAMES: Final = {"tier": "Tier", "kind": "Kind", "form": "Form", "age": "Age"}
_EVENTS: Final = {
    "stored": "stored",
    "moved": "moved to another tier",
    "shortened": "shortened",
    "archived": "archived",
    "superseded": "replaced by newer ones",
    "consolidated": "merged into others",
    "invalidated": "found to be no longer true",
    "restored": "restored",
    "erased": "erased for good",
    "held": "held back by a gate",
}
_AGES: Final = {
    "day": "under a day",
    "week": "under a week",
    "month": "under 30 days",
    "quarter": "under 91 days",
    "year": "under a year",
    "older": "older",
}
SECONDS: Final = 60.0  # for how long what was counted is shown; then it is counted again beside the page
_log = logging.getLogger(__name__)


def overview(request: PageRequest) -> Answer:
    """Show how a namespace is doing."""
    memory, namespace = request.memory, request.namespace
    stats = memory.stats(namespace, sample=SAMPLE)
    shown_alerts = KEPT.of(memory, namespace, stats)
    values = {
        "stats": stats,
        "sentence": knowledge_sentence(stats),
        "shown_alerts": shown_alerts,
        "alerts_digest": digest_of_alerts(shown_alerts.alerts),
        "estimated": stats.sampled < stats.memories,
        "groups": [(_NAMES[name], *_group(name, groups)) for name, groups in stats.sizes.items()],
        "values_plot": columns(stats.values, "How many memories have which value, from 0 to 1"),
        "events": list(_events(stats)),
        "operations": request.operations(_OPERATIONS)[0],
        "lists": [(title, why, list(_texts(request, ids))) for title, why, ids in _lists(stats) if ids],
    }
    return HtmlPage("overview", "Overview", values)


def similar_namespaces(request: PageRequest) -> Answer:
    """Show the namespaces whose names contain what was typed, which is none."""
    return HtmlPage("namespaces", "No such namespace", {"found": request.similar, "most": OFFERED})


def alerts_of(memory: Memory, namespace: str) -> Sequence[Alert]:
    """Return what needs attention in a namespace, as the page shows it."""
    return KEPT.of(memory, namespace, memory.stats(namespace, sample=SAMPLE)).alerts


def digest_of_alerts(alerts: Sequence[Alert]) -> str:
    """Return a digest of what needs attention."""
    rows = [(a.namespace, a.name, a.severity, a.message) for a in alerts]
    return blake2b(json.dumps(rows).encode(), digest_size=_DIGEST_BYTES).hexdigest()


def knowledge_sentence(stats: Stats) -> str:
    """Return in a sentence what a namespace knows."""
    if not stats.memories:
        return "Nothing is known here yet."
    kinds = [pluralize(n, "procedure" if kind == "procedure" else kind) for kind, n in stats.kinds.items() if n]
    *first, last = sorted(kinds, key=lambda text: -int(text.split()[0].replace(",", "")))
    text = f"{', '.join(first)} and {last}" if first else last
    tokens = sum(size.tokens for size in stats.sizes.get("tier", {}).values())
    hidden = sum(n for status, n in stats.statuses.items() if status != "active")
    kept = f" {hidden:,} more {'is' if hidden == 1 else 'are'} kept out of view." if hidden else ""
    about = "about " if stats.sampled < stats.memories else ""
    return (
        f"{text} are in view, {about}{tokens:,} tokens in all.{kept}"
        if stats.memories > 1
        else f"{text} is in view.{kept}"
    )


def _group(name: str, groups: Mapping[str, Size]) -> tuple[Markup, list[tuple[str, int, Size]]]:
    rows = [(_AGES.get(part, part), shade % 5, size) for shade, (part, size) in enumerate(groups.items())]
    bars = [Bar(part, size.memories, shade) for part, shade, size in rows]
    return stacked_bar(bars, f"Memories by {name}"), rows


def _lists(stats: Stats) -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    yield (
        "At risk",
        "Valuable, but archived within 30 days unless they are used or pinned.",
        [(i, f"value {value:.2f}, on {at:%Y-%m-%d}") for i, value, at in stats.at_risk[:_MOST_LISTED]],
    )
    yield (
        "Held back",
        "A safety gate stops their next move.",
        [(i, f"since {at:%Y-%m-%d}") for i, at in stats.held_first[:_MOST_LISTED]],
    )
    risky = {i for i, *_ in stats.at_risk}
    fading = [(i, f"value {v:.2f}, on {at:%Y-%m-%d}") for i, v, at in stats.about_to_fade if i not in risky]
    yield "About to fade", "Archived within 30 days without further access.", fading[:_MOST_LISTED]
    promising = [(i, f"value {v:.2f}, {pluralize(n, 'access')}") for i, v, n in stats.vault_candidates[:_MOST_LISTED]]
    yield "Nearly worth the vault", "Used often, and almost valuable enough to stay for good.", promising


def _events(stats: Stats) -> Iterator[tuple[str, int, int]]:
    """Return what became of memories in words, and how often within a day and a week."""
    counts = stats.journal.events if stats.journal else {}
    return ((label, *counts[name]) for name, label in _EVENTS.items() if name in counts)


def _texts(request: PageRequest, rows: list[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    """Yield (id, text, note) of memories that are still there."""
    for identity, note in rows:
        if item := request.memory.get(identity, include_archived=True, namespace=request.namespace):
            yield identity, item.content, note


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
    now = stats.at
    tasks = memory.upkeep_state(namespace)
    return find_alerts(stats, namespace, tasks, memory.policy.alerts, now, memory.unwritable)


KEPT: Final = KeptAlerts()  # those of this process

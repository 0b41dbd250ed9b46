"""What operators watch: calls by verb and outcome, how long they take, and figures of the store, for Prometheus."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import accumulate
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from perdure.records.json_record import as_json
from perdure.records.report import Stats

if TYPE_CHECKING:
    from prometheus_client.core import Metric

    from perdure.memory import Memory

BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper bounds of durations, in seconds."""
FIGURES_SECONDS: Final = 15.0
"""How long figures of the store hold: a scrape must not read the store anew each time."""


@dataclass(slots=True)
class Durations:
    """How often and how long something took."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    total: float = 0.0

    def add(self, seconds: float) -> None:
        """Count one."""
        self.counts[bisect_left(BUCKETS, seconds)] += 1
        self.total += seconds


class Observed:
    """Counts what the service does, from the event loop alone but for models. The library loads when it is asked."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._calls: Counter[tuple[str, str]] = Counter()
        self._durations: dict[str, Durations] = {}
        self._responses: Counter[int] = Counter()
        self._recalled: Counter[str] = Counter()
        self._lock = Lock()
        self._asked: Counter[tuple[str, str]] = Counter()
        self._texts: Counter[str] = Counter()
        self._waited: dict[str, Durations] = {}
        self._figures: tuple[float, Mapping[str, Any]] = (-FIGURES_SECONDS, {})

    def call(self, verb: str, outcome: str, seconds: float) -> None:
        """Count a call of a verb; the outcome is ``ok`` or the error's class."""
        self._calls[verb, outcome] += 1
        if verb not in self._durations:
            self._durations[verb] = Durations()
        self._durations[verb].add(seconds)

    @contextmanager
    def watch(self, port: str, texts: int) -> Iterator[None]:
        """Count a call of the embedder or the model, and its texts; calls come from all threads."""
        began, outcome = monotonic(), "ok"
        try:
            yield
        except BaseException as error:
            outcome = type(error).__name__
            raise
        finally:
            with self._lock:
                self._asked[port, outcome] += 1
                self._texts[port] += texts
                self._waited.setdefault(port, Durations()).add(monotonic() - began)

    def response(self, status: int) -> None:
        """Count an answer by its status."""
        self._responses[status] += 1

    def recalled(self, hits: int) -> None:
        """Count a recall's hits."""
        self._recalled["hits"] += hits
        self._recalled["unknown"] += not hits

    def text(self, memory: Memory, taken: int) -> bytes:
        """Return everything as Prometheus reads it.

        Args:
            memory: The whole memory, for figures of the store.
            taken: Calls that run or wait now.
        """
        from prometheus_client import CollectorRegistry, generate_latest  # noqa: PLC0415  # start-up time

        registry = CollectorRegistry()
        registry.register(_Collector(lambda: self._metrics(memory, taken)))
        text: bytes = generate_latest(registry)
        return text

    def _metrics(self, memory: Memory, taken: int) -> Iterator[Metric]:
        yield from self._of_calls(taken)
        with self._lock:
            yield from self._of_models()
        at, figures = self._figures
        if monotonic() - at >= FIGURES_SECONDS:
            figures = store_figures(memory, self._file)
            self._figures = (monotonic(), figures)
        yield from _of_store(figures)

    def _of_models(self) -> Iterator[Metric]:
        from prometheus_client.core import CounterMetricFamily  # noqa: PLC0415  # start-up time

        calls = CounterMetricFamily("perdure_model_calls", "Calls of models.", labels=["model", "outcome"])
        for labels, count in sorted(self._asked.items()):
            calls.add_metric(labels, count)
        texts = CounterMetricFamily("perdure_model_texts", "Texts that models were given.", labels=["model"])
        for port, count in sorted(self._texts.items()):
            texts.add_metric([port], count)
        yield from (calls, texts)
        yield _histogram("perdure_model_seconds", "How long calls of models took.", "model", self._waited)

    def _of_calls(self, taken: int) -> Iterator[Metric]:
        from prometheus_client.core import (  # noqa: PLC0415  # start-up time
            CounterMetricFamily,
            GaugeMetricFamily,
        )

        calls = CounterMetricFamily("perdure_calls", "Calls of verbs.", labels=["verb", "outcome"])
        for labels, count in sorted(self._calls.items()):
            calls.add_metric(labels, count)
        seconds = _histogram("perdure_call_seconds", "How long calls took.", "verb", self._durations)
        stopped = sum(count for (_, outcome), count in self._calls.items() if outcome == "GateStopped")
        answers = CounterMetricFamily("perdure_responses", "Answers by status.", labels=["status"])
        for status, count in sorted(self._responses.items()):
            answers.add_metric([str(status)], count)
        yield from (calls, seconds, answers)
        yield CounterMetricFamily("perdure_gate_refusals", "Calls that a safety gate refused.", value=stopped)
        yield GaugeMetricFamily("perdure_calls_in_flight", "Calls that run or wait.", value=taken)
        yield CounterMetricFamily("perdure_recall_hits", "Hits of recalls.", value=self._recalled["hits"])
        yield CounterMetricFamily(
            "perdure_recalls_unknown", "Recalls that found nothing.", value=self._recalled["unknown"]
        )


def _histogram(name: str, told: str, label: str, kept: Mapping[str, Durations]) -> Metric:
    from prometheus_client.core import HistogramMetricFamily  # noqa: PLC0415  # start-up time

    found = HistogramMetricFamily(name, told, labels=[label])
    bounds = [*map(str, BUCKETS), "+Inf"]
    for key, durations in sorted(kept.items()):
        found.add_metric([key], list(zip(bounds, accumulate(durations.counts), strict=True)), durations.total)
    return found


class _Collector:
    def __init__(self, collect: Callable[[], Iterator[Metric]]) -> None:
        self.collect = collect


def store_figures(memory: Memory, file: Path | None = None) -> Mapping[str, Any]:
    """Return name -> a number, or label -> number, of the whole store."""
    stats: Stats = memory.stats()
    growth = stats.journal
    return {
        "perdure_namespaces": stats.namespaces,
        "perdure_memories": ("status", dict(stats.statuses)),
        "perdure_visible_memories": ("tier", dict(stats.tiers)),
        "perdure_due_memories": stats.due_now,
        "perdure_held_memories": ("gate", dict(stats.held)),
        "perdure_without_vector": stats.without_vector,
        "perdure_leases_held": memory.leases_held,
        "perdure_open_questions": stats.questions,
        "perdure_journal": ("figure", _numbers(growth)),
        "perdure_shown_bytes": sum(size.bytes for size in stats.sizes.get("tier", {}).values()),
        "perdure_due_lag_seconds": _lag(stats),
        **file_bytes(file),
    }


def _lag(stats: Stats) -> float:
    if stats.overdue_since is None:
        return 0.0
    return (datetime.fromisoformat(stats.at) - datetime.fromisoformat(stats.overdue_since)).total_seconds()


def file_bytes(file: Path | None) -> dict[str, int]:
    """Return the size of the store's file and its log."""
    if file is None:
        return {}
    found = 0
    for path in (file, file.with_name(f"{file.name}-wal")):
        with suppress(OSError):
            found += path.stat().st_size
    return {"perdure_file_bytes": found}


def _numbers(record: Any) -> dict[str, float]:
    told = as_json(record) if record is not None else {}
    return {name: value for name, value in told.items() if isinstance(value, int | float)}


_TOLD: Final = {
    "perdure_namespaces": "Namespaces of the store.",
    "perdure_memories": "Memories by status.",
    "perdure_visible_memories": "Visible memories by tier.",
    "perdure_due_memories": "Memories whose next move has fallen due.",
    "perdure_held_memories": "Memories whose move a gate holds back.",
    "perdure_without_vector": "Visible memories that only words can find.",
    "perdure_leases_held": "Namespaces that a worker maintains just now.",
    "perdure_open_questions": "Open questions to a person.",
    "perdure_journal": "How the journal grows.",
    "perdure_shown_bytes": "Bytes of the text that visible memories show.",
    "perdure_file_bytes": "Bytes of the store's file and its log.",
    "perdure_due_lag_seconds": "For how long the oldest due move has been waiting for a sweep.",
}


def _of_store(figures: Mapping[str, Any]) -> Iterator[Metric]:
    from prometheus_client.core import GaugeMetricFamily  # noqa: PLC0415  # start-up time

    for name, found in figures.items():
        if isinstance(found, tuple):
            label, values = found
            metric = GaugeMetricFamily(name, _TOLD[name], labels=[label])
            for key, value in sorted(values.items()):
                metric.add_metric([key], value)
            yield metric
        else:
            yield GaugeMetricFamily(name, _TOLD[name], value=found)

"""What operators watch: calls by verb and outcome, how long they take, and figures of the store, for Prometheus."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import accumulate, groupby
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from perdure.interfaces.http.shared import Counts
from perdure.records.deadline import within
from perdure.records.errors import StoreError
from perdure.records.json_record import as_json
from perdure.records.report import Stats

if TYPE_CHECKING:
    from prometheus_client.core import Metric

    from perdure.memory import Memory

BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper bounds of durations, in seconds."""
FIGURES_SECONDS: Final = 15.0  # how long figures of the store hold: a scrape must not read the store anew each time
STORE_SECONDS: Final = 2.0  # how long the store may take for its figures, and to say that it is ready


class ServiceMetrics:
    """Counts what the service does, from the event loop alone but for models. The library loads when it is asked."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._counts: defaultdict[tuple[str, ...], float] = defaultdict(float)
        self._lock = Lock()
        self._figures: tuple[float, Mapping[str, Any]] = (-FIGURES_SECONDS, {})

    def counts(self) -> Counts:
        """Return what was counted so far."""
        return self._counts.copy()

    def call(self, verb: str, outcome: str, seconds: float) -> None:
        """Count a call of a verb; the outcome is ``ok`` or the error's class."""
        self._counts["calls", verb, outcome] += 1
        self._add_duration("call_seconds", verb, seconds)
        if outcome == "GateStopped":
            self._counts["gate_refusals",] += 1

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
                self._counts["model_calls", port, outcome] += 1
                self._counts["model_texts", port] += texts
                self._add_duration("model_seconds", port, monotonic() - began)

    def response(self, status: int) -> None:
        """Count an answer by its status."""
        self._counts["responses", str(status)] += 1

    def count_hits(self, hits: int) -> None:
        """Count a recall's hits."""
        self._counts["recall_hits",] += hits
        self._counts["recalls_unknown",] += not hits

    def text(self, memory: Memory, counts: Counts) -> bytes:
        """Return everything as Prometheus reads it."""
        from prometheus_client import CollectorRegistry, generate_latest  # noqa: PLC0415  # start-up time

        registry = CollectorRegistry()
        registry.register(_Collector(lambda: self._metrics(memory, counts)))
        text: bytes = generate_latest(registry)
        return text

    def _add_duration(self, name: str, label: str, seconds: float) -> None:
        self._counts[name, label, _BOUNDS[bisect_left(BUCKETS, seconds)]] += 1
        self._counts[name, label, _SUM] += seconds

    def _metrics(self, memory: Memory, counts: Counts) -> Iterator[Metric]:
        yield from _call_metrics(counts)
        at, figures = self._figures
        if monotonic() - at >= FIGURES_SECONDS:
            try:
                with within(STORE_SECONDS):
                    figures = {"perdure_store_up": 1, **store_figures(memory, self._file)}
                self._figures = (monotonic(), figures)
            except StoreError:  # what the service counts is wanted most while the store is gone
                figures = {"perdure_store_up": 0}
        yield from _store_metrics(figures)


_BOUNDS: Final = (*map(str, BUCKETS), "+Inf")
_SUM: Final = "sum"
_COUNTERS: Final = {
    "calls": ("Calls of verbs.", ("verb", "outcome")),
    "responses": ("Answers by status.", ("status",)),
    "gate_refusals": ("Calls that a safety gate refused.", ()),
    "recall_hits": ("Hits of recalls.", ()),
    "recalls_unknown": ("Recalls that found nothing.", ()),
    "model_calls": ("Calls of models.", ("model", "outcome")),
    "model_texts": ("Texts that models were given.", ("model",)),
    "worker_restarts": ("Workers that ended and were replaced.", ()),
}
_HISTOGRAMS: Final = {
    "call_seconds": ("How long calls took.", "verb"),
    "model_seconds": ("How long calls of models took.", "model"),
}
_GAUGES: Final = {"calls_in_flight": "Calls that run or wait.", "workers": "Processes that answer."}


def _call_metrics(counts: Counts) -> Iterator[Metric]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily  # noqa: PLC0415  # start-up time

    for name, (description, labels) in _COUNTERS.items():
        counter = CounterMetricFamily(f"perdure_{name}", description, labels=labels)
        for values, count in _counts_named(counts, name) or ([] if labels else [((), 0)]):
            counter.add_metric(values, count)
        yield counter
    for name, (description, label) in _HISTOGRAMS.items():
        yield _histogram(f"perdure_{name}", description, label, _counts_named(counts, name))
    for name, description in _GAUGES.items():
        yield GaugeMetricFamily(f"perdure_{name}", description, value=counts[name,])


def _counts_named(counts: Counts, name: str) -> list[tuple[tuple[str, ...], float]]:
    return sorted((key[1:], count) for key, count in counts.items() if key[0] == name)


def _histogram(name: str, description: str, label: str, counted: list[tuple[tuple[str, ...], float]]) -> Metric:
    from prometheus_client.core import HistogramMetricFamily  # noqa: PLC0415  # start-up time

    histogram = HistogramMetricFamily(name, description, labels=[label])
    for key, group in groupby(counted, key=lambda one: one[0][0]):
        figures = {bound: count for (_, bound), count in group}
        sums = accumulate(figures.get(bound, 0) for bound in _BOUNDS)
        histogram.add_metric([key], list(zip(_BOUNDS, sums, strict=True)), figures[_SUM])
    return histogram


class _Collector:
    def __init__(self, collect: Callable[[], Iterator[Metric]]) -> None:
        self.collect = collect


def store_figures(memory: Memory, file: Path | None = None) -> Mapping[str, Any]:
    """Return name -> a number, or label -> number, of the whole store."""
    stats: Stats = memory.stats()
    growth = stats.journal
    return {
        "perdure_namespaces": stats.namespaces,
        "perdure_namespaces_sampled": stats.namespaces_sampled,
        "perdure_memories": ("status", dict(stats.statuses)),
        "perdure_visible_memories": ("tier", dict(stats.tiers)),
        "perdure_due_memories": stats.due_now,
        "perdure_held_memories": ("gate", dict(stats.held)),
        "perdure_without_vector": stats.without_vector,
        "perdure_leases_held": memory.leases_held,
        "perdure_open_questions": stats.questions,
        "perdure_journal": ("figure", _numbers(growth)),
        "perdure_shown_bytes": sum(size.bytes for size in stats.sizes.get("tier", {}).values()),
        "perdure_due_lag_seconds": _lag_seconds(stats),
        **file_bytes(file),
    }


def _lag_seconds(stats: Stats) -> float:
    if stats.overdue_since is None:
        return 0.0
    return (stats.at - stats.overdue_since).total_seconds()


def file_bytes(file: Path | None) -> dict[str, int]:
    """Return the size of the store's file and its log."""
    if file is None:
        return {}
    total = 0
    for path in (file, file.with_name(f"{file.name}-wal")):
        with suppress(OSError):
            total += path.stat().st_size
    return {"perdure_file_bytes": total}


def _numbers(record: Any) -> dict[str, float]:
    data = as_json(record) if record is not None else {}
    return {name: value for name, value in data.items() if isinstance(value, int | float)}


_DESCRIPTIONS: Final = {
    "perdure_store_up": "1 where the store answered in time; 0 where it did not, and its figures are left out.",
    "perdure_namespaces": "Namespaces of the store.",
    "perdure_namespaces_sampled": "Namespaces that were looked into: what is held, asked and shown is of these.",
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


def _store_metrics(figures: Mapping[str, Any]) -> Iterator[Metric]:
    from prometheus_client.core import GaugeMetricFamily  # noqa: PLC0415  # start-up time

    for name, figure in figures.items():
        if isinstance(figure, tuple):
            label, values = figure
            metric = GaugeMetricFamily(name, _DESCRIPTIONS[name], labels=[label])
            for key, value in sorted(values.items()):
                metric.add_metric([key], value)
            yield metric
        else:
            yield GaugeMetricFamily(name, _DESCRIPTIONS[name], value=figure)

"""OpenTelemetry traces of calls, by the conventions for generative AI. Loaded only where traces are asked for.

Names of memory operations are those of the conventions as they stand in development; what they have no name for is
``perdure.*``. Where spans go is set up by whoever runs the service (``opentelemetry-instrument perdure serve …``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from perdure.records.errors import InvalidInput, NotAllowed
from perdure.records.memory import MemoryItem
from perdure.records.recall import Recall

try:
    from opentelemetry import context, propagate, trace
    from opentelemetry.trace import Span, SpanKind, Status, StatusCode
    from opentelemetry.util.types import AnyValue
except ImportError as error:
    raise InvalidInput(
        "Traces need OpenTelemetry, which is not installed.", remedy="Install it: pip install opentelemetry-distro."
    ) from error

_OPERATIONS: Final = {
    **dict.fromkeys(("recall", "answer_sheet"), "search_memory"),
    **dict.fromkeys(("remember", "remember_many", "ingest", "learn"), "create_memory"),
    **dict.fromkeys(("update", "pin", "unpin", "move", "strengthen", "reinforce", "confirm"), "update_memory"),
    **dict.fromkeys(("forget", "erase"), "delete_memory"),
}
"""Verb -> the conventions' name of it; others go by their own."""
_UNCHECKED: Final = (InvalidInput, NotAllowed)
"""Of a call that fails so, nobody has looked at the namespace that it names: it may be any text."""
_LONGEST: Final = 4000  # characters of a content attribute
_LONGEST_NAME: Final = 200  # characters of a namespace


class Tracing:
    """Makes spans of calls, which hold names and numbers; with ``content`` also questions and memories."""

    def __init__(self, *, content: bool) -> None:
        self._tracer = trace.get_tracer("perdure")
        self._content = content

    @contextmanager
    def call(self, verb: str, arguments: Mapping[str, Any], headers: Mapping[str, str]) -> Iterator[CallSpan]:
        """Make a span of a verb's call within that of its caller, if the request names one."""
        name = _OPERATIONS.get(verb, verb)
        attrs: dict[str, AnyValue] = {
            "gen_ai.operation.name": name,
            "gen_ai.provider.name": "perdure",
            "perdure.verb": verb,
        }
        if self._content and isinstance(query := arguments.get("query"), str):
            attrs["gen_ai.memory.query.text"] = query[:_LONGEST]
        # A request of MCP, or the framework, has a span already: the call belongs into that.
        is_inside = trace.get_current_span().get_span_context().is_valid
        parent = None if is_inside else propagate.extract(headers)
        with self._tracer.start_as_current_span(
            f"{name} perdure", parent, SpanKind.SERVER, attrs, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield CallSpan(span, content=self._content)
            except Exception as error:
                _fail(span, error)  # its text may repeat what was given
                if not isinstance(error, _UNCHECKED):
                    _note_namespace(span, arguments)
                raise
            _note_namespace(span, arguments)

    @contextmanager
    def within(self, headers: Mapping[str, str]) -> Iterator[None]:
        """Make all spans of a block within that of a request's caller, if the request names one."""
        token = context.attach(propagate.extract(headers))
        try:
            yield
        finally:
            context.detach(token)

    @contextmanager
    def watch(self, port: str, texts: int) -> Iterator[None]:
        """Make a span of a call of the embedder or the language model."""
        name = "embeddings" if port == "embedder" else "chat"
        attrs: dict[str, AnyValue] = {"gen_ai.operation.name": name, "perdure.texts": texts}
        with self._tracer.start_as_current_span(
            name, None, SpanKind.CLIENT, attrs, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield
            except Exception as error:
                _fail(span, error)
                raise


class CallSpan:
    """The span of a call that runs."""

    def __init__(self, span: Span, *, content: bool) -> None:
        self._span, self._content = span, content

    def note_result(self, result: Any) -> None:
        """Note what the verb returned."""
        if isinstance(result, Recall):
            self._memories([(hit.memory, hit.relevance) for hit in result.hits])

    def wrote(self, operation: str | None) -> None:
        """Note the operation that the verb has written, if any."""
        if operation is not None:
            self._span.set_attribute("perdure.operation", operation)

    def _memories(self, scored: list[tuple[MemoryItem, float | None]]) -> None:
        self._span.set_attribute("gen_ai.memory.record.count", len(scored))
        if self._content:
            rows = [{"id": m.id, "content": m.content[:_LONGEST], "score": score} for m, score in scored]
            self._span.set_attribute("gen_ai.memory.records", json.dumps(rows, ensure_ascii=False))


def _note_namespace(span: Span, arguments: Mapping[str, Any]) -> None:
    if isinstance(namespace := arguments.get("namespace"), str):
        span.set_attribute("perdure.namespace", namespace[:_LONGEST_NAME])


def _fail(span: Span, error: Exception) -> None:
    span.set_attribute("error.type", type(error).__name__)
    span.set_status(Status(StatusCode.ERROR))

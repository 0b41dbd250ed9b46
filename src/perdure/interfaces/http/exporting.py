"""``GET /v1/export``: everything of a namespace as lines of JSON, read while it is sent, in bounded memory."""

from __future__ import annotations

from itertools import chain
from typing import Final

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import Response

from perdure.interfaces.http.access import memory_for
from perdure.interfaces.http.limits import CallLimits
from perdure.interfaces.http.lines import LineStream, Streams, chunks_of
from perdure.interfaces.http.problems import problem_of
from perdure.interfaces.http.routes import query_values
from perdure.records.errors import PerdureError
from perdure.verbs.arguments import refuse_unknown

PATH: Final = "/v1/export"
AT_ONCE: Final = 2
"""Exports that are read at once; more are refused: each holds a page of rows."""
_NAMESPACE: Final = "namespace"
_NAME: Final = {"content-disposition": 'attachment; filename="perdure-export.jsonl"'}


class Exports:
    """Answers the requests for exports.

    Args:
        limits: What the service shares.
    """

    def __init__(self, limits: CallLimits) -> None:
        self._limits = limits
        self._streams = Streams("exports", AT_ONCE, AT_ONCE)

    async def answer(self, request: Request) -> Response:
        """Return a stream of lines; its first chunk is made before anything is sent, so that refusals are problems."""
        try:
            memory = memory_for(request)
            await self._limits.check_rate(request.state.principal.key)
            given = query_values(request.scope["query_string"], [])
            refuse_unknown(given, (_NAMESPACE,), "route")
            with self._streams.place():
                chunks = await run_sync(lambda: chunks_of(memory.export(given.get(_NAMESPACE))))
                first = await self._streams.read(chunks)
        except PerdureError as error:
            return problem_of(error)
        return LineStream(chain((first,), chunks), self._streams, _NAME)

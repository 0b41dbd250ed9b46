"""``GET /v1/export``: everything of a namespace as lines of JSON, read while it is sent, in bounded memory."""

from __future__ import annotations

from functools import partial
from itertools import chain
from time import monotonic
from typing import Final

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from perdure.interfaces.http.access import memory_for
from perdure.interfaces.http.call_notes import PLACE, CallEnd, note_call
from perdure.interfaces.http.limits import CallLimits
from perdure.interfaces.http.lines import LineStream, StreamLimiter, chunks_of
from perdure.interfaces.http.problems import problem_of
from perdure.interfaces.http.routes import query_values
from perdure.records.errors import PerdureError
from perdure.verbs.arguments import refuse_unknown

PATH: Final = "/v1/export"
AT_ONCE: Final = 2  # exports that are read at once; more are refused: each holds a page of rows
_NAMESPACE: Final = "namespace"
_NAME: Final = {"content-disposition": 'attachment; filename="perdure-export.jsonl"'}


class Exports:
    """Answers the requests for exports."""

    def __init__(self, limits: CallLimits) -> None:
        self._limits = limits
        self._streams = StreamLimiter("exports", AT_ONCE, AT_ONCE)

    async def answer(self, request: Request) -> Response:
        """Return a stream of lines; its first chunk is made before anything is sent, so that refusals are problems."""
        began = monotonic()
        try:
            memory = memory_for(request)
            await self._limits.check_rate(request.state.principal.key)
            given = query_values(request.scope["query_string"], [])
            refuse_unknown(given, (_NAMESPACE,), "route")
            request.scope["state"][PLACE] = given.get(_NAMESPACE)
            with self._streams.place():
                chunks = await run_sync(lambda: chunks_of(memory.export(given.get(_NAMESPACE))))
                first = await self._streams.read(chunks)
        except PerdureError as error:
            response = problem_of(error)
            self._note(request.scope, began, response.status_code, error)
            return response
        return LineStream(chain((first,), chunks), self._streams, _NAME, partial(self._note, request.scope, began))

    def _note(self, scope: Scope, began: float, status: int, error: Exception | None) -> None:
        end = CallEnd("export", monotonic() - began, error=type(error).__name__ if error else None)
        note_call(self._limits.observed, end, scope=scope, method=scope["method"], status=status)

"""Who asks: each request gets the memory that it may use."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Receive, Scope, Send

if TYPE_CHECKING:
    from perdure.memory import Memory


class Access:
    """Sets ``request.state.memory``, the memory on which a request's verbs run."""

    def __init__(self, app: ASGIApp, opened: Callable[[], Memory]) -> None:
        self._app, self._opened = app, opened

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its memory."""
        if scope["type"] == "http":
            scope.setdefault("state", {})["memory"] = self._opened()
        await self._app(scope, receive, send)

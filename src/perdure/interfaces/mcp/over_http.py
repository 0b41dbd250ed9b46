"""MCP over HTTP without tokens: for programs of this machine, and for no store that has tokens."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from anyio.to_thread import run_sync
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Receive, Scope, Send

from perdure.interfaces.http.access import Keyring
from perdure.interfaces.http.problems import RequestRefused, problem_of
from perdure.records.errors import InvalidInput, PerdureError

if TYPE_CHECKING:
    from perdure.interfaces.mcp.server import MemoryServer
    from perdure.memory import Memory

_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
_USE_SERVICE: Final = "Run `perdure serve`: it answers MCP at /mcp, and asks each caller for a token."
_HAS_TOKENS: Final = "The store has tokens, and this server cannot ask for them."


class TokensNotAsked:
    """Refuses all requests as soon as the store has tokens: nobody gets by this way what a token would not allow."""

    def __init__(self, app: ASGIApp, get_memory: Callable[[], Memory]) -> None:
        self._app, self._keyring = app, Keyring(get_memory)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http":
            try:
                if await run_sync(self._keyring.token_needed):
                    raise RequestRefused(401, _HAS_TOKENS, remedy=_USE_SERVICE, headers={"www-authenticate": "Bearer"})
            except PerdureError as error:
                await problem_of(error)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def serve_http(
    server: MemoryServer, get_memory: Callable[[], Memory], host: str, port: int, allowed_hosts: Sequence[str]
) -> None:
    """Answer at a port of this machine, 0 for a free one, until the process is ended."""
    if host not in _LOOPBACK:
        raise InvalidInput(f"Without tokens MCP listens on this machine only, not on {host}.", remedy=_USE_SERVICE)
    if get_memory().has_tokens:
        raise InvalidInput(_HAS_TOKENS, remedy=_USE_SERVICE)
    server.add_layer(TokensNotAsked, get_memory=get_memory)
    port = port or _free_port(host)
    _announce(host, port)
    server.run("streamable-http", host=host, port=port, transport_security=_security(host, port, allowed_hosts))


def _free_port(host: str) -> int:
    """Return a free port, so that it can be printed before the library listens."""
    with socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET) as free:
        return int(free.getsockname()[1])


def _security(host: str, port: int, allowed_hosts: Sequence[str]) -> TransportSecuritySettings:
    """Return checks against DNS rebinding, also for the hosts of a proxy."""
    names = [*_LOOPBACK[:2], "[::1]"]
    hosts = [f"{name}:*" for name in names] + [f"{host}:{port}", *allowed_hosts]
    origins = [f"http://{name}:*" for name in names] + [f"http://{h}" for h in (f"{host}:{port}", *allowed_hosts)]
    return TransportSecuritySettings(enable_dns_rebinding_protection=True, allowed_hosts=hosts, allowed_origins=origins)


def _announce(host: str, port: int) -> None:
    shown = f"[{host}]" if ":" in host else host
    print(f"Perdure MCP server: http://{shown}:{port}/mcp", file=sys.stderr)
    print("Every program on this machine can read and change the memory.", file=sys.stderr)

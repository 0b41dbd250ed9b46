"""``perdure serve``: the service on a socket, until SIGTERM or Ctrl-C."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

import uvicorn
from starlette.applications import Starlette

from perdure.interfaces.files.project import policy_to_find
from perdure.interfaces.hooks.background import Background
from perdure.interfaces.http.app import build_app
from perdure.interfaces.http.settings import Settings, accepted_hosts
from perdure.records.errors import InvalidInput, StoreError

if TYPE_CHECKING:
    from perdure.memory import Memory
    from perdure.records.policy import Policy

LOOPBACK: Final = frozenset(("127.0.0.1", "localhost", "::1"))
_BACKLOG: Final = 2048


def serve(
    store: str | os.PathLike[str],
    policy: str | os.PathLike[str] | Mapping[str, Any] | Policy | None = None,
    host: str = "127.0.0.1",
    port: int = 8766,
    *,
    namespace: str = "default",
    tools: Literal["agent", "lifecycle", "full"] = "agent",
    allowed_hosts: Sequence[str] = (),
    opener: Callable[..., Memory] | None = None,
) -> None:
    """Serve a store over HTTP until SIGTERM or Ctrl-C; then finish what runs and close the store.

    Args:
        store: The store's file, made on first use, or a server's URL.
        policy: As in ``perdure.open``.
        host: The address to listen on; without tokens only this machine's own.
        port: The port to listen on; 0 for a free one.
        namespace: The namespace of calls that name none.
        tools: The profile of MCP tools: ``agent``, ``lifecycle`` or ``full``.
        allowed_hosts: Further Host headers to accept, for example ``memory.example.org``.
        opener: Opens the store; ``perdure.open`` if None.

    Raises:
        InvalidInput: The address is a network's, and there are no tokens.
        StoreError: The store cannot be opened, or the port is taken.
    """
    from perdure.compose import open as open_memory  # noqa: PLC0415  # numpy and SQLite load here

    listening = _listen(host, port)
    port = listening.getsockname()[1]
    with (
        listening,
        (opener or open_memory)(store, policy_to_find(policy) if isinstance(policy, str) else policy) as memory,
    ):
        guarded = _check_address(memory, host)
        settings = Settings(accepted_hosts(host, port, tuple(allowed_hosts)), namespace, tools)
        _announce(host, port, guarded=guarded)
        _run(memory, build_app(lambda: memory, settings), listening)


def _check_address(memory: Memory, host: str) -> bool:
    """Return whether there are tokens; without them only this machine may be listened on."""
    guarded = memory.has_tokens
    if not guarded and host not in LOOPBACK:
        raise InvalidInput(
            f"Without tokens the service listens on this machine only, not on {host}.",
            remedy="Make a token first: `perdure token create --role admin --actor NAME`.",
        )
    return guarded


def _run(memory: Memory, app: Starlette, listening: socket.socket) -> None:
    """Answer until a signal; maintenance runs beside it, if the policy wants it."""
    server = uvicorn.Server(_config(app))
    background = Background()
    background.start(memory)
    for number in (signal.SIGTERM, signal.SIGINT):  # the library ends in order at them, then raises them again
        signal.signal(number, lambda *_: None)
    try:
        server.run(sockets=[listening])
    finally:
        background.stop()


def _config(app: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=30,
        ws="none",
        lifespan="on",
    )


def _listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; it is taken before the store is opened, so that a taken port is told at once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise StoreError(
            f"The service cannot listen on {host}, port {port} ({error.strerror}).", remedy="Choose another --port."
        ) from error


def _announce(host: str, port: int, *, guarded: bool) -> None:
    shown = f"[{host}]" if ":" in host else host
    print(f"Perdure serves http://{shown}:{port}/, until Ctrl-C.", file=sys.stderr)
    if not guarded:
        print("There are no tokens: every program on this machine can read and change the memory.", file=sys.stderr)
    elif host not in LOOPBACK:
        print("Tokens travel as they are: put a proxy with TLS in front of it.", file=sys.stderr)
    sys.stderr.flush()

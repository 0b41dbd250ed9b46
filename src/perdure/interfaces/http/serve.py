"""``perdure serve``: the service on a socket, until SIGTERM or Ctrl-C."""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from ipaddress import ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import uvicorn

from perdure.interfaces.files.project import policy_to_find
from perdure.interfaces.hooks.answering import HookAnswering
from perdure.interfaces.http.app import build_app
from perdure.interfaces.http.call_log import log_to
from perdure.interfaces.http.connection import BoundedConnection
from perdure.interfaces.http.maintaining import maintenance_of
from perdure.interfaces.http.settings import Settings, accepted_hosts, memory_files
from perdure.records.errors import InvalidInput, StoreError

if TYPE_CHECKING:
    from perdure.interfaces.hooks.background import Background
    from perdure.interfaces.http.maintaining import MaintenanceProcess
    from perdure.memory import Memory
    from perdure.records.policy import Policy

LOOPBACK_ADDRESSES: Final = ("127.0.0.1", "::1")
LOOPBACK: Final = frozenset(("localhost", *LOOPBACK_ADDRESSES))
_BACKLOG: Final = 2048


def serve(
    store: str | os.PathLike[str],
    policy: str | os.PathLike[str] | Mapping[str, Any] | Policy | None = None,
    host: str = "127.0.0.1",
    port: int = 8766,
    *,
    allowed_hosts: Sequence[str] = (),
    proxies: Sequence[str] = (),
    log: bool = False,
    maintenance: bool = True,
    memory_file: Sequence[str] = (),
    **settings: Any,
) -> None:
    """Serve a store over HTTP until SIGTERM or Ctrl-C; then finish what runs and close the store.

    Args:
        store: The store's file, made on first use, or a server's URL.
        policy: As in ``perdure.open``.
        host: The address to listen on; without tokens only this machine's own.
        port: The port to listen on; 0 for a free one.
        allowed_hosts: Further Host headers to accept, for example ``memory.example.org``.
        proxies: Addresses or networks of proxies whose X-Forwarded headers are believed, besides this machine.
        log: Write a line of JSON for each call to standard error.
        maintenance: Run maintenance in a process beside the service, if the policy wants it.
        memory_file: ``NAMESPACE=PATH`` of files that agents read, to be shown on the page.
        settings: Attributes of ``Settings``.

    Raises:
        InvalidInput: The address is a network's, and there are no tokens; a proxy's address is none, or a file's.
        StoreError: The store cannot be opened, or the port is taken.
    """
    from perdure.compose import open as open_memory  # noqa: PLC0415  # numpy and SQLite load here

    believed, files = _addresses(proxies), memory_files(memory_file)
    listening = _listen(host, port)
    port = listening.getsockname()[1]
    policy = policy_to_find(policy) if isinstance(policy, str) else policy
    hosts = accepted_hosts(host, port, tuple(allowed_hosts))
    with listening, open_memory(store, policy) as memory:
        guarded = _check_address(memory, host)
        if log:
            log_to(sys.stderr)
        _announce(host, port, guarded=guarded)
        app = build_app(lambda: memory, Settings(hosts, file=_file_of(store), memory_files=files, **settings))
        beside = [maintenance_of(store, policy, log=log)] if maintenance else []
        _run(memory, _config(app, believed), listening, HookAnswering(store, policy), beside)


def _file_of(store: str | os.PathLike[str]) -> Path | None:
    return None if "://" in str(store) else Path(store)


def _check_address(memory: Memory, host: str) -> bool:
    """Return whether there are tokens; without them only this machine may be listened on."""
    guarded = memory.has_tokens
    if not guarded and host not in LOOPBACK:
        raise InvalidInput(
            f"Without tokens the service listens on this machine only, not on {host}.",
            remedy="Make a token first: `perdure token create --role admin --actor NAME`.",
        )
    return guarded


def _run(
    memory: Memory,
    config: uvicorn.Config,
    listening: socket.socket,
    answering: HookAnswering,
    background: Sequence[Background | MaintenanceProcess],
) -> None:
    """Answer until a signal; maintenance runs beside it, if the policy wants it, and hooks are answered."""
    _allow_connections()
    server = uvicorn.Server(config)
    for beside in background:
        beside.start(memory)
    answering.start()
    for number in (signal.SIGTERM, signal.SIGINT):  # the library ends in order at them, then raises them again
        signal.signal(number, lambda *_: None)
    gc.freeze()  # what is loaded stays: looking through it again now and then would stop all calls for 20 to 50 ms
    try:
        server.run(sockets=[listening])
    finally:
        answering.stop()
        for beside in background:
            beside.stop()


def _allow_connections() -> None:
    """Raise the limit of open files to what the system allows: each client, also a slow one, takes one."""
    with suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415  # not on Windows

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _addresses(proxies: Sequence[str]) -> list[str]:
    """Return the proxies that are believed: those of this machine, and the given ones, which are checked."""
    try:
        return [*LOOPBACK_ADDRESSES, *(str(ip_network(one, strict=False)) for one in proxies)]
    except ValueError as error:
        raise InvalidInput(f"A proxy has no such address: {error}.", remedy="Pass an address or a network.") from error


def _config(app: Any, proxies: Sequence[str] = LOOPBACK_ADDRESSES) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        proxy_headers=True,  # who asks and over what, as a proxy says that is known; others are not believed
        forwarded_allow_ips=list(proxies),
        server_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=30,
        http=BoundedConnection,
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

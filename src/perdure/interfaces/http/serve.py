"""``perdure serve``: the service on a socket, until SIGTERM or Ctrl-C."""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import uvicorn

from perdure.interfaces.hooks.answering import HookAnswering
from perdure.interfaces.http.app import build_app
from perdure.interfaces.http.call_log import log_to, tell_operator
from perdure.interfaces.http.connection import BoundedConnection
from perdure.interfaces.http.maintaining import maintenance_of
from perdure.interfaces.http.settings import LOOPBACK as LOOPBACK_NAMES
from perdure.interfaces.http.settings import Settings, accepted_hosts, checked_root_path, memory_files
from perdure.interfaces.http.shared import Shared
from perdure.records.errors import InvalidInput, StoreError
from perdure.user_folders import expand_user

if TYPE_CHECKING:
    from perdure.interfaces.hooks.background import BackgroundMaintenance
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
    workers: int = 1,
    **settings: Any,
) -> None:
    """Serve a store over HTTP until SIGTERM or Ctrl-C; then finish what runs and close the store.

    Args:
        store: The store's file, made on first use, or a server's URL.
        policy: As in ``perdure.open``. A relative path is one of this process's folder.
        host: The address to listen on; without tokens only this machine's own.
        port: The port to listen on; 0 for a free one.
        allowed_hosts: Further Host headers to accept, for example ``memory.example.org``.
        proxies: Addresses or networks of proxies whose X-Forwarded headers are believed, besides this machine.
        log: Write a line of JSON for each call and each refused request to standard error.
        maintenance: Run maintenance in a process beside the service, if the policy wants it.
        workers: How many processes answer; not on Windows, nor with a store in memory.
        settings: Attributes of ``Settings``; and ``memory_file``, for its ``memory_files``: ``NAMESPACE=PATH`` of each.

    Raises:
        InvalidInput: The address is a network's, and there are no tokens; a value or several workers are refused.
        WebhookError: Alerts are to be sent, and the secret that signs them is not set.
        StoreError: The store cannot be opened, or the port is taken.
    """
    trusted = _proxy_addresses(proxies)
    settings["root_path"] = checked_root_path(settings.get("root_path", ""))
    memory_files(settings.get("memory_file", ()))  # refused before anything starts
    if workers > 1:
        _check_several_workers(store, policy)
    listener = _listen(host, port)
    port = listener.getsockname()[1]
    hosts = sorted(accepted_hosts(host, port, tuple(allowed_hosts)))
    options = ServeOptions(os.fspath(store), _policy_data(policy), host, hosts, trusted, settings, log, maintenance)
    announce = partial(_announce, host, port)
    if log:
        log_to(sys.stderr)
    with listener:
        if workers == 1:
            answer_calls(options, listener, announce)
        else:
            _supervise(options, listener, announce, workers)


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """The options of a process of the service; see ``serve``."""

    store: str
    policy: Any
    host: str
    hosts: Sequence[str]  # Host headers that are accepted
    proxies: Sequence[str]
    settings: Mapping[str, Any]
    log: bool
    maintenance: bool

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON holds it, where the policy can be held."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


def _supervise(options: ServeOptions, listener: socket.socket, announce: Callable[[bool], None], workers: int) -> None:
    from perdure.interfaces.http.supervisor import Supervisor  # noqa: PLC0415  # start-up time

    shared = Shared(options.settings.get("rate", 0.0))
    Supervisor(listener, workers, options.to_dict(), shared, announce).run()


def answer_calls(
    options: ServeOptions,
    listener: socket.socket,
    announce: Callable[[bool], None],
    shared: Shared | None = None,
    *,
    is_first: bool = True,
) -> None:
    """Answer at a socket until SIGTERM or Ctrl-C, and close the store.

    ``announce`` is called before the first answer, with whether there are tokens. The first process runs what a service
    runs once: maintenance, and answers to hooks. ``shared`` is None where it is the only one.
    """
    from perdure.compose import check_alert_secret  # noqa: PLC0415  # as below
    from perdure.compose import open as open_memory  # noqa: PLC0415  # numpy and SQLite load here

    with open_memory(options.store, options.policy) as memory:
        maintains = is_first and options.maintenance
        if maintains and memory.policy.upkeep.background:
            check_alert_secret(memory.policy.alerts)
        announce(_check_address(memory, options))
        values = dict(options.settings)
        files = memory_files(values.pop("memory_file", ()))
        settings = Settings(frozenset(options.hosts), file=_file_of(options.store), memory_files=files, **values)
        app = build_app(lambda: memory, settings, shared)
        background = [maintenance_of(options.store, options.policy, log=options.log)] if maintains else []
        hooks = HookAnswering(options.store, options.policy) if is_first else None
        _run(memory, _config(app, options.proxies, settings.root_path), listener, hooks, background)


def _check_several_workers(store: str | os.PathLike[str], policy: object) -> None:
    if sys.platform == "win32":
        raise InvalidInput("On Windows the service runs in one process.", remedy="Leave out --workers.")
    if ":memory:" in os.fspath(store):
        raise InvalidInput("Several workers cannot share a store in memory.", remedy="Give a file, or a server's URL.")
    try:
        json.dumps(_policy_data(policy))
    except TypeError:
        message = "Several workers cannot share a policy that is a Python object."
        raise InvalidInput(message, remedy="Pass the policy's file or its keys.") from None


def _policy_data(policy: Any) -> Any:
    """Return a policy as other processes take it: a file is this folder's, wherever they work."""
    return str(expand_user(os.fspath(policy)).absolute()) if isinstance(policy, str | os.PathLike) else policy


def _file_of(store: str) -> Path | None:
    return None if "://" in store else Path(store)


def _check_address(memory: Memory, options: ServeOptions) -> bool:
    """Return whether there are tokens; without them it is for this machine only.

    A proxy on this machine reaches a service that listens on it alone, and hands it what comes from elsewhere. Tokens
    are not copied or restored with a store, so a service that moves to another one may find itself without any.
    """
    if memory.has_tokens:
        return True
    names = sorted(name for name in options.hosts if name.rpartition(":")[0] not in LOOPBACK_NAMES)
    names += [proxy for proxy in options.proxies if proxy not in LOOPBACK_ADDRESSES]
    remedy = "Make a token first: `perdure token create --role admin --namespace '*' --actor NAME`."
    if options.host not in LOOPBACK:
        message = f"Without tokens the service listens on this machine only, not on {options.host}."
        raise InvalidInput(message, remedy=remedy)
    if names:
        message = f"Without tokens the service answers this machine only, not what reaches it as {', '.join(names)}."
        raise InvalidInput(message, remedy=f"{remedy} A copied or restored store has no tokens.")
    return False


def _run(
    memory: Memory,
    config: uvicorn.Config,
    listener: socket.socket,
    hooks: HookAnswering | None,
    background: Sequence[BackgroundMaintenance | MaintenanceProcess],
) -> None:
    """Answer until a signal; maintenance runs beside it, if the policy wants it, and hooks are answered."""
    _allow_connections()
    server = uvicorn.Server(config)
    for task in background:
        task.start(memory)
    if hooks is not None:
        hooks.start()

    def stop(*_: object) -> None:
        server.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):  # the library ends in order at them, then raises them again
        signal.signal(number, stop)
    gc.freeze()  # what is loaded stays: looking through it again now and then would stop all calls for 20 to 50 ms
    try:
        server.run(sockets=[listener])
    finally:
        if hooks is not None:
            hooks.stop()
        for task in background:
            task.stop()


def _allow_connections() -> None:
    """Raise the limit of open files to what the system allows: each client, also a slow one, takes one."""
    with suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415  # not on Windows

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _proxy_addresses(proxies: Sequence[str]) -> list[str]:
    """Return the proxies that are believed: those of this machine, and the given ones, which are checked."""
    try:
        return [*LOOPBACK_ADDRESSES, *(str(ip_network(one, strict=False)) for one in proxies)]
    except ValueError as error:
        raise InvalidInput(
            f"This is no address of a proxy: {error}.",
            remedy="Pass an IP address or a network, for example 10.0.0.0/8.",
        ) from error


def _config(app: Any, proxies: Sequence[str] = LOOPBACK_ADDRESSES, root_path: str = "") -> uvicorn.Config:
    return uvicorn.Config(
        app,
        root_path=root_path,
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
    """Return a listening socket; it is taken before the store is opened, so that a taken port is reported at once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise StoreError(
            f"The service cannot listen on {host}, port {port} ({error.strerror}).", remedy="Choose another --port."
        ) from error


def _announce(host: str, port: int, has_tokens: bool) -> None:
    shown = f"[{host}]" if ":" in host else host
    tell_operator(f"Perdure serves http://{shown}:{port}/ until Ctrl-C.")  # a terminal links it as it is
    if not has_tokens:
        tell_operator("There are no tokens: every program on this machine can read and change the memory.")
    elif host not in LOOPBACK:
        tell_operator("Tokens travel as they are: put a proxy with TLS in front of it.")

"""The MCP doorway: memory tools for an agent, over stdio or streamable HTTP.

Start it with ``perdure mcp``, or with ``python -m perdure.interfaces.mcp --store agent.db``. This file imports
nothing heavy, so that a client sees its tools at once: the MCP library loads in ``build``, and numpy, SQLite and the
embedder at the first call that needs the store.

Over HTTP it asks for no token, so it listens on this machine only, refuses requests whose Host or Origin header names
another one, and serves no store that has tokens: ``perdure serve`` does, at ``/mcp``.
"""

from __future__ import annotations

import argparse
import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from perdure.interfaces import blas_threads
from perdure.interfaces.files.project import policy_to_find, resolve_namespace
from perdure.interfaces.hooks.answering import HookAnswering
from perdure.interfaces.hooks.background import BackgroundMaintenance
from perdure.interfaces.hooks.running_server import made_default_store
from perdure.records.access import Grant
from perdure.records.errors import PerdureError, StoreError
from perdure.rules.escaping import terminal_error

if TYPE_CHECKING:  # their imports take most of the start time, or load numpy
    from perdure.interfaces.mcp.server import MemoryServer
    from perdure.memory import Memory
    from perdure.records.policy import Policy
    from perdure.verbs.declaration import Verb

    Observe = Callable[[Verb, Mapping[str, Any]], AbstractContextManager[Callable[[Any], None]]]
    """Is entered around each call of a tool with the verb and what was given; is told what the verb returned."""

Profile = Literal["agent", "lifecycle", "full"]
Transport = Literal["stdio", "http"]

_LAST_WORDS_SECONDS: Final = 5.0
_LATEST_SECONDS: Final = 5.0  # after which hooks are answered, also where no client has asked for the tools
_PAUSE_SECONDS: Final = 0.1  # for the answer to the client to leave


class LazyStore:
    """Opens the store at the first call that needs it: once, whichever thread asks first.

    A store that cannot be opened is tried again at the next call, so that a mended policy or path needs no restart.
    ``background`` begins once the store is open, ``answering`` then or with ``begin_answering``; they end before it is
    closed. ``notice`` returns what the user should know of how it was opened, "" for nothing. ``grant`` confines what
    tools do, not the upkeep.
    """

    def __init__(
        self,
        opener: Callable[[], Memory],
        background: BackgroundMaintenance | None = None,
        notice: Callable[[], str] = str,
        answering: HookAnswering | None = None,
        grant: Grant | None = None,
    ) -> None:
        self._opener = opener
        self._grant = grant
        self._background = background
        self._answering = answering
        self._notice: Callable[[], str] | None = notice
        self._lock = threading.Lock()
        self._memory: Memory | None = None
        self._offered: Memory
        self._closed = False
        self._has_told = threading.Event()  # what a client asks for when it starts
        self._preparing: threading.Thread | None = None

    def __call__(self) -> Memory:
        """Return the open memory, as tools may use it."""
        with self._lock:
            if self._closed:
                raise StoreError("The server is shutting down.", remedy="Start it again.")
            if self._memory is None:
                self._memory = self._opener()
                if self._background is not None:
                    self._background.start(self._memory)
                if self._answering is not None:
                    self._answering.start()
                self._offered = self._memory if self._grant is None else self._memory.confine(self._grant)
            return self._offered

    def begin_answering(self) -> None:
        """Have hooks of the store answered soon, before a tool is called; returns at once.

        A session begins with a hook, and what answers it takes longer to load than to run. It begins a moment after
        ``tools_told``, so that the client does not wait for it; without that call a few seconds later.
        """
        if self._answering is not None:
            self._preparing = threading.Thread(target=self._prepare, name="perdure-prepare", daemon=True)
            self._preparing.start()

    def tools_told(self) -> None:
        """Note that the client has what it starts with."""
        self._has_told.set()

    def _prepare(self) -> None:
        self._has_told.wait(_LATEST_SECONDS)
        time.sleep(_PAUSE_SECONDS)
        with self._lock:
            if self._closed or self._answering is None:
                return
            self._answering.start()
        if self._answering.is_answering:
            self._answering.load()

    def take_notice(self) -> str:
        """Return what the user should know, once, after the store was opened; else ""."""
        with self._lock:
            if self._memory is None or self._notice is None:
                return ""
            notice, self._notice = self._notice, None
        return notice()

    def namespace(self, usual: str) -> str:
        """Return the namespace of a call that names none; ``usual`` is the server's."""
        return self().usual_namespace(usual)

    def describe_error(self, error: PerdureError) -> dict[str, str]:
        """Return an error as plain data for who called: whole, since it is the user's own machine."""
        return error.to_dict()

    def close(self) -> None:
        """End its upkeep and close the store if it was opened: accesses that wait are written. Twice is harmless."""
        for helper in (self._answering, self._background):
            if helper is not None:
                helper.stop()
        with self._lock:
            self._closed = True
            self._has_told.set()
            memory, self._memory = self._memory, None
            if memory is not None:
                memory.close()


def build(
    memory_opener: Callable[[], Memory],
    *,
    profile: Profile = "agent",
    namespace: str = "default",
    seconds: float | None = None,
    observe: Observe | None = None,
    zone: tzinfo | None = None,
) -> MemoryServer:
    """Return an MCP server over a memory that is opened at the first call that needs it.

    ``memory_opener`` is called once, in a worker thread; the caller closes what it opens. ``observe`` is entered around
    each call of a tool, which may take ``seconds``; None for what the policy says. ``zone`` is where days are that are
    given without a time; None for where this machine is.
    """
    with _without_collections():
        from perdure.interfaces.mcp.server import MemoryServer  # noqa: PLC0415  # the MCP library loads here

        lazy_memory = memory_opener if isinstance(memory_opener, LazyStore) else LazyStore(memory_opener)
        observe = observe or _no_observer
        return MemoryServer(
            lazy_memory, profile=profile, namespace=namespace, seconds=seconds, observe=observe, zone=zone
        )


def _no_observer(_verb: Verb, _arguments: Mapping[str, Any]) -> AbstractContextManager[Callable[[Any], None]]:
    return nullcontext(lambda _: None)


def run(
    store: str | os.PathLike[str],
    policy: str | os.PathLike[str] | Mapping[str, Any] | Policy | None = None,
    transport: Transport = "stdio",
    host: str = "127.0.0.1",
    port: int = 8765,
    profile: Profile = "agent",
    *,
    namespace: str | None = None,
    allowed_hosts: Sequence[str] = (),
    seconds: float | None = None,
) -> None:
    """Serve a store until the client closes its end (stdio), or until SIGTERM or Ctrl-C; then close the store.

    Args:
        store: The store's file, made on first use.
        policy: As in ``perdure.open``.
        transport: ``stdio``, or ``http`` for streamable HTTP at ``/mcp``.
        host: The address to listen on, one of this machine's own.
        port: The port to listen on; 0 for a free one.
        profile: ``agent``, ``lifecycle`` or ``full``.
        namespace: Where tools act: there only; None for ``default``, and wherever a call says.
        allowed_hosts: Further Host headers to accept over HTTP, for example ``memory.lan:8765``.
        seconds: How long a call may take; None for what the policy says.

    Raises:
        InvalidInput: Over HTTP: the address is a network's, or the store has tokens.
    """
    policy = policy_to_find(policy) if isinstance(policy, str) else policy
    notice = _policy_notice if policy is None else str
    grant = None if namespace is None else Grant.of_namespace(namespace)
    lazy_memory = LazyStore(
        lambda: _open(store, policy), BackgroundMaintenance(), notice, HookAnswering(store, policy), grant
    )
    zone = None if transport == "stdio" else UTC  # over stdio the client is on this machine
    server = build(lazy_memory, profile=profile, namespace=namespace or "default", seconds=seconds, zone=zone)
    _end_on_signals(lazy_memory)
    lazy_memory.begin_answering()
    try:
        if transport == "stdio":
            server.run("stdio")
        else:
            from perdure.interfaces.mcp.over_http import serve_http  # noqa: PLC0415  # only for http

            serve_http(server, lazy_memory, host, port, allowed_hosts)
    except* (BrokenPipeError, ConnectionResetError):
        pass  # the client went away; what was acknowledged is stored
    finally:
        lazy_memory.close()


def default_store() -> Path:
    """Return the store where none is named: ``PERDURE_STORE``, else a file in the user's data folder, which is made."""
    return Path(made_default_store())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the server from a command line; what ``mcp_config.snippet`` writes into a client's configuration."""
    parser = argparse.ArgumentParser(prog="perdure-mcp", description="Serve a Perdure memory over MCP.")
    parser.add_argument(
        "--store",
        default=None,
        help="the store's file, or postgresql://... (default: PERDURE_STORE, else a file in your data folder)",
    )
    parser.add_argument(
        "--policy",
        default=None,
        help="the policy, a TOML file (default: PERDURE_POLICY, ./perdure.toml, your configuration folder)",
    )
    parser.add_argument("--namespace", help="the namespace that tools act in, no other; . is the project's")
    parser.add_argument(
        "--profile",
        type=lambda name: "agent" if name == "core" else name,  # its earlier name, which clients' configurations have
        choices=("agent", "lifecycle", "full"),
        default="agent",
        help="agent: ten tools; lifecycle: also maintenance; full: all tools",
    )
    parser.add_argument("--transport", choices=("stdio", "http"), default="stdio")
    parser.add_argument(
        "--host", default="127.0.0.1", help="for http: the address to listen on, one of this machine's own"
    )
    parser.add_argument("--port", type=int, default=8765, help="for http: the port to listen on")
    parser.add_argument("--allowed-host", action="append", default=[], help="for http: another Host header to accept")
    args = parser.parse_args(arguments)
    blas_threads.take_one()
    try:
        run(
            args.store or default_store(),
            args.policy,
            args.transport,
            args.host,
            args.port,
            args.profile,
            namespace=resolve_namespace(args.namespace),
            allowed_hosts=args.allowed_host,
        )
    except PerdureError as error:
        print(terminal_error(error.message, error.remedy), file=sys.stderr)
        sys.exit(1)


def _open(store: str | os.PathLike[str], policy: str | os.PathLike[str] | Mapping[str, Any] | Policy | None) -> Memory:
    from perdure.compose import open as open_memory  # noqa: PLC0415  # numpy and SQLite load here

    return open_memory(store, policy)


def _policy_notice() -> str:
    from perdure.compose import folder_policy  # noqa: PLC0415  # loaded by now

    policy = folder_policy()
    return "" if policy is None else policy.notice


@contextmanager
def _without_collections() -> Iterator[None]:
    """Keep the garbage collector away while the library builds its many models: a sixth of the start time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
        gc.freeze()  # modules live as long as the process: later collections need not walk them
    finally:
        if was_on:
            gc.enable()


def _end_on_signals(lazy_memory: LazyStore) -> None:
    """On SIGTERM or Ctrl-C close the store and end.

    The process ends at once after that: a thread that waits for standard input cannot be cancelled, so an orderly
    return from the event loop would wait for the client. The closing runs in a thread of its own with a time limit,
    because the interrupted thread may hold an import lock that another one needs. What was acknowledged is durable
    either way.
    """

    def end(_signal: int, _frame: object) -> None:
        closing = threading.Thread(target=lazy_memory.close, daemon=True)
        closing.start()
        closing.join(_LAST_WORDS_SECONDS)
        sys.stderr.flush()
        os._exit(0)

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, end)
        signal.signal(signal.SIGINT, end)

"""A server's side of hooks: it answers those of its own store over a socket beside the store's file.

Only the user who runs the server can connect. The call is answered by the code that a hook runs when it works alone,
on a memory that is opened for it, so that the answer is the same.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import stat
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from perdure.interfaces.files.project import HERE, VARIABLE, project_folder, project_namespace
from perdure.interfaces.hooks import running_server
from perdure.records.errors import PerdureError

if TYPE_CHECKING:  # it loads numpy and SQLite
    from perdure.records.policy import Policy

RETRY_SECONDS: Final = 60.0  # how often a server looks whether the one that answers hooks has ended

_LONGEST_PATH: Final = 100  # bytes; the system takes 104 to 108
_LONGEST_CALL: Final = 8 * running_server.LONGEST_INPUT
_READ_SECONDS: Final = 2.0
_WAIT_SECONDS: Final = 30.0

_log = logging.getLogger(__name__)


class _WorkAloneError(Exception):
    """The hook has to work alone."""


class HookAnswering:
    """Answers hooks in a thread of its own, one after the other, until it is stopped.

    Where another server of the store answers already, it waits for that one's end. Nothing is answered for a store in
    memory or on a server, for a policy that was given as values, and where the system has no such sockets. ``policy``
    is the file that the server was started with; None where it was looked for.
    """

    def __init__(self, store: str | os.PathLike[str], policy: object) -> None:
        self._store = os.fspath(store)
        self._policy = os.fspath(policy) if isinstance(policy, str | os.PathLike) else None
        self._can_answer = policy is None or self._policy is not None
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin; returns at once. Twice is harmless."""
        path = running_server.socket_of(self._store)
        possible = hasattr(socket, "AF_UNIX") and "://" not in self._store and Path(self._store).is_file()
        if self._thread is None and self._can_answer and possible and len(os.fsencode(path)) <= _LONGEST_PATH:
            self._thread = threading.Thread(target=self._run, args=(path,), name="perdure-hooks", daemon=True)
            self._thread.start()

    @property
    def is_answering(self) -> bool:
        """Whether it has begun."""
        return self._thread is not None

    def load(self) -> None:
        """Load what an answer needs, by answering from an empty memory: the first hook waits for it otherwise."""
        from perdure.compose import open as open_memory  # noqa: PLC0415  # numpy and SQLite load here
        from perdure.interfaces.hooks import agent_hooks, failures  # noqa: F401, PLC0415  # start-up time

        with open_memory(":memory:", {}, embedder="none") as memory:
            memory.recall("anything")
            memory.digest()

    def stop(self) -> None:
        """End, and remove the socket. Twice is harmless."""
        self._stopped.set()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            with suppress(OSError), socket.socket(socket.AF_UNIX) as wake_up:
                wake_up.settimeout(1.0)
                wake_up.connect(running_server.socket_of(self._store))
            thread.join(3.0)

    def _run(self, path: str) -> None:
        while not self._stopped.is_set():
            listener = _bind(path)
            if listener is None:
                self._stopped.wait(RETRY_SECONDS)
                continue
            with listener:
                inode = os.lstat(path).st_ino
                try:
                    self._listen(listener)
                finally:
                    with suppress(OSError):
                        if os.lstat(path).st_ino == inode:  # not that of a server that came later
                            Path(path).unlink()

    def _listen(self, listener: socket.socket) -> None:
        listener.settimeout(_WAIT_SECONDS)
        while not self._stopped.is_set():
            try:
                peer, _ = listener.accept()
            except TimeoutError:
                continue
            except OSError:
                return
            with peer, suppress(OSError):
                self._answer(peer)

    def _answer(self, peer: socket.socket) -> None:
        """Answer one call; a hook that has to work alone gets nothing."""
        peer.settimeout(_READ_SECONDS)
        if self._stopped.is_set() or not running_server.is_ours(peer):
            return
        pieces: list[bytes] = []
        while piece := peer.recv(1 << 20):
            pieces.append(piece)
            if sum(map(len, pieces)) > _LONGEST_CALL:
                return
        try:
            call = json.loads(b"".join(pieces))
            self._check(call)
            peer.sendall(running_server.TAKEN)  # fails where the hook has given up
            reply = self._reply_to(call)
        except (_WorkAloneError, ValueError, KeyError, TypeError):
            return
        peer.settimeout(_READ_SECONDS)
        peer.sendall(json.dumps(reply).encode())

    def _check(self, call: Mapping[str, Any]) -> None:
        """Refuse what a hook that works alone might do otherwise: another store, another policy."""
        is_same = (
            call["event"] in running_server.ANSWERED
            and call["store"] == running_server.store_identity(self._store)
            and call["policy"] == self._policy
            and call["environment"] == running_server.policy_environment()
            and running_server.policy_is_the_users(self._policy)
        )
        if not is_same:
            raise _WorkAloneError

    def _reply_to(self, call: Mapping[str, Any]) -> dict[str, object]:
        from perdure.compose import load_policy  # noqa: PLC0415  # numpy and SQLite load here
        from perdure.compose import open as open_memory  # noqa: PLC0415  # as above
        from perdure.interfaces.hooks.agent_hooks import answer_hook, bug_report, report_line  # noqa: PLC0415  # start-up time
        from perdure.interfaces.hooks.failures import failed_answer  # noqa: PLC0415  # as above

        try:
            policy = load_policy(self._policy)
            _check_models(policy)
            namespace, project = _namespace(call)
            answer = answer_hook(
                call["event"],
                call["text"],
                lambda _: open_memory(self._store, policy, embedder="none"),
                namespace,
                meaning=False,
                project=project,
            )
        except _WorkAloneError:
            raise
        except PerdureError as error:
            failure: Exception = error
            problem = str(error)
        except Exception as error:  # noqa: BLE001  # a defect of ours must not end the server
            _log.exception("A hook failed unexpectedly.")
            failure, problem = error, bug_report(error)
        else:
            return {"answer": answer, "reports": []}
        answer = failed_answer(call["event"], call["text"], failure, problem)
        return {"answer": answer, "reports": [report_line(problem)]}


def _check_models(policy: Policy) -> None:
    """Refuse models behind an address: their keys are in the hook's own environment."""
    if policy.model.base_url or policy.reranker.base_url:
        raise _WorkAloneError


def _namespace(call: Mapping[str, Any]) -> tuple[str, Path | None]:
    """Return the namespace as the hook itself would resolve it, in its folder and its environment.

    Also the project's folder, where the namespace is its own.
    """
    from perdure.interfaces.hooks.hook_input import parse_hook_input  # noqa: PLC0415  # start-up time

    hook_input = parse_hook_input(call["text"], call["event"])
    requested, own = call["namespace"], call["project"]
    paths = (hook_input.cwd, hook_input.transcript, Path(own) if own else None)
    if any(path is not None and not path.is_absolute() for path in paths):
        raise _WorkAloneError
    if requested is not None and requested != HERE:
        return str(requested), None
    folder = Path(call["folder"])
    project = {} if own is None else {VARIABLE: own}
    start = folder if requested == HERE else hook_input.cwd or folder
    return project_namespace(start, project), project_folder(start, project) if requested is None else None


def _bind(path: str) -> socket.socket | None:
    """Return a listening socket at a place that is free, or was left by a server that has ended; else None."""
    if _is_taken(path):
        return None
    listener = socket.socket(socket.AF_UNIX)
    try:
        Path(path).unlink(missing_ok=True)
        listener.bind(path)
        Path(path).chmod(0o600)  # before it listens: until then nobody can connect
        listener.listen(4)
    except OSError:
        listener.close()
        return None
    return listener


def _is_taken(path: str) -> bool:
    try:
        status = os.lstat(path)
    except OSError:
        return False
    if not stat.S_ISSOCK(status.st_mode) or status.st_uid != os.getuid():
        return True
    try:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(1.0)
            probe.connect(path)
    except ConnectionRefusedError:
        return False
    except OSError:
        return True
    return True

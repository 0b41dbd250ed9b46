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

from perdure.interfaces.files.project import HERE, VARIABLE, project_namespace
from perdure.interfaces.hooks import running_server
from perdure.interfaces.hooks.agent_hooks import answer_hook, report_line
from perdure.interfaces.hooks.hook_input import parse_hook_input
from perdure.records.errors import PerdureError

if TYPE_CHECKING:  # it loads numpy and SQLite
    from perdure.records.policy import Policy

RETRY_SECONDS: Final = 60.0
"""How often a server looks whether the one that answers hooks has ended."""

_LONGEST_PLACE: Final = 100  # bytes; the system takes 104 to 108
_LONGEST_CALL: Final = 8 * running_server.LONGEST_INPUT
_READ_SECONDS: Final = 2.0
_WAIT_SECONDS: Final = 30.0

_log = logging.getLogger(__name__)


class _WorkAloneError(Exception):
    """The hook has to work alone."""


class HookAnswering:
    """Answers hooks in a thread of its own, one after the other, until it is stopped.

    Where another server of the store answers already, it waits for that one's end. Nothing is answered for a store in
    memory or on a server, for a policy that was given as values, and where the system has no such sockets.

    Args:
        store: The store's file, or another address.
        policy: The policy's file as the server was told of it; None where it was looked for.
    """

    def __init__(self, store: str | os.PathLike[str], policy: object) -> None:
        self._store = os.fspath(store)
        self._policy = os.fspath(policy) if isinstance(policy, str | os.PathLike) else None
        self._able = policy is None or self._policy is not None
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin; returns at once. Twice is harmless."""
        place = running_server.socket_of(self._store)
        possible = hasattr(socket, "AF_UNIX") and "://" not in self._store and Path(self._store).is_file()
        if self._thread is None and self._able and possible and len(os.fsencode(place)) <= _LONGEST_PLACE:
            self._thread = threading.Thread(target=self._run, args=(place,), name="perdure-hooks", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End, and remove the socket. Twice is harmless."""
        self._stopped.set()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            with suppress(OSError), socket.socket(socket.AF_UNIX) as waking:
                waking.settimeout(1.0)
                waking.connect(running_server.socket_of(self._store))
            thread.join(3.0)

    def _run(self, place: str) -> None:
        while not self._stopped.is_set():
            listening = _bound(place)
            if listening is None:
                self._stopped.wait(RETRY_SECONDS)
                continue
            with listening:
                made = os.lstat(place).st_ino
                try:
                    self._listen(listening)
                finally:
                    with suppress(OSError):
                        if os.lstat(place).st_ino == made:  # not that of a server that came later
                            Path(place).unlink()

    def _listen(self, listening: socket.socket) -> None:
        listening.settimeout(_WAIT_SECONDS)
        while not self._stopped.is_set():
            try:
                peer, _ = listening.accept()
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
        read: list[bytes] = []
        while piece := peer.recv(1 << 20):
            read.append(piece)
            if sum(map(len, read)) > _LONGEST_CALL:
                return
        try:
            call = json.loads(b"".join(read))
            self._check(call)
            peer.sendall(running_server.TAKEN)  # fails where the hook has given up
            said = self._said(call)
        except (_WorkAloneError, ValueError, KeyError, TypeError):
            return
        peer.settimeout(_READ_SECONDS)
        peer.sendall(json.dumps(said).encode())

    def _check(self, call: Mapping[str, Any]) -> None:
        """Refuse what a hook that works alone might do otherwise: another store, another policy."""
        same = (
            call["event"] in running_server.ANSWERED
            and call["store"] == running_server.identity(self._store)
            and call["policy"] == self._policy
            and call["environment"] == running_server.environment()
            and running_server.policy_is_the_users(self._policy)
        )
        if not same:
            raise _WorkAloneError

    def _said(self, call: Mapping[str, Any]) -> dict[str, object]:
        """Do what the hook does, and return what it prints and reports."""
        from perdure.compose import load_policy  # noqa: PLC0415  # numpy and SQLite load here
        from perdure.compose import open as open_memory  # noqa: PLC0415  # as above

        try:
            policy = load_policy(self._policy)
            _check_models(policy)
            place = _namespace(call)
            answer = answer_hook(
                call["event"],
                call["text"],
                lambda _: open_memory(self._store, policy, embedder="none"),
                place,
                meaning=False,
            )
        except PerdureError as error:
            return {"answer": "", "reports": [report_line(str(error))]}
        except _WorkAloneError:
            raise
        except Exception as error:  # noqa: BLE001  # a defect of ours must not end the server
            _log.exception("A hook failed unexpectedly.")
            shown = f"{type(error).__name__}: {error} (a bug in Perdure; please report it)"
            return {"answer": "", "reports": [report_line(shown)]}
        return {"answer": answer, "reports": []}


def _check_models(policy: Policy) -> None:
    """Refuse models behind an address: their keys are in the hook's own environment."""
    if policy.model.base_url or policy.reranker.base_url:
        raise _WorkAloneError


def _namespace(call: Mapping[str, Any]) -> str:
    """Return the namespace as the hook itself would resolve it, in its folder and its environment."""
    given = parse_hook_input(call["text"], call["event"])
    if any(path is not None and not path.is_absolute() for path in (given.cwd, given.transcript)):
        raise _WorkAloneError
    named = call["namespace"]
    if named is not None and named != HERE:
        return str(named)
    folder = Path(call["folder"])
    project = {} if call["project"] is None else {VARIABLE: call["project"]}
    return project_namespace(folder if named == HERE else given.cwd or folder, project)


def _bound(place: str) -> socket.socket | None:
    """Return a listening socket at a place that is free, or was left by a server that has ended; else None."""
    if _is_taken(place):
        return None
    listening = socket.socket(socket.AF_UNIX)
    try:
        Path(place).unlink(missing_ok=True)
        listening.bind(place)
        Path(place).chmod(0o600)  # before it listens: until then nobody can connect
        listening.listen(4)
    except OSError:
        listening.close()
        return None
    return listening


def _is_taken(place: str) -> bool:
    """Return whether another server answers there, or something else has the name."""
    try:
        found = os.lstat(place)
    except OSError:
        return False
    if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.getuid():
        return True
    try:
        with socket.socket(socket.AF_UNIX) as asking:
            asking.settimeout(1.0)
            asking.connect(place)
    except ConnectionRefusedError:
        return False
    except OSError:
        return True
    return True

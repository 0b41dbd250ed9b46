"""Maintenance beside the service, in a process of its own: within the service's, calls wait for it by seconds."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from perdure.interfaces import blas_threads
from perdure.interfaces.hooks import background
from perdure.interfaces.http.call_log import log_to
from perdure.records.errors import PerdureError

if TYPE_CHECKING:
    from perdure.memory import Memory
    from perdure.records.policy import Policy

_log = logging.getLogger("perdure.upkeep")
_NICE: Final = 10  # calls go first where there is one processor


class MaintenanceProcess:
    """Keeps a process that runs a store's maintenance by its policy's schedule, until it is stopped.

    Args:
        settings: Those of the process, as JSON: address, policy, and whether it logs as JSON. An address may hold a
            password, so it is in no command line.
    """

    def __init__(self, settings: str) -> None:
        self._settings = settings
        self._lock, self._stopped = threading.Lock(), threading.Event()
        self._process: subprocess.Popen[str] | None = None
        self._thread = threading.Thread(target=self._keep_running, name="perdure-upkeep", daemon=True)

    def start(self, memory: Memory) -> None:
        """Begin, if the policy wants it; returns at once."""
        if memory.policy.upkeep.background:
            self._thread.start()

    def stop(self) -> None:
        """Have the process end, and wait a little for it; what it has written is complete in any case."""
        self._stopped.set()
        with self._lock:
            process = self._process
        if process is not None:
            _close_input(process)
            try:
                process.wait(2 * background.LAST_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
        if self._thread.is_alive():
            self._thread.join(background.LAST_SECONDS)

    def _keep_running(self) -> None:
        pause = background.FIRST_SECONDS
        while not self._stopped.wait(pause):
            pause = background.PAUSE_SECONDS
            with self._lock:
                if self._stopped.is_set():
                    return
                command = [sys.executable, "-P", "-m", __name__]
                self._process = subprocess.Popen(  # noqa: S603  # our own module
                    command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
                )
            with suppress(OSError):  # it has ended; another one comes after the pause
                _input(self._process).write(f"{self._settings}\n")
                _input(self._process).flush()
            self._process.wait()
            _close_input(self._process)


def _input(process: subprocess.Popen[str]) -> Any:
    return process.stdin


def _close_input(process: subprocess.Popen[str]) -> None:
    with suppress(OSError):  # what was not sent is lost with who should have read it
        _input(process).close()


def maintenance_of(
    store: str | os.PathLike[str], policy: str | os.PathLike[str] | Mapping[str, Any] | Policy | None, *, log: bool
) -> MaintenanceProcess | background.BackgroundMaintenance:
    """Return what maintains a store; a thread where another process cannot open it as this one did."""
    plain_policy = os.fspath(policy) if isinstance(policy, os.PathLike) else policy
    try:
        settings = json.dumps({"store": os.fspath(store), "policy": plain_policy, "log": log})
    except TypeError:  # a policy as an object
        return background.BackgroundMaintenance()
    return (
        background.BackgroundMaintenance()
        if ":memory:" in settings or not sys.executable
        else MaintenanceProcess(settings)
    )


def main() -> None:
    """Run maintenance until the standard input ends: the service closes it, or is gone."""
    blas_threads.take_one()
    with suppress(AttributeError):
        os.nice(_NICE)  # not on Windows
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches it too, and the service ends it in order
    warnings.simplefilter("ignore")  # the service has shown them
    settings = json.loads(sys.stdin.readline())
    if settings["log"]:
        log_to(sys.stderr)
    from perdure.compose import open as open_memory  # noqa: PLC0415  # numpy and SQLite load here

    worker = background.BackgroundMaintenance(first=0.0)
    try:
        with open_memory(settings["store"], settings["policy"]) as memory:
            worker.start(memory)
            sys.stdin.read()
            worker.stop()
    except PerdureError as error:
        _log.warning("Maintenance could not run: %s", error)


if __name__ == "__main__":
    main()

"""Maintenance in the background of a server: a thread that checks regularly whether something is due."""

from __future__ import annotations

import logging
import os
import socket
import threading
from typing import TYPE_CHECKING, Final

from perdure.records.errors import PerdureError, StoreReadOnly

if TYPE_CHECKING:  # numpy and SQLite load with the first call, not with the list of tools
    from perdure.memory import Memory

FIRST_SECONDS: Final = 30.0
"""A client's first calls come at once after the store is opened; maintenance waits until they are done."""

PAUSE_SECONDS: Final = 60.0
LAST_SECONDS: Final = 3.0
"""How long a run may take to finish its namespace when the server ends; what is written is complete in any case."""

_log = logging.getLogger(__name__)


class BackgroundMaintenance:
    """Runs a memory's maintenance by its policy's schedule, in a thread of its own.

    Seconds before the first look are ``first``, between looks ``pause``.
    """

    def __init__(self, *, first: float | None = None, pause: float | None = None) -> None:
        self._first = FIRST_SECONDS if first is None else first
        self._pause = PAUSE_SECONDS if pause is None else pause
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, memory: Memory) -> None:
        """Begin, if the policy wants it and it has not begun; returns at once."""
        if self._thread is None and memory.policy.upkeep.background:
            self._thread = threading.Thread(target=self._run, args=(memory,), name="perdure-upkeep", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Ask the thread to end and wait a little for it; twice is harmless."""
        self._stopped.set()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(LAST_SECONDS)

    def _run(self, memory: Memory) -> None:
        owner = f"{socket.gethostname()}-{os.getpid()}-mcp"
        known: dict[str, int] = {}
        pause = self._first
        while not self._stopped.wait(pause):
            pause = self._pause
            try:
                memory.upkeep(owner, stop=self._stopped.is_set, known=known)
            except StoreReadOnly:
                continue  # another process keeps it, or nobody may for now
            except PerdureError as error:
                if not self._stopped.is_set():
                    _log.warning("Maintenance could not run: %s", error)
            except Exception:  # noqa: BLE001  # whatever it is, the server must go on
                if not self._stopped.is_set():  # the store is being closed
                    _log.exception("Maintenance failed unexpectedly and will be retried.")

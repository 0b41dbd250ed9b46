"""Having Python's collector of cycles wait while many memories are decided about and written."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

_MANY: Final = 50
_lock = Lock()
_waiting = 0  # calls for which it waits
_was_on = False


@contextmanager
def collector_waits(rows: int) -> Iterator[None]:
    """Have the collector wait, in the whole process, while so many rows are decided about or written; not for few.

    They make a hundred objects each that live until they are written, in no cycles. The collector would look through
    them, and now and then through all objects of the process: 6 to 15 % of the time. What is in no cycle is freed as
    always. Only work of some tenths of a second is done so: no embedder or model is called, but for a single fact that
    was not foreseen, and no writer of the file is waited for. A process that has turned it off keeps it off.
    """
    global _waiting, _was_on  # noqa: PLW0603  # the collector is the process's
    if rows < _MANY:
        yield
        return
    with _lock:
        if _waiting == 0:
            _was_on = gc.isenabled()
            gc.disable()
        _waiting += 1
    try:
        yield
    finally:
        with _lock:
            _waiting -= 1
            if _waiting == 0 and _was_on:
                gc.enable()

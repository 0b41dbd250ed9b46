"""What a call has stored so far: whatever fails after that must not say that nothing was written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from perdure.records.errors import PerdureError

_WRITTEN: Final[ContextVar[list[str] | None]] = ContextVar("written", default=None)
_NOTHING: Final = re.compile(r"; nothing was (?:written|stored|changed)(?=\.)| ?\bNothing was written\.")


@contextmanager
def stored_told() -> Iterator[None]:
    """Have an error that leaves the outermost such block say which operations were stored before it."""
    if _WRITTEN.get() is not None:
        yield
        return
    written: list[str] = []
    token = _WRITTEN.set(written)
    try:
        yield
    except PerdureError as error:
        if written:
            _tell(error, written)
        raise
    finally:
        _WRITTEN.reset(token)


def note_operation(operation: str) -> None:
    """Note that an operation of the call is stored."""
    if (written := _WRITTEN.get()) is not None:
        written.append(operation)


def _tell(error: PerdureError, operations: list[str]) -> None:
    told = _NOTHING.sub("", error.message)
    if not getattr(error, "operations", ()):  # else it lists them itself
        told = f"{told} Stored before that: {', '.join(operations)}; the rest was not."
    error.message, error.args = told, (f"{told} {error.remedy}".strip(),)

"""How long a call may take, by the clock of the machine: set where the call begins, looked at wherever it waits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from math import inf
from time import monotonic
from typing import Final

from perdure.records.errors import DeadlineExceeded
from perdure.records.written import note_operation


@dataclass(slots=True)
class _Deadline:
    seconds: float  # what the call was given
    until: float  # by the monotonic clock
    waits: float = inf  # seconds that it may wait for another process that writes the store
    written: list[str] = field(default_factory=list)  # its operations that are stored


NOTHING_WRITTEN: Final = "Nothing was written."
_CURRENT: Final[ContextVar[_Deadline | None]] = ContextVar("deadline", default=None)


class within:  # noqa: N801  # a context manager, named as what it does
    """Let what is in the block take so many seconds; one around it that ends sooner holds on.

    Args:
        seconds: None or 0 for no limit but that around it.
        waits: Seconds after which it fails where another process writes the store; 0 to fail at once. One around it
            that waits for less holds on.
    """

    __slots__ = ("_seconds", "_token", "_waits")

    def __init__(self, seconds: float | None, *, waits: float = inf) -> None:
        self._seconds, self._waits = seconds, waits
        self._token: Token[_Deadline | None] | None = None

    def __enter__(self) -> None:
        """Set the deadline that ends first."""
        if self._seconds:
            outer, inner = _CURRENT.get(), _Deadline(self._seconds, monotonic() + self._seconds, self._waits)
            if outer is not None:
                inner.waits, inner.written = min(inner.waits, outer.waits), outer.written
                if outer.until <= inner.until:
                    inner.seconds, inner.until = outer.seconds, outer.until
            self._token = _CURRENT.set(inner)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Restore the deadline around it."""
        if self._token is not None:
            _CURRENT.reset(self._token)


class until_half:  # noqa: N801  # a context manager, named as what it does
    """Let what is in the block end when half of the call's time is over: the other half is for what must be done."""

    __slots__ = ("_token",)

    def __init__(self) -> None:
        self._token: Token[_Deadline | None] | None = None

    def __enter__(self) -> None:
        """Set the earlier deadline, if there is one to halve."""
        outer = _CURRENT.get()
        if outer is not None:
            half = outer.seconds / 2
            self._token = _CURRENT.set(_Deadline(half, outer.until - half, outer.waits, outer.written))

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Restore the deadline around it."""
        if self._token is not None:
            _CURRENT.reset(self._token)


_PATIENCE: Final[ContextVar[float]] = ContextVar("patience", default=inf)


@contextmanager
def wait_at_most(seconds: float) -> Iterator[None]:
    """Let what is in the block wait no longer than so many seconds for a server to come back that was lost."""
    token = _PATIENCE.set(min(seconds, _PATIENCE.get()))
    try:
        yield
    finally:
        _PATIENCE.reset(token)


def patience(usual: float) -> float:
    """Return how many seconds a server that was lost is waited for, where that is usually so long."""
    return min(usual, _PATIENCE.get())


class unlimited:  # noqa: N801  # a context manager, named as what it does
    """Let the block end whatever the call's deadline: what it cleans up would else be left."""

    __slots__ = ("_token",)

    def __enter__(self) -> None:
        """Begin."""
        self._token = _CURRENT.set(None)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """End."""
        _CURRENT.reset(self._token)


def is_over() -> bool:
    """Whether the call's time is over."""
    current = _CURRENT.get()
    return current is not None and monotonic() >= current.until


def may_wait(waited: float = 0.0) -> bool:
    """Whether a file that another process writes may be waited for any longer than so many seconds."""
    current = _CURRENT.get()
    return current is None or (waited < current.waits and monotonic() < current.until)


def longest_wait() -> float | None:
    """Return how many seconds another process that writes the store may be waited for; None for no limit."""
    current = _CURRENT.get()
    return None if current is None or current.waits == inf else current.waits


def seconds_left(
    most: float | None = None, *, least: float = 0.0, known: bool = True, because: str = ""
) -> float | None:
    """Return how long the next step may take: so many seconds, or fewer where the call ends before; None for no limit.

    Args:
        most: So many seconds.
        least: A step that would take longer than what is left is not begun with so little.
        known: For the error: whether what the steps before have written is known.
        because: For the error: what the call has waited for.

    Raises:
        DeadlineExceeded: Nothing is left, and the step was not begun.
    """
    current = _CURRENT.get()
    if current is None:
        return most
    remaining = current.until - monotonic()
    if remaining <= least:
        raise deadline_error(known=known, because=because)
    return remaining if most is None else min(remaining, most)


def note_written(operation: str) -> None:
    """Note that an operation of the call is stored, for what an error says later."""
    note_operation(operation)
    current = _CURRENT.get()
    if current is not None:
        current.written.append(operation)


def deadline_error(*, known: bool = True, because: str = "") -> DeadlineExceeded:
    """Return the error that ends a call whose time is over.

    Args:
        known: False where the last transaction may have been written: it was being committed.
        because: What it waited for, as a sentence.
    """
    current = _CURRENT.get()
    seconds, written = (0.0, ()) if current is None else (current.seconds, tuple(current.written))
    extent = f"Stored before that: {', '.join(written)}; the rest was not." if written else NOTHING_WRITTEN
    if not known:
        extent = f"Whether its last transaction was written is not known. {extent if written else ''}".strip()
    told = " ".join(filter(None, (f"The call took longer than {seconds:.3g} s and was ended.", because, extent)))
    return DeadlineExceeded(told, written)

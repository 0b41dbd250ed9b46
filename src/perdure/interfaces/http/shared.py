"""What must hold over all processes of a service: rates, repeated calls, tries to log in, tokens of sessions, counts.

A service of one process keeps it itself. Where there are several it is kept by their supervisor, which they ask
(link.py): whatever process answers, a limit is the same limit.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final, Literal, TypeVar

Counts = Mapping[tuple[str, ...], float]  # what a process has counted, as metrics.py names it
Begun = tuple[Literal["run", "known", "other", "forgotten", "running"], Any]
"""Whether a call with a key is to be run, has an answer, which follows, is another call than the key's first, or was
made and its answer forgotten."""
LIFE: Final = 12 * 3600  # seconds after a login until one must log in again
TRIES: Final = 10
TRIES_SECONDS: Final = 300  # so many wrong tokens of an address in so many seconds are told that they are wrong
_MOST_KNOWN: Final = 10_000  # callers, keys, addresses and sessions, each
_KEPT_SECONDS: Final = 24 * 3600.0
K = TypeVar("K")
V = TypeVar("V")


@dataclass(slots=True)
class _Repeat:
    """A call that was made with a key."""

    digest: str  # of what it was given
    at: float
    namespace: str  # that it named; "" where it named none, and may be about any
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)  # held while it runs
    answer: Any = None
    forgotten: bool = False  # whether it had an answer that may hold what was erased since


class Shared:
    """Keeps it in this process. All of it is asked from one event loop.

    Each caller may make ``rate`` calls a second, 0 for no limit. ``secret`` signs cookies of browsers; a random one if
    None.
    """

    def __init__(self, rate: float = 0.0, secret: bytes | None = None) -> None:
        self.secret = secret or secrets.token_bytes(32)
        self._rate, self._most = rate, 2 * rate
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._repeats: OrderedDict[str, _Repeat] = OrderedDict()
        self._run: dict[str, _Repeat] = {}  # those that run
        self._tries: OrderedDict[str, list[float]] = OrderedDict()  # address -> when wrong tokens came from it
        self._tokens: OrderedDict[str, tuple[float, str]] = OrderedDict()  # session -> (end, token)

    @asynccontextmanager
    async def running(self, get_counts: Callable[[], Counts]) -> AsyncIterator[None]:
        """Be there for the length of a block."""
        del get_counts
        yield

    async def take(self, caller: str) -> float:
        """Count a call; return 0, or after how many seconds the caller may make it: twice the rate in a burst."""
        now = monotonic()
        left, at = self._left.get(caller, (self._most, now))
        left = min(self._most, left + (now - at) * self._rate)
        if left < 1:
            return (1 - left) / self._rate
        _keep_newest(self._left, caller, (left - 1, now))
        return 0.0

    async def begin(self, key: str, digest: str, namespace: str, seconds: float) -> Begun:
        """Begin a call with a key; one that comes while another with its key runs waits some seconds for its end."""
        now, repeat = monotonic(), self._run.get(key) or self._repeats.get(key)
        if repeat is None or (now - repeat.at > _KEPT_SECONDS and not repeat.lock.locked()):
            repeat = _Repeat(digest, now, namespace)
            _keep_newest(self._repeats, key, repeat)
        if repeat.digest != digest:
            return "other", None
        try:
            async with asyncio.timeout(seconds):
                await repeat.lock.acquire()
        except TimeoutError:
            return "running", None
        if repeat.forgotten:
            repeat.lock.release()
            return "forgotten", None
        if repeat.answer is None:
            self._run[key] = repeat
            return "run", None
        repeat.lock.release()
        return "known", repeat.answer

    async def end(self, key: str, answer: Any) -> None:
        """End a call that ``begin`` had run, with its answer; None where it failed: it may be repeated."""
        repeat = self._run.pop(key)
        repeat.answer = answer
        repeat.lock.release()

    async def forget(self, namespace: str) -> None:
        """Forget the answers that may hold what was erased in a namespace; that their calls were made stays known."""
        for repeat in self._repeats.values():
            if repeat.answer is not None and repeat.namespace in ("", namespace):
                repeat.answer, repeat.forgotten = None, True

    async def note_failure(self, address: str) -> bool:
        """Count a wrong token of an address; return False where too many came from there lately."""
        now = monotonic()
        tries = [at for at in self._tries.get(address, ()) if at > now - TRIES_SECONDS]
        if may_try := len(tries) < TRIES:
            _keep_newest(self._tries, address, [*tries, now])
        return may_try

    async def keep_token(self, session: str, token: str) -> None:
        """Remember the token that a browser's session stands for, where the store cannot."""
        _keep_newest(self._tokens, session, (monotonic() + LIFE, token))

    async def token_of(self, session: str) -> str | None:
        """Return the token that a session stands for, if it is kept here."""
        end, token = self._tokens.get(session, (0.0, ""))
        return token if token and monotonic() < end else None

    async def drop_token(self, session: str) -> None:
        """End a session that is kept here."""
        self._tokens.pop(session, None)

    async def counts(self, own_counts: Counts) -> Counts:
        """Return what all processes have counted."""
        return {**own_counts, ("workers",): 1, ("worker_restarts",): 0}


def _keep_newest(cache: OrderedDict[K, V], key: K, value: V) -> None:
    cache[key] = value
    cache.move_to_end(key)
    while len(cache) > _MOST_KNOWN:
        cache.popitem(last=False)

"""Limits: how often a token may call, and repeats of a call; what all routes share."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Final

from perdure.interfaces.http.answers import Payload
from perdure.interfaces.http.lines import Streams
from perdure.interfaces.http.metrics import Observed
from perdure.interfaces.http.problems import RequestRefused
from perdure.interfaces.http.settings import Settings
from perdure.interfaces.http.workers import Workers
from perdure.records.errors import InvalidInput

if TYPE_CHECKING:
    from perdure.interfaces.http.tracing import Tracing

_MOST_KNOWN: Final = 10_000
_LISTS_AT_ONCE: Final = 16  # lists of lines that are sent at once; a short one counts as none
_LISTS_READ: Final = 2  # of them are read at once
_KEPT_SECONDS: Final = 24 * 3600.0
_LONGEST_KEY: Final = 255


class RateLimit:
    """Lets each caller make so many calls a second, and twice that in a burst.

    Args:
        rate: Calls a second; 0 for no limit.
    """

    def __init__(self, rate: float) -> None:
        self._rate, self._most = rate, 2 * rate
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def check(self, caller: str) -> None:
        """Count a call.

        Raises:
            RequestRefused: The caller has made too many.
        """
        if not self._rate or not caller:
            return
        now = monotonic()
        left, at = self._left.get(caller, (self._most, now))
        left = min(self._most, left + (now - at) * self._rate)
        if left < 1:
            wait = (1 - left) / self._rate
            raise RequestRefused(
                429,
                f"The token makes more than {self._rate:g} calls a second.",
                remedy="Wait, then go on more slowly.",
                headers={"retry-after": str(int(wait) + 1)},
            )
        self._left[caller] = (left - 1, now)
        self._left.move_to_end(caller)
        while len(self._left) > _MOST_KNOWN:
            self._left.popitem(last=False)


@dataclass(slots=True)
class _Repeat:
    """A call that was made with a key."""

    digest: str  # of what it was given
    at: float
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    answer: Payload | None = None


class Repeats:
    """Answers a call that is repeated with the same key from what the first one was answered, for a day.

    They are kept in this process: the key of ``remember`` is stored with the memory, and holds for good.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str, str], _Repeat] = OrderedDict()

    async def run(self, key: tuple[str, str, str], given: bytes, call: Callable[[], Awaitable[Payload]]) -> Payload:
        """Run a call, or return what the first one with its key returned; one that failed may be repeated.

        Args:
            key: (caller, verb, key).
            given: What the call was given: the same key must mean the same call.
            call: Runs it.

        Raises:
            InvalidInput: The key was used for another call.
        """
        if not 0 < len(key[2]) <= _LONGEST_KEY:
            raise InvalidInput("Idempotency-Key must have 1 to 255 characters.", remedy="Send for example a UUID.")
        digest, now = hashlib.sha256(given).hexdigest(), monotonic()
        known = self._known.get(key)
        if known is None or now - known.at > _KEPT_SECONDS:
            known = self._known[key] = _Repeat(digest, now)
            self._forget_old()
        if known.digest != digest:
            raise InvalidInput(
                "The Idempotency-Key was used for another call.", remedy="Use a new key for each new call."
            )
        async with known.lock:  # a repeat that comes while the first one runs waits for it
            if known.answer is None:
                known.answer = await call()
        return known.answer

    def _forget_old(self) -> None:
        while len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)


@dataclass(frozen=True, slots=True)
class CallLimits:
    """What all routes share: threads, rates, repeats, and what is counted."""

    settings: Settings
    workers: Workers
    rate: RateLimit
    repeats: Repeats
    observed: Observed
    lists: Streams
    tracing: Tracing | None = None

    @classmethod
    def of(cls, settings: Settings) -> CallLimits:
        """Return the limits that settings say."""
        workers = Workers(settings.threads, settings.waiting)
        lists = Streams("lists", _LISTS_AT_ONCE, _LISTS_READ)
        rate, observed = RateLimit(settings.rate), Observed(settings.file)
        return cls(settings, workers, rate, Repeats(), observed, lists, _tracing(settings))

    @contextmanager
    def watch(self, port: str, texts: int) -> Iterator[None]:
        """Count a call of the embedder or the language model, and make a span of it where traces are wanted."""
        with (
            self.workers.leave_turn(),
            self.observed.watch(port, texts),
            nullcontext() if self.tracing is None else self.tracing.watch(port, texts),
        ):
            yield


def _tracing(settings: Settings) -> Tracing | None:
    """Return what makes traces, where they are asked for; nothing of OpenTelemetry is loaded otherwise."""
    if settings.traces == "off":
        return None
    from perdure.interfaces.http.tracing import Tracing  # noqa: PLC0415  # only where it is used

    return Tracing(content=settings.traces == "content")

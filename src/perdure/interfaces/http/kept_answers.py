"""What a service keeps of texts, answers for repeats among it, goes once memories were erased: any process may."""

from __future__ import annotations

from asyncio import sleep
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from perdure.interfaces.http.answers import Payload
from perdure.interfaces.http.metrics import STORE_SECONDS
from perdure.interfaces.http.shared import Shared
from perdure.records.deadline import within
from perdure.records.errors import PerdureError
from perdure.records.instant import to_instant

if TYPE_CHECKING:
    from perdure.memory import Memory

Run = Callable[[Callable[[], Any]], Awaitable[Any]]
_LOOK_SECONDS: Final = 1.0
_CLOCKS_DIFFER_MS: Final = 3_600_000
"""By which the clocks of machines that erase may be behind: a server refuses those that differ more."""


def run_kept(timed: Callable[[], Any], namespace: str, run_verb: Callable[[], Payload]) -> Payload:
    """Run a call whose answer is kept, and note what had been erased before.

    Args:
        timed: Returns the caller's memory with what is left of the call's time.
        namespace: That the call names; "" for none.
        run_verb: Runs it.
    """
    memory = timed()
    since = _since(memory)
    erased = len(memory.erasures(since, namespace or None))
    return replace(run_verb(), erased=(since, erased))


def still_holds(timed: Callable[[], Any], namespace: str, kept: Payload) -> bool:
    """Whether nothing was erased since a call in the namespace that it named, or in any where it named none."""
    since, erased = kept.erased
    return bool(len(timed().erasures(since, namespace or None)) == erased)


async def follow_erasures(memory: Memory, shared: Shared, run: Run) -> None:
    """Drop what is kept of the texts of a namespace within a second after memories there were erased, until cancelled.

    Args:
        memory: Of the whole store.
        shared: Keeps answers.
        run: Runs work in a thread.
    """
    known: set[tuple[str, str]] | None = None
    while True:
        with suppress(PerdureError):  # the store is gone: what is kept is looked at when it is back
            with within(STORE_SECONDS):
                found = {*await run(lambda: memory.erasures(_since(memory)))}
            for namespace in {place for place, _ in found - (found if known is None else known)}:
                await run(partial(memory.forget_texts, namespace))
                await shared.forget(namespace)
            known = found
        await sleep(_LOOK_SECONDS)


def _since(memory: Memory) -> int:
    return max(0, to_instant(memory.now) - _CLOCKS_DIFFER_MS)

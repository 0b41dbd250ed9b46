"""The methods of a memory as coroutines, declared so that type checkers know each of them."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, Self, TypeVar, Unpack

from perdure.memory import Memory
from perdure.records.memory import MemoryItem
from perdure.records.transfer import Line
from perdure.verbs.parameters import ListFilters

P = ParamSpec("P")
R = TypeVar("R")
_ROWS: Final = 100  # rows that are read in one go


if TYPE_CHECKING:

    def _as_coroutine(
        method: Callable[Concatenate[Memory, P], R],
    ) -> Callable[Concatenate[AsyncMemory, P], Coroutine[Any, Any, R]]:
        """Return the type of the coroutine for a method."""


async def _in_threads(start: Callable[[], Iterator[R]]) -> AsyncIterator[R]:
    """Yield what an iterator yields, which is made and read in threads, some rows at a time."""
    rows = await asyncio.to_thread(start)
    while some := await asyncio.to_thread(lambda: [*islice(rows, _ROWS)]):
        for row in some:
            yield row


class AsyncMemory:
    """The methods of a memory as coroutines; each runs in a thread, so that the event loop goes on.

    A coroutine that is cancelled leaves its call running to the end: what it writes is written. ``within`` limits it.

    Args:
        memory: What ``perdure.open`` or ``perdure.connect`` returned.

    Example:
        >>> memory = perdure.AsyncMemory(perdure.connect("http://localhost:8766"))
        >>> await memory.recall("When do we deploy?")
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the memory."""
        await asyncio.to_thread(self._memory.close)

    def within(self, seconds: float) -> AsyncMemory:
        """Return this memory with a time limit for each call; see ``Memory.within``."""
        return AsyncMemory(self._memory.within(seconds))

    async def list_all(
        self, namespace: str = "default", *, before: str | None = None, **filters: Unpack[ListFilters]
    ) -> AsyncIterator[MemoryItem]:
        """Yield memories, newest first; see ``Memory.list_all``."""
        async for row in _in_threads(lambda: self._memory.list_all(namespace, before=before, **filters)):
            yield row

    async def export(self, namespace: str | None = None) -> AsyncIterator[Line]:
        """Yield everything of a namespace; see ``Memory.export``."""
        async for line in _in_threads(lambda: self._memory.export(namespace)):
            yield line

    if TYPE_CHECKING:  # one line for each method; a test compares them with those of a memory
        alerts = _as_coroutine(Memory.alerts)
        alias = _as_coroutine(Memory.alias)
        answer = _as_coroutine(Memory.answer)
        answer_sheet = _as_coroutine(Memory.answer_sheet)
        apply = _as_coroutine(Memory.apply)
        apply_all = _as_coroutine(Memory.apply_all)
        archive = _as_coroutine(Memory.archive)
        backtest = _as_coroutine(Memory.backtest)
        both = _as_coroutine(Memory.both)
        check = _as_coroutine(Memory.check)
        compact = _as_coroutine(Memory.compact)
        complete_task = _as_coroutine(Memory.complete_task)
        compression = _as_coroutine(Memory.compression)
        confirm = _as_coroutine(Memory.confirm)
        consolidate = _as_coroutine(Memory.consolidate)
        correct = _as_coroutine(Memory.correct)
        create_token = _as_coroutine(Memory.create_token)
        decay = _as_coroutine(Memory.decay)
        deny = _as_coroutine(Memory.deny)
        digest = _as_coroutine(Memory.digest)
        digest_details = _as_coroutine(Memory.digest_details)
        edges = _as_coroutine(Memory.edges)
        end_session = _as_coroutine(Memory.end_session)
        entities = _as_coroutine(Memory.entities)
        entity = _as_coroutine(Memory.entity)
        erase = _as_coroutine(Memory.erase)
        extract = _as_coroutine(Memory.extract)
        facts = _as_coroutine(Memory.facts)
        fit = _as_coroutine(Memory.fit)
        forecast = _as_coroutine(Memory.forecast)
        forget = _as_coroutine(Memory.forget)
        get = _as_coroutine(Memory.get)
        history = _as_coroutine(Memory.history)
        ingest = _as_coroutine(Memory.ingest)
        learn = _as_coroutine(Memory.learn)
        list = _as_coroutine(Memory.list)
        list_tokens = _as_coroutine(Memory.list_tokens)
        merge_entities = _as_coroutine(Memory.merge_entities)
        move = _as_coroutine(Memory.move)
        mute = _as_coroutine(Memory.mute)
        namespaces = _as_coroutine(Memory.namespaces)
        optimize = _as_coroutine(Memory.optimize)
        pin = _as_coroutine(Memory.pin)
        procedures = _as_coroutine(Memory.procedures)
        promote = _as_coroutine(Memory.promote)
        rates = _as_coroutine(Memory.rates)
        recall = _as_coroutine(Memory.recall)
        reembed = _as_coroutine(Memory.reembed)
        reinforce = _as_coroutine(Memory.reinforce)
        relate = _as_coroutine(Memory.relate)
        remember = _as_coroutine(Memory.remember)
        remember_many = _as_coroutine(Memory.remember_many)
        repair = _as_coroutine(Memory.repair)
        restore = _as_coroutine(Memory.restore)
        review = _as_coroutine(Memory.review)
        review_details = _as_coroutine(Memory.review_details)
        revoke_token = _as_coroutine(Memory.revoke_token)
        same = _as_coroutine(Memory.same)
        settle = _as_coroutine(Memory.settle)
        split_entity = _as_coroutine(Memory.split_entity)
        stats = _as_coroutine(Memory.stats)
        strengthen = _as_coroutine(Memory.strengthen)
        summarize = _as_coroutine(Memory.summarize)
        sweep = _as_coroutine(Memory.sweep)
        timeline = _as_coroutine(Memory.timeline)
        undo = _as_coroutine(Memory.undo)
        unpin = _as_coroutine(Memory.unpin)
        update = _as_coroutine(Memory.update)
        used = _as_coroutine(Memory.used)
        verify = _as_coroutine(Memory.verify)
        weaken = _as_coroutine(Memory.weaken)
        why = _as_coroutine(Memory.why)
        why_not = _as_coroutine(Memory.why_not)
    else:

        def __dir__(self) -> list[str]:
            return sorted({*super().__dir__(), *(name for name in dir(self._memory) if not name.startswith("_"))})

        def __getattr__(self, name: str) -> Callable[..., Any]:
            if name.startswith("_"):
                raise AttributeError(name)
            method = getattr(self._memory, name)
            if not callable(method):  # a property
                return method

            @functools.wraps(method)
            async def call(*args: Any, **kwargs: Any) -> Any:
                return await asyncio.to_thread(method, *args, **kwargs)

            return call

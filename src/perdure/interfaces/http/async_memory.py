"""The methods of a memory as coroutines, declared so that type checkers know each of them."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Coroutine
from itertools import islice
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, Self, TypeVar, Unpack

from perdure.memory import Memory
from perdure.records.memory import MemoryItem
from perdure.verbs.parameters import ListFilters

P = ParamSpec("P")
R = TypeVar("R")
_ROWS: Final = 100  # memories that are read in one go


if TYPE_CHECKING:

    def _awaited(
        method: Callable[Concatenate[Memory, P], R],
    ) -> Callable[Concatenate[AsyncMemory, P], Coroutine[Any, Any, R]]:
        """Return the type of the coroutine for a method."""


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
        rows = self._memory.list_all(namespace, before=before, **filters)
        while some := await asyncio.to_thread(lambda: [*islice(rows, _ROWS)]):
            for row in some:
                yield row

    if TYPE_CHECKING:  # one line for each method; a test compares them with those of a memory
        alerts = _awaited(Memory.alerts)
        alias = _awaited(Memory.alias)
        answer = _awaited(Memory.answer)
        answer_sheet = _awaited(Memory.answer_sheet)
        apply = _awaited(Memory.apply)
        apply_all = _awaited(Memory.apply_all)
        archive = _awaited(Memory.archive)
        backtest = _awaited(Memory.backtest)
        both = _awaited(Memory.both)
        check = _awaited(Memory.check)
        compact = _awaited(Memory.compact)
        complete_task = _awaited(Memory.complete_task)
        compression = _awaited(Memory.compression)
        confirm = _awaited(Memory.confirm)
        consolidate = _awaited(Memory.consolidate)
        correct = _awaited(Memory.correct)
        create_token = _awaited(Memory.create_token)
        decay = _awaited(Memory.decay)
        deny = _awaited(Memory.deny)
        digest = _awaited(Memory.digest)
        digest_details = _awaited(Memory.digest_details)
        edges = _awaited(Memory.edges)
        end_session = _awaited(Memory.end_session)
        entities = _awaited(Memory.entities)
        entity = _awaited(Memory.entity)
        erase = _awaited(Memory.erase)
        extract = _awaited(Memory.extract)
        facts = _awaited(Memory.facts)
        fit = _awaited(Memory.fit)
        forecast = _awaited(Memory.forecast)
        forget = _awaited(Memory.forget)
        get = _awaited(Memory.get)
        history = _awaited(Memory.history)
        ingest = _awaited(Memory.ingest)
        learn = _awaited(Memory.learn)
        list = _awaited(Memory.list)
        list_tokens = _awaited(Memory.list_tokens)
        merge_entities = _awaited(Memory.merge_entities)
        move = _awaited(Memory.move)
        mute = _awaited(Memory.mute)
        namespaces = _awaited(Memory.namespaces)
        optimize = _awaited(Memory.optimize)
        pin = _awaited(Memory.pin)
        procedures = _awaited(Memory.procedures)
        promote = _awaited(Memory.promote)
        rates = _awaited(Memory.rates)
        recall = _awaited(Memory.recall)
        reembed = _awaited(Memory.reembed)
        reinforce = _awaited(Memory.reinforce)
        relate = _awaited(Memory.relate)
        remember = _awaited(Memory.remember)
        remember_many = _awaited(Memory.remember_many)
        repair = _awaited(Memory.repair)
        restore = _awaited(Memory.restore)
        review = _awaited(Memory.review)
        review_details = _awaited(Memory.review_details)
        revoke_token = _awaited(Memory.revoke_token)
        same = _awaited(Memory.same)
        settle = _awaited(Memory.settle)
        split_entity = _awaited(Memory.split_entity)
        stats = _awaited(Memory.stats)
        strengthen = _awaited(Memory.strengthen)
        summarize = _awaited(Memory.summarize)
        sweep = _awaited(Memory.sweep)
        timeline = _awaited(Memory.timeline)
        undo = _awaited(Memory.undo)
        unpin = _awaited(Memory.unpin)
        update = _awaited(Memory.update)
        used = _awaited(Memory.used)
        verify = _awaited(Memory.verify)
        weaken = _awaited(Memory.weaken)
        why = _awaited(Memory.why)
        why_not = _awaited(Memory.why_not)
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

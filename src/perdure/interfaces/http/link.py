"""Two processes of a service that ask each other, over a pair of sockets: each message is JSON behind its length."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any, Final

from perdure.interfaces.http.answers import Payload
from perdure.interfaces.http.problems import RequestRefused
from perdure.interfaces.http.shared import Begun, Counts, Shared

Answers = Mapping[str, Callable[..., Awaitable[Any]]]
_LENGTH: Final = 4  # bytes of a message's length
_SECONDS: Final = 10.0  # how long an answer may take
_log = logging.getLogger(__name__)


def encode_frame(number: int, name: str | None, value: Any) -> bytes:
    """Return a message: a question by its name, or the answer to one, which has none.

    ``number`` is 0 where no answer is wanted; ``name`` is empty in an answer that could not be found.
    """
    text = json.dumps([number, name, value]).encode()
    return len(text).to_bytes(_LENGTH, "big") + text


def read_message(end: socket.socket) -> Any:
    """Return the value of the first message, before there is an event loop; None where the other end is gone."""
    length = int.from_bytes(end.recv(_LENGTH, socket.MSG_WAITALL), "big")
    text = end.recv(length, socket.MSG_WAITALL) if length else b""
    return json.loads(text)[2] if text and len(text) == length else None


class Link:
    """One end of a pair of sockets; ``answers`` has what the other end may ask, by its name."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answers: Answers) -> None:
        self._reader, self._writer, self._answers = reader, writer, answers
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._ended = False

    @classmethod
    async def over(cls, end: socket.socket, answers: Answers) -> Link:
        """Return the link over an end of a pair of sockets."""
        return cls(*await asyncio.open_unix_connection(sock=end), answers)

    def tell(self, name: str, *arguments: Any) -> None:
        """Send what needs no answer."""
        self._writer.write(encode_frame(0, name, arguments))

    async def ask(self, name: str, *arguments: Any, seconds: float | None = _SECONDS) -> Any:
        """Ask the other end; the answer may take ``seconds``, None for no limit."""
        if self._ended:
            raise _service_ending()
        number = next(self._numbers)
        future = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            self._writer.write(encode_frame(number, name, arguments))
            return await asyncio.wait_for(future, seconds)
        except TimeoutError as error:
            raise _no_answer() from error
        finally:
            del self._waiting[number]

    async def run(self) -> None:
        """Answer until the other end is gone."""
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                while True:
                    length = int.from_bytes(await self._reader.readexactly(_LENGTH), "big")
                    await self._take(*json.loads(await self._reader.readexactly(length)))
        finally:
            self._ended = True
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(_service_ending())
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            self._writer.close()

    async def _take(self, number: int, name: str | None, value: Any) -> None:
        """Take a message: begin to answer a question, or hand an answer to who waits for it."""
        if name and not number:  # at once: it may be the last that the other end says
            await self._answer(number, name, value)
        elif name:
            task = asyncio.get_running_loop().create_task(self._answer(number, name, value))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        elif (future := self._waiting.get(number)) is not None and not future.done():
            if name is None:
                future.set_result(value)
            else:
                future.set_exception(_no_answer())

    async def _answer(self, number: int, name: str, arguments: list[Any]) -> None:
        try:
            answer = encode_frame(number, None, await self._answers[name](*arguments))
        except Exception:  # noqa: BLE001  # who asks must not wait for ever
            _log.exception("What another process of the service asked failed.")
            answer = encode_frame(number, "", None)
        if number:
            self._writer.write(answer)


def _no_answer() -> RequestRefused:
    what = "The service's processes could not ask each other."
    return RequestRefused(503, what, remedy="Try again; the service's log says why.")


def _service_ending() -> RequestRefused:
    return RequestRefused(503, "The service is ending.", remedy="Try again a little later.")


class SharedByLink(Shared):
    """Asks the supervisor, which keeps it for all workers; without it the process ends in order."""

    _link: Link

    def __init__(self, end: socket.socket, secret: bytes) -> None:
        super().__init__(secret=secret)
        self._end = end

    @asynccontextmanager
    async def running(self, get_counts: Callable[[], Counts]) -> AsyncIterator[None]:
        """Answer the supervisor, and ask it, for the length of a block."""

        async def counts() -> list[Any]:
            return counts_to_json(get_counts())

        self._link = await Link.over(self._end, {"counts": counts})
        listens = asyncio.get_running_loop().create_task(self._link.run())
        listens.add_done_callback(lambda task: None if task.cancelled() else os.kill(os.getpid(), signal.SIGTERM))
        try:
            yield
        finally:
            listens.cancel()
            with suppress(asyncio.CancelledError):
                await listens

    async def take(self, caller: str) -> float:
        return float(await self._link.ask("take", caller))

    async def begin(self, key: str, digest: str, namespace: str, seconds: float) -> Begun:
        # The first call with the key may run as long.
        state, answer = await self._link.ask("begin", key, digest, namespace, seconds, seconds=None)
        if answer is not None:
            body, media, *rest = answer
            answer = Payload(body.encode(), media, None, *rest)
        return state, answer

    async def end(self, key: str, answer: Any) -> None:
        if answer is not None:
            answer = [answer.body.decode(), answer.media, answer.etag, answer.operation, answer.hits, answer.erased]
        with suppress(RequestRefused):  # the service is ending: the call was made, and its client has the answer
            await self._link.ask("end", key, answer)

    async def forget(self, namespace: str) -> None:
        with suppress(RequestRefused):  # the service is ending, and its answers with it
            await self._link.ask("forget", namespace)

    async def note_failure(self, address: str) -> bool:
        return bool(await self._link.ask("note_failure", address))

    async def keep_token(self, session: str, token: str) -> None:
        await self._link.ask("keep_token", session, token)

    async def token_of(self, session: str) -> str | None:
        token: str | None = await self._link.ask("token_of", session)
        return token

    async def drop_token(self, session: str) -> None:
        await self._link.ask("drop_token", session)

    async def counts(self, own_counts: Counts) -> Counts:
        """Ask the supervisor what all workers have counted."""
        return counts_of_json(await self._link.ask("counts", counts_to_json(own_counts)))


def counts_to_json(counts: Counts) -> list[Any]:
    """Return counts as JSON holds them."""
    return [[list(key), value] for key, value in counts.items()]


def counts_of_json(data: list[Any]) -> Counts:
    """Return counts that ``counts_to_json`` wrote."""
    return {tuple(key): value for key, value in data}

"""A connection that does not wait without end for slow clients: for a request's head, for an answer to be read."""

from __future__ import annotations

import asyncio
from typing import Final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from perdure.interfaces.http.problems import RequestRefused, problem_of

HEAD_SECONDS: Final = 10.0  # how long a client may take to send a request line and its headers
HEAD_BYTES: Final = 64 << 10  # how much of a head is kept while its end has not come
STALL_SECONDS: Final = 30.0
"""How long a client may take to make room for more of an answer, about 64 kB: a slower one is cut off."""
READ_SECONDS: Final = 60.0
"""How long a client may take to read the rest of an answer after the connection was closed on our side."""
REST_BYTES: Final = 64 << 20
REST_SECONDS: Final = 15.0
"""How much of a body is still read, and for how long, when it was answered already: the client may look only then.

What comes is dropped. Closed before, most clients see a reset connection instead of the answer.
"""


class BoundedConnection(HttpToolsProtocol):
    """An HTTP/1.1 connection whose client must send heads and read answers in time; others are cut off.

    So is who goes on sending a body that was answered already. It takes paths alone for the target of a request, drops
    fields that follow a body, and reads nothing after a request that asks for another protocol: what follows may be of
    that protocol.
    """

    _head_timer: asyncio.TimerHandle | None = None
    _stall_timer: asyncio.TimerHandle | None = None
    _rest_timer: asyncio.TimerHandle | None = None
    _rest = 0  # bytes of a body that came after its answer
    _awaits_head = True  # at first, and from a head's first byte to its last
    _head_bytes = 0
    _in_body = False  # from a head's last byte to the body's
    _is_last = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as the library's own
        """Begin to wait for a head."""
        super().connection_made(transport)
        self._watch_head()

    def data_received(self, data: bytes) -> None:
        """Go on waiting while a head is incomplete, or an answered body."""
        if self._is_last:
            return
        super().data_received(data)
        self._head_bytes = self._head_bytes + len(data) if self._awaits_head else 0
        if self._head_bytes > HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("The headers are too long.")
        self._watch_head()
        if self._in_body and not self._is_answering():
            self._watch_rest(len(data))
        elif self._rest_timer is not None:
            self._end_rest()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP with a problem, as everything that is refused is, and close."""
        problem = problem_of(RequestRefused(400, msg, remedy="Send a request of HTTP/1.1 as RFC 9112 says."))
        headers = [*self.server_state.default_headers, *problem.raw_headers, (b"connection", b"close")]
        lines = [name + b": " + value + b"\r\n" for name, value in headers]
        self.transport.write(b"".join([STATUS_LINE[400], *lines, b"\r\n", bytes(problem.body)]))
        self.transport.close()

    def on_message_begin(self) -> None:
        """Begin a head."""
        self._awaits_head = True
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header."""
        if self._awaits_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Begin to answer."""
        self._awaits_head, self._in_body = False, True
        if not self.url.startswith(b"/"):
            raise ValueError  # answered with 400
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """End a body."""
        self._in_body = False
        super().on_message_complete()

    def pause_writing(self) -> None:
        """Begin to wait for the client to read."""
        super().pause_writing()
        self._stall_timer = self.loop.call_later(STALL_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop waiting for the client to read."""
        self._go_on()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop()
        self._go_on()
        self._end_rest()
        super().connection_lost(exc)

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection, for good after a while: what is left to send would keep it open."""
        super().timeout_keep_alive_handler()
        self.loop.call_later(READ_SECONDS, self.transport.abort)

    def _unsupported_upgrade_warning(self) -> None:
        """Answer in HTTP, and close."""
        self._is_last = True
        self.cycle.keep_alive = False

    def _watch_head(self) -> None:
        if not self._awaits_head:
            self._stop()
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self._cut_off)

    def _cut_off(self) -> None:
        self._head_timer = None
        if self._is_answering():
            self._watch_head()  # the rest of the head may have come, and is read after the answer
        elif self._awaits_head and not self.transport.is_closing():
            self.transport.abort()

    def _watch_rest(self, size: int) -> None:
        self._rest += size
        if self._rest_timer is None:
            self._rest_timer = self.loop.call_later(REST_SECONDS, self.transport.abort)
        if self._rest > REST_BYTES:
            self.flow.pause_reading()

    def _end_rest(self) -> None:
        if self._rest_timer is not None:
            self._rest_timer.cancel()
        self._rest_timer, self._rest = None, 0

    def _is_answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle  # None before the first request, whatever its type says
        return cycle is not None and not cycle.response_complete

    def _go_on(self) -> None:
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None

    def _stop(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

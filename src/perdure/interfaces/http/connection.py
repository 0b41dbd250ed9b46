"""A connection that does not wait without end for slow clients: for a request's head, for an answer to be read."""

from __future__ import annotations

import asyncio
from typing import Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS: Final = 10.0
"""How long a client may take to send a request line and its headers."""
STALL_SECONDS: Final = 30.0
"""How long a client may take to make room for more of an answer, about 64 kB: a slower one is cut off."""
READ_SECONDS: Final = 60.0
"""How long a client may take to read the rest of an answer after the connection was closed on our side."""


REST_BYTES: Final = 1 << 20
REST_SECONDS: Final = 5.0
"""How much of a body is still read, and for how long, when it was answered already: the client may look only then."""


class BoundedConnection(H11Protocol):
    """An HTTP/1.1 connection whose client must send heads and read answers in time; others are cut off.

    So is who goes on sending a body that was answered already.
    """

    _head_timer: asyncio.TimerHandle | None = None
    _stall_timer: asyncio.TimerHandle | None = None
    _rest_timer: asyncio.TimerHandle | None = None
    _rest = 0  # bytes of a body that came after its answer

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as the library's own
        """Begin to wait for a head."""
        super().connection_made(transport)
        self._watch_head()

    def data_received(self, data: bytes) -> None:
        """Go on waiting while a head is incomplete, or an answered body."""
        super().data_received(data)
        self._watch_head()
        if self.conn.their_state is h11.SEND_BODY and self.cycle.response_complete:
            self._watch_rest(len(data))
        elif self._rest_timer is not None:
            self._end_rest()

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

    def _watch_head(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._stop()
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self._cut_off)

    def _cut_off(self) -> None:
        self._head_timer = None
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
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

    def _go_on(self) -> None:
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None

    def _stop(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

"""The client of a service: the methods of ``perdure.open``, with the same results and errors. Standard library only."""

from __future__ import annotations

import functools
import http.client
import json
import secrets
import ssl
import threading
from collections.abc import Callable, Mapping
from copy import copy
from typing import TYPE_CHECKING, Any, Final, NoReturn, Self
from urllib.parse import urlsplit

from perdure.interfaces.http.decoding import error_of, may_be_none, result_of
from perdure.memory import Memory
from perdure.records.errors import DeadlineExceeded, InvalidInput, StoreClosed, StoreUnavailable
from perdure.records.json_record import as_json
from perdure.rules.validation.values import checked_json, checked_seconds
from perdure.verbs.checks import bound_arguments, check_values
from perdure.verbs.declaration import VERBS, Verb

if TYPE_CHECKING:
    from perdure.operations.ports import Progress

LOOPBACK: Final = frozenset(("127.0.0.1", "localhost", "::1"))
_JSON: Final = "application/json"
_EVENTS: Final = "text/event-stream"
_GRACE: Final = 2.0  # seconds that the service has to say that a call was ended
_LONGEST_ANSWER: Final = 1 << 30


def connect(url: str, *, token: str | None = None, timeout: float = 60.0) -> RemoteMemory:
    """Connect to a service; returns an object with the methods of ``perdure.open``, their results and their errors.

    Nothing is sent before the first call.

    Args:
        url: ``https://host``, also with a port and a path; ``http://`` only to this machine.
        token: What ``perdure token create`` showed; None for a service on this machine without tokens.
        timeout: Seconds that a call may take, from 0.001 to 86,400.

    Raises:
        InvalidInput: The URL is none, or would send a token in clear over a network; or an argument is refused.
    """
    return RemoteMemory(Transport(url, token, timeout))


class Transport:
    """Sends calls over connections that are kept open, one for each thread. Thread-safe."""

    def __init__(self, url: str, token: str | None, timeout: float) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username or parts.query:
            raise InvalidInput(
                "This is not the URL of a service.", remedy="Write https://host, or http://localhost:8766."
            )
        if parts.scheme == "http" and parts.hostname not in LOOPBACK:
            raise InvalidInput(
                "Over http:// a token and all memories could be read on the way.", remedy="Use https://."
            )
        self._host, self._port, self._path = parts.hostname, parts.port, parts.path.rstrip("/")
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._headers = {"content-type": _JSON, "accept": _JSON}
        if token is not None:
            if type(token) is not str or not (token.isascii() and token.isprintable()):
                raise InvalidInput(
                    "The token is not text, or it contains a line break or a character that no token has.",
                    remedy="Pass the token exactly as it was shown when it was created.",
                )
            self._headers["authorization"] = f"Bearer {token}"
        self.limit(checked_seconds(timeout))
        self._thread_state = threading.local()
        self._lock = threading.Lock()
        self._open: set[http.client.HTTPConnection] = set()
        self._closed = threading.Event()

    def call(self, verb: Verb, arguments: Mapping[str, Any], progress: Progress | None = None) -> Any:
        """Call a verb of the service and return its result; ``progress`` is called with (done, total) meanwhile.

        Raises:
            InvalidInput: An argument is no JSON data; nothing was sent.
            PerdureError: The verb refuses.
            StoreUnavailable: The service cannot be reached, or the client was closed.
            DeadlineExceeded: It does not answer in time.
        """
        if self._closed.is_set():
            raise StoreClosed("The client was closed.", remedy="Connect again with perdure.connect.")
        body = b"{%s}" % b", ".join(
            json.dumps(name).encode() + b": " + checked_json(value, name) for name, value in arguments.items()
        )
        headers = dict(self._headers)
        if not verb.reads and "idempotency_key" not in verb.defaults:  # its answer may be lost, and it is sent again
            headers["idempotency-key"] = secrets.token_hex(16)
        if progress is not None:
            headers["accept"] = f"{_EVENTS}, {_JSON}"
        path = f"{self._path}/v1/{verb.name.replace('_', '-')}"
        status, kind, answer = self._exchange(path, body, headers, progress)
        try:
            data = json.loads(answer)
        except ValueError:
            data = None
        if not isinstance(data, dict):
            raise StoreUnavailable(
                f"What answers at {self._host} is not a Perdure service (status {status}, {kind}).",
                remedy="Check the URL, and the proxy before the service.",
            )
        if status == http.HTTPStatus.NOT_FOUND and may_be_none(verb):
            return None
        if status != http.HTTPStatus.OK:
            raise error_of(status, data)
        return result_of(verb, data)

    def limit(self, seconds: float) -> Self:
        """Let each call take so many seconds, and return this."""
        self._headers = {**self._headers, "prefer": f"wait={max(1, int(seconds))}"}
        self._timeout = seconds + _GRACE
        return self

    def _exchange(
        self, path: str, body: bytes, headers: Mapping[str, str], progress: Progress | None
    ) -> tuple[int, str, bytes]:
        """Send a request; once more where a connection that was kept open turns out to be closed."""
        for attempt in (0, 1):
            fresh, connection = self._connection()
            try:
                connection.request("POST", path, body, dict(headers))
                answer = connection.getresponse()
                kind = answer.headers.get_content_type()
                if progress is not None and kind == _EVENTS:
                    return _read_events(answer, progress)
                return answer.status, kind, answer.read(_LONGEST_ANSWER)
            except (http.client.HTTPException, OSError) as error:
                was_reached = connection.sock is not None
                self._drop(connection)
                if was_reached and isinstance(error, TimeoutError):
                    raise self._no_answer_error() from error
                if fresh or attempt or isinstance(error, TimeoutError):
                    self._fail(error)
        raise AssertionError

    def _no_answer_error(self) -> DeadlineExceeded:
        return DeadlineExceeded(
            f"The service at {self._host} did not answer within {self._timeout:g} s; whether it did what was asked is "
            "not known.",
            remedy="Look at the history before a call that writes is made again without an idempotency key.",
        )

    def _fail(self, error: Exception) -> NoReturn:
        raise StoreUnavailable(
            f"The service at {self._host} cannot be reached ({type(error).__name__}).",
            remedy="Check that it runs. If the call writes, it may have been carried out: look at the history.",
        ) from error

    def _connection(self) -> tuple[bool, http.client.HTTPConnection]:
        kept: http.client.HTTPConnection | None = getattr(self._thread_state, "connection", None)
        if kept is not None and kept.sock is not None:
            kept.sock.settimeout(self._timeout)
            return False, kept
        fresh = (
            http.client.HTTPConnection(self._host, self._port, timeout=self._timeout)
            if self._tls is None
            else http.client.HTTPSConnection(self._host, self._port, timeout=self._timeout, context=self._tls)
        )
        self._thread_state.connection = fresh
        with self._lock:
            self._open.add(fresh)
        return True, fresh

    def _drop(self, connection: http.client.HTTPConnection) -> None:
        connection.close()
        with self._lock:
            self._open.discard(connection)

    def close(self) -> None:
        """Close all connections, and refuse later calls. Calling it twice is harmless."""
        self._closed.set()
        with self._lock:
            connections = list(self._open)
            self._open.clear()
        for connection in connections:
            connection.close()


def _read_events(answer: http.client.HTTPResponse, progress: Progress) -> tuple[int, str, bytes]:
    name = b""
    for line in answer:
        if line.startswith(b"event: "):
            name = line[7:].strip()
        elif line.startswith(b"data: ") and name == b"progress":
            step = json.loads(line[6:])
            progress(step["done"], step["total"])
        elif line.startswith(b"data: "):
            status = http.HTTPStatus.OK if name == b"answer" else json.loads(line[6:])["status"]
            answer.read()
            return status, _JSON, line[6:]
    raise http.client.IncompleteRead(b"")


class RemoteMemory(Memory):
    """A memory behind a service: the methods of ``perdure.Memory``. Thread-safe."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @property
    def _context(self) -> Any:  # type: ignore[override]  # there is none here
        raise InvalidInput(
            "The service does not offer this.", remedy="Use perdure.open on the machine that has the store."
        )

    def within(self, seconds: float) -> RemoteMemory:
        """Return this memory with a time limit for each call; closing one closes the other."""
        return RemoteMemory(copy(self._transport).limit(checked_seconds(seconds)))

    def close(self) -> None:
        """Close the connections; the service's store stays open."""
        self._transport.close()


def _remote_method(verb: Verb) -> Callable[..., Any]:
    """Return the method that calls a verb of the service, with the signature of the local one.

    It checks arguments as the local one does before anything is sent: JSON would change some of them without a word.
    """

    @functools.wraps(verb.method)
    def call(self: RemoteMemory, *args: Any, **kwargs: Any) -> Any:
        bound = bound_arguments(verb, self, args, kwargs)
        progress = bound.pop("progress", None)
        check_values((p for p in verb.parameters if p.name in bound), bound)
        given = {name: value for name, value in bound.items() if value is not None}
        arguments = {name: value if name == "metadata" else _json_value(value) for name, value in given.items()}
        return self._transport.call(verb, arguments, progress)  # a method of it

    return call


def _json_value(value: Any) -> Any:
    """Return an argument as JSON data; what can be walked once is a list. Metadata must be JSON data already."""
    if isinstance(value, Mapping):
        return {key: item if key == "metadata" else as_json(item) for key, item in value.items()}
    if isinstance(value, str | bytes | int | float) or hasattr(value, "to_dict"):
        return as_json(value)
    if hasattr(value, "__iter__"):
        return [_json_value(item) for item in value]
    return as_json(value)


for _verb in VERBS.values():
    setattr(RemoteMemory, _verb.method.__name__, _remote_method(_verb))

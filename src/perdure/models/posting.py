"""Posting JSON to a server a person chose: key, retries, limits."""

from __future__ import annotations

import http.client
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from perdure.records.deadline import seconds_left
from perdure.records.errors import InvalidInput, PerdureError

_RETRIES: Final = 2
_TOO_MANY_REQUESTS: Final = 429
_FIRST_SERVER_FAULT: Final = 500
_LONGEST_PAUSE: Final = 10.0  # seconds; a server that asks for a longer pause is not asked again in this call
_HARDLY: Final = 0.01  # seconds that are as good as none
_PIECE: Final = 64 * 1024
_THIS_MACHINE: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_MOST_QUOTED: Final = 200  # characters of a server's message that an error repeats


class RefusedError(Exception):
    """The server answered with a status that trying again does not mend.

    Attributes:
        status: The HTTP status.
        failure: The error that the caller of the model should see.
    """

    def __init__(self, status: int, failure: PerdureError) -> None:
        super().__init__(str(failure))
        self.status, self.failure = status, failure


@dataclass(frozen=True, slots=True)
class Endpoint:
    """What is the same for every server of one kind."""

    path: str  # what follows the address, for example ``/embeddings``
    error: type[PerdureError]  # what every failure is raised as
    remedy: str  # what to do about a server that cannot be reached or answers nonsense
    largest: int  # bytes of a reply; a longer one is refused


class Posting:
    """Posts JSON to one address. Safe to share between threads.

    Redirects are refused: following one would send the texts and the key to a place nobody chose.
    """

    def __init__(
        self, base_url: str, endpoint: Endpoint, *, key_variable: str | None, timeout: float, pause: float
    ) -> None:
        self.url = _address(base_url) + endpoint.path
        if timeout <= 0 or pause < 0:
            raise InvalidInput("timeout must be above 0 and pause not below 0 seconds.", remedy="Correct these values.")
        self._endpoint = endpoint
        self._key_variable = key_variable
        self._timeout, self._pause = timeout, pause
        # A server on this machine is never asked through a proxy: the texts would leave the machine for nothing.
        proxies = [ProxyHandler({})] if urlsplit(base_url).hostname in _THIS_MACHINE else []
        self._opener = build_opener(_NoRedirect, *proxies)

    def __call__(self, content: Any) -> bytes:
        """Return the body of the server's reply; try again where that can help.

        Raises:
            PerdureError: As the endpoint says: no key, or the server cannot be reached, fails or says too much. Its
                cause is a TimeoutError where the server did not answer in time; that is not tried again.
            RefusedError: It answered with another status than 2xx, 429 or 5xx.
        """
        key = self._key()
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        body = json.dumps(content).encode("ascii")
        headers |= self.signature(body)
        request = Request(self.url, data=body, headers=headers, method="POST")  # noqa: S310  # http or https: checked
        pause = self._pause
        for _ in range(_RETRIES):
            try:
                return self._exchange(request, key)
            except _PassingError as passing:
                if passing.retry_after > _LONGEST_PAUSE:
                    raise passing.failure from passing.__cause__
                time.sleep(seconds_left(max(pause, passing.retry_after)) or 0.0)
                pause *= 2
        try:
            return self._exchange(request, key)
        except _PassingError as passing:
            raise passing.failure from passing.__cause__

    def signature(self, body: bytes) -> Mapping[str, str]:  # noqa: ARG002  # of those that sign
        """Return further headers for a body; none here."""
        return {}

    def read_list(self, content: Any, name: str) -> list[Any]:
        """Return the list that the server's JSON reply has under a name."""
        try:
            reply = json.loads(self(content))
        except RefusedError as refused:
            raise refused.failure from refused.__cause__
        except (ValueError, RecursionError) as error:
            raise self.wrong(f"is not JSON ({error})") from error
        items = reply.get(name) if isinstance(reply, dict) else None
        if not isinstance(items, list):
            raise self.wrong(f"has no list `{name}`")
        return items

    def wrong(self, problem: str) -> PerdureError:
        """Return the error for a reply that is not what was asked for; ``problem`` follows "The reply of URL"."""
        return self._endpoint.error(f"The reply of {self.url} {problem}.", remedy=self._endpoint.remedy)

    def _exchange(self, request: Request, key: str) -> bytes:
        try:
            with self._opener.open(request, timeout=seconds_left(self._timeout)) as reply:
                return self._body(reply)
        except HTTPError as error:
            raise self._refusal(error, key) from error
        except TimeoutError as error:
            raise self._timed_out() from error
        except (OSError, http.client.HTTPException) as error:
            reason = error.reason if isinstance(error, URLError) else error
            if isinstance(reason, TimeoutError):
                raise self._timed_out() from reason
            failure = self._endpoint.error(f"{self.url} cannot be reached: {reason!r}.", remedy=self._endpoint.remedy)
            raise _PassingError(failure) from error

    def _body(self, reply: http.client.HTTPResponse) -> bytes:
        """Read a reply piece by piece, so that one that trickles or never ends is given up."""
        owed: int | None = reply.length
        pieces: list[bytes] = []
        size = 0
        deadline = time.monotonic() + (seconds_left(self._timeout) or 0.0)
        while owed is None or size < owed:
            piece = reply.read1(_PIECE)
            if not piece:
                break
            pieces.append(piece)
            size += len(piece)
            if size > self._endpoint.largest:
                raise self.wrong(f"is larger than {self._endpoint.largest} bytes")
            if time.monotonic() > deadline:
                raise TimeoutError
        if owed is not None and size < owed:
            raise http.client.IncompleteRead(b"", owed - size)
        return b"".join(pieces)

    def _refusal(self, error: HTTPError, key: str) -> Exception:
        """Describe a status other than 2xx, with the start of the server's message and without the key."""
        with error:
            try:
                body = error.read(4 * _MOST_QUOTED).decode("utf-8", "replace")
            except (OSError, http.client.HTTPException):
                body = ""
        if key:
            body = body.replace(key, "***")
        message = f"{self.url} answered {error.code}: {' '.join(body.split())[:_MOST_QUOTED] or error.reason}."
        if error.code == _TOO_MANY_REQUESTS or error.code >= _FIRST_SERVER_FAULT:
            failure = self._endpoint.error(message, remedy="Try again later.")
            return _PassingError(failure, retry_after=_seconds(error.headers["Retry-After"]))
        failure = self._endpoint.error(message, remedy="Check the address, the model's name and the key.")
        return RefusedError(error.code, failure)

    def _timed_out(self) -> PerdureError:
        seconds_left(least=_HARDLY)  # it may be the call that gave it less time
        return self._endpoint.error(
            f"{self.url} did not answer within {self._timeout:g} s.", remedy=self._endpoint.remedy
        )

    def _key(self) -> str:
        """Return the bearer key, or "" if none is wanted."""
        if self._key_variable is None:
            return ""
        key = os.environ.get(self._key_variable, "").strip()
        if not key:
            raise self._endpoint.error(
                f"The environment variable {self._key_variable} is not set.",
                remedy="Set it to the server's key, or clear the policy's key variable if the server needs none.",
            )
        if not (key.isascii() and key.isprintable()):
            raise self._endpoint.error(
                f"The environment variable {self._key_variable} contains characters that are not allowed in a header.",
                remedy="Set it to the key only, on one line.",
            )
        return key


class _PassingError(Exception):
    """A failure that may pass.

    Attributes:
        failure: What the caller sees after the last try.
        retry_after: Seconds the server asked us to wait; 0 if it did not say.
    """

    def __init__(self, failure: PerdureError, *, retry_after: float = 0.0) -> None:
        super().__init__(str(failure))
        self.failure, self.retry_after = failure, retry_after


class _NoRedirect(HTTPRedirectHandler):
    """Leaves every redirect an error."""

    def redirect_request(self, *_: Any) -> None:
        """Follow nothing."""


def _address(base_url: str) -> str:
    """Return an address without its last slash; refuse anything but http and https, such as ``file:``."""
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and not (parts.query or parts.fragment)
        usable = usable and parts.port != 0 and parts.username is None
        usable = usable and base_url.isascii() and base_url.isprintable() and " " not in base_url
    except ValueError:  # a malformed address or port
        usable = False
    if not usable:
        raise InvalidInput(
            "base_url is not a plain http or https address.", remedy="Example: https://api.openai.com/v1"
        )
    return base_url.rstrip("/")


def without_lone_surrogates(text: str) -> str:
    """Return the text with U+FFFD for each lone surrogate; servers refuse JSON that holds one."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _seconds(header: str | None) -> float:
    """Return a Retry-After header given in seconds; 0 for a date or nothing, which our own pause then covers."""
    return float(header) if header is not None and header.isascii() and header.isdigit() else 0.0

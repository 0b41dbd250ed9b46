"""Any server that speaks OpenAI's embeddings protocol. May live here: that protocol. May not: a vendor's specials."""

from __future__ import annotations

import http.client
import json
import os
import time
from typing import TYPE_CHECKING, Any, Literal
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from perdure.models.vectors import SpaceOnFirstUse, text_list
from perdure.records.errors import EmbedderError, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perdure.records.vector import Space, Vector

_BATCH_TEXTS = 64
_RETRIES = 2
_TOO_MANY_REQUESTS = 429
_FIRST_SERVER_FAULT = 500
_LONGEST_PAUSE = 10.0
"""Seconds; a server that asks for a longer pause is asked once more after this one."""
_LARGEST_REPLY = 64 * 1024 * 1024
"""Bytes; 64 texts of 3,072 dimensions need about 4 MB."""
_THIS_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})
_QUOTED = 200
"""Characters of a server's message that an error repeats."""


class EndpointEmbedder:
    """Turns texts into vectors by ``POST {base_url}/embeddings``. Safe to share between threads.

    Redirects are refused: following one would send the texts and the key to a place nobody chose.

    Args:
        base_url: Up to and without ``/embeddings``, for example ``http://localhost:11434/v1``.
        model: The model's name, as the server knows it.
        dimensions: Values per vector; None takes them from the first reply.
        version: Part of the space's identity; change it when the server's model changes under the same name.
        key_variable: The environment variable that holds the bearer key; read at each call. None sends no key.
        timeout: Seconds to wait for the server at each step; a timeout is not retried.
        pause: Seconds before the first retry; doubled for the second.

    Raises:
        InvalidInput: ``base_url`` is not an http or https address, or another value is out of bounds.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        dimensions: int | None = None,
        version: str = "1",
        key_variable: str | None = "OPENAI_API_KEY",
        timeout: float = 30.0,
        pause: float = 0.5,
    ) -> None:
        self._url = _embeddings_url(base_url)
        if timeout <= 0 or pause < 0:
            raise InvalidInput("timeout must be above 0 and pause not below 0 seconds.", remedy="Mend the values.")
        self._model = model
        self._known = SpaceOnFirstUse(model, version, dimensions)
        self._key_variable = key_variable
        self._timeout = timeout
        self._pause = pause
        # A server on this machine is never asked through a proxy: the texts would leave the machine for nothing.
        proxies = [ProxyHandler({})] if urlsplit(base_url).hostname in _THIS_MACHINE else []
        self._opener = build_opener(_NoRedirect, *proxies)

    @property
    def space(self) -> Space:
        """The identity of the vectors.

        Raises:
            EmbedderError: The dimensions were not given and no text has been embedded yet.
        """
        return self._known.space

    def embed(self, texts: Sequence[str], *, purpose: Literal["query", "document"]) -> list[Vector]:  # noqa: ARG002  # part of the port
        """Return one vector per text, in the order of the texts.

        Args:
            texts: Any strings, sent 64 at a time. Lone surrogates, which no UTF-8 can hold, become U+FFFD.
            purpose: Not sent: the protocol has no field for it.

        Returns:
            For each text ``4 * dimensions`` bytes: float32, little endian, Euclidean length 1.

        Raises:
            InvalidInput: ``texts`` is not a sequence of strings.
            EmbedderError: The key is missing, the server cannot be reached or refuses, or its reply is wrong. 429,
                5xx and broken connections are tried twice more.
        """
        listed = [_without_lone_surrogates(text) for text in text_list(texts)]
        vectors: list[Vector] = []
        for start in range(0, len(listed), _BATCH_TEXTS):
            batch = listed[start : start + _BATCH_TEXTS]
            rows = self._rows(self._post(batch))
            vectors += self._known.pack(rows, len(batch))
        return vectors

    def _post(self, batch: list[str]) -> bytes:
        """Return the body of the server's reply; try again where that can help."""
        key = self._key()
        body = json.dumps({"model": self._model, "input": batch}).encode("ascii")
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        request = Request(self._url, data=body, headers=headers, method="POST")  # noqa: S310  # http or https: checked
        pause = self._pause
        for _ in range(_RETRIES):
            try:
                return self._exchange(request, key)
            except _WorthRetryError as passing:
                time.sleep(min(_LONGEST_PAUSE, max(pause, passing.asked)))
                pause *= 2
        return self._exchange(request, key)

    def _exchange(self, request: Request, key: str) -> bytes:
        """Send the request once.

        Raises:
            _WorthRetryError: A busy or broken server, or a broken connection.
            EmbedderError: Anything else that is not a reply.
        """
        try:
            with self._opener.open(request, timeout=self._timeout) as reply:
                body: bytes = reply.read(_LARGEST_REPLY + 1)
                # read(n) passes over a connection that broke early; what is still owed tells.
                if reply.length and len(body) <= _LARGEST_REPLY:
                    raise http.client.IncompleteRead(body, reply.length)
        except HTTPError as error:
            raise self._refusal(error, key) from error
        except TimeoutError as error:
            raise self._timed_out() from error
        except (OSError, http.client.HTTPException) as error:
            reason = error.reason if isinstance(error, URLError) else error
            if isinstance(reason, TimeoutError):
                raise self._timed_out() from error
            raise _WorthRetryError(f"{self._url} cannot be reached: {reason!r}.", remedy=_CHECK_SERVER) from error
        if len(body) > _LARGEST_REPLY:
            raise self._wrong(f"is larger than {_LARGEST_REPLY} bytes")
        return body

    def _refusal(self, error: HTTPError, key: str) -> EmbedderError:
        """Describe a status other than 2xx, with the start of the server's message and without the key."""
        with error:
            try:
                said = error.read(4 * _QUOTED).decode("utf-8", "replace")
            except (OSError, http.client.HTTPException):
                said = ""
        if key:
            said = said.replace(key, "***")
        message = f"{self._url} answered {error.code}: {' '.join(said.split())[:_QUOTED] or error.reason}."
        if error.code == _TOO_MANY_REQUESTS or error.code >= _FIRST_SERVER_FAULT:
            return _WorthRetryError(message, remedy="Try again later.", asked=_seconds(error.headers["Retry-After"]))
        return EmbedderError(message, remedy="Check the address, the model's name and the key.")

    def _timed_out(self) -> EmbedderError:
        return EmbedderError(f"{self._url} did not answer within {self._timeout:g} s.", remedy=_CHECK_SERVER)

    def _rows(self, body: bytes) -> list[Any]:
        """Return the reply's embeddings in the order of the texts, not yet checked as vectors."""
        try:
            reply = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise self._wrong(f"is not JSON ({error})") from error
        items = reply.get("data") if isinstance(reply, dict) else None
        if not isinstance(items, list):
            raise self._wrong("has no list `data`")
        rows: dict[int, Any] = {}
        for item in items:
            if not isinstance(item, dict) or type(item.get("index")) is not int or "embedding" not in item:
                raise self._wrong("has an entry without `index` or `embedding`")
            rows[item["index"]] = item["embedding"]
        if sorted(rows) != list(range(len(items))):
            raise self._wrong(f"does not number its {len(items)} entries from 0 without gaps")
        return [rows[position] for position in range(len(items))]

    def _wrong(self, what: str) -> EmbedderError:
        return EmbedderError(f"The reply of {self._url} {what}.", remedy=_CHECK_SERVER)

    def _key(self) -> str:
        """Return the bearer key, or "" if none is wanted."""
        if self._key_variable is None:
            return ""
        key = os.environ.get(self._key_variable, "").strip()
        if not key:
            raise EmbedderError(
                f"The environment variable {self._key_variable} is not set.",
                remedy="Set it to the server's key, or name no variable if the server needs none.",
            )
        if not (key.isascii() and key.isprintable()):
            raise EmbedderError(
                f"The environment variable {self._key_variable} holds characters that a header cannot carry.",
                remedy="Set it to the key alone, in one line.",
            )
        return key


_CHECK_SERVER = "Check that the server runs and speaks the OpenAI embeddings protocol."


class _WorthRetryError(EmbedderError):
    """A failure that may pass; after the last try the caller sees it as the EmbedderError that it is.

    Attributes:
        asked: Seconds the server asked us to wait; 0 if it did not say.
    """

    def __init__(self, message: str, *, remedy: str, asked: float = 0.0) -> None:
        super().__init__(message, remedy=remedy)
        self.asked = asked


class _NoRedirect(HTTPRedirectHandler):
    """Leaves every redirect an error."""

    def redirect_request(self, *_: Any) -> None:
        """Follow nothing."""


def _embeddings_url(base_url: str) -> str:
    """Return the address to post to; refuse anything but http and https, such as ``file:``."""
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
    return base_url.rstrip("/") + "/embeddings"


def _without_lone_surrogates(text: str) -> str:
    """Return the text with U+FFFD for each lone surrogate; servers refuse JSON that holds one."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _seconds(header: str | None) -> float:
    """Return a Retry-After header given in seconds; 0 for a date or nothing, which our own pause then covers."""
    return float(header) if header is not None and header.isascii() and header.isdigit() else 0.0

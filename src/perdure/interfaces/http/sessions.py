"""Sessions of browsers: who logs in with a token gets a cookie that stands for it, on the pages alone."""

from __future__ import annotations

import hmac
import secrets
from collections import OrderedDict
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from threading import Lock
from time import monotonic
from typing import Final

from starlette.types import Scope

COOKIE: Final = "perdure_session"
LIFE: Final = 12 * 3600
"""Seconds after a login until one must log in again."""
TRIES: Final = 10
TRIES_SECONDS: Final = 300
"""So many wrong tokens from one address in so many seconds; then it must wait."""
_MOST: Final = 10_000  # sessions, and addresses that are remembered
MACHINES: Final = ("/v1", "/mcp", "/metrics")
"""Paths that take a token alone: a browser sends its cookie unasked."""


class Sessions:
    """Knows the token behind each session's cookie. Thread-safe; a process forgets them when it ends.

    Args:
        secret: Signs cookies; a random one if None.
    """

    def __init__(self, secret: bytes | None = None) -> None:
        self._secret = secret or secrets.token_bytes(32)
        self._lock = Lock()
        self._tokens: OrderedDict[str, tuple[float, str]] = OrderedDict()  # session -> (end, token)
        self._tries: OrderedDict[str, list[float]] = OrderedDict()  # address -> when wrong tokens came from it

    def new(self) -> str:
        """Return a new session, which stands for no token yet."""
        name = secrets.token_urlsafe(24)
        return f"{name}.{self.digest(name)}"

    def is_ours(self, session: str) -> bool:
        """Whether a session was made by ``new``."""
        name, _, digest = session.rpartition(".")
        return bool(name) and hmac.compare_digest(digest.encode(), self.digest(name).encode())

    def digest(self, words: str) -> str:
        """Return a signature of some words."""
        return hmac.new(self._secret, words.encode(), sha256).hexdigest()

    def log_in(self, token: str) -> str:
        """Return a new session that stands for a token."""
        session = self.new()
        with self._lock:
            self._tokens[session] = (monotonic() + LIFE, token)
            while len(self._tokens) > _MOST:
                self._tokens.popitem(last=False)
        return session

    def log_out(self, session: str) -> None:
        """End a session."""
        with self._lock:
            self._tokens.pop(session, None)

    def token_of(self, scope: Scope) -> str | None:
        """Return the token that the session of a request for a page stands for; None where there is none."""
        if scope["path"].startswith(MACHINES):
            return None
        session = session_of(scope)
        with self._lock:
            end, token = self._tokens.get(session, (0.0, ""))
        if token and monotonic() >= end:
            self.log_out(session)
            return None
        return token or None

    def may_try(self, address: str) -> bool:
        """Whether an address may still try tokens."""
        since = monotonic() - TRIES_SECONDS
        with self._lock:
            return sum(at > since for at in self._tries.get(address, ())) < TRIES

    def note_failure(self, address: str) -> None:
        """Remember that a wrong token came from an address."""
        with self._lock:
            self._tries[address] = [*self._tries.pop(address, [])[1 - TRIES :], monotonic()]
            while len(self._tries) > _MOST:
                self._tries.popitem(last=False)


def session_of(scope: Scope) -> str:
    """Return the session that a request names in its cookie; empty if none."""
    for name, value in scope["headers"]:
        if name.lower() == b"cookie":
            try:
                found = SimpleCookie(value.decode("latin-1")).get(COOKIE)
            except CookieError:
                continue
            if found is not None:
                return found.value
    return ""

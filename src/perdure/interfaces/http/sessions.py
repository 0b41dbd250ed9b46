"""Sessions of browsers: who logs in with a token gets a cookie that stands for it, on the pages alone."""

from __future__ import annotations

import hmac
import secrets
from collections import OrderedDict
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Final

from starlette.types import Scope

from perdure.records.errors import DiskFull, StoreBusy, StoreReadOnly

if TYPE_CHECKING:
    from perdure.memory import Memory

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
    """Names sessions in which nobody has logged in, and counts wrong tokens. Thread-safe.

    Who has logged in is in the store (operations/tokens.py), and in the process where the store takes no writes.

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

    def log_in(self, memory: Memory, token: str) -> str | None:
        """Return a new session that stands for a token; None where the token is not valid. Asks the store."""
        try:
            return memory.log_in(token, LIFE)
        except (StoreReadOnly, StoreBusy, DiskFull):
            return self._keep(token) if memory.recognize(token) is not None else None

    def _keep(self, token: str) -> str:
        session = self.new()
        with self._lock:
            self._tokens[session] = (monotonic() + LIFE, token)
            while len(self._tokens) > _MOST:
                self._tokens.popitem(last=False)
        return session

    def log_out(self, session: str) -> None:
        """End a session that this process keeps."""
        with self._lock:
            self._tokens.pop(session, None)

    def token_of(self, session: str) -> str | None:
        """Return the token that a session stands for, if this process keeps it."""
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


def form_token(session: str) -> str:
    """Return what each form of a session carries: only who has the cookie can make it, also after a restart."""
    return hmac.new(session.encode(), b"form", sha256).hexdigest()


def page_session_of(scope: Scope) -> str:
    """Return the session of a request for a page; empty if none: a browser sends its cookie unasked elsewhere, too."""
    return "" if scope["path"].startswith(MACHINES) else session_of(scope)


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

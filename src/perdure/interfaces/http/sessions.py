"""Sessions of browsers: who logs in with a token gets a cookie that stands for it, on the pages alone."""

from __future__ import annotations

import hmac
import secrets
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Final

from anyio.to_thread import run_sync
from starlette.types import Scope

from perdure.interfaces.http.shared import LIFE, Shared
from perdure.records.errors import DiskFull, StoreBusy, StoreReadOnly

if TYPE_CHECKING:
    from perdure.memory import Memory

COOKIE: Final = "perdure_session"
TOKEN_ONLY_PATHS: Final = (
    "/v1",
    "/mcp",
    "/metrics",
)  # paths that take a token alone: a browser sends its cookie unasked


class Sessions:
    """Creates anonymous browser sessions and turns them into logged-in ones. Thread-safe but for what is awaited.

    Who has logged in is in the store (operations/tokens.py), and in the process where the store takes no writes.
    """

    def __init__(self, shared: Shared) -> None:
        self.shared = shared

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
        return hmac.new(self.shared.secret, words.encode(), sha256).hexdigest()

    async def log_in(self, memory: Memory, token: str) -> str | None:
        """Return a new session that stands for a token; None where the token is not valid. Asks the store."""
        try:
            return await run_sync(memory.log_in, token, LIFE)
        except (StoreReadOnly, StoreBusy, DiskFull):
            if await run_sync(memory.recognize, token) is None:
                return None
        session = self.new()
        await self.shared.keep_token(session, token)
        return session


def form_token(session: str) -> str:
    """Return the CSRF token of a session's forms: only who has the cookie can make it, also after a restart."""
    return hmac.new(session.encode(), b"form", sha256).hexdigest()


def own_path(scope: Scope) -> str:
    """Return the path of a request below the one where the service is mounted."""
    path, root = str(scope["path"]), scope.get("root_path", "")
    return path[len(root) :] if path.startswith(f"{root}/") else path


def page_session_of(scope: Scope) -> str:
    """Return the session of a request for a page; empty if none: a browser sends its cookie unasked elsewhere, too."""
    return "" if own_path(scope).startswith(TOKEN_ONLY_PATHS) else session_of(scope)


def session_of(scope: Scope) -> str:
    """Return the session that a request names in its cookie; empty if none."""
    for name, value in scope["headers"]:
        if name.lower() == b"cookie":
            try:
                cookie = SimpleCookie(value.decode("latin-1")).get(COOKIE)
            except CookieError:
                continue
            if cookie is not None:
                return cookie.value
    return ""

"""The outermost layer: Host and Origin are checked exactly, headers have a limit, answers say what browsers may do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from perdure.interfaces.http.problems import RequestRefused, problem_of
from perdure.interfaces.http.sessions import own_path
from perdure.interfaces.http.settings import Settings

_CONTENT: Final = b"; ".join(
    (
        b"default-src 'none'",
        b"script-src 'self'",
        b"style-src 'self'",
        b"img-src 'self' data:",
        b"connect-src 'self'",
        b"form-action 'self'",
        b"base-uri 'none'",
        b"frame-ancestors 'none'",
    )
)
_SECURITY: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    (b"content-security-policy", _CONTENT),
)
_SECURITY_NAMES: Final = frozenset(name for name, _ in _SECURITY)
_BROWSER_HEADERS: Final = frozenset((b"origin", b"sec-fetch-site"))
_SCHEMES: Final = ("http", "https")


class RequestGuard:
    """Refuses requests that name another host or come from another site, and adds security headers to all answers.

    Against DNS rebinding, forged requests of other sites, and framing. What is wrapped sees only requests for this
    service. ``note`` is called with the scope and the status of each answer, before that is sent.
    """

    def __init__(self, app: ASGIApp, settings: Settings, note: Callable[[Scope, int], None]) -> None:
        self._app, self._settings, self._note = app, settings, note
        self._origins = {f"{scheme}://{host}" for scheme in _SCHEMES for host in settings.hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return

        async def send_secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._note(scope, message["status"])
                message["headers"] = _with_security_headers(message.get("headers", ()))
            await send(message)

        try:
            self._check(scope)
        except RequestRefused as error:
            await problem_of(error)(scope, receive, send_secured)
        else:
            await self._app(scope, receive, send_secured)

    def _check(self, scope: Scope) -> None:
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        if scope["type"] != "http":
            raise RequestRefused(400, "Only HTTP is served here.", remedy="Send an HTTP request.")
        size, hosts, from_browser, chunked = 0, [], False, False
        for name, value in headers:  # once, because each request passes here
            size += len(name) + len(value)
            lower = name.lower()
            if lower == b"host":
                hosts.append(value)
            elif lower in _BROWSER_HEADERS:
                from_browser = True
            elif lower == b"transfer-encoding":
                chunked = True
        if size > self._settings.header_bytes:
            raise RequestRefused(431, "The headers are too long.", remedy="Send fewer or shorter headers.")
        if len(hosts) != 1 or hosts[0].decode("latin-1").lower() not in self._settings.hosts:
            raise RequestRefused(
                421,
                "The Host header names another host.",
                remedy="Use the service's own address, or start it with --allowed-host NAME.",
            )
        if chunked and _values(headers, b"content-length"):  # another reader may find another end of it
            raise RequestRefused(
                400,
                "The body has two lengths.",
                remedy="Send content-length or transfer-encoding, not both.",
                headers={"connection": "close"},
            )
        if from_browser:
            self._check_site(scope, headers)

    def _check_site(self, scope: Scope, headers: list[tuple[bytes, bytes]]) -> None:
        for origin in _values(headers, b"origin"):
            if not self._is_own(origin):
                raise RequestRefused(403, "The request comes from another site.", remedy="Send it from this one.")
        if "cross-site" in _values(headers, b"sec-fetch-site") and not _is_visit(scope, headers):
            raise RequestRefused(403, "The request comes from another site.", remedy="Send it from this one.")

    def _is_own(self, origin: str) -> bool:
        parts = urlsplit(origin.lower())
        return origin.lower() in self._origins and not parts.path and not parts.query


def _with_security_headers(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return the headers of an answer with those that tell browsers what they may do, where it has none of its own."""
    answer_headers = [(name, value) for name, value in headers if name.lower() != b"server"]
    known = {name.lower() for name, _ in answer_headers}
    if known.isdisjoint(_SECURITY_NAMES):
        return [*answer_headers, *_SECURITY]
    return [*answer_headers, *(pair for pair in _SECURITY if pair[0] not in known)]


def _values(headers: Iterable[tuple[bytes, bytes]], lower_name: bytes) -> list[str]:
    return [value.decode("latin-1") for name, value in headers if name.lower() == lower_name]


def _is_visit(scope: Scope, headers: list[tuple[bytes, bytes]]) -> bool:
    """Whether a person follows a link from elsewhere: that shows a page, and changes nothing."""
    navigates = "navigate" in _values(headers, b"sec-fetch-mode") and "document" in _values(headers, b"sec-fetch-dest")
    return scope["method"] in {"GET", "HEAD"} and navigates and not own_path(scope).startswith(("/v1/", "/mcp"))

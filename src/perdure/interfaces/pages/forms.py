"""Which forms are ours: a browser's session has a cookie, and each form carries a token made from it."""

from __future__ import annotations

import hmac
from typing import Final
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import Response

from perdure.interfaces.http.sessions import COOKIE, Sessions, form_token, session_of
from perdure.interfaces.http.shared import LIFE
from perdure.records.errors import InvalidInput

TOKEN: Final = "token"  # noqa: S105  # the name of a field
LONGEST: Final = 1 << 21  # bytes of a form
_FIELDS: Final = 2000  # most fields of a form


class FormRefused(Exception):  # noqa: N818  # reads as the statement it makes
    """A form was sent that is not one of ours, or too large; nothing was done."""


class FormGuard:
    """Makes the tokens of forms, and refuses forms without one."""

    def __init__(self, sessions: Sessions) -> None:
        self.sessions = sessions

    def session_of(self, request: Request) -> str:
        """Return the browser's session: that of its cookie, or a new one."""
        session = session_of(request.scope)
        is_known = session and session == getattr(request.state, "session", None)
        return session if is_known or self.sessions.is_ours(session) else self.sessions.new()

    def keep(self, request: Request, response: Response, session: str) -> None:
        """Give the browser its session, if it has another one."""
        if session_of(request.scope) != session:
            secure = request.url.scheme == "https"
            path = request.scope.get("root_path") or "/"
            response.set_cookie(
                COOKIE, session, max_age=LIFE, path=path, httponly=True, samesite="strict", secure=secure
            )

    async def form(self, request: Request, session: str) -> dict[str, list[str]]:
        """Return the fields of a form that was sent: name -> values."""
        fields = await read_own_form(request)
        token = next(iter(fields.get(TOKEN, ())), "")
        if not hmac.compare_digest(token.encode(), form_token(session).encode()):
            raise FormRefused("This form has expired. Go back, reload the page and send it again.")
        return fields


async def read_own_form(request: Request) -> dict[str, list[str]]:
    """Return the fields of a form that this site has sent; whether a session is behind it is not looked at."""
    check_origin(request)
    return await _read(request)


def check_origin(request: Request) -> None:
    """Refuse a form that another site has sent."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    own = f"{request.url.scheme}://{request.url.netloc}"
    if (origin is not None and origin != own) or (site is not None and site not in {"same-origin", "none"}):
        raise FormRefused("This form was sent by another site; nothing was done.")


async def _read(request: Request) -> dict[str, list[str]]:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > LONGEST:
            raise FormRefused("The form is too large.")
    try:
        return parse_qs(body.decode(), keep_blank_values=True, max_num_fields=_FIELDS, errors="strict")
    except ValueError as error:
        raise InvalidInput("The form cannot be read.", remedy="Send the page's own form.") from error

"""Logging in with a token, and out."""

from __future__ import annotations

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from perdure.interfaces.http.access import Keyring
from perdure.interfaces.http.problems import status_of
from perdure.interfaces.pages.asked import Asked, Shown
from perdure.interfaces.pages.forms import FormGuard
from perdure.interfaces.pages.rendering import HEADERS, respond
from perdure.records.errors import PerdureError

_WRONG = "This token is not valid: it is unknown, revoked or has ended."
_WAIT = "Too many wrong tokens came from here. Wait five minutes."


def login_page(asked: Asked, told: str = "", status: int = 200) -> Response:
    """Return the page that asks for a token."""
    return respond(asked, Shown("login", "Log in", {"told": told}, status))


async def log_in(request: Request, guard: FormGuard, asked: Asked) -> Response:
    """Begin a session with the token of the form; how often an address may try is limited."""
    address = request.client.host if request.client else ""
    if not await guard.sessions.shared.may_try(address):
        return login_page(asked, _WAIT, 429)
    secret, keyring = asked.given("secret"), request.state.keyring
    known = isinstance(keyring, Keyring)
    try:
        begun = await keyring.log_in(guard.sessions, secret) if known else None
    except PerdureError as error:  # the store does not answer: nobody knows whether the token is right
        return login_page(asked, f"{error.message} {error.remedy}", status_of(error))
    if begun is None:
        await guard.sessions.shared.note_failure(address)
        return login_page(asked, _WRONG, 401)
    response = RedirectResponse(asked.link("/"), 303, headers=HEADERS)
    guard.keep(request, response, begun)  # a new one: nobody knows it from before
    return response


async def log_out(request: Request, guard: FormGuard, asked: Asked, session: str) -> Response:
    """End the session; the browser loses its cookie also where the store takes no writes."""
    keyring = request.state.keyring
    response: Response = RedirectResponse(asked.link("/login"), 303, headers=HEADERS)
    await guard.sessions.shared.drop_token(session)
    try:
        if isinstance(keyring, Keyring):
            await to_thread.run_sync(keyring.log_out, session)
    except PerdureError as error:
        response = login_page(asked, f"{error.message} The session could not be ended in the store.", status_of(error))
    guard.keep(request, response, guard.sessions.new())
    return response

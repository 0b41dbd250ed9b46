"""Logging in with a token, and out."""

from __future__ import annotations

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from perdure.interfaces.http.access import Keyring, wrong_token
from perdure.interfaces.http.problems import headers_of, status_of, told_to_callers
from perdure.interfaces.pages.forms import FormGuard
from perdure.interfaces.pages.page_request import HtmlPage, PageRequest
from perdure.interfaces.pages.rendering import HEADERS, respond
from perdure.records.errors import PerdureError


def login_page(page_request: PageRequest, message: str = "", status: int = 200, error: str = "") -> Response:
    """Return the page that asks for a token; where an error is told, with its class for the log."""
    return respond(page_request, HtmlPage("login", "Log in", {"message": message}, status, error))


async def log_in(request: Request, guard: FormGuard, page_request: PageRequest) -> Response:
    """Begin a session with the token of the form; how often an address may try is limited."""
    address = request.client.host if request.client else ""
    secret, keyring = page_request.form_value("secret"), request.state.keyring
    has_keyring = isinstance(keyring, Keyring)
    try:
        session = await keyring.log_in(guard.sessions, secret) if has_keyring else None
    except PerdureError as error:  # the store does not answer: nobody knows whether the token is right
        return login_page(page_request, " ".join(told_to_callers(error)), status_of(error), type(error).__name__)
    if session is None:
        wrong = await wrong_token(guard.sessions.shared, address)
        refused = login_page(page_request, wrong.message, status_of(wrong), type(wrong).__name__)
        refused.headers.update(headers_of(wrong, refused.status_code))
        return refused
    response = RedirectResponse(page_request.link("/"), 303, headers=HEADERS)
    guard.keep(request, response, session)  # a new one: nobody knows it from before
    return response


async def log_out(request: Request, guard: FormGuard, page_request: PageRequest, session: str) -> Response:
    """End the session; the browser loses its cookie also where the store takes no writes."""
    keyring = request.state.keyring
    response: Response = RedirectResponse(page_request.link("/login"), 303, headers=HEADERS)
    await guard.sessions.shared.drop_token(session)
    try:
        if isinstance(keyring, Keyring):
            await to_thread.run_sync(keyring.log_out, session)
    except PerdureError as error:
        message = f"{told_to_callers(error)[0]} The session could not be ended in the store."
        response = login_page(page_request, message, status_of(error), type(error).__name__)
    guard.keep(request, response, guard.sessions.new())
    return response

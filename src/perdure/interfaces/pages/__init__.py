"""The page: what is known, and what becomes of it, to look at and to decide on in a browser."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Final, cast

from anyio import move_on_after, to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from perdure.interfaces.http.problems import RequestRefused, headers_of, status_of, told_to_callers
from perdure.interfaces.http.sessions import Sessions, form_token
from perdure.interfaces.http.shared import Shared
from perdure.interfaces.pages import (
    changes,
    erasing,
    facts,
    login,
    memories,
    memory_file,
    overview,
    plans,
    questions,
    search,
)
from perdure.interfaces.pages.forms import FormGuard, FormRefused, read_own_form
from perdure.interfaces.pages.live import LiveUpdates, check_rate, memory_files_of, run_in_thread
from perdure.interfaces.pages.page_request import Answer, HtmlPage, PageRequest
from perdure.interfaces.pages.rendering import FOLDER, respond
from perdure.memory import Memory
from perdure.records.errors import OutcomeUnknown, PerdureError, TooManyCalls
from perdure.records.wording import JSON, worded

_log = logging.getLogger(__name__)
Handler = Callable[[PageRequest], Answer]
_READ_SECONDS: Final = 10.0  # for the form of somebody who is not known
_NO_PAGE: Final = 404

READ: Final[Mapping[str, Handler]] = {
    "/": overview.overview,
    "/search": search.search,
    "/memory": memories.memory,
    "/id": memories.find_by_id,
    "/change": changes.change_form,
    "/erase": erasing.erase_form,
    "/facts": facts.facts,
    "/questions": questions.questions,
    "/plans": plans.plans,
    "/memory-md": memory_file.memory_file,
}
"""Path -> handler of pages that only show."""
WRITE: Final[Mapping[str, Handler]] = {
    "/change": changes.make_change,
    "/erase": erasing.erase,
    "/undo": changes.undo,
    "/answer": questions.answer,
    "/apply": plans.apply,
    "/plans": plans.plans,
}
"""Path -> handler of forms."""


def routes(sessions: Sessions | None = None, live: LiveUpdates | None = None) -> list[BaseRoute]:
    """Return the routes of the page. What mounts them sets ``request.state.memory`` to the caller's memory."""
    guard = FormGuard(sessions or Sessions(Shared()))
    shown = [Route(path, partial(_show, handler, guard), methods=["GET"]) for path, handler in READ.items()]
    written = [Route(path, partial(_do, handler, guard), methods=["POST"]) for path, handler in WRITE.items()]
    others = [
        Route("/live", (live or LiveUpdates()).answer, methods=["GET"]),
        Route("/login", partial(_log_in_or_out, guard), methods=["GET", "POST"]),
        Route("/logout", partial(_log_in_or_out, guard), methods=["POST"]),
    ]
    return [*shown, *written, *others, Mount("/static", StaticFiles(directory=FOLDER / "static"), name="static")]


async def _log_in_or_out(guard: FormGuard, request: Request) -> Response:
    session = guard.session_of(request)
    page_request = _page_request(request, session)
    if request.method == "GET":
        response = await to_thread.run_sync(login.login_page, page_request)
        guard.keep(request, response, session)
        return response
    try:
        page_request = _page_request(request, session, await guard.form(request, session))
    except (FormRefused, PerdureError) as error:
        return login.login_page(page_request, str(error), 403, type(error).__name__)
    if page_request.path == "/logout":
        return await login.log_out(request, guard, page_request, session)
    return await login.log_in(request, guard, page_request)


async def _show(handler: Handler, guard: FormGuard, request: Request) -> Response:
    session = guard.session_of(request)
    response = await _run(request, partial(_read, handler), _page_request(request, session))
    guard.keep(request, response, session)
    return response


def _read(handler: Handler, page_request: PageRequest) -> Answer:
    """Show a page, or which namespaces there are like the one that was typed."""
    return (handler if page_request.similar is None else overview.similar_namespaces)(page_request)


async def _do(handler: Handler, guard: FormGuard, request: Request) -> Response:
    session = guard.session_of(request)
    page_request = _page_request(request, session)
    try:
        form = await guard.form(request, session)
    except (FormRefused, PerdureError) as error:
        page = HtmlPage("error", "Refused", {"message": str(error), "remedy": ""}, 403, type(error).__name__)
        return await _run(request, lambda _: page, page_request)
    return await _run(request, handler, _page_request(request, session, form))


async def _run(request: Request, handler: Handler, page_request: PageRequest) -> Response:
    """Answer in one of the service's threads, which are limited in number and time."""
    try:
        await check_rate(request)
        return await run_in_thread(request, partial(_answer, handler, page_request))
    except (RequestRefused, TooManyCalls, OutcomeUnknown) as error:
        return error_page(error, page_request.root)


def error_page(error: PerdureError, root: str = "") -> Response:
    """Return the page for an error before any page was made; it asks the store for nothing."""
    page_request = PageRequest(cast("Memory", None), "/", root, known=False)
    page = _error("Not now", error)
    if page.status == _NO_PAGE:
        page = replace(page, title="Not found", values={**page.values, "way_on": (f"{root}/", "To the overview")})
    response = respond(page_request, page)
    response.headers.update(headers_of(error, response.status_code))
    return response


async def logged_out_page(request: Request) -> Response:
    """Return the page for a form of somebody whose session has ended: what was typed, and the way to the login."""
    fields: Mapping[str, list[str]] = {}
    with suppress(FormRefused, PerdureError), move_on_after(_READ_SECONDS):
        fields = await read_own_form(request)
    root = request.scope.get("root_path", "")
    page_request = PageRequest(cast("Memory", None), "/", root, form=fields, known=False)
    values = {
        "message": "Your session has ended; nothing was done.",
        "remedy": "Log in, then do it again.",
        "way_on": (f"{root}/login", "Log in"),
    }
    return respond(page_request, HtmlPage("error", "Logged out", values, 401, RequestRefused.__name__))


def _page_request(request: Request, session: str, form: Mapping[str, list[str]] | None = None) -> PageRequest:
    memory = request.state.memory
    if memory is not None and request.method != "POST":  # browsers get pages unasked, and again
        memory = memory.without_model()
    return PageRequest(
        memory=memory,
        has_model=memory is not None and request.state.memory.has_model,
        known=request.state.memory is not None,
        grant=getattr(getattr(request.state, "principal", None), "grant", None),
        path=request.url.path.removeprefix(request.scope.get("root_path", "")),
        root=request.scope.get("root_path", ""),
        query=dict(request.query_params),
        form=form or {},
        token=form_token(session),
        files=memory_files_of(request),
        live="part" in request.query_params,
    )


@worded(JSON)
def _answer(handler: Handler, page_request: PageRequest) -> Response:
    plain = replace(page_request, query={})  # nothing that an error's page shows besides asks the store again for it
    try:
        _ = page_request.newest_operation  # read before what is shown: what happens meanwhile is news to the page
        return respond(page_request, handler(page_request))
    except PerdureError as error:
        written = getattr(error, "operations", ())[::-1]
        return respond(plain, _error("Done in part" if written else "Not possible", error, written))
    except Exception:  # noqa: BLE001  # the outermost place: the person sees a message, and the log has the details
        _log.exception("The page %s failed.", page_request.path)
        message, remedy = "Perdure has a bug here; nothing is half done.", "The service's log has the details."
        values = {"message": message, "remedy": remedy}
        return respond(plain, HtmlPage("error", "This failed", values, 500, "InternalError"))


def _error(title: str, error: PerdureError, written: Sequence[str] = ()) -> HtmlPage:
    """Return an error's page; what was written before it can be undone there, given newest first."""
    message, remedy = told_to_callers(error)
    values = {"message": message, "remedy": remedy, "undo": (written, "Undo what was written")}
    return HtmlPage("error", title, values, status_of(error), type(error).__name__)

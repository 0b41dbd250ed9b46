"""Templates into responses. What others wrote is escaped, and headers let the browser run no script but ours."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse, RedirectResponse, Response

from perdure.interfaces.http.problems import ErrorAnswer
from perdure.interfaces.pages import drawing
from perdure.interfaces.pages.page_request import Answer, HtmlPage, PageRequest, Redirect
from perdure.interfaces.views import Request, view_of
from perdure.interfaces.views.journal import operation_note, operation_text, reason_text, total_note
from perdure.interfaces.views.values import format_figure, format_instant, pluralize
from perdure.records.identifier import shown_id
from perdure.records.report import Operation

FOLDER: Final = Path(__file__).parent
_LONGEST_NOTE: Final = 120  # characters
HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
SECTIONS: Final = (
    ("/", "Overview", "stats"),
    ("/search", "Search", "recall"),
    ("/facts", "Facts", "facts"),
    ("/questions", "Questions", "review"),
    ("/plans", "Plans", "history"),
    ("/memory-md", "MEMORY.md", "digest"),
)
"""(path, name, the verb that it needs) of each page of the menu."""


def respond(request: PageRequest, answer: Answer) -> Response:
    """Return the response to an answer of a handler."""
    if isinstance(answer, Redirect):
        return RedirectResponse(answer.address, 303, headers=HEADERS)
    html = render(request, answer)
    if answer.error:
        return ErrorAnswer(answer.error, html, answer.status, HEADERS, "text/html")
    return HTMLResponse(html, answer.status, headers=HEADERS)


def render(request: PageRequest, page: HtmlPage) -> str:
    """Return a page as HTML."""
    template = environment().get_template(f"{page.template}.html")
    layout = "part.html" if request.live else "layout.html"
    sections = [(path, name) for path, name, verb in SECTIONS if request.allows(verb)]
    return template.render(request=request, title=page.title, layout=layout, sections=sections, **page.values)


@cache
def environment() -> Environment:
    """Return the templates, with what all of them use."""
    templates = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {
        "lines": drawing.lines,
        "render_excerpt": render_excerpt,
        "when": format_instant,
        "short": shown_id,
        "counted": pluralize,
        "note": note_of,
        "render_operations": render_operations,
        "amount": lambda alert, value: format_figure(alert.name, value),
        "what": operation_text,
        "why": reason_text,
    }
    templates.globals |= {
        "draw": drawing.draw,
        "foreign": drawing.foreign,
        "undo_form": drawing.undo_form,
        "token_field": drawing.token_field,
        "render_result": render_result,
    }
    return templates


def render_result(request: PageRequest, result: object, verb: str, **arguments: object) -> Markup:
    """Return the view of a result as HTML."""
    return drawing.draw(request, view_of(result, Request(verb, arguments, {"no_facts": request.memory.no_facts})))


def note_of(operation: Operation, most: int = _LONGEST_NOTE) -> Markup:
    """Return what an operation did, without its name, which stands beside it."""
    return drawing.foreign(operation_note(operation), most)


def render_operations(operations: Sequence[Operation]) -> Markup:
    """Return what some operations of one run were and did."""
    runs = [(name, list(some)) for name, some in groupby(operations, attrgetter("operation"))]
    return Markup("; ").join(
        Markup("{}. {}{}").format(
            name,
            drawing.foreign(total_note(some), _LONGEST_NOTE),
            "" if len(some) == 1 else f" ({pluralize(len(some), 'operation')})",
        )
        for name, some in runs
    )


def render_excerpt(words: str, most: int = 140) -> Markup:
    """Return the beginning of what others wrote, on one line."""
    return drawing.foreign(words, most)

"""Templates and views into responses: what others wrote is text, and headers let browsers run no script but ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse, RedirectResponse, Response

from perdure.interfaces.http.problems import ErrorAnswer
from perdure.interfaces.pages.page_request import Answer, HtmlPage, PageRequest, Redirect
from perdure.interfaces.views import Request, view_of
from perdure.interfaces.views import blocks as b
from perdure.interfaces.views.blocks import Block, Command, Identifier, Line, Quote, Span, Text, Untrusted, spans
from perdure.interfaces.views.journal import operation_note, operation_text, reason_text, total_note
from perdure.interfaces.views.values import format_figure, format_instant, pluralize
from perdure.records.identifier import shown_id
from perdure.records.report import Operation
from perdure.rules.escaping import cut, terminal_line, terminal_text

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
_PAGES: Final = {"review": ("/questions", "Questions"), "facts": ("/facts", "Facts"), "used": ("", "")}
"""Verb -> the page on which a person does what a view says to call it for, and its name."""
_JOIN: Final = Markup("")


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
        "lines": lines,
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
        "draw": draw,
        "foreign": foreign,
        "undo_form": undo_form,
        "token_field": token_field,
        "render_result": render_result,
    }
    return templates


def render_result(request: PageRequest, result: object, verb: str, **arguments: object) -> Markup:
    """Return the view of a result as HTML."""
    return draw(request, view_of(result, Request(verb, arguments, {"facts_hint": request.memory.facts_hint})))


def note_of(operation: Operation, most: int = _LONGEST_NOTE) -> Markup:
    """Return what an operation did, without its name, which stands beside it."""
    return foreign(operation_note(operation), most)


def render_operations(operations: Sequence[Operation]) -> Markup:
    """Return what some operations of one run were and did."""
    runs = [(name, list(some)) for name, some in groupby(operations, attrgetter("operation"))]
    return Markup("; ").join(
        Markup("{}. {}{}").format(
            name,
            foreign(total_note(some), _LONGEST_NOTE),
            "" if len(some) == 1 else f" ({pluralize(len(some), 'operation')})",
        )
        for name, some in runs
    )


def render_excerpt(words: str, most: int = 140) -> Markup:
    """Return the beginning of what others wrote, on one line."""
    return foreign(words, most)


def draw(request: PageRequest, blocks: Iterable[Block]) -> Markup:
    """Return a view as HTML. Lines for models, and those that only name a command, are left out."""
    return Markup("\n").join(_DRAW[type(block)](request, block) for block in blocks if _is_shown(block))


def text(request: PageRequest, value: Text) -> Markup:
    """Return a text of a view as HTML."""
    return _JOIN.join(_span(request, span) for span in spans(value))


def foreign(words: str, most: int = 0) -> Markup:
    """Return what others wrote, on one line; at most so many characters of it, 0 for all."""
    line = terminal_line(" ".join(words.split()) if most else words)
    return Markup('<bdi class="said">{}</bdi>').format(cut(line, most) if most else line)


def lines(words: str) -> str:
    """Return what others wrote with its lines; the template escapes it."""
    return terminal_text(words)


def _is_shown(block: Block) -> bool:
    if not isinstance(block, Line):
        return True
    calls = [span for span in spans(block.text) if isinstance(span, Command)]
    return block.reader != "model" and all(call.verb in _PAGES and _PAGES[call.verb][0] for call in calls)


def _line(request: PageRequest, block: Line) -> Markup:
    kind = f"{block.tone} item" if block.item else block.tone
    return Markup('<p class="{}">{}</p>').format(kind, text(request, block.text))


def _table(request: PageRequest, block: b.Table) -> Markup:
    head = _JOIN.join(Markup('<th scope="col">{}</th>').format(name) for name in block.columns)
    rows = _JOIN.join(
        Markup("<tr>{}</tr>").format(_JOIN.join(Markup("<td>{}</td>").format(text(request, cell)) for cell in row))
        for row in block.rows
    )
    table = Markup('<div class="scroll" tabindex="0"><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>')
    return table.format(head, rows)


def _pairs(request: PageRequest, block: b.Pairs) -> Markup:
    pair = Markup("<div><dt>{}</dt><dd>{}</dd></div>")
    return Markup('<dl class="pairs">{}</dl>').format(
        _JOIN.join(pair.format(name, text(request, value)) for name, value in block.pairs)
    )


def _quote(request: PageRequest, block: Quote) -> Markup:
    speaker = Markup("<b>{}</b> ").format(foreign(block.speaker)) if block.speaker else ""
    marks = Markup(" · ").join(text(request, fact) for fact in block.facts)
    warnings = _JOIN.join(Markup('<p class="warning">{}</p>').format(text(request, one)) for one in block.warnings)
    quote = Markup('<blockquote class="said">{}{}</blockquote><p class="faint">{}</p>{}')
    return quote.format(speaker, lines(block.text), marks, warnings)


def _document(_: PageRequest, block: b.PlainText) -> Markup:
    return Markup('<pre class="document" tabindex="0">{}</pre>').format(lines(block.text))


def _undo(request: PageRequest, block: b.Undo) -> Markup:
    return undo_form(request, block.operations[::-1])


def undo_form(request: PageRequest, operations: Sequence[str], label: str = "Undo", memory: str = "") -> Markup:
    """Return a button that takes operations back in their order, and goes to a memory then, or to the operations."""
    if not operations or not request.allows("undo"):
        return Markup("")
    form = Markup(
        '<form method="post" action="{}" class="inline">{}{}'
        '<input type="hidden" name="id" value="{}"><button class="quiet">{}</button></form>'
    )
    ids = _JOIN.join(Markup('<input type="hidden" name="operation" value="{}">').format(one) for one in operations)
    return form.format(request.link("/undo"), token_field(request), ids, memory, label)


def token_field(request: PageRequest) -> Markup:
    """Return the field that shows that a form is one of ours."""
    return Markup('<input type="hidden" name="token" value="{}">').format(request.token)


_DRAW: Final[dict[type, Callable[[PageRequest, Any], Markup]]] = {
    Line: _line,
    b.Table: _table,
    b.Pairs: _pairs,
    Quote: _quote,
    b.PlainText: _document,
    b.Undo: _undo,
}


def _span(request: PageRequest, span: Span) -> Markup:
    if isinstance(span, Untrusted):
        return foreign(span.text, span.most)
    if isinstance(span, Identifier):
        return Markup('<a class="id" href="{}">{}</a>').format(request.link("/id", id=span.id), span.short)
    if isinstance(span, Command):
        path, name = _PAGES[span.verb]
        return Markup('<a href="{}">{}</a>').format(request.link(path), name)
    return Markup("{}").format(terminal_line(span))

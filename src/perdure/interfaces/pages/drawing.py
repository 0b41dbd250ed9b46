"""Drawing a view as HTML. What others wrote is text: nothing in it becomes markup, and what steers a line is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from markupsafe import Markup

from perdure.interfaces.pages.page_request import PageRequest
from perdure.interfaces.views import blocks as b
from perdure.interfaces.views.blocks import Block, Command, Foreign, Identifier, Line, Quote, Span, Text, spans
from perdure.rules.escaping import cut, terminal_line, terminal_text

_PAGES: Final = {"review": ("/questions", "Questions"), "facts": ("/facts", "Facts"), "used": ("", "")}
"""Verb -> the page on which a person does what a view says to call it for, and its name."""
_JOIN: Final = Markup("")


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
    if isinstance(span, Foreign):
        return foreign(span.text, span.most)
    if isinstance(span, Identifier):
        return Markup('<a class="id" href="{}">{}</a>').format(request.link("/id", id=span.id), span.short)
    if isinstance(span, Command):
        path, name = _PAGES[span.verb]
        return Markup('<a href="{}">{}</a>').format(request.link(path), name)
    return Markup("{}").format(terminal_line(span))

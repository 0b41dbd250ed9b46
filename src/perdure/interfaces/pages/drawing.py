"""Drawing a view as HTML. What others wrote is text: nothing in it becomes markup, and what steers a line is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from markupsafe import Markup

from perdure.interfaces.pages.asked import Asked
from perdure.interfaces.views import blocks as b
from perdure.interfaces.views.blocks import Block, Command, Foreign, Identifier, Line, Quote, Span, Text, spans
from perdure.rules.escaping import cut, terminal_line, terminal_text

_PAGES: Final = {"review": ("/questions", "Questions"), "facts": ("/facts", "Facts"), "used": ("", "")}
"""Verb -> the page on which a person does what a view says to call it for, and its name."""
_JOIN: Final = Markup("")


def draw(asked: Asked, blocks: Iterable[Block]) -> Markup:
    """Return a view as HTML. Lines for models, and those that only name a command, are left out."""
    return Markup("\n").join(_DRAW[type(block)](asked, block) for block in blocks if _is_shown(block))


def text(asked: Asked, given: Text) -> Markup:
    """Return a text of a view as HTML."""
    return _JOIN.join(_span(asked, span) for span in spans(given))


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


def _line(asked: Asked, block: Line) -> Markup:
    kind = f"{block.tone} item" if block.item else block.tone
    return Markup('<p class="{}">{}</p>').format(kind, text(asked, block.text))


def _table(asked: Asked, block: b.Table) -> Markup:
    head = _JOIN.join(Markup('<th scope="col">{}</th>').format(name) for name in block.columns)
    rows = _JOIN.join(
        Markup("<tr>{}</tr>").format(_JOIN.join(Markup("<td>{}</td>").format(text(asked, cell)) for cell in row))
        for row in block.rows
    )
    table = Markup('<div class="scroll" tabindex="0"><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>')
    return table.format(head, rows)


def _pairs(asked: Asked, block: b.Pairs) -> Markup:
    pair = Markup("<div><dt>{}</dt><dd>{}</dd></div>")
    return Markup('<dl class="pairs">{}</dl>').format(
        _JOIN.join(pair.format(name, text(asked, value)) for name, value in block.pairs)
    )


def _quote(asked: Asked, block: Quote) -> Markup:
    said = Markup("<b>{}</b> ").format(foreign(block.speaker)) if block.speaker else ""
    marks = Markup(" · ").join(text(asked, fact) for fact in block.facts)
    doubts = _JOIN.join(Markup('<p class="warning">{}</p>').format(text(asked, one)) for one in block.warnings)
    quote = Markup('<blockquote class="said">{}{}</blockquote><p class="faint">{}</p>{}')
    return quote.format(said, lines(block.text), marks, doubts)


def _document(_: Asked, block: b.PlainText) -> Markup:
    return Markup('<pre class="document" tabindex="0">{}</pre>').format(lines(block.text))


def _undo(asked: Asked, block: b.Undo) -> Markup:
    return _JOIN.join(undo_form(asked, operation) for operation in reversed(block.operations))


def undo_form(asked: Asked, operation: str, label: str = "Undo", memory: str = "") -> Markup:
    """Return a button that takes an operation back, and goes to a memory then, or to the operations."""
    if not asked.allows("undo"):
        return Markup("")
    form = Markup(
        '<form method="post" action="{}" class="inline">{}<input type="hidden" name="operation" value="{}">'
        '<input type="hidden" name="id" value="{}"><button class="quiet">{}</button></form>'
    )
    return form.format(asked.link("/undo"), token_field(asked), operation, memory, label)


def token_field(asked: Asked) -> Markup:
    """Return the field that shows that a form is one of ours."""
    return Markup('<input type="hidden" name="token" value="{}">').format(asked.token)


_DRAW: Final[dict[type, Callable[[Asked, Any], Markup]]] = {
    Line: _line,
    b.Table: _table,
    b.Pairs: _pairs,
    Quote: _quote,
    b.PlainText: _document,
    b.Undo: _undo,
}


def _span(asked: Asked, span: Span) -> Markup:
    if isinstance(span, Foreign):
        return foreign(span.text, span.most)
    if isinstance(span, Identifier):
        return Markup('<a class="id" href="{}">{}</a>').format(asked.link("/id", id=span.id), span.short)
    if isinstance(span, Command):
        path, name = _PAGES[span.verb]
        return Markup('<a href="{}">{}</a>').format(asked.link(path), name)
    return Markup("{}").format(terminal_line(span))

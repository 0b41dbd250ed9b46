"""Text of others (contents, names, ids, tags, paths) on its way out: nothing in it ends the place it stands in.

Every exit uses one of these functions: a terminal ``terminal_text`` or ``terminal_line``; MEMORY.md ``markdown_line``
and ``label``; what a model reads ``label``, ``quoted_line`` or ``quote_block``. All are pure and linear in the length.
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Final

_LONGEST_WORD: Final = 20  # characters of a word that is left out whole where a text is cut
LONGEST_LABEL: Final = 120  # characters of a label; longer ones are cut

_TERMINAL: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
"""What steers a terminal, turns the direction of a line, ends it, hides in it, or cannot be printed."""

_ESCAPE: Final = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])|\x9b[0-?]*[ -/]*[@-~]"
)
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f\x80-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_SELECTORS: Final = re.compile("\ufe0f{2,}")  # one stands in many emoji; more of them in a row can carry hidden text
_MARKER: Final = re.compile(r"(?i)perdure[\W_]{0,3}memories")
_HARMLESS: Final = "perdure_memories"
"""What stands where a text would open or close the block of rules/prompt_context.py."""
_COMMENT: Final = re.compile(r"<!(?=-)|--!?>")
_QUOTES: Final = str.maketrans({"<": "\u2039", ">": "\u203a", '"': "'", "`": "'"})
_WORD: Final = r"(?:[\w@+'/\\#&~=-]|[.:,](?=\S))+"
_BARE: Final = re.compile(rf"{_WORD}(?: {_WORD}){{0,3}}")
"""A label like this needs no quotes: it is too short and too plain to be taken for the words around it."""
_LONGEST_ERROR: Final = 4000  # characters of a message that are printed; --json has all of it
_BRACKETS: Final = str.maketrans({"[": "(", "]": ")"})


def terminal_text(text: str) -> str:
    """Return text of several lines in which characters that steer a terminal are written out (ESC as backslash x1b)."""
    return _TERMINAL.sub(_written_out, text.replace("\r\n", "\n"))


def terminal_line(text: str) -> str:
    """Return ``terminal_text`` on one line: line feeds and tabs are written out, too."""
    return terminal_text(text).replace("\n", "\\n").replace("\t", "\\t")


def terminal_error(message: str, remedy: str) -> str:
    """Return what is wrong and, on the lines below, what to do about it; a very long message is cut."""
    return "\n".join(filter(None, (f"Error: {terminal_text(message[:_LONGEST_ERROR])}", terminal_text(remedy))))


def terminal_json(text: str) -> str:
    """Return JSON text in which characters that steer a terminal are escapes of JSON: it means the same."""
    return _TERMINAL.sub(lambda found: json.dumps(found.group())[1:-1], text)


def remove_invisible(text: str) -> str:
    """Return a text without what a reader does not see, such as control characters, and without the block's markers.

    Line ends and tabs stay. Removing twice changes nothing more.
    """
    if text.isascii() and text.isprintable():
        return _MARKER.sub(_HARMLESS, text)
    visible = _SELECTORS.sub("\ufe0f", _UNSEEN.sub("", _ESCAPE.sub("", text)))
    if visible.isascii():
        return _MARKER.sub(_HARMLESS, visible)
    folded = unicodedata.normalize("NFKC", visible)
    return _MARKER.sub(_HARMLESS, folded if _MARKER.search(folded) else visible)


def one_line(text: str) -> str:
    """Return the visible part of a text on one line, each run of white space as one space."""
    return " ".join(remove_invisible(text).split())


def markdown_line(text: str) -> str:
    """Return a text as one line of Markdown that neither opens nor closes an HTML comment."""
    return _COMMENT.sub(lambda found: " ".join((found.group()[:2], found.group()[2:])), one_line(text))


def label(text: str, longest: int = LONGEST_LABEL) -> str:
    """Return an id, a name, a tag or a path between words of ours, for Markdown or a model; "…" if nothing is visible.

    Quoted where it holds more than such things usually do, so that it cannot continue our sentence; it holds no
    bracket, quote, angle bracket or line end, so it cannot close what it stands in, an HTML comment included.
    """
    words = cut(one_line(text), longest).translate(_QUOTES).translate(_BRACKETS)
    return words if _BARE.fullmatch(words) else f'"{words}"'


def quoted_line(text: str, longest: int) -> str:
    """Return a text on one line in double quotes, cut to ``longest`` characters; nothing in it ends the quotes."""
    return f'"{cut(one_line(text), longest).translate(_QUOTES).replace("](", "] (")}"'


def quote_block(text: str, prefix: str = "> ") -> str:
    """Return the visible part of a text with a prefix before each of its lines, whatever ends a line there."""
    return "\n".join(prefix + line for line in remove_invisible(text).replace("\x1f", " ").splitlines() or [""])


def cut(words: str, longest: int) -> str:
    """Return words of at most ``longest`` characters, with "…" where some are left out or there are none.

    No word is cut in two, unless it is a long one: an address, or of a script without spaces.
    """
    if not words:
        return "…"  # nothing in it can be seen
    if len(words) <= longest:
        return words
    kept = words[: longest - 1]
    space = kept.rfind(" ")
    if not words[longest - 1].isspace() and space > 0 and len(kept) - space <= _LONGEST_WORD:
        kept = kept[:space]
    return kept.rstrip() + "…"


def _written_out(found: re.Match[str]) -> str:
    return repr(found.group())[1:-1]

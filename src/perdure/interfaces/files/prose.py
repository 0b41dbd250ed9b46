"""Plain text and Markdown to messages: a paragraph, a list item, a code block or a speaker's turn becomes one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from perdure.interfaces.files.source_lines import LONGEST, InputLine, InputSource
from perdure.records.digest_marker import BEGIN_MARKER, END_MARKER
from perdure.records.memory import Message

_TURN: Final = re.compile(r"([^\W\d_][\w.'\u2019-]*(?: [\w.'\u2019-]+){0,3}):[ \t]+(\S.*)")
_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t](.*))?")
_UNDERLINE: Final = re.compile(r" {0,3}(=+|-{2,})[ \t]*")
_ITEM: Final = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])[ \t]+(\S.*)")
_FENCE: Final = re.compile(r"\s*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})(.*)")
_RULE: Final = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})")
_COMMENT: Final = re.compile(r"\s*<!--.*-->\s*")
_FRONT_MATTER: Final = 200
_FEW_TURNS: Final = 3
_MOST_DISTINCT: Final = 2 / 3
"""A list of ``key: value`` has as many names as lines; among more than a few turns, names come back."""


def looks_like_dialogue(lines: Sequence[InputLine]) -> bool:
    """Return whether most lines have the form ``Name: words`` and the names come back, as in a conversation."""
    texts = [line.text for line in lines if line.text.strip()]
    names = [found.group(1) for text in texts if (found := _TURN.fullmatch(text.strip()))]
    names_repeat = len(names) <= _FEW_TURNS or _MOST_DISTINCT * len(names) >= len(set(names))
    return len(names) > 1 and len(names) > len(texts) / 2 and names_repeat


@dataclass(slots=True)
class _Block:
    source: InputSource
    lines: list[str] = field(default_factory=list)
    first: int = 0
    size: int = 0

    def add(self, line: InputLine, text: str | None = None) -> None:
        """Add a line, or what is left of it."""
        if not self.lines:
            self.first = line.number
        self.lines.append(line.text if text is None else text)
        self.size += len(self.lines[-1]) + 1
        if self.size > LONGEST:
            raise self.source.error(
                self.first, "begins a paragraph that is larger than 16 MiB.", "Split it with blank lines."
            )

    def take(self, path: str = "", speaker: str | None = None) -> Iterator[Message]:
        """Yield the message, if there is one, and start the next one."""
        words = "\n".join(self.lines).strip("\n")
        lines, self.lines, self.size = self.lines, [], 0
        if words.strip():
            separator = "" if not path else ":\n" if len(lines) > 1 else ": "
            yield self.source.message(self.first, f"{path}{separator}{words}", speaker=speaker)


def read_text(lines: Iterable[InputLine], source: InputSource, *, speakers: bool) -> Iterator[Message]:
    """Yield the paragraphs of plain text, or the turns of a conversation whose lines begin with a name."""
    block = _Block(source)
    speaker: str | None = None
    for line in lines:
        turn = _TURN.fullmatch(line.text.strip()) if speakers else None
        if turn is not None:
            yield from block.take(speaker=speaker)
            speaker = turn.group(1)
            block.add(line, turn.group(2))
        elif line.text.strip():
            block.add(line)
        elif not speakers:
            yield from block.take()
        elif block.lines:
            block.add(line)
    yield from block.take(speaker=speaker)


def read_markdown(lines: Iterable[InputLine], source: InputSource) -> Iterator[Message]:
    """Yield paragraphs, list items and code blocks, each under the headings above it.

    A digest that Perdure wrote into the file is left out: its memories are known.
    """
    reader = _Markdown(source)
    in_digest = False
    for line in _without_front_matter(lines):
        plain = line.text.strip()
        if BEGIN_MARKER.fullmatch(plain) and not reader.fence:
            in_digest = True
            yield from reader.flush()
        elif not in_digest:
            yield from reader.read(line)
        elif plain == END_MARKER:
            in_digest = False
    yield from reader.flush()


def _without_front_matter(lines: Iterable[InputLine]) -> Iterator[InputLine]:
    """Leave out a block of YAML at the beginning; if it has no end, it is none."""
    pending: list[InputLine] = []
    open_ = True
    for line in lines:
        if not open_:
            yield line
        elif line.number == 1 and line.text.rstrip() == "---":
            pending.append(line)
        elif pending and line.text.rstrip() in ("---", "..."):
            pending, open_ = [], False
        elif pending and len(pending) < _FRONT_MATTER:
            pending.append(line)
        else:
            open_ = False
            yield from pending
            pending = []
            yield line
    yield from pending


def _title(text: str) -> str:
    """Return a heading's words; closing signs count as such only after a space, so that C# keeps its own."""
    words = text.strip()
    stripped = words.rstrip("#")
    return stripped.strip() if not stripped or stripped[-1].isspace() else words


class _Markdown:
    """Reads Markdown line by line: the headings in force, the block being gathered, the open code fence."""

    def __init__(self, source: InputSource) -> None:
        self.block = _Block(source)
        self.headings: list[tuple[int, str]] = []
        self.fence = ""
        self.item = False

    def flush(self) -> Iterator[Message]:
        """Yield the block that has been gathered."""
        self.item = False
        yield from self.block.take(" > ".join(title for _, title in self.headings if title))

    def read(self, line: InputLine) -> Iterator[Message]:
        """Take a line, and yield the message that it ends."""
        fence = _FENCE.fullmatch(line.text)
        if self.fence:
            self.block.add(line)
            if fence and fence.group(1).startswith(self.fence) and not fence.group(2).strip():
                self.fence = ""
                if not self.item:
                    yield from self.flush()
        elif fence and not (fence.group(1)[0] == "`" and "`" in fence.group(2)):
            if _ITEM.fullmatch(line.text):
                yield from self.flush()
                self.item = True
            self.fence = fence.group(1)
            self.block.add(line)
        else:
            yield from self._read_words(line)

    def _read_words(self, line: InputLine) -> Iterator[Message]:
        text = line.text
        heading, item = _HEADING.fullmatch(text), _ITEM.fullmatch(text)
        if not text.strip() or _COMMENT.fullmatch(text):
            yield from self.flush()
        elif heading:
            yield from self.flush()
            self._enter(len(heading.group(1)), _title(heading.group(2) or ""))
        elif _UNDERLINE.fullmatch(text) and len(self.block.lines) == 1 and not self.item:
            title, self.block = self.block.lines[0].strip(), _Block(self.block.source)
            self._enter(1 if "=" in text else 2, title)
        elif _RULE.fullmatch(text):
            yield from self.flush()
        elif item:
            yield from self.flush()
            self.item = True
            self.block.add(line, item.group(1))
        else:
            self.block.add(line, text.strip() if self.item else text)

    def _enter(self, level: int, title: str) -> None:
        self.headings = [(above, name) for above, name in self.headings if above < level]
        self.headings.append((level, title.strip()))

"""Conversation files to messages: which files, which format, and lines read one by one with an end to their length."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO, Final

from perdure.interfaces.files import prose, transcripts
from perdure.interfaces.files.reading import LONGEST, Line, Placed, Source
from perdure.records.errors import InvalidInput, NotFound, PerdureError
from perdure.records.message import Message

STANDARD_INPUT: Final = "-"
_SUFFIXES: Final = (".jsonl", ".md", ".txt")
_LOOKED_AT: Final = 200


class Format(StrEnum):
    """How a file is written."""

    AUTO = "auto"
    JSONL = "jsonl"
    CLAUDE_CODE = "claude-code"
    TEXT = "text"
    MARKDOWN = "markdown"


_BY_SUFFIX: Final = {
    ".md": Format.MARKDOWN,
    ".markdown": Format.MARKDOWN,
    ".txt": Format.TEXT,
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
    ".json": Format.JSONL,
}


def files(paths: Sequence[str]) -> list[str]:
    """Return the files that paths stand for, each once: a folder stands for all ``*.jsonl``, ``*.md``, ``*.txt`` in it.

    Raises:
        NotFound: There is no such file, or a folder holds none.
    """
    found: list[str] = []
    for path in paths:
        if path == STANDARD_INPUT or not Path(path).is_dir():
            found.append(path)
            continue
        inside = list(_inside(path))
        if not inside:
            raise NotFound(f"The folder {path} holds no *.jsonl, *.md or *.txt file.", remedy="Name the files.")
        found += inside
    return list(dict.fromkeys(found))


def _inside(folder: str) -> Iterator[str]:
    """Yield the files of a folder and its folders in order; hidden ones are left out, links to folders not followed."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.lower().endswith(_SUFFIXES) and not name.startswith("."):
                yield str(Path(place) / name)


def read(
    path: str,
    *,
    format: Format = Format.AUTO,  # noqa: A002  # the option's name
    session: str | None = None,
    zone: Placed | None = None,
) -> Iterator[Message]:
    """Yield the messages of a file, line by line.

    Args:
        path: The file; ``-`` is standard input.
        format: How it is written; found out from its first lines and its suffix if ``AUTO``.
        session: For messages that name none; the file's name if not given.
        zone: Gives a zone to times that name none; without it they are refused.

    Raises:
        NotFound: There is no such file.
        InvalidInput: A line is refused; the text names the file and the line.
    """
    name = "standard input" if path == STANDARD_INPUT else path
    default = None if path == STANDARD_INPUT else Path(path).stem
    source = Source(name, session or default, zone)
    with _opened(path) as stream:
        lines = _lines(stream, source)
        first = list(islice(lines, _LOOKED_AT))
        chosen = detected(first, Path(path).suffix.lower()) if format is Format.AUTO else format
        rest = chain(first, lines)
        if chosen is Format.MARKDOWN:
            yield from prose.markdown(rest, source)
        elif chosen is Format.TEXT:
            yield from prose.text(rest, source, speakers=prose.looks_spoken(first))
        else:
            yield from transcripts.messages(rest, source, claude=chosen is Format.CLAUDE_CODE)


def detected(first: Sequence[Line], suffix: str) -> Format:
    """Return the format that a file's first lines and its suffix tell."""
    told = _BY_SUFFIX.get(suffix)
    if told in (Format.MARKDOWN, Format.TEXT):
        return told
    filled = [line.text for line in first if line.text.strip()]
    if told is None and not (filled and _is_object(filled[0])):
        looks = any(text.startswith(("# ", "## ", "- ", "* ", "```")) for text in filled)
        return Format.MARKDOWN if looks else Format.TEXT
    if any(transcripts.is_claude_code(text) for text in filled[:5]):
        return Format.CLAUDE_CODE
    return Format.JSONL


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


@contextmanager
def _opened(path: str) -> Iterator[BinaryIO]:
    if path == STANDARD_INPUT:
        yield sys.stdin.buffer
        return
    try:
        stream = Path(path).open("rb")  # noqa: SIM115  # closed below; only opening is guarded here
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    with stream:
        yield stream


def _unreadable(path: str, error: OSError | ValueError) -> PerdureError:
    if isinstance(error, FileNotFoundError):
        return NotFound(f"There is no file {path}.", remedy="Check the path.")
    return InvalidInput(
        f"{path} cannot be read ({getattr(error, 'strerror', None) or error}).",
        remedy="Check the path and permissions.",
    )


def _lines(stream: BinaryIO, source: Source) -> Iterator[Line]:
    """Yield the lines of a stream, decoded and without their ends; only one of them is in memory at a time."""
    start, number = 0, 0
    while True:
        try:
            raw = stream.readline(LONGEST + 1)
        except OSError as error:
            raise _unreadable(source.name, error) from error
        if not raw:
            return
        number += 1
        if len(raw) > LONGEST:
            raise source.refused(number, "is longer than 16 MiB.", "Split it, or leave it out.")
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise source.refused(
                number,
                f"is no valid UTF-8 at its byte {error.start + 1} (byte {start + error.start + 1} of the file).",
                "Convert the file, for example with `iconv -f latin1 -t utf-8`.",
            ) from None
        start += len(raw)
        if number == 1:
            text = text.removeprefix("\ufeff")
        yield Line(number, text.removesuffix("\n").removesuffix("\r"), whole=text.endswith("\n"))

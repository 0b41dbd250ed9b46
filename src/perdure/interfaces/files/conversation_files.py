"""Reads messages from conversation files: finds the files, detects their format, and reads one line at a time."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import IO, Final, cast

from perdure.interfaces.files import prose, transcripts
from perdure.interfaces.files.named_file import is_shells_pipe, open_named
from perdure.interfaces.files.source_lines import LONGEST, InputLine, InputSource, SetZone
from perdure.records.bounded_json import parse_json
from perdure.records.errors import InvalidInput, NotFound, PerdureError
from perdure.records.memory import Message

STANDARD_INPUT: Final = "-"
_SUFFIXES: Final = (".jsonl", ".md", ".txt")
_MOST_IN_MEMORY: Final = 16 * 1024 * 1024  # bytes of standard input
_SAMPLE_LINES: Final = 200  # lines from which the format is found out
_SAMPLE_SIZE: Final = 1_000_000  # and no more than so many characters of them, about: they are in memory at once


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


def find_files(paths: Sequence[str]) -> list[str]:
    """Return the files that paths stand for, each once: a folder for all ``*.jsonl``, ``*.md``, ``*.txt`` in it."""
    found: list[str] = []
    for path in paths:
        if path == STANDARD_INPUT or not Path(path).is_dir():
            found.append(path)
            continue
        files = list(_files_in(path))
        if not files:
            raise NotFound(
                f"The folder {path} has no *.jsonl, *.md or *.txt file.", remedy="Pass the files themselves."
            )
        found += files
    return list(dict.fromkeys(found))


def _files_in(folder: str) -> Iterator[str]:
    """Yield the files of a folder and its folders in order; hidden ones are left out, links to folders not followed."""
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.lower().endswith(_SUFFIXES) and not name.startswith("."):
                yield str(Path(root) / name)


@dataclass(frozen=True, slots=True)
class ConversationFiles:
    """The messages of files, which are read again whenever they are walked through: they are not in memory at once."""

    paths: Sequence[str]  # as ``find_files`` returns them
    format: str = Format.AUTO  # one of ``Format``
    session: str | None = None
    zone: SetZone | None = None
    copied: Mapping[str, IO[bytes]] = field(default_factory=dict)  # as ``copied_input`` gives it

    def check(self) -> None:
        """Read all once; refuse what cannot be read."""
        for _ in self:
            pass

    def __iter__(self) -> Iterator[Message]:
        """Yield the messages; see ``read_messages``."""
        kind = Format(self.format)
        for path in self.paths:
            yield from read_messages(path, format=kind, session=self.session, zone=self.zone, copied=self.copied)


def read_messages(
    path: str,
    *,
    format: Format = Format.AUTO,  # noqa: A002  # the option's name
    session: str | None = None,
    zone: SetZone | None = None,
    copied: Mapping[str, IO[bytes]] | None = None,
) -> Iterator[Message]:
    """Yield the messages of a file, line by line.

    Args:
        path: The file; ``-`` is standard input.
        format: How it is written; found out from its first lines and its suffix if ``AUTO``.
        session: For messages that name none; the file's name if not given.
        zone: Gives a zone to times that name none; without it they are refused.
        copied: Files that are read in place of some paths, from their beginning.

    Raises:
        NotFound: There is no such file.
        InvalidInput: A line is refused; the text names the file and the line.
    """
    name = "standard input" if path == STANDARD_INPUT else path
    default = None if path == STANDARD_INPUT or is_shells_pipe(path) else Path(path).stem
    source = InputSource(name, session or default, zone)
    with _open(path, copied or {}) as stream:
        lines = _read_lines(stream, source)
        first = _sample(lines)
        detected = detect_format(first, Path(path).suffix.lower()) if format is Format.AUTO else format
        yield from _parse(detected, first, chain(first, lines), source)


def _sample(lines: Iterator[InputLine]) -> list[InputLine]:
    first: list[InputLine] = []
    size = 0
    for line in lines:
        first.append(line)
        size += len(line.text)
        if len(first) == _SAMPLE_LINES or size > _SAMPLE_SIZE:
            break
    return first


def _parse(
    kind: Format, first: Sequence[InputLine], lines: Iterator[InputLine], source: InputSource
) -> Iterator[Message]:
    if kind is Format.MARKDOWN:
        return prose.read_markdown(lines, source)
    if kind is Format.TEXT:
        return prose.read_text(lines, source, speakers=prose.looks_like_dialogue(first))
    return transcripts.messages(lines, source, claude=kind is Format.CLAUDE_CODE)


def detect_format(first: Sequence[InputLine], suffix: str) -> Format:
    """Return the format that a file's suffix and its first lines indicate."""
    by_suffix = _BY_SUFFIX.get(suffix)
    if by_suffix in (Format.MARKDOWN, Format.TEXT):
        return by_suffix
    texts = [line.text for line in first if line.text.strip()]
    if by_suffix is None and not (texts and _is_object(texts[0])):
        is_markdown = any(text.startswith(("# ", "## ", "- ", "* ", "```")) for text in texts)
        return Format.MARKDOWN if is_markdown else Format.TEXT
    if any(transcripts.is_claude_code(text) for text in texts[:5]):
        return Format.CLAUDE_CODE
    return Format.JSONL


def _is_object(text: str) -> bool:
    try:
        return isinstance(parse_json(text), dict)
    except ValueError:
        return False


@contextmanager
def _open(path: str, copied: Mapping[str, IO[bytes]]) -> Iterator[IO[bytes]]:
    if path in copied:
        copied[path].seek(0)
        yield copied[path]
        return
    if path == STANDARD_INPUT:
        yield sys.stdin.buffer
        return
    try:
        stream = open_named(path)
    except OSError as error:
        raise _unreadable_file(path, error) from error
    with stream:
        yield stream


@contextmanager
def copied_input(paths: Sequence[str]) -> Iterator[dict[str, IO[bytes]]]:
    """Give standard input and the shell's pipes among paths as files that can be read again; long ones on the disk."""
    copied: dict[str, IO[bytes]] = {}
    with ExitStack() as stack:
        for path in paths:
            if path == STANDARD_INPUT or is_shells_pipe(path):
                file = stack.enter_context(tempfile.SpooledTemporaryFile(_MOST_IN_MEMORY))
                with _open(path, {}) as stream:
                    shutil.copyfileobj(stream, file)
                copied[path] = cast("IO[bytes]", file)
        yield copied


def _unreadable_file(path: str, error: OSError) -> PerdureError:
    if isinstance(error, FileNotFoundError):
        return NotFound(f"There is no file {path}.", remedy="Check the path.")
    return InvalidInput(f"{path} cannot be read ({error.strerror}).", remedy="Check the path and permissions.")


def _read_lines(stream: IO[bytes], source: InputSource) -> Iterator[InputLine]:
    """Yield the lines of a stream, decoded and without their ends; only one of them is in memory at a time."""
    start, number = 0, 0
    while True:
        try:
            raw = stream.readline(LONGEST + 1)
        except OSError as error:
            raise _unreadable_file(source.name, error) from error
        if not raw:
            return
        number += 1
        if len(raw) > LONGEST:
            raise source.error(number, "is longer than 16 MiB.", "Split it, or leave it out.")
        text = _decode(raw, number, start, source)
        start += len(raw)
        if number == 1:
            text = text.removeprefix("\ufeff")
        yield InputLine(number, text.removesuffix("\n").removesuffix("\r"), whole=text.endswith("\n"))


def _decode(raw: bytes, number: int, start: int, source: InputSource) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        at = error.start + 1
        raise source.error(
            number,
            f"is not valid UTF-8 at its byte {at} (byte {start + at} of the file).",
            "Convert the file, for example with `iconv -f latin1 -t utf-8`.",
        ) from None

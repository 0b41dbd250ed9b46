"""What is new in a Claude Code transcript since the last time: a mark in the file, and the messages behind it.

A transcript grows by whole lines. The mark says how far it was read and how the file looked there, so that a file that
was rewritten, or another one of that name, is read from its beginning. Reading a message twice does no harm: each
carries its own id, and taking in the same id adds nothing.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, Final

from perdure.interfaces.files import transcripts
from perdure.interfaces.files.source_lines import LONGEST, InputLine, InputSource
from perdure.records.errors import InvalidInput, NotFound
from perdure.records.memory import Message

_FINGERPRINT_BYTES: Final = 1024  # bytes at the beginning of the file, and before the mark, by which it is known again
_PIECE: Final = 1024 * 1024
_MOST: Final = 64 * 1024 * 1024
_PARTS: Final = 3


@dataclass(frozen=True, slots=True)
class ReadPosition:
    """How far a file was read."""

    bytes: int  # from its beginning; a line ends there
    lines: int  # as many
    fingerprint: str  # of the file's beginning and of what comes before the mark; 32 hexadecimal digits

    def to_text(self) -> str:
        """Return the mark as it can be kept."""
        return f"{self.bytes}:{self.lines}:{self.fingerprint}"

    @staticmethod
    def from_text(text: str) -> ReadPosition | None:
        """Return a mark that was kept; None where it cannot be read, so that the file is read from its beginning."""
        parts = text.split(":")
        numbers = parts[: _PARTS - 1]
        if len(parts) != _PARTS or not all(n.isascii() and n.isdigit() and len(n) < 20 for n in numbers):  # noqa: PLR2004  # 64 bits
            return None
        return ReadPosition(int(parts[0]), int(parts[1]), parts[2])


def read_new_messages(
    path: Path, mark: ReadPosition | None, *, most: int = _MOST
) -> tuple[list[Message], ReadPosition]:
    """Return the messages since a mark, oldest first, and the new mark.

    Only the user's and the agent's words count: tool calls and their results, thinking, reminders, injected context,
    summaries, commands and the talk of subagents are left out. A last line without an end is left for the next time. A
    line that cannot be read is passed over: it would stop every later one. Without a mark it reads from the beginning.
    ``most`` bytes are read at once; where there is more, the new mark is before the end of the file.
    """
    try:
        with _open(path) as file:
            start = mark if mark is not None and _matches(file, mark) else ReadPosition(0, 0, "")
            return _read_from(file, start, most, path)
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be read ({error.strerror}).", remedy="Check the path and permissions."
        ) from error


def _read_from(file: BinaryIO, start: ReadPosition, most: int, path: Path) -> tuple[list[Message], ReadPosition]:
    file.seek(start.bytes)
    messages: list[Message] = []
    at, number = start.bytes, start.lines
    for raw, size in _whole_lines(file, most):
        at, number = at + size, number + 1
        messages += _parse_line(raw, number, path)
    return messages, ReadPosition(at, number, _fingerprint(file, at))


def _open(path: Path) -> BinaryIO:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait for ever
            raise InvalidInput(f"{path} is not a file.", remedy="Pass a transcript file.")
        return path.open("rb")
    except FileNotFoundError as error:
        raise NotFound(f"There is no file {path}.", remedy="Check the path.") from error
    except ValueError as error:  # a NUL in the path
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput("The transcript's path is not valid.", remedy="Check the path.") from error


def _matches(file: BinaryIO, mark: ReadPosition) -> bool:
    return os.fstat(file.fileno()).st_size >= mark.bytes and _fingerprint(file, mark.bytes) == mark.fingerprint


def _fingerprint(file: BinaryIO, at: int) -> str:
    """Return a digest of a file whose first ``at`` bytes are known: of its beginning and of what ends there."""
    digest = blake2b(digest_size=16)
    for begin in (0, max(0, at - _FINGERPRINT_BYTES)):
        file.seek(begin)
        digest.update(file.read(min(_FINGERPRINT_BYTES, at)))
    return digest.hexdigest()


def _whole_lines(file: BinaryIO, most: int) -> Iterator[tuple[bytes | None, int]]:
    """Yield (line, its size) for lines that have an end; None instead of one that is too long to be read."""
    total = 0
    while total < most:
        raw = file.readline(LONGEST + 1)
        size = len(raw)
        is_too_long = size > LONGEST
        while raw and not raw.endswith(b"\n") and is_too_long:
            raw = file.readline(_PIECE)
            size += len(raw)
        if not raw.endswith(b"\n"):
            return
        total += size
        yield (None if is_too_long else raw), size


def _parse_line(raw: bytes | None, number: int, path: Path) -> list[Message]:
    if raw is None:
        return []
    line = InputLine(number, raw.decode("utf-8", "replace").rstrip("\r\n"))
    with suppress(InvalidInput):
        return list(transcripts.messages([line], InputSource(str(path), path.stem), claude=True))
    return []

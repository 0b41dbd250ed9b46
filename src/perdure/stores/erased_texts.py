"""Searching a store for what is left of erased texts: passages of them, as whole words, in rows and in bytes."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

SHORTEST: Final = 12
"""Characters from which a text is distinguished from others by its words; shorter ones are not searched for."""
_WINDOW: Final = 32
"""Bytes of a passage that is searched for in a file: short enough to stand whole on one page of it."""
_PASSAGES: Final = 4  # passages of one text
_MOST: Final = 400  # passages of all texts
_CHUNK: Final = 1 << 22  # bytes of a file that are read at once
_PLAIN: Final = re.compile(r'[^"\\\x00-\x1f\x7f-\x9f]+')  # what JSON writes as it is
_ESCAPED: Final = re.compile(r'\\[nrt]|\\(?=["\\])|\s')  # white space, also as JSON writes it, and what escapes a mark
_SPACED: Final = re.compile(r"[^\W\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\U0010ffff]")
"""A letter or digit of a script that puts spaces between words."""

Row = tuple[str, str, str, str]  # (what it is, namespace, id, the words that hold a passage)


def is_spaced(character: str) -> bool:
    """Whether a character is a letter or digit of a script that puts spaces between words."""
    return _SPACED.match(character) is not None


def passages(texts: Iterable[str]) -> dict[str, list[str]]:
    """Return passage -> the texts that it is of: at most four of each and 400 in all; JSON writes them as they are."""
    found: dict[str, list[str]] = {}
    for text in texts:
        windows = [w for run in _PLAIN.findall(text) for w in _windows(run)]
        step = max(1, len(windows) // _PASSAGES)
        for window in windows[::step][:_PASSAGES]:
            if window in found or len(found) < _MOST:
                found.setdefault(window, []).append(text)
    return found


def _windows(run: str) -> Iterator[str]:
    """Yield the pieces of a run that have so many bytes, or the run itself where it is shorter and long enough."""
    if len(run.strip()) < SHORTEST:
        return
    width = max(SHORTEST, _WINDOW * len(run) // max(1, len(run.encode("utf-8", "replace"))))
    for start in range(0, max(1, len(run) - SHORTEST), width):
        piece = _whole_words(run, start, start + width).strip()
        if len(piece) >= SHORTEST:
            yield piece


def _whole_words(run: str, start: int, end: int) -> str:
    """Return a piece of a run without the halves of words at its ends, where enough is left then."""
    piece = run[start:end]
    if start > 0 and is_spaced(run[start - 1]) and is_spaced(piece[0]):
        piece = piece.partition(" ")[2]
    if end < len(run) and is_spaced(run[end]) and is_spaced(run[end - 1]):
        piece = piece.rpartition(" ")[0]
    return piece if len(piece.strip()) >= SHORTEST else run[start:end]


@dataclass(slots=True)
class Findings:
    """Where passages of erased texts were found in rows."""

    places: list[tuple[str, str]] = field(default_factory=list)  # (namespace, sentence)
    held: set[str] = field(default_factory=set)  # passages that a row holds, for whatever reason


def find_in_rows(everywhere: Callable[..., Sequence[Row]], phrases: dict[str, list[str]]) -> Findings:
    """Search the rows of all namespaces.

    What a memory that stays says itself is no remnant: where it has a passage, only the whole text is told of, in it
    and in what else its namespace has. Letters of ASCII may stand in the other case, as at the beginning of a sentence.
    """
    found = Findings()
    for passage, texts in phrases.items():
        rows = everywhere("rows_with_text", pattern=_like_pattern(passage))
        found.held |= {passage for _ in rows}
        holding = [row for row in rows if _holds_words(row[3], passage)]
        saying = {namespace for kind, namespace, _, _ in holding if kind == "memory"}
        for kind, namespace, identity, words in holding:
            if namespace not in saying or any(_holds_words(words, text) for text in texts):
                sentence = f"{kind} {identity} of namespace {namespace} holds words of an erased memory."
                found.places.append((namespace, sentence))
    found.places = list(dict.fromkeys(found.places))
    return found


def _like_pattern(text: str) -> str:
    """Return the pattern of LIKE that finds a text inside another; ``!`` escapes."""
    return "%" + re.sub(r"([!%_])", r"!\1", text) + "%"


def _holds_words(where: str, text: str) -> bool:
    """Whether a text stands in another one as whole words, whatever the case and the white space."""
    where, text = _folded(where), _folded(text)
    at = where.find(text)
    while text and at >= 0:
        end = at + len(text)
        before, after = where[at - 1 : at], where[end : end + 1]
        cut = (before and is_spaced(before) and is_spaced(text[0])) or (
            after and is_spaced(after) and is_spaced(text[-1])
        )
        if not cut:
            return True
        at = where.find(text, at + 1)
    return False


def _folded(text: str) -> str:
    return " ".join(_ESCAPED.sub(lambda found: "" if found[0] == "\\" else " ", text).split()).casefold()


def holds_bytes(file: Path, probes: Sequence[bytes]) -> bool:
    """Whether a file holds one of some words; these are in small letters, as far as they are of ASCII."""
    overlap = max((len(probe) for probe in probes), default=1) - 1
    with _reading(file) as read:
        rest = b""
        while chunk := read():
            block = rest + chunk.lower()
            if any(probe in block for probe in probes):
                return True
            rest = block[-overlap:] if overlap else b""
    return False


_KEPT: Final[dict[tuple[int, int], int]] = {}
"""(device, number) of a file -> a descriptor that stays open as long as the process."""
_KEEPING: Final = threading.Lock()


@contextmanager
def _reading(file: Path) -> Iterator[Callable[[], bytes]]:
    """Yield what reads a file piece by piece.

    Where closing a file takes away all locks that the process has on it (POSIX), those of SQLite too, it is not closed:
    another process would take itself for the only one, and delete the log with what is written next.
    """
    if os.name != "posix" or file.name.endswith("-wal"):  # SQLite locks no log
        with file.open("rb") as stream:
            yield partial(stream.read, _CHUNK)
        return
    with _KEEPING:
        status = file.stat()
        descriptor = _KEPT.get((status.st_dev, status.st_ino))
        if descriptor is None:
            descriptor = _KEPT[status.st_dev, status.st_ino] = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    at = 0

    def read() -> bytes:
        nonlocal at
        chunk = os.pread(descriptor, _CHUNK, at)
        at += len(chunk)
        return chunk

    yield read

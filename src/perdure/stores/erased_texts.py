"""Searching a store for what is left of erased texts: passages of them, as whole words, in rows and in bytes."""

from __future__ import annotations

import os
import threading
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

from perdure.records.patterns import lazy_pattern
from perdure.stores.byte_search import ByteSearch
from perdure.stores.packing import unpack_text
from perdure.stores.rows import UNREADABLE

SHORTEST: Final = 12
"""Characters from which a text is distinguished from others by its words; shorter ones are not searched for."""
_WINDOW: Final = 32  # bytes of a passage that is searched for in a file: short enough to stand whole on one page of it
_PASSAGES: Final = 4  # passages of one text
_BATCH: Final = 1 << 20  # characters of rows that are searched at once
_MOST_LISTED: Final = 1000  # places of one store
_MOST_ALIKE: Final = 5  # memories of a namespace that say the same as an erased one and nothing else
_CHUNK: Final = 1 << 22  # bytes of a file that are read at once
_PLAIN: Final = lazy_pattern(r'[^"\\\x00-\x1f\x7f-\x9f]+')  # what JSON writes as it is
_ESCAPED: Final = lazy_pattern(
    r'\\[nrt]|\\(?=["\\])|\s'
)  # white space, also as JSON writes it, and what escapes a mark
_SPACED: Final = lazy_pattern(r"[^\W\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\U0010ffff]")
"""A letter or digit of a script that puts spaces between words."""

_STATEMENTS: Final = (
    "words_of_memories",
    "words_of_journal",
    "words_of_documents",
    "words_of_recalls",
    "words_of_notes",
)
"""What gives all rows with words; memories first: what they say themselves is known then."""

Values = tuple[Any, ...]  # (what it is, namespace, id, a packed text, other texts)
Row = tuple[str, str, str, str]  # (what it is, namespace, id, its words)


def is_spaced(character: str) -> bool:
    """Whether a character is a letter or digit of a script that puts spaces between words."""
    return _SPACED.match(character) is not None


def passages(texts: Iterable[str]) -> tuple[list[str], int]:
    """Return up to four passages of each text, as JSON writes them too, and of how many texts there is none."""
    found: dict[str, None] = {}
    without = 0
    for text in texts:
        windows = [w for run in _PLAIN.findall(text) for w in _windows(run)]
        step = max(1, len(windows) // _PASSAGES)
        found.update(dict.fromkeys(windows[::step][:_PASSAGES]))
        without += not windows
    return [*found], without


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
    held: set[bytes] = field(default_factory=set)  # passages that a row holds, for whatever reason
    unlisted: Counter[str] = field(default_factory=Counter)  # namespace -> places that are not listed
    # (namespace, text) -> memories that say just an erased text: what everybody says ("Thanks, it works now.")
    alike: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, kind: str, namespace: str, identity: str) -> None:
        """List a place, or count it where many are listed."""
        if len(self.places) < _MOST_LISTED:
            self.places.append(
                (namespace, f"{kind} {identity} of namespace {namespace} holds words of an erased memory.")
            )
        else:
            self.unlisted[namespace] += 1

    def sentences(self) -> list[tuple[str, str]]:
        """Return (namespace, sentence) for what is listed, and of each namespace how much is not."""
        return [*dict.fromkeys(self.places), *map(_rest, self.unlisted.items()), *self._alike()]

    def is_one_of_many(self, namespace: str, text: str) -> bool:
        """Count a memory that says just an erased text; return whether so many do that this one is not listed."""
        self.alike[namespace, text] += 1
        return self.alike[namespace, text] > _MOST_ALIKE

    def _alike(self) -> Iterator[tuple[str, str]]:
        more = Counter[str]()
        for (namespace, _), count in self.alike.items():
            more[namespace] += max(0, count - _MOST_ALIKE)
        for namespace, count in more.items():
            if count:
                many = "memory says" if count == 1 else "memories say"
                yield namespace, f"{count:,} more {many} the same as an erased memory in namespace {namespace}."


def _rest(unlisted: tuple[str, int]) -> tuple[str, str]:
    namespace, count = unlisted
    many = "row holds" if count == 1 else "rows hold"
    return namespace, f"{count:,} more {many} words of an erased memory in namespace {namespace}."


def find_in_rows(stream: Callable[[str], Iterable[Values]], phrases: Sequence[str], texts: Iterable[str]) -> Findings:
    """Search the rows of all namespaces in one pass, however many passages there are.

    What a memory that stays says itself is no remnant: where it has a passage, only the whole text is told of, in it
    and in what else its namespace has, unless it is short. Letters of ASCII may stand in the other case, as at the
    beginning of a sentence.

    Args:
        stream: Returns the rows of a statement that hold a passage; it may return others.
        phrases: Passages of the erased texts.
        texts: The erased texts.
    """
    found, said = Findings(), set[tuple[str, bytes]]()  # (namespace, passage) of memories
    erased, many = {_fold_case(text) for text in texts}, set[tuple[str, str]]()  # (namespace, id) of what is not listed
    parts = ByteSearch(map(as_bytes, phrases))
    wholes = ByteSearch(as_bytes(text) for text in map(_fold_case, texts) if len(text) >= SHORTEST)
    for statement in _STATEMENTS if phrases else ():
        for (kind, namespace, identity, words), held in _rows_holding(stream(statement), parts):
            found.held |= held
            folded = _fold_case(words)
            here = {(namespace, part) for part in held if _holds_words(folded, _fold_case(part.decode()))}
            said |= here if kind == "memory" else set()
            if not here or not (here - said or _holds_one(folded, wholes)):
                continue
            own = next((part for part in map(_fold_case, words.split("\0")) if part in erased), None)
            if kind == "memory" and own is not None and found.is_one_of_many(namespace, own):
                many.add((namespace, identity))
            if (namespace, identity) not in many:
                found.add(kind, namespace, identity)
    return found


def _rows_holding(rows: Iterable[Values], search: ByteSearch) -> Iterator[tuple[Row, set[bytes]]]:
    """Yield the rows that hold some words, with these; many rows are searched at once."""
    batch: list[Row] = []
    size = 0
    for values in rows:
        batch.append(_row(values))
        size += len(batch[-1][3])
        if size > _BATCH:
            yield from _batch_rows_holding(batch, search)
            batch, size = [], 0
    yield from _batch_rows_holding(batch, search)


def _batch_rows_holding(batch: Sequence[Row], search: ByteSearch) -> Iterator[tuple[Row, set[bytes]]]:
    blocks = [as_bytes(words) for *_, words in batch]
    starts = [*accumulate((len(block) + 1 for block in blocks), initial=0)]
    held: dict[int, set[bytes]] = {}
    for at, word in search.found_in(b"\0".join(blocks)):
        held.setdefault(bisect_right(starts, at) - 1, set()).add(word)
    yield from ((batch[n], words) for n, words in sorted(held.items()))


def _row(values: Values) -> Row:
    kind, namespace, identity, pack, *texts = values
    with suppress(*UNREADABLE):  # a check says so
        texts.append(unpack_text("", pack))
    return kind, namespace, identity, "\0".join(map(_as_text, filter(None, texts)))


def _as_text(value: Any) -> str:
    """Return a value as text: a file's columns take any type, and what is damaged must not end the search."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def as_bytes(text: str) -> bytes:
    """Return a text as files and rows have it, with letters of ASCII in small."""
    return text.encode("utf-8", "replace").lower()


def _holds_one(folded: str, search: ByteSearch) -> bool:
    """Whether a text without differences of case and white space holds one of some others as whole words."""
    return any(_holds_words(folded, word.decode()) for _, word in search.found_in(as_bytes(folded)))


def _holds_words(where: str, text: str) -> bool:
    """Whether a text stands in another one as whole words; of both the case and the white space are folded."""
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


def _fold_case(text: str) -> str:
    return " ".join(_ESCAPED.sub(lambda found: "" if found[0] == "\\" else " ", text).split()).casefold()


def holds_bytes(file: Path, search: ByteSearch) -> bool:
    """Whether a file holds one of some words."""
    overlap = max(0, search.longest - 1)
    with _reading(file) as read:
        rest = b""
        while chunk := read():
            block = rest + chunk
            if any(True for _ in search.found_in(block)):
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

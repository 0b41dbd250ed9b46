"""Backups as files in a folder: written beside, read back, and only then given their name."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Final

from perdure.records.errors import DiskFull, StoreError
from perdure.records.growing_file import growing_path, share
from perdure.records.instant import Instant, from_instant
from perdure.records.transfer import Line
from perdure.stores.erased_texts import Values, find_in_rows, passages

_ODD: Final = re.compile(r"[^A-Za-z0-9._-]+")
_UNREADABLE: Final = (OSError, ValueError, KeyError, TypeError)
"""What reading a file raises that is no backup, or only a part of one."""
_PARTS: Final = {"words_of_memories": "memory", "words_of_documents": "document"}
"""What a backup has of that in which erased words are searched for."""
_encoded: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class BackupFolder:
    """A folder of backups, made on first use, for its owner alone, or where it is ``shared`` for its group.

    Of each namespace the newest ``kept`` stay when a new one is whole; 0 for all.
    """

    def __init__(self, folder: Path, kept: int = 0, *, shared: bool = False) -> None:
        self.folder, self.kept, self.shared = folder, kept, shared

    def write(self, namespace: str, at: Instant, lines: Iterable[Line]) -> str:
        path = self.folder / f"{_file_name(namespace)}-{from_instant(at):%Y%m%dT%H%M%SZ}.jsonl"
        self._replace(path, lines)
        self._expire(namespace)
        return str(path)

    def _expire(self, namespace: str) -> None:
        files = self._paths(namespace)
        for file in files[: -self.kept] if self.kept else ():
            with suppress(OSError):  # the next backup tries again
                file.unlink()

    def rewrite(
        self, namespace: str, change: Callable[[Iterable[Line]], Iterable[Line]]
    ) -> tuple[list[str], list[str]]:
        changed, failed = [], []
        for path in self._paths(namespace):
            try:
                before = _lines(path)
                after = list(change(before))
                if after != before:
                    self._replace(path, after)
                    changed.append(str(path))
            except StoreError as error:
                failed.append(error.message)
            except _UNREADABLE as error:
                failed.append(f"The backup {path} could not be read ({type(error).__name__}).")
        return changed, failed

    def read(self, namespace: str) -> Iterator[tuple[str, Iterable[Line]]]:
        for path in self._paths(namespace):
            with suppress(*_UNREADABLE):  # ``rewrite`` names it
                yield str(path), _lines(path)

    def search(self, namespace: str, texts: Sequence[str]) -> list[str]:
        """Return where a backup of a namespace still holds words of erased texts, one sentence for each row."""
        phrases, _ = passages(texts)
        found = []
        for path, lines in self.read(namespace):
            rows = [line for line in lines if "part" in line]
            sentences = find_in_rows(partial(_values, rows), phrases, texts).sentences()
            found += [f"In the backup {path}: {sentence}" for _, sentence in sentences]
        return found

    def _share(self, path: Path) -> None:
        if self.shared:
            share(path)

    def _paths(self, namespace: str) -> list[Path]:
        return sorted(self.folder.glob(f"{_file_name(namespace)}-*.jsonl"))

    def _replace(self, path: Path, lines: Iterable[Line]) -> None:
        growing = growing_path(path, r"vault-.*\.jsonl")
        try:
            if not self.folder.is_dir():
                self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._share(self.folder)
            written = _write(growing, lines)
            if _read(growing) != written:
                raise StoreError(
                    f"The backup {path} differs from what was written.",
                    remedy="Check the disk; the backup will be retried.",
                )
            self._share(growing)
            growing.replace(path)
        except OSError as error:
            raise DiskFull(
                f"The backup {path} could not be written ({error.strerror}).", remedy="Check the folder."
            ) from error
        finally:
            with suppress(OSError):
                growing.unlink()


def _lines(path: Path) -> list[Line]:
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    if not all(isinstance(line, dict) for line in lines):
        raise ValueError
    return lines


def _values(rows: Iterable[Line], statement: str) -> Iterator[Values]:
    """Yield the rows of a backup as the search for erased words takes those of a statement."""
    part = _PARTS.get(statement)
    for row in rows:
        if row["part"] == part:
            yield part, row["namespace"], row["id"], None, _encoded(row)


def _file_name(namespace: str) -> str:
    """Return a name that every file system takes, different for each namespace."""
    mark = blake2b(namespace.encode(), digest_size=4).hexdigest()
    return f"vault-{_ODD.sub('_', namespace)[:60]}-{mark}"


def _write(path: Path, lines: Iterable[Line]) -> tuple[int, str]:
    rows, digest = 0, blake2b(digest_size=16)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        for line in lines:
            data = _encoded(line).encode() + b"\n"
            out.write(data)
            digest.update(data)
            rows += 1
        out.flush()
        os.fsync(out.fileno())
    return rows, digest.hexdigest()


def _read(path: Path) -> tuple[int, str]:
    rows, digest = 0, blake2b(digest_size=16)
    with path.open("rb") as file:
        for data in file:
            digest.update(data)
            if isinstance(json.loads(data), dict):
                rows += 1
    return rows, digest.hexdigest()

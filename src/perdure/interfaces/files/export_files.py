"""Exports as files: JSONL (plain or compressed) and Parquet, written and read as a stream."""

from __future__ import annotations

import gzip
import json
import shutil
import sys
import weakref
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Final

from perdure.interfaces.files.named_file import atomic_file, check_target, is_shells_pipe, open_named
from perdure.records.bounded_json import JsonTooLarge, parse_json
from perdure.records.errors import InvalidInput, NotFound, StoreError
from perdure.records.store_files import kind_of
from perdure.records.transfer import Line

STDIO: Final = "-"
PARQUET: Final = ".parquet"
LONGEST: Final = 24 * 1024 * 1024  # the longest line that is read unless the caller says otherwise, in bytes

_TRUNCATED_REMEDY: Final = "Export again, or import the complete part with --partial."
_to_json: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def write_export(path: str, lines: Iterable[Line], *, store: str = "", force: bool = False) -> None:
    """Write an export; the file appears under its name only when it is whole, and is whose the ``store`` is.

    Args:
        path: ``-`` for standard output; ``.parquet`` and ``.gz`` say how.
        lines: Head, rows, tail.
        store: The file that they are of, if it is one.
        force: Overwrite an existing file.
    """
    if path == STDIO:
        _write_lines(sys.stdout.buffer, lines)
        sys.stdout.buffer.flush()
        return
    if not path.endswith((".jsonl", ".json", ".jsonl.gz", ".json.gz", PARQUET)):
        raise InvalidInput(
            f"Unknown export format: {path}.", remedy="Use a name that ends in .jsonl, .jsonl.gz or .parquet."
        )
    check_target(Path(path), store, force=force)
    if path.endswith(PARQUET):
        from perdure.interfaces.files.parquet import write_parquet  # noqa: PLC0415  # an extra, and slow to load

        put: Callable[[Any, Iterable[Line]], None] = write_parquet
    else:
        put = _write_gzip if path.endswith(".gz") else _write_lines
    with atomic_file(Path(path), store) as out:
        put(out, lines)


def export_reader(path: str, *, partial: bool = False, longest: int = LONGEST) -> Callable[[], Iterator[Line]]:
    """Return what reads an export from the beginning each time it is called; one line is in memory at a time.

    Args:
        path: ``-`` for standard input. It and pipes are kept in a file without a name until they were read last.
        partial: A last line that was cut short is left out without a word.
        longest: The longest line that is read, in bytes.
    """
    if path == STDIO or is_shells_pipe(path):
        return _Spool(path, longest, partial=partial)
    try:
        open_named(path).close()
    except OSError as error:
        raise NotFound(f"There is no file {path}.", remedy="Check the path.") from error
    if kind_of(Path(path)) in {"store", "backup"}:
        raise InvalidInput(
            f"{path} is a store or a backup of one, not an export.",
            remedy="The command copy copies a store into another; the command restore-backup restores a backup.",
        )
    if path.endswith(PARQUET):
        from perdure.interfaces.files.parquet import read_parquet  # noqa: PLC0415  # an extra, and slow to load

        return lambda: read_parquet(path, longest)
    return lambda: _file_lines(path, longest, partial=partial)


def _write_lines(out: Any, lines: Iterable[Line]) -> None:
    for line in lines:
        out.write(_to_json(line).encode() + b"\n")


def _write_gzip(out: IO[bytes], lines: Iterable[Line]) -> None:
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=6, mtime=0) as packed:
        _write_lines(packed, lines)


class _Spool:
    """Gives standard input, or a pipe, from its beginning each time it is called."""

    def __init__(self, path: str, longest: int, *, partial: bool) -> None:
        self._path, self._longest, self._partial = path, longest, partial
        self._file: IO[bytes] | None = None

    def __call__(self) -> Iterator[Line]:
        """Yield its lines."""
        if self._file is None:
            self._file = TemporaryFile()  # noqa: SIM115  # it is read again, and goes with this object
            weakref.finalize(self, self._file.close)
            with nullcontext(sys.stdin.buffer) if self._path == STDIO else open_named(self._path) as given:
                shutil.copyfileobj(given, self._file)
        self._file.seek(0)
        name = "standard input" if self._path == STDIO else self._path
        yield from _lines(self._file, name, self._longest, partial=self._partial)


def _file_lines(path: str, longest: int, *, partial: bool) -> Iterator[Line]:
    try:
        with gzip.open(path, "rb") if path.endswith(".gz") else Path(path).open("rb") as file:
            yield from _lines(file, path, longest, partial=partial)
    except EOFError:
        return  # a compressed file that was cut short: its last lines are missing, which is found by the reader
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InvalidInput(f"{path} is not a valid gzip file ({error}).", remedy="Export again.") from error
    except OSError as error:
        raise StoreError(f"{path} cannot be read ({error.strerror}).", remedy="Check its permissions.") from error


def _lines(file: Any, name: str, longest: int, *, partial: bool) -> Iterator[Line]:
    number = 0
    while raw := file.readline(longest + 1):
        number += 1
        if len(raw) > longest:
            raise InvalidInput(
                f"{name}, line {number}, is longer than {longest:,} bytes.",
                remedy="A policy with larger limits.content_bytes reads longer lines.",
            )
        try:
            line = parse_json(raw.decode("utf-8"))
        except JsonTooLarge as error:
            raise InvalidInput(f"{name}, line {number}, is not read: {error}.", remedy="Export again.") from error
        except ValueError as error:
            if raw.endswith(b"\n") or number == 1:
                raise InvalidInput(
                    f"{name}, line {number}, is not JSON.", remedy="Use a file that the command export wrote."
                ) from error
            if not partial:
                raise InvalidInput(f"{name} is truncated in line {number}.", remedy=_TRUNCATED_REMEDY) from error
            return
        if not isinstance(line, dict):
            raise InvalidInput(f"{name}, line {number}, is not a JSON object.", remedy="Export again.")
        yield line

"""Files that a person names: opened to be read if regular, or a pipe of the shell; written whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from perdure.records.errors import DiskFull, InvalidInput
from perdure.records.growing_file import growing_path, is_shared, share
from perdure.records.store_files import refuse_store


def open_named(path: str | Path) -> IO[bytes]:
    """Open a file to read.

    Any other pipe than the shell's, or a device, might keep whoever reads it waiting, or never end.
    """
    if is_shells_pipe(path):
        return Path(path).open("rb")
    try:
        file = open(path, "rb", opener=_without_waiting)  # noqa: SIM115  # a path's own method takes no opener
    except ValueError as error:
        raise OSError(errno.EINVAL, "it is not a valid path") from error
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file
    file.close()
    raise InvalidInput(
        f"{path} is not a regular file.", remedy="Pass a file, or - for standard input where the command takes it."
    )


def is_shells_pipe(path: str | Path) -> bool:
    """Whether a path stands for a pipe that this process was started with: ``<(...)`` or ``/dev/stdin``."""
    name = str(path)
    return (name == "/dev/stdin" or name.startswith(("/dev/fd/", "/proc/self/fd/"))) and Path(path).is_fifo()


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def check_target(path: Path, store: str = "", *, force: bool) -> None:
    """Refuse a path under which a file exists, unless it may be replaced; a store or a backup never is."""
    refuse_store(path, store)
    if path.exists() and not force:
        raise InvalidInput(f"{path} already exists.", remedy="Choose another file, or pass --force.")


@contextmanager
def atomic_file(path: Path, store: str = "") -> Iterator[IO[bytes]]:
    """Open a file that gets its name, readable by its owner alone, when the block ends without an error.

    Where it is made of a store whose file is its group's, it is its group's as well.

    A link that stands under the name is replaced, not followed, and nobody can prepare the file that grows.

    Raises:
        InvalidInput: A store, a backup or another database has that name.
        DiskFull: It could not be written; what was there before is there still.
    """
    refuse_store(path, store)
    growing = growing_path(path)
    try:
        with os.fdopen(os.open(growing, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        if store and is_shared(Path(store)):
            share(growing)
        refuse_store(path, store)  # once more: it may have been made meanwhile
        growing.replace(path)
    except OSError as error:
        raise DiskFull(f"{path} could not be written ({error.strerror}).", remedy="Check the folder.") from error
    finally:
        with suppress(OSError):
            growing.unlink()

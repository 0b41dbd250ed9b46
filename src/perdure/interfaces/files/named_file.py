"""Opening what a person named to be read: a regular file, or a pipe that the shell opened for the command."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import IO

from perdure.records.errors import InvalidInput


def open_named(path: str | Path) -> IO[bytes]:
    """Open a file to read.

    Any other pipe than the shell's, or a device, might keep whoever reads it waiting, or never end.

    Raises:
        InvalidInput: It is a pipe or a device.
        OSError: It cannot be opened.
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

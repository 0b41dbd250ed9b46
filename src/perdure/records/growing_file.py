"""Names under which files grow until they are complete, what killed processes left, and who may open them."""

from __future__ import annotations

import os
import re
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

_STALE: Final = 24 * 60 * 60
"""Seconds without a write, up to the last change of the folder, after which nobody can be at work on a file."""


_GROUP: Final = stat.S_IRGRP | stat.S_IWGRP


def is_shared(path: Path) -> bool:
    """Whether a store's file is its group's to read and write: so is what is made of it."""
    with suppress(OSError):
        return path.stat().st_mode & _GROUP == _GROUP
    return False


def share(*paths: Path) -> None:
    """Let the group of files or folders do what their owner may, whatever the process takes from what it makes."""
    for path in paths:
        with suppress(OSError):  # it is not there, or another's, who has shared it
            mode = stat.S_IMODE(path.stat().st_mode)
            path.chmod(mode | (mode & stat.S_IRWXU) >> 3)


def growing_path(path: Path, family: str | None = None) -> Path:
    """Return a name beside a file that nobody can foresee; remove what was left there for a day or longer.

    Args:
        path: The file that is written.
        family: A pattern of the names of the files that are written in this folder; this file's own name by default.
    """
    leftover = re.compile(
        rf"\.(?:{re.escape(path.name) if family is None else family})\.[0-9a-f]{{16}}\.part(?:-wal|-shm)?"
    )
    with suppress(OSError), os.scandir(path.parent) as beside:
        until = path.parent.stat().st_mtime - _STALE
        for entry in beside:
            if leftover.fullmatch(entry.name) is not None:
                _remove_stale(entry, until)
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")


def _remove_stale(entry: os.DirEntry[str], until: float) -> None:
    with suppress(OSError):
        found = entry.stat(follow_symlinks=False)
        if stat.S_ISREG(found.st_mode) and found.st_mtime < until:
            Path(entry.path).unlink()

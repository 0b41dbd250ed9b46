"""Names under which files grow until they are complete, and what killed processes left under such names."""

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

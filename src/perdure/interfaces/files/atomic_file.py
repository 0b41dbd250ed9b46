"""Writing a file that appears under its name only when it is complete."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from perdure.records.errors import DiskFull, InvalidInput
from perdure.records.growing_file import growing_path


def check_target(path: Path, *, force: bool) -> None:
    """Refuse a path under which a file exists, unless it may be replaced."""
    if path.exists() and not force:
        raise InvalidInput(f"{path} already exists.", remedy="Choose another file, or add --force.")


@contextmanager
def atomic_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that gets its name, readable by its owner alone, when the block ends without an error.

    A link that stands under the name is replaced, not followed, and nobody can prepare the file that grows.

    Raises:
        DiskFull: It could not be written; what was there before is there still.
    """
    growing = growing_path(path)
    try:
        with os.fdopen(os.open(growing, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        growing.replace(path)
    except OSError as error:
        raise DiskFull(f"{path} could not be written ({error.strerror}).", remedy="Check the folder.") from error
    finally:
        with suppress(OSError):
            growing.unlink()

"""Reading a file where nothing may be written, such as on a read-only disk."""

from __future__ import annotations

from pathlib import Path

import apsw

from perdure.records.errors import DiskFull, StoreReadOnly


class AloneConnection(apsw.Connection):
    """A connection to a file where SQLite cannot make the files beside it: its folder is read-only or its disk full.

    It knows nothing of what others write: whoever has it looks now and then whether it is outdated.
    """

    def __init__(self, path: str, *, is_full: bool = False) -> None:
        check_log(path, is_full=is_full)
        self.path, self.state, self.is_full = path, _state_of(path), is_full
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        super().__init__(Path(path).absolute().as_uri() + "?immutable=1", flags=flags)

    @property
    def is_outdated(self) -> bool:
        """Whether the file has been written since it was opened."""
        return self.state != _state_of(self.path)


def check_log(path: str, *, is_full: bool) -> None:
    """Refuse a file whose newest changes are beside it, where SQLite cannot make the file that it reads those with.

    Raises:
        DiskFull, StoreReadOnly: They are.
    """
    log = Path(f"{path}-wal")
    if not (log.exists() and log.stat().st_size):
        return
    newest = f"{path} cannot be read: the newest changes are in {log.name}, and"
    copied = f"copy it and {log.name} to"
    if is_full:
        raise DiskFull(
            f"{newest} its disk has no room for the small file that reading them needs. Nothing was changed.",
            remedy=f"Free some space there, or {copied} another disk and use the copy.",
        )
    owner = "Close what uses the store, run `perdure stats` on it once as its owner"
    raise StoreReadOnly(f"{newest} its folder cannot be written to.", remedy=f"{owner}, or {copied} a folder of yours.")


def _state_of(path: str) -> tuple[int, int, bool]:
    found = Path(path).stat()
    return found.st_mtime_ns, found.st_size, Path(f"{path}-wal").exists()

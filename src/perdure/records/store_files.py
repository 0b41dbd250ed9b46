"""Files that no command writes over, also where it is told to replace a file: stores, what belongs to them, backups."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

from perdure.records.errors import InvalidInput

APPLICATION_ID: Final = 0x50_45_52_44  # ``PERD``: how a Perdure file is told from other SQLite files
SIDE_FILES: Final = ("-wal", "-shm", "-journal")
"""Endings of the files that SQLite keeps beside a store while it is used."""
_SQLITE: Final = b"SQLite format 3\x00"
_LOGS: Final = (bytes.fromhex("377f0682"), bytes.fromhex("377f0683"), bytes.fromhex("d9d505f920a163d7"))
"""How a write-ahead log and a rollback journal begin."""
_ID_AT: Final = slice(68, 72)  # of a SQLite file's header
_READ_MODE_AT: Final = 19  # 2 where the file was opened as a store; a backup has 1
_WITH_LOG: Final = 2
_HEADER: Final = 100
_VAULT_BACKUP: Final = re.compile(r"vault-.+-[0-9a-f]{8}-\d{8}T\d{6}Z\.jsonl")

Kind = Literal["store", "backup", "other database", "part", "vault backup", "none"]


def refuse_store(path: Path, store: str = "") -> None:
    """Refuse to write a file over a store, over a file that belongs to one, over a backup or another SQLite database.

    Args:
        path: The file that is to be written. A link is followed.
        store: The store that the call uses, if it is a file; it is known also where its beginning is damaged.

    Raises:
        InvalidInput: It is such a file; says which.
    """
    if store and _is_same(path, Path(store.removeprefix("sqlite:///"))):
        raise _refusal(f"{path} is the store itself.")
    kind = kind_of(path)
    if kind != "none":
        raise _refusal(f"{path} is {_TOLD[kind]}.")


def refuse_replaced_store(path: Path) -> None:
    """Refuse to put a backup in the place of a part of a store, or of another database.

    A backup that somebody has looked into cannot be told from a store: who says so replaces either.
    """
    kind = kind_of(path)
    if kind not in {"none", "backup", "store"}:
        raise _refusal(f"{path} is {_TOLD[kind]}.")


def kind_of(path: Path) -> Kind:
    """Return what a file is, as its name and its beginning tell; "none" where it is none of these, or not there."""
    real = path
    with suppress(OSError, RuntimeError):  # a loop of links
        real = path.resolve()
    for end in SIDE_FILES:
        if real.name.endswith(end) and _head(Path(str(real).removesuffix(end))).startswith(_SQLITE):
            return "part"
    head = _head(real)
    if head.startswith(_LOGS):
        return "part"
    if head.startswith(_SQLITE):
        if head[_ID_AT] != APPLICATION_ID.to_bytes(4, "big"):
            return "other database"
        return "store" if head[_READ_MODE_AT] == _WITH_LOG else "backup"
    return "vault backup" if _VAULT_BACKUP.fullmatch(real.name) and real.is_file() else "none"


_TOLD: Final[dict[Kind, str]] = {
    "store": "a Perdure store",
    "backup": "a backup of a Perdure store",
    "other database": "a SQLite database",
    "part": "a file that SQLite keeps beside a database in use",
    "vault backup": "a backup of a namespace that maintenance wrote",
}


def _refusal(message: str) -> InvalidInput:
    return InvalidInput(
        f"{message} Nothing was written.",
        remedy="Choose another file: this one is not replaced, also not with --force.",
    )


def _is_same(path: Path, store: Path) -> bool:
    with suppress(OSError, ValueError):  # one of them is not there, or is no name of a file
        return path.samefile(store)
    return False


def _head(path: Path) -> bytes:
    with suppress(OSError, ValueError):
        if path.is_file():
            with path.open("rb") as file:
                return file.read(_HEADER)
    return b""

"""Which policy files the user trusts: a record for each file and each content, in the user's data folder.

A record is a small file that is named after a digest of the path and the content, so that several processes may add and
remove records at once, and a file that was changed or moved has none.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from perdure.records.errors import StoreError
from perdure.user_folders import data_folder


@dataclass(frozen=True, slots=True)
class TrustRecord:
    """What was trusted."""

    path: str  # the file, absolute, links resolved
    digest: str  # sHA-256 of its content and of the files that it names, 64 hexadecimal digits


def trust_folder() -> Path:
    """Return the folder of the records; it may not exist yet."""
    return data_folder() / "trusted"


def is_trusted(path: Path, digest: str) -> bool:
    """Whether the user trusts this content at this place."""
    try:
        return _record_path(_record_of(path, digest)).is_file()
    except (OSError, StoreError):
        return False


def has_records(path: Path) -> bool:
    """Whether the user trusts, or trusted, any content at this place."""
    name = str(path.resolve())
    return any(record.path == name for record in trust_records())


def add_trust(path: Path, digest: str) -> None:
    """Trust a content at a place, and no longer any other content there.

    Raises:
        StoreError: The record cannot be written.
    """
    record = _record_of(path, digest)
    target = _record_path(record)
    growing = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(growing, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            out.write(json.dumps({"path": record.path, "digest": record.digest}).encode())
            out.flush()
            os.fsync(out.fileno())
        growing.replace(target)
        for old in trust_records():
            if old.path == record.path and old != record:
                _record_path(old).unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{target} cannot be written ({error.strerror}).", remedy="Check the folder.") from error
    finally:
        with suppress(OSError):
            growing.unlink()


def revoke_trust(path: Path) -> int:
    """Trust no content at a place any longer, and return how many records there were.

    Raises:
        StoreError: A record cannot be removed.
    """
    name = str(path.resolve())
    found = [record for record in trust_records() if record.path == name]
    try:
        for record in found:
            _record_path(record).unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(
            f"{trust_folder()} cannot be changed ({error.strerror}).", remedy="Check the folder's permissions."
        ) from error
    return len(found)


def trust_records() -> list[TrustRecord]:
    """Return what is trusted, by path; files in the folder that are no records are passed over."""
    return sorted(_read_records(), key=lambda record: record.path)


def _read_records() -> Iterator[TrustRecord]:
    try:
        files = list(trust_folder().glob("*.json"))
    except (OSError, StoreError):
        return
    for file in files:
        with suppress(OSError, ValueError, KeyError, TypeError):
            data = json.loads(file.read_bytes())
            record = TrustRecord(str(data["path"]), str(data["digest"]))
            if _record_path(record) == file:
                yield record


def _record_of(path: Path, digest: str) -> TrustRecord:
    return TrustRecord(str(path.resolve()), digest)


def _record_path(record: TrustRecord) -> Path:
    name = sha256(f"{record.path}\0{record.digest}".encode("utf-8", "surrogateescape")).hexdigest()
    return trust_folder() / f"{name}.json"

"""Which namespace a project's folder stands for, where somebody chose one, and which folders a namespace was used from.

A record is a small file for each folder in the user's data folder, so that several processes may write at once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from perdure.interfaces.files.named_file import atomic_file
from perdure.records.errors import PerdureError, StoreError
from perdure.user_folders import data_folder


@dataclass(frozen=True, slots=True)
class ProjectRecord:
    """What is known of a project's folder."""

    folder: str  # the folder, absolute
    namespace: str  # what it stands for
    chosen: bool  # whether somebody chose that; else it is the folder's name


def project_record(folder: Path) -> ProjectRecord | None:
    """Return what is known of a folder, or None."""
    with suppress(OSError, PerdureError):
        return _read(_path_of(str(folder)))
    return None


def project_records() -> Iterator[ProjectRecord]:
    """Yield what is known of all folders; files that are no records are passed over."""
    with suppress(OSError, PerdureError):
        for file in sorted(_records_folder().glob("*.json")):
            if (record := _read(file)) is not None and _path_of(record.folder) == file:
                yield record


def write_project_record(record: ProjectRecord) -> None:
    """Write down what is known of a folder.

    Raises:
        StoreError, DiskFull: It cannot be written.
    """
    target = _path_of(record.folder)
    data = {"folder": record.folder, "namespace": record.namespace, "chosen": record.chosen}
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{target} cannot be written ({error.strerror}).", remedy="Check the folder.") from error
    with atomic_file(target) as out:
        out.write(json.dumps(data).encode())


def _read(file: Path) -> ProjectRecord | None:
    with suppress(OSError, ValueError, KeyError, TypeError):
        data = json.loads(file.read_bytes())
        return ProjectRecord(str(data["folder"]), str(data["namespace"]), bool(data["chosen"]))
    return None


def _records_folder() -> Path:
    return data_folder() / "projects"


def _path_of(folder: str) -> Path:
    return _records_folder() / f"{sha256(folder.encode('utf-8', 'surrogateescape')).hexdigest()}.json"

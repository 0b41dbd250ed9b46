"""Files that a repair or a restore leaves beside a store: the store as it was before."""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Final

from perdure.records.store_files import SIDE_FILES

BEFORE_REPAIR: Final = "before-repair"
BEFORE_RESTORE: Final = "before-restore"


class StoreCopies:
    """What repairs and restores have left beside one store's file."""

    def __init__(self, path: Path) -> None:
        self._path = path.absolute()  # whoever is told of them may be in another folder

    def paths(self) -> tuple[str, ...]:
        ends = re.compile(rf"{re.escape(self._path.name)}\.(?:{BEFORE_REPAIR}|{BEFORE_RESTORE})(?:-\d+)?")
        with suppress(OSError):  # a folder that others may not list
            return tuple(sorted(str(p) for p in self._path.parent.iterdir() if ends.fullmatch(p.name)))
        return ()

    def next_path(self) -> str:
        return str(free_name(self._path, BEFORE_REPAIR))


def free_name(target: Path, kept: str) -> Path:
    """Return the first name for a store that is set aside under which nothing lies yet."""
    for number in count(1):
        name = target.with_name(f"{target.name}.{kept}" + (f"-{number}" if number > 1 else ""))
        if not any(Path(f"{name}{end}").exists() for end in ("", *SIDE_FILES)):
            break
    return name

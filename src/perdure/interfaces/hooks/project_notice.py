"""What the person is told when a session starts in a folder for the first time: whose memories it shares or lacks."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from perdure.interfaces.files.project_records import (
    ProjectRecord,
    project_record,
    project_records,
    write_project_record,
)
from perdure.records.errors import PerdureError
from perdure.rules.escaping import terminal_line

if TYPE_CHECKING:  # it loads numpy and SQLite
    from perdure.memory import Memory

_REMOTE: Final = re.compile(r'\[remote "origin"\][^\[]*?\burl = ([^\n]+)')
_LARGEST: Final = 1_000_000  # bytes of a git configuration
_NAMED: Final = 5


def project_notice(memory: Memory, folder: Path, namespace: str) -> str:
    """Return what to tell of a folder that is seen for the first time, and note that it was seen; "" for nothing."""
    if project_record(folder) is not None:
        return ""
    known = list(project_records())
    with suppress(PerdureError):  # it is told again, then
        write_project_record(ProjectRecord(str(folder), namespace, chosen=False))
    if others := [r.folder for r in known if r.namespace == namespace and _is_other_project(Path(r.folder), folder)]:
        shown = terminal_line(others[0])
        return (
            f"This folder and {shown} share the namespace {namespace!r}: what is remembered in one is known in the "
            f"other. To keep them apart, run in this folder: perdure project {shlex.quote(namespace)}-2"
        )
    return _renamed_folder_notice(memory.namespaces(), known, namespace)


def _renamed_folder_notice(namespaces: Sequence[str], known: Sequence[ProjectRecord], namespace: str) -> str:
    """Say how to go on where nothing is known of a folder, and of others there is."""
    if namespace in namespaces or not namespaces:
        return ""
    gone = [r.namespace for r in known if r.namespace in namespaces and not Path(r.folder).is_dir()]
    names = list(dict.fromkeys([*gone, *namespaces]))
    return (
        f"Nothing is known of {namespace!r} yet. If this folder had another name before, go on with its memories: "
        f"perdure project {shlex.quote(terminal_line(names[0]))} in this folder. The store has: {named(names)}."
    )


def named(namespaces: Sequence[str]) -> str:
    """Return the first of some namespaces, and how many more there are."""
    first, more = ", ".join(map(terminal_line, namespaces[:_NAMED])), len(namespaces) - _NAMED
    return f"{first} and {more} more" if more > 0 else first


def _is_other_project(other: Path, folder: Path) -> bool:
    """Whether two folders, both there, are not checkouts of one repository."""
    if not other.is_dir():  # it was moved
        return False
    origin = _origin(folder)
    return not origin or origin != _origin(other)


def _origin(folder: Path) -> str:
    with suppress(OSError, UnicodeDecodeError):
        path = folder / ".git" / "config"
        if path.is_file() and path.stat().st_size <= _LARGEST and (found := _REMOTE.search(path.read_text("utf-8"))):
            return found[1].strip()
    return ""

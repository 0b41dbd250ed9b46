"""What a hook says to the person where it cannot do its work: a hook's log is shown to nobody."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from hashlib import sha256
from typing import Final

from perdure.interfaces.hooks.hook_input import WITH_CONTEXT, WITHOUT_MESSAGE, parse_hook_input, render_hook_output
from perdure.records.errors import DiskFull, PerdureError, StoreReadOnly
from perdure.rules.escaping import terminal_line
from perdure.user_folders import data_folder

_KEPT: Final = 200  # sessions of which it is known that they were told, the newest
_UNWRITABLE: Final[Mapping[str, str]] = {
    "full": "Perdure stores nothing: the disk of its store is full. Free some space or raise the quota.",
    "read-only": "Perdure stores nothing: its store is read-only. Check the file's and the folder's permissions.",
}
"""Why a store takes no writes -> what the person is told."""
_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT)


def unwritable_told(event: str, session: str, why: str) -> str:
    """Return what the person is told of a store that takes no writes: at a session's start, else once; "" for nothing.

    Args:
        event: As the command names it.
        session: The session's id.
        why: ``full`` or ``read-only``; anything else says nothing.
    """
    if why not in _UNWRITABLE or event in WITHOUT_MESSAGE:
        return ""
    is_first = _note(session)
    return _UNWRITABLE[why] if is_first or event == "SessionStart" else ""


def failed_answer(event: str, text: str, error: Exception, problem: str) -> str:
    """Return what a hook prints that failed: a message to the person, once in a session; "" where it says nothing.

    Args:
        event: As the command names it.
        text: The hook's standard input.
        error: What failed. Where it only says that nothing can be stored, what is stored is shown still.
        problem: What failed and what to do, in words.
    """
    try:
        session = parse_hook_input(text, event).session
    except PerdureError:
        session = ""
    if event not in WITH_CONTEXT:  # what else failed there is tried again the next time
        why = "full" if isinstance(error, DiskFull) else "read-only" if isinstance(error, StoreReadOnly) else ""
        told = unwritable_told(event, session, why) if session else ""
        return render_hook_output(event, None, told) if told else ""
    is_first = _note(session) if session else False
    if event != "SessionStart" and not is_first:
        return ""
    told = f"Perdure: this session works without its memory. {terminal_line(' '.join(problem.split()))}"
    return render_hook_output(event, None, told)


def _note(session: str) -> bool:
    """Note that a session was told; return whether it was not before.

    Where it cannot be noted, it counts as told; but where the disk is full for that, too, it is told each time.
    """
    name = sha256(session.encode("utf-8", "replace")).hexdigest()[:32]
    try:
        folder = data_folder() / "told"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / name).touch(exist_ok=False)
        for old in sorted(folder.iterdir(), key=lambda file: file.stat().st_mtime)[:-_KEPT]:
            old.unlink(missing_ok=True)
    except OSError as error:
        return error.errno in _NO_ROOM
    except PerdureError:
        return False
    return True

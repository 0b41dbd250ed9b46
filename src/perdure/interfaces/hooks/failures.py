"""What a hook says to the person where it cannot do its work: a hook's log is shown to nobody."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from perdure.interfaces.hooks.hook_input import WITH_CONTEXT, parse_hook_input, render_hook_output
from perdure.records.errors import PerdureError
from perdure.rules.escaping import terminal_line
from perdure.user_folders import data_folder

_KEPT: Final = 200  # sessions of which it is known that they were told, the newest


def failed_answer(event: str, text: str, problem: str) -> str:
    """Return what a hook prints that failed: a message to the person, once in a session; "" where it says nothing.

    Args:
        event: As the command names it.
        text: The hook's standard input.
        problem: What failed and what to do.
    """
    if event not in WITH_CONTEXT:
        return ""
    try:
        session = parse_hook_input(text, event).session
    except PerdureError:
        session = ""
    is_first = _note(session) if session else False
    if event != "SessionStart" and not is_first:
        return ""
    told = f"Perdure: this session works without its memory. {terminal_line(' '.join(problem.split()))}"
    return render_hook_output(event, None, told)


def _note(session: str) -> bool:
    """Note that a session was told; return whether it was not before. Where it cannot be noted, it counts as told."""
    name = sha256(session.encode("utf-8", "replace")).hexdigest()[:32]
    try:
        folder = data_folder() / "told"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / name).touch(exist_ok=False)
        for old in sorted(folder.iterdir(), key=lambda file: file.stat().st_mtime)[:-_KEPT]:
            old.unlink(missing_ok=True)
    except (OSError, PerdureError):
        return False
    return True

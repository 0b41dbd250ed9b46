"""The JSON that a coding agent writes to its hooks, and the JSON that they may answer. Only parsing; nothing is done.

Checked against Claude Code's hooks reference of November 2026. What matters of it here:

- Only SessionStart and UserPromptSubmit put a hook's words before the model. PreCompact, TaskCompleted and SessionEnd
  have no room for them. Newer versions let Stop add some, but the conversation then goes on instead of ending, and
  older versions refuse such an answer: so Stop gets none.
- SessionEnd's answer is thrown away, and a plugin's hook has 1.5 s there, whatever it asks for.
- The transcript is written asynchronously: at Stop the last reply may be missing from it.
- Answers longer than 10,000 characters are not shown to the model but put into a file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from perdure.interfaces.hooks.running_server import LONGEST_INPUT
from perdure.records.errors import InvalidInput

EVENTS: Final = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "TaskCompleted", "SessionEnd")
"""The events that Perdure handles."""

WITH_CONTEXT: Final = frozenset({"SessionStart", "UserPromptSubmit"})
"""Events whose answer may put words before the model."""

LONGEST_ANSWER: Final = 10_000
"""Characters of a context or a message that the agent shows; the rest would be put into a file."""

WITHOUT_MESSAGE: Final = frozenset({"SessionEnd"})
"""Events whose answer nobody sees."""
_CUT_MARK: Final = "\n[...]"
_REMEDY: Final = "`perdure hook` expects the JSON that Claude Code passes to a hook."


@dataclass(frozen=True, slots=True)
class HookInput:
    """What Perdure uses of a hook's input."""

    session: str  # the session's id
    transcript: Path | None = None  # the session's transcript; it may not exist yet, and may lag behind
    cwd: Path | None = None  # the agent's working folder
    prompt: str | None = None  # UserPromptSubmit: the user's words
    task: str | None = None  # TaskCompleted: the task's id


def parse_hook_input(text: str, event: str) -> HookInput:
    """Parse the input of a hook. Other fields are ignored, so that a newer agent does not break it."""
    item = _parse_object(text)
    _check_event(event, _text(item, "hook_event_name"))
    session = _text(item, "session_id")
    if session is None or not session.strip():
        raise InvalidInput("The hook's input has no session_id.", remedy=_REMEDY)
    paths = (_path(item, "transcript_path"), _path(item, "cwd"))
    return HookInput(session, *paths, prompt=_text(item, "prompt"), task=_task_id(item))


def render_hook_output(event: str, context: str | None, system_message: str | None = None) -> str:
    """Return what a hook prints, as one line of JSON in ASCII; ``{}`` where there is nothing to say.

    Args:
        event: One of ``EVENTS``.
        context: Words for the model; left out where the event has no room for them, cut at the end of a line where
            they are longer than the agent shows.
        system_message: Words for the user; left out at SessionEnd, where nobody sees them.
    """
    _check_event(event)
    answer: dict[str, Any] = {}
    if system_message and event not in WITHOUT_MESSAGE:
        answer["systemMessage"] = _truncate(system_message)
    if context and context.strip() and event in WITH_CONTEXT:
        answer["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": _truncate(context)}
    return json.dumps(answer)


def _parse_object(text: str) -> Mapping[str, Any]:
    if len(text) > LONGEST_INPUT:
        raise InvalidInput(f"The hook's input is longer than {LONGEST_INPUT} characters.", remedy=_REMEDY)
    try:
        item = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidInput("The hook's input is not JSON.", remedy=_REMEDY) from None
    if not isinstance(item, dict):
        raise InvalidInput("The hook's input is not a JSON object.", remedy=_REMEDY)
    return item


def _check_event(event: str, received: str | None = None) -> None:
    """Refuse an event that nobody handles, and an input of another one."""
    if received not in (None, event):
        raise InvalidInput(
            f"The hook {event} received the input of {received[:40]!r}.", remedy="Fix the plugin's hooks.json."
        )
    if event not in EVENTS:
        raise InvalidInput(f"Unknown hook event: {event[:40]!r}.", remedy=f"Use one of {', '.join(EVENTS)}.")


def _text(item: Mapping[str, Any], name: str) -> str | None:
    value = item.get(name)
    if value is not None and not isinstance(value, str):
        raise InvalidInput(f"In the hook's input, {name} is not text.", remedy=_REMEDY)
    return value


def _path(item: Mapping[str, Any], name: str) -> Path | None:
    text = _text(item, name)
    if not text:
        return None
    if "\0" in text:
        raise InvalidInput(f"In the hook's input, {name} is not a path.", remedy=_REMEDY)
    try:
        return Path(text).expanduser()
    except RuntimeError:  # a user without a home
        return Path(text)


def _task_id(item: Mapping[str, Any]) -> str | None:
    number = item.get("task_id")
    if isinstance(number, int) and not isinstance(number, bool):
        return str(number)
    return _text(item, "task_id") or None


def _truncate(text: str) -> str:
    """Return the text as far as the agent shows it: whole lines where there are any."""
    if len(text) <= LONGEST_ANSWER:
        return text
    beginning = text[: LONGEST_ANSWER - len(_CUT_MARK)]
    return (beginning[: beginning.rfind("\n")] if "\n" in beginning else beginning) + _CUT_MARK

"""What a coding agent tells its hooks, and what they may answer: Claude Code's JSON. Only parsing; nothing is done.

Checked against Claude Code's hooks reference of November 2026. What matters of it here:

- Only SessionStart and UserPromptSubmit put a hook's words before the model. PreCompact, TaskCompleted and SessionEnd
  have no room for them. Newer versions let Stop add some, but the conversation then goes on instead of ending, and
  older versions refuse such an answer: so Stop gets none.
- SessionEnd's answer is thrown away, and a plugin's hook has 1.5 s there, whatever it asks for.
- The transcript is written asynchronously: at Stop the last reply may be missing from it, but the input has it.
- Answers longer than 10,000 characters are not shown to the model but put into a file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from perdure.records.errors import InvalidInput

EVENTS: Final = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "TaskCompleted", "SessionEnd")
"""The events that Perdure knows."""

WITH_CONTEXT: Final = frozenset({"SessionStart", "UserPromptSubmit"})
"""Events whose answer may put words before the model."""

LONGEST_INPUT: Final = 16 * 1024 * 1024
"""Characters; a prompt may hold a pasted file."""

LONGEST_ANSWER: Final = 10_000
"""Characters of a context or a message that the agent shows; the rest would be put into a file."""

_UNSHOWN: Final = frozenset({"SessionEnd"})
_CUT: Final = "\n[...]"
_CHECK: Final = "`perdure hook` reads what Claude Code writes to a hook's standard input."


@dataclass(frozen=True, slots=True)
class HookTask:
    """A task that was completed.

    Attributes:
        id: As the agent numbers it.
        subject: Its title.
        description: What was to be done; "" where there is none.
        teammate: Who did it, in a team of agents.
    """

    id: str
    subject: str = ""
    description: str = ""
    teammate: str | None = None


@dataclass(frozen=True, slots=True)
class HookInput:
    """What a hook is told. Fields that an event does not have are None.

    Attributes:
        event: One of ``EVENTS``.
        session: The session's id.
        transcript: The session's transcript; it may not exist yet, and may lag behind.
        cwd: The agent's working folder.
        agent: The subagent's id, where one calls.
        prompt: UserPromptSubmit: the user's words.
        source: SessionStart: startup, resume, clear or compact (later versions may have others).
        trigger: PreCompact: manual or auto.
        instructions: PreCompact: what the user asked the summary to keep.
        reason: SessionEnd: why.
        reply: Stop: the agent's last words.
        again: Stop: whether a hook has made the agent go on already.
        task: TaskCompleted: which.
    """

    event: str
    session: str
    transcript: Path | None = None
    cwd: Path | None = None
    agent: str | None = None
    prompt: str | None = None
    source: str | None = None
    trigger: str | None = None
    instructions: str | None = None
    reason: str | None = None
    reply: str | None = None
    again: bool = False
    task: HookTask | None = None


def hook_input(text: str, event: str | None = None) -> HookInput:
    """Read what a hook was told. Fields that are not known are left out, so that a newer agent does not break it.

    Args:
        text: The JSON of standard input.
        event: The event as the command names it; None takes it from the input.

    Raises:
        InvalidInput: It is no JSON object, too long, of no event that is known, of another one than ``event``, has no
            session, or a field is no text.
    """
    if len(text) > LONGEST_INPUT:
        raise InvalidInput(f"The hook's input is longer than {LONGEST_INPUT} characters.", remedy=_CHECK)
    try:
        item = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidInput("The hook's input is no JSON.", remedy=_CHECK) from None
    if not isinstance(item, dict):
        raise InvalidInput("The hook's input is no JSON object.", remedy=_CHECK)
    told = _event(item, event)
    session = _text(item, "session_id")
    if session is None or not session.strip():
        raise InvalidInput("The hook's input has no session_id.", remedy=_CHECK)
    return HookInput(
        event=told,
        session=session,
        transcript=_path(item, "transcript_path"),
        cwd=_path(item, "cwd"),
        agent=_text(item, "agent_id"),
        prompt=_text(item, "prompt"),
        source=_text(item, "source"),
        trigger=_text(item, "trigger"),
        instructions=_text(item, "custom_instructions"),
        reason=_text(item, "reason"),
        reply=_text(item, "last_assistant_message"),
        again=item.get("stop_hook_active") is True,
        task=_task(item),
    )


def hook_output(event: str, context: str | None, system_message: str | None = None) -> str:
    """Return what a hook prints, as one line of JSON in ASCII; ``{}`` says nothing.

    Args:
        event: One of ``EVENTS``.
        context: Words for the model; left out where the event has no room for them, cut at the end of a line where
            they are longer than the agent shows.
        system_message: Words for the user; left out at SessionEnd, where nobody sees them.

    Raises:
        InvalidInput: The event is not known.
    """
    _check_event(event)
    answer: dict[str, Any] = {}
    if system_message and event not in _UNSHOWN:
        answer["systemMessage"] = _cut(system_message)
    if context and context.strip() and event in WITH_CONTEXT:
        answer["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": _cut(context)}
    return json.dumps(answer)


def _event(item: Mapping[str, Any], named: str | None) -> str:
    told = _text(item, "hook_event_name")
    if named is not None and told is not None and told != named:
        raise InvalidInput(f"The hook {named} was told of {told[:40]!r}.", remedy="Mend the plugin's hooks.json.")
    event = told if told is not None else named
    if event is None:
        raise InvalidInput("The hook's input has no hook_event_name.", remedy=_CHECK)
    _check_event(event)
    return event


def _check_event(event: str) -> None:
    if event not in EVENTS:
        raise InvalidInput(f"There is no hook for {event[:40]!r}.", remedy=f"Name one of {', '.join(EVENTS)}.")


def _text(item: Mapping[str, Any], name: str) -> str | None:
    value = item.get(name)
    if value is not None and not isinstance(value, str):
        raise InvalidInput(f"The hook's input has no text as {name}.", remedy=_CHECK)
    return value


def _path(item: Mapping[str, Any], name: str) -> Path | None:
    text = _text(item, name)
    if not text:
        return None
    if "\0" in text:
        raise InvalidInput(f"The hook's input has no path as {name}.", remedy=_CHECK)
    try:
        return Path(text).expanduser()
    except RuntimeError:  # a user without a home
        return Path(text)


def _task(item: Mapping[str, Any]) -> HookTask | None:
    number = item.get("task_id")
    told = str(number) if isinstance(number, int) and not isinstance(number, bool) else _text(item, "task_id")
    if not told:
        return None
    subject, description = _text(item, "task_subject") or "", _text(item, "task_description") or ""
    return HookTask(told, subject, description, _text(item, "teammate_name"))


def _cut(text: str) -> str:
    """Return the text as far as the agent shows it: whole lines where there are any."""
    if len(text) <= LONGEST_ANSWER:
        return text
    kept = text[: LONGEST_ANSWER - len(_CUT)]
    return (kept[: kept.rfind("\n")] if "\n" in kept else kept) + _CUT

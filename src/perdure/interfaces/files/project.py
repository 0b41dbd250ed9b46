"""Which namespace a project's folder stands for: the same for hooks, the MCP server and the command line."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Final

from perdure.interfaces.files.project_records import project_record
from perdure.rules.escaping import terminal_line
from perdure.user_folders import expand_user

HERE: Final = "."  # given as a namespace it stands for the project's own. No namespace has this name
VARIABLE: Final = "CLAUDE_PROJECT_DIR"  # Claude Code sets it to the project's folder for what it starts

_LONGEST: Final = 200
_NOT_ALLOWED: Final = re.compile(r"[^\w.@:+ -]+")
_NO_START: Final = re.compile(r"^[^\w]+")


def project_namespace(folder: Path | None, environment: Mapping[str, str] | None = None) -> str:
    """Return the namespace of a project: the one chosen for its folder (``perdure project NAME``), else its name.

    It is ``default`` where that says nothing. Two projects whose folders have the same name share a namespace until
    one is chosen; the person is told at the first session.

    Args:
        folder: The working folder; None for this process's.
        environment: Variables; this process's if None.
    """
    top = project_folder(folder, environment)
    record = project_record(top)
    return record.namespace if record is not None and record.chosen else name_of_folder(top)


def name_of_folder(folder: Path) -> str:
    """Return the namespace that a folder's name makes."""
    name = _NO_START.sub("", _NOT_ALLOWED.sub("-", folder.name))[:_LONGEST].strip()
    return name or "default"


def project_folder(folder: Path | None, environment: Mapping[str, str] | None = None) -> Path:
    """Return the folder of a project.

    It is what the agent says it is (``CLAUDE_PROJECT_DIR``), else the nearest one above with a ``.git``, else the
    folder itself: an agent that changes its working folder stays in its project.

    Args:
        folder: The working folder; None for this process's.
        environment: Variables; this process's if None.
    """
    project = (os.environ if environment is None else environment).get(VARIABLE)
    start = Path(os.path.abspath(project or folder or "."))  # noqa: PTH100  # a link keeps its own name; that of "." says nothing
    return start if project else next((p for p in (start, *start.parents) if (p / ".git").exists()), start)


GIVEN: Final[ContextVar[dict[str, str | None]]] = ContextVar("GIVEN", default={})  # noqa: B039  # never written to
"""The options by which the command at hand was told where to act: commands that it prints name them too."""
_UNUSED: Final = {
    **dict.fromkeys(("reembed", "migrate", "token", "project", "namespaces"), "-n"),  # they act in no namespace
    **dict.fromkeys(("policy", "trust"), "--policy"),  # what is said about a faulty file must not read it
}
_COMMAND: Final = re.compile(r"(?<=`)perdure [^`\n]+(?=`)|(?<=')perdure [^'\n]+(?=')|(?<=: )perdure [^\n]+$")


def resolve_namespace(namespace: str | None) -> str | None:
    """Return a namespace as it was given, with ``.`` resolved to the project's."""
    return project_namespace(None) if namespace == HERE else namespace


def with_given(command: str) -> str:
    """Return a command to print, with the namespace, the store and the policy that the command at hand was given."""
    first, pipe, rest = command.partition(" | ")  # the options belong to our command, not to what reads its output
    words = first.split()
    taken = {*words, *map(_UNUSED.get, words[1:2]), *(["-n"] if "--namespace" in words else [])}
    given = ((option, value) for option, value in GIVEN.get().items() if value is not None and option not in taken)
    options = (f"{option} {shlex.quote(terminal_line(value))}" for option, value in given)
    return " ".join([first, *options]) + pipe + rest


def commands_with_given(text: str) -> str:
    """Return a text for a person with its commands as :func:`with_given` prints them."""
    return _COMMAND.sub(lambda found: with_given(found[0]), text)


def policy_to_find(policy: str | None) -> str | None:
    """Return the policy of a process that other programs start in any folder, as ``perdure.open`` takes it.

    A relative path names another file in each folder. It is looked for like one in ``PERDURE_POLICY``: what is
    found there counts only if the user trusts the file, but for harmless keys.
    """
    if policy is None or (path := expand_user(policy)).is_absolute():
        return policy if policy is None else str(path)
    os.environ["PERDURE_POLICY"] = policy
    return None

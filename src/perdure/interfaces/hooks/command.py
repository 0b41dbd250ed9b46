"""The command that a coding agent's hooks call."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from perdure.interfaces.cli.call import Call
from perdure.interfaces.hooks.hook_input import EVENTS

Event = StrEnum("Event", [(name, name) for name in EVENTS])  # type: ignore[misc]  # one list of events


def hook(
    call: Call,
    event: Annotated[Event, typer.Argument(metavar="EVENT", help=f"One of {', '.join(EVENTS)}.")],
    meaning: Annotated[
        bool,
        typer.Option(
            "--meaning", help="For UserPromptSubmit: add semantic search to keyword search; about a second slower."
        ),
    ] = False,
) -> None:
    """Run a hook of Claude Code, which sends JSON on standard input. The exit code is always 0, even after an error.

    The namespace is the project's (the name of its folder) unless --namespace is given.
    """
    from perdure.interfaces.hooks.agent_hooks import run  # noqa: PLC0415  # start-up time

    run(event.value, call.given_store, call.policy, call.namespace, meaning=meaning)

"""Commands about the plugin for Claude Code."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, get_args

import typer

from perdure.interfaces.cli.call import Call
from perdure.interfaces.plugin.installation import Scope
from perdure.interfaces.views.blocks import Foreign, Line


def plugin_path(call: Call) -> None:
    """Print the folder of the plugin, for 'claude --plugin-dir'."""
    from perdure.interfaces.plugin.launcher import PLUGIN  # noqa: PLC0415  # start-up time

    call.answer({"path": str(PLUGIN)}, Line((Foreign(str(PLUGIN)),)))


def plugin_install(
    call: Call,
    scope: Annotated[
        Scope, typer.Option("--scope", help=f"For whom Claude Code enables it: {', '.join(get_args(Scope))}.")
    ] = "user",
    folder: Annotated[
        Path | None,
        typer.Option("--folder", metavar="FOLDER", help="Where to put the plugin. Default: in the user's data folder."),
    ] = None,
) -> None:
    """Install the plugin into Claude Code: memory at the start of a session and beside prompts, and ten tools.

    Run it again after an upgrade, or after the environment of Perdure has moved.
    """
    from perdure.interfaces.plugin.installation import install  # noqa: PLC0415  # start-up time
    from perdure.interfaces.plugin.launcher import data_folder  # noqa: PLC0415  # start-up time

    found = install((folder or data_folder() / "claude-plugin").absolute(), scope)
    commands = [shlex.join(command) for command in found.commands]
    data = {"folder": str(found.folder), "installed": found.done, "commands": commands}
    place = Foreign(str(found.folder))
    if found.done:
        call.answer(data, Line(("The plugin is installed from ", place, ". Restart Claude Code to use it.")))
    else:
        steps = [Line((Foreign(command),), item=True) for command in commands]
        call.answer(data, Line("The command claude was not found. Where Claude Code is installed, run:"), *steps)

"""Installing the plugin: a marketplace in the user's data folder, and the two commands that make Claude Code use it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from perdure.records.errors import PerdureError
from perdure.records.installation import WITH_EMBEDDER, embedder_source, install_command, sources_for

PLUGIN: Final = Path(__file__).parent / "claude-code"  # the plugin's folder as it is shipped
SCRIPT: Final = "launch.sh"
RECORD: Final = "command"  # the file beside the launcher that names the command to prefer
SOURCE: Final = "source"  # the file beside it that says where that installation came from


def own_command() -> Path:
    """Return the command ``perdure`` of this environment.

    The interpreter's link is not resolved: in a virtual environment it is a link, and the environment is found by it.
    """
    return Path(sys.executable).absolute().parent / "perdure"


def write_launcher(folder: Path) -> Path:
    """Put the launcher and records of this environment into a folder, and return the launcher's path.

    The records are the command, and where the installation came from, if that is known.
    """
    folder.mkdir(parents=True, exist_ok=True)
    launcher = folder / SCRIPT
    shutil.copyfile(PLUGIN / "scripts" / SCRIPT, launcher)
    (folder / RECORD).write_text(f"{own_command()}\n", "utf-8")
    lines = source_lines()
    if lines:
        (folder / SOURCE).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    else:
        (folder / SOURCE).unlink(missing_ok=True)  # an earlier installation's
    return launcher


def source_lines() -> list[str]:
    """Return what the launcher needs to fetch this Perdure again from where it came; nothing where that is unknown.

    Lines are of four kinds: a ``path`` that must exist, what ``uvx`` takes (``--from``, ``--with``), and the command
    that tells a person how to ``install`` it.
    """
    embedder = embedder_source()
    extras = ("mcp",) if embedder is None else ("mcp", WITH_EMBEDDER)
    sources = sources_for(extras)
    if sources is None:
        return []
    own, *others = sources
    lines = [f"path {source.path}" for source in sources if source.path is not None]
    lines += [f"--from {own.requirement(*extras)}"]
    lines += [f"--with {source.requirement()}" for source in others if source.url is not None]
    return [*lines, f"install {install_command(*extras)}"]


def data_folder() -> Path:
    """Return the user's data folder, which is made."""
    from perdure import user_folders  # noqa: PLC0415  # only where it is used

    folder = user_folders.data_folder("so there is no place for its files", "Set HOME.")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


Scope = Literal["user", "project", "local"]
NAME: Final = "perdure"
DEADLINE: Final = 120.0  # seconds for each command of Claude Code


class InstallationFailed(PerdureError):  # noqa: N818  # reads as the statement it makes
    """Claude Code refused a step of the installation."""

    fault = "machine"


@dataclass(frozen=True, slots=True)
class Installation:
    """What was installed."""

    folder: Path  # the marketplace that holds the plugin
    commands: tuple[tuple[str, ...], ...]  # the commands of Claude Code that use it, in their order
    done: bool  # whether they were run; False where ``claude`` was not found


def install(folder: Path, scope: Scope) -> Installation:
    """Write the marketplace into a folder and have Claude Code install the plugin from it."""
    write_marketplace(folder)
    commands = (
        ("claude", "plugin", "marketplace", "add", str(folder)),
        ("claude", "plugin", "marketplace", "update", NAME),
        ("claude", "plugin", "install", f"{NAME}@{NAME}", "--scope", scope),
    )
    program = shutil.which("claude")
    if program is None:
        return Installation(folder, commands, done=False)
    for command in commands:
        _run((program, *command[1:]))
    return Installation(folder, commands, done=True)


def write_marketplace(folder: Path) -> None:
    """Write a marketplace with this plugin, whose launcher knows this environment; an earlier one is replaced."""
    plugin = folder / NAME
    shutil.rmtree(plugin, ignore_errors=True)
    shutil.copytree(PLUGIN, plugin)
    write_launcher(plugin / "scripts")
    manifest = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text("utf-8"))
    entry = {"name": NAME, "source": f"./{NAME}", "description": manifest["description"]}
    listing = {
        "name": NAME,
        "description": "Long-term memory for coding agents.",
        "owner": manifest["author"],
        "plugins": [entry],
    }
    path = folder / ".claude-plugin" / "marketplace.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(listing, indent=2) + "\n", "utf-8")


def _run(command: tuple[str, ...]) -> None:
    try:
        process = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InstallationFailed(
            f"`{' '.join(command)}` did not run: {error}", remedy="Run it by hand to see why."
        ) from error
    if process.returncode:
        output = (process.stderr or process.stdout).strip()[:500]
        raise InstallationFailed(f"`{' '.join(command)}` failed: {output}", remedy="Run it by hand to see why.")

"""What to paste into a client so that it starts this server."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path
from typing import Final, Literal

from perdure.interfaces.mcp.run import default_store
from perdure.records.errors import InvalidInput

Client = Literal["claude-code", "claude-desktop", "cursor"]

_SECRET: Final = re.compile(r"^\w+://[^/@:]*:[^@]+@|[?&]password=")
_DESKTOP: Final = """\
# Claude Desktop: Settings > Developer > Edit Config opens the file. Its usual place:
#   macOS    ~/Library/Application Support/Claude/claude_desktop_config.json
#   Windows  %APPDATA%\\Claude\\claude_desktop_config.json
#   Linux    ~/.config/Claude/claude_desktop_config.json
# Merge this into it, then restart Claude Desktop:
"""
_CURSOR: Final = """\
# Cursor: for every project or for one. The files' usual places:
#   macOS, Linux  ~/.cursor/mcp.json
#   Windows       %USERPROFILE%\\.cursor\\mcp.json
#   one project   .cursor/mcp.json in its root
# Merge this into one of them:
"""


def snippet(client: Client, store: str | None = None, policy: str | None = None) -> str:
    """Return what to paste: comment lines that start with ``#``, then the configuration.

    The server is named by absolute paths, so that it starts whatever the client's PATH and folder are.

    Args:
        client: Which client.
        store: The store's file; a file in the user's data folder if not given.
        policy: The policy's file; the server looks for one if not given.

    Raises:
        InvalidInput: There is no such client.
    """
    command, *arguments = server_command(store, policy)
    return _PROFILES + _caution(store) + _text(client, command, arguments)


_PROFILES: Final = (
    "# --profile agent offers ten tools; use lifecycle to add maintenance tools, or full for all tools.\n"
)


def _caution(store: str | None) -> str:
    """A line before a configuration that holds a password; such files are often committed."""
    if store is None or not _SECRET.search(store):
        return ""
    return (
        "# The address below holds a password: keep it out of files that you share. Without it in the address, the\n"
        "# server's password is taken from the variable PGPASSWORD or from ~/.pgpass.\n"
    )


def _text(client: Client, command: str, arguments: list[str]) -> str:
    config = json.dumps(
        {"mcpServers": {"perdure": {"command": command, "args": arguments}}}, indent=2, ensure_ascii=False
    )
    if client == "claude-code":
        added = shlex.join(["claude", "mcp", "add", "--scope", "user", "perdure", "--", command, *arguments])
        return (
            f"# Claude Code: run this once, for all your projects:\n{added}\n\n"
            f"# Or, for one project, put this into .mcp.json in its root:\n{config}\n"
        )
    if client == "claude-desktop":
        return f"{_DESKTOP}{config}\n"
    if client == "cursor":
        return f"{_CURSOR}{config}\n"
    raise InvalidInput(
        f"Unknown client: {client!r}.",
        remedy="Use claude-code, claude-desktop or cursor; other clients take similar JSON.",
    )


def server_command(store: str | None = None, policy: str | None = None) -> list[str]:
    """Return the command that starts the server over stdio, with absolute paths."""
    named = str(default_store()) if store is None else store
    place = named if "://" in named else str(Path(named).expanduser().absolute())
    chosen = [] if policy is None else ["--policy", str(Path(policy).expanduser().absolute())]
    # -P: a file named mcp.py in the client's project folder must neither break the server nor run.
    # The interpreter is not resolved: in a virtual environment it is a link, and the environment is found by its place.
    python = str(Path(sys.executable).absolute())
    return [python, "-P", "-m", "perdure.interfaces.mcp", "--profile", "agent", *chosen, "--store", place]

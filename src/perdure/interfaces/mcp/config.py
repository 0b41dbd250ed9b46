"""What to paste into a client so that it starts this server."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, get_args

from perdure.interfaces.files.project import HERE
from perdure.interfaces.mcp.run import default_store
from perdure.interfaces.plugin.installation import data_folder, write_launcher
from perdure.records.errors import InvalidInput
from perdure.user_folders import expand_user

Client = Literal["claude-code", "claude-desktop", "cursor", "vscode", "codex", "gemini", "windsurf", "zed"]

_SECRET: Final = re.compile(r"^\w+://[^/@:]*:[^@]+@|[?&]password=")
_COMMENTS: Final[Mapping[str, str]] = {
    "claude-desktop": """\
# Claude Desktop: Settings > Developer > Edit Config opens the file. Its usual place:
#   macOS    ~/Library/Application Support/Claude/claude_desktop_config.json
#   Windows  %APPDATA%\\Claude\\claude_desktop_config.json
#   Linux    ~/.config/Claude/claude_desktop_config.json
# Merge this into it, then restart Claude Desktop:
""",
    "cursor": """\
# Cursor: for every project or for one. The files' usual places:
#   macOS, Linux  ~/.cursor/mcp.json
#   Windows       %USERPROFILE%\\.cursor\\mcp.json
#   one project   .cursor/mcp.json in its root
# Merge this into one of them:
""",
    "vscode": """\
# VS Code: "MCP: Open User Configuration" in the command palette opens the file for every project;
# for one project it is .vscode/mcp.json in its root. Merge this into one of them:
""",
    "windsurf": """\
# Windsurf: merge this into ~/.codeium/windsurf/mcp_config.json, then refresh the MCP servers in its settings:
""",
    "zed": """\
# Zed: merge this into its settings, usually ~/.config/zed/settings.json:
""",
}
_KEYS: Final[Mapping[str, str]] = {"vscode": "servers", "zed": "context_servers"}
"""Under which key a client lists its servers, where it is not ``mcpServers``."""


def config_snippet(
    client: Client, store: str | None = None, policy: str | None = None, namespace: str | None = None
) -> str:
    """Return what to paste: comment lines that start with ``#``, then the configuration.

    The server is named by absolute paths, so that it starts whatever the client's PATH and folder are, and through a
    launcher, so that it still starts after its environment has moved. Without a store it is
    a file in the user's data folder; without a policy the server looks for one; without a namespace, one for each
    project, where the client works in projects.
    """
    place = namespace if namespace is not None or client == "claude-desktop" else HERE
    command, *arguments = server_command(store, policy, place)
    told = _PROJECTS if place == HERE else ""
    return _PROFILES + told + _caution(store) + _text(client, command, arguments)


_PROFILES: Final = (
    "# --profile agent offers ten tools; use lifecycle to add maintenance tools, or full for all tools.\n"
)
_PROJECTS: Final = (
    "# --namespace . keeps the memories of each project apart, by its folder's name, as the plugin and its hooks do.\n"
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
    server = {"command": command, "args": arguments}
    config = json.dumps({_KEYS.get(client, "mcpServers"): {"perdure": server}}, indent=2, ensure_ascii=False)
    if client in _COMMENTS:
        return f"{_COMMENTS[client]}{config}\n"
    if client == "claude-code":
        call = shlex.join(["claude", "mcp", "add", "--scope", "user", "perdure", "--", command, *arguments])
        return (
            f"# Claude Code: run this once, for all your projects:\n{call}\n\n"
            f"# Or, for one project, put this into .mcp.json in its root:\n{config}\n"
        )
    if client == "gemini":
        call = shlex.join(["gemini", "mcp", "add", "--scope", "user", "perdure", command, "--", *arguments])
        return f"# Gemini CLI: run this once:\n{call}\n\n# Or merge this into ~/.gemini/settings.json:\n{config}\n"
    if client == "codex":
        call = shlex.join(["codex", "mcp", "add", "perdure", "--", command, *arguments])
        values = {key: json.dumps(value, ensure_ascii=False) for key, value in server.items()}
        table = f"[mcp_servers.perdure]\ncommand = {values['command']}\nargs = {values['args']}\n"
        return f"# Codex: run this once:\n{call}\n\n# Or add this to ~/.codex/config.toml:\n{table}"
    *others, last = get_args(Client)
    raise InvalidInput(
        f"Unknown client: {client!r}.", remedy=f"Use {', '.join(others)} or {last}; other clients take similar JSON."
    )


def server_command(store: str | None = None, policy: str | None = None, namespace: str | None = None) -> list[str]:
    """Return the command that starts the server over stdio, with absolute paths.

    It names the launcher in the user's data folder, which is written; on Windows, this environment's interpreter.
    """
    address = str(default_store()) if store is None else store
    absolute = address if "://" in address else str(expand_user(address).absolute())
    options = [] if policy is None else ["--policy", str(expand_user(policy).absolute())]
    if os.name == "nt":
        # -P: a file named mcp.py in the client's project folder must neither break the server nor run.
        start = [str(Path(sys.executable).absolute()), "-P", "-m", "perdure"]
    else:
        start = ["/bin/sh", str(write_launcher(data_folder() / "launcher"))]
    place = [] if namespace is None else ["--namespace", namespace]
    return [*start, *options, "--store", absolute, "mcp", "--profile", "agent", *place]

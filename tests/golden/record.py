"""Records what users and models see of Perdure, so that a change of the code shows what else it changes.

    python tests/golden/record.py            write the files beside this script
    python tests/golden/record.py --check    print what differs, and end with 1 if anything does

``tools-*.json`` is what an MCP client lists, ``help/`` what ``--help`` prints.
"""

from __future__ import annotations

import asyncio
import difflib
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

sys.path.insert(0, str(Path(__file__).parents[1]))

from mcp import Client
from typer.main import get_command
from typer.testing import CliRunner

from perdure.interfaces.cli.app import app
from perdure.interfaces.mcp.run import build

HERE = Path(__file__).parent
ACCEPT = "python tests/golden/record.py"
ENVIRONMENT = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "TZ": "UTC"}
PROFILES = ("core", "full")


def main() -> int:
    """Write the files, or compare them with what the code gives now."""
    recorded = {**record_tools(), **record_help()}
    if "--check" in sys.argv:
        sys.stdout.writelines(difference(recorded))
        return 1 if difference(recorded) else 0
    for name in stored_files() - recorded.keys():
        (HERE / name).unlink()
    for name, text in recorded.items():
        path = HERE / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    return 0


def difference(recorded: dict[str, str], pattern: str = "**/*") -> list[str]:
    """Return the lines of a unified diff from the files to what was recorded; none if they are the same."""
    lines: list[str] = []
    for name in sorted(stored_files(pattern) | recorded.keys()):
        path = HERE / name
        before = path.read_text("utf-8").splitlines(keepends=True) if path.is_file() else []
        after = recorded.get(name, "").splitlines(keepends=True)
        lines += difflib.unified_diff(before, after, f"tests/golden/{name}", "now")
    return lines


def stored_files(pattern: str = "**/*") -> set[str]:
    """Return the names of the recorded files."""
    return {path.relative_to(HERE).as_posix() for path in HERE.glob(pattern) if path.suffix in {".json", ".txt"}}


@contextmanager
def fixed_environment(**more: str) -> Iterator[None]:
    """Fix what the terminal and the user's settings would change."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PERDURE_")}
    with mock.patch.dict(os.environ, {**kept, **ENVIRONMENT, **more}, clear=True):
        time.tzset()
        yield
    time.tzset()


def as_text(data: Any) -> str:
    """Return data as indented JSON."""
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


# --- tools and help


def record_tools() -> dict[str, str]:
    """Return the tools of each profile as a client lists them."""
    return {f"tools-{profile}.json": as_text(asyncio.run(_tools(profile))) for profile in PROFILES}


async def _tools(profile: Any) -> list[dict[str, Any]]:
    async with Client(build(_no_store, profile=profile)) as client:
        listed = (await client.list_tools()).tools
    return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed]


def _no_store() -> Any:
    raise AssertionError("listing tools needs no store")


def record_help() -> dict[str, str]:
    """Return the help page of every command."""
    command = get_command(app)
    with fixed_environment(), mock.patch("typer.testing._get_command", return_value=command):
        return {f"help/{'-'.join(path) or 'perdure'}.txt": _help(path) for path in _commands(command)}


def _commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    for name, below in getattr(command, "commands", {}).items():
        yield from _commands(below, (*path, name))


def _help(path: tuple[str, ...]) -> str:
    shown = CliRunner().invoke(app, [*path, "--help"], prog_name="perdure").stdout
    return "\n".join(line.rstrip() for line in shown.splitlines()).strip() + "\n"


if __name__ == "__main__":
    raise SystemExit(main())

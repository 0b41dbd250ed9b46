"""Records what users and models see of Perdure, so that a change of the code shows what else it changes.

    python tests/golden/record.py            write the files beside this script
    python tests/golden/record.py --check    print what differs, and end with 1 if anything does

``tools-*.json`` is what an MCP client lists, ``help/`` what ``--help`` prints, ``tour/`` what each door answers to the
steps of ``tour.py`` over a file; ``tour-postgres`` holds the lines that are different over a server.
"""

from __future__ import annotations

import asyncio
import difflib
import json
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

sys.path.insert(0, str(Path(__file__).parents[1]))

from mcp import Client
from typer.main import get_command
from typer.testing import CliRunner

from conftest import MEMORY, ROOMY, places
from golden import doors
from golden.tour import TOURS

HERE = Path(__file__).parent
ACCEPT = "python tests/golden/record.py"
PANEL = re.compile(r"^╭.*\n(?:│.*\n)*╰.*\n", re.MULTILINE)
PROFILES = ("agent", "lifecycle", "full")


def main() -> int:
    """Write the files, or compare them with what the code gives now."""
    recorded = {**record_tools(), **record_help(), **record_tour(), **record_server_tour()}
    if "--check" in sys.argv:
        lines = difference(recorded)
        sys.stdout.writelines(lines)
        return 1 if lines else 0
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


def as_text(data: Any) -> str:
    """Return data as indented JSON."""
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


# --- tools and help


def record_tools() -> dict[str, str]:
    """Return the tools of each profile as a client lists them."""
    return {f"tools-{profile}.json": as_text(asyncio.run(_tools(profile))) for profile in PROFILES}


async def _tools(profile: Any) -> list[dict[str, Any]]:
    async with Client(doors.build(_no_store, profile=profile)) as client:
        listed = (await client.list_tools()).tools
    return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed]


def _no_store() -> Any:
    raise AssertionError("listing tools needs no store")


def record_help() -> dict[str, str]:
    """Return the help page of every command; panels that the first page has as well are left out of the others."""
    command = get_command(doors.app)
    with doors.fixed_environment(), mock.patch("typer.testing._get_command", return_value=command):
        pages = {path: _help(path) for path in _commands(command)}
    common = set(PANEL.findall(pages[()]))
    return {
        f"help/{'-'.join(path) or 'perdure'}.txt": _own_part(pages[path], common if path else set()) for path in pages
    }


def _own_part(page: str, common: set[str]) -> str:
    return PANEL.sub(lambda panel: "" if panel[0] in common else panel[0], page)


def _commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    for name, below in getattr(command, "commands", {}).items():
        yield from _commands(below, (*path, name))


def _help(path: tuple[str, ...]) -> str:
    shown = CliRunner().invoke(doors.app, [*path, "--help"], prog_name="perdure").stdout
    return "\n".join(line.rstrip() for line in shown.splitlines()).strip() + "\n"


# --- the tour


def record_tour() -> dict[str, str]:
    """Return what each door answers over a file."""
    answers = {door: tour("sqlite", door) for door in doors.DOORS}
    terminal = "".join(f"=== {name}\n{answer['terminal']}" for name, answer in answers["cli"].items())
    cli = _in_json("sqlite")
    python = {
        name: "as in cli.json" if answer == cli.get(name, {}).get("json") else answer
        for name, answer in answers["python"].items()
    }
    return {
        "tour/cli.json": as_text(cli),
        "tour/mcp.json": as_text(answers["mcp"]),
        "tour/python.json": as_text(python),
        "tour/terminal.txt": terminal,
    }


def record_server_tour() -> dict[str, str]:
    """Return in which lines the answers over a server are different from those over a file, a file for each door."""
    return {f"tour-postgres/{door}.json": as_text(server_changes(door)) for door in doors.DOORS}


def server_changes(door: str) -> dict[str, list[str]]:
    """Return step -> the lines in which a door answers differently over a server."""
    here, there = _answers("sqlite", door), _answers("postgres", door)
    return {name: lines for name in here if (lines := _changes(here[name], there[name]))}


def _answers(store: str, door: str) -> dict[str, Any]:
    return _in_json(store) if door == "cli" else tour(store, door)


def _in_json(store: str) -> dict[str, Any]:
    return {
        name: {key: part for key, part in answer.items() if key != "terminal"}
        for name, answer in tour(store, "cli").items()
    }


def _changes(before: Any, after: Any) -> list[str]:
    lines = difflib.unified_diff(as_text(before).splitlines(), as_text(after).splitlines(), n=0, lineterm="")
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


@cache
def tour(store: str, door: str) -> dict[str, Any]:
    """Return step -> answer of one door, over an empty store for each part of the tour."""
    answers: dict[str, Any] = {}
    for steps, policy in TOURS:
        with _folder() as folder, places(store, folder) as place:
            answers |= doors.walk(door, str(place()), folder, steps, policy)
    return answers


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="tour-", dir=MEMORY if ROOMY else None) as name:
        folder, before = Path(name).resolve(), Path.cwd()
        os.chdir(folder)
        try:
            yield folder
        finally:
            os.chdir(before)


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # the tour stores a secret
    raise SystemExit(main())

"""The table of behaviours, and the tests that hold them: each names its rows by the marker ``behaviour``."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parent / "behaviours.md"
TESTS = Path(__file__).parents[1] / "tests"
ROW = re.compile(r"\| (?!id )(\S+) \| (.+) \| (.*?) ?\|")


def completed(text: str) -> str:
    """The table of behaviours with the files whose tests hold each; without one a row keeps its reason."""
    marked = marked_files()
    lines = []
    for line in text.splitlines():
        row = row_of(line)
        files = " ".join(f"`{file}`" for file in marked.get(row[0], ())) if row else ""
        lines.append(f"| {row[0]} | {row[1]} | {files or row[2]} |" if row else line)
    return "\n".join(lines) + "\n"


def row_of(line: str) -> tuple[str, str, str] | None:
    """The id, the text and the reason for having no test, which may be empty; None where a line is no row."""
    found = ROW.fullmatch(line)
    return (found[1], found[2], "" if found[3].startswith("`") else found[3]) if found else None


def marked_files() -> dict[str, list[str]]:
    """Each id that a test is marked with -> the files of those tests, below tests/."""
    found: dict[str, list[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        marked = marks(path) if ".behaviour(" in path.read_text("utf-8") else []  # reading a file's syntax takes long
        for identity in {identity for _, ids in marked for identity in ids}:
            found.setdefault(identity, []).append(path.relative_to(TESTS).as_posix())
    return found


def marks(path: Path) -> list[tuple[str, list[str]]]:
    """The tests of a file with the ids that each is marked with."""
    return [
        (node.name, [each.value for mark in node.decorator_list for each in _arguments(mark)])
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]


def _arguments(mark: ast.expr) -> list[Any]:
    called = isinstance(mark, ast.Call) and isinstance(mark.func, ast.Attribute) and mark.func.attr == "behaviour"
    return mark.args if called else []

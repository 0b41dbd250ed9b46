"""Which packages of Perdure import which: the figure of the architecture page, and what the tests hold it against."""

from __future__ import annotations

import ast
from collections.abc import Set as AbstractSet
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "perdure"
LAYERS = (
    ("interfaces",),
    ("compose",),
    ("memory",),
    ("verbs",),
    ("knowledge",),
    ("operations",),
    ("stores", "models", "rules"),
    ("formulas",),
    ("records",),
)
"""From the top. A package may import those below its own line only."""


def part_of(name: str) -> str:
    """Return the part of the architecture that a top-level module or package belongs to."""
    return "compose" if name.startswith("compose") else name


@cache
def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a source file."""
    return ast.parse(path.read_text("utf-8"))


def imports(source: Path = SOURCE) -> set[tuple[str, str]]:
    """Return (importing part, imported part) of all imports between parts; those for type checkers count too."""
    found: set[tuple[str, str]] = set()
    parts = {name for layer in LAYERS for name in layer}
    for path in source.rglob("*.py"):
        own = part_of(path.relative_to(source).parts[0].removesuffix(".py"))
        for name in _imported(parsed(path)):
            other = part_of(name.split(".")[1]) if name.startswith("perdure.") else ""
            if own in parts and other in parts and own != other:
                found.add((own, other))
    return found


def _imported(tree: ast.Module) -> list[str]:
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            names += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return names


def modules(source: Path = SOURCE) -> dict[str, set[str]]:
    """Return module -> the modules that it needs before its own statements run."""
    paths = {
        ".".join(("perdure", *path.relative_to(source).with_suffix("").parts)).removesuffix(".__init__"): path
        for path in source.rglob("*.py")
    }
    return {name: _needed(parsed(path), paths.keys()) for name, path in paths.items()}


def _needed(tree: ast.Module, known: AbstractSet[str]) -> set[str]:
    """Return the modules among some that the top level of another one imports; for type checkers alone is none."""
    top = ast.Module([node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)], [])
    named = {name if name in known else name.rpartition(".")[0] for name in _imported(top)}
    return named & known


def upward(edges: set[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the imports that do not point downward. Where there are none there is no circle either."""
    level = {name: number for number, layer in enumerate(LAYERS) for name in layer}
    return sorted((a, b) for a, b in edges if level[a] >= level[b])


def figure() -> str:
    """Return the graph as a Mermaid flowchart, without arrows that a longer way implies."""
    edges = imports()
    shown = sorted((a, b) for a, b in edges if not any((a, c) in edges and (c, b) in edges for c in _all()))
    return "\n".join(["```mermaid", "flowchart TD", *(f"    {a} --> {b}" for a, b in shown), "```"])


def _all() -> list[str]:
    return [name for layer in LAYERS for name in layer]

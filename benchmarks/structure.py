"""The size and shape of the source, beside the bounds that it is kept in: ``python benchmarks/structure.py [FOLDER]``.

FOLDER is another checkout to compare with. ``check`` is what the tests call.
"""

from __future__ import annotations

import ast
import math
import re
import sys
from collections import Counter, defaultdict
from functools import cache
from itertools import combinations
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST_LINES = 49_000
MOST_SURFACE = 7_000
MOST_P90 = 20
ALIKE = 6  # lines in a row
SHORTEST = 24  # tokens of such a run
LONG = 8  # tokens of a line that does something, whatever it begins with
COMMON = 8  # what stands in more places is the language's way, not a repetition
REPEATS_BEFORE = 172  # pairs when each verb was still declared several times
MOST_REPEATS = REPEATS_BEFORE // 3
_TOKEN = re.compile(r"""(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?P<name>[^\W\d]\w*)|(?P<number>\d[\w.]*)|\S""")
_ALIKE = {"text": "s", "name": "n", "number": "0"}
_NOT_CODE = re.compile(r"#|\"\"\"|import\b|from \S+ import\b|\W*$")
_ACTION = re.compile(r"(?:if|for|while|return|else|elif|try|except|with|raise|yield|await|assert|del|continue|break)\b")
_ASSIGNMENT = re.compile(r"(?<![=!<>])=(?!=)")
SURFACE = (
    "memory.py",
    "memory_*.py",
    "verbs/*.py",
    "interfaces/cli*.py",
    "interfaces/mcp*.py",
    "interfaces/rendering*.py",
    "interfaces/cli/*.py",
    "interfaces/mcp/*.py",
    "interfaces/views/*.py",
    "rules/asking.py",
    "rules/intake.py",
    "rules/grouping.py",
    "rules/validation/*.py",
    "records/json_record.py",
    "records/outcome.py",
    "records/report.py",
    "records/recall.py",
    "records/*results*.py",
    "knowledge/records/*results*.py",
)
"""What a verb is said in: Python methods, commands, tools, views, checks of arguments, records of results."""


def sources(root: Path) -> list[Path]:
    """Return the source files of a checkout."""
    return sorted((root / "src" / "perdure").rglob("*.py"))


def lines(files: list[Path]) -> int:
    """Return how many lines files have."""
    return sum(len(path.read_text("utf-8").splitlines()) for path in files)


def surface(root: Path) -> list[Path]:
    """Return the files of the surface."""
    base = root / "src" / "perdure"
    return sorted({path for pattern in SURFACE for path in base.glob(pattern)})


@cache
def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a source file."""
    return ast.parse(path.read_text("utf-8"))


def function_lengths(root: Path) -> dict[str, list[int]]:
    """Return folder -> the lengths of its functions in lines, sorted."""
    found: dict[str, list[int]] = defaultdict(list)
    for path in sources(root):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                folder = path.parent.relative_to(root / "src").as_posix()
                found[folder].append((node.end_lineno or node.lineno) - node.lineno + 1)
    return {folder: sorted(lengths) for folder, lengths in sorted(found.items())}


def p90(lengths: list[int]) -> int:
    """Return the length that nine functions in ten do not exceed."""
    return lengths[math.ceil(0.9 * len(lengths)) - 1]


def repeated_class_names(root: Path) -> list[str]:
    """Return names of several public classes."""
    counts = Counter(
        node.name
        for path in sources(root)
        for node in parsed(path).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    return sorted(name for name, count in counts.items() if count > 1)


def shapes(path: Path) -> list[tuple[int, str, bool]]:
    """Return (line number, shape, whether it does something) of the lines of code.

    In a shape all names are alike, and so are all texts and all numbers. Comments, imports and lone punctuation
    are left out.
    """
    found = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        text = line.strip()
        if not _NOT_CODE.match(text):
            shape = _TOKEN.sub(lambda token: f" {_ALIKE.get(token.lastgroup or '', token[0])} ", text).split()
            acts = bool(_ACTION.match(text) or _ASSIGNMENT.search(text) or len(shape) >= LONG)
            found.append((number, " ".join(shape), acts))
    return found


def repeats(root: Path) -> list[tuple[str, str]]:
    """Return the pairs of files that share lines of one shape, ``ALIKE`` or more in a row; a file may stand twice.

    Runs of very short lines, and runs of which fewer than two lines do something, do not count.
    """
    places: dict[tuple[str, ...], list[tuple[str, int, int]]] = defaultdict(list)
    for path in sources(root):
        lines = shapes(path)
        name = path.relative_to(root / "src" / "perdure").as_posix()
        for at in range(len(lines) - ALIKE + 1):
            run = lines[at : at + ALIKE]
            shape = tuple(shape for _, shape, _ in run)
            if sum(len(line.split()) for line in shape) >= SHORTEST and sum(acts for *_, acts in run) >= 2:
                places[shape].append((name, run[0][0], run[-1][0]))
    pairs = {
        (one[0], other[0])
        for found in places.values()
        if len(found) <= COMMON
        for one, other in combinations(found, 2)
        if one[0] != other[0] or other[1] > one[2]
    }
    return sorted(pairs)


def main() -> None:
    """Print the figures of this checkout, and of another one beside them."""
    roots = [ROOT, *map(Path, sys.argv[1:2])]
    print(f"source lines (at most {MOST_LINES:,}):", *(f"{lines(sources(r)):,}" for r in roots))
    print(f"surface lines (at most {MOST_SURFACE:,}):", *(f"{lines(surface(r)):,}" for r in roots))
    print("files:", *(len(sources(r)) for r in roots))
    print("public classes that share a name:", *(len(repeated_class_names(r)) for r in roots))
    shared = f"pairs of files that share {ALIKE} lines of one shape (at most {MOST_REPEATS}):"
    print(shared, *(len(repeats(r)) for r in roots))
    print(f"90th percentile of function length in lines (at most {MOST_P90}):")
    for folder, lengths in function_lengths(ROOT).items():
        print(f"  {folder:40} {p90(lengths):3} of {len(lengths)}{'  <<<' if p90(lengths) > MOST_P90 else ''}")


if __name__ == "__main__":
    main()

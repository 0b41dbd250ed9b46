"""The size and shape of the source, beside the bounds that it is kept in: ``python benchmarks/structure.py [FOLDER]``.

FOLDER is another checkout to compare with. tests/test_house.py holds what can be held.
"""

from __future__ import annotations

import ast
import math
import re
from collections import Counter, defaultdict
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from report import Row, finished, parser

if TYPE_CHECKING:
    from collections.abc import Callable

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
    """Print the figures of this checkout, those of another one beside them, and end with 1 where a bound is passed."""
    arguments = parser(__doc__)
    arguments.add_argument("folder", nargs="?", type=Path, help="another checkout to compare with")
    options = arguments.parse_args()

    def row(what: str, measure: Callable[[Path], int], most: int | None) -> Row:
        other = "" if options.folder is None else f"{measure(options.folder):,} in the other"
        return Row(what, measure(ROOT), "", most, note=other)

    rows = [
        row("lines of source", lambda root: lines(sources(root)), MOST_LINES),
        row("lines of the surface", lambda root: lines(surface(root)), MOST_SURFACE),
        row("files", lambda root: len(sources(root)), None),
        row("public classes that share a name", lambda root: len(repeated_class_names(root)), 0),
        row(f"pairs of files that share {ALIKE} lines of one shape", lambda root: len(repeats(root)), MOST_REPEATS),
        *(
            Row(f"nine functions in ten, {folder}", p90(lengths), "lines", MOST_P90, note=f"{len(lengths)} in all")
            for folder, lengths in function_lengths(ROOT).items()
        ),
    ]
    finished(rows, as_json=options.json)


if __name__ == "__main__":
    main()

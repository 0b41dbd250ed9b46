"""The house rules as tests: sizes, names, import contracts that can fail, and a map that names every file."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from types import SimpleNamespace

import pytest

import slow_tests
from conftest import every

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))
import import_graph

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
import structure

import_graph.parsed = structure.parsed  # each file is parsed once for all rules

ROOT = Path(__file__).resolve().parents[1]
DAYS = slow_tests.DAYS
SOURCE = ROOT / "src" / "perdure"
FILES = sorted(SOURCE.rglob("*.py"))
CITING = {"", ".html", ".js", ".md", ".py", ".sh", ".sql", ".svg", ".toml", ".yaml"}
"""Ends of names of files in which words of ours may cite something; one without is the Makefile."""
UNNAMED = {"utils", "util", "helpers", "helper", "manager", "service", "services", "common", "base", "misc"}


@cache
def functions(path: Path) -> list[tuple[str, int]]:
    found = [n for n in ast.walk(structure.parsed(path)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [(n.name, (n.end_lineno or n.lineno) - n.lineno + 1) for n in found]


def test_no_file_is_over_400_lines():
    sizes = {str(p.relative_to(ROOT)): len(p.read_text("utf-8").splitlines()) for p in FILES}
    assert {p: n for p, n in sizes.items() if n > 400} == {}


def test_each_slow_test_that_is_listed_exists():
    names = [name.rpartition("::") for name in slow_tests.listed()]
    texts = {path: (slow_tests.TESTS / path.partition("::")[0]).read_text("utf-8") for path, _, _ in names}
    assert [f"{path}::{test}" for path, _, test in names if f"def {test}(" not in texts[path]] == []
    assert len(names) > 100


def test_each_slow_test_runs_on_one_day_in_several_and_its_cases_on_different_ones():
    slow = {"stores/test_a.py::test_one": 9.0, "stores/test_a.py::test_two": 2.0, "golden/test_b.py::test_three": 1.0}
    ids = [*(f"tests/stores/test_a.py::test_one[{n}]" for n in range(4)), "tests/stores/test_a.py::test_two"]
    ids += ["tests/stores/test_a.py::test_quick", "tests/golden/test_b.py::test_three"]
    ids += ["tests/life/test_lives.py::test_a_life", "tests/life/test_lives.py::test_all_lives_together"]
    items = [SimpleNamespace(nodeid=i, path=ROOT / i.partition("::")[0]) for i in ids]
    left = [
        {i.nodeid for i in slow_tests.of_other_days(items, slow, day)} for day in range(700_000, 700_000 + 2 * DAYS)
    ]
    days = {i: [i not in gone for gone in left] for i in ids}
    assert {i: sum(on) for i, on in days.items()} == {i: 2 * DAYS if "quick" in i or "golden" in i else 2 for i in ids}
    assert all(on[:DAYS] == on[DAYS:] for on in days.values())
    assert len({days[i].index(True) for i in ids[:DAYS]}) == DAYS > 1
    assert days[ids[-1]] == days[ids[-2]]


def test_functions_are_short():
    lengths = {f"{p.relative_to(ROOT)}:{name}": n for p in FILES for name, n in functions(p)}
    assert {name: n for name, n in lengths.items() if n > 50} == {}
    short = sum(1 for n in lengths.values() if n <= 30)
    assert short / len(lengths) >= 0.9


def test_nine_functions_in_ten_of_each_folder_are_very_short_and_public_classes_have_names_of_their_own():
    long = {folder: structure.p90(lengths) for folder, lengths in structure.function_lengths(ROOT).items()}
    assert {folder: n for folder, n in long.items() if n > structure.MOST_P90} == {}
    assert structure.repeated_class_names(ROOT) == []


def test_files_share_a_third_of_the_runs_of_one_shape_that_they_shared_before_verbs_were_declared_once():
    pairs = structure.repeats(ROOT)
    assert len(pairs) <= structure.MOST_REPEATS, pairs


def test_no_file_or_function_has_a_name_that_names_nothing():
    files = [p for p in FILES if set(p.stem.split("_")) & UNNAMED]
    names = [(p.name, name) for p in FILES for name, _ in functions(p) if name.strip("_") in UNNAMED]
    assert (files, names) == ([], [])


def test_the_top_folder_holds_what_a_reader_expects_there():
    """A command that was tried there once left its output in a commit."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    folders = {
        ".ci",
        ".claude-plugin",
        "benchmarks",
        "deploy",
        "docs",
        "packages",
        "requirements",
        "src",
        "tests",
        "training",
    }
    files = {".gitignore", "Makefile", "NOTICE", "LICENSE", "pyproject.toml"}
    documents = {"CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"}
    assert {path.split("/")[0] for path in tracked if path} == folders | files | documents


def test_only_compose_reads_the_real_clock():
    pattern = re.compile(r"datetime\.now\(|time\.time\b|time_ns\(|utcnow|date\.today")
    users = [str(p.relative_to(SOURCE)) for p in FILES if pattern.search(p.read_text("utf-8"))]
    assert users == ["compose.py"]


def test_the_map_names_every_folder_and_only_what_is_there():
    text = (ROOT / "docs" / "map.md").read_text("utf-8")
    named = re.findall(r"`([\w/.]+)`", text)
    assert [n for n in named if not (SOURCE / n).exists()] == []
    folders = {p.parent.relative_to(SOURCE).as_posix() for p in FILES} - {"."}
    assert [
        f for f in sorted(folders) if not any(n.startswith(f"{f}/") or f.startswith(n.rstrip("/")) for n in named)
    ] == []


def test_tests_reach_the_engine_through_public_doors():
    """What takes the place of a clock, a model or a connection may reach inside; there are few such tests."""
    lines = [line for p in (ROOT / "tests").rglob("*.py") for line in p.read_text("utf-8").splitlines()]
    assert sum("._context" in line for line in lines) <= 41  # this line too


def test_no_import_points_upward():
    edges = import_graph.imports()
    assert import_graph.upward(edges) == []
    assert ("interfaces", "compose") in edges  # the graph sees imports at all
    assert import_graph.upward({("records", "stores")}) == [("records", "stores")]


def test_no_module_needs_itself_to_be_imported():
    """Such a module can be imported after some others and not before them: what works hangs on the order."""
    needed = import_graph.modules()
    assert len(needed) == len(FILES)
    assert tuple(TopologicalSorter(needed).static_order())  # raises CycleError with the modules
    with pytest.raises(CycleError):
        TopologicalSorter({**needed, "perdure.records.errors": {"perdure.memory"}}).prepare()


def test_nothing_cites_a_document_that_is_not_here():
    cited = re.compile(
        r"\b(?:[Dd]esign(?: section)? #?\d+|[Ii]ssues? #?\d+|[Ss]eed 0\d\d)\b|\bshared/(?:design|seeds|redesign)\b"
    )
    files = [p for folder in ("src", "docs", "deploy", "benchmarks", ".ci") for p in (ROOT / folder).rglob("*.*")]
    texts = [p for p in [*files, ROOT / "Makefile", *ROOT.glob("*.md")] if p.suffix in CITING and p.is_file()]
    assert {p.suffix for p in texts} == CITING
    assert {str(p.relative_to(ROOT)): found for p in texts if (found := cited.findall(p.read_text("utf-8")))} == {}


def test_the_bounds_of_the_linters_are_not_loosened():
    config = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
    assert config["ruff"]["lint"]["pylint"]["max-args"] <= 9
    layers = [c for c in config["importlinter"]["contracts"] if c["type"] == "layers"]
    assert [c["name"] for c in layers if not c.get("exhaustive")] == []
    assert len(layers) == 2


VIOLATIONS = {
    "an operation that names a store": (
        "operations/lifecycle/sweep.py",
        "from perdure.stores.sqlite.store import SqliteStore\n",
    ),
    "an operation that computes": ("operations/recall.py", "import numpy\n"),
    "a rule that reads the clock": ("rules/lifecycle/moves.py", "import time\n"),
    "a formula that knows records": ("formulas/value.py", "from perdure.records.memory import State\n"),
    "a record that needs a package": ("records/memory.py", "import numpy\n"),
    "a store that decides": ("stores/sqlite/store.py", "from perdure.rules.lifecycle.moves import next_moves\n"),
    "an authority that decides": (
        "knowledge/authorities/sql.py",
        "from perdure.knowledge.rules.verification import believed\n",
    ),
    "an interface that names a store": (
        "interfaces/cli/app.py",
        "from perdure.stores.sqlite.store import SqliteStore\n",
    ),
    "a kernel that knows knowledge": (
        "operations/recall.py",
        "from perdure.knowledge.operations.learn import learn\n",
    ),
    "a reader that knows what is believed": (
        "knowledge/extraction/claims.py",
        "from perdure.knowledge.rules.fact_records import FactState\n",
    ),
    "a door that works on knowledge": (
        "interfaces/views/knowledge.py",
        "from perdure.knowledge.rules.fact_records import FactState\n",
    ),
    "a ring that imports upward": ("rules/lifecycle/signals.py", "import perdure.memory\n"),
}


def test_the_import_contracts_name_each_of_several_planted_violations(tmp_path):
    """All are planted at once in a copy of the source, and each is found by itself, not as a step of another."""
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    assert _lint(tmp_path).returncode == 0
    first = "from __future__ import annotations\n"
    for where, line in VIOLATIONS.values():
        target = tmp_path / "src" / "perdure" / where
        target.write_text(target.read_text("utf-8").replace(first, first + line, 1))
    done = _lint(tmp_path)
    assert done.returncode == 1
    assert [name for name, planted in VIOLATIONS.items() if not _is_named(*planted, done.stdout)] == []


def _is_named(where: str, line: str, told: str) -> bool:
    """Whether a report names an import as a violation that takes no other import."""
    one = f"perdure.{where.removesuffix('.py').replace('/', '.')} -> {line.split()[1]}"
    return re.search(rf"- {re.escape(one)} \(l\.\d+\)(?! \S+ -> )", " ".join(told.split())) is not None


def _lint(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-c",
        "from importlinter.cli import lint_imports_command; lint_imports_command()",
        "--no-cache",
    ]
    environment = {"PYTHONPATH": str(folder / "src"), "PATH": "/usr/bin:/bin"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


def test_a_test_of_every_row_of_a_table_tells_each_that_fails():
    seen = []

    @every([(1, "one"), (2, "two"), (3, "three")])
    def each(number, word):
        seen.append(word)
        assert number == len("one") - 1, f"{word} is too much"

    with pytest.raises(AssertionError, match=r"1, 'one'.*one is too much(.|\n)*3, 'three'.*three is too much") as told:
        each()
    assert seen == ["one", "two", "three"]
    assert "'two'" not in str(told.value)

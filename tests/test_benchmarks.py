"""Benchmarks say which of their targets are missed, and end so that a missed one is noticed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ENV, weekly

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
SCRIPT = """
import sys
from report import Row, finished
finished([Row("plain", 7, "ms"), Row(*{row})], as_json="--json" in sys.argv)
"""
OF_ALL = """
import sys
import run
scripts = sys.argv[1:]
del sys.argv[1:]
run.planned = lambda **_: [("part: ", script, []) for script in scripts]
run.main()
"""
PAGES = """
import sys
import page
page.LIMIT_MS = float("inf")  # this machine may be slow
for most in (1000, 0.001):
    page.LIMIT_KB = most
    try:
        page.main()
    except SystemExit as end:
        print("ended with", end.code)
    else:
        print("ended well")
"""
TRIED = {
    **dict.fromkeys(("src/perdure/__init__.py", "src/perdure/rules/__init__.py"), ""),
    "src/perdure/rules/prices.py": """
def price(weight: float = 1.0) -> float:
    if weight > 3:  # für ß
        return 2 * weight
    return 7
""",
    "tests/rules/test_prices.py": """
from perdure.rules.prices import price


def test_of_what_is_heavy():
    assert (price(5), price(3.75)) == (10, 7.5)


def test_that_fails_anyway():
    assert price() == 8
""",
    "benchmarks/equivalent_mutants.txt": "src/perdure/rules/prices.py:price: weight > 3 -> weight >= 3  # none is 3\n",
    "tests/conftest.py": """
from hypothesis import settings

settings.register_profile("brief")
""",
}
ROWS = {
    "met": (("slow", 2.0, "ms", 2.0), 0),
    "missed": (("slow", 2.1, "ms", 2.0), 1),
    "as many as asked": (("many", 85.0, "%", 85, None, True), 0),
    "fewer than asked": (("many", 84.9, "%", 85, None, True), 1),
}


def child(*words, **environment):
    return subprocess.run(
        [sys.executable, *map(str, words)],
        capture_output=True,
        text=True,
        env={**ENV, "PYTHONPATH": f"{BENCHMARKS}{os.pathsep}{ENV['PYTHONPATH']}", **environment},
        check=False,
        timeout=300,
    )


@pytest.mark.parametrize("name", ROWS)
def test_a_missed_target_is_named_and_is_the_exit_status_of_a_script_and_of_make_bench(tmp_path, name):
    row, status = ROWS[name]
    script = tmp_path / "part.py"
    script.write_text(SCRIPT.format(row=row))
    told = f"MISSED 1 of 1 targets: {row[0]}" if status else "No target is missed."
    alone = child(script)
    assert (alone.returncode, alone.stderr) == (status, f"{told}\n")
    assert ("**missed**" in alone.stdout) == bool(status)
    asked = child(script, "--json")
    assert (asked.returncode, asked.stderr) == (0, "")
    together = child("-c", OF_ALL, script)
    assert (together.returncode, together.stderr.splitlines()[-1]) == (status, told.replace(row[0], f"part: {row[0]}"))
    assert f"| part: {row[0]} |" in together.stdout


def test_a_script_that_ends_with_an_error_is_missed_and_the_others_are_run(tmp_path):
    broken, whole = tmp_path / "broken.py", tmp_path / "whole.py"
    broken.write_text("import sys; sys.exit('2 texts have no label')")
    whole.write_text(SCRIPT.format(row=ROWS["met"][0]))
    done = child("-c", OF_ALL, broken, whole)
    assert (done.returncode, done.stdout.count("**missed**")) == (1, 1)
    assert "2 texts have no label" in done.stderr
    assert done.stderr.endswith(f"MISSED 1 of 2 targets: part: {broken} ends with an error\n")


def test_make_bench_runs_those_of_the_service_of_the_page_and_of_what_is_merged_extracted_and_shortened():
    shown = child("-c", "import run; print(*{script for _, script, _ in run.planned(full=False, quick=False)})")
    scripts = set(shown.stdout.split())
    assert {"http_service.py", "page.py", "server.py"} <= scripts
    assert {"paraphrases.py", "extraction.py", "summaries.py"} <= scripts
    assert {script for script in scripts if not (BENCHMARKS / script).is_file()} == set()
    assert "benchmarks/run.py" in (BENCHMARKS.parent / "Makefile").read_text("utf-8")


@weekly
def test_a_page_that_is_larger_than_asked_is_missed(tmp_path):
    done = child("-c", PAGES, "--rows", "60", TMPDIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith("ended")] == ["ended well", "ended with 1"]
    assert done.stderr.count("MISSED") == 1
    assert sum("**missed**" in line for line in lines) == sum("kB" in line for line in lines) / 2 >= 10


def test_a_benchmark_of_the_same_name_hides_no_package_of_the_tests():
    path = os.pathsep.join([*ENV["PYTHONPATH"].split(os.pathsep), str(BENCHMARKS.parent / "tests"), str(BENCHMARKS)])
    done = child("-c", "import life; print(life.__path__)", PYTHONPATH=path)
    assert done.returncode == 0, done.stderr


def lay_out(folder, more):
    """Write a small source with tests, and the scripts that change it."""
    scripts = {
        f"benchmarks/{name}": (BENCHMARKS / name).read_text("utf-8") for name in ("mutants.py", "small_changes.py")
    }
    for name, text in (TRIED | scripts | more).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")


@weekly
def test_changes_are_tried_against_no_folder_whose_tests_do_not_load(tmp_path):
    lay_out(tmp_path, {"tests/rules/test_broken.py": "import nothing_of_this_name"})
    done = child(tmp_path / "benchmarks" / "mutants.py", "--seed", 3, PYTHONPATH="")
    assert done.returncode != 0
    assert done.stderr == "The tests of tests/rules could not be loaded.\n"


@weekly
def test_small_changes_of_the_source_are_told_with_what_no_test_notices(tmp_path):
    lay_out(tmp_path, {})
    done = child(tmp_path / "benchmarks" / "mutants.py", "--seed", 3, PYTHONPATH="")
    assert done.returncode == 0, done.stderr
    told = {
        line.split("prices.py:")[1].split("  ")[0]: line.split()[0]
        for line in done.stdout.split("\n")
        if ".py:" in line
    }
    assert told == {
        "2:price(): 1.0 -> 2.0": "survived",
        "3:price: weight > 3 -> weight >= 3": "equivalent",
        "3:price: weight > 3 -> True": "survived",
        "3:price: weight > 3 -> False": "killed",
        "3:price: 3 -> 4": "killed",
        "4:price: 2 * weight -> 2 / weight": "killed",
        "4:price: 2 * weight -> None": "killed",
        "4:price: 2 -> 3": "killed",
        "5:price: 7 -> None": "survived",
        "5:price: 7 -> 8": "survived",
    }
    assert done.stdout.split("\n")[-2].split()[:6] == ["all", "10", "5", "0", "4", "1"]
    assert child(tmp_path / "benchmarks" / "mutants.py", "--seed", 3, PYTHONPATH="").stdout.endswith(
        done.stdout.split("tracing tests/rules\n")[1]
    )

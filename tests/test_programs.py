"""What tests need beside Perdure is installed where it can be, and where CI is set its absence fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import programs
from programs import library, program

ROOT = Path(__file__).resolve().parents[1]
ABSENT = "perdure-no-such-program"
posix = pytest.mark.skipif(sys.platform == "win32", reason="shell scripts stand in for apt-get and make")
as_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root installs packages of the system"
)
BROWSED = sorted(
    path.name for path in (ROOT / "tests/interfaces/pages").glob("test_*.py") if "playwright" in path.read_text("utf-8")
)
WITHOUT = """
import sys
sys.modules[sys.argv[1]] = None
import pytest
sys.exit(pytest.main(["-q", "--collect-only", "-p", "no:cacheprovider", "-rE", *sys.argv[2:]]))
"""


@pytest.fixture(autouse=True)
def _asked_anew():
    programs._found.cache_clear()
    yield
    programs._found.cache_clear()


@pytest.fixture
def ci(monkeypatch):
    """Set CI, or take it away."""

    def become(value):
        if value is None:
            monkeypatch.delenv("CI", raising=False)
        else:
            monkeypatch.setenv("CI", value)

    return become


def script(folder, name, text):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def apt(tmp_path, monkeypatch):
    """Stand in for apt-get; returns how to say what it does, and what it was told so far."""
    folder, told = tmp_path / "bin", tmp_path / "told"
    told.touch()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    def does(text):
        script(folder, "apt-get", f'shift 2; echo "$@" >> {told}\n{text}')
        return lambda: told.read_text().splitlines()

    return does


def verdict(work):
    try:
        work()
    except pytest.fail.Exception:
        return "fails"
    except pytest.skip.Exception:
        return "skips"
    return "runs"


TOLD = [(None, "skips"), ("", "skips"), ("false", "skips"), ("1", "fails"), ("true", "fails")]


@pytest.mark.parametrize(("value", "expected"), TOLD)
def test_a_needed_program_and_a_library_that_are_not_there_fail_in_ci_alone(ci, monkeypatch, value, expected):
    monkeypatch.setattr(programs, "_may_install", lambda: False)  # as for who is not root
    ci(value)
    assert verdict(lambda: program((ABSENT,), ABSENT, needed=True)) == expected
    assert verdict(lambda: library("perdure_no_such_library")) == expected
    assert verdict(lambda: program((ABSENT,), ABSENT)) == "skips"  # what nobody could install is no fault
    assert verdict(lambda: program((ABSENT, "sh"))) == verdict(lambda: library("pytest")) == "runs"


@posix
@as_root
@pytest.mark.parametrize(("value", "expected"), TOLD[::3])
def test_a_program_that_could_not_be_installed_where_it_could_fails_in_ci(ci, apt, value, expected):
    told = apt("exit 100")
    ci(value)
    for _ in range(2):
        assert verdict(lambda: program((ABSENT,), "one-package")) == expected
    install = "install -y --no-install-recommends one-package"
    assert told() == [install, "update", install]  # the second time nothing is tried


@posix
@as_root
def test_a_program_is_installed_also_where_the_lists_of_packages_are_not_there(apt, tmp_path):
    made = tmp_path / "bin" / ABSENT
    lists = tmp_path / "lists"
    told = apt(f'test "$1" != update || touch {lists}\ntest -e {lists} || exit 100\nln -sf /bin/true {made}')
    found = []
    assert verdict(lambda: found.append(program((ABSENT,), "one-package", "another"))) == "runs"
    assert found == [str(made)]
    assert [line.split()[0] for line in told()] == ["install", "update", "install"]
    assert told()[0].endswith(" one-package another")


@pytest.mark.parametrize("name", ["playwright.sync_api", "axe_playwright_python.sync_playwright"])
def test_tests_in_a_browser_do_not_skip_in_ci_without_their_libraries(name):
    assert len(BROWSED) >= 4
    users = [file for file in BROWSED if name in (ROOT / "tests/interfaces/pages" / file).read_text("utf-8")]
    files = [str(ROOT / "tests/interfaces/pages" / file) for file in users]
    command, told = [sys.executable, "-c", WITHOUT, name, *files], {**os.environ, "CI": "1"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=told, check=False, timeout=300)
    assert done.returncode == pytest.ExitCode.INTERRUPTED, done.stdout
    failed = {Path(line.split()[1]).name for line in done.stdout.splitlines() if line.startswith("ERROR ")}
    assert failed == set(users), done.stdout


@posix
@pytest.mark.parametrize(("value", "expected"), [(None, "1"), ("true", "true")])
def test_the_command_of_ci_is_the_readmes_and_says_that_it_is_ci(ci, tmp_path, monkeypatch, value, expected):
    assert "\nmake test\n" in (ROOT / "README.md").read_text("utf-8")
    script(tmp_path / "bin", "make", 'echo "$CI: $PWD: $@"')
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    ci(value)
    done = subprocess.run([str(ROOT / ".ci/run")], capture_output=True, text=True, check=True, timeout=60, cwd=tmp_path)
    assert done.stdout == f"{expected}: {ROOT}: test\n"

"""Every Python example of the README and the docs is run, and every command they name exists."""

from __future__ import annotations

import ast
import itertools
import os
import re
import shlex
import subprocess
import sys
import tomllib
import warnings
from itertools import takewhile
from pathlib import Path

import pytest
import typer

import perdure

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PYTHON = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
UsageError = typer.BadParameter.__base__  # typer does not name it in public
COMMAND = re.compile(r"^(?:\$ )?perdure ([a-z-]+)", re.MULTILINE)
SHELL = re.compile(r"^```(?:sh|console|bash)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def examples() -> list[tuple[str, str]]:
    return [
        (f"{p.relative_to(ROOT)}#{i}", code)
        for p in DOCUMENTS
        for i, code in enumerate(PYTHON.findall(p.read_text("utf-8")), 1)
        if p.name not in {"service.md", "roles.md"}  # they need a running service: tests/service
    ]


@pytest.mark.parametrize(("name", "code"), examples(), ids=[name for name, _ in examples()])
def test_examples_run(name, code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an example may run where the embedder is not installed
        exec(compile(code, name, "exec"), {"__name__": "example"})  # noqa: S102  # that is the test


@pytest.mark.parametrize("document", ["README.md", "docs/quickstart.md"])
def test_what_the_first_example_prints_of_facts_shows_that_one_is_denied(document, capsys):
    (line,) = [x for x in (ROOT / document).read_text("utf-8").splitlines() if x.startswith("print(") and "fact." in x]
    with perdure.open(":memory:", {"embedder": {"model": "none"}}) as memory:
        denied = {"subject": "Jonas", "predicate": "eat", "value": "pork", "denied": True}
        memory.remember("Jonas does not eat pork.", facts=[denied])
        exec(line, {"memory": memory, "fact": memory.facts("Jonas")[0]})  # noqa: S102  # as above
    assert "not pork" in capsys.readouterr().out


@pytest.mark.behaviour("KN80")
def test_the_commands_about_facts_in_the_readme_run(tmp_path):
    (block,) = [b for b in SHELL.findall((ROOT / "README.md").read_text("utf-8")) if "answer-sheet" in b]
    own = {name: str(tmp_path / "home") for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")}
    places = {"PYTHONPATH": str(ROOT / "src"), **own}
    script = block.replace("../../.venv/bin/perdure", f'"{sys.executable}" -m perdure')
    line = ["sh", "-e", "-c", script]
    run = subprocess.run(line, cwd=tmp_path, env={**os.environ, **places}, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    table, sheet = run.stdout.split("Question:")
    assert "Gai Media prefers Friday deliveries" in " ".join(sheet.split())
    assert "Friday" in table


def test_there_are_examples():
    assert len(examples()) >= 4


def test_commands_in_the_documents_exist():
    from typer.main import get_command

    from perdure.interfaces.cli.app import app

    known = set(get_command(app).commands)
    used = {
        (p.name, c) for p in DOCUMENTS for block in SHELL.findall(p.read_text("utf-8")) for c in COMMAND.findall(block)
    }
    assert used
    assert {(p, c) for p, c in used if c not in known} == set()


def command_lines() -> list[tuple[str, list[str]]]:
    """The commands of shell blocks, each up to what the shell does with its output."""
    found = []
    for path in DOCUMENTS:
        for block in SHELL.findall(path.read_text("utf-8")):
            for line in re.findall(r"^(?:\$ )?perdure .*", block.replace("\\\n", " "), re.MULTILINE):
                lexer = shlex.shlex(line.removeprefix("$ "), posix=True, punctuation_chars=True)
                lexer.whitespace_split = True
                words = list(itertools.takewhile(lambda word: not set(word) <= set("|<>&;()"), lexer))
                found.append((path.name, words[1:]))
    return found


@pytest.mark.parametrize(("name", "words"), command_lines(), ids=[" ".join(words) for _, words in command_lines()])
def test_commands_in_the_documents_have_only_options_that_exist(name, words):
    from typer.testing import CliRunner

    from perdure.interfaces.cli.app import app

    done = CliRunner().invoke(app, [*words, "--help"])  # options are read before the help is shown
    assert (done.exit_code, done.stderr) == (0, "")


def named_commands():
    """The commands that texts of the source name in backticks, but not those that only say which file is meant."""
    for path in (ROOT / "src").rglob("*.py"):
        source = path.read_text("utf-8")
        for node in ast.walk(ast.parse(source)) if "`perdure " in source else ():
            parts = node.values if isinstance(node, ast.JoinedStr) else [node]
            texts = [
                getattr(part, "value", "") for part in parts if isinstance(part, ast.Constant | ast.FormattedValue)
            ]
            text = "".join(part if isinstance(part, str) else "agent" for part in texts)
            yield from re.findall(r"(?<!that )(?<!`)`perdure ([^`]+)`(?!`| expects| writes| reads)", text)


def test_the_commands_that_messages_name_run_as_they_are_shown():
    """Whole, with what they need: a word in capitals is all that is left to fill in."""
    found = {*named_commands()}
    assert len(found) > 20
    assert [f"{line}: {fault}" for line in sorted(found) if (fault := fault_of(shlex.split(line)))] == []


def fault_of(words):
    """What is wrong with the words of a command line; nothing is run."""
    from typer.main import get_command

    from perdure.interfaces.cli.app import app

    command, context = get_command(app), None
    try:
        while hasattr(command, "commands"):
            context = command.make_context("perdure", [*words], parent=context, resilient_parsing=True)
            _, command, words = command.resolve_command(context, words)
        command.make_context("", [*words], parent=context)
    except (UsageError, IndexError) as fault:  # a group of commands alone names no command
        return str(fault)
    return ""


def test_links_between_documents_resolve():
    links = [(p, t) for p in DOCUMENTS for t in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", p.read_text("utf-8"))]
    broken = [(str(p.relative_to(ROOT)), t) for p, t in links if "://" not in t and not (p.parent / t).exists()]
    assert broken == []


def test_decisions_that_code_names_exist():
    code = [p for folder in ("src", "tests", "benchmarks", "training") for p in (ROOT / folder).rglob("*.py")]
    named = {d for p in code for d in re.findall(r"docs/decisions/[\w-]+\.md", p.read_text("utf-8"))}
    assert named
    assert [d for d in sorted(named) if not (ROOT / d).exists()] == []


def test_the_documents_name_no_path_of_a_machine():
    found = [str(p.relative_to(ROOT)) for p in DOCUMENTS if re.search(r"/(?:work|root|tmp)/", p.read_text("utf-8"))]
    assert found == []
    assert os.sep == "/" or not found


@pytest.mark.behaviour("KN30")
def test_generated_documents_are_up_to_date():
    check = subprocess.run(
        [sys.executable, "docs/generate.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (check.returncode, check.stdout.strip(), check.stderr) == (0, "", "")


PROMISING = {
    "SECURITY.md": (re.compile(r"\| who \| may \| may not \| test \|"), re.compile(r"\| promise \| test \|")),
    "docs/explanation.md": (re.compile(r"\| promise \| test \|"),),
}
"""Page -> the heads of its tables of promises."""
OF_WHOM_NOTHING_IS_PROMISED = "| The person whose account runs Perdure | everything | | |"


def promises(page):
    """The rows of the tables of a page that promise something."""
    lines = (ROOT / page).read_text("utf-8").splitlines()
    found = []
    for head in PROMISING[page]:
        (start,) = [number for number, line in enumerate(lines) if head.fullmatch(line)]
        rows = takewhile(lambda line: line.startswith("|"), lines[start + 2 :])
        found.append([row for row in rows if row != OF_WHOM_NOTHING_IS_PROMISED])
    return found


@pytest.mark.parametrize("page", PROMISING)
def test_each_row_of_a_table_of_promises_names_tests_that_are_there(page):
    for table in promises(page):
        assert len(table) >= 12, page
        for row in table:
            named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row.rstrip(" |").rpartition(" | ")[2])
            assert named, f"{page}: no test in {row}"
            for file, name in named:
                assert f"def {name}(" in (ROOT / file).read_text("utf-8"), f"{page}: {file}::{name}"


def test_make_demo_installs_the_extras_of_which_the_readme_shows_commands():
    """The README runs the service, the MCP server and the local embedder from the environment that it makes."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    product = (ROOT / "Makefile").read_text("utf-8").split("\nPRODUCT := ", 1)[1].split("\n", 1)[0]
    named = re.findall(r"\.\[([a-z,-]+)\]", product)[0].split(",")
    installed = {package for name in named for package in extras[name]}
    covered = {*named, *(e for p in installed if p.startswith("perdure[") for e in p[8:-1].split(","))}
    assert {"local", "mcp", "server", "postgres"} <= covered
    assert "postgres-local" not in covered  # a server of its own is too much for a first look
    for page in DOCUMENTS:
        for block in SHELL.findall(page.read_text("utf-8")):
            if "demo --store postgres" in block:
                assert '.[postgres-local]"' in block.split("demo --store postgres")[0], f"{page} does not install it"


def test_every_statement_about_others_in_the_readme_has_a_source():
    """Its column is headed by a page that was read, or the cell names one; Perdure's are held by tests."""
    text = (ROOT / "README.md").read_text("utf-8").split("## Compared with others", 1)[1].split("\n## ", 1)[0]
    head, _, *rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    assert len(rows) >= 5
    assert "docs/behaviours.md" in text
    for column, peer in list(enumerate(head))[2:]:
        cells = [row[column].strip() for row in rows]
        assert any(cells), peer
        assert "](https://" in peer or all("](https://" in cell for cell in cells if cell), peer

"""The ledger is tied to the tests both ways: no promise without its test, no law without its promise."""

from __future__ import annotations

import ast
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from behaviours import Behaviour

ROOT = Path(__file__).parent.parent
LEDGERS = sorted(p.stem for p in (ROOT / "tests").glob("behaviours*.py"))
BEHAVIOURS: list[Behaviour] = [b for name in LEDGERS for b in import_module(name).BEHAVIOURS]
LEDGERED = [*sorted((ROOT / "tests" / "laws").glob("test_*.py")), ROOT / "tests" / "rules" / "test_seed_numbers.py"]
"""Files in which every test must have a line in the ledger."""


@cache
def functions(path: Path) -> dict[str, ast.FunctionDef]:
    tree = ast.parse(path.read_text("utf-8"))
    return {n.name: n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name.startswith("test_")}


def texts(node: ast.AST) -> set[str]:
    return {n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)}


@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda b: b.id)
def test_a_behaviour_has_either_a_test_that_exists_or_a_reason_to_wait(behaviour: Behaviour):
    assert behaviour.text.endswith(".")
    assert behaviour.source
    assert bool(behaviour.test) != bool(behaviour.deferred)
    if behaviour.test:
        file, _, name = behaviour.test.partition("::")
        function, _, case = name.removesuffix("]").partition("[")
        found = functions(ROOT / file).get(function)
        assert found is not None, f"{file} has no {function}"
        # one case of a table: its id stands in the decorators
        assert not case or case in set().union(*(texts(d) for d in found.decorator_list))


def test_no_id_and_no_text_repeats():
    assert len({b.id for b in BEHAVIOURS}) == len(BEHAVIOURS)
    assert len({(b.source, b.text) for b in BEHAVIOURS}) == len(BEHAVIOURS)


@pytest.mark.parametrize("path", LEDGERED, ids=lambda p: p.stem)
def test_every_law_and_every_seed_number_is_in_the_ledger(path: Path):
    named = {
        b.test.partition("::")[2].partition("[")[0]
        for b in BEHAVIOURS
        if b.test.startswith(f"tests/{path.parent.name}/{path.name}::")
    }
    assert set(functions(path)) <= named
    assert named <= set(functions(path))

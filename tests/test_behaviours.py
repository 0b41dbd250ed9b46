"""The promises of docs/behaviours.md are tied to the tests both ways, by the marker ``behaviour``."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HELD = [*sorted((ROOT / "tests" / "laws").glob("test_*.py")), ROOT / "tests" / "rules" / "test_seed_numbers.py"]
"""Files in which every test holds a promise."""


@pytest.fixture(scope="module")
def page():
    """docs/behaviour_table.py, which reads the page and the markers."""
    spec = importlib.util.spec_from_file_location("behaviour_table", ROOT / "docs" / "behaviour_table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def rows(page):
    return [row for line in page.PAGE.read_text("utf-8").splitlines() if (row := page.row_of(line))]


def test_every_behaviour_has_a_test_or_a_reason_why_not(page, rows):
    marked = page.marked_files()
    assert {name for name, _, why in rows if name not in marked and not why} == set()
    assert marked.keys() - {name for name, _, _ in rows} == set()


def test_no_id_and_no_text_repeats(rows):
    assert len({name for name, _, _ in rows}) == len({text for _, text, _ in rows}) == len(rows)
    assert [text for _, text, _ in rows if not text.endswith(".")] == []


def test_every_requirement_of_the_session_memory_specification_has_a_behaviour(rows):
    named = {int(number) for row in rows for number in re.findall(r"SPEC-03\.(\d\d)", " ".join(row))}
    assert named == set(range(1, 32))


@pytest.mark.parametrize("path", HELD, ids=lambda path: path.stem)
def test_every_law_and_every_specified_number_holds_a_behaviour(page, path):
    assert [name for name, ids in page.marks(path) if not ids] == []

"""Whatever is damaged in a file: no foreign error leaves a verb, and no changed answer stays unfound by a check."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from conftest import budget

# By its file: on the path of modules the benchmarks' life.py would hide the package of lives.
SPEC = spec_from_file_location("damage", Path(__file__).parents[2] / "benchmarks" / "damage.py")
damage = sys.modules["damage"] = module_from_spec(SPEC)
SPEC.loader.exec_module(damage)


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    path = tmp_path_factory.mktemp("damage") / "agent.db"
    damage.fill(path)
    return path


@pytest.mark.parametrize("seed", budget([1], [1, 2, 3]))
def test_damage_is_found_where_it_matters_and_crashes_no_door(original, tmp_path, seed):
    seen = list(damage.damages(original, tmp_path, budget(12, 48), seed))
    assert {s.kind for s in seen} == set(damage.KINDS)
    assert any(s.harmful for s in seen)
    assert [s for s in seen if s.crash] == []
    assert [s for s in seen if s.harmful and not s.found] == []

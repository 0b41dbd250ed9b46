"""Whatever is damaged in a file: no foreign error leaves a verb, and no changed answer stays unfound by a check."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from damage import KINDS, damages, fill


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    path = tmp_path_factory.mktemp("damage") / "agent.db"
    fill(path)
    return path


@pytest.mark.parametrize("seed", [1, 2])
def test_damage_is_found_where_it_matters_and_crashes_no_door(original, tmp_path, seed):
    seen = list(damages(original, tmp_path, 48, seed))
    assert {s.kind for s in seen} == set(KINDS)
    assert any(s.harmful for s in seen)
    assert [s for s in seen if s.crash] == []
    assert [s for s in seen if s.harmful and not s.found] == []

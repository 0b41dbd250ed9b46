"""Whatever is damaged in a store: no foreign error leaves a verb, a check finds what changes an answer, and a backup
brings back what was lost.
"""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from conftest import budget, weekly
from perdure.compose import backup

# By its file: the benchmarks are no package.
SPEC = spec_from_file_location("damage", Path(__file__).parents[2] / "benchmarks" / "damage.py")
damage = sys.modules["damage"] = module_from_spec(SPEC)
SPEC.loader.exec_module(damage)


@pytest.fixture(scope="module", params=budget([1], [1, 2, 3]))
def seen(tmp_path_factory, request):
    """What came of damages to a file, and of repairs of those that changed an answer, alone and from a backup."""
    folder = tmp_path_factory.mktemp("damage")
    damage.fill(original := folder / "agent.db")
    backup(original, safe := folder / "safe.db")
    return list(damage.damages(original, folder, budget(15, 50), request.param, safe))


def assert_found(seen):
    assert any(s.harmful for s in seen)
    assert [s for s in seen if s.crash] == []
    assert [s for s in seen if s.harmful and not s.found] == []


def assert_repaired(seen):
    """A repair that leaves something says so; where the file can be opened most of it comes from the backup."""
    tried = [s for s in seen if s.harmful]
    outcomes = {told.partition(":")[0] for s in tried for told in (s.alone, s.repair)}
    assert outcomes <= {"whole", "named", "refused"}, [s for s in tried if "wrong" in s.alone + s.repair]
    opened = [s.repair for s in tried if not s.repair.startswith("refused")]
    assert opened.count("whole") >= 0.75 * len(opened), opened


def test_damage_is_found_where_it_matters_and_crashes_no_door(seen):
    assert {s.kind for s in seen} == set(damage.KINDS)
    assert_found(seen)


def test_a_repair_brings_back_what_the_journal_or_a_backup_holds_and_names_what_is_left(seen):
    assert_repaired(seen)


@weekly
@pytest.mark.skipif(sys.platform == "win32", reason="no local server")
def test_damage_to_a_server_is_found_and_repaired_likewise(tmp_path):
    seen = list(damage.server_damages(36, 1, tmp_path / "safe.db"))
    assert {s.kind for s in seen} == set(damage.SERVER_KINDS)
    assert_found(seen)
    assert_repaired(seen)

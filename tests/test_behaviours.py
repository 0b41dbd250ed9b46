"""The ledger is tied to the tests both ways: no promise without its test, no law without its promise."""

from __future__ import annotations

import ast
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from ledger import Behaviour

ROOT = Path(__file__).parent.parent
LEDGERS = sorted(p.stem for p in (ROOT / "tests").glob("behaviours*.py"))
BEHAVIOURS: list[Behaviour] = [b for name in LEDGERS for b in import_module(name).BEHAVIOURS]
LEDGERED = [*sorted((ROOT / "tests" / "laws").glob("test_*.py")), ROOT / "tests" / "rules" / "test_seed_numbers.py"]
"""Files in which every test must have a line in the ledger."""
LISTED = {
    "1.7": (
        *("exponential_decay_halves_at_half_life", "linear_decay_reaches_zero_at_double_half_life"),
        *("step_decay_transitions_at_thresholds", "access_count_slows_decay", "high_importance_slows_decay"),
        *("min_floor_enforced", "dry_run_no_changes", "decay_updates_database", "decay_respects_namespace_filter"),
        "decay_batch_processing",
    ),
    "2.7": (
        *("additive_boost_calculation", "multiplicative_boost_calculation", "set_value_override", "max_importance_cap"),
        *("update_access_flag", "reinforce_persists_to_database", "reinforce_multiple_memories", "not_found_handling"),
    ),
    "3.8": (
        *("decision_pattern_extraction", "solution_pattern_extraction", "explicit_save_pattern", "confidence_scoring"),
        *("overlapping_deduplication", "min_confidence_filtering", "extract_stores_memories"),
        *("deduplication_against_existing", "extracted_memories_searchable"),
    ),
    "4.8": (
        *("find_duplicate_groups_basic", "union_find_correctness", "strategy_keep_newest", "strategy_keep_oldest"),
        *("strategy_keep_highest_importance", "strategy_merge_content", "metadata_merging", "consolidate_dry_run"),
        *("consolidate_actual_merge", "consolidated_memory_searchable", "source_marked_consolidated"),
    ),
}
"""Section of seed 000 -> the tests that it asks for, which bear its names here too."""
ROWS = {
    "000-8": ("rule-1", "rule-2", "rule-3", "rule-4"),
    "002": (
        *("state-aging", "state-superseded", "state-invalidated", "state-validated", "state-unanswered"),
        *("stage-1-importance", "stage-1-events"),
        *("stage-2-explicit", "stage-2-preference", "stage-2-correction", "stage-2-example"),
        *("stage-3-no_match", "stage-3-reinforcement", "stage-3-conflict", "stage-3-equal", "stage-3-ladder"),
        *("stage-4-trust_db", "stage-4-trust_correction", "stage-4-trust_higher_confidence", "stage-4-trust_recent"),
        *("stage-4-ask_user", "stage-5-patterns", "stage-5-flow", "stage-6-decay", "stage-6-question", "stage-6-few"),
        *("stage-7-trigger", "stage-7-boost", "stage-7-supersedes", "stage-7-output"),
        *("part-3", "part-4", "part-4-target", "part-5"),
    ),
    "003": (
        *("baseline_strength", "passive_half_life_seconds", "reinforcement_half_life_seconds"),
        *("staleness_half_life_seconds", "max_decay_per_cycle", "manual_decay_multiplier", "reinforcement_unit"),
        "forgetting_threshold",
    ),
    "004-1.2": ("retention_value", "uniqueness", "confidence", "access_recency"),
    "004-2.2": ("0", "1", "2", "3", "4+"),
    "004-3.1": ("full", "summary", "keywords", "embedding"),
    "004-4.1": ("HOT", "WARM", "COLD", "ARCHIVE"),
    "004-6.1": (*("HOT-entry", "HOT-exit", "WARM-entry", "WARM-exit", "COLD-entry", "COLD-exit", "ARCHIVE-entry"),),
    "004-6.2": ("full-to-summary", "summary-to-keywords", "keywords-to-embedding", "any-to-full"),
}
"""Table of a seed -> its rows; together the id of a line in the ledger."""


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


@pytest.mark.parametrize("number", range(1, 32))
def test_every_requirement_of_seed_001_has_a_line_with_a_test(number: int):
    said = re.compile(rf"\b03\.{number:02}\b")
    assert [b for b in BEHAVIOURS if b.test and (said.search(b.id) or said.search(b.source))]


@pytest.mark.parametrize(("section", "name"), [(s, n) for s, names in LISTED.items() for n in names])
def test_every_test_that_seed_000_lists_has_a_line(section: str, name: str):
    (line, *_) = [b for b in BEHAVIOURS if b.test.endswith(f"::test_{name}")]
    assert line.source.startswith("seed 000 §")
    assert section[0] in line.source


@pytest.mark.parametrize("identity", [f"{table}-{row}" for table, rows in ROWS.items() for row in rows])
def test_every_row_of_a_table_has_a_line_with_a_test(identity: str):
    (line,) = [b for b in BEHAVIOURS if b.id == identity]
    assert line.test

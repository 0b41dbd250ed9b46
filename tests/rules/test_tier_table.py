"""The tier table drives: a broken row is seen in what a sweep does, in the reason, in the forecast and in the docs."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from perdure.formulas.curve import NEVER
from perdure.records.instant import DAY_MS
from perdure.records.memory import Tier
from perdure.rules.lifecycle import tier_table

PAGE = Path(__file__).parents[2] / "docs" / "generate.py"


@pytest.fixture(scope="module")
def store():
    """What is counted here does not depend on the store."""
    return "sqlite"


@pytest.fixture(scope="module")
def docs():
    """The generator of the documents as a module."""
    spec = importlib.util.spec_from_file_location("generated_docs", PAGE)
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(PAGE.parent)  # it has siblings
        patch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
    return module


def broken(name, **change):
    """The table with one row changed; without it if nothing is said."""
    rows = [replace(rule, **change) if rule.name == name and change else rule for rule in tier_table.RULES]
    return tuple(rule for rule in rows if rule.name != name or change)


def swept(memory, clock):
    """One memory's next move as its journal, the forecast and `why` tell it, and the tier where it then is."""
    kept = memory.remember("a note that nobody reads")
    foretold = memory.why(kept.id).next_move
    clock.passes(days=8)
    (moved,) = memory.sweep().moved
    assert memory.history(kept.id)[-1].because == moved.because
    assert moved.because in foretold
    return moved, memory.get(kept.id).tier


def test_the_row_as_it_is(memory, clock, docs):
    moved, tier = swept(memory, clock)
    assert (moved.move, moved.at, tier) == ("warm to cold", "2026-01-08 00:00 UTC", Tier.COLD)
    assert moved.because.startswith("warm to cold: 7 days in warm without access")
    assert "    warm --> cold: warm_quiet\n" in docs.transitions()
    assert "| warm_quiet | warm | cold |  | `warm_quiet_days` days in warm without access |" in docs.transitions()


@pytest.mark.behaviour("B34")
def test_another_target_moves_elsewhere_and_says_so(memory, clock, docs, monkeypatch):
    monkeypatch.setattr(tier_table, "RULES", broken("warm_quiet", target=Tier.VAULT))
    moved, tier = swept(memory, clock)
    assert (moved.move, tier) == ("warm to vault", Tier.VAULT)
    assert moved.because.startswith("warm to vault: 7 days in warm without access")
    assert "    warm --> vault: warm_quiet\n" in docs.transitions()
    assert "    warm --> cold: warm_quiet\n" not in docs.transitions()


@pytest.mark.behaviour("B34")
def test_another_instant_is_when_it_moves(memory, clock, monkeypatch):
    sooner = broken("warm_quiet", due=lambda m, *_: m.states.tier_ms + int(3 * DAY_MS))
    monkeypatch.setattr(tier_table, "RULES", sooner)
    moved, _ = swept(memory, clock)
    assert moved.at == "2026-01-04 00:00 UTC"
    assert moved.because.endswith("; due 2026-01-04 00:00 UTC")


@pytest.mark.behaviour("B34")
def test_other_bounds_are_the_numbers_of_the_reason_and_of_the_documents(memory, clock, docs, monkeypatch):
    row = {
        "because": "{cold_days:g} days without access",
        "bounds": ("archive.cold_days",),
        "due": lambda m, _, k: m.states.anchor_ms + int(k["cold_days"] * DAY_MS / 10),
    }
    monkeypatch.setattr(tier_table, "RULES", broken("warm_quiet", **row))
    moved, _ = swept(memory, clock)
    assert (moved.at, moved.because[:35]) == ("2026-01-04 00:00 UTC", "warm to cold: 30 days without acces")
    assert "| warm_quiet | warm | cold |  | `cold_days` days without access |" in docs.transitions()


@pytest.mark.behaviour("B34")
def test_a_row_that_is_gone_moves_nothing_and_is_not_drawn(memory, clock, docs, monkeypatch):
    monkeypatch.setattr(tier_table, "RULES", broken("warm_quiet"))
    kept = memory.remember("a note that nobody reads")
    clock.passes(days=8)
    assert memory.sweep().moved == ()
    assert memory.get(kept.id).tier is Tier.WARM
    assert "warm_quiet" not in memory.why(kept.id).next_move
    assert "warm_quiet" not in docs.transitions()


def test_the_first_row_of_the_table_wins_a_tie(memory, clock, monkeypatch):
    """Two rows that fall due at one instant: what happens is the one that stands higher."""
    row = {
        "falls": (),
        "bounds": ("tiers.warm_keep_value",),
        "due": lambda m, *_: m.states.tier_ms + int(7 * DAY_MS),
    }
    monkeypatch.setattr(tier_table, "RULES", broken("warm_low", **row))
    moved, _ = swept(memory, clock)
    assert "the value has fallen below 0.3" in moved.because
    assert len(memory.history(moved.id)) == 2


def test_a_row_that_never_falls_due_leaves_the_others_alone(memory, clock, monkeypatch):
    monkeypatch.setattr(tier_table, "RULES", broken("warm_low", due=lambda m, *_: m.states.tier_ms * 0 + NEVER))
    moved, _ = swept(memory, clock)
    assert "7 days in warm without access" in moved.because


def test_no_row_shortens_what_is_hot(docs):
    """The diagram once drew edges from hot to shorter forms."""
    assert [rule.name for rule in tier_table.RULES if rule.shortens and Tier.HOT in rule.sources] == []
    forms = {line.strip() for line in docs.transitions().splitlines() if "to_summary" in line and "-->" in line}
    assert forms == {"full --> summary: to_summary"}

"""Rules that somebody noted stay at a session's start for weeks, beside what is new."""

from __future__ import annotations

import pytest

from conftest import WORDS_ONLY

RULES = (
    "Amounts are int64 minor units everywhere, never floats, because float rounding cost 11k in August.",
    "Review rule: no migration is approved without a down script.",
    "Lucía quiere respuestas en español.",
    "Die Tabelle kunden_roh wird nie abgefragt.",
)
NEWS = "Ticket {} of the billing team is about the export to {}, which {} asked for."
WORDS = ("Malmö", "Porto", "Gdansk", "Lyon", "Bergen", "Turin", "Graz", "Cork", "Vigo", "Bilbao", "Ghent")


@pytest.fixture
def memory(opening):
    return opening(WORDS_ONLY)


def lived(memory, clock, rules):
    for rule in rules:
        memory.remember(rule)
    for day in range(22):
        clock.passes(days=1)
        memory.remember(NEWS.format(4100 + day, WORDS[day % 11], WORDS[(day * 3 + 1) % 11]))
    memory.sweep()
    return memory.agent.opening("next", "default")


def test_rules_are_shown_three_weeks_and_twenty_notes_later(memory, clock):
    shown = lived(memory, clock, RULES)
    assert [rule in shown for rule in RULES] == [True] * 4
    assert shown.index("## Rules and decisions") < shown.index(RULES[0]) < shown.index("## Notes")
    assert "Ticket 4121" in shown


def test_many_rules_leave_room_for_what_is_new(memory, clock):
    many = [f"Nobody ever changes the {word} tariff by hand, always by the script of {word}." for word in WORDS]
    shown = lived(memory, clock, many)
    assert shown.count("always by the script") <= 6
    assert shown.count("Ticket") >= 2
    assert "Ticket 4121" in shown


def test_a_rule_that_was_replaced_is_not_shown(memory, clock):
    first = memory.remember("PRs above 400 lines are always split.").id
    memory.update(first, "PRs above 600 lines are always split.")
    shown = lived(memory, clock, RULES[:1])
    assert "600" in shown
    assert "400 lines" not in shown

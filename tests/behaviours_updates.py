"""The ledger of what has changed and what contradicts: issue 5's numbers, design 5 and 7."""

from __future__ import annotations

from typing import Final

from ledger import keeper

_FILES: Final = {
    "rules": "tests/rules/test_updates.py",
    "recall": "tests/operations/test_updates.py",
    "latest": "tests/rules/test_latest.py",
}


_kept: Final = keeper(_FILES)


BEHAVIOURS: Final = (
    _kept(
        "UP1",
        "design §7",
        "A rule, never a likeness, decides that a value has become another one.",
        "rules:test_a_value_that_has_become_another_one_is_updated",
    ),
    _kept(
        "UP2",
        "design §7",
        "Other things, people, months and kinds, lists and plans update nothing.",
        "rules:test_what_only_looks_alike_is_left_alone",
    ),
    _kept(
        "UP3",
        "design §5",
        "What was done contradicts that it never was.",
        "rules:test_what_was_done_contradicts_that_it_never_was",
    ),
    _kept(
        "UP4",
        "design §5",
        "Only what is later updates, and a contradiction has two sides.",
        "rules:test_only_what_is_later_updates_and_both_sides_are_contested",
    ),
    _kept(
        "UP5",
        "design §5",
        "What one person says updates no other's.",
        "rules:test_only_what_one_person_says_is_compared",
    ),
    _kept("UP6", "design §1", "A hostile text costs little to read.", "rules:test_hostile_texts_cost_little"),
    _kept(
        "UP7",
        "design §7",
        "An answer keeps its length, and what is about nothing of the kind its order.",
        "rules:test_an_answer_keeps_its_length_and_what_is_about_nothing_its_order",
    ),
    _kept(
        "UP8",
        "issue 5",
        "The current value stands before the old one, which says so.",
        "recall:test_the_current_value_stands_before_the_old_one",
    ),
    _kept(
        "UP9",
        "design §7",
        "An update that was no hit takes the place of the last one.",
        "rules:test_an_update_that_was_no_hit_takes_the_place_of_the_last_one",
    ),
    _kept(
        "UP10",
        "design §7",
        "A question about something else changes no place.",
        "rules:test_a_question_about_something_else_changes_no_place",
    ),
    _kept("UP11", "design §7", "No score changes, only the order.", "recall:test_only_the_order_changes"),
    _kept(
        "UP12",
        "issue 5",
        "Both sides of a contradiction are flagged.",
        "recall:test_both_sides_of_a_contradiction_are_flagged",
    ),
    _kept(
        "UP13",
        "issue 5",
        "A message that contradicts itself says so.",
        "rules:test_a_message_that_contradicts_itself_says_so",
    ),
    _kept(
        "UP14",
        "issue 5",
        "One batch, one by one, and twice say the same.",
        "recall:test_one_by_one_twice_and_in_one_batch_say_the_same",
    ),
    _kept(
        "UP15",
        "design §1 C",
        "Undoing an update takes its flag with it.",
        "recall:test_undoing_what_updated_takes_the_flag_with_it",
    ),
    _kept("UP16", "design §7", "Comparing hits writes nothing.", "recall:test_comparing_writes_nothing"),
    _kept(
        "UP17",
        "design §7",
        "A digest leaves out what has changed since, unless it is pinned.",
        "recall:test_what_has_changed_since_is_not_kept_in_view",
    ),
    _kept("UP18", "design §7", "What is pinned stays in a digest.", "recall:test_what_is_pinned_stays_in_view"),
    _kept(
        "UP19",
        "decision 20",
        "Of several values of what is asked for, the latest stands first; nothing is called changed for that.",
        "recall:test_a_later_value_that_is_not_said_as_a_change_stands_first_but_is_not_called_one",
    ),
    _kept(
        "UP20",
        "decision 20",
        "A question that looks back changes no place.",
        "latest:test_a_question_that_looks_back_or_names_no_measure_changes_nothing",
    ),
)

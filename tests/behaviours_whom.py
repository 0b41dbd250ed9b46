"""The ledger of whom messages are about and when what they say holds: issue 5, Build 2, 3, 5, 6, 7, 12, bad input."""

from __future__ import annotations

from typing import Final

from ledger import keeper

_FILES: Final = {
    "whom": "tests/operations/test_whom_and_when.py",
    "entities": "tests/operations/test_entities.py",
    "conflict": "tests/operations/test_conflicts.py",
    "said": "tests/rules/test_statements.py",
    "verify": "tests/operations/test_verify.py",
    "profiles": "tests/operations/test_profiles.py",
    "chat": "tests/models/test_chat.py",
}

_kept: Final = keeper(_FILES)

BEHAVIOURS: Final = [
    _kept(
        "WH1",
        "issue 5 Build 2",
        "The customer, the company, our client: who was named before in the session.",
        "whom:test_the_customer_is_who_was_named_before",
    ),
    _kept(
        "WH2",
        "issue 5 Build 2",
        "A place where somebody lives or moved to is nobody whom a pronoun means.",
        "whom:test_a_place_is_nobody_whom_a_pronoun_means",
    ),
    _kept(
        "WH3",
        "issue 5 Build 2",
        "Of two that are named together neither is guessed.",
        "whom:test_of_two_that_are_named_together_they_means_neither",
    ),
    _kept(
        "WH4",
        "seed 002 §2.2",
        "What was asked to be remembered of nobody known is kept as a note.",
        "whom:test_what_was_asked_to_be_remembered_of_nobody_known_is_kept_as_a_note",
    ),
    _kept(
        "WH5",
        "issue 5 Build 2",
        "My sister is Rita once that was said.",
        "whom:test_my_sister_is_rita_once_that_was_said",
    ),
    _kept(
        "WH6",
        "issue 5 Build 2",
        "Of two sisters nobody guesses which is meant.",
        "whom:test_of_two_sisters_nobody_guesses_which_is_meant",
    ),
    _kept(
        "WH7",
        "issue 5 Build 2",
        "A name that may mean several is asked about by name.",
        "whom:test_a_name_that_may_mean_several_is_asked_about_by_name",
    ),
    _kept(
        "WH8",
        "issue 5 Build 2",
        "A merge of facts that contradict opens the conflict; undo closes it.",
        "entities:test_a_merge_of_facts_that_contradict_asks_and_undo_takes_the_question_back",
    ),
    _kept(
        "WH9",
        "issue 5 Build 5",
        "To undo a sweep asks where another value is believed by now.",
        "conflict:test_to_undo_a_sweep_that_hid_a_fact_asks_where_another_is_believed_by_now",
    ),
    _kept(
        "WH10",
        "issue 5 Build 3",
        "What ends, expires or starts on a day without a year does so on the next one.",
        "said:test_an_everyday_statement_claims_what_it_says",
    ),
    _kept(
        "WH11",
        "issue 5 Build 5",
        "What was not done since May ended in May, and was true before.",
        "whom:test_what_was_not_done_since_then_ended_then_and_was_true_before",
    ),
    _kept("WH12", "issue 5 Build 3", "A hobby adds to a hobby.", "whom:test_hobbies_add_to_each_other"),
    _kept(
        "WH13",
        "seed 002 §2.5",
        "A correction that is a bare value is about what looks like it.",
        "whom:test_a_bare_correction_is_about_what_looks_like_it",
    ),
    _kept(
        "WH14",
        "issue 5 bad input",
        "Words that tell an agent to ignore its instructions are a stranger's: quoted, marked, never learned from.",
        "whom:test_words_that_take_an_agent_over_are_a_strangers_whoever_says_them",
    ),
    _kept(
        "WH15",
        "issue 5 Build 6",
        "Recall tells that what a memory cites has moved or is gone, with the evidence.",
        "verify:test_memories_that_cite_are_looked_at_as_the_tree_changes",
    ),
    _kept(
        "WH16",
        "issue 5 Build 12",
        "A model that does not say what a message does costs no fact.",
        "chat:test_a_part_with_a_default_costs_no_other_part_and_is_asked_for_without_it",
    ),
    _kept(
        "WH17",
        "issue 5 Build 3",
        "What is told as a change takes the place of what was: is now, switched to, actually I prefer.",
        "whom:test_what_is_told_as_a_change_takes_the_place_of_what_was",
    ),
    _kept(
        "WH18",
        "seed 002 §2.2",
        "Remember needs no that.",
        "whom:test_what_is_to_be_remembered_needs_no_that",
    ),
    _kept(
        "WH19",
        "issue 5 Build 8",
        "A summary tells an open conflict with all its values, or not at all.",
        "profiles:test_an_open_conflict_is_told_with_all_its_values_or_not_at_all",
    ),
]

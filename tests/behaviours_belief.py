"""The ledger of what is believed: seed 002 stages 2 to 5, design 5, issue 5 (conflicts, laws, bad input, questions)."""

from __future__ import annotations

from typing import Final

from ledger import keeper

_FILES: Final = {
    "laws": "tests/laws/test_facts.py",
    "rule": "tests/rules/test_believing.py",
    "conflict": "tests/operations/test_conflicts.py",
    "bad": "tests/operations/test_learning_bad_input.py",
    "asked": "tests/operations/test_questions.py",
    "promoted": "tests/operations/test_promoting_facts.py",
}


_kept: Final = keeper(_FILES)

_RULES: Final = (
    _kept(
        "BE1",
        "seed 002 §2.4",
        "Conflicts: authority, correction, a gap above 0.3, recency of what was said outright, else ask.",
        "rule:test_the_ladder_of_conflicts",
    ),
    _kept(
        "BE2", "design §5", "The ladder's bounds are policy keys.", "rule:test_the_bounds_of_the_ladder_are_the_policys"
    ),
    _kept(
        "BE3",
        "seed 002 §2.3",
        "The same value confirms the surest fact that says so.",
        "rule:test_the_same_value_confirms_the_surest_that_says_so",
    ),
    _kept("BE4", "issue 5", "A hobby adds, an address supersedes.", "rule:test_predicates_with_several_values_add"),
    _kept(
        "BE5",
        "issue 5",
        "No longer ends a fact, a bare denial invalidates it.",
        "rule:test_what_ended_was_true_and_what_is_denied_never_was",
    ),
    _kept(
        "BE6",
        "design §5",
        "An older message that arrives later does not end what was said since.",
        "rule:test_what_was_said_again_since_is_not_ended_by_an_older_message",
    ),
    _kept(
        "BE7",
        "seed 002 §2.5",
        "A correction finds its fact by the old value, or by the only one of its family.",
        "rule:test_a_correction_finds_what_it_is_about_by_the_old_value_or_by_the_only_one_of_its_family",
    ),
    _kept(
        "BE8",
        "design §5",
        "A confirmation means the one fact whose value is in the answer or in what it answers.",
        "rule:test_a_confirmation_means_the_one_fact_whose_value_is_in_the_answer_or_in_what_it_answers",
    ),
    _kept(
        "BE9",
        "seed 002 §2.3",
        "Reinforcement: 0.15, 0.10, 0.05, 0.02, cap 0.95.",
        "rule:test_each_confirmation_counts_less_and_none_lifts_above_the_cap",
    ),
    _kept(
        "BE10",
        "design §5",
        "A correction that repeats one of two contested values decides for it.",
        "rule:test_a_correction_to_one_of_two_contested_values_decides",
    ),
    _kept(
        "BE11",
        "seed 002 §2.4",
        "What yields is linked to the surest of what it contradicts.",
        "rule:test_of_several_contested_values_the_surest_is_what_a_claim_yields_to",
    ),
)

_LAWS: Final = (
    _kept(
        "BE12",
        "issue 5",
        "Terminal states, chains, confidence within 0 and 0.95, one value or an open question, nothing dead surfaces.",
        "laws:test_the_laws_hold_after_every_act",
    ),
    _kept(
        "BE13",
        "issue 5",
        "One batch, one by one, in parts or twice give the same facts.",
        "laws:test_one_batch_one_by_one_in_two_parts_or_twice_give_the_same_facts",
    ),
    _kept(
        "BE14",
        "issue 5",
        "Undo of an ingest removes exactly what it brought.",
        "laws:test_an_ingest_is_taken_back_row_for_row_and_done_again",
    ),
    _kept(
        "BE15",
        "issue 5",
        "Yes validates exactly the memory that was asked about, once.",
        "laws:test_a_yes_validates_the_one_fact_that_was_asked_about",
    ),
    _kept("BE16", "issue 5", "Yes confirms at most one memory.", "laws:test_a_yes_confirms_at_most_one_memory"),
)

_CONFLICTS: Final = (
    _kept(
        "BE17",
        "seed 002 §2.4",
        "A conflict that is to be asked keeps both, shows both, and is in review.",
        "conflict:test_a_conflict_that_nothing_decides_keeps_both_shows_both_and_asks",
    ),
    _kept(
        "BE18",
        "issue 5",
        "To confirm one side supersedes the other and closes the question.",
        "conflict:test_to_confirm_one_supersedes_the_other_and_closes_the_question",
    ),
    _kept(
        "BE19",
        "issue 5",
        "To correct one side closes both.",
        "conflict:test_to_correct_one_to_a_third_value_closes_both",
    ),
    _kept(
        "BE20",
        "issue 5",
        "To correct a fact to what is known beside it confirms that.",
        "conflict:test_to_correct_one_to_what_the_other_says_confirms_the_other",
    ),
    _kept(
        "BE21",
        "issue 5",
        "Contradictory messages in one batch are asked about.",
        "conflict:test_contradictions_in_one_batch_are_asked_about_as_if_they_came_one_by_one",
    ),
    _kept(
        "BE22",
        "issue 5",
        "A correction of something never said replaces nothing.",
        "conflict:test_a_correction_of_something_never_said_is_believed_and_replaces_nothing",
    ),
    _kept("BE23", "issue 5", "Each answer can be taken back.", "conflict:test_each_answer_can_be_taken_back"),
)

_RESTING: Final = (
    _kept(
        "BE35",
        "issue 5 Build 5",
        "A conflict rests while one side is archived, and goes on when it is back.",
        "conflict:test_a_conflict_rests_while_one_side_is_archived_and_goes_on_when_it_is_back",
    ),
    _kept(
        "BE36",
        "issue 5 Build 5",
        "Who brings a fact back beside a newer value is asked which is right.",
        "conflict:test_who_brings_a_fact_back_beside_a_newer_value_is_asked_which_is_right",
    ),
    _kept(
        "BE37",
        "design §1 C",
        "Undo of a restore takes its question back.",
        "conflict:test_bringing_back_is_taken_back_with_its_question",
    ),
)

_PROMOTED: Final = (
    _kept(
        "BE38",
        "design §5",
        "A promoted fact that contradicts long term is decided by the ladder, or asked about.",
        "promoted:test_what_contradicts_long_term_is_asked_about",
    ),
    _kept(
        "BE39",
        "design §5",
        "What long term says already is confirmed there, and stands for the session's fact.",
        "promoted:test_what_long_term_says_already_is_confirmed_there_once_for_each_message",
    ),
    _kept(
        "BE40",
        "design §5",
        "A correction of a promoted session replaces what long term says.",
        "promoted:test_a_correction_in_the_session_replaces_what_long_term_says",
    ),
    _kept(
        "BE41",
        "design §5",
        "What loses against long term is superseded, and stays in its session.",
        "promoted:test_what_long_term_heard_later_stays_and_what_loses_stays_in_its_session",
    ),
    _kept(
        "BE42",
        "design §1 C",
        "Undo of a promotion restores every row, those of long-term facts too.",
        "promoted:test_a_promotion_is_taken_back_row_for_row",
    ),
)

_INPUT: Final = (
    _kept(
        "BE24",
        "issue 5",
        "Empty, null, SQL, 10 kB and unseen names, emoji, long texts: kept, and at most 50 facts of a message.",
        "bad:test_hostile_texts_are_kept_as_they_are_and_teach_at_most_fifty_facts",
    ),
    _kept(
        "BE25",
        "issue 5",
        "What no store can keep is refused whole.",
        "bad:test_what_no_store_can_keep_is_refused_whole",
    ),
    _kept("BE26", "issue 5", "A session may be called anything.", "bad:test_a_session_may_be_called_anything"),
    _kept(
        "BE27", "issue 5", "Circular aliases end, and nobody is guessed.", "bad:test_names_that_lead_in_a_circle_end"
    ),
    _kept(
        "BE28",
        "design §8",
        "Processes that learn the same session at once double nothing.",
        "bad:test_two_processes_that_learn_the_same_session_at_once_double_nothing",
    ),
    _kept(
        "BE29",
        "design §8",
        "kill -9 while learning loses nothing and doubles nothing.",
        "bad:test_kills_in_the_middle_of_learning_lose_nothing_and_double_nothing",
    ),
    _kept(
        "BE30",
        "issue 5",
        "A message that is taken back before it is learned from teaches nothing.",
        "bad:test_a_message_that_is_taken_back_before_it_is_learned_from_teaches_nothing",
    ),
    _kept(
        "BE31",
        "issue 5",
        "Learning without a model keeps up with a session of thousands of messages.",
        "bad:test_a_thousand_messages_of_one_session_are_learned_from_in_a_few_seconds",
    ),
)

_QUESTIONS: Final = (
    _kept(
        "BE43",
        "issue 5 Build 7",
        "Of many ageing facts the highest value at risk is asked about, whoever else is muted.",
        "asked:test_of_many_ageing_facts_the_most_valuable_are_found_whoever_else_is_muted",
    ),
    _kept(
        "BE32",
        "design §5",
        "So many questions a day, ordered by value at risk.",
        "asked:test_a_day_has_so_many_questions_the_most_valuable_doubt_first",
    ),
    _kept(
        "BE33",
        "issue 5",
        "What was answered today counts; tomorrow it begins anew.",
        "asked:test_what_was_answered_today_counts_and_tomorrow_it_begins_anew",
    ),
    _kept(
        "BE34",
        "issue 5",
        "Do not ask again: believed, fading, never asked about.",
        "asked:test_what_is_muted_is_believed_and_fades_and_is_never_asked_about_again",
    ),
)

BEHAVIOURS: Final = [*_RULES, *_LAWS, *_CONFLICTS, *_RESTING, *_PROMOTED, *_INPUT, *_QUESTIONS]

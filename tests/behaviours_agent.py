"""The ledger of extraction, noticing and hooks: seeds 000 (section 3) and 001 (hooks, configuration), issue 3."""

from __future__ import annotations

from typing import Final

from ledger import keeper

_FILES: Final = {
    "rules": "tests/rules/test_extracting.py",
    "extract": "tests/operations/test_extract.py",
    "notice": "tests/operations/test_noticing.py",
    "store": "tests/operations/test_hooks.py",
    "hooks": "tests/interfaces/test_hooks.py",
    "rlm": "tests/interfaces/test_rlm_config.py",
}


_kept: Final = keeper(_FILES)


BEHAVIOURS: Final = [
    _kept(
        "AG1",
        "seed 000 §3.8",
        "A decision is extracted.",
        "rules:test_decision_pattern_extraction",
    ),
    _kept(
        "AG2",
        "seed 000 §3.8",
        "A solution is extracted.",
        "rules:test_solution_pattern_extraction",
    ),
    _kept(
        "AG3",
        "seed 000 §3.8",
        "A request to save is extracted.",
        "rules:test_explicit_save_pattern",
    ),
    _kept(
        "AG4",
        "seed 000 §3.8",
        "Confidence follows the content's quality.",
        "rules:test_confidence_scoring",
    ),
    _kept(
        "AG5",
        "seed 000 §3.8",
        "Of overlapping finds the most confident stays.",
        "rules:test_overlapping_deduplication",
    ),
    _kept(
        "AG6",
        "seed 000 §3.8",
        "The least confidence filters.",
        "rules:test_min_confidence_filtering",
    ),
    _kept(
        "AG7",
        "seed 000 §3.8",
        "Extract stores memories, with the confidence of the extraction and importance 0.4.",
        "extract:test_extract_stores_memories",
    ),
    _kept(
        "AG8",
        "seed 000 §3.8",
        "What is known is not stored again.",
        "extract:test_deduplication_against_existing",
    ),
    _kept(
        "AG9",
        "seed 000 §3.8",
        "Extracted memories are found.",
        "extract:test_extracted_memories_searchable",
    ),
    _kept(
        "AG10",
        "seed 000 §3.5",
        "ExtractResult and ExtractedMemory have their fields.",
        "extract:test_the_result_has_exactly_the_seeds_fields_and_the_operations",
    ),
    _kept(
        "AG11",
        "seed 000 §3.4",
        "extract refuses what is outside its schema.",
        "extract:test_what_is_out_of_range_is_refused_and_nothing_is_stored",
    ),
    _kept(
        "AG12",
        "seed 000 §3.4",
        "Bounds and the longest text are inclusive.",
        "extract:test_bounds_are_inclusive",
    ),
    _kept(
        "AG13",
        "seed 000 §3.7",
        "At most 20 candidates are considered; all are counted.",
        "extract:test_only_the_most_confident_are_considered_and_all_are_counted",
    ),
    _kept(
        "AG14",
        "design §1 D",
        "The meaning guard keeps 30 and 40 apart in extraction.",
        "extract:test_another_number_is_no_repetition",
    ),
    _kept(
        "AG15",
        "seed 000 §3.2",
        "A language model checks what was extracted (tier 3).",
        "extract:test_a_model_keeps_drops_and_adds_what_stands_in_the_text",
    ),
    _kept(
        "AG16",
        "seed 000 §3.2",
        "A model that fails leaves tiers 1 and 2.",
        "extract:test_a_model_that_fails_leaves_what_was_found_and_is_told_once",
    ),
    _kept(
        "AG17",
        "design §1 C",
        "An extraction is one operation and is undone exactly.",
        "extract:test_undo_takes_the_notes_back",
    ),
    _kept(
        "AG18",
        "design §2",
        "An extracted note has the confidence of its extraction.",
        "extract:test_extract_stores_memories",
    ),
    _kept(
        "AG19",
        "design §2",
        "Another session's own notes count for nobody else.",
        "extract:test_another_sessions_own_notes_do_not_keep_it_out",
    ),
    _kept(
        "AG20",
        "issue 3, item 3",
        "Use is noticed when an ingested reply quotes a hit.",
        "notice:test_a_reply_that_quotes_a_hit_has_used_it",
    ),
    _kept(
        "AG21",
        "issue 3, item 3",
        "Use is noticed when an ingested reply paraphrases a hit.",
        "notice:test_a_paraphrase_is_use_where_there_is_an_embedder",
    ),
    _kept(
        "AG22",
        "issue 3, item 3",
        "Use is noticed once, however often a conversation is taken in.",
        "notice:test_taking_in_twice_marks_nothing_twice",
    ),
    _kept(
        "AG23",
        "issue 3, item 3",
        "A user's words, an old recall and other talk are no use.",
        "notice:test_what_is_no_use",
    ),
    _kept(
        "AG24",
        "issue 3, item 3",
        "What merely echoes a memory is not learned again.",
        "notice:test_an_echo_is_not_learned_again",
    ),
    _kept(
        "AG25",
        "issue 3, item 3",
        "What was put before the agent is not learned.",
        "notice:test_what_was_put_before_the_agent_is_not_learned",
    ),
    _kept(
        "AG26",
        "issue 3, item 3",
        "An agent that repeats the digest it was shown teaches nothing.",
        "store:test_an_agent_that_repeats_what_it_was_shown_teaches_nothing",
    ),
    _kept(
        "AG27",
        "issue 3, item 7",
        "A session starts with the digest and open questions, within what the agent shows.",
        "store:test_the_opening_has_the_digest_and_open_questions_and_is_no_access",
    ),
    _kept(
        "AG28",
        "issue 3, item 7",
        "Related memories are shown beside a prompt and count as accessed.",
        "store:test_beside_a_prompt_stands_what_is_related_and_its_showing_counts",
    ),
    _kept(
        "AG29",
        "issue 3, item 7",
        "Nothing known, nothing shown.",
        "store:test_where_nothing_is_known_nothing_is_shown_and_nothing_counts",
    ),
    _kept(
        "AG30",
        "issue 3, item 7",
        "Beside a prompt no model is loaded.",
        "hooks:test_beside_a_prompt_no_model_and_no_command_line_is_loaded",
    ),
    _kept(
        "AG31",
        "issue 3, item 7",
        "Each message is taken in once, however often hooks run.",
        "hooks:test_stopping_twice_takes_in_each_message_once",
    ),
    _kept(
        "AG32",
        "issue 3, item 7",
        "Two hooks at once lose and double nothing.",
        "hooks:test_two_hooks_at_once_lose_and_double_nothing",
    ),
    _kept(
        "AG33",
        "issue 3, item 7",
        "A hook that is killed leaves the store sound.",
        "hooks:test_killed_in_the_middle_it_leaves_the_store_sound_and_nothing_doubled",
    ),
    _kept(
        "AG34",
        "issue 3, item 7",
        "A hook never stands in the way of the agent.",
        "hooks:test_whatever_goes_wrong_is_told_and_stops_nothing",
    ),
    _kept(
        "AG35",
        "issue 3, item 7",
        "What a user asks to remember becomes a note.",
        "store:test_what_a_user_asks_to_remember_becomes_a_note_of_the_session",
    ),
    _kept(
        "AG36",
        "issue 3, item 7",
        "A missed end is caught up at the next start.",
        "hooks:test_what_the_first_session_learned_is_recalled_in_the_second",
    ),
    _kept(
        "AG37",
        "issue 3, item 7",
        "Hooks, server and command line share the namespace of the project.",
        "hooks:test_the_server_and_the_command_line_use_the_same_one",
    ),
    _kept(
        "AG38",
        "seed 001 SPEC-03.07",
        "A completed task is consolidated by itself.",
        "hooks:test_a_completed_task_is_brought_into_its_session",
    ),
    _kept(
        "AG39",
        "seed 001 SPEC-03.14",
        "Promotion is triggered when a session ends.",
        "hooks:test_what_the_first_session_learned_is_recalled_in_the_second",
    ),
    _kept(
        "AG40",
        "seed 001 SPEC-03.25",
        "The five keys of rlm-config.json reach the policy.",
        "rlm:test_each_of_the_five_keys_reaches_its_own",
    ),
    _kept(
        "AG41",
        "seed 001 SPEC-03.25",
        "A policy file's own values win over rlm-config.json.",
        "rlm:test_a_policy_files_own_values_win",
    ),
    _kept(
        "AG42",
        "seed 001 SPEC-03.25",
        "Faults of rlm-config.json name the file.",
        "rlm:test_faults_name_the_file",
    ),
    _kept(
        "AG43",
        "seed 001 SPEC-03.31",
        "Every hook does its part of the lifecycle.",
        "hooks:test_every_event_has_something_to_do",
    ),
]

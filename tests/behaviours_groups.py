"""The ledger of what several memories become together: seed 000 section 4 and 8, seed 001 (SPEC-03), design 4."""

from __future__ import annotations

from typing import Final

from ledger import keeper

_FILES: Final = {
    "merge": "tests/operations/test_consolidate.py",
    "task": "tests/operations/test_tasks.py",
    "session": "tests/operations/test_sessions.py",
    "alike": "tests/rules/test_duplicates.py",
    "state": "tests/rules/test_merging_plan.py",
    "rules": "tests/rules/test_tasks.py",
    "crystals": "tests/rules/test_crystals.py",
}


_kept: Final = keeper(_FILES)


_DUPLICATES: Final = (
    _kept(
        "GR1",
        "seed 000 §4.4",
        "A dry run, the default, tells what would be merged and writes nothing.",
        "merge:test_consolidate_dry_run",
    ),
    _kept("GR2", "seed 000 §4.8", "A consolidation merges by its strategy.", "merge:test_consolidate_actual_merge"),
    _kept(
        "GR3",
        "seed 000 §4.8",
        "A consolidated memory is found by what any of its sources was found by.",
        "merge:test_consolidated_memory_searchable",
    ),
    _kept(
        "GR4",
        "seed 000 §4.8",
        "What stands for others has the source consolidated and lists them.",
        "merge:test_source_marked_consolidated",
    ),
    _kept(
        "GR5",
        "seed 000 §4.3",
        "merge_content makes a new memory of all words, embedded anew.",
        "merge:test_consolidate_merges_contents_into_a_new_memory",
    ),
    _kept(
        "GR6",
        "seed 000 §4.4",
        "Thresholds from 0.7 to 0.99, five strategies, 1 to 100 groups; anything else is refused.",
        "merge:test_bad_arguments_are_refused",
    ),
    _kept(
        "GR7",
        "seed 000 §4.7",
        "Nothing is merged before a dry run of the same (consolidate_require_dry_run_first).",
        "merge:test_nothing_is_merged_that_nobody_has_seen",
    ),
    _kept(
        "GR8",
        "seed 000 §4.7",
        "A dry run that would do something else by now allows nothing.",
        "merge:test_a_preview_that_no_longer_holds_allows_nothing",
    ),
    _kept(
        "GR9",
        "design §1 C",
        "The plan of a dry run can be applied as it is.",
        "merge:test_the_plan_of_a_preview_can_be_applied",
    ),
    _kept(
        "GR10",
        "design §1 C",
        "Undoing a consolidation restores every row, whatever the strategy.",
        "merge:test_an_undo_restores_the_store_row_for_row_and_its_undo_the_merge",
    ),
    _kept(
        "GR11",
        "design §1 D3",
        "A changed fact is not merged, however alike: it is put before a person, once.",
        "merge:test_a_changed_fact_is_not_merged_but_put_before_a_person",
    ),
    _kept(
        "GR12",
        "design §4",
        "No contradiction of SICK is merged at the lowest threshold.",
        "merge:test_no_contradiction_of_sick_is_merged",
    ),
    _kept(
        "GR13",
        "field",
        "Planted changed facts stay apart (peers merged 60 of 60).",
        "merge:test_planted_near_duplicates_are_merged_and_changed_ones_are_not",
    ),
    _kept(
        "GR14",
        "seed 000 §4.2",
        "LINK pairs are linked, once.",
        "merge:test_pairs_that_are_a_little_alike_are_linked_and_said",
    ),
    _kept(
        "GR15",
        "design §4",
        "A group is merged only where every pair reaches the threshold.",
        "merge:test_only_members_of_which_every_pair_is_alike_are_merged",
    ),
    _kept(
        "GR16",
        "field",
        "Groups beyond max_groups are counted and said, the most similar come first.",
        "merge:test_the_most_similar_groups_come_first_and_the_others_are_counted",
    ),
    _kept(
        "GR17",
        "design §8",
        "Pairs recorded at birth can be consolidated without a search.",
        "merge:test_pairs_that_were_recorded_at_birth_need_no_search",
    ),
    _kept(
        "GR18",
        "design §4",
        "Memories without vectors are compared by equal words, and that is said.",
        "merge:test_memories_without_vectors_are_compared_by_equal_words",
    ),
    _kept(
        "GR19",
        "seed 000 §9",
        "A merge that fails leaves its originals as they were.",
        "merge:test_a_merge_that_fails_leaves_its_originals",
    ),
    _kept(
        "GR20",
        "design §8",
        "What another process changes during a consolidation is read again.",
        "merge:test_what_another_process_changes_meanwhile_is_read_again",
    ),
    _kept(
        "GR21",
        "design §1 D1",
        "The loss budget holds for merges; a person may accept the loss.",
        "merge:test_the_loss_budget_holds_and_a_person_may_accept_the_loss",
    ),
    _kept(
        "GR23",
        "design §4",
        "No signal falls because of a merge, and none goes above its bound.",
        "state:test_no_signal_falls_because_of_a_merge_and_none_is_above_its_bound",
    ),
    _kept(
        "GR24",
        "seed 000 §8 matrix",
        "Consolidation uses base importance, not the decayed one.",
        "merge:test_consolidate_actual_merge",
    ),
    _kept(
        "GR25",
        "seed 001",
        "What stands for others takes over their hyperedges.",
        "merge:test_what_goes_leaves_its_edges_to_what_stands_for_it",
    ),
    _kept(
        "GR26",
        "design §2",
        "Memories of other sessions, and pinned ones, are not merged, and nobody is asked about them.",
        "merge:test_sessions_tasks_and_pinned_memories_stay_apart",
    ),
)

_TASKS: Final = (
    _kept(
        "SPEC-03.01",
        "seed 001",
        "Completing a task brings its memories to session scope.",
        "task:test_consolidation_merges_related_facts_and_keeps_the_most_likely",
    ),
    _kept(
        "SPEC-03.02",
        "seed 001",
        "Related are memories that share hyperedges.",
        "task:test_only_what_shares_enough_edges_is_related",
    ),
    _kept(
        "SPEC-03.03",
        "seed 001",
        "Of redundant facts the most likely version is kept.",
        "rules:test_the_most_likely_version_is_kept_also_where_it_is_most_likely_only_by_now",
    ),
    _kept(
        "SPEC-03.04",
        "seed 001",
        "Edges are strengthened by the accesses of their members, once each.",
        "task:test_edges_are_strengthened_by_use_once",
    ),
    _kept(
        "SPEC-03.05",
        "seed 001",
        "What was merged is linked as summarised and stays whole.",
        "task:test_consolidation_merges_related_facts_and_keeps_the_most_likely",
    ),
    _kept(
        "SPEC-03.06",
        "seed 001",
        "Every change of a completed task is journalled with its reason.",
        "task:test_every_change_of_a_completed_task_has_its_reason",
    ),
    _kept(
        "SPEC-03.07",
        "seed 001",
        "The end of a session completes its open tasks by itself.",
        "session:test_the_end_of_a_session_does_what_is_open_once",
    ),
    _kept(
        "SPEC-03.08",
        "seed 001",
        "Promotion brings valuable memories of a session to long term.",
        "session:test_promotion_respects_the_confidence_threshold",
    ),
    _kept(
        "SPEC-03.09",
        "seed 001",
        "Promoted is what is at least as likely as the threshold (0.8).",
        "rules:test_promoted_is_what_is_likely_enough_the_bound_included",
    ),
    _kept(
        "SPEC-03.10",
        "seed 001",
        "Promoted is what is accessed at least as often as the session's median.",
        "rules:test_promoted_is_what_is_accessed_at_least_as_often_as_the_median",
    ),
    _kept(
        "SPEC-03.11",
        "seed 001",
        "Connected memories get a crystallised summary.",
        "session:test_connected_memories_get_a_summary",
    ),
    _kept(
        "SPEC-03.12",
        "seed 001",
        "Until it is confirmed a promotion leaves the originals in the session.",
        "session:test_a_preview_leaves_everything_in_the_session",
    ),
    _kept(
        "SPEC-03.13",
        "seed 001",
        "Every promotion is journalled with confidence, accesses and bounds.",
        "session:test_promotion_takes_what_is_accessed_as_often_as_the_median",
    ),
    _kept(
        "SPEC-03.14",
        "seed 001",
        "The end of a session promotes.",
        "session:test_the_end_of_a_session_does_what_is_open_once",
    ),
    _kept(
        "GR29",
        "design §7",
        "A model may write a crystallised summary, and may add nothing of its own.",
        "session:test_a_model_may_write_the_summary_where_it_adds_nothing",
    ),
    _kept(
        "SPEC-03.26",
        "seed 001",
        "Consolidation merges related facts correctly: what contradicts stays.",
        "rules:test_what_contradicts_is_not_redundant",
    ),
    _kept(
        "SPEC-03.27",
        "seed 001",
        "Promotion respects the confidence threshold.",
        "session:test_promotion_respects_the_confidence_threshold",
    ),
    _kept(
        "T1",
        "design §4",
        "A task's memories without a session go to long term: elsewhere nobody would see them.",
        "task:test_a_task_without_a_session_goes_to_long_term_where_it_is_seen",
    ),
    _kept(
        "T2",
        "design §1 C",
        "A completed task can be previewed, applied and undone row for row.",
        "task:test_a_completed_task_can_be_previewed_applied_and_undone",
    ),
    _kept("T3", "design §1 C", "A promotion is undone row for row.", "session:test_promotion_is_undone_row_for_row"),
    _kept(
        "T4",
        "design §1 C",
        "The end of a session is undone operation by operation.",
        "session:test_the_end_of_a_session_is_undone_operation_by_operation",
    ),
    _kept(
        "T5",
        "design §3",
        "Leaving a task or a session costs no signal.",
        "state:test_leaving_a_task_or_a_session_costs_no_signal",
    ),
    _kept(
        "T6",
        "design §4",
        "A summary is at most half as long as what it stands for.",
        "crystals:test_a_summary_is_at_most_half_as_long_as_what_it_stands_for",
    ),
    _kept(
        "T7",
        "field",
        "Summaries are made once, and none of summaries.",
        "session:test_a_summary_is_made_once_and_never_of_summaries",
    ),
    _kept(
        "T8",
        "seed 001",
        "A hyperedge joins two or more memories; hidden members are kept and not shown.",
        "task:test_an_edge_joins_memories_and_shows_those_that_are_visible",
    ),
    _kept(
        "T9",
        "design §4",
        "What is promoted is not taken back by the next sweep.",
        "session:test_what_is_promoted_stays_though_nobody_touched_it_for_long",
    ),
)

BEHAVIOURS: Final = [*_DUPLICATES, *_TASKS]

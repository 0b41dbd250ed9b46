"""The ledger of the verbs about signals: seeds 000 (sections 1, 2), 001 (decay, archive), 003, 004 (section 4)."""

from __future__ import annotations

from typing import Final

from ledger import keeper

_FILES: Final = {
    "decay": "tests/operations/test_decay.py",
    "reinforce": "tests/operations/test_reinforce.py",
    "use": "tests/operations/test_use.py",
    "review": "tests/operations/test_review.py",
    "overrides": "tests/operations/test_overrides.py",
    "presets": "tests/operations/test_presets.py",
    "policy": "tests/rules/test_policy.py",
    "curves": "tests/laws/test_curves.py",
}


_kept: Final = keeper(_FILES)


BEHAVIOURS: Final = [
    _kept(
        "SG1",
        "seed 000 §1.7",
        "Exponential decay halves at the half-life.",
        "decay:test_exponential_decay_halves_at_half_life",
    ),
    _kept(
        "SG2",
        "seed 000 §1.7",
        "The decay tool's linear decay reaches zero at twice the half-life.",
        "decay:test_linear_decay_reaches_zero_at_double_half_life",
    ),
    _kept(
        "SG3",
        "seed 000 §1.7",
        "Step decay changes at its thresholds.",
        "decay:test_step_decay_transitions_at_thresholds",
    ),
    _kept("SG4", "seed 000 §1.7", "Access slows decay.", "decay:test_access_count_slows_decay"),
    _kept("SG5", "seed 000 §1.7", "High importance slows decay.", "decay:test_high_importance_slows_decay"),
    _kept("SG6", "seed 000 §1.7", "The floor holds, and never raises.", "decay:test_min_floor_enforced"),
    _kept("SG7", "seed 000 §1.7", "A dry run changes nothing.", "decay:test_dry_run_no_changes"),
    _kept(
        "SG8", "seed 000 §1.7", "Applied decay is written down; no base changes.", "decay:test_decay_updates_database"
    ),
    _kept("SG9", "seed 000 §1.7", "decay respects the namespace.", "decay:test_decay_respects_namespace_filter"),
    _kept("SG10", "seed 000 §1.7", "decay pages through any size, without a cap.", "decay:test_decay_batch_processing"),
    _kept(
        "SG11",
        "seed 000 §1.3",
        "decay refuses what is outside its schema.",
        "decay:test_what_is_outside_the_schema_is_refused",
    ),
    _kept(
        "SG12",
        "seed 000 §1.4",
        "DecayResult and DecayedMemory have exactly the seed's fields.",
        "decay:test_the_result_has_the_seeds_fields_and_no_others",
    ),
    _kept(
        "SG13",
        "design §1 A",
        "decay twice at one instant writes nothing.",
        "decay:test_twice_at_one_instant_writes_nothing",
    ),
    _kept(
        "SG14",
        "field, traps 000",
        "decay applied daily ends where it ends applied once.",
        "decay:test_it_compounds_nothing_however_often_it_runs",
    ),
    _kept("SG15", "design §3", "decay counts accesses that wait in.", "decay:test_accesses_that_wait_are_counted_in"),
    _kept(
        "SG16",
        "design §4",
        "Archived memories are left out of decay, pinned ones and the vault are only reported.",
        "decay:test_archived_memories_are_left_out_and_protected_ones_only_reported",
    ),
    _kept("SG17", "design §1 C", "decay can be undone.", "decay:test_a_decay_can_be_undone"),
    _kept(
        "SG20",
        "seed 000 §2.7",
        "An additive boost is added to current importance.",
        "reinforce:test_additive_boost_calculation",
    ),
    _kept(
        "SG21",
        "seed 000 §2.7",
        "A multiplicative boost multiplies current importance.",
        "reinforce:test_multiplicative_boost_calculation",
    ),
    _kept("SG22", "seed 000 §2.7", "set_value sets.", "reinforce:test_set_value_override"),
    _kept(
        "SG23",
        "seed 000 §2.7",
        "Reinforcement is capped at the maximum; a cap never lowers.",
        "reinforce:test_max_importance_cap",
    ),
    _kept(
        "SG24",
        "seed 000 §2.7",
        "update_access resets the decay timer; without it decay goes on.",
        "reinforce:test_update_access_flag",
    ),
    _kept("SG25", "seed 000 §2.7", "A reinforcement is durable.", "reinforce:test_reinforce_persists_to_database"),
    _kept(
        "SG26",
        "seed 000 §2.7",
        "Several memories are reinforced at once.",
        "reinforce:test_reinforce_multiple_memories",
    ),
    _kept(
        "SG27",
        "seed 000 §2.7",
        "Unknown and archived ids are listed as not found.",
        "reinforce:test_not_found_handling",
    ),
    _kept(
        "SG28",
        "seed 000 §2.2",
        "Further boosts of a day are worth less, and a day has a cap.",
        "reinforce:test_diminishing_returns_and_the_days_cap",
    ),
    _kept(
        "SG29",
        "seed 000 §2.3",
        "reinforce refuses what is outside its schema.",
        "reinforce:test_what_is_outside_the_schema_is_refused",
    ),
    _kept(
        "SG30",
        "seed 000 §2.4",
        "ReinforceResult has exactly the seed's fields.",
        "reinforce:test_the_result_has_the_seeds_fields",
    ),
    _kept("SG31", "design §1 C", "reinforce can be undone exactly.", "reinforce:test_undo_restores_exactly"),
    _kept(
        "SG32",
        "design §3",
        "A reinforcement strengthens and makes stable.",
        "reinforce:test_it_strengthens_and_makes_stable",
    ),
    _kept(
        "SG33",
        "seed 003",
        "Manual decay is bounded and ends at the baseline.",
        "reinforce:test_weakening_is_bounded_and_ends_at_the_baseline",
    ),
    _kept(
        "SG34",
        "design §4",
        "What fell due before a reinforcement happens first.",
        "reinforce:test_what_fell_due_before_happens_first",
    ),
    _kept(
        "SG40",
        "design §2",
        "Helpful is a reinforcement, the recall was the access.",
        "use:test_helpful_reinforces_and_remembers_the_question",
    ),
    _kept("SG41", "field, complaint 7", "Returning a memory is no use of it.", "use:test_returning_a_memory_is_no_use"),
    _kept(
        "SG42",
        "field, complaint 7",
        "The same memory and recall count once.",
        "use:test_the_same_memory_and_recall_count_once",
    ),
    _kept(
        "SG43",
        "design §2",
        "Wrong halves current confidence and asks a person.",
        "use:test_wrong_halves_current_confidence_and_asks",
    ),
    _kept("SG44", "design §2", "Unused changes nothing.", "use:test_unused_changes_nothing"),
    _kept("SG45", "design §1 C", "An outcome can be undone exactly.", "use:test_undo_restores_exactly"),
    _kept(
        "SG46",
        "design §10",
        "review asks about the highest value at risk first.",
        "review:test_the_highest_value_at_risk_comes_first",
    ),
    _kept(
        "SG47",
        "design §5",
        "A question names the date and the words.",
        "review:test_a_question_names_the_day_and_the_words",
    ),
    _kept(
        "SG48",
        "design §3",
        "Validation adds 0.02 and resets the truth clock; it is no access.",
        "review:test_keep_validates_and_closes",
    ),
    _kept(
        "SG49",
        "design §10",
        "drop archives, and what a person hides is no loss of upkeep.",
        "review:test_drop_archives_and_closes",
    ),
    _kept(
        "SG50",
        "seed 004 §4.2",
        "A user's explicit request brings a memory to hot.",
        "overrides:test_an_explicit_request_brings_an_old_memory_to_hot_for_its_hours",
    ),
    _kept(
        "SG51",
        "seed 004 §4.3",
        "Any tier can be reached by hand; the journal keeps it as an override.",
        "overrides:test_any_tier_can_be_reached_by_hand",
    ),
    _kept(
        "SG52",
        "seed 004 §4.5",
        "The vault is left only by hand.",
        "overrides:test_the_vault_is_left_only_by_hand_and_ages_start_anew",
    ),
    _kept(
        "SG53",
        "design §4",
        "What was restored is not forgotten again where strength hides.",
        "overrides:test_what_was_restored_is_not_forgotten_again_where_strength_hides",
    ),
    _kept(
        "SG60",
        "SPEC-03.15, 03.16, 03.28",
        "Confidence loses a twentieth a day, from its base.",
        "presets:test_confidence_loses_a_twentieth_a_day",
    ),
    _kept(
        "SG61",
        "SPEC-03.17",
        "Access slows the fading of confidence; no access counts as one.",
        "presets:test_a_memory_never_accessed_decays_as_if_accessed_once",
    ),
    _kept(
        "SG62",
        "SPEC-03.18",
        "Below the minimum a memory is archived, at that instant.",
        "presets:test_below_the_minimum_a_memory_is_archived_at_that_instant",
    ),
    _kept(
        "SG63", "SPEC-03.19", "When decay runs makes no difference.", "presets:test_when_decay_runs_makes_no_difference"
    ),
    _kept(
        "SG64",
        "SPEC-03.20",
        "Each transition is logged with its reason.",
        "presets:test_each_transition_is_logged_with_its_reason",
    ),
    _kept(
        "SG65",
        "SPEC-03.21, 03.22",
        "Archived memories are found only where asked for.",
        "presets:test_archived_memories_are_found_only_where_asked_for",
    ),
    _kept(
        "SG66",
        "SPEC-03.23",
        "A restored memory is long-term again and stays.",
        "presets:test_a_restored_memory_is_long_term_and_stays",
    ),
    _kept("SG67", "SPEC-03.24, 03.30", "The archive is never emptied.", "presets:test_the_archive_is_never_emptied"),
    _kept(
        "SG68",
        "SPEC-03.29",
        "Decay never increases confidence.",
        "curves:test_decay_never_lifts_a_signal_above_where_it_began",
    ),
    _kept(
        "SG70",
        "seed 003",
        "A memory below its threshold is forgotten at the exact instant.",
        "presets:test_a_memory_below_its_threshold_is_forgotten_at_the_exact_instant",
    ),
    _kept(
        "SG71",
        "design §4",
        "A late sweep forgets at the instant of a timely one.",
        "presets:test_a_late_sweep_forgets_at_the_instant_of_a_timely_one",
    ),
    _kept(
        "SG72",
        "field, traps 003",
        "Importance decides whether a memory is ever forgotten.",
        "presets:test_importance_decides_whether_a_memory_is_ever_forgotten",
    ),
    _kept(
        "SG73",
        "field, traps 003",
        "The documents say which importances are never forgotten.",
        "policy:test_the_documents_say_which_importances_are_never_forgotten",
    ),
    _kept(
        "SG74",
        "design §1 B",
        "A rule of strength under which nothing is ever forgotten is refused.",
        "policy:test_a_rule_of_strength_under_which_nothing_is_ever_forgotten_is_refused",
    ),
    _kept(
        "SG75",
        "design §10",
        "why tells strength, stability and form.",
        "presets:test_why_tells_strength_stability_and_form",
    ),
]

"""The ledger: each line of seeds 000 (sections 1, 2) and 004 and of the design (1-4, 7), with its test or its deferral.

`tests/test_behaviours.py` fails when a named test is missing, an id repeats, or a law has no line here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One promise.

    Attributes:
        id: Short and unique.
        source: The document and section that it comes from.
        text: The promise in one sentence.
        test: ``file::function``, or ``file::function[id]`` for one case of a table; empty if deferred.
        deferred: Why there is no test yet; empty if there is one.
    """

    id: str
    source: str
    text: str
    test: str = ""
    deferred: str = ""


_FILES: Final = {
    "curves": "tests/laws/test_curves.py",
    "life": "tests/laws/test_lifecycle.py",
    "plans": "tests/laws/test_upkeep.py",
    "stores": "tests/laws/test_stores.py",
    "seeds": "tests/rules/test_seed_numbers.py",
    "policy": "tests/rules/test_policy.py",
    "door": "tests/rules/test_door.py",
    "answers": "tests/rules/test_answers.py",
    "digest": "tests/rules/test_digesting.py",
}


def _kept(identity: str, source: str, text: str, test: str) -> Behaviour:
    """A promise with its test, the file given by its short name."""
    file, _, name = test.partition(":")
    return Behaviour(identity, source, text, test=f"{_FILES[file]}::{name}")


def _later(identity: str, source: str, text: str, deferred: str) -> Behaviour:
    """A promise whose mechanism comes later."""
    return Behaviour(identity, source, text, deferred=deferred)


_LIFECYCLE: Final = "comes with the lifecycle issue"
_KNOWLEDGE: Final = "comes with the knowledge issue"
_SERVERS: Final = "comes with the interfaces and server stores"

_SIGNALS: Final = (
    _kept(
        "A1",
        "design §1 A",
        "A signal is a share, 0 to 1.",
        "curves:test_a_curve_stays_between_0_and_1",
    ),
    _kept(
        "A2",
        "design §1 A",
        "Between events every signal only falls.",
        "curves:test_a_curve_never_rises_with_time",
    ),
    _kept(
        "A3",
        "design §1 A",
        "Decay never lifts a signal above where it began.",
        "curves:test_decay_never_lifts_a_signal_above_where_it_began",
    ),
    _kept(
        "A4",
        "design §3",
        "A signal is its base at age 0 and never above it.",
        "curves:test_a_signal_is_its_base_at_age_0_and_never_above_it",
    ),
    _kept(
        "A5",
        "design §3",
        "Ages are non-negative: a clock that steps back counts as age 0.",
        "curves:test_negative_ages_count_as_0",
    ),
    _kept(
        "A6",
        "design §1 B",
        "The crossing time inverts the curve.",
        "curves:test_the_crossing_time_inverts_the_curve",
    ),
    _kept(
        "A7",
        "design §1 B",
        "Never means not within 100 years.",
        "curves:test_what_is_never_crossed_is_not_below_after_a_hundred_years",
    ),
    _kept(
        "A8",
        "design §1 B",
        "What is below a threshold from the start crosses at age 0.",
        "curves:test_what_is_below_from_the_start_crosses_at_0",
    ),
    _kept(
        "A9",
        "design §1 B",
        "A lower threshold is never crossed earlier.",
        "curves:test_a_lower_threshold_is_never_crossed_earlier",
    ),
    _kept(
        "A10",
        "design §3",
        "All formulas are vectorised: many at once equal one by one.",
        "curves:test_many_at_once_are_the_same_as_one_by_one",
    ),
    _kept(
        "A11",
        "design §3",
        "The search for a crossing is the same for one and for hundreds.",
        "curves:test_the_crossing_of_value_does_not_depend_on_how_many_are_searched_at_once",
    ),
    _kept(
        "A12",
        "design §3",
        "Extreme inputs give finite numbers.",
        "curves:test_extreme_inputs_give_finite_numbers",
    ),
    _kept(
        "A23",
        "design §3",
        "A tiny base is no cause for a warning.",
        "curves:test_a_tiny_base_crosses_at_0_without_a_warning",
    ),
    _kept(
        "A13",
        "design §1 B",
        "A due instant is rounded up, plus 1 ms.",
        "curves:test_a_due_instant_lies_after_the_crossing_but_by_less_than_three_milliseconds",
    ),
    _kept(
        "A14",
        "design §1 B",
        "What happens after 100 years is never due.",
        "curves:test_what_happens_after_a_hundred_years_is_never_due",
    ),
    _kept(
        "A15",
        "design §3",
        "More access never makes confidence decay faster.",
        "curves:test_more_access_never_makes_confidence_decay_faster",
    ),
    _kept(
        "A16",
        "seed 000 §1.2",
        "More accesses slow the decay of importance.",
        "curves:test_more_access_never_lowers_importance",
    ),
    _kept(
        "A17",
        "seed 004 §2.1",
        "Reinforcement strengthens retention.",
        "curves:test_more_reinforcement_never_lowers_retention",
    ),
    _kept(
        "A18",
        "design §3",
        "The floor holds and never raises.",
        "curves:test_the_floor_never_lifts_a_base_below_it",
    ),
    _kept(
        "A19",
        "design §3",
        "A cap on confidence never lowers.",
        "curves:test_a_confirmation_never_lowers_a_fact_and_never_lifts_it_over_the_cap",
    ),
    _kept(
        "A20",
        "seed 000 §2.2",
        "A day adds no more than its cap.",
        "curves:test_a_boost_is_never_negative_and_a_day_never_adds_more_than_its_cap",
    ),
    _kept(
        "A21",
        "design §3",
        "The access counter is one number of state.",
        "curves:test_the_access_counter_fades_alike_in_one_step_and_in_two",
    ),
    _kept(
        "A22",
        "seed 004 §1.3",
        "Uniqueness is a share; one likeness more never raises it.",
        "curves:test_uniqueness_stays_between_0_and_1_and_a_further_likeness_never_raises_it",
    ),
)

_SEEDS: Final = (
    _kept(
        "S1",
        "seed 000 §1.5",
        "Exponential decay halves at the half-life.",
        "seeds:test_importance[000-1.5-exponential-halves-at-the-half-life]",
    ),
    _kept(
        "S2",
        "seed 000 §1.7",
        "Linear decay reaches zero at twice the half-life.",
        "seeds:test_importance[000-1.7-linear-zero-at-twice]",
    ),
    _kept(
        "S3",
        "seed 000 §1.5",
        "Step decay: 1, then 0.5, then 0.25.",
        "seeds:test_importance[000-1.5-step-half-from-the-half-life]",
    ),
    _kept(
        "S4",
        "seed 000 §1.5",
        "Each access lengthens the half-life by half, up to 20.",
        "seeds:test_importance[000-1.5-access-bonus-capped-at-20]",
    ),
    _kept(
        "S5",
        "seed 000 §1.2",
        "A higher base slows decay.",
        "seeds:test_importance[000-1.2-base-0.5-half-life-45]",
    ),
    _kept(
        "S6",
        "design §3",
        "The blend takes nothing at age 0.",
        "seeds:test_importance_with_stability_and_floor[design-3-blend-takes-nothing-at-age-0]",
    ),
    _kept(
        "S7",
        "design §3",
        "Stability is ln(1+n)/ln 100, at most 1.",
        "seeds:test_importance_with_stability_and_floor[design-3-9-accesses-are-half-stable]",
    ),
    _kept(
        "S8",
        "seed 000 §1.3",
        "Importance does not sink below the floor.",
        "seeds:test_importance_with_stability_and_floor[000-1.3-floor-holds]",
    ),
    _kept(
        "S9",
        "seed 000 §1.6",
        "The defaults of decay and reinforcement.",
        "seeds:test_importance_defaults",
    ),
    _kept(
        "S10",
        "seed 000 §2.2",
        "Boosts of a day diminish and stop at the cap.",
        "seeds:test_boost",
    ),
    _kept(
        "S11",
        "seed 000 §2.6",
        "A recall boosts importance by 0.02.",
        "seeds:test_importance_after_recalls[000-2.6-access-boost-0.02]",
    ),
    _kept(
        "S12",
        "seed 000 §2.5",
        "Importance is capped at the maximum.",
        "seeds:test_importance_after_recalls[000-2.5-cap-at-the-maximum]",
    ),
    _kept(
        "S13",
        "field.md, traps",
        "Seven quick recalls destroy nothing.",
        "seeds:test_importance_after_recalls[field-trap-000-seven-quick-recalls-do-not-destroy]",
    ),
    _kept(
        "S14",
        "design §3",
        "A cap never lowers what is above it.",
        "seeds:test_the_cap_never_lowers_what_is_above_it",
    ),
    _kept(
        "S15",
        "seed 000 §2.2",
        "The daily cap starts anew the next day.",
        "seeds:test_boosts_of_one_day_stop_at_the_daily_cap_and_start_anew_the_next_day",
    ),
    _kept(
        "S16",
        "field.md, traps",
        "Six runs at age 0 take nothing.",
        "seeds:test_six_runs_at_age_0_take_nothing",
    ),
    _kept(
        "S17",
        "design §3",
        "Confidence falls exponentially.",
        "seeds:test_confidence",
    ),
    _kept(
        "S18",
        "design §3",
        "The amplifier a = max(1, n/(1+ln n)).",
        "seeds:test_amplifier",
    ),
    _kept(
        "S19",
        "design §3",
        "A confirmed fact rises by 0.15, 0.10, 0.05, then 0.02, to 0.95.",
        "seeds:test_confirmation_of_a_fact",
    ),
    _kept(
        "S20",
        "design §2",
        "Confidence at birth follows the kind.",
        "seeds:test_confidence_at_birth",
    ),
    _kept(
        "S21",
        "design §3",
        "Facts fade from validation, long-term memories from the last access, others not.",
        "seeds:test_from_when_confidence_fades",
    ),
    _kept(
        "S22",
        "design §2",
        "Only validation resets the truth clock.",
        "seeds:test_validation_moves_the_truth_clock_and_access_does_not",
    ),
    _kept(
        "S23",
        "seed 004 §2.2",
        "The retention table at 30 days.",
        "seeds:test_retention",
    ),
    _kept(
        "S24",
        "seed 004 §2.1",
        "A review is suggested below 0.5.",
        "seeds:test_a_review_is_suggested_below_one_half",
    ),
    _kept(
        "S25",
        "seed 004 §1.1",
        "Value is the weighted sum of four parts.",
        "seeds:test_value",
    ),
    _kept(
        "S26",
        "seed 004 §1.3",
        "Uniqueness looks at the five nearest other memories.",
        "seeds:test_uniqueness",
    ),
    _kept(
        "S27",
        "seed 004 §1.3",
        "Frequency sums e^(-0.05·age) over all accesses.",
        "seeds:test_the_access_counter_is_the_sum_over_the_history",
    ),
    _kept(
        "S28",
        "design §3",
        "Ages are continuous, never floored to days.",
        "seeds:test_ages_are_not_floored_to_days",
    ),
    _kept(
        "S29",
        "seed 004 §5.1",
        "A message enters hot, the rest warm.",
        "seeds:test_entry",
    ),
    _kept(
        "S30",
        "seed 004 §6.1",
        "Hot entry by value is inclusive.",
        "seeds:test_hot_entry_is_inclusive",
    ),
    _kept(
        "S31",
        "seed 004 §6.1",
        "Hot is left after 24 hours below 0.6: warm from 0.5 on, else cold.",
        "seeds:test_hot_leaves_after_24_hours",
    ),
    _kept(
        "S32",
        "design §4",
        "Hot stays while its value is 0.6.",
        "seeds:test_hot_stays_while_its_value_is_0_6",
    ),
    _kept(
        "S33",
        "seed 004 §4.2",
        "Hot is not left before 24 hours.",
        "seeds:test_hot_is_not_left_before_24_hours_however_low_the_value",
    ),
    _kept(
        "S34",
        "seed 004 §6.1",
        "Warm is left below 0.3 or after 7 days.",
        "seeds:test_warm_to_cold",
    ),
    _kept(
        "S35",
        "design §4",
        "An access starts warm's 7 days anew.",
        "seeds:test_an_access_keeps_a_warm_memory_warm_for_another_7_days",
    ),
    _kept(
        "S36",
        "seed 004 §5.1",
        "Three accesses in 4 hours lift warm to hot.",
        "seeds:test_a_burst_lifts_warm_to_hot",
    ),
    _kept(
        "S37",
        "seed 004 §6.1",
        "Value 0.75 lifts to hot; 0.8 with 5 accesses to the vault.",
        "seeds:test_an_access_lifts_by_value",
    ),
    _kept(
        "S38",
        "design §4",
        "Vault is asked before hot.",
        "seeds:test_an_access_lifts_by_value[design-4-vault-is-asked-first]",
    ),
    _kept(
        "S39",
        "seed 004 §5.2",
        "Cold, accessed, becomes warm; or vault.",
        "seeds:test_cold_rises",
    ),
    _kept(
        "S40",
        "seed 004 §6.1",
        "Cold for 30 days, below 0.1, never accessed: archived (the seed deletes).",
        "seeds:test_cold_to_archived",
    ),
    _kept(
        "S41",
        "design §2",
        "balanced hides only on low confidence and low value and cold.",
        "seeds:test_balanced_hides_only_on_low_confidence_and_low_value_and_cold",
    ),
    _kept(
        "S42",
        "design §4",
        "Facts are not archived by fading.",
        "seeds:test_a_fact_is_not_archived_by_fading",
    ),
    _kept(
        "S43",
        "design §4",
        "Only long-term memories are archived for low confidence.",
        "seeds:test_only_long_term_memories_are_archived_for_low_confidence",
    ),
    _kept(
        "S44",
        "seed 004 §6.1",
        "The preset retention holds the seed's thresholds.",
        "seeds:test_the_retention_preset_holds_the_seeds_thresholds",
    ),
)

_LIFE: Final = (
    _kept(
        "B1",
        "issue 2, Laws",
        "Decay twice at one instant is decay once.",
        "life:test_a_second_sweep_at_the_same_instant_changes_nothing",
    ),
    _kept(
        "B2",
        "issue 2, Laws",
        "Daily sweeps for 100 days equal one sweep at the end.",
        "life:test_a_hundred_daily_sweeps_end_where_one_sweep_at_the_end_does",
    ),
    _kept(
        "B3",
        "design §4",
        "A late sweep ends where timely sweeps would have ended.",
        "life:test_any_schedule_of_sweeps_ends_where_one_sweep_at_the_end_does",
    ),
    _kept(
        "B4",
        "design §1 B",
        "Memories do not influence one another.",
        "life:test_memories_do_not_influence_one_another",
    ),
    _kept(
        "B5",
        "design §1 A",
        "Accesses of one instant count alike in one sweep and in two.",
        "life:test_accesses_of_one_instant_count_the_same_whether_or_not_a_sweep_lies_between_them",
    ),
    _kept(
        "B6",
        "issue 2, Laws",
        "A fresh memory is unchanged by a sweep.",
        "life:test_a_fresh_memory_is_unchanged_by_a_sweep",
    ),
    _kept(
        "B7",
        "design §4",
        "Pinned wins over everything.",
        "life:test_a_pinned_memory_never_moves",
    ),
    _kept(
        "B8",
        "design §4",
        "The vault is left only by hand.",
        "life:test_nothing_leaves_the_vault_by_itself",
    ),
    _kept(
        "B9",
        "design §4",
        "Status wins over archive and tier.",
        "life:test_a_hidden_memory_stays_as_it_is",
    ),
    _kept(
        "B10",
        "issue 2, Laws",
        "72 hourly sweeps move an untouched memory at most twice.",
        "life:test_72_hourly_sweeps_move_an_untouched_memory_at_most_twice",
    ),
    _kept(
        "B11",
        "design §1 A",
        "An untouched memory only sinks.",
        "life:test_an_untouched_memory_only_sinks",
    ),
    _kept(
        "B12",
        "issue 2, Bad input",
        "A clock that steps back changes nothing.",
        "life:test_a_clock_that_steps_back_changes_nothing",
    ),
    _kept(
        "B13",
        "issue 2, Laws",
        "A due row has really crossed.",
        "life:test_a_due_memory_has_really_crossed",
    ),
    _kept(
        "B14",
        "design §4",
        "Each move satisfies the rule that it names.",
        "life:test_each_move_of_an_untouched_memory_satisfies_the_rule_that_it_names",
    ),
    _kept(
        "B15",
        "design §4",
        "An untouched memory follows the table of tiers.",
        "life:test_an_untouched_memory_follows_the_designs_table",
    ),
    _kept(
        "B16",
        "issue 2, Laws",
        "20 recalls never lower any signal.",
        "life:test_20_recalls_in_a_row_never_lower_a_signal",
    ),
    _kept(
        "B17",
        "design §4",
        "An access never lowers a memory's tier.",
        "life:test_a_memory_just_accessed_is_never_lower_in_tier_than_before",
    ),
    _kept(
        "B18",
        "seed 004 §4.4",
        "An access wakes a cold memory.",
        "life:test_an_access_wakes_a_cold_memory",
    ),
    _kept(
        "B19",
        "design §2",
        "Every access is counted once.",
        "life:test_every_access_is_counted_once",
    ),
    _kept(
        "B20",
        "design §1 A",
        "Reading is always exact.",
        "life:test_a_reader_between_sweeps_sees_the_signals_that_a_sweep_would_write",
    ),
    _kept(
        "B21",
        "design §3",
        "An access by a clock that stepped back counts at the anchor.",
        "life:test_an_access_by_a_clock_that_stepped_back_neither_rejuvenates_nor_ages",
    ),
    _kept(
        "B22",
        "design §4",
        "Since-instants never go back, and are those at which the moves fell due.",
        "life:test_since_instants_never_go_back",
    ),
    _kept(
        "B23",
        "design §4",
        "Each move starts where the last one ended.",
        "life:test_each_move_starts_where_the_last_one_ended_and_changes_something",
    ),
    _kept(
        "B24",
        "design §4",
        "Every move has its reason in words and numbers.",
        "life:test_each_reason_holds_the_number_that_decided_and_the_instant",
    ),
    _kept(
        "B25",
        "issue 2, Laws",
        "Restore sticks.",
        "life:test_what_was_restored_stays_in_view_for_a_month_of_daily_sweeps",
    ),
    _kept(
        "B26",
        "design §4",
        "Restoring lowers no signal.",
        "life:test_restoring_lowers_no_signal",
    ),
    _kept(
        "B27",
        "design §2",
        "A restore is no access.",
        "life:test_a_restore_is_no_access_for_the_burst_rule",
    ),
    _kept(
        "B28",
        "design §4",
        "A restore sticks whatever confidence new memories get.",
        "life:test_a_restore_sticks_also_where_the_policy_gives_new_memories_little_confidence",
    ),
    _kept(
        "B29",
        "design §4",
        "An access older than the last move does not set the since-instant back.",
        "life:test_an_access_older_than_the_last_move_does_not_set_the_since_instant_back",
    ),
    _kept(
        "B30",
        "design §4",
        "Whoever restores a memory vouches for it.",
        "life:test_a_restored_memory_of_doubtful_truth_is_vouched_for",
    ),
    _kept(
        "C1",
        "design §1 C",
        "A plan holds exactly what will be written.",
        "plans:test_applying_a_sweep_gives_the_states_that_were_played",
    ),
    _kept(
        "C2",
        "design §1 C",
        "Undo is the inverse plan.",
        "plans:test_applying_the_inverse_gives_the_states_before",
    ),
    _kept(
        "C3",
        "design §1 C",
        "The inverse of the inverse is the plan.",
        "plans:test_the_inverse_of_the_inverse_changes_what_the_plan_changes",
    ),
    _kept(
        "C4",
        "design §1 C",
        "Every change says why and which operation it follows.",
        "plans:test_every_change_has_a_reason_and_chains_the_operation_that_made_it",
    ),
    _kept(
        "C5",
        "design §8",
        "Accesses leave the log as they are folded in.",
        "plans:test_each_access_that_was_counted_leaves_the_log_with_the_sweep",
    ),
    _kept(
        "C6",
        "design §1 D",
        "A plan says how many memories it hides.",
        "plans:test_a_plan_says_how_many_memories_it_hides",
    ),
    _kept(
        "C7",
        "design §4",
        "Moves are reported in the order of their instants.",
        "plans:test_moves_are_reported_in_the_order_of_their_instants",
    ),
    _kept(
        "C8",
        "design §4",
        "A move that a gate stops stays due and hides nothing.",
        "plans:test_a_truncated_course_hides_nothing_and_waits_at_the_instant_that_fell_due",
    ),
    _kept(
        "C9",
        "design §1 D",
        "A gate says what it stopped and why.",
        "plans:test_a_held_move_says_which_gate_held_it_back",
    ),
    _kept(
        "C10",
        "design §4",
        "A stopped move is reported once.",
        "plans:test_a_memory_that_is_still_held_is_not_written_again",
    ),
    _kept(
        "C11",
        "design §4",
        "A stopped move keeps its date.",
        "plans:test_a_held_move_is_made_with_its_own_date_once_the_gate_opens",
    ),
    _kept(
        "C12",
        "design §1 D",
        "A held memory that is used is not hidden.",
        "plans:test_a_held_memory_that_is_recalled_is_woken_not_archived",
    ),
    _kept(
        "C13",
        "design §4",
        "A held memory that is used still rises.",
        "plans:test_a_held_memory_that_is_recalled_while_the_gate_is_shut_still_rises",
    ),
    _kept(
        "C14",
        "design §1 D",
        "10 % per plan, 20 % per day, small namespaces excepted.",
        "plans:test_the_loss_budget_stops_what_is_over_its_shares",
    ),
    _kept(
        "C15",
        "design §1 D",
        "The shares of the loss budget are policy.",
        "plans:test_a_share_of_one_and_a_free_count_of_zero_are_what_they_say",
    ),
)

_STORES: Final = (
    _kept(
        "D1",
        "issue 2, Laws",
        "In a store: daily sweeps for 100 days equal one at the end.",
        "stores:test_a_hundred_days_of_daily_sweeps_end_where_one_sweep_at_the_end_does",
    ),
    _kept(
        "D2",
        "issue 2, Laws",
        "In a store: a second sweep finds nothing.",
        "stores:test_a_second_sweep_at_one_instant_finds_nothing",
    ),
    _kept(
        "D3",
        "issue 2, Laws",
        "In a store: a fresh memory is unchanged.",
        "stores:test_a_fresh_memory_is_unchanged_by_a_sweep",
    ),
    _kept(
        "D4",
        "design §2",
        "Reading, dry runs and forecasts are no access and write nothing.",
        "stores:test_reading_and_dry_runs_and_forecasts_write_nothing",
    ),
    _kept(
        "D5",
        "issue 2, Build 8",
        "A forecast tells what sweeps then do.",
        "stores:test_a_forecast_tells_what_sweeps_then_do",
    ),
    _kept(
        "D6",
        "issue 2, Laws",
        "Archived memories appear nowhere unless asked for.",
        "stores:test_archived_memories_appear_nowhere_unless_asked_for",
    ),
    _kept(
        "D7",
        "issue 2, Laws",
        "In a store: restore sticks.",
        "stores:test_restore_sticks",
    ),
    _kept(
        "D8",
        "design §4",
        "Restoring what is in view changes nothing.",
        "stores:test_restoring_what_is_in_view_changes_nothing",
    ),
    _kept(
        "D9",
        "design §1 C",
        "Undoing a sweep restores every row exactly.",
        "stores:test_undoing_a_sweep_restores_every_row_exactly",
    ),
    _kept(
        "D10",
        "design §1 C",
        "An undo can be undone.",
        "stores:test_an_undone_sweep_can_be_undone_again",
    ),
    _kept(
        "D11",
        "issue 2, Laws",
        "In a store: 20 recalls never lower any signal.",
        "stores:test_20_recalls_never_lower_any_signal",
    ),
    _kept(
        "D12",
        "design §7",
        "touch=False reads without counting.",
        "stores:test_a_recall_without_touch_is_no_access",
    ),
    _kept(
        "D13",
        "issue 2, Bad input",
        "In a store: a clock that steps back changes nothing.",
        "stores:test_a_clock_that_steps_back_changes_nothing",
    ),
    _kept(
        "D14",
        "design §4",
        "The journal dates a move at the instant at which it fell due.",
        "stores:test_sweeps_tell_why_and_when_a_memory_moved",
    ),
    _kept(
        "D15",
        "design §1 D",
        "The loss budget stops a sweep and says so once.",
        "stores:test_a_loss_budget_holds_moves_back_and_says_so_once",
    ),
    _kept(
        "D16",
        "design §1 D",
        "In a store: a held memory that is used is not hidden.",
        "stores:test_a_held_memory_that_someone_uses_is_not_hidden_afterwards",
    ),
    _kept(
        "D17",
        "design §4",
        "What a person decides does not depend on the last sweep.",
        "stores:test_what_a_person_decides_does_not_depend_on_when_the_last_sweep_was",
    ),
    _kept(
        "D18",
        "seed 004 §4.2",
        "Of a session only the last 10 messages enter hot.",
        "stores:test_of_an_ingested_conversation_only_the_last_messages_enter_hot",
    ),
    _kept(
        "D19",
        "design §4",
        "Unpinning lets the rules apply from now on.",
        "stores:test_unpinning_lets_the_rules_apply_from_now_on",
    ),
    _kept(
        "D20",
        "design §1 C",
        "A plan of a dry run, applied, does what the sweep would have done.",
        "stores:test_a_plan_of_a_dry_run_does_what_the_sweep_would_have_done",
    ),
)


_DOORS: Final = (
    _kept(
        "P1",
        "issue 2, Build 2",
        "Every key has default, bounds and meaning.",
        "policy:test_every_key_has_a_default_within_its_bounds_and_a_meaning",
    ),
    _kept(
        "P2",
        "issue 2, Build 2",
        "Bounds are inclusive; outside is refused.",
        "policy:test_bounds_are_inclusive_and_what_lies_outside_is_refused",
    ),
    _kept(
        "P3",
        "issue 2, Build 2",
        "All faults are reported at once.",
        "policy:test_all_faults_are_reported_at_once",
    ),
    _kept(
        "P4",
        "design §1 B",
        "A threshold that is never reached is refused.",
        "policy:test_a_threshold_that_no_curve_reaches_in_a_hundred_years_is_refused",
    ),
    _kept(
        "P5",
        "design §2",
        "balanced is the default.",
        "policy:test_the_default_is_balanced",
    ),
    _kept(
        "P6",
        "design §2",
        "Presets reproduce their seed's numbers.",
        "policy:test_every_preset_loads_and_differs_from_the_others_only_where_it_says",
    ),
    _kept(
        "P7",
        "issue 2, Build 2",
        "The policy's version follows every key.",
        "policy:test_the_version_follows_every_key",
    ),
    _kept(
        "P8",
        "issue 2, Build 2",
        "A policy is a TOML file.",
        "policy:test_a_policy_survives_the_round_trip_through_a_file",
    ),
    _kept(
        "P9",
        "seed 004 §1.1",
        "The shares of value sum to 1.",
        "policy:test_contradictions_are_refused",
    ),
    _kept(
        "I1",
        "issue 2, Bad input",
        "Empty, white space, NUL, lone surrogates are refused.",
        "door:test_bad_content_is_refused",
    ),
    _kept(
        "I2",
        "issue 2, Bad input",
        "Content over 1 MiB is refused.",
        "door:test_content_of_one_mebibyte_is_accepted_and_one_byte_more_is_not",
    ),
    _kept(
        "I3",
        "issue 2, Bad input",
        "NaN, infinities and numbers out of range are refused.",
        "door:test_shares_outside_0_to_1_are_refused",
    ),
    _kept(
        "I4",
        "issue 2, Bad input",
        "Unknown enums are refused.",
        "door:test_an_unknown_kind_is_refused_with_the_kinds",
    ),
    _kept(
        "I5",
        "issue 2, Bad input",
        "Naive datetimes are refused.",
        "door:test_naive_datetimes_and_other_things_are_no_time",
    ),
    _kept(
        "I6",
        "issue 2, Bad input",
        "A future timestamp is refused.",
        "door:test_the_future_is_refused_and_the_past_is_not",
    ),
    _kept(
        "I7",
        "issue 2, Bad input",
        "Bad namespaces are refused.",
        "door:test_bad_namespaces_are_refused",
    ),
    _kept(
        "I8",
        "issue 2, Bad input",
        "10,000 tags are refused.",
        "door:test_ten_thousand_tags_are_refused",
    ),
    _kept(
        "I9",
        "issue 2, Bad input",
        "Arbitrary text goes through the API unchanged or is refused.",
        "door:test_any_text_goes_through_the_whole_api_unchanged_or_is_refused",
    ),
    _kept(
        "I10",
        "issue 2, Bad input",
        "Nothing is half done.",
        "door:test_nothing_is_stored_where_one_of_several_is_refused",
    ),
    _kept(
        "I11",
        "issue 2, Bad input",
        "FTS metacharacters are plain text.",
        "answers:test_words_are_lower_case_once_each_and_no_stop_words",
    ),
    _kept(
        "I12",
        "design §3",
        "Times that no calendar holds are refused, and nothing is stored.",
        "door:test_a_time_before_the_calendar_is_refused_and_nothing_is_stored",
    ),
    _kept(
        "Q1",
        "design §7",
        "Stop words are dropped.",
        "answers:test_discriminating_words",
    ),
    _kept(
        "Q2",
        "design §7",
        "A relevance floor answers nothing known.",
        "answers:test_when_nothing_is_known",
    ),
    _kept(
        "Q3",
        "design §7",
        "Each hit explains its score part by part.",
        "answers:test_scores_are_the_sum_of_their_parts_in_falling_order",
    ),
    _kept(
        "Q4",
        "design §7",
        "A neighbour turn and the session lend their score.",
        "answers:test_a_neighbour_turn_and_the_session_lend_their_score",
    ),
    _kept(
        "Q5",
        "design §7",
        "A speaker named in the question counts.",
        "answers:test_the_speaker_named_in_the_question_comes_first",
    ),
    _kept(
        "Q6",
        "design §7",
        "Signals enter ranking only as a small bounded term.",
        "answers:test_signals_add_a_small_bounded_part_and_never_take_away",
    ),
    _kept(
        "Q7",
        "design §7",
        "The answer is diversified.",
        "answers:test_a_twin_goes_behind_the_others",
    ),
    _kept(
        "Q8",
        "issue 2, Measured",
        "The weight of words follows how much they discriminate.",
        "answers:test_words_weigh_more_where_a_memory_holds_the_rare_ones",
    ),
    _kept(
        "M1",
        "seed 004, summary",
        "MEMORY.md is bounded, in every profile.",
        "digest:test_many_long_memories_fill_a_budget_but_do_not_pass_it",
    ),
    _kept(
        "M2",
        "issue 2, Build 9",
        "Ids stand in comments that no words can break out of.",
        "digest:test_a_digest_keeps_to_its_frame_whatever_the_words_are",
    ),
    _kept(
        "M3",
        "issue 2, Build 9",
        "Chosen by value per token.",
        "digest:test_where_room_is_short_value_per_token_decides",
    ),
    _kept(
        "M4",
        "issue 2, Build 9",
        "Chosen with diversity.",
        "digest:test_a_twin_of_a_chosen_memory_is_held_back",
    ),
    _kept(
        "M5",
        "issue 2, Build 9",
        "The estimate of tokens errs high.",
        "digest:test_the_estimate_of_tokens_errs_high",
    ),
    _kept(
        "M6",
        "issue 2, Build 9",
        "Pinned memories come first.",
        "digest:test_pinned_memories_are_taken_first_and_come_first",
    ),
    _kept(
        "M7",
        "issue 2, Build 9",
        "A speaker's name cannot break the digest.",
        "digest:test_a_speakers_name_cannot_end_the_digest",
    ),
)

_LATER: Final = (
    _later(
        "W1",
        "design §2",
        "Strength: how activated a memory is.",
        _LIFECYCLE,
    ),
    _later(
        "W2",
        "design §1 D",
        "The recall gate replays canaries inside the transaction.",
        _LIFECYCLE,
    ),
    _later(
        "W3",
        "design §1 D",
        "The meaning guard stops a merge or a compression that loses a number or a name.",
        _LIFECYCLE,
    ),
    _later(
        "W4",
        "seed 000 §1.3",
        "decay: schema, ranges, defaults, dry run by default.",
        _LIFECYCLE,
    ),
    _later(
        "W5",
        "seed 000 §1.4",
        "decay: DecayResult and DecayedMemory.",
        _LIFECYCLE,
    ),
    _later(
        "W6",
        "seed 000 §2.3",
        "reinforce: additive, multiplicative, set_value; defaults.",
        _LIFECYCLE,
    ),
    _later(
        "W7",
        "seed 000 §2.4",
        "reinforce: result with not_found.",
        _LIFECYCLE,
    ),
    _later(
        "W8",
        "seed 000 §2.3",
        "reinforce: update_access.",
        _LIFECYCLE,
    ),
    _later(
        "W9",
        "seed 000 §3",
        "extract: memories from text.",
        _LIFECYCLE,
    ),
    _later(
        "W10",
        "seed 000 §4",
        "consolidate: groups, labels, four strategies.",
        _LIFECYCLE,
    ),
    _later(
        "W11",
        "design §4",
        "Task and entity consolidation.",
        _LIFECYCLE,
    ),
    _later(
        "W12",
        "design §4",
        "Promotion from session to long term.",
        _LIFECYCLE,
    ),
    _later(
        "W13",
        "seed 004 §3.1",
        "Compression levels full, summary, keywords, embedding.",
        _LIFECYCLE,
    ),
    _later(
        "W14",
        "seed 004 §3.2",
        "Compression triggers, inclusive thresholds.",
        _LIFECYCLE,
    ),
    _later(
        "W15",
        "seed 004 §3.3",
        "Semantic preservation, token efficiency, query accuracy.",
        _LIFECYCLE,
    ),
    _later(
        "W16",
        "seed 004 §6.2",
        "restore(level='full') brings the original back byte for byte.",
        _LIFECYCLE,
    ),
    _later(
        "W17",
        "seed 004 §4.2",
        "A user's explicit reference brings a memory to hot.",
        _LIFECYCLE,
    ),
    _later(
        "W18",
        "seed 004 §4.5",
        "Deletion only by erase or by a policy that says so.",
        _LIFECYCLE,
    ),
    _later(
        "W19",
        "design §2",
        "The presets spatial, evolution, knowledge and strength.",
        _LIFECYCLE,
    ),
    _later(
        "W20",
        "design §2",
        "balanced after 200 days keeps 98 % of recall@10.",
        _LIFECYCLE,
    ),
    _later(
        "W21",
        "design §4",
        "Facts age, are asked about, and are archived unanswered.",
        _KNOWLEDGE,
    ),
    _later(
        "W22",
        "design §2",
        "Confidence of extracted notes and of summaries at birth.",
        _KNOWLEDGE,
    ),
    _later(
        "W23",
        "design §7",
        "as_of on both time axes.",
        _KNOWLEDGE,
    ),
    _later(
        "W24",
        "seed 004 §4.5",
        "Weekly backup of the vault.",
        _SERVERS,
    ),
    _later(
        "W25",
        "seed 004 §6.3",
        "Monitoring: the dashboard.",
        _SERVERS,
    ),
)

BEHAVIOURS: Final = [*_SIGNALS, *_SEEDS, *_LIFE, *_STORES, *_DOORS, *_LATER]

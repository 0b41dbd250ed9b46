"""The ledger of learning: rates of change, procedures, back-tests (seed 002 parts 3 and 4, design 6, issue 5)."""

from __future__ import annotations

from typing import Final

from ledger import keeper

_FILES: Final = {
    "survival": "tests/laws/test_survival.py",
    "chance": "tests/laws/test_chance.py",
    "rates": "tests/operations/test_rates.py",
    "procedures": "tests/operations/test_procedures.py",
    "backtest": "tests/operations/test_backtest.py",
    "cli": "tests/interfaces/test_learning_cli.py",
    "lessons": "tests/operations/test_lessons.py",
    "names": "tests/operations/test_names_kept.py",
    "synonyms": "tests/operations/test_synonyms.py",
}


_kept: Final = keeper(_FILES)

_FOUR: Final = "seed 002 part 4"
_THREE: Final = "seed 002 part 3"
_SIX: Final = "design §6"

_SURVIVAL: Final = (
    (_SIX, "More exposure never raises a rate of change.", "test_more_exposure_never_raises_the_rate"),
    (_SIX, "More changes never lower it.", "test_more_changes_never_lower_the_rate"),
    (_SIX, "Rates one by one are those of all at once.", "test_one_by_one_is_as_all_at_once"),
    (
        _SIX,
        "An interval contains its mean and narrows with changes.",
        "test_the_interval_contains_the_mean_and_narrows",
    ),
    (_SIX, "A quantile is where its probability is reached.", "test_a_quantile_is_where_the_probability_is_reached"),
    (_SIX, "The incomplete gamma function is Poisson's count.", "test_whole_shapes_agree_with_counting"),
    (_SIX, "Quantiles are those of printed tables.", "test_quantiles_are_those_of_the_tables"),
    (_SIX, "Large counts go over without a jump.", "test_nothing_jumps_where_the_approximation_takes_over"),
    (_FOUR, "decay_rate = 0.916 / mean: 0.4 is left; validate at half of it.", "test_the_target_of_the_seed"),
    (_SIX, "Without data the policy's rate holds.", "test_without_data_the_prior_gives_the_policys_rate"),
    (
        _SIX,
        "The mean of observed changes alone is biased; what did not change counts too.",
        "test_the_mean_of_observed_changes_alone_is_biased",
    ),
    (
        _SIX,
        "A 90 % interval holds the truth nine times of ten.",
        "test_the_interval_holds_the_truth_as_often_as_it_says",
    ),
)
_CHANCE: Final = (
    (_SIX, "How likely an accident is agrees with listing every case.", "test_tails_agree_with_listing_every_case"),
    (_SIX, "Seeing it more often is less likely by accident.", "test_more_is_less_likely"),
    (_SIX, "How likely an order is agrees with listing every order.", "test_order_agrees_with_listing_every_order"),
    (
        _SIX,
        "Of accidents alone as many are kept as the level says.",
        "test_accidents_alone_are_kept_as_often_as_the_level_says",
    ),
    (_SIX, "What is no accident is kept among accidents.", "test_what_is_no_accident_is_kept_among_accidents"),
)
_RATES: Final = (
    (_FOUR, "Decay rates are learned per sort of predicate.", "test_it_learns_what_was_planted"),
    (
        "issue 5 Build 10",
        "A learned rate is used only from enough changes and a narrow interval on, and says why not.",
        "test_a_rate_is_used_only_where_changes_and_interval_allow",
    ),
    (
        "design §1 C",
        "Looking at rates writes nothing; undo of learning restores every row.",
        "test_nothing_is_written_by_looking_and_an_undo_restores_row_for_row",
    ),
    (_SIX, "What was learned is brought up to date.", "test_what_is_written_is_brought_up_to_date"),
    (
        _SIX,
        "A sort without facts loses its rate.",
        "test_a_sort_of_which_there_are_no_facts_any_more_loses_its_rate",
    ),
    (_SIX, "Namespaces learn their rates apart.", "test_namespaces_learn_apart"),
    (
        _SIX,
        "Superseded is a change; active, archived and invalidated facts are censored.",
        "test_what_counts_as_change_and_as_exposure",
    ),
    (_SIX, "A merged fact's time is counted once.", "test_what_another_fact_stands_for_is_not_counted_twice"),
    (_SIX, "Facts without a sort keep the policy's rate.", "test_facts_without_a_sort_keep_the_policys_rate"),
    (_SIX, "Only a rate in use is given out.", "test_only_a_rate_in_use_is_given_out"),
)
_PROCEDURES: Final = (
    (_THREE, "A followed by B in sessions is a procedure with trigger and then.", "test_what_was_planted_is_learned"),
    (_THREE, "Confidence is min(0.9, n / 10).", "test_confidence_is_never_above_nine_tenths"),
    (
        _THREE,
        "Three sessions are enough, two are not.",
        "test_three_sessions_are_enough_where_few_topics_are_talked_about",
    ),
    (_SIX, "Shuffled conversations teach nothing.", "test_shuffled_conversations_teach_nothing"),
    (_SIX, "What comes up everywhere follows nothing.", "test_what_comes_up_everywhere_follows_nothing"),
    (
        "design §1 C",
        "A dry run of procedures writes nothing, and its plan can be applied.",
        "test_a_dry_run_writes_nothing_and_its_plan_can_be_applied",
    ),
    (
        "design §1 C",
        "Learning procedures twice changes nothing; undo restores every row.",
        "test_learning_twice_changes_nothing_and_an_undo_restores_row_for_row",
    ),
    (
        "issue 5 Build 9",
        "A procedure is retired when it stops holding, and comes back when it holds again.",
        "test_one_that_stops_holding_is_archived_and_comes_back_when_it_holds_again",
    ),
    (_SIX, "Silence says nothing against a procedure.", "test_silence_says_nothing_against_a_procedure"),
    (_THREE, "Only the last 60 days count.", "test_confidence_follows_recent_sessions"),
    (_SIX, "What a person decided about a procedure stands.", "test_what_a_person_decided_stands"),
    (
        "design §2",
        "An assistant's words, and narrower scopes, teach no procedures.",
        "test_what_assistants_say_and_what_stays_in_its_session_teaches_nothing",
    ),
    (_SIX, "Entities are topics, merged ones as one.", "test_entities_are_topics_by_their_names"),
    (_THREE, "A question is widened by what follows.", "test_known_procedures_widen_a_question"),
    (
        "decision 17",
        "Where nothing else is talked about, six sessions tell a procedure from an accident.",
        "test_where_nothing_else_is_talked_about_six_sessions_tell_it_from_an_accident",
    ),
    ("issue 5 Build 9", "A policy may ask for three sessions alone.", "test_a_policy_may_ask_for_the_sessions_alone"),
)
_BACKTEST: Final = (
    (
        "issue 5 Build 10",
        "A policy that hides all after a day would have missed every hit.",
        "test_a_policy_that_hides_everything_after_a_day_would_have_missed_every_hit",
    ),
    (
        "issue 5 Build 10",
        "The same policy misses nothing, and the replay ends where the store is.",
        "test_the_same_policy_would_have_missed_nothing_and_lived_as_it_did",
    ),
    (
        "issue 5 Build 10",
        "Precision and recall are of what was found useful.",
        "test_precision_and_recall_are_of_what_was_found_useful",
    ),
    (
        _SIX,
        "What is asked for stays under the other policy too.",
        "test_what_is_asked_for_stays_under_the_other_policy_too",
    ),
    (
        _SIX,
        "Shorter forms are told, and tokens in view.",
        "test_a_shorter_form_is_told_and_costs_fewer_tokens",
    ),
    (
        _SIX,
        "A back-test writes nothing and stays in its namespace.",
        "test_nothing_is_written_and_namespaces_are_apart",
    ),
    (_SIX, "A back-test under a faulty policy is refused.", "test_what_is_wrong_is_refused"),
)
_DOORS: Final = (
    ("issue 5 Build 10", "`perdure rates` shows rates, and writes them with --learn.", "test_rates"),
    ("issue 5 Build 9", "`perdure procedures` previews, and learns with --apply.", "test_procedures"),
    ("issue 5 Build 10", "`perdure backtest --policy FILE` shows what would be missing.", "test_backtest"),
)
_BUILD_3: Final = "issue 5 Build 3"
_LESSONS: Final = (
    (
        _BUILD_3,
        "Both is an answer: it closes the conflict and keeps both.",
        "test_both_closes_the_question_and_keeps_both",
    ),
    (
        _BUILD_3,
        "Whom a person said to have several values may get more; others are still asked.",
        "test_who_has_several_may_get_more_and_others_are_still_asked",
    ),
    (
        _BUILD_3,
        "Two answers, none against, teach a predicate for everybody; undo takes it back.",
        "test_two_answers_teach_it_for_everybody_and_undo_unteaches_it",
    ),
    (_BUILD_3, "A correction is an answer against.", "test_an_answer_against_ends_it"),
    (_BUILD_3, "To choose one side is an answer against.", "test_to_choose_one_side_is_an_answer_against"),
    (
        _BUILD_3,
        "What was taken to add supersedes after two who replaced it.",
        "test_what_was_taken_for_many_is_one_after_two_who_replaced_it",
    ),
    (
        _BUILD_3,
        "What the policy's table or the shipped one names no answer changes.",
        "test_what_a_table_names_no_answer_changes",
    ),
    (
        _BUILD_3,
        "A correction ends what it names, also where its own value is known already.",
        "test_a_correction_still_replaces_the_one_that_it_names",
    ),
    ("design §1 C", "Undo of both restores every row.", "test_both_is_taken_back_row_for_row"),
)
_NAMES: Final = (
    (
        "issue 5 Build 2",
        "Kept names are those of the store, whoever changed them.",
        "test_whoever_changes_names_all_see_it",
    ),
    (
        "issue 5 Build 2",
        "A name that another process has just learned is not made twice, also with a slip.",
        "test_a_name_that_another_has_just_learned_is_not_made_twice",
    ),
    (
        "design §8",
        "A message reads no shelf of names once they are known.",
        "test_a_message_reads_no_shelf_once_names_are_known",
    ),
    (
        "design §8",
        "Two processes that learn the same names make each once.",
        "test_two_processes_that_learn_the_same_names_make_each_once",
    ),
)
_SYNONYMS: Final = (
    (
        _BUILD_3,
        "Embedding neighbours propose, never decide: predicates alike in meaning are a question.",
        "test_two_names_of_one_meaning_are_asked_about_and_nothing_is_decided",
    ),
    (
        _BUILD_3,
        "Yes: a synonym of the namespace, for the facts that are there and what is learned later.",
        "test_yes_gives_all_facts_the_one_name_now_and_later",
    ),
    (_BUILD_3, "No is remembered.", "test_no_is_remembered"),
    (
        _BUILD_3,
        "A pair is asked about once in a namespace.",
        "test_a_pair_is_asked_about_once_whoever_says_it_and_in_whatever_order",
    ),
    (_BUILD_3, "Few such questions are open at a time.", "test_few_questions_are_open_at_a_time"),
    (_BUILD_3, "Words only: nothing is proposed.", "test_without_vectors_nothing_is_asked"),
    (
        _BUILD_3,
        "The name of a predicate is embedded once, all that are new at once.",
        "test_each_name_is_embedded_once_and_all_that_are_new_at_once",
    ),
    ("design §1 C", "Undo of such an answer restores every row.", "test_an_answer_is_taken_back_row_for_row"),
)
_ALL: Final = {
    "survival": _SURVIVAL,
    "chance": _CHANCE,
    "rates": _RATES,
    "procedures": _PROCEDURES,
    "backtest": _BACKTEST,
    "cli": _DOORS,
    "lessons": _LESSONS,
    "names": _NAMES,
    "synonyms": _SYNONYMS,
}

BEHAVIOURS: Final = [
    _kept(f"LE-{file}-{n}", source, text, f"{file}:{test}")
    for file, lines in _ALL.items()
    for n, (source, text, test) in enumerate(lines, 1)
]

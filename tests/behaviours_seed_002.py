"""The ledger of seed 002's tables: a line for each row, as in tests/behaviours_tables.py."""

from __future__ import annotations

from typing import Final

from ledger import keeper

_kept: Final = keeper(
    {
        "believing": "tests/rules/test_believing.py",
        "claims": "tests/rules/test_claims.py",
        "conflicts": "tests/operations/test_conflicts.py",
        "curves": "tests/rules/test_seed_numbers.py",
        "domain": "tests/operations/test_domain.py",
        "events": "tests/rules/test_events.py",
        "life": "tests/laws/test_lifecycle.py",
        "procedures": "tests/operations/test_procedures.py",
        "profiles": "tests/operations/test_profiles.py",
        "questions": "tests/operations/test_questions.py",
        "rates": "tests/operations/test_rates.py",
        "story": "tests/operations/test_gai_media.py",
        "survival": "tests/laws/test_survival.py",
        "values": "tests/rules/test_values.py",
        "time": "tests/operations/test_facts_in_time.py",
        "learned": "tests/rules/test_learned.py",
    }
)
_STORY: Final = "story:test_five_sessions_about_a_customer"
_LADDER: Final = "believing:test_the_ladder_of_conflicts"

BEHAVIOURS: Final = [
    _kept(f"002-{identity}", f"seed 002, {source}", text, test)
    for identity, source, text, test in (
        (
            "state-aging",
            "part 1",
            "Active becomes ageing after 90 days without validation, confirmed < 3 times.",
            _STORY,
        ),
        ("state-superseded", "part 1", "Active becomes superseded when it is corrected.", _STORY),
        (
            "state-invalidated",
            "part 1",
            "Active becomes invalidated when it is denied.",
            "believing:test_what_ended_was_true_and_what_is_denied_never_was",
        ),
        ("state-validated", "part 1", "Ageing becomes active when a person confirms it.", _STORY),
        (
            "state-unanswered",
            "part 1, design 5",
            "Ageing and unanswered for 90 days more, a fact is archived.",
            "life:test_each_move_of_an_untouched_memory_satisfies_the_rule_that_it_names",
        ),
        (
            "stage-1-importance",
            "stage 1",
            "An event's importance: 0.4 to 0.9, 0.05 for each entity, 0.1 if grounded.",
            "events:test_importance_follows_the_seeds_table",
        ),
        ("stage-1-events", "stage 1", "Messages are of five types.", "events:test_each_message_has_its_event"),
        ("stage-2-explicit", "stage 2", "Explicit: 0.7.", "claims:test_the_seeds_explicit_statement"),
        ("stage-2-preference", "stage 2", "A preference: 0.6.", "claims:test_each_tier_reads_its_sentences"),
        (
            "stage-2-correction",
            "stage 2",
            "A correction: 0.85.",
            "claims:test_the_seeds_correction_finds_the_old_value",
        ),
        ("stage-2-example", "stage 2", "The example of an extraction.", "claims:test_the_seeds_extracted_statement"),
        ("stage-3-no_match", "stage 3", "No match makes a fact.", "believing:test_what_nothing_is_known_of_is_new"),
        (
            "stage-3-reinforcement",
            "stage 3",
            "A compatible value confirms.",
            "believing:test_the_same_value_confirms_the_surest_that_says_so",
        ),
        ("stage-3-conflict", "stage 3", "Another value is a conflict.", _LADDER),
        (
            "stage-3-equal",
            "stage 3",
            "Friday is Fridays, NET30 is NET 30.",
            "values:test_words_that_mean_the_same_have_one_normal_form",
        ),
        (
            "stage-3-ladder",
            "stage 3",
            "Confirmations add 0.15, 0.10, 0.05, 0.02, up to 0.95.",
            "believing:test_each_confirmation_counts_less_and_none_lifts_above_the_cap",
        ),
        (
            "stage-4-trust_db",
            "stage 4",
            "A database wins; what it contradicts is invalidated.",
            "domain:test_the_database_wins_and_both_values_are_in_the_answer",
        ),
        ("stage-4-trust_correction", "stage 4", "A correction wins over what it corrects.", _LADDER),
        ("stage-4-trust_higher_confidence", "stage 4", "A gap above 0.3 decides.", _LADDER),
        ("stage-4-trust_recent", "stage 4", "The newer wins if outright and 7 days newer.", _LADDER),
        (
            "stage-4-ask_user",
            "stage 4",
            "Else both are kept and shown, and a person is asked.",
            "conflicts:test_a_conflict_that_nothing_decides_keeps_both_shows_both_and_asks",
        ),
        (
            "stage-5-patterns",
            "stage 5",
            "Actually; no; that's wrong; I meant; correction.",
            "claims:test_a_correction_says_what_is_right_and_what_was_wrong",
        ),
        ("stage-5-flow", "stage 5", "Old superseded, new at 0.85, linked, logged.", _STORY),
        ("stage-6-decay", "stage 6", "e^(-0.01 d) since validation.", "curves:test_confidence"),
        ("stage-6-question", "stage 6", "The ready question names date and value.", _STORY),
        (
            "stage-6-few",
            "design 5",
            "Questions of a day are few.",
            "questions:test_a_day_has_so_many_questions_the_most_valuable_doubt_first",
        ),
        (
            "stage-7-trigger",
            "stage 7",
            "Three sessions or twenty episodes make a summary.",
            "profiles:test_three_sessions_or_twenty_messages_make_a_summary",
        ),
        (
            "stage-7-boost",
            "stage 7",
            "Confirmed facts + 0.05.",
            "profiles:test_confirmed_facts_are_surer_for_it_once_for_each_confirmation",
        ),
        (
            "stage-7-supersedes",
            "stage 7",
            "It takes the place of the earlier summary.",
            "profiles:test_it_is_made_anew_when_a_fact_changes_and_takes_the_place_of_the_earlier_one",
        ),
        (
            "stage-7-output",
            "stage 7",
            "Text and key facts with value and confidence.",
            "profiles:test_it_says_facts_how_sure_how_often_and_what_was_last",
        ),
        ("part-3", "part 3", "Sequences of topics become procedures.", "procedures:test_what_was_planted_is_learned"),
        ("part-4", "part 4", "Decay rates per sort of predicate are learned.", "rates:test_it_learns_what_was_planted"),
        ("part-4-target", "part 4", "0.916 over the mean, half the mean.", "survival:test_the_target_of_the_seed"),
        ("part-5", "part 5", "The story of five sessions.", _STORY),
    )
] + [
    _kept(
        "KW1",
        "design §7",
        "as_of asks when a fact was true, known_at when it was believed.",
        "time:test_each_axis_answers_its_own_question",
    ),
    _kept("KW2", "design §2", "The preset knowledge reproduces the seed's numbers.", _STORY),
    _kept(
        "KW3",
        "issue: authorities",
        "An ageing fact is held against authorities when it is recalled.",
        "domain:test_an_ageing_fact_is_checked_when_it_is_recalled",
    ),
    _kept(
        "KW4",
        "issue: authorities",
        "An authority that cannot be reached changes nothing.",
        "domain:test_an_unreachable_database_says_so_and_changes_nothing",
    ),
    _kept(
        "KW8",
        "seed 002, part 1",
        "What was archived unanswered comes back when it is said again.",
        "conflicts:test_what_was_archived_unanswered_comes_back_when_it_is_said_again",
    ),
    _kept(
        "KW9",
        "issue: undo of an ingest",
        "A message is not taken back before what was learned from it.",
        "conflicts:test_a_message_is_not_taken_back_before_what_was_learned_from_it",
    ),
    _kept(
        "KW10",
        "issue: stale facts",
        "A message that nobody believes any longer is marked in recalls and left out of the digest.",
        "conflicts:test_a_message_that_nobody_believes_any_longer_is_marked_and_left_out_of_the_digest",
    ),
    _kept(
        "KW6",
        "design §6",
        "A learned rate says how sure a fact is.",
        "rates:test_a_learned_rate_says_how_sure_a_fact_is",
    ),
    _kept(
        "KW7",
        "design §6",
        "Procedures widen a recall by one hit, in the last place.",
        "procedures:test_a_recall_has_room_for_what_usually_follows",
    ),
    _kept(
        "KW5",
        "issue: learning",
        "No message is missed, whoever made its id, and none is read twice.",
        "learned:test_every_message_is_learned_once_whatever_the_order_of_ids",
    ),
]

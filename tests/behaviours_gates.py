"""The ledger of the gates, of plans as files and of upkeep by a schedule (design 1, 4, 8, 9; seeds 000 and 004)."""

from __future__ import annotations

from typing import Final

from ledger import keeper

_FILES: Final = {
    "gates": "tests/operations/test_gates.py",
    "files": "tests/operations/test_planfiles.py",
    "upkeep": "tests/operations/test_upkeep.py",
    "plan": "tests/interfaces/test_plan_cli.py",
    "maintain": "tests/interfaces/test_maintain_cli.py",
}


_kept: Final = keeper(_FILES)


_GATES: Final = (
    _kept(
        "G1",
        "design §1 D",
        "A plan that would lose an answer of a canary is stopped inside its transaction, and no row has changed.",
        "gates:test_a_plan_that_would_lose_an_answer_is_stopped_and_nothing_is_changed",
    ),
    _kept(
        "G2",
        "design §1 D",
        "A loss that a person accepts goes through, and the journal keeps the reason.",
        "gates:test_a_loss_that_is_accepted_with_a_reason_goes_through_and_is_journalled",
    ),
    _kept(
        "G3",
        "design §1 D",
        "A loss is not accepted without a reason in words.",
        "gates:test_a_loss_is_not_accepted_without_words",
    ),
    _kept(
        "G4",
        "design §1 D",
        "A merge passes where a surviving memory stands for the answer.",
        "gates:test_a_merge_whose_winner_answers_loses_nothing",
    ),
    _kept(
        "G5",
        "design §1 D",
        "What stands for an answer is guarded like the answer, over any number of merges.",
        "gates:test_what_stands_for_an_answer_is_guarded_like_the_answer",
    ),
    _kept(
        "G6",
        "design §1 D",
        "Canaries are the newest recalls with a helpful outcome.",
        "gates:test_only_helpful_answers_and_only_the_newest_are_canaries",
    ),
    _kept(
        "G7",
        "design §1 D",
        "What recall did not find before cannot be lost.",
        "gates:test_an_answer_that_recall_did_not_find_before_cannot_be_lost",
    ),
    _kept(
        "G8",
        "design §1 D",
        "A person's golden query guards words.",
        "gates:test_a_golden_query_guards_words",
    ),
    _kept(
        "G9",
        "design §1 D",
        "Words that a shorter form no longer shows are lost.",
        "gates:test_words_that_a_shorter_form_no_longer_shows_are_lost",
    ),
    _kept(
        "G10",
        "design §1 D",
        "A bad file of golden queries is refused when the store is opened.",
        "gates:test_a_bad_golden_file_is_refused_when_the_store_is_opened",
    ),
    _kept(
        "G11",
        "design §4",
        "A sweep holds back what a canary needs, tells it once, tries again after a change, and does the rest.",
        "gates:test_a_sweep_holds_back_what_a_canary_needs_and_lets_the_rest_go",
    ),
    _kept(
        "G12",
        "design §1 C",
        "A dry run that asks the gates touches nothing.",
        "gates:test_a_dry_run_that_asks_the_gates_touches_nothing",
    ),
    _kept(
        "G13",
        "design §1 D",
        "A sweep that would shorten more than its share holds those moves back, once.",
        "gates:test_a_sweep_shortens_no_more_than_its_share",
    ),
    _kept(
        "G14",
        "design §1 D",
        "What a person decides about a memory passes no gate.",
        "gates:test_a_person_may_archive_what_a_canary_asks_for",
    ),
)

_PLANS: Final = (
    _kept(
        "G20",
        "design §1 C",
        "A plan comes back from its JSON exactly, with vectors and tuples.",
        "files:test_a_plan_comes_back_from_its_json_exactly",
    ),
    _kept(
        "G21",
        "seed 000 §4.7",
        "What was previewed is applied as it was shown, from a file.",
        "plan:test_a_plan_is_written_and_applied_as_it_was_shown",
    ),
    _kept(
        "G22",
        "design §1 C",
        "A plan from a file is refused once a memory has changed, and the error lists it.",
        "plan:test_it_is_refused_once_a_memory_has_changed",
    ),
    _kept(
        "G23",
        "design §1 C",
        "A plan that was made under another policy is refused.",
        "plan:test_it_is_refused_under_another_policy",
    ),
    _kept(
        "G24",
        "design §1 C",
        "A file of plans that was edited or damaged is refused.",
        "plan:test_a_file_that_was_edited_or_damaged_is_refused",
    ),
    _kept(
        "G25",
        "design §1 C",
        "Several plans are all compared with the store before the first is written.",
        "files:test_all_plans_are_compared_before_the_first_is_written",
    ),
    _kept(
        "G26",
        "design §1 D",
        "Plans from files pass the gates.",
        "files:test_gates_hold_for_plans_from_files",
    ),
)

_SCHEDULE: Final = (
    _kept(
        "G30",
        "design §9",
        "Each task of upkeep runs once and then by its interval.",
        "upkeep:test_every_task_runs_once_and_then_by_its_interval",
    ),
    _kept(
        "G31",
        "design §1 A",
        "A year of missed runs is caught up once.",
        "upkeep:test_a_year_of_missed_runs_is_caught_up_once",
    ),
    _kept(
        "G32",
        "design §8",
        "Of workers that see the same task due, the one that writes itself in works.",
        "upkeep:test_of_two_workers_that_see_the_same_one_writes_itself_in",
    ),
    _kept(
        "G33",
        "design §8",
        "Workers in processes of their own run each task once.",
        "upkeep:test_workers_in_processes_of_their_own_run_each_task_once",
    ),
    _kept(
        "G34",
        "design §9",
        "A run that fails is written down, logged and tried again; other namespaces go on.",
        "upkeep:test_a_run_that_fails_is_written_down_logged_and_tried_again_while_others_go_on",
    ),
    _kept(
        "G35",
        "design §8",
        "A worker that dies in a run is followed by another.",
        "upkeep:test_a_worker_that_dies_is_followed_by_another",
    ),
    _kept(
        "G36",
        "seed 004 §4.5",
        "The vault is backed up every week, and a backup can be brought back.",
        "upkeep:test_a_backup_holds_the_vault_and_can_be_brought_back",
    ),
    _kept(
        "G37",
        "seed 004 §4.5",
        "A backup that reads back differently is no backup.",
        "upkeep:test_a_backup_that_reads_back_differently_is_no_backup",
    ),
    _kept(
        "G38",
        "seed 000 §9",
        "A decay report is kept for each namespace: tiers, percentiles of importance, what will be hidden.",
        "upkeep:test_the_documents_say_how_it_went",
    ),
    _kept(
        "G39",
        "design §9",
        "The MCP server does the upkeep while it answers, and ends cleanly.",
        "maintain:test_a_server_does_the_upkeep_while_it_answers_and_ends_cleanly",
    ),
    _kept(
        "G40",
        "design §9",
        "A run of upkeep that fails never ends the server's thread.",
        "maintain:test_a_failing_run_never_ends_the_thread",
    ),
    _kept(
        "G41",
        "design §9",
        "A list of tools opens no store.",
        "maintain:test_a_list_of_tools_opens_no_store",
    ),
    _kept(
        "G42",
        "design §9",
        "The units of systemd and the line of cron in the documents run commands that exist.",
        "maintain:test_the_units_of_the_documents_run_commands_that_are_there",
    ),
)

BEHAVIOURS: Final = [*_GATES, *_PLANS, *_SCHEDULE]

"""The ledger of authorities: seed 002 stage 4 ("memory vs DB"), design 5, issue 5 Build 6 and its bad input."""

from __future__ import annotations

from typing import Final

from ledger import keeper

_kept: Final = keeper(
    {
        "verify": "tests/operations/test_verify.py",
        "sql": "tests/authorities/test_sql.py",
        "tree": "tests/authorities/test_working_tree.py",
        "config": "tests/rules/test_authority_config.py",
    }
)

BEHAVIOURS: Final = [
    _kept(
        "AU1",
        "seed 002 §Memory vs DB",
        "A database that agrees validates a fact: +0.02, one more confirmation, counted from now.",
        "verify:test_an_authority_that_agrees_validates",
    ),
    _kept(
        "AU2",
        "seed 002 §Memory vs DB",
        "A database that disagrees wins; the old fact is invalidated and both values are shown.",
        "verify:test_an_authority_that_disagrees_wins_and_both_values_are_shown",
    ),
    _kept(
        "AU3",
        "design §5",
        "A fact that has the authority's value already takes over; no third one is made.",
        "verify:test_a_fact_that_already_holds_the_authoritys_value_takes_over",
    ),
    _kept(
        "AU4",
        "issue 5.6",
        "An authority that cannot be asked says so and changes nothing, row for row.",
        "verify:test_an_authority_that_cannot_be_asked_changes_nothing_at_all",
    ),
    _kept(
        "AU5",
        "issue 5 bad input",
        "Two rows, NULL and no row change no fact; what is ambiguous is shown.",
        "verify:test_what_is_silent_or_ambiguous_changes_no_fact",
    ),
    _kept(
        "AU6",
        "design §1 C",
        "Undo of a verification restores the store row for row.",
        "verify:test_undo_restores_the_store_row_for_row",
    ),
    _kept(
        "AU7", "design §1 B", "Two verifications at one instant are one.", "verify:test_two_runs_at_one_instant_are_one"
    ),
    _kept(
        "AU8",
        "design §1 D1",
        "The loss budget stops a wrong query; a person may accept the loss.",
        "verify:test_a_wrong_query_is_stopped_by_the_loss_budget",
    ),
    _kept(
        "AU9",
        "design §5",
        "Agreement counts once in twelve hours and never lifts over the cap.",
        "verify:test_an_agreement_counts_once_in_twelve_hours_and_never_lifts_over_the_cap",
    ),
    _kept(
        "AU10",
        "issue 5.6",
        "Upkeep verifies daily, only where authorities are named.",
        "verify:test_upkeep_verifies_daily_where_authorities_are_named",
    ),
    _kept(
        "AU11",
        "issue 5.6",
        "Of several authorities the first that is not silent decides.",
        "verify:test_the_first_authority_that_is_not_silent_decides",
    ),
    _kept(
        "AU12",
        "issue 5 bad input",
        "A subject with SQL in its name is only a name.",
        "sql:test_a_subject_is_never_part_of_the_query",
    ),
    _kept(
        "AU13",
        "issue 5.6",
        "The database itself refuses whatever writes (SQLite).",
        "sql:test_whatever_writes_is_refused_by_the_database_itself",
    ),
    _kept(
        "AU14",
        "issue 5.6",
        "The database itself refuses whatever writes (PostgreSQL).",
        "sql:test_a_server_refuses_to_write",
    ),
    _kept(
        "AU15",
        "issue 5 bad input",
        "A slow query is stopped at the timeout (SQLite).",
        "sql:test_a_slow_query_is_stopped_in_time",
    ),
    _kept(
        "AU16",
        "issue 5 bad input",
        "A slow query is stopped at the timeout (PostgreSQL).",
        "sql:test_a_server_stops_a_slow_query",
    ),
    _kept(
        "AU17",
        "issue 5 bad input",
        "A server that hangs in the middle of a query is cut off.",
        "sql:test_a_server_that_hangs_in_the_middle_is_cut_off",
    ),
    _kept(
        "AU18",
        "issue 5.6",
        "Why an authority is unreachable is told without credentials.",
        "sql:test_a_wrong_password_and_a_missing_server_are_told_without_credentials",
    ),
    _kept(
        "AU19",
        "issue 5.6",
        "A query of the configuration is one SELECT with values bound; faults are told all at once.",
        "config:test_what_is_no_plain_question_is_refused",
    ),
    _kept(
        "AU20",
        "issue 5.6",
        "Paths and symbols that memories cite are looked up in the working tree.",
        "tree:test_what_is_there_is_fine",
    ),
    _kept(
        "AU21",
        "issue 5.6",
        "A file or symbol found elsewhere has moved, and where to is told.",
        "tree:test_a_symbol_in_another_file_has_moved",
    ),
    _kept("AU22", "issue 5.6", "What is gone is stale.", "tree:test_what_is_gone_is_stale"),
    _kept("AU23", "issue 5.6", "A URL is recorded and never fetched.", "tree:test_a_url_is_never_fetched"),
    _kept("AU24", "issue 5.6", "Nothing outside the tree is looked at.", "tree:test_no_link_leads_out_of_the_tree"),
    _kept(
        "AU25",
        "issue 5.6",
        "What could not be looked at in time is unverifiable, not stale.",
        "tree:test_out_of_time_is_unverifiable_and_not_stale",
    ),
    _kept("AU26", "issue 5.6", "A commit is known to the repository or not.", "tree:test_commits_are_known_or_not"),
    _kept(
        "AU27",
        "issue 5.6",
        "A memory that cites is told moved or stale as the tree changes, with the evidence.",
        "verify:test_memories_that_cite_are_looked_at_as_the_tree_changes",
    ),
]

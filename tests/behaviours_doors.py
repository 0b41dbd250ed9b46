"""The ledger of the doorways to a memory's life: the tools and commands of seeds 000, 001, 003 and 004."""

from __future__ import annotations

from typing import Final

from ledger import keeper

_FILES: Final = {
    "mcp": "tests/interfaces/test_lifecycle_mcp.py",
    "cli": "tests/interfaces/test_lifecycle_cli.py",
    "schema": "tests/interfaces/test_mcp_schema.py",
    "learning": "tests/interfaces/test_learning_mcp.py",
    "knowing": "tests/interfaces/test_knowledge_cli.py",
    "beside": "tests/interfaces/test_hooks_knowledge.py",
    "facts": "tests/interfaces/test_facts_cli.py",
    "sheet": "tests/operations/test_answer_sheet.py",
    "conflicts": "tests/operations/test_conflicts.py",
    "bounds": "tests/operations/test_learning_bad_input.py",
}


_kept: Final = keeper(_FILES)


BEHAVIOURS: Final = [
    _kept(
        "DO1",
        "seed 000 §1.3, §2.3, §3.4, §4.4",
        "decay, reinforce, extract and consolidate are MCP tools with exactly these input schemas.",
        "mcp:test_the_four_tools_have_the_seeds_schemas",
    ),
    _kept(
        "DO2",
        "seed 000 §1.4, §2.4, §3.5, §4.5",
        "Their answers have exactly these fields, in this order; what is added comes after them.",
        "mcp:test_the_four_tools_answer_with_the_seeds_fields_first",
    ),
    _kept(
        "DO3",
        "seed 000 §1.3",
        "Over MCP decay is a dry run unless told otherwise.",
        "mcp:test_decay_is_a_dry_run_unless_told_otherwise",
    ),
    _kept(
        "DO4",
        "seed 000 §4.7",
        "Over MCP a merge needs a dry run of the same before.",
        "mcp:test_duplicates_are_merged_after_a_dry_run",
    ),
    _kept(
        "DO5",
        "field.md, MCP",
        "The core profile has ten tools at most, with used among them, in a fixed order.",
        "schema:test_names_are_stable_and_core_has_at_most_ten",
    ),
    _kept(
        "DO6",
        "decision 0005",
        "Every tool says truly whether it reads, can hide a memory, and may be repeated.",
        "schema:test_annotations_are_as_decided",
    ),
    _kept(
        "DO7",
        "decision 0005",
        "What a model reads of all tools stays bounded.",
        "mcp:test_what_a_model_reads_of_all_tools_has_a_limit",
    ),
    _kept(
        "DO8",
        "design 2",
        "An agent can say that a recalled memory helped or was wrong, and name the recall.",
        "mcp:test_an_agent_says_what_became_of_an_answer",
    ),
    _kept(
        "DO9",
        "design 2",
        "A recall names itself for used only where it counted as an access.",
        "mcp:test_a_recall_names_itself_only_where_it_is_an_access",
    ),
    _kept(
        "DO10",
        "design 2",
        "Reports and previews over MCP are no access.",
        "mcp:test_reports_and_previews_are_no_access",
    ),
    _kept(
        "DO11",
        "seed 001, session isolation",
        "Over MCP a session's memories are seen only by who asks from inside it.",
        "mcp:test_what_a_session_noted_is_seen_only_inside_it",
    ),
    _kept(
        "DO12",
        "seed 004 §3.4",
        "Over MCP a shortened hit says so, and restore brings its whole text back.",
        "mcp:test_a_budget_shortens_and_restore_brings_the_whole_text_back",
    ),
    _kept(
        "DO13",
        "seed 001, SPEC-03.08",
        "On the command line a promotion is a preview until it is confirmed.",
        "cli:test_a_promotion_is_confirmed",
    ),
    _kept(
        "DO14",
        "design 10",
        "On the command line decay writes only with --apply.",
        "cli:test_decay_previews_unless_applied",
    ),
    _kept(
        "DO15",
        "design 10",
        "On the command line fit writes only with --apply, and restore --level full brings the text back.",
        "cli:test_fit_previews_unless_applied_and_restore_brings_the_text_back",
    ),
    _kept(
        "DO16",
        "design 10",
        "On the command line consolidate writes only with --apply.",
        "cli:test_duplicates_are_merged_only_with_apply",
    ),
    _kept(
        "DO17",
        "design 1.D",
        "A person can accept a loss on the command line, and the journal keeps the reason.",
        "cli:test_a_loss_that_is_accepted_keeps_its_reason",
    ),
    _kept(
        "DO18",
        "design 10",
        "Bad input of a lifecycle tool is a tool error with a remedy and changes nothing.",
        "mcp:test_bad_input_is_a_tool_error_with_a_remedy_and_changes_nothing",
    ),
    _kept(
        "DO19",
        "design 10",
        "Bad input of a lifecycle command ends with the documented code and changes nothing.",
        "cli:test_bad_input_is_refused_with_a_remedy_and_changes_nothing",
    ),
    _kept(
        "DO20",
        "issue 5, 10",
        "Over MCP learned rates are told with their reasons, and written down only when asked.",
        "learning:test_rates_are_told_and_written_down_only_when_asked",
    ),
    _kept(
        "DO21",
        "issue 5, 9",
        "Over MCP procedures are shown, and stored only when asked.",
        "learning:test_procedures_are_shown_and_stored_only_when_asked",
    ),
    _kept(
        "DO22",
        "issue 5, 10",
        "Over MCP another policy is tried on past recalls, and nothing is written.",
        "learning:test_another_policy_is_tried_on_past_recalls_and_nothing_is_written",
    ),
    _kept(
        "DO23",
        "issue 5, 6",
        "Over MCP a database decides about a fact, and both values are told.",
        "learning:test_a_database_decides_over_mcp_and_both_values_are_told",
    ),
    _kept(
        "DO24",
        "issue 5, 6",
        "Where no authority is set, verify says so and how to set one.",
        "learning:test_verify_without_an_authority_says_how_to_set_one",
    ),
    _kept(
        "DO25",
        "issue 5, 7",
        "Beside a prompt a memory says that a later message says otherwise, and names it.",
        "beside:test_what_a_later_message_overturned_says_so_beside_a_prompt",
    ),
    _kept(
        "DO26",
        "issue 5, 4",
        "Beside a prompt both sides of a contradiction say so, and that the user is to be asked.",
        "beside:test_both_sides_of_a_contradiction_say_so_beside_a_prompt",
    ),
    _kept(
        "DO27",
        "issue 5, 7",
        "Beside a prompt an ageing fact asks to be confirmed, unless its question is muted.",
        "beside:test_an_ageing_fact_asks_beside_a_prompt_until_it_is_muted_or_confirmed",
    ),
    _kept(
        "DO28",
        "issue 5, 7",
        "Beside a prompt remarks stand before the words, are few, and count for the budget.",
        "beside:test_remarks_stand_before_the_words_are_few_and_count_for_the_budget",
    ),
    _kept(
        "DO29",
        "issue 5, bad input",
        "On the command line a text to extract from has a role, and its notes inherit that trust.",
        "knowing:test_extract_is_told_whose_words_a_text_is",
    ),
    _kept(
        "DO30",
        "issue 5, 1",
        "To learn from a session that is not there is refused, and nothing is learned.",
        "knowing:test_learning_from_a_session_that_is_not_there_says_so",
    ),
    _kept(
        "DO31",
        "issue 5, 6",
        "On the command line verify tells no authority set from none that knows anything here.",
        "knowing:test_verify_without_an_authority_says_how_to_set_one",
    ),
    _kept(
        "DO32",
        "design 5, two time axes",
        "Where nothing related was true, or known, at the time asked for, recall says so and since when something is.",
        "knowing:test_where_nothing_was_known_then_recall_says_so_and_since_when_something_is",
    ),
    _kept(
        "DO33",
        "design 5, two time axes",
        "What has ended by the time asked for is no answer, and recall says that nothing was true then.",
        "knowing:test_what_has_ended_was_not_true_afterwards_and_nothing_is_said_of_a_later_beginning",
    ),
    _kept(
        "DO34",
        "issue 5",
        "On the command line who looks for facts that the policy does not learn is told how to have them.",
        "knowing:test_who_looks_for_facts_that_the_policy_does_not_learn_is_told_how_to_have_them",
    ),
    _kept(
        "DO35",
        "issue 5",
        "Over MCP too.",
        "learning:test_who_looks_for_facts_over_mcp_that_the_policy_does_not_learn_is_told_how_to_have_them",
    ),
    _kept(
        "DO36",
        "seed 001, session isolation",
        "On the command line a fact that one session alone sees says so.",
        "knowing:test_a_fact_that_one_session_sees_says_so",
    ),
    _kept(
        "DO37",
        "seed 001, session isolation",
        "Over MCP too, as data and as text.",
        "learning:test_a_fact_that_one_session_sees_says_so_over_mcp",
    ),
    _kept(
        "DO38",
        "issue 5, bad input",
        "What a command about knowledge cannot take is refused in a line with a remedy, and changes nothing.",
        "knowing:test_what_a_knowledge_command_cannot_take_is_refused_in_a_line_with_a_remedy_and_changes_nothing",
    ),
    _kept(
        "DO39",
        "issue 5, bad input",
        "What a tool about knowledge cannot take is an error with a remedy, and changes nothing.",
        "learning:test_what_a_knowledge_tool_cannot_take_is_an_error_with_a_remedy_and_changes_nothing",
    ),
    _kept(
        "DO40",
        "issue 5, bad input",
        "A predicate that is no word means no fact, not every one.",
        "knowing:test_a_predicate_that_is_no_word_means_no_fact",
    ),
    _kept(
        "DO41",
        "issue 5, 6",
        "An id that no authority has a word on is named.",
        "knowing:test_an_id_that_no_authority_knows_is_named",
    ),
    _kept(
        "DO42",
        "design §2, reversible",
        "A person's answer on the command line says how it is taken back.",
        "facts:test_an_answer_says_how_it_is_taken_back",
    ),
    _kept(
        "DO43",
        "issue 5 (11)",
        "A sheet leaves out no message that holds more of what is asked than its facts do.",
        "sheet:test_a_message_that_holds_more_of_what_is_asked_than_its_facts_stands_beside_them",
    ),
    _kept(
        "DO44",
        "issue 5 (11)",
        "What is not known is named by the word that says what is meant.",
        "sheet:test_a_word_that_may_mean_much_is_passed_over_for_one_that_says_what_is_meant",
    ),
    _kept(
        "DO45",
        "design §7",
        "A message of which one thing was replaced is marked where that is asked about.",
        "conflicts:test_of_a_message_that_says_two_things_one_that_was_replaced_is_marked_where_it_is_asked_about",
    ),
    _kept(
        "DO46",
        "design §7",
        "A fact stands before the messages whose word it took the place of.",
        "conflicts:test_what_a_person_corrected_stands_before_the_messages_that_it_overturns",
    ),
    _kept(
        "DO47",
        "issue 5, 4",
        "What was replaced at once is not called never true.",
        "facts:test_what_was_replaced_at_once_may_have_been_true_for_a_while",
    ),
    _kept(
        "DO48",
        "issue 5, bad input",
        "A refusal shows the beginning of a long value only.",
        "bounds:test_a_refusal_shows_the_beginning_of_a_long_value_only",
    ),
    _kept(
        "DO49",
        "design §7",
        "A note of the words of a fact that was replaced is marked beside a prompt and in no opening.",
        "beside:test_a_note_of_the_words_of_a_fact_that_was_replaced_is_marked_and_not_in_the_opening",
    ),
]

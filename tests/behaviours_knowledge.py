"""The ledger of knowledge: the stages, states and story of seed 002, and the doors to facts (issue 5)."""

from __future__ import annotations

from typing import Final

from ledger import keeper

_FILES: Final = {
    "story": "tests/operations/test_gai_media.py",
    "states": "tests/operations/test_states.py",
    "sheet": "tests/operations/test_answer_sheet.py",
    "why": "tests/operations/test_why_of_facts.py",
    "hooks": "tests/operations/test_hooks.py",
    "cli": "tests/interfaces/test_facts_cli.py",
    "mcp": "tests/interfaces/test_facts_mcp.py",
    "profiles": "tests/operations/test_profiles.py",
    "domain": "tests/operations/test_domain.py",
    "time": "tests/operations/test_facts_in_time.py",
    "docs": "tests/test_documents.py",
    "fence": "tests/stores/test_fence.py",
}


_kept: Final = keeper(_FILES)
_STORY: Final = "story:test_five_sessions_about_a_customer"
_ROW: Final = "states:test_each_row_of_the_table_of_facts_happens"

_SESSIONS: Final = [
    ("§5 day 0", "A question weighs 0.4, a statement 0.6, each known entity 0.05 more."),
    ("§5 day 0 (2)", "'Remember, they prefer Friday deliveries' makes one fact about the customer, at 0.7, said once."),
    ("§5 day 0 (3)", "A fact keeps the message and the words that said it; the message is unchanged."),
    ("§5 day 7", "After seven days effective confidence is 0.7 e^-0.07 = 0.65."),
    ("§5 day 7 (2)", "'Yes, Friday works' reinforces: 0.7 to 0.85, said twice."),
    ("§5 day 60", "After 53 more days it is 0.85 e^-0.53 = 0.50, and not asked about yet."),
    ("§5 day 60 (2)", "Being told again by the assistant is no confirmation."),
    ("§5 day 70", "Three sessions about a customer make a summary with its key facts."),
    ("§5 day 70 (2)", "A confirmed fact that is summed up is 0.05 surer, and its clock goes on."),
    ("§5 day 150", "143 days after validation it is ageing; recall returns the question with its date and value."),
    ("§5 day 150 (2)", "'Yes, that's correct' validates it: 0.90 to 0.92, said three times, active."),
    ("§5 day 155", "'Actually, they switched to Thursday' supersedes it: a new fact at 0.85, learned as a correction."),
    ("§5 day 155 (2)", "Both are linked, and the timeline shows until when each was true and believed."),
    ("§5 day 155 (3)", "The conflict is written down with its strategy and its outcome."),
    ("§5 day 155 (4)", "What was superseded is in no answer, and the summary is made anew."),
]
"""Section of the story -> what happens in it; all of them are one test, because each rests on those before."""

BEHAVIOURS: Final = [
    *(_kept(f"KN{n}", f"seed 002 {section}", text, _STORY) for n, (section, text) in enumerate(_SESSIONS, 1)),
    _kept("KN20", "seed 002 §1", "Active: what is said again or validated stays active, and is surer.", _ROW),
    _kept("KN21", "seed 002 §1 (2)", "Active to ageing: 90 days since validation, confirmed seldom.", _ROW),
    _kept("KN22", "seed 002 §1 (3)", "Active or ageing to superseded: replaced, or said to have ended.", _ROW),
    _kept("KN23", "seed 002 §1 (4)", "Active or ageing to invalidated: denied.", _ROW),
    _kept("KN24", "seed 002 §1 (5)", "Ageing to active: confirmed or said again.", _ROW),
    _kept(
        "KN25",
        "design §5",
        "An ageing fact that nobody answers for 90 more days is archived, and can be restored.",
        _ROW,
    ),
    _kept(
        "KN26",
        "issue 5 done",
        "Superseded and invalidated are final.",
        "states:test_superseded_and_invalidated_are_final",
    ),
    _kept(
        "KN27", "seed 002 §1 (6)", "Ageing is computed on reading, never stored.", "states:test_ageing_is_never_stored"
    ),
    _kept(
        "KN28",
        "seed 002 §1 (7)",
        "Episodes are created, active, consolidated; nothing makes one wrong.",
        "states:test_the_table_of_episodes_is_the_seeds_and_nothing_makes_one_wrong",
    ),
    _kept(
        "KN29",
        "seed 002 §1 (8)",
        "An episode is consolidated into one that stands for it, and undo brings it back.",
        "states:test_each_row_of_the_table_of_episodes_happens",
    ),
    _kept(
        "KN30",
        "issue 5 done (2)",
        "Both state machines are tables whose diagrams in the docs are generated.",
        "docs:test_generated_documents_are_up_to_date",
    ),
    _kept(
        "KN40",
        "issue 5 (11)",
        "An answer sheet tells what is known, how sure, since when, and from which words.",
        "sheet:test_what_is_known_comes_with_how_sure_since_when_and_from_which_words",
    ),
    _kept(
        "KN41",
        "issue 5 (11)",
        "What was replaced is out of date, with until when and by what.",
        "sheet:test_what_was_replaced_is_out_of_date_with_until_when_and_by_what",
    ),
    _kept(
        "KN42",
        "issue 5 (11)",
        "What was denied is told as never true, and nothing is believed instead.",
        "sheet:test_what_was_denied_is_told_as_never_true_and_nothing_is_believed_instead",
    ),
    _kept(
        "KN43",
        "issue 5 (5)",
        "Both sides of an open conflict are shown together.",
        "sheet:test_both_sides_of_a_conflict_are_shown_together",
    ),
    _kept(
        "KN44",
        "issue 5 (7)",
        "What is ageing comes with its question.",
        "sheet:test_what_is_ageing_comes_with_its_question",
    ),
    _kept("KN45", "issue 5 (11)", "What is not known is said.", "sheet:test_what_is_not_known_is_said"),
    _kept(
        "KN46",
        "issue 5 (11)",
        "A sheet stays within its budget and counts what it left out.",
        "sheet:test_it_stays_within_its_budget_and_counts_what_it_left_out",
    ),
    _kept(
        "KN47",
        "issue 5 (11)",
        "A sheet is the same each time, and reading it changes nothing.",
        "sheet:test_it_is_the_same_each_time_and_changes_nothing",
    ),
    _kept(
        "KN48",
        "issue 5 bad input",
        "Words of a memory cannot pass for lines of a sheet.",
        "sheet:test_words_of_a_memory_cannot_pass_for_lines_of_the_sheet",
    ),
    _kept(
        "KN49",
        "design §2",
        "What belongs to another session is on no sheet.",
        "sheet:test_what_belongs_to_another_session_is_not_shown",
    ),
    _kept(
        "KN50",
        "issue 5 (11)",
        "why traces a fact to the words of the message.",
        "why:test_a_fact_is_traced_to_the_words_of_the_message",
    ),
    _kept(
        "KN51",
        "issue 5 (11)",
        "Each change of confidence has its cause, and the operation that undo takes.",
        "why:test_each_change_of_confidence_has_its_cause_and_what_undoes_it",
    ),
    _kept(
        "KN52",
        "issue 5 (11)",
        "A conflict shows both sides, how it was decided and what came of it.",
        "why:test_a_conflict_shows_both_sides_how_it_was_decided_and_what_came_of_it",
    ),
    _kept("KN53", "issue 5 (11)", "What authorities said is listed.", "why:test_what_authorities_said_is_listed"),
    _kept(
        "KN54",
        "issue 5 (11)",
        "What comes next comes when why said it would.",
        "why:test_what_comes_next_comes_when_it_was_said",
    ),
    _kept(
        "KN55",
        "issue 5 (7)",
        "A muted fact is not asked about; a pinned one is never archived.",
        "why:test_what_ends_the_ageing_is_told",
    ),
    _kept(
        "KN56",
        "seed 002 stage 5",
        "A correction by a person has no message, and says so.",
        "why:test_a_correction_by_a_person_has_no_message_and_says_so",
    ),
    _kept(
        "KN60",
        "design §10",
        "Facts on the command line show value, confidence, since when and the words.",
        "cli:test_facts_are_shown_with_what_they_rest_on",
    ),
    _kept(
        "KN61",
        "design §10",
        "A correction replaces, and the timeline shows both.",
        "cli:test_a_correction_replaces_and_the_timeline_shows_both",
    ),
    _kept(
        "KN62",
        "issue 5 (7)",
        "Questions are answered by confirm, deny, correct and mute.",
        "cli:test_the_questions_of_a_day_are_answered",
    ),
    _kept(
        "KN63",
        "design §5",
        "Questions are capped by the day; an answer counts.",
        "cli:test_review_keeps_to_the_days_allowance_unless_told_otherwise",
    ),
    _kept(
        "KN64",
        "issue 5 (8)",
        "A summary is previewed, planned to a file and applied; an outdated plan is refused.",
        "cli:test_a_summary_is_previewed_planned_and_applied",
    ),
    _kept(
        "KN65",
        "issue 5 done",
        "What was taken in before is learned from once; undo takes it back.",
        "cli:test_what_was_taken_in_before_is_learned_from_once",
    ),
    _kept(
        "KN66",
        "issue 5 (11)",
        "perdure answer-sheet prints a sheet as text and as JSON.",
        "cli:test_an_answer_sheet_as_text_and_as_data",
    ),
    _kept(
        "KN70",
        "issue 5 (7)",
        "A client that can show forms asks the person at most the day's questions, and answers are written down.",
        "mcp:test_a_person_is_asked_at_most_the_questions_of_the_day_and_the_answers_are_written_down",
    ),
    _kept(
        "KN71",
        "issue 5 (7)",
        "Who declines or cancels changes nothing and is not asked again.",
        "mcp:test_who_declines_or_cancels_changes_nothing_and_is_not_asked_again",
    ),
    _kept(
        "KN72",
        "issue 5 (7)",
        "A client that cannot ask gets the questions as data and a plain tool.",
        "mcp:test_a_client_that_cannot_ask_gets_the_questions_as_data_and_a_plain_tool",
    ),
    _kept(
        "KN73",
        "issue 5 (7)",
        "A recall asks one thing, counts once, and answers with what the person said.",
        "mcp:test_a_recall_asks_one_thing_counts_once_and_answers_with_what_the_person_said",
    ),
    _kept(
        "KN74",
        "issue 5 (7)",
        "An answer in a form that cannot be understood changes nothing.",
        "mcp:test_an_answer_that_cannot_be_understood_changes_nothing",
    ),
    _kept(
        "KN75",
        "issue 5 (7)",
        "A client that fails to ask still gets its answer.",
        "mcp:test_a_client_that_fails_to_ask_still_gets_its_answer",
    ),
    _kept(
        "KN76",
        "design §10",
        "Facts, timelines, sheets, summaries and answers are tools.",
        "mcp:test_facts_timelines_sheets_and_summaries",
    ),
    _kept(
        "KN77",
        "issue 5 bad input",
        "Words of a message do not pass for the server's.",
        "mcp:test_words_of_a_message_do_not_pass_for_the_servers",
    ),
    _kept(
        "KN78",
        "design §5",
        "A session's start asks what the day allows.",
        "hooks:test_the_opening_asks_what_the_day_allows_and_an_answer_counts",
    ),
    _kept(
        "KN79",
        "design §8",
        "No verb about facts reaches past its connection's prefix.",
        "fence:test_no_verb_reaches_past_the_prefix_of_its_connection",
    ),
    _kept(
        "KN80",
        "issue 5",
        "The commands about facts in the README run.",
        "docs:test_the_commands_about_facts_in_the_readme_run",
    ),
    _kept(
        "KN81",
        "design §5",
        "Belief runs from the instant of learning to that of unlearning: no belief ends before it begins.",
        "time:test_what_is_taken_in_later_was_believed_by_nobody_before",
    ),
    _kept(
        "KN82",
        "design §5",
        "What was known before talk was taken in is what known_at answers, whatever the days of that talk.",
        "time:test_what_was_known_before_talk_was_taken_in_is_what_recall_says",
    ),
    _kept(
        "KN83",
        "issue 5 (11)",
        "A sheet about somebody leaves out what others have under the same predicate.",
        "sheet:test_a_sheet_about_somebody_leaves_out_what_others_have_under_the_same_predicate",
    ),
    _kept(
        "KN84",
        "issue 5 (11)",
        "A fact of another belongs on a sheet where it names whom the question names.",
        "sheet:test_a_fact_of_another_belongs_where_it_names_whom_the_question_names",
    ),
    _kept(
        "KN85",
        "issue 5 (11)",
        "In a question the first person is whoever speaks.",
        "sheet:test_the_first_person_is_whoever_speaks",
    ),
    _kept(
        "KN86",
        "issue 5 (11)",
        "What is asked of somebody and not known is said in those words.",
        "sheet:test_what_is_asked_of_somebody_and_not_known_is_said_in_those_words",
    ),
    _kept(
        "KN87",
        "issue 5 (11)",
        "What others have comes last, and only where nothing of whom is named answers.",
        "sheet:test_what_others_have_comes_last_where_nothing_of_whom_is_named_answers",
    ),
    _kept(
        "KN88",
        "issue 5 (5)",
        "A sheet leaves out no side of a conflict and nothing that was replaced by what it shows.",
        "sheet:test_no_side_of_a_conflict_and_nothing_that_was_replaced_is_left_out",
    ),
    _kept(
        "KN89",
        "issue 5 (11)",
        "A question's word is known where a predicate, a form or a day covers it.",
        "sheet:test_a_word_is_known_where_a_predicate_a_form_or_a_day_covers_it",
    ),
    _kept(
        "KN90",
        "design §5",
        "A sheet answers about another time on both axes, with what was contested then.",
        "time:test_an_answer_sheet_looks_back_on_both_axes",
    ),
    _kept(
        "KN91",
        "design §5",
        "A timeline is told as it was known at an instant.",
        "time:test_a_timeline_as_it_was_known",
    ),
    _kept(
        "KN92",
        "issue 5 (8)",
        "A summary's sentences end once, and no figure in it ages.",
        "profiles:test_its_sentences_end_once_and_no_figure_in_it_ages",
    ),
    _kept(
        "KN93",
        "issue 5 (8)",
        "A summary says how sure a fact is in a word, as of its day.",
        "profiles:test_how_sure_a_fact_is_is_said_in_a_word_as_of_a_day",
    ),
    _kept(
        "KN94",
        "issue 5 (11)",
        "A link is told from the end that is asked about.",
        "why:test_a_link_is_told_from_the_end_that_is_asked_about",
    ),
    _kept(
        "KN95",
        "issue 5 (11)",
        "How a conflict was decided is told in words.",
        "why:test_how_a_conflict_was_decided_is_told_in_words",
    ),
    _kept(
        "KN96",
        "issue 5 (6)",
        "why tells what a database has, on both sides of a conflict that it decided.",
        "domain:test_why_tells_what_the_database_has_on_both_sides_of_a_conflict",
    ),
    _kept(
        "KN97",
        "issue 5 (11)",
        "perdure why begins with the fact, and tells each reason once.",
        "cli:test_why_begins_with_the_fact_and_tells_each_reason_once",
    ),
    _kept(
        "KN98",
        "issue 5 (8)",
        "A summary is no source beside what it sums up.",
        "sheet:test_a_summary_is_no_source_beside_what_it_sums_up",
    ),
]

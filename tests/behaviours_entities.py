"""The ledger of entities: seed 002 stage 1 (names, aliases, coreference), issue 5."""

from __future__ import annotations

from typing import Final

from ledger import keeper

_FILES: Final = {
    "names": "tests/rules/test_naming.py",
    "work": "tests/operations/test_entities.py",
    "cli": "tests/interfaces/test_lifecycle_cli.py",
    "endings": "tests/operations/test_endings.py",
    "mcp": "tests/interfaces/test_lifecycle_mcp.py",
}


_kept: Final = keeper(_FILES)

BEHAVIOURS: Final = [
    _kept(
        "EN1",
        "seed 002 §1 (3)",
        "The same normal form is the same name: case, marks, articles, possessives are folded.",
        "names:test_names_have_one_normal_form",
    ),
    _kept(
        "EN2",
        "issue 5",
        "Empty, null, pronouns, marks and 10 kB are no names.",
        "names:test_what_is_no_name_has_no_normal_form",
    ),
    _kept(
        "EN3",
        "seed 002 §1 (3)",
        "Fuzzy matching: legal forms, slips, order, spacing, accents.",
        "names:test_a_name_means_an_entity",
    ),
    _kept(
        "EN4",
        "issue 5",
        "Different numbers, short names and different endings never match.",
        "names:test_other_names_mean_nobody",
    ),
    _kept(
        "EN5",
        "issue 5",
        "Two names that are nearly as near are ambiguous, not guessed.",
        "names:test_two_that_are_near_are_ambiguous_and_a_clearly_nearer_one_is_not",
    ),
    _kept(
        "EN6",
        "design §8",
        "knowledge.fuzzy decides how alike names must be.",
        "names:test_the_threshold_decides_how_alike",
    ),
    _kept(
        "EN7",
        "seed 002 §1 (3)",
        "Ids are readable, unique and work for every script.",
        "names:test_ids_are_readable_and_unique",
    ),
    _kept(
        "EN8",
        "seed 002 §1 (2)",
        "A message's names and ids are found, known ones in any case, the longest first.",
        "names:test_a_text_names",
    ),
    _kept(
        "EN9",
        "design §8",
        "Finding names takes time in proportion to the text.",
        "names:test_time_grows_with_the_text_and_not_faster",
    ),
    _kept(
        "EN10",
        "seed 002 §1 (5)",
        "They and the customer are the last entity that fits, or nobody where two fit equally.",
        "names:test_a_word_refers_to_the_last_that_fits_or_to_nobody",
    ),
    _kept("EN11", "seed 002 §1 (5)", "The first person is the speaker.", "names:test_the_first_person_is_the_speaker"),
    _kept(
        "EN12",
        "issue 5",
        "Who is meant depends on the last messages alone: a batch and one by one agree.",
        "names:test_what_is_referred_to_depends_on_the_last_messages_alone",
    ),
    _kept(
        "EN13",
        "issue 5",
        "An entity is shown with names, facts, memories and since when.",
        "work:test_an_entity_is_shown_with_its_names_facts_and_since_when",
    ),
    _kept(
        "EN14",
        "issue 5",
        "An ambiguous name is answered with the candidates by every verb.",
        "work:test_an_ambiguous_name_is_said_and_never_guessed",
    ),
    _kept(
        "EN15",
        "issue 5",
        "Aliases are editable, with undo.",
        "work:test_a_name_is_added_once_and_removed_and_both_are_undone",
    ),
    _kept(
        "EN16", "issue 5", "Circular aliases and merges are refused.", "work:test_circular_names_and_merges_are_refused"
    ),
    _kept(
        "EN17",
        "issue 5",
        "Entities named empty, null, SQL text or 10 kB do no harm.",
        "work:test_what_is_no_name_is_refused_and_odd_names_do_no_harm",
    ),
    _kept(
        "EN18",
        "issue 5",
        "A merge moves names, mentions and facts; its undo restores every row.",
        "work:test_a_merge_moves_names_mentions_and_facts_and_undo_restores_every_row",
    ),
    _kept(
        "EN19",
        "design §8",
        "What comes too late for a merge is seen and moved by the next.",
        "work:test_merges_go_on_through_several_and_move_what_came_too_late",
    ),
    _kept(
        "EN20",
        "issue 5",
        "A split takes the mentions that used the name, and their facts; undo brings them back.",
        "work:test_a_split_takes_the_mentions_that_used_the_name_and_their_facts",
    ),
    _kept(
        "EN21",
        "design §8",
        "Two processes may name and merge at once.",
        "work:test_two_processes_name_and_merge_at_once",
    ),
    _kept(
        "EN22",
        "issue 5",
        "perdure entity list, show, alias, merge, split.",
        "cli:test_entities_are_listed_named_merged_and_split",
    ),
    _kept(
        "EN24",
        "seed 002 §1 (3)",
        "'My sister Rita' is Rita, and a fact of the speaker: no entity of its own.",
        "endings:test_a_relative_is_an_entity_by_name_and_a_fact_of_whoever_speaks",
    ),
    _kept(
        "EN25",
        "seed 002 §1 (2)",
        "Days that come again are no names.",
        "names:test_days_that_come_again_are_no_names",
    ),
    _kept("EN23", "design §10", "The tools entities and entity_change.", "mcp:test_entities_are_shown_and_changed"),
]

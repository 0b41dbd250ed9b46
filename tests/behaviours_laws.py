"""The ledger of what holds for the whole lifecycle: undo, pairs, a year of use, and what upkeep costs in recall."""

from __future__ import annotations

from typing import Final

from ledger import Behaviour

_UNDO: Final = "tests/laws/test_undo.py::"
_PAIRS: Final = "tests/laws/test_pairs.py::"
_EVIDENCE: Final = "tests/operations/test_evidence.py::"

_ALL: Final = (
    (
        "design §1 C",
        "Each operation is taken back exactly and can be done again exactly.",
        f"{_UNDO}test_each_operation_is_taken_back_exactly_and_can_be_done_again",
    ),
    (
        "design §1 C",
        "Random sequences of all operations are taken back exactly, one by one.",
        f"{_UNDO}test_random_sequences_are_taken_back_exactly",
    ),
    ("design §1 C", "A plan is applied once.", f"{_UNDO}test_a_plan_is_applied_once"),
    (
        "SPEC-03.30",
        "Archived and consolidated memories are never deleted by maintenance.",
        f"{_UNDO}test_maintenance_never_deletes",
    ),
    (
        "design §1 D3",
        "What says the opposite is not merged, on real contradictions.",
        "tests/rules/test_meaning.py::test_no_contradiction_of_sick_is_merged",
    ),
    (
        "issue 4, Done when",
        "A year of use with two processes and random kills ends sound, explained, and with every digest in budget.",
        "tests/faults/test_year.py::test_a_year_of_use_ends_sound_and_explained",
    ),
    (
        "design §2",
        "balanced keeps at least 98 % of recall@10 over 200 days of upkeep without feedback.",
        f"{_EVIDENCE}test_200_days_of_daily_upkeep_without_feedback_keep_what_is_asked_for",
    ),
    (
        "issue 4, Numbers",
        "A store of half, and of a quarter, of the tokens still finds what is asked for.",
        f"{_EVIDENCE}test_a_bounded_store_still_finds_what_is_asked_for",
    ),
    (
        "seed 000 §4.6",
        "The pairs are those of comparing everything.",
        f"{_PAIRS}test_the_pairs_are_those_of_comparing_everything",
    ),
    ("seed 000 §4.6", "The order of rows does not matter.", f"{_PAIRS}test_the_order_of_rows_does_not_matter"),
    (
        "seed 000 §4.6",
        "Cells find no pair twice and none that is not there.",
        f"{_PAIRS}test_cells_find_no_pair_twice_and_none_that_is_not_there",
    ),
    (
        "issue 4, Numbers",
        "Cells find nearly all planted duplicates.",
        f"{_PAIRS}test_cells_find_nearly_all_planted_duplicates",
    ),
    (
        "seed 000 §4.6",
        "Blocks lose no pair across their edges.",
        f"{_PAIRS}test_blocks_lose_no_pair_across_their_edges",
    ),
    (
        "field: traps",
        "A hundred thousand copies are linked to the first.",
        f"{_PAIRS}test_a_hundred_thousand_copies_are_linked_to_the_first_and_do_not_explode",
    ),
    (
        "seed 000 §4.6",
        "Copies that differ by rounding alone are copies.",
        f"{_PAIRS}test_copies_that_differ_by_rounding_alone_are_copies",
    ),
    (
        "field: traps",
        "Too many pairs leave the most similar, and it is said.",
        f"{_PAIRS}test_too_many_pairs_leave_the_most_similar_and_say_so",
    ),
    (
        "design §8",
        "int8 rows give the pairs of their directions.",
        f"{_PAIRS}test_int8_rows_give_the_pairs_of_their_directions",
    ),
    ("seed 000 §4.6", "The length of vectors does not matter.", f"{_PAIRS}test_length_does_not_matter"),
    ("seed 000 §4.6", "Rows of zeros are like nothing.", f"{_PAIRS}test_zero_rows_are_like_nothing"),
    ("seed 000 §4.6", "Fewer than two rows have no pair.", f"{_PAIRS}test_fewer_than_two_rows_have_no_pair"),
    ("seed 000 §4.6", "What cannot be searched is refused.", f"{_PAIRS}test_what_cannot_be_searched_is_refused"),
    ("seed 000 §4.6", "Cosines of given pairs are exact.", f"{_PAIRS}test_cosines_of_given_pairs"),
    ("seed 000 §4.6", "Jaccard is what is shared over all.", f"{_PAIRS}test_jaccard_is_shared_over_all"),
    (
        "seed 000 §4.6",
        "Jaccard of many pairs is that of each.",
        f"{_PAIRS}test_jaccard_of_many_pairs_is_that_of_each",
    ),
    (
        "seed 000 §4.2",
        "No pair below the cosine that is needed reaches the threshold.",
        f"{_PAIRS}test_no_pair_below_the_cosine_needed_reaches_the_threshold",
    ),
    ("seed 000 §4.7", "Words weigh three tenths.", f"{_PAIRS}test_the_seed_weighs_words_three_tenths"),
)

BEHAVIOURS: Final = [Behaviour(f"LA{n}", source, text, test=test) for n, (source, text, test) in enumerate(_ALL, 1)]

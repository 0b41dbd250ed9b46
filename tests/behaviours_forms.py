"""The ledger of shorter forms and of the bounded store (seed 004 sections 3 and 6.2; design 1, 3, 4)."""

from __future__ import annotations

from typing import Final

from ledger import Behaviour, keeper

_FILES: Final = {
    "forms": "tests/rules/test_forms.py",
    "fitting": "tests/rules/test_fitting.py",
    "compressing": "tests/operations/test_compressing.py",
    "fit": "tests/operations/test_fitting.py",
    "short": "tests/rules/test_shortening.py",
    "stores": "tests/stores/test_forms.py",
}


_kept: Final = keeper(_FILES)


_LADDER: Final = (
    ("seed 004 §3.1", "Full shows the whole text.", "forms:test_each_form_of_a_text_has_its_size"),
    (
        "seed 004 §3.1",
        "A summary of a text of 4,500 tokens has at most 150, keywords at most 20, the bare form none.",
        "forms:test_a_summary_of_a_long_text_has_the_seeds_150_tokens_and_its_keywords_20",
    ),
    (
        "seed 004 §3.1",
        "A form that is taken is shorter, and key facts are retained.",
        "forms:test_a_form_that_is_taken_is_shorter_and_loses_nothing_that_the_guard_checks",
    ),
    (
        "seed 004 §3.2, 6.2",
        "Full to summary after 24 hours at value 0.6, to keywords after 7 days, by themselves.",
        "compressing:test_the_seeds_triggers_compress_by_themselves",
    ),
    (
        "seed 004 §3.2, 6.2",
        "Keywords to embedding after 30 days at value 0.2, never accessed.",
        "forms:test_what_is_carried_out_has_sizes_and_reasons",
    ),
    (
        "design §2, 4",
        "The balanced policy compresses late, and only long texts.",
        "compressing:test_balanced_compresses_late_and_only_long_texts",
    ),
    ("design §4", "Hot memories show their full text in a store, too.", "compressing:test_hot_stays_full"),
    (
        "design §4",
        "Pinned and vault memories are never shortened.",
        "compressing:test_pinned_and_vault_memories_are_never_shortened",
    ),
    (
        "seed 004 §6.2",
        "Any form goes back to full at a user's request, byte for byte.",
        "compressing:test_any_full_text_comes_back_byte_for_byte",
    ),
    (
        "design §4",
        "Code, odd Unicode and a text of 1 MB come back byte for byte.",
        "compressing:test_the_full_text_comes_back_byte_for_byte",
    ),
    (
        "design §4",
        "A form that was restored is not taken back by the next sweep.",
        "compressing:test_what_was_restored_is_not_taken_back_by_the_next_sweep",
    ),
    (
        "design §1 C",
        "Undo of every compressing sweep restores texts, states, vectors and measures.",
        "compressing:test_undo_of_every_compressing_sweep_restores_the_store",
    ),
    (
        "design §4",
        "A compressed memory is found by words that it no longer shows.",
        "compressing:test_words_that_are_no_longer_shown_still_find_a_memory",
    ),
    (
        "design §1 D3",
        "A form that loses a number, a negation or a name is refused once, and the journal says why.",
        "compressing:test_the_guard_stops_a_form_once_and_says_why",
    ),
    (
        "design §1 D3",
        "A memory whose form was refused keeps the one it has, and is not due for it again.",
        "forms:test_a_refused_form_ends_the_descent_and_is_not_due_again",
    ),
    (
        "design §4",
        "A late compressing sweep ends where timely ones end.",
        "compressing:test_a_late_sweep_ends_where_timely_ones_end",
    ),
    (
        "issue: compression ladder",
        "A model's summary must pass the same guard; where it fails, the deterministic one is taken.",
        "compressing:test_a_models_summary_is_taken_where_it_passes_the_guard",
    ),
    (
        "issue: compression ladder",
        "Chinese texts have forms or stay whole.",
        "compressing:test_chinese_talk_is_shortened_and_comes_back",
    ),
    (
        "seed 004 §3.3",
        "Preservation is a cosine, efficiency is ratio times preservation, checked by hand.",
        "forms:test_ratio_preservation_and_efficiency_by_hand",
    ),
    (
        "seed 004 §3.3",
        "Preservation and efficiency are rounded to four places.",
        "forms:test_preservation_and_efficiency_have_four_places",
    ),
    (
        "seed 004 §3.3",
        "Precision, recall and F1 of queries, with the seed's edge cases, checked by hand.",
        "forms:test_query_accuracy_by_hand",
    ),
    (
        "seed 004 §3.3",
        "A report tells what forms keep and what past recalls still find.",
        "compressing:test_the_report_tells_what_forms_keep_and_what_recalls_still_find",
    ),
    (
        "design §4",
        "A form whose meaning is too little like the whole text's is not taken.",
        "forms:test_a_form_whose_meaning_is_another_is_refused",
    ),
)
_BOUNDED: Final = (
    (
        "A namespace is brought within its budget by shorter forms.",
        "fit:test_a_namespace_is_brought_within_its_budget_shorter_forms_first",
    ),
    (
        "Nothing is set aside while shorter forms suffice.",
        "fitting:test_nothing_is_set_aside_while_shorter_forms_suffice",
    ),
    (
        "What loses the least worth for each token goes first.",
        "fitting:test_what_loses_the_least_for_each_token_goes_first",
    ),
    (
        "What is set aside is what is worth the least.",
        "fit:test_what_is_still_too_much_is_set_aside_the_least_worth_first",
    ),
    (
        "Exempt memories stay whatever the budget, also those that waiting accesses bring to hot.",
        "fit:test_exempt_memories_stay_whatever_the_budget",
    ),
    (
        "A dry run changes nothing, and its plans apply exactly.",
        "fit:test_a_dry_run_changes_nothing_and_its_plans_apply_exactly",
    ),
    ("The choice is deterministic.", "fit:test_the_same_namespace_is_fitted_the_same_way"),
    (
        "Texts are read only where a shorter form may be next, and that changes no choice.",
        "fitting:test_forms_that_become_known_on_the_way_change_nothing",
    ),
    ("Undo of every plan restores the store.", "fit:test_undo_of_every_plan_restores_the_store"),
    ("Plans are of at most a thousand memories.", "fit:test_many_memories_become_several_operations"),
    ("Waiting accesses are neither lost nor counted twice.", "fit:test_waiting_accesses_are_counted_once"),
    (
        "What others decide meanwhile stands, and the rest is chosen anew.",
        "fit:test_what_others_decide_meanwhile_stands",
    ),
    (
        "The tokens that are told are those that were reached, where forms are refused after the choice.",
        "fit:test_forms_that_keep_too_little_of_the_meaning_are_chosen_around",
    ),
    (
        "The loss budget limits how many are set aside in a day, and the rest is told.",
        "fit:test_the_loss_budget_lets_some_be_set_aside_each_day",
    ),
    (
        "What a golden query asks for is spared and told.",
        "fit:test_what_a_golden_query_asks_for_is_spared_and_told",
    ),
    (
        "Sweeps keep a namespace within the policy's budget.",
        "fit:test_sweeps_keep_a_bounded_namespace_within_its_budget",
    ),
    (
        "What a person restored is left alone for a day.",
        "fit:test_a_bounded_namespace_leaves_what_was_restored_for_a_day",
    ),
)

BEHAVIOURS: Final = [
    *(_kept(f"FORM{n}", source, text, test) for n, (source, text, test) in enumerate(_LADDER, 1)),
    *(_kept(f"FIT{n}", "issue: bounded store", text, test) for n, (text, test) in enumerate(_BOUNDED, 1)),
    _kept(
        "FORM98",
        "design §4",
        "A policy may search only the words that are shown.",
        "stores:test_a_policy_may_search_only_the_words_that_are_shown",
    ),
    Behaviour(
        "FORM99",
        "design §4",
        "A policy may forbid keeping the whole text.",
        deferred="no plan is irreversible: what must not be kept is erased (docs/decisions/0014-forms.md)",
    ),
]

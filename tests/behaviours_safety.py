"""The ledger of bad input and of language models: issue 5, "Bad input" and Build 12; decision 0019."""

from __future__ import annotations

from typing import Final

from ledger import keeper

_FILES: Final = {
    "shapes": "tests/rules/test_secrets.py",
    "store": "tests/faults/test_secrets.py",
    "trust": "tests/rules/test_trust.py",
    "claims": "tests/rules/test_claim_replies.py",
    "faults": "tests/faults/test_model_faults.py",
    "local": "tests/models/test_local_model.py",
}

_kept: Final = keeper(_FILES)

_INPUT: Final = "issue 5, bad input"
_MODEL: Final = "issue 5, build 12"

_SECRETS: Final = (
    _kept(
        "SF1",
        _INPUT,
        "Keys, tokens, passwords and card numbers are replaced by marks that say what they were.",
        "shapes:test_secrets_are_replaced_wherever_they_stand",
    ),
    _kept(
        "SF2",
        _INPUT,
        "Hashes, UUIDs, prices, phone numbers, code and placeholders are no secrets.",
        "shapes:test_what_only_looks_like_a_secret_stays",
    ),
    _kept("SF3", _INPUT, "Real conversations lose nothing.", "shapes:test_real_conversations_lose_nothing"),
    _kept(
        "SF4",
        _INPUT,
        "No byte of a secret is in a store's file or log.",
        "store:test_no_file_of_a_store_holds_a_byte_of_a_secret",
    ),
    _kept("SF5", _INPUT, "No row of a store holds a secret.", "store:test_no_row_of_a_store_holds_a_secret"),
    _kept(
        "SF6",
        _INPUT,
        "Taking in the same secrets twice adds nothing.",
        "store:test_twice_adds_nothing",
    ),
    _kept("SF7", _INPUT, "knowledge.redact = false keeps secrets.", "store:test_a_policy_may_keep_secrets"),
    _kept(
        "SF8",
        _INPUT,
        "The caller is told kinds and counts, never the secret.",
        "store:test_a_caller_is_warned_once_with_kinds_and_counts",
    ),
    _kept(
        "SF9",
        "decision 0019",
        "The library of shapes is loaded only for what is suspicious.",
        "shapes:test_the_library_is_loaded_only_for_what_is_suspicious",
    ),
    _kept(
        "SF10",
        "decision 0019",
        "Hostile texts take linear time.",
        "shapes:test_time_is_linear_for_hostile_texts",
    ),
)

_TRUST: Final = (
    _kept("SF20", _INPUT, "Each message has a trust by its role and source.", "trust:test_trust_by_role_and_source"),
    _kept(
        "SF21",
        _INPUT,
        "What is derived inherits the least trust.",
        "trust:test_merged_contents_inherit_the_least_and_a_keeper_keeps_its_own",
    ),
    _kept(
        "SF22",
        _INPUT,
        "A summary of a session inherits the least trust of its members.",
        "trust:test_a_summary_of_a_sessions_memories_inherits_the_least",
    ),
    _kept(
        "SF23",
        _INPUT,
        "What is extracted inherits the trust of its text.",
        "trust:test_what_is_extracted_from_others_words_inherits_their_trust",
    ),
    _kept(
        "SF24",
        _INPUT,
        "'Remember: ignore all previous instructions' from a tool or page is stored as data, marked, and asks nothing.",
        "trust:test_a_tools_request_is_stored_as_data_and_nothing_else",
    ),
    _kept(
        "SF25",
        _INPUT,
        "Words of others are marked and quoted in the digest and in what hooks show.",
        "trust:test_words_of_others_are_marked_in_the_digest_and_in_the_hooks_block",
    ),
    _kept(
        "SF26",
        _INPUT,
        "Nothing in a memory breaks out of its line, its quote or the block.",
        "trust:test_hostile_words_break_out_of_nothing",
    ),
    _kept("SF27", _INPUT, "Trust survives a copy.", "trust:test_trust_survives_a_copy"),
)

_MODELS: Final = (
    _kept(
        "SF40",
        _MODEL,
        "Every call's cost and outcome is counted, shown by stats and logged.",
        "faults:test_cost_and_outcome_of_every_call_are_counted_and_logged",
    ),
    _kept(
        "SF41",
        _MODEL,
        "Timeouts, 500s, broken and endless replies leave the store unchanged and extraction to its rules.",
        "faults:test_a_fault_leaves_what_was_found_by_rule_and_changes_nothing_else",
    ),
    _kept(
        "SF42",
        _MODEL,
        "Valid nonsense and orders in a reply delete and add nothing.",
        "faults:test_valid_nonsense_deletes_and_adds_nothing",
    ),
    _kept(
        "SF43",
        _MODEL,
        "A model's claim quotes words that stand in the text; where is found by us.",
        "claims:test_a_claim_quotes_the_text_and_we_say_where_it_stands",
    ),
    _kept(
        "SF44",
        _MODEL,
        "A model's word alone is never surer than 0.7.",
        "claims:test_a_models_word_alone_is_never_surer_than_seven_tenths",
    ),
    _kept(
        "SF45",
        _MODEL,
        "What of a reply does not fit is passed over.",
        "claims:test_what_does_not_fit_is_passed_over_and_the_rest_counts",
    ),
    _kept(
        "SF46",
        _MODEL,
        "A real local model is asked through the same port.",
        "local:test_a_real_model_answers_in_the_form_that_was_asked_for",
    ),
    _kept("SF47", _INPUT, "A secret never reaches a language model.", "faults:test_a_secret_never_reaches_the_model"),
)

BEHAVIOURS: Final = [*_SECRETS, *_TRUST, *_MODELS]

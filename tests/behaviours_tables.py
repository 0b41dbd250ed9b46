"""The ledger of the seeds' lists and tables: one line for each listed test of seed 000 and each row of 003 and 004.

The ids are the rows' own names: ``tests/test_behaviours.py`` lists them again and fails where one is missing.
"""

from __future__ import annotations

from typing import Final

from ledger import keeper

_kept: Final = keeper(
    {
        "alike": "tests/rules/test_duplicates.py",
        "decay": "tests/operations/test_decay.py",
        "extract": "tests/operations/test_extract.py",
        "forms": "tests/rules/test_forms.py",
        "moves": "tests/rules/test_compression_moves.py",
        "compress": "tests/operations/test_compressing.py",
        "numbers": "tests/rules/test_seed_numbers.py",
        "overrides": "tests/operations/test_overrides.py",
        "reinforce": "tests/operations/test_reinforce.py",
        "state": "tests/rules/test_merging_plan.py",
        "tables": "tests/rules/test_seed_tables.py",
    }
)

_LISTED: Final = [
    _kept("000-4.8-basic", "seed 000 §4.8", "Duplicates form groups.", "alike:test_find_duplicate_groups_basic"),
    _kept("000-4.8-union", "seed 000 §4.8", "What is connected is one group.", "alike:test_union_find_correctness"),
    _kept("000-4.8-newest", "seed 000 §4.8", "keep_newest keeps the newest.", "alike:test_strategy_keep_newest"),
    _kept("000-4.8-oldest", "seed 000 §4.8", "keep_oldest keeps the oldest.", "alike:test_strategy_keep_oldest"),
    _kept(
        "000-4.8-importance",
        "seed 000 §4.8",
        "keep_highest_importance keeps the most important.",
        "alike:test_strategy_keep_highest_importance",
    ),
    _kept("000-4.8-content", "seed 000 §4.8", "merge_content joins the texts.", "alike:test_strategy_merge_content"),
    _kept("000-4.8-metadata", "seed 000 §4.8", "Tags and metadata are merged.", "alike:test_metadata_merging"),
    _kept(
        "000-8-rule-1",
        "seed 000 §8",
        "Decay and reinforcement balance: what is reinforced settles between floor and maximum.",
        "reinforce:test_decay_and_reinforcement_find_a_balance",
    ),
    _kept(
        "000-8-rule-2",
        "seed 000 §8",
        "What is extracted is compared with what is there before it is stored.",
        "extract:test_deduplication_against_existing",
    ),
    _kept(
        "000-8-rule-3",
        "seed 000 §8",
        "Consolidation boosts sources before it archives them.",
        "state:test_sources_are_boosted_before_they_go_within_the_daily_cap",
    ),
    _kept(
        "000-8-rule-4",
        "seed 000 §8",
        "Extracted memories start with importance 0.4, others with 0.5.",
        "extract:test_extract_stores_memories",
    ),
]

_STRENGTH: Final = [
    _kept(
        f"003-{name}",
        "seed 003, default configuration",
        f"{name} has the seed's value in each column.",
        f"tables:test_a_row_of_strength_by_scope[003-{name}]",
    )
    for name in (
        "baseline_strength",
        "passive_half_life_seconds",
        "reinforcement_half_life_seconds",
        "staleness_half_life_seconds",
        "max_decay_per_cycle",
        "manual_decay_multiplier",
        "reinforcement_unit",
        "forgetting_threshold",
    )
]

_WEIGHTS: Final = [
    _kept(
        f"004-1.2-{name}",
        "seed 004 §1.2",
        f"{name} has the seed's weight.",
        f"tables:test_a_row_of_the_weights_of_value[004-1.2-{name}]",
    )
    for name in ("retention_value", "uniqueness", "confidence", "access_recency")
]

_SCHEDULE: Final = [
    _kept(
        f"004-2.2-{count}",
        "seed 004 §2.2",
        f"Reinforced {count} times, a memory has the seed's strength and retention at 30 days.",
        f"tables:test_a_row_of_the_schedule_of_reinforcement[004-2.2-{count}]",
    )
    for count in ("0", "1", "2", "3", "4+")
]

_LEVELS: Final = [
    _kept(f"004-3.1-{form}", "seed 004 §3.1", text, test)
    for form, text, test in (
        ("full", "The level full is the whole text.", "forms:test_each_form_of_a_text_has_its_size"),
        (
            "summary",
            "The level summary turns 4,500 tokens into at most 150.",
            "forms:test_a_summary_of_a_long_text_has_the_seeds_150_tokens_and_its_keywords_20",
        ),
        (
            "keywords",
            "The level keywords has at most 20 tokens.",
            "forms:test_a_summary_of_a_long_text_has_the_seeds_150_tokens_and_its_keywords_20",
        ),
        (
            "embedding",
            "The level embedding shows no text and is still found by meaning and by words.",
            "compress:test_words_that_are_no_longer_shown_still_find_a_memory",
        ),
    )
]

_TIERS: Final = [
    _kept(f"004-4.1-{tier}", "seed 004 §4.1", text, test)
    for tier, text, test in (
        (
            "HOT",
            "Hot: 24 hours, full only.",
            "moves:test_hot_stays_full_and_is_compressed_once_it_has_left",
        ),
        (
            "WARM",
            "Warm: 7 days, value from 0.3 on; an access keeps it warm.",
            "numbers:test_an_access_keeps_a_warm_memory_warm_for_another_7_days",
        ),
        (
            "COLD",
            "Cold: 30 days; one access wakes it.",
            "numbers:test_cold_rises[004-5.2-cold-accessed-to-warm]",
        ),
        (
            "ARCHIVE",
            "The vault is for ever: it is left only by hand.",
            "overrides:test_the_vault_is_left_only_by_hand_and_ages_start_anew",
        ),
    )
]

_DECISIONS: Final = [
    _kept(f"004-6.1-{decision}", "seed 004 §6.1", text, f"numbers:{test}")
    for decision, text, test in (
        (
            "HOT-entry",
            "Hot is entered at value 0.7, inclusive, or by the last 10 messages.",
            "test_hot_entry_is_inclusive[004-6.1-score-at-0.65-enters-hot]",
        ),
        (
            "HOT-exit",
            "Hot is left when it is older than 24 hours and its value is below 0.6.",
            "test_hot_leaves_after_24_hours[004-6.1-hot-exit-after-24-hours-below-0.6-to-warm]",
        ),
        (
            "WARM-entry",
            "Warm is entered from 0.3 to 0.7.",
            "test_hot_entry_is_inclusive[004-6.1-score-below-enters-warm]",
        ),
        (
            "WARM-exit",
            "Warm is left after 7 days or below 0.3.",
            "test_warm_to_cold[004-6.1-warm-exit-after-7-days]",
        ),
        (
            "COLD-entry",
            "Cold is entered from warm below 0.3.",
            "test_warm_to_cold[004-6.1-warm-exit-below-0.3]",
        ),
        (
            "COLD-exit",
            "Cold is left after 30 days below 0.1: archived, where the seed deletes.",
            "test_cold_to_archived[004-6.1-cold-exit-30-days-below-0.1]",
        ),
        (
            "ARCHIVE-entry",
            "The vault is entered at value 0.8 with 5 accesses.",
            "test_an_access_lifts_by_value[004-6.1-vault-at-0.8-and-5-accesses]",
        ),
    )
]

_TRIGGERS: Final = [
    *(
        _kept(
            f"004-6.2-{step}",
            "seed 004 §6.2",
            f"{step} has the seed's age, value and accesses.",
            f"tables:test_a_row_of_the_triggers_of_compression[004-6.2-{step}]",
        )
        for step in ("full-to-summary", "summary-to-keywords", "keywords-to-embedding")
    ),
    _kept(
        "004-6.2-any-to-full",
        "seed 004 §6.2",
        "Any form becomes the full text again at a user's request.",
        "compress:test_any_full_text_comes_back_byte_for_byte",
    ),
]

BEHAVIOURS: Final = [
    *_LISTED,
    *_STRENGTH,
    *_WEIGHTS,
    *_SCHEDULE,
    *_LEVELS,
    *_TIERS,
    *_DECISIONS,
    *_TRIGGERS,
]

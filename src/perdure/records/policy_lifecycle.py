"""Policy keys of the lifecycle: strength, use, compression, consolidation, extraction, tasks, upkeep, the model.

May live here: the keys. May not: what keys mean together (rules/policy_check.py).
"""

from __future__ import annotations

from dataclasses import dataclass

from perdure.records.policy_key import protected_key, store_key

_YEAR = 31_557_600.0
_BASELINE = "Activation that remains without reinforcement, before importance adds to it."
_PASSIVE = "Seconds until half of the way to the target strength is gone."
_ENERGY = "Seconds until reinforcement energy halves."
_DROP = "The most that an hour may take from strength."
_MANUAL = "Decay by hand may take this many times as much at once."
_UNIT = "Energy of one reinforcement of amount 1."
_FORGET = "Forgotten at or below this strength, before importance lowers it."


@dataclass(frozen=True, slots=True)
class StrengthPolicy:
    """Activation of task memories, and what all scopes share."""

    baseline: float = store_key(0.05, _BASELINE, 0, 1)
    passive_half_life: float = store_key(1800.0, _PASSIVE, 1, _YEAR)
    reinforcement_half_life: float = store_key(900.0, _ENERGY, 1, _YEAR)
    max_decay_per_cycle: float = store_key(0.3, _DROP, 0.0001, 1)
    manual_multiplier: float = store_key(3.0, _MANUAL, 1, 100)
    unit: float = store_key(1.0, _UNIT, 0.01, 100)
    forgetting_threshold: float = store_key(0.1, _FORGET, 0, 1)
    staleness_half_life: float = store_key(
        7200.0, "Seconds until energy also halves because of disuse; all scopes.", 1, _YEAR
    )
    minimum: float = store_key(0.02, "Strength is never below this; all scopes.", 0, 1)
    maximum: float = store_key(1.0, "Strength is never above this; all scopes.", 0.1, 1)
    importance_weight: float = store_key(0.25, "What importance adds to the baseline; all scopes.", 0, 1)
    scale: float = store_key(3.0, "Energy that brings strength 63 % of the way to its maximum; all scopes.", 0.1, 100)
    reinforcement_importance_weight: float = store_key(
        0.6, "How much importance multiplies a reinforcement; all scopes.", 0, 2
    )
    max_level: float = store_key(12.0, "Energy is never above this; all scopes.", 0.1, 1000)
    max_step: float = store_key(0.25, "The most that one reinforcement adds to strength; all scopes.", 0.01, 1)
    forgetting_importance_weight: float = store_key(0.08, "How much importance lowers the threshold; all scopes.", 0, 1)
    floor: float = store_key(0.02, "The threshold is never below this; all scopes.", 0, 1)


@dataclass(frozen=True, slots=True)
class SessionStrengthPolicy:
    """Activation of session memories, where it differs from [strength]."""

    baseline: float = store_key(0.06, _BASELINE, 0, 1)
    passive_half_life: float = store_key(2400.0, _PASSIVE, 1, _YEAR)
    reinforcement_half_life: float = store_key(1200.0, _ENERGY, 1, _YEAR)
    max_decay_per_cycle: float = store_key(0.25, _DROP, 0.0001, 1)
    manual_multiplier: float = store_key(3.0, _MANUAL, 1, 100)
    unit: float = store_key(1.2, _UNIT, 0.01, 100)
    forgetting_threshold: float = store_key(0.12, _FORGET, 0, 1)


@dataclass(frozen=True, slots=True)
class LongTermStrengthPolicy:
    """Activation of long-term memories, where it differs from [strength]."""

    baseline: float = store_key(0.08, _BASELINE, 0, 1)
    passive_half_life: float = store_key(43200.0, _PASSIVE, 1, _YEAR)
    reinforcement_half_life: float = store_key(14400.0, _ENERGY, 1, _YEAR)
    max_decay_per_cycle: float = store_key(0.15, _DROP, 0.0001, 1)
    manual_multiplier: float = store_key(2.0, _MANUAL, 1, 100)
    unit: float = store_key(0.9, _UNIT, 0.01, 100)
    forgetting_threshold: float = store_key(0.08, _FORGET, 0, 1)


@dataclass(frozen=True, slots=True)
class UsePolicy:
    """What being useful, or wrong, does to a memory."""

    boost: float = store_key(0.1, "Added to the importance of a memory that was helpful.", 0, 0.5)
    strength: float = store_key(1.0, "Amount of reinforcement of a memory that was helpful.", 0, 10)
    wrong_factor: float = store_key(0.5, "What is left of the confidence of a memory that was wrong.", 0, 1)
    detect: bool = store_key(default=True, text="Notice by itself when an ingested reply quotes a hit.")
    quoted: float = store_key(0.6, "A reply that says this share of a hit's words has used it.", 0.1, 1)
    window_minutes: float = store_key(30.0, "A reply uses recalls that are at most so old.", 1, 1440)
    skip_echoes: bool = store_key(
        default=True, text="A message that only repeats recalled memories is not learned again."
    )


@dataclass(frozen=True, slots=True)
class CompressionPolicy:
    """When a memory shows a shorter form; the whole text is kept and searched."""

    rule: str = store_key(
        "triggers", "Whether the triggers below compress by themselves.", choices=("triggers", "never")
    )
    least_tokens: int = store_key(40, "Shorter texts are left as they are by the triggers.", 0, 100_000)
    summary_hours: float = store_key(720.0, "Hours of age from which a summary is shown.", 0, 876_000)
    summary_value: float = store_key(0.4, "... at this value or below.", 0, 1)
    summary_accesses: int = store_key(3, "... and at most this many accesses.", 0, 1000)
    keywords_days: float = store_key(180.0, "Days of age from which keywords are shown.", 0, 36_500)
    keywords_value: float = store_key(0.25, "... at this value or below.", 0, 1)
    keywords_accesses: int = store_key(0, "... and at most this many accesses.", 0, 1000)
    embedding_days: float = store_key(3650.0, "Days of age from which no text is shown.", 0, 36_500)
    embedding_value: float = store_key(0.2, "... at this value or below.", 0, 1)
    embedding_accesses: int = store_key(0, "... and at most this many accesses.", 0, 1000)
    summary_tokens: int = store_key(150, "Tokens of the summary of a long text, about.", 20, 10_000)
    keyword_tokens: int = store_key(20, "Most tokens of keywords, about; of a short text a fifth.", 4, 1000)
    preservation: float = store_key(
        0.5, "A form whose meaning is less like the text's than this (cosine) is not taken.", 0, 1
    )
    visible_tokens: int = store_key(
        0, "Tokens of a namespace that recall may return; 0 for no limit.", 0, 1_000_000_000
    )


@dataclass(frozen=True, slots=True)
class ConsolidatePolicy:
    """Merging duplicates."""

    content_weight: float = store_key(0.3, "Weight of shared words against semantic similarity.", 0, 1)
    merge_at: float = store_key(0.90, "A pair is labelled MERGE from this likeness on, with merge_overlap.", 0.5, 1)
    merge_overlap: float = store_key(0.50, "Share of common words that MERGE also needs.", 0, 1)
    review_at: float = store_key(0.80, "A pair is labelled REVIEW from this likeness on.", 0.5, 1)
    link_at: float = store_key(0.75, "A pair is labelled LINK from this likeness on.", 0.5, 1)
    require_dry_run: bool = protected_key(default=True, text="Merging needs a dry run of the same before.")
    boost: float = store_key(0.1, "Added to the importance of what others are merged into.", 0, 0.5)
    exact_up_to: int = store_key(
        50_000, "Up to this many vectors every pair is compared; above it only vectors of near cells.", 1000, 1_000_000
    )


@dataclass(frozen=True, slots=True)
class ExtractPolicy:
    """Taking memories out of text."""

    max_text: int = store_key(50_000, "Longest text, in characters.", 1000, 10_000_000)
    max_candidates: int = store_key(20, "Most candidates of one text.", 1, 1000)
    importance: float = store_key(0.4, "Importance of what is extracted.", 0, 1)


@dataclass(frozen=True, slots=True)
class TaskPolicy:
    """Tasks, sessions and promotion."""

    relatedness: float = store_key(0.5, "Memories are related that share this part of their hyperedges.", 0, 1)
    redundancy: float = store_key(0.85, "Related memories this alike are merged.", 0.5, 1)
    promotion_confidence: float = store_key(0.8, "Confidence needed for long term.", 0, 1)
    edge_gain: float = store_key(0.1, "Added to an edge's weight for each access of its members.", 0, 1)
    crystal_members: int = store_key(3, "Connected memories from which a summary is made.", 2, 1000)
    catch_up_hours: float = store_key(
        12.0, "Hours without activity after which a session is ended at the next start.", 0.1, 8760
    )


@dataclass(frozen=True, slots=True)
class UpkeepPolicy:
    """What runs by itself, and how often."""

    background: bool = protected_key(default=True, text="The MCP server does maintenance in the background.")
    sweep_minutes: float = store_key(60.0, "Minutes between sweeps.", 1, 10_080)
    report_hours: float = store_key(24.0, "Hours between decay reports.", 1, 8760)
    backup_days: float = protected_key(7.0, "Days between backups of the vault.", 0.1, 365)
    learn_hours: float = store_key(24.0, "Hours between summaries and lessons, where facts are learned.", 1, 8760)
    verify_hours: float = store_key(24.0, "Hours between verifications, where authorities are named.", 1, 8760)
    backup_folder: str = protected_key("", "Where backups go; beside the store's file if empty.", path="folder")
    jitter: float = store_key(0.1, "Share of an interval by which runs are spread.", 0, 0.5)
    retry_minutes: float = store_key(5.0, "Minutes until a run that failed is tried again.", 0.1, 1440)


@dataclass(frozen=True, slots=True)
class ModelPolicy:
    """A language model behind an OpenAI-compatible endpoint; nothing needs one."""

    base_url: str = protected_key("", "The address before /chat/completions; no model is used if empty.")
    name: str = protected_key("", "The model's name.")
    key_variable: str = protected_key("OPENAI_API_KEY", "The environment variable that holds the key.")
    timeout_seconds: float = protected_key(30.0, "Time limit of one request.", 0.1, 600)
    extract: bool = protected_key(default=False, text="Let it check what was extracted from text.")
    learn: bool = protected_key(
        default=False, text="Let it read facts in messages too, in addition to the rules, where facts are learned."
    )
    summarise: bool = protected_key(
        default=False, text="Let it write summaries; the deterministic ones stand in where it fails."
    )

"""Policy keys of the lifecycle: strength, use, compression, consolidation, extraction, tasks, upkeep, the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from perdure.records.policy_key import protected_key, store_key

_YEAR = 31_557_600.0


def _scoped_key(text: str, low: float, high: float) -> Callable[[float], Any]:
    """Return what declares a key that each scope has, given the scope's default."""
    return lambda default: store_key(default, text, low, high)


_baseline = _scoped_key("Strength that remains without reinforcement, before importance is added.", 0, 1)
_passive = _scoped_key("Seconds until strength has covered half the distance to its target.", 1, _YEAR)
_energy = _scoped_key("Seconds until reinforcement energy halves.", 1, _YEAR)
_drop = _scoped_key("Maximum loss of strength per hour.", 0.0001, 1)
_manual = _scoped_key("Decay by hand may take this many times max_decay_per_cycle at once.", 1, 100)
_unit = _scoped_key("Energy of one reinforcement of amount 1.", 0.01, 100)
_forget = _scoped_key("A memory is forgotten at or below this strength, before importance lowers the threshold.", 0, 1)


@dataclass(frozen=True, slots=True)
class StrengthPolicy:
    """Activation of task memories, and what all scopes share."""

    baseline: float = _baseline(0.05)
    passive_half_life: float = _passive(1800.0)
    reinforcement_half_life: float = _energy(900.0)
    max_decay_per_cycle: float = _drop(0.3)
    manual_multiplier: float = _manual(3.0)
    unit: float = _unit(1.0)
    forgetting_threshold: float = _forget(0.1)
    staleness_half_life: float = store_key(
        7200.0, "Seconds without use until energy halves a further time; all scopes.", 1, _YEAR
    )
    minimum: float = store_key(0.02, "Strength is never below this; all scopes.", 0, 1)
    maximum: float = store_key(1.0, "Strength is never above this; all scopes.", 0.1, 1)
    importance_weight: float = store_key(0.25, "What importance adds to the baseline; all scopes.", 0, 1)
    scale: float = store_key(3.0, "Energy that brings strength 63 % of the way to its maximum; all scopes.", 0.1, 100)
    reinforcement_importance_weight: float = store_key(
        0.6, "How much importance multiplies a reinforcement; all scopes.", 0, 2
    )
    max_level: float = store_key(12.0, "Energy is never above this; all scopes.", 0.1, 1000)
    max_step: float = store_key(0.25, "Maximum that one reinforcement adds to strength; all scopes.", 0.01, 1)
    forgetting_importance_weight: float = store_key(0.08, "How much importance lowers the threshold; all scopes.", 0, 1)
    floor: float = store_key(0.02, "The threshold is never below this; all scopes.", 0, 1)
    on_access: float = store_key(
        0.0, "Amount of reinforcement of a memory that a recall returns; 0 turns this off; all scopes.", 0, 10
    )


@dataclass(frozen=True, slots=True)
class SessionStrengthPolicy:
    """Activation of session memories, where it differs from [strength]."""

    baseline: float = _baseline(0.06)
    passive_half_life: float = _passive(2400.0)
    reinforcement_half_life: float = _energy(1200.0)
    max_decay_per_cycle: float = _drop(0.25)
    manual_multiplier: float = _manual(3.0)
    unit: float = _unit(1.2)
    forgetting_threshold: float = _forget(0.12)


@dataclass(frozen=True, slots=True)
class LongTermStrengthPolicy:
    """Activation of long-term memories, where it differs from [strength]."""

    baseline: float = _baseline(0.08)
    passive_half_life: float = _passive(43200.0)
    reinforcement_half_life: float = _energy(14400.0)
    max_decay_per_cycle: float = _drop(0.15)
    manual_multiplier: float = _manual(2.0)
    unit: float = _unit(0.9)
    forgetting_threshold: float = _forget(0.08)


@dataclass(frozen=True, slots=True)
class WorthPolicy:
    """Importance of new memories for which none is given, by who says them and how."""

    request: float = store_key(0.9, "A message in which a person asks to have something remembered.", 0, 1)
    decision: float = store_key(0.8, "A person's message that decides or corrects something.", 0, 1)
    note: float = store_key(0.7, "What an agent or a program remembers.", 0, 1)
    statement: float = store_key(0.5, "A person's message that states something.", 0, 1)
    question: float = store_key(0.3, "A person's question.", 0, 1)
    reply: float = store_key(0.3, "What an assistant, a tool or a system says.", 0, 1)
    small_talk: float = store_key(0.1, "Thanks, greetings, mere agreement.", 0, 1)


@dataclass(frozen=True, slots=True)
class UsePolicy:
    """What being useful, or wrong, does to a memory."""

    boost: float = store_key(0.1, "Added to the importance of a memory that was helpful.", 0, 0.5)
    strength: float = store_key(1.0, "Amount of reinforcement of a memory that was helpful.", 0, 10)
    wrong_factor: float = store_key(0.5, "What is left of the confidence of a memory that was wrong.", 0, 1)
    detect: bool = store_key(default=True, text="Detect automatically when an ingested reply quotes a hit.")
    quoted: float = store_key(0.6, "A reply that repeats this share of a hit's words counts as use.", 0.1, 1)
    window_minutes: float = store_key(
        30.0, "Maximum age in minutes of the recalls that a reply may have used.", 1, 1440
    )
    skip_echoes: bool = store_key(
        default=True, text="Do not store replies that only repeat recalled memories or the message before."
    )


@dataclass(frozen=True, slots=True)
class CompressionPolicy:
    """When a memory shows a shorter form; the whole text is kept and searched."""

    rule: str = store_key(
        "triggers", "Whether memories are shortened automatically by the triggers below.", choices=("triggers", "never")
    )
    least_tokens: int = store_key(40, "The triggers do not change texts with fewer tokens.", 0, 100_000)
    summary_hours: float = store_key(720.0, "Hours of age from which a summary is shown.", 0, 876_000)
    summary_value: float = store_key(0.4, "... at this value or below.", 0, 1)
    summary_accesses: int = store_key(3, "... and at most this many accesses.", 0, 1000)
    keywords_days: float = store_key(180.0, "Days of age from which keywords are shown.", 0, 36_500)
    keywords_value: float = store_key(0.25, "... at this value or below.", 0, 1)
    keywords_accesses: int = store_key(0, "... and at most this many accesses.", 0, 1000)
    embedding_days: float = store_key(3650.0, "Days of age from which no text is shown.", 0, 36_500)
    embedding_value: float = store_key(0.2, "... at this value or below.", 0, 1)
    embedding_accesses: int = store_key(0, "... and at most this many accesses.", 0, 1000)
    summary_tokens: int = store_key(150, "Approximate number of tokens in the summary of a long text.", 20, 10_000)
    keyword_tokens: int = store_key(
        20, "Approximate maximum of keyword tokens; for a short text a fifth of its tokens.", 4, 1000
    )
    strictness: str = store_key(
        "listed",
        "What shorter forms keep of numbers, dates, names, identifiers and denials. strict refuses what loses one; "
        "listed has summaries list them and lets keywords lose them. The whole text is kept and searched.",
        choices=("listed", "strict"),
    )
    preservation: float = store_key(
        0.5,
        "A summary is refused if its cosine to the whole text is below this; keywords too where strictness is strict.",
        0,
        1,
    )
    visible_tokens: int = store_key(
        0, "Maximum tokens of all visible memories of a namespace; 0 for no limit.", 0, 1_000_000_000
    )


@dataclass(frozen=True, slots=True)
class ConsolidatePolicy:
    """Merging duplicates."""

    content_weight: float = store_key(0.0, "Weight of shared words against semantic similarity.", 0, 1)
    merge_at: float = store_key(
        0.90, "A pair is labelled MERGE from this similarity on, if merge_overlap is also reached.", 0.5, 1
    )
    merge_overlap: float = store_key(0.50, "Share of common words that MERGE also needs.", 0, 1)
    review_at: float = store_key(0.85, "A pair is labelled REVIEW from this similarity on.", 0.5, 1)
    link_at: float = store_key(0.80, "A pair is labelled LINK from this similarity on.", 0.5, 1)
    require_dry_run: bool = protected_key(
        default=True, text="Merging needs a previous dry run with the same arguments."
    )
    boost: float = store_key(0.1, "Added to the importance of a memory that others are merged into.", 0, 0.5)
    exact_up_to: int = store_key(
        50_000,
        "Up to this many vectors all pairs are compared; above it only vectors in nearby cells.",
        1000,
        1_000_000,
    )


@dataclass(frozen=True, slots=True)
class ExtractPolicy:
    """Taking memories out of text."""

    max_text: int = store_key(50_000, "Longest text, in characters.", 1000, 10_000_000)
    max_candidates: int = store_key(20, "Maximum number of candidates from one text.", 1, 1000)
    importance: float = store_key(0.4, "Importance of extracted notes.", 0, 1)


@dataclass(frozen=True, slots=True)
class TaskPolicy:
    """Tasks, sessions and promotion."""

    relatedness: float = store_key(0.5, "Memories are related if they share this part of their hyperedges.", 0, 1)
    redundancy: float = store_key(0.85, "Related memories with at least this similarity are merged.", 0.5, 1)
    promotion_confidence: float = store_key(0.8, "Confidence needed to become long-term.", 0, 1)
    promotion_strength: float = store_key(0.0, "Strength needed to become long-term.", 0, 1)
    edge_gain: float = store_key(0.1, "Added to an edge's weight for each access of its members.", 0, 1)
    crystal_members: int = store_key(3, "Number of connected memories from which a summary is written.", 2, 1000)
    catch_up_hours: float = store_key(
        12.0, "Hours without activity after which the next session start ends a session.", 0.1, 8760
    )


@dataclass(frozen=True, slots=True)
class UpkeepPolicy:
    """What runs by itself, and how often."""

    background: bool = protected_key(default=True, text="Run maintenance in the background of the MCP server.")
    sweep_minutes: float = store_key(60.0, "Minutes between sweeps.", 1, 10_080)
    report_hours: float = store_key(24.0, "Hours between decay reports.", 1, 8760)
    decay_batch: int = store_key(500, "Number of memories that `decay` reads and writes at once.", 100, 100_000)
    backup_days: float = protected_key(7.0, "Days between backups of the vault.", 0.1, 365)
    learn_hours: float = store_key(
        24.0, "Hours between writing summaries and learning rates and procedures, if facts are learned.", 1, 8760
    )
    verify_hours: float = store_key(24.0, "Hours between verifications, if authorities are configured.", 1, 8760)
    backups_kept: int = protected_key(
        52, "Backups of a namespace's vault that are kept, the newest; 0 for all.", 0, 10_000
    )
    backup_folder: str = protected_key(
        "", "Folder for backups; if empty, the folder of the store's file.", path="folder"
    )
    file_permissions: str = protected_key(
        "owner",
        "Who may read and write the store's file and the files made of it: its owner, or its group as well.",
        choices=("owner", "group"),
    )
    jitter: float = store_key(0.1, "Share of an interval by which the start of runs varies.", 0, 0.5)
    retry_minutes: float = store_key(5.0, "Minutes until a failed run is repeated.", 0.1, 1440)
    check_days: int = store_key(
        30,
        "Days in which maintenance compares all memories with the journal once, a share each day; 0 for never.",
        0,
        3650,
    )
    compact_share: float = store_key(
        0.25, "Maintenance rewrites a file where that gives this share of it back; 1 for never.", 0.05, 1
    )
    index_above: int = store_key(
        20_000,
        "Vectors of one namespace on a server from which maintenance builds its index; 0 builds none.",
        0,
        100_000_000,
    )
    compact_mb: float = store_key(
        128.0, "Megabytes of a file above which maintenance only says so: others wait with writing.", 0, 1_000_000
    )
    erase_archived_days: float = protected_key(
        0.0, "Days after which an archived memory is erased for good, without undo; 0 for never.", 0, 36_500
    )


@dataclass(frozen=True, slots=True)
class JournalPolicy:
    """How long the journal keeps what each operation changed, and when the store gives space back."""

    horizon_days: float = protected_key(
        90.0,
        "Days for which an operation can be undone; older ones keep who, when, why and digests. 0 keeps everything.",
        0,
        36_500,
    )


@dataclass(frozen=True, slots=True)
class LimitPolicy:
    """What is refused at the door."""

    content_bytes: int = store_key(1_048_576, "Largest content of one memory, in bytes of UTF-8.", 100, 100_000_000)
    tags: int = store_key(64, "Most tags of one memory.", 0, 1000)
    tag_length: int = store_key(100, "Longest tag, in characters.", 1, 1000)
    metadata_bytes: int = store_key(65_536, "Largest metadata of one memory, in bytes of JSON.", 2, 10_000_000)
    call_seconds: float = store_key(
        30.0, "Seconds that a call may take, but for those that work through a whole store; 0 for no limit.", 0, 86_400
    )
    future_seconds: float = store_key(300.0, "Seconds that a timestamp may be ahead of the clock.", 0, 86_400)
    namespace_memories: int = protected_key(0, "Most memories in view of one namespace; 0 for no quota.", 0, 10**9)
    namespace_tokens: int = protected_key(
        0, "Most tokens that the memories in view of one namespace show; 0 for no quota.", 0, 10**12
    )
    namespace_bytes: int = protected_key(
        0, "Most bytes of texts and metadata of one namespace, also of what is out of view; 0 for no quota.", 0, 10**15
    )


@dataclass(frozen=True, slots=True)
class AlertPolicy:
    """From when `perdure alerts` tells of something; 0 turns an alert off."""

    overdue_hours: float = store_key(48.0, "Critical: a move that is due waits so many hours for a sweep.", 0, 8760)
    damage: int = store_key(
        1, "Critical: the daily check found so many rows that are not as they were written.", 0, 1000
    )
    unwritable: int = store_key(1, "Critical: the store is read-only, or its disk is full.", 0, 1)
    operations_ahead: int = store_key(
        1,
        "Critical: so many operations are dated more than an hour ahead of the clock.",
        0,
        20,
    )
    failures: int = store_key(3, "Critical: a maintenance task has failed so many times in a row.", 0, 1000)
    at_risk: int = store_key(
        1, "Warning: so many memories of at least median value would be archived within 30 days.", 0, 20
    )
    fading_share: float = store_key(
        0.2, "Warning: this share of the visible memories would be archived within 30 days.", 0, 1
    )
    held_days: float = store_key(7.0, "Warning: a gate has held a move for so many days.", 0, 3650)
    gate_refusals: int = store_key(0, "Warning: within a day the gates held back so many moves anew.", 0, 100_000)
    lacking_value: float = store_key(
        0.0, "Warning: the mean value of the memories that are shown in one form is so much below 1.", 0, 1
    )
    journal_changes: float = store_key(
        10.0, "Warning: a day brought so many journalled changes for each visible memory, of at least 100.", 0, 10_000
    )
    questions: int = store_key(20, "Info: so many questions wait for a person.", 0, 100_000)
    vault_candidates: int = store_key(1, "Info: so many memories are nearly worth the vault.", 0, 1000)
    log: bool = store_key(default=False, text="Write alerts that came or went to the log, at each sweep.")
    webhook: str = protected_key("", "Where alerts that came or went are posted, at each sweep; nowhere if empty.")
    webhook_secret_variable: str = protected_key(
        "PERDURE_WEBHOOK_SECRET",
        "The environment variable with the secret that signs them (whsec_ and base64, or a text); unsigned if empty.",
    )
    webhook_seconds: float = protected_key(10.0, "Time limit of one post.", 0.1, 60)


@dataclass(frozen=True, slots=True)
class ModelPolicy:
    """A language model behind an OpenAI-compatible endpoint; nothing needs one."""

    base_url: str = protected_key("", "The address before /chat/completions; no model is used if empty.")
    name: str = protected_key("", "The model's name.")
    key_variable: str = protected_key("OPENAI_API_KEY", "The environment variable with the key.")
    timeout_seconds: float = protected_key(30.0, "Time limit of one request.", 0.1, 600)
    extract: bool = protected_key(default=False, text="Let the model check extracted notes.")
    learn: bool = protected_key(
        default=False,
        text="Let the model read facts from messages too, in addition to the rules, if facts are learned.",
    )
    summarise: bool = protected_key(default=False, text="Let the model write summaries; if it fails, rules write them.")
    digest: bool = protected_key(
        default=False,
        text="Let the model join lines of MEMORY.md about one thing; a sentence that says less or more is not used.",
    )

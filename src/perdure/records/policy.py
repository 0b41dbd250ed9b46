"""The policy: every number and switch that decides a memory's life, with its default, bounds and meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from hashlib import blake2b
from typing import Any, Final

from perdure.records.policy_key import protected_key, store_key
from perdure.records.policy_knowledge import FadingPolicy, KnowledgePolicy
from perdure.records.policy_lifecycle import (
    AlertPolicy,
    CompressionPolicy,
    ConsolidatePolicy,
    ExtractPolicy,
    JournalPolicy,
    LimitPolicy,
    LongTermStrengthPolicy,
    ModelPolicy,
    SessionStrengthPolicy,
    StrengthPolicy,
    TaskPolicy,
    UpkeepPolicy,
    UsePolicy,
    WorthPolicy,
)
from perdure.records.policy_recall import DayPolicy, RecallPolicy


@dataclass(frozen=True, slots=True)
class ImportancePolicy:
    """How much a memory matters, for ranking."""

    half_life_days: float = store_key(
        30.0, "Days until importance halves, before accesses and high importance lengthen this.", 1, 365
    )
    access_weight: float = store_key(0.3, "Share of the loss that frequent access restores.", 0, 1)
    floor: float = store_key(0.1, "Decay stops at this value; a lower base is not raised.", 0, 0.5)
    shape: str = store_key("exponential", "Shape of the decay.", choices=("exponential", "linear", "step"))
    maximum: float = store_key(1.0, "Reinforcement does not raise importance above this; higher values stay.", 0.5, 1)
    boost: float = store_key(0.1, "What `reinforce` adds where it is not given.", 0.01, 0.5)
    on_access: float = store_key(
        0.02, "Added to importance when a recall returns the memory; 0 turns this off.", 0, 0.1
    )
    diminishing: float = store_key(
        0.9, "Factor on a boost for every 0.1 already added on the same day; 1 turns this off.", 0.1, 1
    )
    daily_cap: float = store_key(0.5, "Maximum that one day may add; 1 turns this off.", 0.01, 1)


@dataclass(frozen=True, slots=True)
class ConfidencePolicy:
    """How likely a memory is true."""

    fact_rate: float = store_key(0.01, "Daily loss of a fact's confidence since its last validation.", 0, 1)
    daily_factor: float = store_key(
        0.999, "Share of confidence that a long-term memory (not a fact) keeps per day without access.", 0.5, 1
    )
    note: float = store_key(0.8, "Confidence of a new note.", 0, 1)
    episode: float = store_key(1.0, "Confidence of a new episode.", 0, 1)
    overheard: float = store_key(0.8, "Confidence of a message that only its session sees.", 0, 1)
    fact: float = store_key(0.7, "Confidence of a fact that was stated explicitly.", 0, 1)
    other: float = store_key(0.8, "Confidence of a new procedure or summary.", 0, 1)


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    """The chance of recall, for review suggestions."""

    curve: str = store_key(
        "exponential", "The forgetting curve: exponential, or the power law of FSRS-6.", choices=("exponential", "fsrs")
    )
    strength_days: float = store_key(7.0, "Days after which the retention of an unreinforced memory is 1/e.", 0.1, 3650)
    growth: float = store_key(1.5, "Factor on the strength for each reinforcement.", 1, 10)
    review_below: float = store_key(0.5, "A review is suggested below this retention.", 0.01, 0.99)
    fsrs_review_below: float = store_key(0.7, "The same for the FSRS curve, which falls much more slowly.", 0.01, 0.99)

    @property
    def threshold(self) -> float:
        """The retention below which a review is suggested, under the curve that is chosen."""
        return self.fsrs_review_below if self.curve == "fsrs" else self.review_below


@dataclass(frozen=True, slots=True)
class ValuePolicy:
    """What a memory is worth keeping at hand: shares of its parts; they sum to 1."""

    frequency: float = store_key(0.35, "Weight of access frequency.", 0, 1)
    uniqueness: float = store_key(0.15, "Weight of uniqueness.", 0, 1)
    confidence: float = store_key(0.20, "Weight of confidence.", 0, 1)
    recency: float = store_key(0.10, "Weight of recency.", 0, 1)
    importance: float = store_key(0.20, "Weight of importance, as it is stored: it does not fade in value.", 0, 1)


@dataclass(frozen=True, slots=True)
class TierPolicy:
    """When a memory moves between hot, warm, cold and vault. Ages are time in the tier."""

    hot_entry_value: float = store_key(0.7, "A new memory with at least this value starts in hot.", 0, 1)
    hot_messages: int = store_key(
        10, "A message starts in hot if it is among this many latest ones of its session.", 0, 1000
    )
    hot_hours: float = store_key(24.0, "Hours in hot before a memory may leave.", 0.1, 8760)
    hot_keep_value: float = store_key(0.6, "A memory leaves hot when its value is below this.", 0, 1)
    hot_to_warm_value: float = store_key(0.5, "From hot to warm if the value is at least this, else to cold.", 0, 1)
    warm_to_hot_value: float = store_key(
        0.75, "An access moves a memory from warm to hot if its value is at least this.", 0, 1
    )
    burst_accesses: int = store_key(3, "This many accesses in burst_hours move it to hot.", 2, 3)
    burst_hours: float = store_key(4.0, "The window for burst_accesses.", 0.1, 168)
    warm_keep_value: float = store_key(0.3, "A memory moves from warm to cold when its value is below this.", 0, 1)
    warm_quiet_days: float = store_key(7.0, "Days in warm without access until a memory moves to cold.", 0.1, 3650)
    vault_value: float = store_key(
        0.8, "An access moves a memory to the vault if its value is at least this and vault_accesses is reached.", 0, 1
    )
    vault_full_accesses: int = store_key(
        15, "For the vault accesses do not fade, and this many count in full; 0 counts them as in value.", 0, 1000
    )
    vault_accesses: int = store_key(5, "Accesses needed for the vault.", 1, 1000)
    vault_reinforcements: int = store_key(0, "Reinforcements also needed for the vault.", 0, 1000)


@dataclass(frozen=True, slots=True)
class ArchivePolicy:
    """When a memory is hidden; it is never deleted."""

    rule: str = store_key(
        "both",
        "What archives a memory: low confidence, low strength, low value in cold, low confidence and "
        "low value together, or nothing.",
        choices=("confidence", "strength", "value", "both", "never"),
    )
    confidence_below: float = store_key(0.3, "Low confidence (for long-term memories except facts).", 0, 1)
    value_below: float = store_key(0.2, "Value below which it counts as low.", 0, 1)
    cold_days: float = store_key(30.0, "Days in cold before low value counts.", 0.1, 3650)


@dataclass(frozen=True, slots=True)
class GatePolicy:
    """What stops a maintenance plan: the loss budget and the recall gate."""

    loss_share: float = protected_key(
        0.10,
        "Largest share of a namespace's visible memories that one plan may hide, and sweeps for each day; "
        "a late sweep makes up for the days without one.",
        0,
        1,
    )
    loss_share_day: float = protected_key(0.20, "Largest share that all plans of one day may hide together.", 0, 1)
    loss_free_count: int = protected_key(
        20,
        "Number of memories that may be hidden for each day regardless of the share (for small namespaces).",
        0,
        1_000_000,
    )
    compress_share: float = protected_key(
        1.0, "Largest share that sweeps may shorten for each day; the whole text is kept and searched.", 0, 1
    )
    canaries: int = protected_key(
        30, "Past recalls with a useful answer that are repeated before memories are hidden; 0 for none.", 0, 1000
    )
    canary_limit: int = protected_key(10, "The answer to such a recall must be among this many hits.", 1, 100)
    golden: str = protected_key(
        "", "A TOML file of questions whose answers maintenance must not lose (docs/how-to.md).", path="file"
    )


@dataclass(frozen=True, slots=True)
class DigestPolicy:
    """MEMORY.md: what is kept in view, within a budget."""

    profile: str = store_key("tokens", "Which budget applies.", choices=("tokens", "claude-code", "hermes", "openclaw"))
    file: str = protected_key("", "The file that maintenance keeps it in; empty for none.", path="output")
    namespace: str = protected_key("default", "The namespace whose digest that file holds.")
    budget_tokens: int = store_key(2000, "Budget of the profile 'tokens'.", 50, 1_000_000)
    start_tokens: int = store_key(
        400, "Most tokens of what a coding agent is shown when a session starts.", 100, 10_000
    )
    prompt_tokens: int = store_key(250, "Most tokens of what it is shown beside a prompt.", 100, 10_000)
    diversity: float = store_key(0.25, "Penalty for memories similar to one chosen, 0 to 1.", 0, 1)


@dataclass(frozen=True, slots=True)
class EmbedderPolicy:
    """Which model turns text into vectors."""

    model: str = protected_key(
        "local",
        "local (the package perdure-embedder), none (keywords only) or endpoint (OpenAI-compatible).",
        choices=("local", "none", "endpoint"),
    )
    path: str = protected_key(
        "", "Local: a file with other weights (ONNX, with MiniLM's inputs and vocabulary).", path="file"
    )
    base_url: str = protected_key("", "Endpoint: the address before /embeddings, for example http://localhost:8080/v1.")
    name: str = protected_key("", "Endpoint: the model's name.")
    key_variable: str = protected_key("OPENAI_API_KEY", "Endpoint: the environment variable with the key.")
    timeout_seconds: float = protected_key(30.0, "Endpoint: time limit of one request.", 0.1, 600)
    near_duplicate: float = store_key(0.9, "A new memory this close to an older one is linked to it.", 0.5, 1)


@dataclass(frozen=True, slots=True)
class RerankerPolicy:
    """A model that orders what a recall found once more, behind a Cohere- or Jina-compatible endpoint."""

    base_url: str = protected_key("", "The address before /rerank; nothing is reranked if empty.")
    name: str = protected_key("", "The model's name.")
    key_variable: str = protected_key("COHERE_API_KEY", "The environment variable with the key; empty sends none.")
    timeout_seconds: float = protected_key(5.0, "Time limit of one request; after it the order stays.", 0.1, 600)
    candidates: int = protected_key(30, "So many of the best memories are sent and ordered.", 2, 200)


@dataclass(frozen=True, slots=True)
class Policy:
    """All keys, by section. Immutable; its ``version`` is a digest of every value and is kept in the journal."""

    preset: str = "balanced"
    importance: ImportancePolicy = ImportancePolicy()
    worth: WorthPolicy = WorthPolicy()
    confidence: ConfidencePolicy = ConfidencePolicy()
    retention: RetentionPolicy = RetentionPolicy()
    value: ValuePolicy = ValuePolicy()
    tiers: TierPolicy = TierPolicy()
    archive: ArchivePolicy = ArchivePolicy()
    gates: GatePolicy = GatePolicy()
    recall: RecallPolicy = RecallPolicy()
    strength: StrengthPolicy = StrengthPolicy()
    strength_session: SessionStrengthPolicy = SessionStrengthPolicy()
    strength_long_term: LongTermStrengthPolicy = LongTermStrengthPolicy()
    use: UsePolicy = UsePolicy()
    compression: CompressionPolicy = CompressionPolicy()
    consolidate: ConsolidatePolicy = ConsolidatePolicy()
    extract: ExtractPolicy = ExtractPolicy()
    tasks: TaskPolicy = TaskPolicy()
    upkeep: UpkeepPolicy = UpkeepPolicy()
    journal: JournalPolicy = JournalPolicy()
    alerts: AlertPolicy = AlertPolicy()
    knowledge: KnowledgePolicy = KnowledgePolicy()
    fading: FadingPolicy = FadingPolicy()
    model: ModelPolicy = ModelPolicy()
    digest: DigestPolicy = DigestPolicy()
    days: DayPolicy = DayPolicy()
    limits: LimitPolicy = LimitPolicy()
    embedder: EmbedderPolicy = EmbedderPolicy()
    reranker: RerankerPolicy = RerankerPolicy()

    @property
    def version(self) -> str:
        """Two short digests, ``life.rest``: of the sections that decide when a memory moves, and of the others.

        Two policies with the same version decide the same; those with the same first part agree on every move.
        """
        return _version(self)

    @property
    def life(self) -> str:
        """The first part of ``version``."""
        return self.version.partition(".")[0]

    def to_dict(self) -> dict[str, Any]:
        """Return section -> key -> value, with the preset's name under ``preset``."""
        return asdict(self)


LIFE = (
    *("importance", "confidence", "retention", "value", "tiers", "archive"),
    *("strength", "strength_session", "strength_long_term", "compression", "knowledge", "fading"),
)
"""The sections that decide when a memory moves: where they change, due instants are computed again."""


_versions: Final[list[tuple[Policy, str]]] = []  # asked for lately; hashing a policy takes longer than looking


def _version(policy: Policy) -> str:
    """Return the policy's digest, cached: every recall writes it."""
    if found := [version for known, version in _versions if known is policy]:
        return found[0]
    values = policy.to_dict()
    # A caller's patience, and who may open the file, decide nothing about what is stored.
    del values["limits"]["call_seconds"], values["upkeep"]["file_permissions"]
    life = {name: values.pop(name) for name in LIFE}
    parts = ((life, 6), (values, 3))
    version = ".".join(blake2b(repr(part).encode(), digest_size=size).hexdigest() for part, size in parts)
    _versions[:] = [(policy, version), *_versions[:15]]
    return version


def sections() -> dict[str, type]:
    """Return the policy's sections by name, in the order of the file."""
    policy = Policy()
    return {f.name: type(getattr(policy, f.name)) for f in fields(Policy) if f.name != "preset"}


_EVEN: Final = dict.fromkeys((f.name for f in fields(WorthPolicy)), 0.5)
"""The importance of every new memory, whoever says it, under all presets but the default."""

_FOUR_PARTS: Final = {"uniqueness": 0.25, "recency": 0.20, "importance": 0.0}
"""The weights of value under all presets but the default, where they differ from it."""

PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "balanced": {},
    # Importance only, for ranking; nothing is hidden or compressed.
    "importance-decay": {
        "importance": {"diminishing": 1.0, "daily_cap": 1.0},
        "worth": _EVEN,
        "value": _FOUR_PARTS,
        "confidence": {"daily_factor": 1.0},
        "archive": {"rule": "never"},
        "compression": {"rule": "never"},
        "consolidate": {"content_weight": 0.3, "review_at": 0.80, "link_at": 0.75},
    },
    # Long-term confidence loses 5 % a day; below 0.3 a memory is archived.
    "confidence-decay": {
        "importance": {"diminishing": 1.0, "daily_cap": 1.0},
        "worth": _EVEN,
        "value": _FOUR_PARTS,
        "confidence": {"daily_factor": 0.95},
        "archive": {"rule": "confidence"},
        "compression": {"rule": "never"},
    },
    # Facts are learned and doubted; nothing else fades, and nothing is hidden but by what is known.
    "facts": {
        "importance": {"diminishing": 1.0, "daily_cap": 1.0},
        "worth": _EVEN,
        "value": _FOUR_PARTS,
        "confidence": {"daily_factor": 1.0},
        "archive": {"rule": "never"},
        "compression": {"rule": "never"},
        "knowledge": {"learn": "rules"},
    },
    # Activation decides, and use moves activation alone; below the threshold that importance sets a memory is
    # forgotten, that is archived.
    "activation": {
        "importance": {"diminishing": 1.0, "daily_cap": 1.0, "on_access": 0.0},
        "worth": _EVEN,
        "value": _FOUR_PARTS,
        "strength": {"on_access": 1.0},
        "tiers": {"vault_reinforcements": 1},
        "use": {"boost": 0.0},
        "confidence": {"daily_factor": 1.0},
        "archive": {"rule": "strength"},
        "tasks": {"promotion_strength": 0.2},
        "compression": {"rule": "never"},
    },
    # Value decides alone, confidence is a source's reliability and does not fade.
    "tiered": {
        "importance": {"diminishing": 1.0, "daily_cap": 1.0},
        "worth": _EVEN,
        "value": _FOUR_PARTS,
        "confidence": {"daily_factor": 1.0, "fact_rate": 0.0},
        "archive": {"rule": "value", "value_below": 0.1},
        "tiers": {"vault_full_accesses": 0},
        "compression": {
            "rule": "triggers",
            "least_tokens": 0,
            "summary_hours": 24.0,
            "summary_value": 0.6,
            "summary_accesses": 3,
            "keywords_days": 7.0,
            "keywords_value": 0.4,
            "keywords_accesses": 1,
            "embedding_days": 30.0,
            "embedding_value": 0.2,
            "embedding_accesses": 0,
        },
    },
}
"""Preset -> section -> key -> value: what each preset changes in the defaults. ``facts`` learns and doubts facts,
``activation`` forgets what is weakly activated, ``tiered`` moves and shortens by value, ``confidence-decay`` archives
what grows doubtful, ``importance-decay`` only ranks; ``balanced`` uses all of it."""

PRESET_ALIASES: Final[Mapping[str, str]] = {
    "spatial": "importance-decay",
    "evolution": "confidence-decay",
    "knowledge": "facts",
    "strength": "activation",
    "retention": "tiered",
}
"""Deprecated name, which may stand in a policy file -> preset."""

VALUE_ALIASES: Final[Mapping[tuple[str, str, str], str]] = {("embedder", "model", "minilm"): "local"}
"""(section, key, deprecated value, which may stand in a policy file) -> value."""

REPLACED_KEYS: Final[Mapping[tuple[str, str], str]] = dict.fromkeys(
    [("recall", key) for key in ("floor_cosine", "weak_cosine", "keyword_coverage", "weak_coverage")],
    "recall.answer_chance",
)
"""(section, key that a policy file may still have) -> the key that took its place."""
EXPECTED_KEYS: Final[Mapping[str, str]] = {
    "expire": "what was archived is erased for good after upkeep.erase_archived_days days; set that"
}
"""Key that people expect, in whatever section -> the clause that names the key which does it."""

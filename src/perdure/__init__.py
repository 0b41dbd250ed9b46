"""Perdure: a memory lifecycle engine for AI agents.

>>> import perdure
>>> memory = perdure.open(":memory:")
>>> kept = memory.remember("The staging server listens on port 8081.")
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from perdure.records.errors import (
    AuthorityWarning,
    ConflictError,
    CopyDiffers,
    DiskFull,
    EmbedderError,
    GateStopped,
    InvalidInput,
    ModelError,
    ModelWarning,
    NotAStore,
    NotFound,
    PartlyStored,
    PerdureError,
    PerdureWarning,
    PolicyError,
    SpaceMismatch,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreReadOnly,
    StoreTooNew,
    TargetTaken,
)
from perdure.records.message import Message

if TYPE_CHECKING:
    from perdure.compose import (  # perdure.open is the contract's name
        EmbedderWarning,
        UntrustedPolicyWarning,
        copy,
        load_policy,
        open,  # noqa: A004
    )
    from perdure.knowledge.records.answer_results import AnswerSheet
    from perdure.knowledge.records.entity_results import AliasChange, EntityMerge, EntitySplit, EntityView
    from perdure.knowledge.records.fact_results import FactLine, Learnt, Summaries, Timeline
    from perdure.knowledge.records.learning_results import ProceduresResult, RatesResult
    from perdure.knowledge.records.verification_results import Verified
    from perdure.memory import Memory
    from perdure.records.applied import ApplyResult, UndoResult
    from perdure.records.backtest_results import BacktestResult
    from perdure.records.compression_results import CompressionReport, FitResult
    from perdure.records.consolidation_results import (
        ConsolidateResult,
        Edge,
        EdgeChange,
        PromotionResult,
        SessionResult,
        TaskResult,
    )
    from perdure.records.digest import Digest
    from perdure.records.extraction_results import ExtractResult
    from perdure.records.fact_claim import FactClaim
    from perdure.records.memory import MemoryItem
    from perdure.records.outcome import Outcome, RelatedMemory, Remembered
    from perdure.records.plan import Plan
    from perdure.records.policy import Policy
    from perdure.records.recall import Absence, Hit, Recall
    from perdure.records.report import Entry, Explanation, Ingested, Operation, Reembedded, Report, Stats
    from perdure.records.signal_results import (
        DecayResult,
        Question,
        ReinforceResult,
        Review,
        StrengthenResult,
        Used,
        WeakenResult,
    )

__version__ = "0.1.0"

_MODULES = {
    "perdure.compose": ("EmbedderWarning", "UntrustedPolicyWarning", "copy", "load_policy", "open"),
    "perdure.memory": ("Memory",),
    "perdure.records.memory": ("MemoryItem",),
    "perdure.records.fact_claim": ("FactClaim",),
    "perdure.records.outcome": ("Outcome", "RelatedMemory", "Remembered"),
    "perdure.records.plan": ("Plan",),
    "perdure.records.policy": ("Policy",),
    "perdure.records.recall": ("Absence", "Hit", "Recall"),
    "perdure.records.report": ("Entry", "Explanation", "Ingested", "Operation", "Reembedded", "Report", "Stats"),
    "perdure.records.digest": ("Digest",),
    "perdure.records.signal_results": (
        "DecayResult",
        "Question",
        "ReinforceResult",
        "Review",
        "StrengthenResult",
        "Used",
        "WeakenResult",
    ),
    "perdure.records.compression_results": ("CompressionReport", "FitResult"),
    "perdure.records.consolidation_results": (
        "ConsolidateResult",
        "Edge",
        "EdgeChange",
        "PromotionResult",
        "SessionResult",
        "TaskResult",
    ),
    "perdure.records.extraction_results": ("ExtractResult",),
    "perdure.knowledge.records.answer_results": ("AnswerSheet",),
    "perdure.knowledge.records.entity_results": ("AliasChange", "EntityMerge", "EntitySplit", "EntityView"),
    "perdure.knowledge.records.fact_results": ("FactLine", "Learnt", "Summaries", "Timeline"),
    "perdure.knowledge.records.learning_results": ("ProceduresResult", "RatesResult"),
    "perdure.records.applied": ("ApplyResult", "UndoResult"),
    "perdure.records.backtest_results": ("BacktestResult",),
    "perdure.knowledge.records.verification_results": ("Verified",),
}
_LATER = {name: module for module, names in _MODULES.items() for name in names}
"""Names whose modules load numpy and SQLite: they are imported when first used, so that importing perdure is quick."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'perdure' has no attribute {name!r}")
    found = getattr(import_module(_LATER[name]), name)
    globals()[name] = found
    return found


__all__ = [
    "Absence",
    "AliasChange",
    "AnswerSheet",
    "ApplyResult",
    "AuthorityWarning",
    "BacktestResult",
    "CompressionReport",
    "ConflictError",
    "ConsolidateResult",
    "CopyDiffers",
    "DecayResult",
    "Digest",
    "DiskFull",
    "Edge",
    "EdgeChange",
    "EmbedderError",
    "EmbedderWarning",
    "EntityMerge",
    "EntitySplit",
    "EntityView",
    "Entry",
    "Explanation",
    "ExtractResult",
    "FactClaim",
    "FactLine",
    "FitResult",
    "GateStopped",
    "Hit",
    "Ingested",
    "InvalidInput",
    "Learnt",
    "Memory",
    "MemoryItem",
    "Message",
    "ModelError",
    "ModelWarning",
    "NotAStore",
    "NotFound",
    "Operation",
    "Outcome",
    "PartlyStored",
    "PerdureError",
    "PerdureWarning",
    "Plan",
    "Policy",
    "PolicyError",
    "ProceduresResult",
    "PromotionResult",
    "Question",
    "RatesResult",
    "Recall",
    "Reembedded",
    "ReinforceResult",
    "RelatedMemory",
    "Remembered",
    "Report",
    "Review",
    "SessionResult",
    "SpaceMismatch",
    "Stats",
    "StoreBusy",
    "StoreDamaged",
    "StoreError",
    "StoreReadOnly",
    "StoreTooNew",
    "StrengthenResult",
    "Summaries",
    "TargetTaken",
    "TaskResult",
    "Timeline",
    "UndoResult",
    "UntrustedPolicyWarning",
    "Used",
    "Verified",
    "WeakenResult",
    "__version__",
    "copy",
    "load_policy",
    "open",
]

"""Perdure: a memory lifecycle engine for AI agents.

>>> import perdure
>>> memory = perdure.open(":memory:")
>>> kept = memory.remember("The staging server listens on port 8081.")
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from perdure.records.errors import (
    AuthorityWarning,
    ClockDiffers,
    ConflictError,
    CopyDiffers,
    DamageWarning,
    DeadlineExceeded,
    DiskFull,
    EmbedderError,
    GateStopped,
    IncompleteWarning,
    InvalidInput,
    LeaseLost,
    MemoryErased,
    ModelError,
    ModelWarning,
    NodeUnavailable,
    NotAllowed,
    NotAStore,
    NotFound,
    OlderThanHorizon,
    OutcomeUnknown,
    PartlyStored,
    PerdureError,
    PerdureWarning,
    PolicyError,
    QuotaExceeded,
    SpaceMismatch,
    StoreBusy,
    StoreClosed,
    StoreDamaged,
    StoreDenied,
    StoreError,
    StoreReadOnly,
    StoreTooNew,
    StoreTooOld,
    StoreUnavailable,
    StoreUnfinished,
    TargetTaken,
    TooManyCalls,
    UncountedWarning,
    UnusableReply,
    WebhookError,
)

if TYPE_CHECKING:
    from perdure.compose import (  # perdure.open is the contract's name
        EmbedderWarning,
        UntrustedPolicyWarning,
        copy,
        load_policy,
        open,  # noqa: A004
    )
    from perdure.interfaces.http.async_memory import AsyncMemory
    from perdure.interfaces.http.client import connect
    from perdure.knowledge.records.results import (
        AliasChange,
        AnswerSheet,
        EntityMerge,
        EntitySplit,
        EntityView,
        FactLine,
        LearnResult,
        ProceduresResult,
        RatesResult,
        Summaries,
        Timeline,
        VerifyResult,
    )
    from perdure.memory import Memory
    from perdure.models.vectors import Embedder
    from perdure.records.access import NewToken, Token
    from perdure.records.consolidation_results import (
        ConsolidateResult,
        Edge,
        EdgeChange,
        PromotionResult,
        SessionResult,
        TaskResult,
    )
    from perdure.records.explanation import Explanation
    from perdure.records.memory import MemoryItem, Message
    from perdure.records.outcome import FactClaim, Outcome, RelatedMemory, RememberResult, WriteResult
    from perdure.records.plan import Plan
    from perdure.records.policy import Policy
    from perdure.records.recall import Absence, Hit, Recall
    from perdure.records.report import (
        Alert,
        BacktestResult,
        CompressionReport,
        Digest,
        ExtractResult,
        FitResult,
        IngestResult,
        JournalEntry,
        Operation,
        ReembedResult,
        Stats,
        SweepReport,
    )
    from perdure.records.signal_results import (
        DecayResult,
        Question,
        ReinforceResult,
        Review,
        StrengthenResult,
        UseResult,
        WeakenResult,
    )
    from perdure.records.store_results import ApplyResult, CompactResult, ErasureResult, RepairResult, UndoResult
    from perdure.records.vector import Space

__version__ = "0.1.0"

_MODULES = {
    "compose": "EmbedderWarning UntrustedPolicyWarning copy load_policy open",
    "memory": "Memory",
    "interfaces.http.async_memory": "AsyncMemory",
    "interfaces.http.client": "connect",
    "models.vectors": "Embedder",
    "records.vector": "Space",
    "records.access": "NewToken Token",
    "records.memory": "MemoryItem Message",
    "records.store_results": "ApplyResult CompactResult ErasureResult RepairResult UndoResult",
    "records.outcome": "FactClaim Outcome RelatedMemory RememberResult WriteResult",
    "records.plan": "Plan",
    "records.policy": "Policy",
    "records.recall": "Absence Hit Recall",
    "records.explanation": "Explanation",
    "records.report": "Alert BacktestResult CompressionReport Digest ExtractResult "
    "FitResult IngestResult JournalEntry Operation ReembedResult Stats SweepReport",
    "records.signal_results": "DecayResult Question ReinforceResult Review StrengthenResult UseResult WeakenResult",
    "records.consolidation_results": "ConsolidateResult Edge EdgeChange PromotionResult SessionResult TaskResult",
    "knowledge.records.results": "AliasChange AnswerSheet EntityMerge EntitySplit EntityView FactLine "
    "LearnResult ProceduresResult RatesResult Summaries Timeline VerifyResult",
}
_LATER = {name: module for module, names in _MODULES.items() for name in names.split()}
"""Names whose modules load numpy and SQLite: they are imported when first used, so that importing perdure is quick."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'perdure' has no attribute {name!r}")
    found = getattr(import_module(f"perdure.{_LATER[name]}"), name)
    globals()[name] = found
    return found


__all__ = ["AsyncMemory", "Memory", "Message", "Policy", "__version__", "connect", "copy", "load_policy", "open"]
__all__ += ["AuthorityWarning", "ClockDiffers", "ConflictError", "CopyDiffers", "DeadlineExceeded", "DiskFull"]
__all__ += ["Embedder", "EmbedderError", "EmbedderWarning", "Space"]
__all__ += ["GateStopped", "InvalidInput", "ModelError", "ModelWarning", "NotAStore", "NotFound", "PartlyStored"]
__all__ += ["PerdureError", "PerdureWarning", "PolicyError", "SpaceMismatch", "StoreBusy", "StoreDamaged"]
__all__ += ["StoreError", "StoreReadOnly", "StoreTooNew", "StoreUnfinished", "TargetTaken", "UntrustedPolicyWarning"]
__all__ += ["Absence", "Alert", "AliasChange", "AnswerSheet", "ApplyResult", "BacktestResult", "CompressionReport"]
__all__ += ["ConsolidateResult", "DecayResult", "Digest", "Edge", "EdgeChange", "EntityMerge", "EntitySplit"]
__all__ += ["EntityView", "Explanation", "ExtractResult", "FactClaim", "FactLine", "FitResult", "Hit"]
__all__ += ["IngestResult", "JournalEntry", "LearnResult", "MemoryItem", "Operation", "Outcome", "Plan"]
__all__ += ["ProceduresResult", "PromotionResult", "Question", "RatesResult", "Recall", "ReembedResult"]
__all__ += ["ReinforceResult", "RelatedMemory", "RememberResult", "Review", "SessionResult", "Stats"]
__all__ += ["StrengthenResult", "Summaries", "SweepReport", "TaskResult", "Timeline"]
__all__ += ["UndoResult", "UseResult", "VerifyResult", "WeakenResult"]
__all__ += ["CompactResult", "ErasureResult", "NewToken", "NotAllowed", "OlderThanHorizon", "RepairResult", "Token"]
__all__ += ["MemoryErased", "OutcomeUnknown", "TooManyCalls", "UncountedWarning"]
__all__ += ["DamageWarning", "IncompleteWarning", "LeaseLost", "NodeUnavailable", "QuotaExceeded", "StoreDenied"]
__all__ += ["StoreClosed", "StoreTooOld", "StoreUnavailable", "UnusableReply", "WebhookError", "WriteResult"]

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
    "compose": "EmbedderWarning UntrustedPolicyWarning copy load_policy open",
    "memory": "Memory",
    "records.memory": "MemoryItem",
    "records.fact_claim": "FactClaim",
    "records.outcome": "Outcome RelatedMemory Remembered",
    "records.plan": "Plan",
    "records.policy": "Policy",
    "records.recall": "Absence Hit Recall",
    "records.report": "Entry Explanation Ingested Operation Reembedded Report Stats",
    "records.digest": "Digest",
    "records.signal_results": "DecayResult Question ReinforceResult Review StrengthenResult Used WeakenResult",
    "records.compression_results": "CompressionReport FitResult",
    "records.consolidation_results": "ConsolidateResult Edge EdgeChange PromotionResult SessionResult TaskResult",
    "records.extraction_results": "ExtractResult",
    "knowledge.records.answer_results": "AnswerSheet",
    "knowledge.records.entity_results": "AliasChange EntityMerge EntitySplit EntityView",
    "knowledge.records.fact_results": "FactLine Learnt Summaries Timeline",
    "knowledge.records.learning_results": "ProceduresResult RatesResult",
    "records.applied": "ApplyResult UndoResult",
    "records.backtest_results": "BacktestResult",
    "knowledge.records.verification_results": "Verified",
}
_LATER = {name: module for module, names in _MODULES.items() for name in names.split()}
"""Names whose modules load numpy and SQLite: they are imported when first used, so that importing perdure is quick."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'perdure' has no attribute {name!r}")
    found = getattr(import_module(f"perdure.{_LATER[name]}"), name)
    globals()[name] = found
    return found


__all__ = ["Memory", "Message", "Policy", "__version__", "copy", "load_policy", "open"]
__all__ += ["AuthorityWarning", "ConflictError", "CopyDiffers", "DiskFull", "EmbedderError", "EmbedderWarning"]
__all__ += ["GateStopped", "InvalidInput", "ModelError", "ModelWarning", "NotAStore", "NotFound", "PartlyStored"]
__all__ += ["PerdureError", "PerdureWarning", "PolicyError", "SpaceMismatch", "StoreBusy", "StoreDamaged"]
__all__ += ["StoreError", "StoreReadOnly", "StoreTooNew", "TargetTaken", "UntrustedPolicyWarning"]
__all__ += ["Absence", "AliasChange", "AnswerSheet", "ApplyResult", "BacktestResult", "CompressionReport"]
__all__ += ["ConsolidateResult", "DecayResult", "Digest", "Edge", "EdgeChange", "EntityMerge", "EntitySplit"]
__all__ += ["EntityView", "Entry", "Explanation", "ExtractResult", "FactClaim", "FactLine", "FitResult", "Hit"]
__all__ += ["Ingested", "Learnt", "MemoryItem", "Operation", "Outcome", "Plan", "ProceduresResult", "PromotionResult"]
__all__ += ["Question", "RatesResult", "Recall", "Reembedded", "ReinforceResult", "RelatedMemory", "Remembered"]
__all__ += ["Report", "Review", "SessionResult", "Stats", "StrengthenResult", "Summaries", "TaskResult", "Timeline"]
__all__ += ["UndoResult", "Used", "Verified", "WeakenResult"]

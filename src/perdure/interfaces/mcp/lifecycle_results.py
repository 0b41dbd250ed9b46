"""How results about memories' lives become what tools answer (mcp_lifecycle_schemas.py)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from perdure.interfaces.mcp import lifecycle_schemas as schema
from perdure.interfaces.mcp.results import MOST_LINES, cut, iso_of, swept

if TYPE_CHECKING:  # a server that only lists its tools needs none of them
    from perdure.records.compression_results import CompressionReport, FitResult
    from perdure.records.consolidation_results import (
        ConsolidateResult,
        Edge,
        PromotionResult,
        Refused,
        SessionResult,
        TaskResult,
    )
    from perdure.records.extraction_results import ExtractResult
    from perdure.records.signal_results import DecayResult, Question, ReinforceResult, Used, WeakenResult


def decayed(r: DecayResult) -> schema.Decayed:
    """Return a decay report; of many memories the first ones."""
    return {
        "memories_analyzed": r.memories_analyzed,
        "memories_decayed": r.memories_decayed,
        "avg_decay_factor": round(r.avg_decay_factor, 4),
        "decayed_memories": [
            {
                "id": m.id,
                "content_preview": m.content_preview,
                "old_importance": round(m.old_importance, 4),
                "new_importance": round(m.new_importance, 4),
                "decay_factor": round(m.decay_factor, 4),
                "days_since_access": m.days_since_access,
                "access_count": m.access_count,
            }
            for m in r.decayed_memories[:MOST_LINES]
        ],
        "dry_run": r.dry_run,
        "not_listed": max(0, len(r.decayed_memories) - MOST_LINES),
    }


def reinforced(r: ReinforceResult) -> schema.Reinforced:
    """Return a reinforcement."""
    return {
        "memories_reinforced": r.memories_reinforced,
        "avg_boost": round(r.avg_boost, 4),
        "reinforced": [
            {
                "id": m.id,
                "content_preview": m.content_preview,
                "old_importance": round(m.old_importance, 4),
                "new_importance": round(m.new_importance, 4),
                "boost_applied": round(m.boost_applied, 4),
            }
            for m in r.reinforced
        ],
        "not_found": list(r.not_found),
    }


def weakened(r: WeakenResult) -> schema.Weakened:
    """Return a weakening."""
    return {
        "memories_weakened": r.memories_weakened,
        "avg_drop": round(r.avg_drop, 4),
        "weakened": [
            {
                "id": m.id,
                "content_preview": m.content_preview,
                "old_strength": round(m.old_strength, 4),
                "new_strength": round(m.new_strength, 4),
            }
            for m in r.weakened
        ],
        "not_found": list(r.not_found),
    }


def was_used(u: Used) -> schema.WasUsed:
    """Return what was made of an outcome."""
    return {
        "outcome": u.outcome,
        "counted": list(u.counted),
        "repeated": list(u.repeated),
        "not_found": list(u.not_found),
        "operations": list(u.operations),
    }


def questions(found: Iterable[Question]) -> schema.Questions:
    """Return open questions."""
    return {
        "questions": [
            {
                "id": q.id,
                "namespace": q.namespace,
                "question": q.question,
                "why": q.why,
                "since": iso_of(q.since),
                "value_at_risk": round(q.value_at_risk, 4),
                "against": list(q.against),
                "same": list(q.same),
            }
            for q in found
        ],
        "answered": [],
    }


def fitted(r: FitResult) -> schema.Fitted:
    """Return a fit; of many changes the first ones."""
    return {
        "namespace": r.namespace,
        "budget": r.budget,
        "before": r.before,
        "after": r.after,
        "tally": r.tally,
        "changed_total": len(r.changed),
        "changed": [{"id": c.id, "move": c.move} for c in r.changed[:MOST_LINES]],
        "dry_run": r.dry_run,
        "held": r.held,
        "operations": list(r.operations),
    }


def compressed(r: CompressionReport) -> schema.Compressed:
    """Return what compression keeps."""
    return {
        "namespace": r.namespace,
        "visible_tokens": r.visible_tokens,
        "forms": {
            form: {
                "memories": f.memories,
                "tokens": f.tokens,
                "whole": f.whole,
                "ratio": round(f.ratio, 4),
                "preservation": _rounded(f.preservation),
                "efficiency": _rounded(f.efficiency),
            }
            for form, f in r.forms.items()
        },
        "queries": r.queries,
        "precision": round(r.precision, 4),
        "recall": round(r.recall, 4),
        "f1": round(r.f1, 4),
    }


def extracted(r: ExtractResult) -> schema.Extracted:
    """Return an extraction."""
    return {
        "candidates_found": r.candidates_found,
        "memories_created": r.memories_created,
        "deduplicated_count": r.deduplicated_count,
        "extractions": [
            {
                "content": cut(m.content)[0],
                "confidence": round(m.confidence, 4),
                "pattern_matched": m.pattern_matched,
                "start_pos": m.start_pos,
                "end_pos": m.end_pos,
                "stored": m.stored,
                "memory_id": m.memory_id,
            }
            for m in r.extractions
        ],
        "operations": list(r.operations),
    }


def consolidated(r: ConsolidateResult) -> schema.Consolidated:
    """Return a consolidation."""
    return {
        "groups_found": r.groups_found,
        "memories_merged": r.memories_merged,
        "memories_deleted": r.memories_deleted,
        "groups": [
            {
                "representative_id": g.representative_id,
                "member_ids": list(g.member_ids),
                "avg_similarity": round(g.avg_similarity, 4),
                "action_taken": g.action_taken,
                "label": g.label,
            }
            for g in r.groups
        ],
        "dry_run": r.dry_run,
        "labels": dict(r.labels),
        "refusals": _refusals(r.refusals),
        "notes": list(r.notes),
        "operations": list(r.operations),
    }


def edges(found: Iterable[Edge]) -> schema.Edges:
    """Return edges."""
    return {
        "edges": [{"id": e.id, "kind": e.kind, "weight": round(e.weight, 4), "members": dict(e.members)} for e in found]
    }


def task_done(r: TaskResult) -> schema.TaskDone:
    """Return what became of a task."""
    return {
        "merged_count": r.merged_count,
        "promoted_count": r.promoted_count,
        "edges_strengthened": r.edges_strengthened,
        "task": r.task,
        "promoted": list(r.promoted),
        "merged": dict(r.merged),
        "long_term": list(r.long_term),
        "refusals": _refusals(r.refusals),
        "dry_run": r.dry_run,
        "operations": list(r.operations),
    }


def promoted(r: PromotionResult) -> schema.Promoted:
    """Return a promotion."""
    return {
        "promoted_count": r.promoted_count,
        "crystallized_count": r.crystallized_count,
        "session": r.session,
        "confirmed": r.confirmed,
        "threshold": r.threshold,
        "median": r.median,
        "promoted": list(r.promoted),
        "summaries": [
            {
                "id": c.id,
                "content": cut(c.content)[0],
                "members": list(c.members),
                "confidence": round(c.confidence, 4),
            }
            for c in r.summaries
        ],
        "operations": list(r.operations),
    }


def session_done(r: SessionResult) -> schema.SessionDone:
    """Return what the end of a session did."""
    return {
        "session": r.session,
        "ended_at": iso_of(r.ended_at),
        "anew": r.anew,
        "tasks": [task_done(t) for t in r.tasks],
        "promotion": None if r.promotion is None else promoted(r.promotion),
        "report": None if r.report is None else swept(r.report),
        "operations": list(r.operations),
    }


def _refusals(found: Sequence[Refused]) -> list[schema.Refusal]:
    return [{"a": f.a, "b": f.b, "because": f.because} for f in found[:MOST_LINES]]


def _rounded(figure: float | None) -> float | None:
    return None if figure is None else round(figure, 4)

"""How the engine's records become what tools answer (mcp_schemas.py)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Final

from perdure.interfaces.mcp import schemas as schema

if TYPE_CHECKING:  # a server that only lists its tools needs none of them
    from perdure.records.memory import Memory
    from perdure.records.outcome import Outcome
    from perdure.records.plan import Plan
    from perdure.records.recall import Absence, Hit, Recall
    from perdure.records.report import Entry, Explanation, ModelUse, Operation, Report, Stats

CUT: Final = 2000
"""Characters of content that recall and list show; ``get`` returns everything."""

MOST_LINES: Final = 50
"""Moves that sweep and forecast list, and journal entries that ``why`` lists; the totals are given beside them."""

_REPORTED: Final = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d) UTC")


def cut(text: str) -> tuple[str, bool]:
    """Return text as it is shown in lists, and whether it was cut."""
    return (text, False) if len(text) <= CUT else (text[:CUT], True)


def iso(moment: datetime) -> str:
    """Return an instant as ISO 8601 with its zone."""
    return moment.isoformat(timespec="milliseconds")


def iso_of(text: str) -> str:
    """Return the instant of a report or journal (``2026-11-21 09:30 UTC``) as ISO 8601."""
    return _REPORTED.sub(r"\1T\2Z", text)


def found(hit: Hit) -> schema.Found:
    """Return a hit as it is answered."""
    m = hit.memory
    content, truncated = cut(m.content)
    return {
        "id": m.id,
        "content": content,
        "truncated": truncated,
        "score": round(hit.score, 4),
        "parts": _rounded(hit.parts),
        "created_at": iso(m.created_at),
        "kind": m.kind.value,
        "tier": m.tier.value,
        "tags": list(m.tags),
        "confidence": round(m.confidence, 4),
        "speaker": m.speaker,
        "status": m.status.value,
        "form": m.form.value,
        "updated_by": hit.updated_by,
        "contested_with": list(hit.contested_with),
        "aging": m.aging,
        "question": hit.question,
    }


def recalled(answer: Recall) -> schema.Recalled:
    """Return an answer."""
    return {
        "recall_id": answer.id or None,
        "nothing_known": answer.nothing_known,
        "hits": [found(h) for h in answer.hits],
        "note": answer.note,
    }


def kept(m: Memory) -> schema.Kept:
    """Return a memory, briefly."""
    content, truncated = cut(m.content)
    return {
        "id": m.id,
        "namespace": m.namespace,
        "content": content,
        "truncated": truncated,
        "kind": m.kind.value,
        "tier": m.tier.value,
        "status": m.status.value,
        "pinned": m.pinned,
        "tags": list(m.tags),
        "created_at": iso(m.created_at),
        "importance": round(m.importance, 4),
        "confidence": round(m.confidence, 4),
        "value": round(m.value, 4),
    }


def whole(m: Memory) -> schema.Whole:
    """Return a memory with its whole content."""
    return {
        **kept(m),
        "content": m.content,
        "truncated": False,
        "form": m.form.value,
        "scope": m.scope.value,
        "source": m.source,
        "speaker": m.speaker,
        "session": m.session,
        "task": m.task,
        "metadata": dict(m.metadata),
        "recorded_at": iso(m.recorded_at),
        "due_at": None if m.due_at is None else iso(m.due_at),
        "retention": round(m.retention, 4),
        "strength": round(m.strength, 4),
        "access_count": m.access_count,
    }


def decided(outcome: Outcome) -> schema.Decided:
    """Return what a decision about a memory came to."""
    m = outcome.memory
    return {
        "id": m.id,
        "status": m.status.value,
        "tier": m.tier.value,
        "pinned": m.pinned,
        "operation_id": outcome.operation,
    }


def happened(entry: Entry) -> schema.Happened:
    """Return a journal entry without the row's images."""
    return {
        "operation_id": entry.operation_id,
        "operation": entry.operation,
        "at": iso_of(entry.at),
        "because": entry.because,
    }


def explained(e: Explanation) -> schema.Explained:
    """Return an explanation; of a long history the newest entries."""
    return {
        "id": e.id,
        "summary": e.summary,
        "next_move": e.next_move,
        "signals": dict(e.signals),
        "value_parts": _rounded(e.value_parts),
        "links": [{"kind": kind, "id": other, "weight": round(weight, 4)} for kind, other, weight in e.links],
        "history": [happened(entry) for entry in e.history[-MOST_LINES:]],
        "history_total": len(e.history),
        "fact": None if e.fact is None else asdict(e.fact),
    }


def swept(r: Report) -> schema.Swept:
    """Return a report; of many moves the first ones."""
    return {
        "dry_run": r.dry_run,
        "examined": r.examined,
        "moved_total": len(r.moved),
        "tally": r.tally,
        "moved": [
            {"id": m.id, "namespace": m.namespace, "at": iso_of(m.at), "move": m.move, "because": m.because}
            for m in r.moved[:MOST_LINES]
        ],
        "held": [{"namespace": h.namespace, "count": len(h.ids), "because": h.because} for h in r.held],
        "operations": list(r.operations),
    }


def undone(plan: Plan) -> schema.Undone:
    """Return what an undo did."""
    return {
        "operation_id": plan.id,
        "undoes": plan.undoes or "",
        "namespace": plan.namespace,
        "changes": len(plan.changes),
        "note": plan.note,
    }


def counts(s: Stats) -> schema.Counts:
    """Return statistics."""
    return {
        "namespaces": s.namespaces,
        "memories": s.memories,
        "tiers": dict(s.tiers),
        "statuses": dict(s.statuses),
        "kinds": dict(s.kinds),
        "value_percentiles": _rounded(s.value_percentiles),
        "due_now": s.due_now,
        "due_soon": s.due_soon,
        "at_risk": [{"id": i, "value": round(value, 4), "at": iso_of(at)} for i, value, at in s.at_risk],
        "review_suggested": s.review_suggested,
        "without_vector": s.without_vector,
        "space": s.space,
        "sampled": s.sampled,
        "model": None if s.model is None else _model_use(s.model),
    }


def _model_use(use: ModelUse) -> schema.ModelUse:
    return {
        "calls": use.calls,
        "failures": use.failures,
        "tokens_in": use.tokens_in,
        "tokens_out": use.tokens_out,
        "seconds": round(use.seconds, 2),
    }


def absent(a: Absence) -> schema.Absent:
    """Return why a memory was absent."""
    return {
        "id": a.id,
        "kept_out_by": a.kept_out_by,
        "explanation": a.explanation,
        "rank": a.rank,
        "parts": _rounded(a.parts),
    }


def ran(o: Operation) -> schema.Ran:
    """Return an operation."""
    return {
        "operation_id": o.id,
        "operation": o.operation,
        "namespace": o.namespace,
        "at": iso_of(o.at),
        "changes": o.changes,
        "note": o.note,
        "undone_by": o.undone_by,
    }


def _rounded(parts: Mapping[str, float]) -> dict[str, float]:
    return {name: round(float(value), 4) for name, value in parts.items()}

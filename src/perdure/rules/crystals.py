"""Crystallised summaries: what connected memories of a session are remembered by (SPEC-03.11).

May live here: which memories get a summary, and its words, without a model. May not: embedding, storing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from perdure.records.draft import Draft
from perdure.records.instant import Instant
from perdure.records.memory import Kind, Record, Scope
from perdure.records.policy import Policy
from perdure.rules.shortening import extractive, keywords
from perdure.rules.tasks import components
from perdure.rules.tokens import counted

SOURCE = "crystallized"
CONNECTING = frozenset({"near_duplicate", "similar", "summarizes"})
"""Kinds of links that connect two memories of a subgraph."""


@dataclass(frozen=True, slots=True)
class Sketch:
    """A summary to be: what is stored, and what it stands for, oldest first."""

    draft: Draft
    members: tuple[str, ...]


def sketches(
    promoted: Sequence[Record],
    connected: Iterable[tuple[str, str]],
    confidence: Mapping[str, float],
    *,
    session: str,
    policy: Policy,
    now: Instant,
) -> list[Sketch]:
    """Return the summaries of connected memories, in order of their members; there are no summaries of summaries.

    Args:
        promoted: What goes to long term.
        connected: Pairs of ids that share a hyperedge or a link.
        confidence: Id -> confidence now.
        session: Where they come from.
        policy: How many members make a summary.
        now: When it is made.
    """
    by = {r.id: r for r in promoted if r.state.kind is not Kind.SUMMARY}
    found = []
    for group in components(by, connected):
        if len(group) < policy.tasks.crystal_members:
            continue
        members = sorted((by[identity] for identity in group), key=lambda r: (r.state.created_ms, r.id))
        text = told(members)
        if text:
            found.append(Sketch(_draft(members, text, confidence, session, now), tuple(r.id for r in members)))
    return found


def told(members: Sequence[Record]) -> str:
    """Return the key sentences of some memories, at most half as long as all of them; their key words if none fits."""
    texts = dict.fromkeys(r.content.text.strip() for r in members)
    whole = "\n".join(texts)
    most = counted(whole) // 2
    return extractive(whole, most).strip() or keywords(whole, most).strip()


def _draft(members: Sequence[Record], text: str, confidence: Mapping[str, float], session: str, now: Instant) -> Draft:
    return Draft(
        text=text,
        kind=Kind.SUMMARY,
        scope=Scope.LONG_TERM,
        importance=max(r.state.importance for r in members),
        confidence=sum(confidence[r.id] for r in members) / len(members),
        at=now,
        tags=tuple(sorted({tag for r in members for tag in r.content.tags})),
        source=SOURCE,
        metadata={"sources": [r.id for r in members], "session": session},
    )

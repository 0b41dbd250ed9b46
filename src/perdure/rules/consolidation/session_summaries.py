"""Crystallised summaries: what connected memories of a session are remembered by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from perdure.records.instant import Instant
from perdure.records.memory import Draft, Kind, Record, Scope
from perdure.records.policy import Policy
from perdure.rules.consolidation.duplicates import components
from perdure.rules.language.tokens import count_tokens
from perdure.rules.lifecycle.shortening import extract_sentences, keywords
from perdure.rules.meaning_guard import lost
from perdure.rules.source_trust import least_trust, stored_trust, with_trust

SOURCE = "crystallized"
CONNECTING = frozenset({"near_duplicate", "similar", "summarizes"})
"""Kinds of links that connect two memories of a subgraph."""


@dataclass(frozen=True, slots=True)
class Sketch:
    """A summary to be: what is stored, and what it stands for, oldest first."""

    draft: Draft
    members: tuple[str, ...]


def sketch_summaries(
    promoted: Sequence[Record],
    connected: Iterable[tuple[str, str]],
    confidence: Mapping[str, float],
    *,
    session: str,
    policy: Policy,
    now: Instant,
) -> list[Sketch]:
    """Return the summaries of promoted memories that share a hyperedge or a link, in order of their members.

    There are no summaries of summaries, and none of fewer than ``tasks.crystal_members`` memories.
    """
    by = {r.id: r for r in promoted if r.state.kind is not Kind.SUMMARY}
    found = []
    for group in components(by, connected):
        members = sorted((by[identity] for identity in group), key=lambda r: (r.state.created_ms, r.id))
        if len(group) >= policy.tasks.crystal_members and (text := summarize_members(members)):
            found.append(Sketch(_draft(members, text, confidence, session, now), tuple(r.id for r in members)))
    return found


def use_model_text(sketch: Sketch, members: Sequence[Record], text: str) -> Sketch:
    """Return a sketch in the words of a language model, or as it is where those are too long or say something new.

    What is new is a number, date, name or identifier that no member has, or a denial or a modal that none makes.
    """
    whole = join_texts(members)
    if not text.strip() or count_tokens(text) > most_tokens(whole) or lost(text, whole):
        return sketch
    metadata = {**sketch.draft.metadata, "written_by": "model"}
    return replace(sketch, draft=replace(sketch.draft, text=text.strip(), metadata=metadata))


def join_texts(members: Sequence[Record]) -> str:
    """Return the texts of some memories, each once."""
    return "\n".join(dict.fromkeys(r.content.text.strip() for r in members))


def most_tokens(whole: str) -> int:
    """Return how many tokens a summary may have: half of what it stands for."""
    return count_tokens(whole) // 2


def summarize_members(members: Sequence[Record]) -> str:
    """Return the key sentences of some memories, at most half as long as all of them; their key words if none fits."""
    whole = join_texts(members)
    most = most_tokens(whole)
    return extract_sentences(whole, most).strip() or keywords(whole, most).strip()


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
        metadata=with_trust(
            {"sources": [r.id for r in members], "session": session},
            least_trust(stored_trust(r.content.metadata) for r in members),
        ),
    )

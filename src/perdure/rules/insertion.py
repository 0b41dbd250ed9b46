"""How a memory begins: uniqueness, tier, due instant, and the plan that stores it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from perdure.formulas.curve import NEVER
from perdure.formulas.strength import reinforced
from perdure.formulas.value import uniqueness
from perdure.records.instant import Instant
from perdure.records.memory import Content, Kind, Record, State, Status, Tier
from perdure.records.new_memory import Draft
from perdure.records.plan import Change, Plan, Target
from perdure.records.policy import Policy
from perdure.records.vector import Vector
from perdure.rules.language.tokens import counted
from perdure.rules.lifecycle.moves import entry_tier, next_moves
from perdure.rules.lifecycle.state_arrays import TIERS, Columns, strength_curve

NEAREST = 5


@dataclass(frozen=True, slots=True)
class Newborn:
    """A draft with what was found out about it before it is stored.

    Attributes:
        id: Its id.
        draft: What the caller gave.
        vector: Its embedding, or None.
        near: (id, cosine) of the nearest earlier memories, nearest first.
    """

    id: str
    draft: Draft
    vector: Vector | None = None
    near: tuple[tuple[str, float], ...] = ()


def earlier_in_batch(ids: Sequence[str], vectors: Sequence[Vector | None]) -> list[list[tuple[str, float]]]:
    """Return for each vector the nearest ones before it in the same batch: (id, cosine), at most five.

    Only earlier ones count, so that a batch gives the same as one by one.
    """
    known = [i for i, v in enumerate(vectors) if v is not None]
    result: list[list[tuple[str, float]]] = [[] for _ in vectors]
    if len(known) < 2:  # noqa: PLR2004  # one vector has no neighbour
        return result
    matrix = np.frombuffer(b"".join(v for v in vectors if v is not None), "<f4").reshape(len(known), -1)
    cosine = matrix @ matrix.T
    for position in range(1, len(known)):
        before = cosine[position, :position]
        for j in np.argsort(-before, kind="stable")[:NEAREST].tolist():
            result[known[position]].append((ids[known[j]], float(before[j])))
    return result


def newborn_states(newborns: Sequence[Newborn], policy: Policy, now: Instant) -> list[State]:
    """Return the states in which new memories start."""
    states = [
        State(
            kind=n.draft.kind,
            scope=n.draft.scope,
            tier=Tier.WARM,
            status=Status.ACTIVE,
            pinned=n.draft.pinned,
            importance=n.draft.importance,
            confidence=n.draft.confidence,
            uniqueness=uniqueness([c for _, c in n.near]),
            created_ms=n.draft.at,
            recorded_ms=now,
            anchor_ms=n.draft.at,
            tier_ms=n.draft.at,
            status_ms=n.draft.at,
            strength_ms=n.draft.at,
            form_ms=n.draft.at,
            tokens=counted(n.draft.text),
            reinforcements=1 if n.draft.kind is Kind.FACT else 0,  # what was said once was said once
        )
        for n in newborns
    ]
    return begun(states, [n.draft.message for n in newborns], policy)


def begun(states: Sequence[State], messages: Sequence[bool], policy: Policy) -> list[State]:
    """Return new states with the strength, the tier and the due instant that a policy gives them.

    Args:
        states: As born, at full base values.
        messages: Whether each is among the last messages of its session.
        policy: The policy in force.
    """
    if not states:
        return []
    columns = Columns.of(states)
    curve = strength_curve(columns, policy)  # what was just learned has been reinforced once
    strength, level = reinforced(curve.baseline(), np.zeros(len(columns)), columns.importance, 1.0, curve.parameters)
    learned = [
        replace(s, strength=a, level=b) for s, a, b in zip(states, strength.tolist(), level.tolist(), strict=True)
    ]
    columns = Columns.of(learned)
    columns.tier = entry_tier(columns, policy, recent_message=np.array(messages, dtype=np.bool_))
    due = next_moves(columns, policy).at
    return [
        replace(s, tier=TIERS[int(t)], due_ms=None if d >= NEVER else int(d))
        for s, t, d in zip(learned, columns.tier, due, strict=True)
    ]


def with_due(states: Sequence[State], policy: Policy) -> list[State]:
    """Return states with the instant at which each next needs attention."""
    if not states:
        return []
    due = next_moves(Columns.of(states), policy).at
    return [replace(s, due_ms=None if d >= NEVER else int(d)) for s, d in zip(states, due, strict=True)]


def record_of(newborn: Newborn, state: State, namespace: str, op: str) -> Record:
    """Return a newborn as the store will hold it."""
    d = newborn.draft
    content = Content(
        text=d.text,
        tags=d.tags,
        source=d.source,
        speaker=d.speaker,
        session=d.session,
        task=d.task,
        turn=d.turn,
        metadata=d.metadata,
    )
    return Record(namespace, newborn.id, state, content, op)


def birth_plan(
    records: Sequence[Record],
    newborns: Sequence[Newborn],
    *,
    plan_id: str,
    operation: str,
    namespace: str,
    at: Instant,
    policy: Policy,
    space: str | None,
) -> Plan:
    """Return the plan that stores new memories and links them to those they nearly repeat."""
    inserts, links = [], []
    for record, newborn in zip(records, newborns, strict=True):
        inserts.append(Change(Target.MEMORY, record.id, None, _row(record, newborn, space), _why(record, newborn)))
        links += [
            Change(
                Target.LINK,
                record.id,
                None,
                {"kind": "near_duplicate", "other": other, "weight": round(cosine, 4)},
                f"cosine {cosine:.3f} is at least {policy.embedder.near_duplicate:g}: linked, not dropped",
            )
            for other, cosine in newborn.near
            if cosine >= policy.embedder.near_duplicate
        ]
    note = f"{operation}: {len(records)} {'memory' if len(records) == 1 else 'memories'}"
    return Plan(plan_id, operation, namespace, at, tuple(inserts + links), policy.version, note)


def _row(record: Record, newborn: Newborn, space: str | None) -> Mapping[str, Any]:
    c = record.content
    return {
        **{name: getattr(record.state, name) for name in State.__slots__},
        "session": c.session,
        "turn": c.turn,
        "speaker": c.speaker,
        "op": record.op,
        "text": c.text,
        "tags": c.tags,
        "source": c.source,
        "task": c.task,
        "metadata": c.metadata,
        "shown": c.shown,
        "key": newborn.draft.key,
        "space": space if newborn.vector is not None else None,
        "vector": newborn.vector,
    }


def _why(record: Record, newborn: Newborn) -> str:
    state = record.state
    reason = "a message of its session" if newborn.draft.message and state.tier is Tier.HOT else "by value"
    near = f"; nearest earlier memory at cosine {newborn.near[0][1]:.3f}" if newborn.near else ""
    return f"stored as {state.kind} in {state.tier} ({reason}); uniqueness {state.uniqueness:.3f}{near}"

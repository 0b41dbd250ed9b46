"""How a memory begins: uniqueness, tier, due instant, and the changes that store it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final

import numpy as np

from perdure.formulas.curve import FEW, NEVER, Array
from perdure.formulas.products import products_with_earlier
from perdure.formulas.strength import reinforce_strength
from perdure.formulas.value import uniqueness
from perdure.records.instant import Instant
from perdure.records.maker import copier_of, copy_with, maker_of
from perdure.records.memory import Content, Draft, Kind, Record, Scope, State, Status, Tier
from perdure.records.plan import Change, Target
from perdure.records.policy import Policy
from perdure.records.vector import Vector
from perdure.rules.language.tokens import count_tokens
from perdure.rules.lifecycle.moves import entry_tier, next_moves
from perdure.rules.lifecycle.single_moves import SingleMemory
from perdure.rules.lifecycle.state_arrays import Columns, strength_curve
from perdure.rules.policy_cache import PolicyCache

NEAREST = 5
_MOST_STARTS: Final = 1000
_content, _record = maker_of(Content), maker_of(Record)
_SAID: Final = ("kind", "scope", "pinned", "sort", "importance", "confidence")
_BEGINNINGS: Final = ("created_ms", "anchor_ms", "tier_ms", "status_ms", "strength_ms", "form_ms")
_ROW: Final = (*State.__slots__, *Content.__slots__, "op", "key", "space", "vector")
_read_state: Final = attrgetter(*State.__slots__)
_read_content: Final = attrgetter(*Content.__slots__)
_read_said: Final = attrgetter(*_SAID)
_read_draft: Final = attrgetter(*(name for name in Content.__slots__ if name != "shown"))  # which comes last
_NEW: Final = State(Kind.NOTE, Scope.LONG_TERM, Tier.WARM, Status.ACTIVE, False, 0.0, 0.0, 1.0, 0, 0, 0)  # noqa: FBT003
"""What a new memory's state is copied from; a frozen class with so many fields is slow to make."""


@dataclass(frozen=True, slots=True)
class PreparedDraft:
    """A draft with what was found out about it before it is stored."""

    id: str  # its id
    draft: Draft  # what the caller gave
    vector: Vector | None = None  # its embedding, or None
    near: tuple[tuple[str, float], ...] = ()  # (id, cosine) of the nearest earlier memories, nearest first
    faded: int = 0  # how many others are near that the next sweep hides: they do not count


def earlier_in_batch(ids: Sequence[str], vectors: Sequence[Vector | None]) -> list[list[tuple[str, float]]]:
    """Return for each vector the nearest ones before it in the same batch: (id, cosine), at most five.

    Only earlier ones count, so that a batch gives the same as one by one.
    """
    known = [i for i, v in enumerate(vectors) if v is not None]
    result: list[list[tuple[str, float]]] = [[] for _ in vectors]
    if len(known) < 2:  # noqa: PLR2004  # one vector has no neighbour
        return result
    matrix = np.frombuffer(b"".join(v for v in vectors if v is not None), "<f4").reshape(len(known), -1)
    earlier = np.tri(len(known), k=-1, dtype=np.bool_)
    cosine = np.where(earlier, products_with_earlier(matrix), -np.inf)
    least = -min(NEAREST, len(known))
    rows, others = np.nonzero(earlier & (cosine >= np.partition(cosine, least, axis=1)[:, least, None]))
    order = np.lexsort((-cosine[rows, others], rows))  # stable: of equal ones the earlier first
    rows, others = rows[order], others[order]
    for row, other, value in zip(rows.tolist(), others.tolist(), cosine[rows, others].tolist(), strict=True):
        if len(result[known[row]]) < NEAREST:
            result[known[row]].append((ids[known[other]], value))
    return result


def first_confidence(kind: Kind, policy: Policy) -> float:
    """Return the base confidence with which a new memory of a kind starts, 0 to 1."""
    by_kind = {
        Kind.NOTE: policy.confidence.note,
        Kind.EPISODE: policy.confidence.episode,
        Kind.FACT: policy.confidence.fact,
    }
    return by_kind.get(kind, policy.confidence.other)


def initial_states(drafts: Sequence[PreparedDraft], policy: Policy, now: Instant) -> list[State]:
    """Return the states in which new memories start."""
    copy = copier_of(State, (*_SAID, "uniqueness", "recorded_ms", "reinforcements", "tokens", *_BEGINNINGS))
    states = []
    for n in drafts:
        said = _read_said(n.draft)
        times_said = 1 if n.draft.kind is Kind.FACT else 0  # what was said once was said once
        numbers = uniqueness([cosine for _, cosine in n.near]), now, times_said, count_tokens(n.draft.text)
        states.append(copy(_NEW, (*said, *numbers, *[n.draft.at] * len(_BEGINNINGS))))
    return place_in_tiers(states, [n.draft.message for n in drafts], policy)


def place_in_tiers(states: Sequence[State], messages: Sequence[bool], policy: Policy) -> list[State]:
    """Return new states, at full base values, with the strength, the tier and the due instant that a policy gives them.

    ``messages`` says whether each is among the last messages of its session.
    """
    if len(states) <= FEW:
        return [_place_one(state, message, policy) for state, message in zip(states, messages, strict=True)]
    columns = Columns.of(states)
    columns.strength, columns.level = _first_reinforcement(columns, policy)
    columns.tier = entry_tier(columns, policy, recent_message=np.array(messages, dtype=np.bool_))
    due = next_moves(columns, policy).at
    ends = [None if at >= NEVER else at for at in due.tolist()]
    return columns.states(np.arange(len(states)), states, ("strength", "level", "tier"), ends)


def _place_one(state: State, message: bool, policy: Policy) -> State:  # zipped
    one = SingleMemory(state, policy)
    tier, (strength, level) = one.entry_tier(recent_message=message), _first_strength(policy)(state)
    one.place(tier, strength, level)
    return copy_with(state, tier=tier, strength=strength, level=level, due_ms=one.due(), held=False)


class _FirstStrength:
    """With what strength and level new memories start: few pairs of scope and importance make up most of them."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._known: dict[tuple[Scope, float], tuple[float, float]] = {}

    def __call__(self, state: State) -> tuple[float, float]:
        """Return the strength and the level of one that was just learned, and so reinforced once."""
        key = state.scope, state.importance
        if key not in self._known:
            if len(self._known) >= _MOST_STARTS:
                self._known = {}
            strength, level = _first_reinforcement(Columns.of([state]), self._policy)
            self._known[key] = float(strength[0]), float(level[0])
        return self._known[key]


_first_strength: Final = PolicyCache(_FirstStrength)


def _first_reinforcement(columns: Columns, policy: Policy) -> tuple[Array, Array]:
    curve = strength_curve(columns, policy)
    return reinforce_strength(curve.baseline(), np.zeros(len(columns)), columns.importance, 1.0, curve.parameters)


def with_due(states: Sequence[State], policy: Policy) -> list[State]:
    """Return states with the instant at which each next needs attention."""
    if len(states) <= FEW:
        return [copy_with(s, due_ms=SingleMemory(s, policy).due()) for s in states]
    due = next_moves(Columns.of(states), policy).at.tolist()
    return [copy_with(s, due_ms=None if at >= NEVER else at) for s, at in zip(states, due, strict=True)]


def new_record(prepared: PreparedDraft, state: State, namespace: str, op: str) -> Record:
    """Return a draft as the store will hold it."""
    return _record(namespace, prepared.id, state, _content(*_read_draft(prepared.draft), None), op, (), None)


def insertions(records: Sequence[Record], drafts: Sequence[PreparedDraft], policy: Policy, space: str) -> list[Change]:
    """Return the changes that store new memories and link them to those they nearly repeat.

    Drafts are in the order of the records that were made of them. ``space`` is the space of their vectors.
    """
    pairs = list(zip(records, drafts, strict=True))
    inserts = [Change(Target.MEMORY, r.id, None, _row(r, d, space), _why(r, d)) for r, d in pairs]
    links = [
        Change(
            Target.LINK,
            record.id,
            None,
            {"kind": "near_duplicate", "other": other, "weight": round(cosine, 4)},
            f"cosine {cosine:.3f} is at least {policy.embedder.near_duplicate:g}: linked, not dropped",
        )
        for record, draft in pairs
        for other, cosine in draft.near
        if cosine >= policy.embedder.near_duplicate
    ]
    return inserts + links


def _row(record: Record, prepared: PreparedDraft, space: str) -> Mapping[str, Any]:
    vector = prepared.vector
    more = record.op, prepared.draft.key, None if vector is None else space, vector
    return dict(zip(_ROW, _read_state(record.state) + _read_content(record.content) + more, strict=True))


def _why(record: Record, prepared: PreparedDraft) -> str:
    state = record.state
    reason = "a message of its session" if prepared.draft.message and state.tier is Tier.HOT else "by value"
    near = f"; nearest earlier memory at cosine {prepared.near[0][1]:.3f}" if prepared.near else ""
    near += f"; not counted: {prepared.faded} near it, due to be hidden" if prepared.faded else ""
    worth = f"; importance {state.importance:.3f} ({prepared.draft.worth})" if prepared.draft.worth else ""
    return f"stored as {state.kind} in {state.tier} ({reason}){worth}; uniqueness {state.uniqueness:.3f}{near}"

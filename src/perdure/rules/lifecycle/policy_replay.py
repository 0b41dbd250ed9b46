"""The life of memories lived again under another policy: from birth, with what people did and what was asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from perdure.records.instant import Instant, to_instant
from perdure.records.memory import Form, Kind, Record, Scope, Sort, State, Status, Tier
from perdure.records.plan import Change, Row
from perdure.records.policy import Policy
from perdure.records.report import Operation
from perdure.rules.insertion import place_in_tiers, with_due
from perdure.rules.language.tokens import count_tokens
from perdure.rules.language.words import word_set
from perdure.rules.lifecycle.compression_forms import apply_allowed_forms, forms_reached, render_form
from perdure.rules.lifecycle.trajectory import Accesses, Trajectory, Transition, replay

_ENUMS: Final[Mapping[str, type[StrEnum]]] = {
    "kind": Kind,
    "scope": Scope,
    "tier": Tier,
    "status": Status,
    "form": Form,
    "sort": Sort,
}
_DECIDES: Final = frozenset({"remember", "extract", "archive", "restore", "pin", "unpin", "move", "undo", "settle"})
"""Operations by which a person says where a memory belongs; all that they write stands under any policy."""
_BY_POLICY: Final = frozenset({"sweep", "fit", "decay", "policy"})
"""Operations that only do what a policy says; under another one they would have done something else."""
_PLACE: Final = frozenset({"tier", "tier_ms", "tier_accesses", "status", "status_ms", "due_ms", "held"})
_SHAPE: Final = frozenset({"form", "form_ms", "firm", "tokens"})
_BY_USE: Final = word_set(
    "access_count access_mass tier_accesses accessed_ms access2_ms access3_ms boosted boost_day reinforcements level "
    "firm held"
)
"""Fields that are at their defaults until something happens to a memory."""
_FOR_GOOD: Final = frozenset({Status.SUPERSEDED, Status.INVALIDATED, Status.CONSOLIDATED})
_MINUTE_MS: Final = 60_000
_NAMES: Final = frozenset(f.name for f in fields(State))


@dataclass(frozen=True, slots=True)
class MemoryHistory:
    """What happened to one memory whatever the policy."""

    id: str  # which one
    text: str  # its words, for shorter forms
    born: State  # its state at birth
    message: bool  # it was among the last messages of its session then
    events: tuple[tuple[Instant, Mapping[str, Any]], ...] = ()  # (instant, what a decision then wrote), oldest first
    accesses: Accesses = ()  # when it was returned by a recall, oldest first


@dataclass(frozen=True, slots=True)
class ReplayedLife:
    """What a policy made of one memory: its transitions in order, and its state in the end."""

    id: str
    transitions: tuple[Transition, ...] = field(repr=False)
    after: State

    def at(self, instant: Instant) -> Transition | None:
        """Return the last transition up to an instant; None if it was as it was born."""
        return next((s for s in reversed(self.transitions) if s.at <= instant), None)


def is_independent_of_policy(operation: Operation) -> bool:
    """Whether an operation did something that another policy would not have done otherwise."""
    return operation.operation not in _BY_POLICY


def reconstruct_past(record: Record, entries: Iterable[tuple[Operation, Change]], accesses: Accesses) -> MemoryHistory:
    """Return what happened to a memory whatever the policy, as its journal tells it.

    A memory whose journal does not tell its birth (it was copied from another store) is taken to have begun with its
    present base values. ``entries`` are the changes of it by operations that ``is_independent_of_policy`` lets pass.
    """
    born: State | None = None
    events: list[tuple[Instant, Mapping[str, Any]]] = []
    for operation, change in entries:
        if change.after is None:
            continue
        if change.before is None:
            born, events = born or _initial_state(change.after), []
        elif kept := _decided_row(operation, change.after):
            events.append((_instant(operation), kept))
    begins = born if born is not None else _as_born(record.state)
    whole = replace(begins, form=Form.FULL, form_ms=begins.created_ms, tokens=count_tokens(record.content.text))
    return MemoryHistory(
        record.id,
        record.content.text,
        whole,
        message=whole.tier is Tier.HOT and whole.kind is Kind.EPISODE,
        events=tuple(events),
        accesses=accesses,
    )


def state_from_row(row: Mapping[str, Any]) -> State:
    """Return the state that a whole row of a plan or of the journal holds."""
    return State(**_typed_row(row))


def _initial_state(row: Mapping[str, Any]) -> State | None:
    try:
        return state_from_row(row)
    except (TypeError, ValueError):  # journalled by an earlier version, which knew fewer columns
        return None


def _as_born(state: State) -> State:
    """Return a state as if nothing had happened to the memory since its birth."""
    untouched: dict[str, Any] = {f.name: f.default for f in fields(State) if f.name in _BY_USE}
    born = dict.fromkeys(("anchor_ms", "tier_ms", "status_ms", "strength_ms"), state.created_ms)
    return replace(state, status=Status.ACTIVE, tier=Tier.WARM, **{**untouched, **born})


def _typed_row(row: Mapping[str, Any]) -> dict[str, Any]:
    return {n: _ENUMS[n](v) if n in _ENUMS else v for n, v in row.items() if n in _NAMES}


def _decided_row(operation: Operation, after: Row) -> dict[str, Any]:
    """Return what of a change would have been written under any policy: what was decided, not where it belonged."""
    row = _typed_row(after)
    if operation.operation in _DECIDES:
        return {n: v for n, v in row.items() if n not in ("due_ms", "held")}
    stays = {"status", "status_ms"} if row.get("status") in _FOR_GOOD else set()
    return {n: v for n, v in row.items() if n not in _PLACE | _SHAPE or n in stays}


def _instant(operation: Operation) -> Instant:
    """Return when an operation was: it tells the minute, and its id begins with the millisecond."""
    minute = to_instant(datetime.fromisoformat(operation.at.removesuffix(" UTC") + "+00:00"))
    try:
        exact = int(operation.id.replace("-", "")[:12], 16)
    except ValueError:
        return minute
    return exact if minute <= exact < minute + _MINUTE_MS else minute


def replay_lives(pasts: Sequence[MemoryHistory], policy: Policy, now: Instant) -> list[ReplayedLife]:
    """Return what a policy would have made of memories, with everything else as it was.

    Gates are not asked: they hold back moves, so the lives are the worst that the policy allows.
    """
    plain = [p for p in pasts if not p.events]
    texts = {p.id: p.text for p in pasts}
    starts = dict(
        zip(
            (p.id for p in pasts),
            place_in_tiers([p.born for p in pasts], [p.message for p in pasts], policy),
            strict=True,
        )
    )
    trajectories = _replay_forms(
        {p.id: starts[p.id] for p in plain}, {p.id: p.accesses for p in plain}, texts, policy, now
    )
    lives = {c.id: ReplayedLife(c.id, c.transitions, c.after) for c in trajectories}
    lives |= {p.id: _replay_decisions(p, starts[p.id], policy, now) for p in pasts if p.events}
    return [lives[p.id] for p in pasts]


def _replay_decisions(past: MemoryHistory, start: State, policy: Policy, now: Instant) -> ReplayedLife:
    transitions: list[Transition] = []
    state, since = start, 0
    because = "decided by a person, or no longer true"
    for at, wrote in (*past.events, (now, MappingProxyType({}))):
        due = sorted(a for a in past.accesses if since < a[0] <= at)
        (trajectory,) = _replay_forms({past.id: state}, {past.id: due}, {past.id: past.text}, policy, at)
        transitions += trajectory.transitions
        before, since = trajectory.after, at
        state = with_due([replace(before, **{**wrote, "held": False})], policy)[0] if wrote else before
        if (state.status, state.tier, state.form) != (before.status, before.tier, before.form):
            transitions.append(Transition(at, state, "decided", because))
    return ReplayedLife(past.id, tuple(transitions), state)


def _replay_forms(
    states: Mapping[str, State],
    accesses: Mapping[str, Accesses],
    texts: Mapping[str, str],
    policy: Policy,
    now: Instant,
) -> list[Trajectory]:
    """Replay memories; what would lose too much of its meaning is not shortened, as in a sweep."""
    trajectories = replay(states, accesses, now, policy)
    reached = forms_reached(trajectories)
    return [
        apply_allowed_forms(c, {f: render_form(texts[c.id], f, policy.compression) for f in reached[c.id]})
        if c.id in reached
        else c
        for c in trajectories
    ]

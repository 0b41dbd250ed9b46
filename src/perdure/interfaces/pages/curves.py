"""How a memory's signals were, and how they will be if nothing happens: from its journal and its state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Final

from perdure.interfaces.pages.plots import DrawnSignal
from perdure.records.instant import DAY_MS, Instant
from perdure.records.memory import MemoryItem, State
from perdure.rules.lifecycle.signals import current_signals

if TYPE_CHECKING:
    from perdure.records.policy import Policy
    from perdure.records.report import Entry

NAMES: Final = ("value", "importance", "confidence", "strength", "retention")
AHEAD: Final = 90  # days that are foreseen
_POINTS: Final = 48  # points of the past, and of the future
_STATE: Final = frozenset(field.name for field in fields(State))


@dataclass(frozen=True, slots=True)
class StateSpan:
    """The state that a memory had from an instant on."""

    since: Instant
    state: State


def states_before(item: MemoryItem, entries: Sequence[Entry]) -> list[StateSpan]:
    """Return the states that a memory has had, newest first, going back through its journal."""
    state, spans = item.state, list[StateSpan]()
    for entry in reversed([e for e in entries if e.target == "memory"]):
        changed = {name: value for name, value in (entry.before or {}).items() if name in _STATE}
        if entry.before is None:
            break
        spans.append(StateSpan(_begin(state), state))
        state = replace(state, **changed)
    return [*spans, StateSpan(item.state.recorded_ms, state)]


def _begin(state: State) -> Instant:
    """Return when a state began: the latest instant that it names."""
    return max(state.anchor_ms, state.tier_ms, state.status_ms, state.form_ms, state.strength_ms, state.recorded_ms)


def curves(item: MemoryItem, entries: Sequence[Entry], policy: Policy, now: Instant) -> dict[str, DrawnSignal]:
    """Return signal -> how it was since the memory was stored, and how it will be without further access."""
    born = item.state.recorded_ms
    spans, marks = (
        states_before(item, entries),
        sorted({(_begin(s.state) - now) / DAY_MS for s in states_before(item, entries)}),
    )
    past = [born + (now - born) * n // _POINTS for n in range(_POINTS)]
    future = [now + AHEAD * DAY_MS * n // _POINTS for n in range(_POINTS + 1)]
    before = [_signals(_at(spans, at), policy, at) for at in (*past, now)]
    after = [_signals(item.state, policy, at) for at in future]
    return {
        name: DrawnSignal(
            list(_points(before, [*past, now], now, index)), list(_points(after, future, now, index)), marks
        )
        for index, name in enumerate(NAMES)
    }


def _points(
    rows: Sequence[tuple[float, ...]], times: Sequence[Instant], now: Instant, index: int
) -> Iterator[tuple[float, float]]:
    for row, at in zip(rows, times, strict=True):
        yield (at - now) / DAY_MS, row[index]


def _at(spans: Sequence[StateSpan], at: Instant) -> State:
    return next((span.state for span in spans if span.since <= at), spans[-1].state)


def _signals(state: State, policy: Policy, at: Instant) -> tuple[float, ...]:
    signals = current_signals([state], policy, at)
    return tuple(float(getattr(signals, name)[0]) for name in NAMES)

"""One memory whole: its words, its source, its signals over time, its history, its links and conflicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Final

from perdure.interfaces.pages.changes import actions
from perdure.interfaces.pages.page_request import Answer, HtmlPage, PageRequest, Redirect
from perdure.interfaces.pages.plots import DrawnSignal, curve
from perdure.interfaces.views.journal import view_fact, view_over
from perdure.records.errors import NotFound
from perdure.records.explanation import Explanation
from perdure.records.instant import DAY_MS, Instant, from_instant, to_instant
from perdure.records.memory import Kind, MemoryItem, State
from perdure.records.policy import Policy
from perdure.records.report import JournalEntry
from perdure.rules.lifecycle.signals import current_signals

_ENTRIES: Final = 30  # of the journal, the newest
_TABLE: Final = 6  # every sixth point of a curve stands in its table
NAMES: Final = ("value", "importance", "confidence", "strength", "retention")
AHEAD: Final = 90  # days that are foreseen
_POINTS: Final = 48  # points of the past, and of the future
_STATE: Final = frozenset(field.name for field in fields(State))


def memory(request: PageRequest) -> Answer:
    """Show one memory. Looking does not count as an access."""
    identity = request.required_value("id", "The memory's id")
    item = read(request, identity)
    why = request.memory.why(item.id)
    now = to_instant(request.memory.now)
    drawn = curves(item, why.history, request.memory.policy, now)
    days = [at for at, _ in (*drawn["value"].past, *drawn["value"].future[1:])][::_TABLE]
    points = {name: dict((*one.past, *one.future)) for name, one in drawn.items()}
    values = {
        "item": item,
        "why": why,
        "over": list(view_over(why)),
        "facts": [] if why.fact is None else list(view_fact(why.fact))[1:],  # its words stand above already
        "signals": [
            (name, getattr(item, name), _signal_reason(why, name), curve(drawn[name], _label(name))) for name in NAMES
        ],
        "table": [(from_instant(now + int(day * 86_400_000)), [points[name][day] for name in NAMES]) for day in days],
        "names": NAMES,
        "history": _history(why.history),
        "more": max(len(why.history) - _ENTRIES, 0),
        "edges": request.memory.edges(item.id) if item.status == "active" else [],
        "actions": [a for a in actions(item) if request.allows(a.verb) and _is_offered(a.verb, item, why)],
        "links": [(kind, other, _content(request, other)) for kind, other, _ in why.links[:20]],
    }
    return HtmlPage("memory", "Memory", values)


def read(request: PageRequest, identity: str) -> MemoryItem:
    """Return a memory, also one that is hidden."""
    item = request.memory.get(identity, include_archived=True)
    if item is None:
        raise NotFound("There is no such memory.", remedy="It may have been erased. Search for its words.")
    return item


def find_by_id(request: PageRequest) -> Answer:
    """Go to what an id means: a memory, else an operation."""
    identity = request.required_value("id", "The id")
    if request.memory.get(identity, include_archived=True) is not None:
        return Redirect(request.link("/memory", id=identity))
    operation = request.memory.operation(identity, request.namespace)
    if operation is None:
        raise NotFound(
            "There is no memory and no operation with this id.", remedy="It may have been erased. Search for its words."
        )
    return Redirect(request.link("/plans", operation=operation.id))


def _label(name: str) -> str:
    return f"{name.capitalize()} since it was stored, and 90 days ahead if nothing happens; a table follows"


def _signal_reason(why: Explanation, name: str) -> str:
    return why.signals.get(name, "").partition(": ")[2] or why.signals.get(name, "")


def _history(entries: tuple[JournalEntry, ...]) -> list[list[JournalEntry]]:
    operations: dict[str, dict[str, JournalEntry]] = {}
    for entry in entries:
        operations.setdefault(entry.operation_id, {}).setdefault(entry.because, entry)
    return [list(reasons.values()) for reasons in operations.values()][::-1][:_ENTRIES]


def _is_offered(verb: str, item: MemoryItem, why: Explanation) -> bool:
    """Return whether an answer means anything to a memory: both of a conflict, still true where that is in doubt."""
    if verb == "both":
        return why.fact is not None and any(clash.outcome == "open" for clash in why.fact.conflicts)
    return verb != "confirm" or item.kind is Kind.FACT or bool(why.likely_untrue)


def _content(request: PageRequest, identity: str) -> str:
    item = request.memory.get(identity, include_archived=True)
    return item.content if item else ""


@dataclass(frozen=True, slots=True)
class StateSpan:
    """The state that a memory had from an instant on."""

    since: Instant
    state: State


def states_before(item: MemoryItem, entries: Sequence[JournalEntry]) -> list[StateSpan]:
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


def curves(item: MemoryItem, entries: Sequence[JournalEntry], policy: Policy, now: Instant) -> dict[str, DrawnSignal]:
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

"""Reinforcing and weakening by hand (seeds 000 section 2 and 003): one plan for each namespace."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from perdure.operations.decisions import StateChange, decide_all, ids_by_namespace, read_visible
from perdure.operations.ports import Context
from perdure.operations.writing import retried
from perdure.records.instant import Instant
from perdure.records.memory import Record, State
from perdure.records.signal_results import ReinforcedMemory, ReinforceResult, WeakenedMemory, WeakenResult
from perdure.rules.lifecycle.decay import preview
from perdure.rules.lifecycle.reinforcement import Boost, SignalChange, reinforce_states, weaken_states

Seen = dict[str, tuple[str, SignalChange]]
"""Memory id -> the beginning of what it shows, and what became of it."""


def reinforce(ctx: Context, ids: Sequence[str], boost: Boost, *, update_access: bool) -> ReinforceResult:
    """Raise the importance, strength and stability of memories.

    Args:
        ctx: Store, policy, clock, ids.
        ids: Each once. An archived memory is not shown and so not found; nothing of it changes.
        boost: How much.
        update_access: Whether it counts as an access too, so that decay starts anew.
    """
    now = ctx.clock()

    def outcomes(states: list[State]) -> list[SignalChange]:
        return reinforce_states(states, [update_access] * len(states), boost, ctx.policy, now)

    seen, missing = _each(ctx, ids, outcomes, "reinforce", now, accessed=update_access)
    found = [
        ReinforcedMemory(i, words, o.old, o.new, o.new - o.old) for i in ids if i in seen for words, o in [seen[i]]
    ]
    mean = sum(m.boost_applied for m in found) / len(found) if found else 0.0
    return ReinforceResult(len(found), mean, found, missing)


def weaken(ctx: Context, ids: Sequence[str], amount: float) -> WeakenResult:
    """Lower the strength of memories by hand (seed 003, "Manual decay"); the drop of one call is bounded.

    Args:
        ctx: Store, policy, clock, ids.
        ids: Each once; an archived memory is not found.
        amount: How much energy to take, 0 or more.
    """
    now = ctx.clock()

    def outcomes(states: list[State]) -> list[SignalChange]:
        return weaken_states(states, amount, ctx.policy, now)

    seen, missing = _each(ctx, ids, outcomes, "weaken", now, accessed=False)
    found = [WeakenedMemory(i, words, o.old, o.new) for i in ids if i in seen for words, o in [seen[i]]]
    mean = sum(m.old_strength - m.new_strength for m in found) / len(found) if found else 0.0
    return WeakenResult(len(found), mean, found, missing)


def _each(
    ctx: Context,
    ids: Sequence[str],
    outcomes: Callable[[list[State]], list[SignalChange]],
    operation: str,
    now: Instant,
    *,
    accessed: bool,
) -> tuple[Seen, list[str]]:
    """Apply what a rule makes of each memory, namespace by namespace; return it, and the ids that are not in view."""
    seen: Seen = {}

    def attempt(place: str, wanted: list[str]) -> Seen:
        records = read_visible(ctx, place, wanted)
        made: list[SignalChange] = []

        def decide(states: list[State]) -> list[StateChange]:
            made.extend(outcomes(states))
            return [StateChange(o.state, o.because, accessed=accessed) for o in made]

        if records:
            note = f"{operation} {_counted(records)}"
            decide_all(ctx, place, records, decide, operation=operation, note=note, now=now)
        return {r.id: (_words(r), o) for r, o in zip(records, made, strict=True)}

    for place, wanted in ids_by_namespace(ctx, ids).items():
        seen |= retried(lambda place=place, wanted=wanted: attempt(place, wanted))  # type: ignore[misc]  # bound now
    return seen, [i for i in ids if i not in seen]


def _words(record: Record) -> str:
    return preview(record.content.text if record.content.shown is None else record.content.shown)


def _counted(records: Sequence[Record]) -> str:
    return records[0].id if len(records) == 1 else f"{len(records)} memories"

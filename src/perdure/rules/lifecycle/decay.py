"""The decay report: what every memory's importance is worth by now, and what of it is written down.

What is written is a record for readers (``State.decayed``); no base changes: decay never acts on its own output.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from perdure.formulas.importance import ImportanceCurve, Shape
from perdure.records.instant import DAY_MS, Instant
from perdure.records.memory import State, Tier
from perdure.records.plan import Change, Plan, Target
from perdure.records.policy import Policy
from perdure.records.signal_results import DecayedMemory
from perdure.records.store_rows import ImportanceRow
from perdure.rules.lifecycle.state_arrays import days_between
from perdure.rules.lifecycle.trajectory import Accesses, count_accesses

PREVIEW: Final = 80  # characters of a memory that a result shows


@dataclass(frozen=True, slots=True)
class Decay:
    """The curve that a call asks for."""

    shape: Shape  # exponential, linear or step
    half_life_days: float  # 1 to 365
    floor: float  # 0 to 0.5; decay does not go below it
    weight: float  # how much of the loss frequent access gives back, 0 to 1


@dataclass(frozen=True, slots=True)
class DecayPage:
    """What decay has made of some memories."""

    analyzed: int  # how many there are
    factors: float  # the sum of their factors
    decayed: list[DecayedMemory]  # those that are worth less than their base
    # (memory, what it is worth) where that is not what was last written down, pinned ones and the vault left out
    unwritten: list[tuple[ImportanceRow, float]]


def preview(text: str) -> str:
    """Return the beginning of a text on one line."""
    line = text[:PREVIEW]
    if not line.isprintable():  # line ends and tabs are not
        line = " ".join(line.split())
    return f"{line} ..." if len(text) > PREVIEW else line


def decay_page(
    rows: Sequence[ImportanceRow],
    states: Mapping[str, State],
    accesses: Mapping[str, Accesses],
    decay: Decay,
    policy: Policy,
    now: Instant,
) -> DecayPage:
    """Return what decay has made of some memories.

    Previews are one character longer than ``PREVIEW`` where there is more. ``states`` and ``accesses`` are those of
    memories with accesses that no sweep has counted in.
    """
    if not rows:
        return DecayPage(0, 0.0, [], [])
    rows = _count_waiting(rows, states, accesses, policy)
    base = np.array([row.importance for row in rows], dtype=np.float64)
    days = days_between(np.array([row.anchor_ms for row in rows], dtype=np.int64), now)
    accessed = np.array([row.access_count for row in rows], dtype=np.float64)
    curve = ImportanceCurve(base, accessed, decay.half_life_days, decay.weight, decay.floor, decay.shape)
    factor, worth = curve.factor(days), curve.value(days)
    page = DecayPage(len(rows), float(factor.sum()), [], [])
    for g, value, share, age in zip(rows, worth.tolist(), factor.tolist(), days.astype(int).tolist(), strict=True):
        if value < g.importance:
            lost = DecayedMemory(g.id, preview(g.preview), g.importance, value, share, age, g.access_count)
            page.decayed.append(lost)
        written = g.importance if g.decayed is None else g.decayed
        if value != written and not (g.pinned or g.tier == Tier.VAULT):
            page.unwritten.append((g, value))
    return page


def _count_waiting(
    rows: Sequence[ImportanceRow], states: Mapping[str, State], accesses: Mapping[str, Accesses], policy: Policy
) -> Sequence[ImportanceRow]:
    if not states:
        return rows
    states_after = count_accesses(list(states.values()), [accesses.get(i, ()) for i in states], policy)
    after = dict(zip(states, states_after, strict=True))
    names = ("importance", "access_count", "anchor_ms")
    return [g._replace(**{n: getattr(after[g.id], n) for n in names}) if g.id in after else g for g in rows]


def decay_plan(page: DecayPage, decay: Decay, *, plan_id: str, namespace: str, policy: Policy, now: Instant) -> Plan:
    """Return the plan that writes down what memories are worth; it has no changes where that is written already."""
    how = f"{decay.shape}, half-life {decay.half_life_days:g} days, floor {decay.floor:g}, weight {decay.weight:g}"
    changes = tuple(
        Change(
            Target.MEMORY,
            g.id,
            {"decayed": g.decayed, "decayed_ms": g.decayed_ms, "op": g.op},
            {"decayed": worth, "decayed_ms": now, "op": plan_id},
            f"importance has decayed to {worth:.3f} from a base of {g.importance:.3f} ({how}; "
            f"{max(0, now - g.anchor_ms) / DAY_MS:.1f} days since the last access, {g.access_count} accesses)",
        )
        for g, worth in page.unwritten
    )
    note = f"decay: {len(changes)} values stored"
    return Plan(plan_id, "decay", namespace, now, changes, policy.version, note)

"""Figures about many memories: percentiles, and what is at risk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np

from perdure.records.instant import DAY_MS, Instant, from_instant
from perdure.records.memory import Form, Kind, MemoryItem, Status, Tier
from perdure.records.policy import Policy
from perdure.records.report import Size
from perdure.rules.lifecycle.state_arrays import Columns, lasting_value_curve
from perdure.rules.source_trust import takes_over

SHOWN: Final = 20
HIGH_SHARE: Final = 50
TENTHS: Final = 10
AGES: Final = (("day", 1.0), ("week", 7.0), ("month", 30.0), ("quarter", 91.0), ("year", 365.0), ("older", np.inf))
"""Age of a memory -> less than so many days."""
NEAR: Final = 0.1  # so far below the vault's value a memory is nearly worth it


@dataclass(frozen=True, slots=True)
class MemoryCounts:
    """How many memories there are by status, and of those in view by tier and kind."""

    tiers: Mapping[str, int]
    statuses: Mapping[str, int]
    kinds: Mapping[str, int]

    @property
    def visible(self) -> int:
        """How many are in view."""
        return sum(self.tiers.values())


def count_memories(tally: Iterable[tuple[str, str, str, str, int]]) -> MemoryCounts:
    """Return the counts of a store's tally: (namespace, kind, tier, status, how many)."""
    tiers, statuses, kinds = Counter[str](), Counter[str](), Counter[str]()
    for _, kind, tier, status, count in tally:
        statuses[status] += count
        if status == Status.ACTIVE:
            tiers[tier] += count
            kinds[kind] += count
    return MemoryCounts(dict(tiers), dict(statuses), dict(kinds))


def percentiles(values: Sequence[float]) -> dict[str, float]:
    """Return the 10th, 50th and 90th percentile of some values; empty for none."""
    if not values:
        return {}
    return {f"p{p}": round(float(np.percentile(values, p)), 4) for p in (10, 50, 90)}


def at_risk(
    fading: Sequence[tuple[MemoryItem, Instant]], sample: Sequence[MemoryItem]
) -> tuple[tuple[str, float, datetime], ...]:
    """Return memories of at least median value that are about to be archived: (id, value, when), the best first."""
    if not sample:
        return ()
    median = float(np.percentile([m.value for m in sample], HIGH_SHARE))
    risky = [(m.id, round(m.value, 4), from_instant(at)) for m, at in fading if m.value >= median]
    return tuple(sorted(risky, key=lambda r: -r[1])[:SHOWN])


def histogram(values: Sequence[float], total: int) -> tuple[int, ...]:
    """Return how many of ``total`` memories have a value in each tenth from 0 to 1, going by those of a sample."""
    counts, _ = np.histogram(values, bins=TENTHS, range=(0.0, 1.0))
    return tuple(round(int(n) * total / max(len(values), 1)) for n in counts)


def sizes(sample: Sequence[MemoryItem], counts: MemoryCounts, now: Instant) -> dict[str, dict[str, Size]]:
    """Return how much the visible memories are, by tier, kind, form and age.

    How many memories a tier and a kind have is counted; all else goes by those of a sample, scaled to that number. A
    group has names in the order in which they are shown; ages are since a memory happened.
    """
    parts: dict[str, Callable[[MemoryItem], str]] = {
        "tier": lambda m: m.tier.value,
        "kind": lambda m: m.kind.value,
        "form": lambda m: m.form.value,
        "age": lambda m: _age((now - m.state.created_ms) / DAY_MS),
    }
    orders = {"tier": [*Tier], "kind": [*Kind], "form": [*Form], "age": [name for name, _ in AGES]}
    found: dict[str, dict[str, list[MemoryItem]]] = {part: {} for part in parts}
    for m in sample:
        for part, name_of in parts.items():
            found[part].setdefault(name_of(m), []).append(m)
    counted: dict[str, Mapping[str, int]] = {"tier": counts.tiers, "kind": counts.kinds}
    for part in ("form", "age"):
        shares = {name: len(items) / len(sample) for name, items in found[part].items()}
        counted[part] = {name: round(share * counts.visible) for name, share in shares.items()}
    return {
        part: {
            str(n): _size(found[part].get(n) or sample, counted[part][n]) for n in orders[part] if counted[part].get(n)
        }
        for part in parts
    }


def _size(items: Sequence[MemoryItem], many: int) -> Size:
    scale = many / max(len(items), 1)
    texts = sum(len(m.content.encode("utf-8", "replace")) for m in items)
    return Size(many, round(sum(m.tokens for m in items) * scale), round(texts * scale))


def _age(days: float) -> str:
    return next(name for name, most in AGES if days < most)


def mean_values(sample: Sequence[MemoryItem]) -> dict[str, float]:
    """Return the mean value of the memories that are shown in each form."""
    values: dict[str, list[float]] = {}
    for m in sample:
        values.setdefault(m.state.form.value, []).append(m.value)
    return {form: round(float(np.mean(some)), 4) for form, some in values.items()}


def ready_for_vault(sample: Sequence[MemoryItem], policy: Policy) -> list[MemoryItem]:
    """Return the memories outside of the vault that have the accesses for it."""
    return [m for m in sample if m.tier is not Tier.VAULT and m.access_count >= policy.tiers.vault_accesses]


def vault_candidates(ready: Sequence[MemoryItem], policy: Policy) -> tuple[tuple[str, float, int], ...]:
    """Return those of the memories that are ready that have nearly the value: (id, value, accesses), best first."""
    keys = policy.tiers
    if not ready:
        return ()
    columns = Columns.of([m.state for m in ready])
    value = lasting_value_curve(columns, policy).value(0.0).tolist()
    near = [
        (m.id, round(v, 4), m.access_count) for m, v in zip(ready, value, strict=True) if v >= keys.vault_value - NEAR
    ]
    return tuple(sorted(near, key=lambda c: (-c[1], c[0]))[:SHOWN])


def suggested_reviews(sample: Sequence[MemoryItem], policy: Policy, now: Instant) -> list[MemoryItem]:
    """Return the memories whose retention is below the policy's threshold, the most valuable first.

    What tells its reader to ignore instructions is nothing to be learned by heart, and a person need not be asked again
    soon about what somebody has confirmed.
    """
    since = now - int(policy.knowledge.aging_days * DAY_MS)
    low = (
        m
        for m in sample
        if m.retention < policy.retention.threshold
        and not takes_over(m.content)
        and (m.state.validated_ms is None or m.state.validated_ms < since)
    )
    return sorted(low, key=lambda m: (-m.value, m.id))

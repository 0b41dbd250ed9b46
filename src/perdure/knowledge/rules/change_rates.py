"""How fast facts of each sort change: from the lives of facts to rates of decay."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from perdure.knowledge.formulas.survival import change_rate, decay_rate, interval, prior_days, validation_days
from perdure.knowledge.records.facts import Fact
from perdure.knowledge.records.results import Rate
from perdure.records.instant import DAY_MS, Instant
from perdure.records.memory import Document, Shelf, State, Status
from perdure.records.plan import Change
from perdure.records.policy import Policy
from perdure.rules.document_edits import document_change

_DIGITS: Final = 9


@dataclass(frozen=True, slots=True)
class FactLifetime:
    """How long one fact was watched, and whether it changed then."""

    type: str  # its sort of predicate
    days: float  # days from when it was known to its change, or to the last instant at which one would have been seen
    changed: bool  # whether it ended by a change


def fact_lifetime(fact: Fact, state: State, now: Instant) -> FactLifetime | None:
    """Return how long a fact was watched; None for one that was not.

    It is watched from when it was said, or from when it became true if that is later. How long it had been true before
    is no exposure: facts of its sort that had changed by then were never heard of.

    - superseded (corrected, replaced): a change, when it ceased to be true, else when it was replaced;
    - active: it still holds as far as is known, so it is censored now;
    - archived: nobody watches it any more, so it is censored then;
    - invalidated: it was never so, or nobody knows since when. The world did not change, we were wrong: no change, and
      censored then, because what is not believed cannot be seen to change;
    - consolidated: the fact that stands for it has its years.
    """
    if state.status is Status.CONSOLIDATED:
        return None
    begun = max(state.created_ms, fact.valid_from or state.created_ms)
    if state.status is Status.ACTIVE:
        return FactLifetime(fact.type, max(0, now - begun) / DAY_MS, changed=False)
    ended = state.status_ms if fact.retired is None else min(fact.retired, state.status_ms)  # when said, if known
    changed = state.status is Status.SUPERSEDED
    if changed and fact.valid_to is not None and fact.valid_to > begun:
        ended = min(ended, fact.valid_to)
    return FactLifetime(fact.type, max(0, min(ended, now) - begun) / DAY_MS, changed)


def estimate_rates(lives: Iterable[FactLifetime], policy: Policy) -> tuple[Rate, ...]:
    """Return a rate for each sort of predicate, by name."""
    by_sort: dict[str, list[FactLifetime]] = {}
    for one in lives:
        by_sort.setdefault(one.type, []).append(one)
    prior = prior_days(policy.confidence.fact_rate)
    return tuple(_rate(name, by_sort[name], prior, policy) for name in sorted(by_sort))


def _rate(name: str, lives: Sequence[FactLifetime], prior: float, policy: Policy) -> Rate:
    changes, days = sum(one.changed for one in lives), sum(one.days for one in lives)
    mean, ends = change_rate(changes, days, prior), interval(changes, days, prior)
    low, high = (decay_rate(end) for end in ends)
    why = _refusal_reason(name, changes, (low, high), policy)
    return Rate(
        type=name,
        facts=len(lives),
        changes=changes,
        exposure_days=round(days, 3),
        change_rate=round(mean, _DIGITS),
        rate=round(decay_rate(mean), _DIGITS),
        low=round(low, _DIGITS),
        high=round(high, _DIGITS),
        validation_days=round(validation_days(mean), 3),
        in_use=not why,
        because=why or f"{changes} changes in {days:,.0f} days",
    )


def _refusal_reason(name: str, changes: int, ends: tuple[float, float], policy: Policy) -> str:
    least, most = policy.knowledge.rate_changes, policy.knowledge.rate_width
    if not name:
        return "facts without a sort have nothing in common"
    if changes < least:
        return f"{changes} of {least} changes that it takes"
    width = ends[1] / ends[0]
    if width <= most:
        return ""
    return f"its interval is too wide: the upper end is {width:.2f} times the lower, and {most:g} times is allowed"


def rate_changes(found: Sequence[Rate], documents: Mapping[str, Document], now: Instant) -> list[Change]:
    """Return the changes that store rates; none for those that are stored (``documents``: sort -> document) already."""
    changes = []
    for rate in found:
        if not rate.type:
            continue
        before, data = documents.get(rate.type), rate.to_data()
        if before is None or {k: v for k, v in before.data.items() if k != "at_ms"} != data:
            because = f"{rate.rate:g} a day, {'in use' if rate.in_use else 'not in use'}: {rate.because}"
            old = None if before is None else before.data
            changes.append(document_change(Shelf.RATE, rate.type, "", old, {**data, "at_ms": now}, because))
    kept = {rate.type for rate in found}
    return changes + [
        document_change(Shelf.RATE, name, "", d.data, None, "no fact is of this sort any more")
        for name, d in documents.items()
        if name not in kept
    ]


def rates_in_use(documents: Iterable[Document]) -> dict[str, float]:
    """Return sort of predicate -> loss of confidence a day, of those learned rates that are in use."""
    return {d.id: float(d.data["rate"]) for d in documents if d.shelf is Shelf.RATE and d.data.get("in_use") is True}

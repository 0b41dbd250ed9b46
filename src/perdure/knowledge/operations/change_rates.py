"""Rates of change, learned from the facts of a namespace: told, or written down so that they count."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from perdure.knowledge.records.facts import Fact
from perdure.knowledge.records.learning_results import RatesResult
from perdure.knowledge.rules.change_rates import FactLifetime, fact_lifetime, rate_changes, rates_in_use
from perdure.knowledge.rules.change_rates import estimate_rates as rates_of
from perdure.knowledge.rules.predicate_cardinality import learned_cardinalities
from perdure.knowledge.rules.predicate_synonyms import asked_pairs
from perdure.operations.documents import all_documents
from perdure.operations.ports import Context
from perdure.operations.writing import retried
from perdure.records.document import Shelf
from perdure.records.instant import Instant
from perdure.records.plan import Plan

PAGE: Final = 2000


def rates(ctx: Context, namespace: str) -> RatesResult:
    """Return how fast facts of each sort change, as far as was seen; nothing is written."""
    found = rates_of(_lives(ctx, namespace, ctx.clock()), ctx.policy)
    default = ctx.policy.confidence.fact_rate
    return replace(RatesResult(namespace, default, found, learned=False), **_learned_predicates(ctx, namespace))


def learn_rates(ctx: Context, namespace: str) -> RatesResult:
    """Write down how fast facts of each sort change, so that those rates count that are sure enough."""

    def attempt() -> RatesResult:
        now = ctx.clock()
        found = rates_of(_lives(ctx, namespace, now), ctx.policy)
        there = {d.id: d for d in all_documents(ctx, namespace, Shelf.RATE)}
        changes = tuple(rate_changes(found, there, now))
        operations: tuple[str, ...] = ()
        if changes:
            used = sum(rate.in_use for rate in found)
            note = f"learn_rates: {len(found)} {'sort' if len(found) == 1 else 'sorts'} of facts, {used} in use"
            plan = Plan(ctx.ids(now), "learn_rates", namespace, now, changes, ctx.policy.version, note)
            ctx.store.apply(plan)
            operations = (plan.id,)
        default = ctx.policy.confidence.fact_rate
        told = RatesResult(namespace, default, found, learned=True, operations=operations)
        return replace(told, **_learned_predicates(ctx, namespace))

    return retried(attempt)


def known_rates(ctx: Context, namespace: str) -> dict[str, float]:
    """Return sort of predicate -> loss of confidence a day, of the learned rates that are in use."""
    return rates_in_use(all_documents(ctx, namespace, Shelf.RATE))


def _learned_predicates(ctx: Context, namespace: str) -> dict[str, Any]:
    """Return what answers taught about predicates, as fields of the result."""
    lessons = list(all_documents(ctx, namespace, Shelf.LESSON))
    return {"predicates": learned_cardinalities(lessons, ctx.policy.knowledge.lessons), "alike": asked_pairs(lessons)}


def _lives(ctx: Context, namespace: str, now: Instant) -> Iterator[FactLifetime]:
    after = ("", "")
    while page := ctx.store.documents.page(namespace, Shelf.FACT, after, PAGE):
        after = page[-1].id, page[-1].name
        states = ctx.store.states(namespace, [d.id for d in page])
        for document in page:
            if document.id in states:
                one = fact_lifetime(Fact.from_data(document.id, document.data), states[document.id][0], now)
                if one is not None:
                    yield one

"""Rates of change, learned from the facts of a namespace: reported, or written down so that they count."""

from __future__ import annotations

from collections.abc import Iterator

from perdure.knowledge.records.facts import Fact
from perdure.knowledge.records.results import Rate, RatesResult
from perdure.knowledge.rules.change_rates import FactLifetime, estimate_rates, fact_lifetime, rate_changes, rates_in_use
from perdure.knowledge.rules.predicate_registry import asked_pairs
from perdure.operations.documents import all_documents, pages, write_documents
from perdure.operations.ports import Context
from perdure.operations.writing import retry
from perdure.records.instant import Instant
from perdure.records.memory import Shelf


def rates(ctx: Context, namespace: str) -> RatesResult:
    """Return how fast facts of each sort change, as far as was seen; nothing is written."""
    found = estimate_rates(_lifetimes(ctx, namespace, ctx.clock()), ctx.policy)
    return _result(ctx, namespace, found, learned=False)


def learn_rates(ctx: Context, namespace: str) -> RatesResult:
    """Write down how fast facts of each sort change, so that those rates count that are sure enough."""

    def attempt() -> RatesResult:
        now = ctx.clock()
        found = estimate_rates(_lifetimes(ctx, namespace, now), ctx.policy)
        documents = {d.id: d for d in all_documents(ctx, namespace, Shelf.RATE)}
        used = sum(rate.in_use for rate in found)
        note = f"learn_rates: {len(found)} {'sort' if len(found) == 1 else 'sorts'} of facts, {used} in use"
        operations = write_documents(ctx, namespace, "learn_rates", rate_changes(found, documents, now), note)
        return _result(ctx, namespace, found, learned=True, operations=operations)

    return retry(attempt)


def known_rates(ctx: Context, namespace: str) -> dict[str, float]:
    """Return sort of predicate -> loss of confidence a day, of the learned rates that are in use."""
    return rates_in_use(all_documents(ctx, namespace, Shelf.RATE))


def _result(
    ctx: Context, namespace: str, found: tuple[Rate, ...], *, learned: bool, operations: tuple[str, ...] = ()
) -> RatesResult:
    """Return rates with the predicates of which a person was asked whether they are the same."""
    alike = asked_pairs(all_documents(ctx, namespace, Shelf.LESSON))
    return RatesResult(namespace, ctx.policy.confidence.fact_rate, found, learned, operations, alike)


def _lifetimes(ctx: Context, namespace: str, now: Instant) -> Iterator[FactLifetime]:
    for page in pages(all_documents(ctx, namespace, Shelf.FACT)):
        states = ctx.store.states(namespace, [d.id for d in page])
        for document in page:
            if document.id in states:
                one = fact_lifetime(Fact.from_data(document.id, document.data), states[document.id][0], now)
                if one is not None:
                    yield one

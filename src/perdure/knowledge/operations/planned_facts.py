"""What a fact that begins on a day to come does to those that hold until then, and what becomes of them without it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from perdure.knowledge.operations.fact_session import FactSession
from perdure.knowledge.records.facts import Fact
from perdure.records.instant import Instant
from perdure.rules.source_trust import least_trust


def end_then(work: FactSession, fact: Fact, end: Instant, follower: str, because: str) -> None:
    """Let a fact hold until a day that is to come: it ends by itself then, for the ``follower`` if one is planned."""
    own = fact.told_to if fact.followed_by else fact.valid_to
    told = replace(fact, valid_to=max(fact.valid_from or 0, end), told_to=own, followed_by=follower)
    work.rewrite(told, f"it holds until then: {because}")


def let_go_on(work: FactSession, planned: Fact, because: str) -> list[str]:
    """Give those that were to end for a fact that never held the end that they had; return their ids.

    What else is planned they hold until.
    """
    preceding = work.preceding_facts(planned) if planned.planned else []
    for fact in preceding:
        own = replace(fact, valid_to=fact.told_to, told_to=None, followed_by="")
        work.rewrite(_until_planned(work, own, gone=planned.id), because)
    return [fact.id for fact in preceding]


def call_off(work: FactSession, hidden: Collection[str], because: str) -> None:
    """Give those that were to end for facts that are hidden before they begin the end that they had."""
    work.read(hidden)
    for planned in [work.facts[i] for i in hidden if i in work.facts]:
        if planned.is_upcoming(work.now):
            let_go_on(work, planned, because)


def plan_again(work: FactSession, shown: Collection[str]) -> None:
    """Let others end for facts that come back into view before they begin to hold."""
    work.read(shown)
    planned = [f for i in shown if (f := work.facts.get(i)) is not None and f.is_upcoming(work.now)]
    for subject, predicate in dict.fromkeys((f.subject, f.predicate) for f in planned):
        beside = [k.fact for k in work.about(subject, predicate, work.now)]
        for fact in [*beside, *work.upcoming_facts(subject, predicate)]:
            own = replace(fact, valid_to=fact.told_to, told_to=None, followed_by="") if fact.followed_by else fact
            if (told := _until_planned(work, own)) != fact:
                work.rewrite(told, "what is planned after it was restored")


def write_new(work: FactSession, fact: Fact, because: str) -> None:
    """Decide what the document of a new fact says; nobody is asked whether one that is planned still holds before."""
    work.rewrite(_until_planned(work, fact), because)
    if fact.planned:
        work.change(fact.id, replace(work.states[fact.id], validated_ms=fact.valid_from), "made", because)


def _until_planned(work: FactSession, fact: Fact, *, gone: str = "") -> Fact:
    """Return a fact that ends where one that is planned already, not ``gone``, and contradicts it for good begins."""
    begin = fact.valid_from or 0
    planned = [] if fact.many or fact.denied else work.upcoming_facts(fact.subject, fact.predicate)
    trusted = [f for f in planned if f.id != gone and least_trust((f.trust, fact.trust)) is fact.trust]
    rivals = [f for f in trusted if f.contradicts(fact) and begin < (f.valid_from or 0) and not f.ends_before(fact)]
    first = min(rivals, key=lambda f: (f.valid_from or 0, f.id), default=None)
    if first is None or first.valid_from is None or fact.has_ended(first.valid_from):
        return fact
    return replace(fact, valid_to=first.valid_from, told_to=fact.valid_to, followed_by=first.id)

"""Facts of a session meet those of long term when they are promoted, as if they had been learned there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from perdure.knowledge.operations.alias_index import names_of
from perdure.knowledge.operations.apply_claims import ClaimSource, ClaimWriter
from perdure.knowledge.operations.fact_session import FactSession
from perdure.knowledge.operations.ports import resources
from perdure.knowledge.records.facts import Claim, Fact, Source, Span
from perdure.knowledge.rules.claim_resolution import Action, Decision, KnownFact, resolve_claim
from perdure.knowledge.rules.fact_records import link_change
from perdure.knowledge.rules.given_claims import interrupts, resolve_stated
from perdure.operations.ports import Context
from perdure.records.instant import Instant
from perdure.records.memory import INTERRUPTS, Scope, State, Status
from perdure.rules.decisions import Decisions
from perdure.rules.lifecycle.stale_facts import validated_at


def promote_facts(ctx: Context, namespace: str, decisions: Decisions, ids: Iterable[str]) -> list[str]:
    """Decide what becomes of facts of a session beside those of long term, and return those that are not promoted.

    What long term says already is confirmed there, and stands for the session's fact. What contradicts it is decided
    by the ladder, or asked about; what holds until a day interrupts it. What loses is superseded, and stays where it
    was.
    """
    work = FactSession(ctx, namespace, decisions.now, decisions)
    work.read(ids)
    writer, mine = ClaimWriter(work), sorted(work.facts)
    for identity in mine:
        _promote_fact(writer, identity, frozenset(mine))
    decisions.add(work.changes())
    return [i for i in mine if decisions.states[i].status is not Status.ACTIVE]


def _promote_fact(writer: ClaimWriter, identity: str, mine: frozenset[str]) -> None:
    work, state = writer.work, writer.work.states[identity]
    at = validated_at(state)
    (own,) = work.known_facts([identity], at)
    fact, source = own.fact, ClaimSource(None, at, own.fact.trust)
    claim = _claim(fact, state)
    known = [k for k in work.about(fact.subject, fact.predicate, at) if k.fact.id not in mine and _is_shared(k)]
    interrupted = [k.fact for k in known if interrupts(claim, k.fact, at, fact.trust)]
    known = [k for k in known if k.fact not in interrupted]
    decision = _resolve(work.ctx, claim, known, at)
    faded = work.faded_fact(fact.subject, fact.predicate, fact.value.norm, denied=fact.denied)
    if decision.action is Action.REINFORCE:
        _confirm_by(writer, decision.about[0].fact.id, fact, at)
    elif decision.action is not Action.CREATE:
        writer.clash(decision, identity, source, names_of(work.ctx, work.namespace).entity(fact.subject).name)
    elif faded is not None and work.states[faded].scope is Scope.LONG_TERM:
        writer.bring_back(faded, at, f"said again: {fact.value.text}")
        _confirm_by(writer, faded, fact, at)
    _interrupt(work, fact, interrupted)


def _resolve(ctx: Context, claim: Claim, known: Sequence[KnownFact], at: Instant) -> Decision:
    if claim.denied:
        return resolve_stated(claim, known, (), at, ctx.policy.knowledge)
    return resolve_claim(claim, known, at, ctx.policy.knowledge, resources(ctx).predicates.akin)


def _interrupt(work: FactSession, fact: Fact, others: Sequence[Fact]) -> None:
    """Link a promoted fact that holds for a time to those of long term in whose place it does."""
    for other in others if work.states[fact.id].status is Status.ACTIVE else ():
        because = f"{fact.shown_value} holds in its place for a time"
        work.link(link_change(INTERRUPTS, fact.id, other.id, because))


def _is_shared(known: KnownFact) -> bool:
    return known.state.scope is Scope.LONG_TERM


def _confirm_by(writer: ClaimWriter, keeper: str, fact: Fact, at: Instant) -> None:
    """Let a fact of long term be confirmed by all that says it in the session, and stand for the session's."""
    because = f"said in a session that was promoted: {fact.value.text}"
    for source in fact.sources or (Source("", Span(0, 0, "")),):
        (known,) = writer.work.known_facts([keeper], at)
        writer.reinforce(known, source.span, ClaimSource(source.memory or None, at, fact.trust), because)
    writer.absorb(fact.id, keeper, at, because)


def _claim(fact: Fact, state: State) -> Claim:
    """Return what a fact says as a claim, as sure as the fact has become."""
    span = fact.sources[0].span if fact.sources else Span(0, 0, "")
    since = fact.valid_from if fact.valid_from != state.created_ms else None
    return Claim(
        fact.subject,
        fact.predicate,
        fact.type,
        fact.value,
        fact.learned,
        state.confidence,
        span,
        denied=fact.denied,
        many=fact.many,
        valid_from=since,
        valid_to=fact.valid_to,
        called=fact.called,
    )

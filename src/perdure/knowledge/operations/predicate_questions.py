"""Asking a person whether two predicates are the same, and doing what follows (decision 21)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from perdure.knowledge.operations.apply_claims import ClaimWriter
from perdure.knowledge.operations.fact_session import FactSession
from perdure.knowledge.operations.feedback import apply_answer
from perdure.knowledge.operations.ports import resources
from perdure.knowledge.records.facts import Fact
from perdure.knowledge.rules.predicate_lessons import (
    SynonymAnswer,
    SynonymPair,
    comparable,
    nearest,
    new_pair,
    pairs_of,
)
from perdure.knowledge.rules.predicate_registry import readable_name
from perdure.operations.documents import all_documents
from perdure.operations.ports import Context
from perdure.records.document import Shelf
from perdure.records.errors import NotFound, PerdureError
from perdure.records.instant import Instant, text_of
from perdure.records.memory import Record, Scope, Status
from perdure.records.outcome import Outcome
from perdure.records.signal_results import Question
from perdure.records.vector import Vector
from perdure.rules.lifecycle.decay import preview
from perdure.rules.lifecycle.signals import memory_items

OPEN: Final = 3
"""So many questions about names are open at a time."""
_LAST: Final = 200
"""So many of the last facts of an entity are looked at for other names."""
_KEPT: Final = 10_000
"""Vectors of names that are kept."""


def ask_about_synonyms(work: FactSession, created: Iterable[str]) -> None:
    """Ask about new names of predicates that are near in meaning to another of the same entity.

    Without an embedder nothing is asked. Vectors are made once for each name, all that are missing at once.
    """
    ctx = work.ctx
    new = [work.facts[i] for i in created if _is_shared(work, i) and work.is_first(work.facts[i])]
    if ctx.embedder is None or not new:
        return
    pairs = {
        pair.key: pair for pair in work.lessons.pairs() if pair.said is not SynonymAnswer.OPEN or _is_open(work, pair)
    }
    room = OPEN - sum(pair.said is SynonymAnswer.OPEN for pair in pairs.values())
    beside = {f.id: _comparable_facts(work, f) for f in new} if room > 0 else {}
    vectors = _vectors(ctx, {f.predicate for some in beside.values() for f in some} | {f.predicate for f in new})
    for fact in new:
        others = {
            f.predicate: f for f in beside.get(fact.id, ()) if frozenset((f.predicate, fact.predicate)) not in pairs
        }
        known = {name: vectors[name] for name in others if name in vectors}
        if room <= 0 or not known or fact.predicate not in vectors:
            continue
        found = nearest(vectors[fact.predicate], known, ctx.policy.knowledge.synonym_at)
        if found is not None:
            pair = new_pair(fact, others[found[0]], found[1], work.now, resources(ctx).predicates)
            pairs[pair.key] = pair
            work.lessons.put(pair.document(), f"alike in meaning: {found[1]:.2f}")
            room -= 1


def _is_open(work: FactSession, pair: SynonymPair) -> bool:
    """Whether both facts of a question are believed: else nobody sees it, and it may be asked of others."""
    ids = [pair.fact, pair.other]
    stored = {i: state for i, (state, _) in work.ctx.store.states(work.namespace, ids).items()}
    states = [work.states.get(i) or stored.get(i) for i in ids]
    return all(state is not None and state.status is Status.ACTIVE for state in states)


def _is_shared(work: FactSession, identity: str) -> bool:
    state = work.states[identity]
    return state.status is Status.ACTIVE and state.scope is Scope.LONG_TERM


def _comparable_facts(work: FactSession, fact: Fact) -> list[Fact]:
    """Return facts that are believed of the same entity and may be about the same; of one name the one said last."""
    documents, place = work.ctx.store.documents, work.namespace
    ids = sorted({d.id for d in documents.find_named(place, Shelf.ABOUT, [fact.subject])})[-_LAST:]
    found = {d.id: Fact.from_data(d.id, d.data) for d in documents.find(place, Shelf.FACT, ids)} if ids else {}
    states = {i: state for i, (state, _) in work.ctx.store.states(place, ids).items()} if ids else {}
    states |= {i: work.states[i] for i in work.facts}
    found |= {i: f for i, f in work.facts.items() if f.subject == fact.subject}
    seen = [
        f
        for i, f in sorted(found.items())
        if i != fact.id and i in states and (states[i].status, states[i].scope) == (Status.ACTIVE, Scope.LONG_TERM)
    ]
    return [f for f in seen if comparable(fact, f, resources(work.ctx).predicates)]


def _vectors(ctx: Context, predicates: Iterable[str]) -> dict[str, Vector]:
    """Return the vectors of names of predicates, made now where they are missing; none if that fails."""
    if ctx.embedder is None:
        return {}
    space = ctx.embedder.space.name
    wanted = sorted(set(predicates))
    missing = [name for name in wanted if (space, name) not in resources(ctx).directions]
    try:
        made: Sequence[Vector] = (
            ctx.embedder.embed([readable_name(n) for n in missing], purpose="document") if missing else []
        )
    except PerdureError as error:
        ctx.warn(f"Nobody is asked which predicates are the same: {error}")
        return {}
    while len(resources(ctx).directions) + len(made) > _KEPT and resources(ctx).directions:
        resources(ctx).directions.pop(next(iter(resources(ctx).directions)))
    resources(ctx).directions.update({(space, n): v for n, v in zip(missing, made, strict=True)})
    return {n: resources(ctx).directions[space, n] for n in wanted}


def same(ctx: Context, identity: str, *, yes: bool) -> Outcome:
    """Write down what a person says of the two names that were asked about: the same, or not.

    If they are, every fact of the one name gets the other, and so does what is learned later; what then contradicts
    each other is asked about. Either way the pair is not asked about again.

    Raises:
        NotFound: There is no such memory, or no such open question about it.
        InvalidInput: It is hidden, or not believed any longer.
    """

    def act(writer: ClaimWriter, record: Record, now: Instant) -> None:
        lessons = writer.work.lessons
        pair = next((p for p in lessons.pairs() if p.fact == record.id and p.said is SynonymAnswer.OPEN), None)
        if pair is None:
            raise NotFound(
                f"Nobody is asked which predicates are the same as that of {identity}.",
                remedy="`review` lists the open questions.",
            )
        said = SynonymAnswer.SAME if yes else SynonymAnswer.DIFFERENT
        because = f"a person said that {pair.goes} and {pair.stays} are {'the same' if yes else 'not the same'}"
        lessons.put(replace(pair, said=said).document(), because)
        if yes:
            _merge_predicates(writer, pair, now, because)

    return apply_answer(ctx, identity, "same", "" if yes else ": no", act)


def _merge_predicates(writer: ClaimWriter, pair: SynonymPair, now: Instant, because: str) -> None:
    """Give every fact of the one name the other, and let those of one entity meet."""
    work = writer.work
    shelf = all_documents(work.ctx, work.namespace, Shelf.FACT)
    ids = [d.id for d in shelf if d.data["predicate"] == pair.goes]
    work.read(ids)
    for identity in ids:
        fact = work.facts.get(identity)
        if fact is None:
            continue
        beside = [k.fact.id for k in work.about(fact.subject, pair.stays, now) if k.fact.id not in ids]
        row = resources(work.ctx).predicates.row(pair.stays)
        sort = row.sort if resources(work.ctx).predicates.has(pair.stays) else fact.type
        work.rewrite(replace(fact, predicate=pair.stays, type=sort), because)
        if _is_shared(work, identity):
            _meets(writer, identity, beside, now, because)


def _meets(writer: ClaimWriter, identity: str, beside: Sequence[str], now: Instant, because: str) -> None:
    """Let a fact that got another name meet those that had it: one of equal value stands for the other."""
    work = writer.work
    for other in beside:
        (own,), (there,) = work.known([identity], now), work.known([other], now)
        if not _is_shared(work, other) or own.state.status is not Status.ACTIVE:
            continue
        if own.fact.value.norm == there.fact.value.norm and own.fact.denied == there.fact.denied:
            keeper, goes = sorted((own.fact.id, other))
            writer.absorb(goes, keeper, now, because)
        elif own.fact.contradicts(there.fact):
            writer.contest(own, there, now, because)


def synonym_questions(ctx: Context, namespace: str, now: Instant) -> Iterator[Question]:
    """Yield the questions whether two predicates are the same."""
    pairs = [p for p in pairs_of(all_documents(ctx, namespace, Shelf.LESSON)) if p.said is SynonymAnswer.OPEN]
    ids = sorted({i for p in pairs for i in (p.fact, p.other)})
    there = {m.id: m for m in memory_items(ctx.store.get(namespace, ids), ctx.policy, now)} if ids else {}
    for p in pairs:
        new, other = there.get(p.fact), there.get(p.other)
        if new is not None and other is not None and new.status is other.status is Status.ACTIVE:
            yield Question(
                id=new.id,
                namespace=namespace,
                question=f"Are '{readable_name(p.goes)}' and '{readable_name(p.stays)}' the same? Noted are "
                f"'{preview(other.content)}' and '{preview(new.content)}'.",
                why=f"the names are alike in meaning ({p.cosine:.2f})",
                since=text_of(p.at),
                value_at_risk=new.value * (1.0 - new.confidence),
                same=(p.goes, p.stays),
            )

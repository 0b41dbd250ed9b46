"""Asking a person whether two predicates are the same, and doing what follows (decision 21)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from perdure.knowledge.operations.apply_claims import ClaimWriter
from perdure.knowledge.operations.fact_session import FactSession
from perdure.knowledge.operations.feedback import apply_answer
from perdure.knowledge.operations.ports import resources
from perdure.knowledge.records.facts import Fact
from perdure.knowledge.rules.predicate_registry import (
    SynonymAnswer,
    SynonymPair,
    comparable,
    cosine,
    new_pair,
    pairs_of,
    readable_name,
    word_nearness,
)
from perdure.operations.documents import all_documents
from perdure.operations.embedder_space import space_of
from perdure.operations.ports import Context
from perdure.records.deadline import seconds_left
from perdure.records.errors import DeadlineExceeded, NotFound, PerdureError
from perdure.records.instant import Instant, text_of
from perdure.records.memory import Record, Scope, Shelf, Status
from perdure.records.outcome import Outcome
from perdure.records.signal_results import Question
from perdure.records.vector import Vector
from perdure.rules.lifecycle.decay import preview
from perdure.rules.lifecycle.signals import memory_items

OPEN: Final = 3  # so many questions about names are open at a time
_LAST: Final = 200  # so many of the last facts of an entity are looked at for other names
_MOST_VECTORS: Final = 10_000  # vectors of names that are kept
_TOGETHER: Final = 50  # facts whose names are compared with their values' vectors at once
_SUBJECTS: Final = 20  # entities of one operation whose names are compared
_ROUNDING: Final = 1e-6


def ask_about_near(work: FactSession, created: Iterable[str]) -> None:
    """Ask about new names of predicates that are near to another of the same entity, by words, value or meaning.

    Without an embedder only words and values count. Vectors are made once for each name, all that are missing at once.
    """
    ctx = work.ctx
    new = [work.facts[i] for i in created if _is_shared(work, i) and work.is_first(work.facts[i])]
    if not new:
        return
    pairs = {
        pair.key: pair for pair in work.lessons.pairs() if pair.said is not SynonymAnswer.OPEN or _is_open(work, pair)
    }
    room = OPEN - sum(pair.said is SynonymAnswer.OPEN for pair in pairs.values())
    if room <= 0:
        return
    stored = {s: _facts_about(work, s) for s in list(dict.fromkeys(f.subject for f in new))[:_SUBJECTS]}
    registry = resources(ctx).predicates
    beside = {f.id: [o for o in stored.get(f.subject, ()) if comparable(f, o, registry)] for f in new}
    _vectors(ctx, [readable_name(o.predicate) for f in new if beside[f.id] for o in (f, *beside[f.id])])
    for number, fact in enumerate(new):
        if room <= 0:
            break
        seconds_left()
        if number % _TOGETHER == 0:
            some = new[number : number + _TOGETHER]
            _vectors(ctx, [text for f in some for o in beside[f.id] for text in _valued_names(ctx, f, o)])
        others = [o for o in beside[fact.id] if frozenset((o.predicate, fact.predicate)) not in pairs]
        if (found := nearest_fact(ctx, fact, others)) is not None:
            pair = new_pair(fact, *found, work.now, registry)
            pairs[pair.key] = pair
            work.lessons.put(pair.document(), f"the names are alike: {found[1]:.2f}")
            room -= 1


def nearest_fact(ctx: Context, fact: Fact, others: Sequence[Fact]) -> tuple[Fact, float] | None:
    """Return the fact whose predicate is nearest to another one's, and how alike they are, 0 to 1, if any is near."""
    vectors = _vectors(ctx, [readable_name(f.predicate) for f in (fact, *others)]) if others else {}
    found = [(max(word_nearness(fact, o), _meaning_nearness(ctx, fact, o, vectors)), o.predicate, o.id) for o in others]
    alike, _, identity = max(found, default=(0.0, "", ""))
    return next(((o, alike) for o in others if alike and o.id == identity), None)


def _meaning_nearness(ctx: Context, fact: Fact, other: Fact, vectors: Mapping[str, Vector]) -> float:
    """Return the cosine of two names, or its mean with that of names and values, if it is high enough; else 0."""
    least = ctx.policy.knowledge.synonym_at - _ROUNDING
    names = readable_name(fact.predicate), readable_name(other.predicate)
    if not all(name in vectors for name in names):
        return 0.0
    by_name = cosine(vectors[names[0]], vectors[names[1]])
    if not _is_unsure(by_name, least):
        return by_name if by_name >= least else 0.0
    valued = [_name_with_value(fact), _name_with_value(other)]
    found = _vectors(ctx, valued)
    mean = (by_name + cosine(*(found[text] for text in valued))) / 2 if found else 0.0
    return mean if mean >= least else 0.0


def _is_unsure(by_name: float, least: float) -> bool:
    """Whether two names are neither near enough nor too far for their values to decide."""
    return 2 * least - 1 <= by_name < least


def _name_with_value(fact: Fact) -> str:
    return f"{readable_name(fact.predicate)}: {fact.shown_value}"


def _valued_names(ctx: Context, fact: Fact, other: Fact) -> tuple[str, ...]:
    """Return names with values whose vectors will be asked for, where those of the names are known."""
    if ctx.embedder is None or not (known := resources(ctx).directions):
        return ()
    space = ctx.embedder.space.name
    vectors = [known.get((space, readable_name(f.predicate))) for f in (fact, other)]
    if vectors[0] is None or vectors[1] is None:
        return ()
    unsure = _is_unsure(cosine(vectors[0], vectors[1]), ctx.policy.knowledge.synonym_at - _ROUNDING)
    return (_name_with_value(fact), _name_with_value(other)) if unsure else ()


def _is_open(work: FactSession, pair: SynonymPair) -> bool:
    """Whether both facts of a question are believed: else nobody sees it, and it may be asked of others."""
    ids = [pair.fact, pair.other]
    stored = {i: state for i, (state, _) in work.ctx.store.states(work.namespace, ids).items()}
    states = [work.states.get(i) or stored.get(i) for i in ids]
    return all(state is not None and state.status is Status.ACTIVE for state in states)


def _is_shared(work: FactSession, identity: str) -> bool:
    state = work.states[identity]
    return state.status is Status.ACTIVE and state.scope is Scope.LONG_TERM


def _facts_about(work: FactSession, subject: str) -> list[Fact]:
    documents, place = work.ctx.store.documents.strict, work.namespace
    ids = sorted({d.id for d in documents.find_named(place, Shelf.ABOUT, [subject])})[-_LAST:]
    found = {d.id: Fact.from_data(d.id, d.data) for d in documents.find(place, Shelf.FACT, ids)} if ids else {}
    states = {i: state for i, (state, _) in work.ctx.store.states(place, ids).items()} if ids else {}
    states |= {i: work.states[i] for i in work.facts}
    found |= {i: f for i, f in work.facts.items() if f.subject == subject}
    seen = [i for i in sorted(found) if i in states][-_LAST:]
    return [found[i] for i in seen if (states[i].status, states[i].scope) == (Status.ACTIVE, Scope.LONG_TERM)]


def _vectors(ctx: Context, texts: Iterable[str]) -> dict[str, Vector]:
    """Return the vectors of texts, made now where they are missing; none without an embedder, or if that fails."""
    if ctx.embedder is None:
        return {}
    distinct, known = sorted(set(texts)), resources(ctx).directions
    try:
        space = space_of(ctx.embedder).name
        missing = [text for text in distinct if (space, text) not in known]
        vectors: Sequence[Vector] = ctx.embedder.embed(missing, purpose="document") if missing else []
    except DeadlineExceeded:
        raise
    except PerdureError as error:
        ctx.warn(f"Nobody is asked which predicates are the same: {error}")
        return {}
    while len(known) + len(vectors) > _MOST_VECTORS and known:
        known.pop(next(iter(known)))
    known.update({(space, text): v for text, v in zip(missing, vectors, strict=True)})
    return {text: known[space, text] for text in distinct}


def same(ctx: Context, identity: str, *, yes: bool) -> Outcome:
    """Write down what a person says of the two names that were asked about: the same, or not.

    If they are, every fact of the one name gets the other, and so does what is learned later; what then contradicts
    each other is asked about. Either way the pair is not asked about again.
    """

    def act(writer: ClaimWriter, record: Record, now: Instant) -> None:
        lessons = writer.work.lessons
        pair = next((p for p in lessons.pairs() if p.fact == record.id and p.said is SynonymAnswer.OPEN), None)
        if pair is None:
            raise NotFound(
                f"There is no open question about the predicate of {identity}.",
                remedy="`review` lists the open questions.",
            )
        answer = SynonymAnswer.SAME if yes else SynonymAnswer.DIFFERENT
        because = f"a person said that {pair.goes} and {pair.stays} are {'the same' if yes else 'not the same'}"
        lessons.put(replace(pair, said=answer).document(), because)
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
        (own,), (rival,) = work.known_facts([identity], now), work.known_facts([other], now)
        if not _is_shared(work, other) or own.state.status is not Status.ACTIVE:
            continue
        if own.fact.value.norm == rival.fact.value.norm and own.fact.denied == rival.fact.denied:
            keeper, goes = sorted((own.fact.id, other))
            writer.absorb(goes, keeper, now, because)
        elif own.fact.contradicts(rival.fact):
            writer.contest(own, rival, now, because)


def synonym_questions(ctx: Context, namespace: str, now: Instant) -> Iterator[Question]:
    """Yield the questions whether two predicates are the same."""
    pairs = [p for p in pairs_of(all_documents(ctx, namespace, Shelf.LESSON)) if p.said is SynonymAnswer.OPEN]
    ids = sorted({i for p in pairs for i in (p.fact, p.other)})
    memories = {m.id: m for m in memory_items(ctx.store.get(namespace, ids), ctx.policy, now)} if ids else {}
    for p in pairs:
        new, other = memories.get(p.fact), memories.get(p.other)
        if new is not None and other is not None and new.status is other.status is Status.ACTIVE:
            yield Question(
                id=new.id,
                namespace=namespace,
                question=f"Are '{readable_name(p.goes)}' and '{readable_name(p.stays)}' the same? Noted are "
                f"'{preview(other.content)}' and '{preview(new.content)}'.",
                why=f"the names are alike ({p.cosine:.2f})",
                since=text_of(p.at),
                value_at_risk=new.value * (1.0 - new.confidence),
                same=(p.goes, p.stays),
                answers=("same", "different"),
            )

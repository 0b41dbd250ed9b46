"""Facts as a person sees them: what is believed, since when, and what was believed before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from perdure.knowledge.extraction.entity_names import Names
from perdure.knowledge.operations.alias_index import names_of
from perdure.knowledge.operations.change_rates import known_rates
from perdure.knowledge.operations.entities import find_entity
from perdure.knowledge.operations.fact_recall import open_conflicts, with_learned_rate
from perdure.knowledge.operations.ports import resources
from perdure.knowledge.operations.predicate_lessons import Lessons
from perdure.knowledge.records.fact_results import FactLine, Timeline
from perdure.knowledge.records.facts import Fact
from perdure.knowledge.records.predicates import UNNAMED
from perdure.knowledge.rules.fact_history import fact_at
from perdure.knowledge.rules.fact_states import FactState, state_of
from perdure.operations.documents import all_documents, find_documents, pages
from perdure.operations.ports import Context
from perdure.records.document import Shelf
from perdure.records.instant import Instant, text_of
from perdure.records.link_kinds import SUPERSEDES
from perdure.records.memory import MemoryItem, Scope
from perdure.records.recall import Filters
from perdure.rules.document_edits import DocumentEdits
from perdure.rules.lifecycle.confirmation import confirmation_question
from perdure.rules.lifecycle.signals import memory_items
from perdure.rules.lifecycle.stale_facts import is_aging, validated_at
from perdure.rules.point_in_time import believed_until

# --- reading


def facts(
    ctx: Context, namespace: str, *, entity: str | None, predicate: str | None, past: bool, limit: int
) -> list[FactLine]:
    """Return facts, those that are believed first, then by entity, predicate and time.

    Raises:
        NotFound: There is no such entity.
        InvalidInput: The name means several.
    """
    names = names_of(ctx, namespace)
    subject = None if entity is None else find_entity(ctx, names, entity, namespace)
    lessons = Lessons(ctx, namespace, DocumentEdits())
    wanted = None if predicate is None else lessons.name(resources(ctx).predicates.name(predicate))
    chosen = [
        fact
        for fact in all_facts(ctx, namespace, names, subject)
        if wanted is None
        or fact.predicate == wanted
        or (wanted != UNNAMED and resources(ctx).predicates.akin(wanted, fact.predicate))
    ]
    told = fact_lines(ctx, namespace, chosen, names)
    shown = [line for line in told if past or line.state in (FactState.ACTIVE, FactState.AGING)]
    order = {state.value: place for place, state in enumerate(FactState)}
    return sorted(shown, key=lambda f: (order[f.state] > 1, f.subject, f.predicate, f.valid_from, f.id))[:limit]


def timeline(ctx: Context, namespace: str, entity: str, then: Filters) -> Timeline:
    """Return what was true of an entity, and believed, in the order of time.

    When it was true goes by the days of the messages, when it was believed by the instants of learning: what is taken
    in later was believed by nobody before, and no belief ends before it begins.

    Raises:
        NotFound: There is no such entity.
        InvalidInput: The name means several.
    """
    names = names_of(ctx, namespace)
    subject = find_entity(ctx, names, entity, namespace)
    some = {fact.id: fact for fact in all_facts(ctx, namespace, names, subject)}
    told = fact_lines(ctx, namespace, list(some.values()), names)
    if then.known_at is not None:
        states = ctx.store.states(namespace, list(some)) if some else {}
        known = Filters(known_at=then.known_at)
        told = [s[0] for f in told if f.id in states and (s := fact_at(f, some[f.id], states[f.id][0], known))]
    told.sort(key=lambda f: (f.valid_from, f.believed_from, f.id))
    return Timeline(subject, names.entity(subject).name, tuple(told))


def all_facts(ctx: Context, namespace: str, names: Names, subject: str | None) -> Iterator[Fact]:
    """Yield facts, also those that were: of one entity (and of those that were merged into it) or of all."""
    if subject is not None:
        family = [i for i in names.entities if names.standing(i) == subject] or [subject]
        about = ctx.store.documents.find_named(namespace, Shelf.ABOUT, family)
        documents = find_documents(ctx, namespace, Shelf.FACT, sorted({d.id for d in about}))
    else:
        documents = all_documents(ctx, namespace, Shelf.FACT)
    yield from (Fact.from_data(d.id, d.data) for d in documents)


def fact_lines(ctx: Context, namespace: str, some: Sequence[Fact], names: Names) -> list[FactLine]:
    """Return facts as they are now, in the same order; those whose memory is gone are left out."""
    now, rates = ctx.clock(), known_rates(ctx, namespace)
    told: list[FactLine] = []
    for page in pages(some):
        ids = [f.id for f in page]
        memories = {m.id: m for m in memory_items(ctx.store.get(namespace, ids), ctx.policy, now)}
        rivals = open_conflicts(ctx, namespace, ids)
        told += [
            _line(ctx, with_learned_rate(memories[f.id], f, rates, now), f, names, rivals.get(f.id, ()), now)
            for f in page
            if f.id in memories
        ]
    return told


def _line(ctx: Context, memory: MemoryItem, fact: Fact, names: Names, rivals: Sequence[str], now: Instant) -> FactLine:
    state, policy = memory.state, ctx.policy.knowledge
    incoming = {(other, kind) for other, kind, _ in ctx.store.links_to(memory.namespace, memory.id)}
    linked = [(kind, other) for kind, other, _ in ctx.store.links(memory.namespace, memory.id) if kind == SUPERSEDES]
    subject = names.standing(fact.subject)
    return FactLine(
        id=memory.id,
        namespace=memory.namespace,
        subject=subject,
        name=names.entity(subject).name,
        predicate=fact.predicate,
        type=fact.type,
        value=fact.shown_value,
        state=state_of(state, policy, now).value,
        confidence=memory.confidence,
        base=state.confidence,
        confirmations=state.reinforcements,
        learned=fact.learned.value,
        trust=fact.trust.value,
        valid_from=_when(fact.valid_from),
        valid_to=_when(fact.valid_to),
        believed_from=_when(state.recorded_ms),
        believed_to=_when(believed_until(fact, state)),
        supersedes=tuple(o for k, o in linked if (o, k) not in incoming),
        superseded_by=tuple(o for k, o in linked if (o, k) in incoming),
        contested=tuple(rivals),
        sources=tuple((s.memory, s.span.quote) for s in fact.sources),
        question=confirmation_question(memory, validated_at(state)) if is_aging(state, policy, now) else "",
        session="" if memory.scope is Scope.LONG_TERM else memory.session or "",
        denied=fact.denied,
    )


def _when(at: Instant | None) -> str:
    return "" if at is None else text_of(at)
